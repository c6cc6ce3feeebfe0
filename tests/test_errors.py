"""Errors: their classes, what their text holds, and that they survive pickling."""

from __future__ import annotations

import copy
import pickle

import pytest

import plait
from plait import errors
from plait.errors import PlaitError, ProviderError, quote

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, PlaitError)
]
PROVIDER_CLASSES = [cls for cls in CLASSES if issubclass(cls, ProviderError)]


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        ("'plain'", "plain"),
        ("'h\u00e9'", "hé".encode()),
        ("'\ufffd'", b"\xff"),
        (repr("x" * 200), "x" * 200),
        (repr("x" * 200) + "... (201 characters)", "x" * 201),
        (repr("x" * 200) + "... (12,345 bytes)", b"x" * 12_345),
        (repr("🌍" * 200), ("🌍" * 200).encode()),
        (repr("🌍" * 200) + "... (804 bytes)", ("🌍" * 201).encode()),
    ],
    ids=["text", "bytes", "not UTF-8", "limit", "too long", "too many bytes", "wide limit", "wide too long"],
)
def test_quote(expected: str, data: str | bytes) -> None:
    """At most 200 characters are quoted; when cut, the full length is said."""
    assert expected == quote(data)


def test_hierarchy() -> None:
    """One base; a context error is also a bad request, an overload also a server error."""
    assert {cls.__name__ for cls in CLASSES} <= set(plait.__all__)
    assert all(issubclass(cls, PlaitError) for cls in CLASSES)
    assert issubclass(plait.ContextWindowExceededError, plait.BadRequestError)
    assert issubclass(plait.OverloadedError, plait.ServerError)
    assert issubclass(plait.InvalidDataError, ValueError)
    assert not issubclass(plait.ProtocolError, ProviderError)


def provider_error(cls: type[ProviderError]) -> ProviderError:
    error = cls(
        "slow down",
        provider="anthropic",
        status=429,
        code="rate",
        request_id="req_1",
        retry_after=1.5,
        raw={"a": None},
    )
    error.partial_message = plait.AssistantMessage(content="Hel")
    error.undelivered = (plait.TextDelta("Hel", 0),)
    return error


@pytest.mark.parametrize("cls", PROVIDER_CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    "copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"]
)
def test_provider_errors_survive_copies(cls: type[ProviderError], copied: object) -> None:
    """A worker process can send an error back with all its attributes."""
    error = provider_error(cls)
    other = copied(error)  # type: ignore[operator]
    assert (type(error), error.args, vars(error)) == (type(other), other.args, vars(other))
    assert str(error) == str(other) == "anthropic: slow down (status 429, code rate, request req_1)"


def test_incomplete_survives_pickling() -> None:
    """The wire, the last event and the byte count come along."""
    error = plait.IncompleteStreamError("cut", wire="w", last_event=plait.TextDelta("a", 0), bytes_read=7)
    other = pickle.loads(pickle.dumps(error))
    assert ("cut", "w", plait.TextDelta("a", 0), 7) == (
        str(other),
        other.wire,
        other.last_event,
        other.bytes_read,
    )


@pytest.mark.parametrize(
    ("expected", "error"),
    [
        ("no", ProviderError("no")),
        ("p: no", ProviderError("no", provider="p")),
        ("no (status 500)", ProviderError("no", status=500)),
        ("p: no (code c, request r)", ProviderError("no", provider="p", code="c", request_id="r")),
    ],
    ids=["message", "provider", "status", "code and request"],
)
def test_provider_error_text(expected: str, error: ProviderError) -> None:
    """The text holds the facts that are known."""
    assert expected == str(error)


def test_provider_error_text_is_bounded() -> None:
    """An error page in the message, or a huge code, is cut in the text; `message` and `raw` keep it."""
    page = "<p>" * 5_000
    error = ProviderError(page, code="c" * 5_000, request_id="r" * 5_000, raw=page)
    for text in (str(error), repr(error)):
        assert len(text) < 500
        assert page[:201] not in text
        assert "c" * 65 not in text
    assert (page, page) == (error.message, error.raw)


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-AbCdEfGhIjKlMnOpQr_st-uv",
        "sk-proj-0123456789abcdefABCDEF",
        "AIzaSyA0123456789abcdefghijklmno",
        "Bearer eyJhbGciOiJIUzI1NiJ9.e30.abcdef",
        "xai-0123456789abcdef0123",
    ],
)
def test_no_error_text_holds_a_key(key: str) -> None:
    """A gateway that repeats the refused key does not get it into logs."""
    error = plait.AuthenticationError(f"Invalid key: {key}, check it", provider="p")
    assert "Invalid key: ***, check it" == error.message
    assert key[-8:] not in f"{error} {error!r}"


@pytest.mark.parametrize(
    "words", ["task-oriented-answering-systems", "ask sk- for help", "risk-free_and_simple_text"]
)
def test_words_are_no_keys(words: str) -> None:
    """Ordinary words stay."""
    assert words == ProviderError(words).message
