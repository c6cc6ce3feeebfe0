"""Error documents of every shape become typed errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextWindowExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.wire.errors import STATUS_ERRORS, error_facts, typed_error

TABLE = {"slow": RateLimitError, "bad": BadRequestError, "busy": OverloadedError}

WRAPPED = '{"type": "error", "error": {"type": "bad", "message": "no"}, "request_id": "r"}'


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        (
            ("no", "c", "t", None, "r"),
            {"error": {"message": "no", "code": "c", "type": "t"}, "request_id": "r"},
        ),
        (("no", None, "t", None, "r"), {"error": {"message": "no", "type": "t", "request_id": "r"}}),
        (
            ("no", None, "UNAVAILABLE", 503, None),
            {"error": {"message": "no", "code": 503, "status": "UNAVAILABLE"}},
        ),
        (("no", None, None, None, None), {"error": "no"}),
        (("no", None, None, 429, None), {"message": "no", "status_code": 429}),
        (("no", None, None, 418, None), {"message": "no", "status": 418}),
        (("no", None, None, None, None), {"detail": "no"}),
        (("no; never", None, None, None, None), {"detail": [{"msg": "no", "loc": []}, "never", None, {}]}),
        (("no", None, None, None, None), {"detail": {"message": "no"}}),
        (("no", None, None, None, None), "no"),
        (("no message", None, None, None, None), None),
        (("no message", None, None, None, None), []),
        (("no", "5.5", None, None, None), [{"error": {"message": "no", "code": 5.5}}]),
        (("the provider sent an error without a message", None, None, None, None), {}),
        (
            ("the provider sent an error without a message", None, None, None, None),
            {"error": {"message": {"a": 1}}},
        ),
        (("7", None, None, None, None), {"error": {"message": 7, "code": True, "type": []}}),
        (("no", None, "bad", 400, "r"), {"error": {"code": 400, "message": WRAPPED}}),
        (
            ("no", "c", None, None, "outer"),
            {"request_id": "outer", "error": {"message": '{"error": {"message": "no", "code": "c"}}'}},
        ),
        (('{"error": "no"}', None, None, None, None), {"error": {"message": '{"error": "no"}'}}),
        (("{no}", None, None, None, None), {"error": {"message": "{no}"}}),
    ],
    ids=[
        "nested",
        "request id inside",
        "Google",
        "text in error",
        "flat",
        "status",
        "detail",
        "detail list",
        "detail object",
        "text",
        "null",
        "empty list",
        "list",
        "empty",
        "odd message",
        "numbers",
        "wrapped as text",
        "outer request id",
        "wrapped text",
        "brace",
    ],
)
def test_facts(expected: tuple[Any, ...], document: Any) -> None:
    """Message, code, type, status and request id are found wherever they are; the document is kept."""
    facts = error_facts(document)
    assert expected == (facts.message, facts.code, facts.type, facts.status, facts.request_id)
    assert document is facts.raw


@pytest.mark.parametrize(
    ("expected", "status", "error"),
    [
        (RateLimitError, 400, {"code": "slow"}),
        (RateLimitError, None, {"type": "slow"}),
        (OverloadedError, None, {"code": "slow?", "type": "busy"}),
        (BadRequestError, 500, {"code": "bad"}),
        (
            ContextWindowExceededError,
            400,
            {"code": "bad", "message": "This model's maximum context length is 9 tokens"},
        ),
        (ContextWindowExceededError, None, {"message": "prompt is too long"}),
        (ContextWindowExceededError, None, {"message": "input length and `max_tokens` exceed context limit"}),
        (RateLimitError, 429, {"message": "too long: context window is used up, wait"}),
        (RateLimitError, None, {"code": "slow", "message": "prompt is too long"}),
        (AuthenticationError, 400, {"message": "Incorrect API key provided"}),
        (ServerError, 500, {}),
        (ServerError, 599, {}),
        (BadRequestError, 418, {}),
        (ProviderError, 200, {"message": "x"}),
        (ProviderError, None, {"code": "nobody knows"}),
        (NotFoundError, 200, {"code": 404}),
        (PermissionDeniedError, 403, {"code": 404}),
    ],
    ids=[
        "code",
        "type",
        "type when the code is unknown",
        "table before status",
        "context words",
        "no status",
        "other words",
        "words of another status",
        "words of another code",
        "key words",
        "status",
        "high status",
        "low status",
        "success",
        "nothing known",
        "status in the body",
        "HTTP status first",
    ],
)
def test_classes(expected: type[ProviderError], status: int | None, error: dict[str, Any]) -> None:
    """The table decides, then words, then the status; what nothing knows is a plain ProviderError."""
    assert expected is type(
        typed_error(error_facts({"error": {"message": "x", **error}}), TABLE, provider="p", status=status)
    )


@pytest.mark.parametrize(("status", "expected"), STATUS_ERRORS.items(), ids=str)
def test_statuses(status: int, expected: type[ProviderError]) -> None:
    """Each status of the table has its class."""
    error = typed_error(error_facts({"error": {"message": "x"}}), {}, provider="p", status=status)
    assert (expected, status, "p") == (type(error), error.status, error.provider)


def test_content_filter_is_a_bad_request() -> None:
    """A refused prompt is caught with the bad requests too."""
    assert issubclass(ContentFilterError, BadRequestError)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (1.5, "Please try again in 1.5s."),
        (0.25, "try again in 250ms"),
        (61.0, "Try again in 1m1s"),
        (None, "try again in a while"),
        (None, "try again in 12 minutes"),
        (None, "try again in " + "9" * 5000 + "m1s"),
        (None, "x" * 5000 + " try again in 1s"),
    ],
    ids=["seconds", "milliseconds", "minutes", "no time", "no unit", "absurd", "beyond what is searched"],
)
def test_retry_after(expected: float | None, message: str) -> None:
    """The time that the words name, when they name one."""
    assert expected == typed_error(error_facts(message), {}, provider="p").retry_after


def test_known_facts_win() -> None:
    """What the HTTP headers said is better than what the body says."""
    facts = error_facts({"error": {"message": "try again in 1s"}, "request_id": "body"})
    error = typed_error(facts, {}, provider="p", request_id="header", retry_after=7.0)
    assert ("header", 7.0) == (error.request_id, error.retry_after)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(['{"error":{}}']),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "type", "status", "detail", "request_id", "status_code", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(json_values, st.none() | st.integers(100, 599))
def test_any_document(document: Any, status: int | None) -> None:
    """Any JSON is an error with a message and text attributes; nothing raises."""
    error = typed_error(error_facts(document), TABLE, provider="p", status=status)
    assert isinstance(error.message, str)
    assert str(error).startswith("p: ")
    assert all(value is None or isinstance(value, str) for value in (error.code, error.request_id))
    assert error.status is None or isinstance(error.status, int)
