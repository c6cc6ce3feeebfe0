"""HTTP error responses become typed errors, whatever their body is."""

from __future__ import annotations

import pytest

import plait
from plait.wire.http_errors import retry_after

TOO_LONG = '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 > 2"}}'
OVERLOADED = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
THROTTLED = {"x-amzn-errortype": "ThrottlingException:http://a/"}
DENIED = {"X-Amzn-ErrorType": "AccessDeniedException"}
PAGE = "<html><title>Bad gateway</title></html>"


@pytest.mark.parametrize(
    ("expected", "wire", "status", "headers", "body"),
    [
        (plait.RateLimitError, "openai-chat", 429, {}, '{"error":{"message":"slow"}}'),
        (plait.AuthenticationError, "openai-chat", 400, {}, '{"code":"x","error":"Incorrect API key"}'),
        (plait.ContextWindowExceededError, "anthropic-messages", 400, {}, TOO_LONG),
        (plait.OverloadedError, "anthropic-messages", 529, {}, OVERLOADED),
        (plait.RateLimitError, "bedrock-converse", 400, THROTTLED, '{"message":"Too many"}'),
        (plait.PermissionDeniedError, "anthropic-messages", 403, DENIED, '{"message":"no"}'),
        (plait.ServerError, "gemini", 502, {}, PAGE),
        (plait.ServerError, "gemini", 500, {}, b"\xff\xfe"),
        (plait.BadRequestError, "gemini", 418, {}, ""),
        (plait.NotFoundError, "gemini", 404, {}, '[{"error":{"code":404,"message":"x"}}]'),
    ],
    ids=[
        "status", "words", "words of a known type", "type", "AWS header", "AWS before another wire", "HTML",
        "no text", "empty", "array",
    ],
)  # fmt: skip
def test_class(
    expected: type[plait.ProviderError], wire: str, status: int, headers: dict[str, str], body: bytes | str
) -> None:
    """The class comes from the code, the words or the status; the status stays a fact of the error."""
    error = plait.read_error(wire, status, headers, body)
    assert type(error) is expected
    assert error.status == status
    assert error.message


def test_facts() -> None:
    """Code, request id and time to wait are attributes; headers are read in any case."""
    error = plait.read_error(
        "openai-chat",
        429,
        {"X-Request-Id": "req_1", "Retry-After": "3"},
        '{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
        provider="groq",
    )
    assert ("groq", "rate_limit_exceeded", "req_1", 3.0) == (
        error.provider, error.code, error.request_id, error.retry_after,
    )  # fmt: skip
    assert str(error).startswith("groq: slow down")


def test_an_html_page_is_named_by_its_title() -> None:
    """A page from a proxy is not quoted whole."""
    error = plait.read_error("gemini", 502, {}, "<html><title> Bad gateway </title>" + "x" * 9999)
    assert error.message == "HTTP 502 with an HTML page: Bad gateway"


@pytest.mark.parametrize(
    ("expected", "headers"),
    [
        (None, {}),
        (1.5, {"retry-after": "1.5"}),
        (0.25, {"retry-after-ms": "250"}),
        (1.0, {"retry-after-ms": "0", "retry-after": "1"}),
        (2.0, {"retry-after-ms": "500", "retry-after": "2"}),
        (30.0, {"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}),
        (None, {"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT"}),
        (None, {"retry-after": "Mon, 02 Nov 2026 09:00:00 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}),
        (None, {"retry-after": "soon"}),
        (None, {"retry-after": "-1"}),
        (360.0, {"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "12ms"}),
        (1.0, {"retry-after": "1", "x-ratelimit-reset-requests": "6m0s"}),
        (None, {"x-ratelimit-reset": "1762000000000"}),
    ],
)
def test_retry_after(expected: float | None, headers: dict[str, str]) -> None:
    """The longest valid wait; a date counts from the response's own, and zero says nothing."""
    assert retry_after(headers) == expected


def test_an_unknown_wire_is_named() -> None:
    """As everywhere."""
    with pytest.raises(plait.UnknownWireError, match="nope"):
        plait.read_error("nope", 400, {}, "")
