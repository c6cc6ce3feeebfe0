"""Gemini: errors in every shape, at the start and in mid-stream, and what class they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import check_parse
from gemini_bodies import WIRE, array, chunk, framed, stream, text

import plait
from plait.errors import (
    AuthenticationError,
    BadRequestError,
    ContextWindowExceededError,
    IncompleteStreamError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    PlaitError,
    ProtocolError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.events import TextDelta

OVERLOADED = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
TEXT = stream(chunk(text("a")))


def pretty(document: Any) -> bytes:
    """As Google prints an error into a body that is a stream."""
    return json.dumps(document, indent=2).replace("\n", "\r\n").encode() + b"\r\n"


@pytest.mark.parametrize(
    "body",
    [
        framed(OVERLOADED),
        framed([OVERLOADED]),
        pretty(OVERLOADED),
        pretty([OVERLOADED]),
        b"[" + pretty(OVERLOADED) + b"]",
        json.dumps(OVERLOADED).encode(),
        pretty(OVERLOADED) + b"\r\n",
        b"event: error\r\n" + framed(OVERLOADED),
        b"event: error\r\n" + framed(OVERLOADED["error"]),
    ],
    ids=[
        "data",
        "array in data",
        "bare",
        "bare array",
        "bare in brackets",
        "one line",
        "blank line",
        "event",
        "flat event",
    ],
)
@pytest.mark.parametrize(
    "before", [b"", TEXT, TEXT.replace(b"\r\n", b"\n")], ids=["at once", "mid-stream", "after LF"]
)
def test_every_shape_is_a_typed_error(before: bytes, body: bytes) -> None:
    """An error inside an HTTP 200 ends the response, after what came before it."""
    error = check_parse(
        WIRE, before + body, [TextDelta("a", 0)] if before else [], error=OverloadedError
    ).error
    assert isinstance(error, ProviderError)
    assert (error.status, error.code, error.message) == (503, "UNAVAILABLE", "The model is overloaded.")


def test_an_error_without_a_blank_line_before_it() -> None:
    """The error is printed straight behind the last chunk's line."""
    body = TEXT.removesuffix(b"\r\n") + pretty(OVERLOADED)
    check_parse(WIRE, body, [TextDelta("a", 0)], error=OverloadedError)


def test_an_error_in_an_array() -> None:
    """Without `alt=sse` the error is the array's last element."""
    check_parse(WIRE, array(chunk(text("a")), OVERLOADED), [TextDelta("a", 0)], error=OverloadedError)


def test_an_error_after_the_finish_reason() -> None:
    """The response said that it was over, and then that it failed: it failed."""
    body = stream(chunk(text("a"), finish="STOP"), OVERLOADED)
    check_parse(WIRE, body, [TextDelta("a", 0)], error=OverloadedError)


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_an_error_that_is_cut(cut: int) -> None:
    """Half an error is the end of half an answer."""
    check_parse(WIRE, TEXT + pretty(OVERLOADED)[:cut], [TextDelta("a", 0)], error=IncompleteStreamError)


def test_error_null_is_none() -> None:
    """`"error": null` says that there is none."""
    body = stream({**chunk(text("a")), "error": None})
    check_parse(WIRE, body, [TextDelta("a", 0)], error=IncompleteStreamError)


@pytest.mark.parametrize("payload", ["<html>busy</html>", "[1]", "7", '{"candidates": ['])
def test_what_is_no_document(payload: str) -> None:
    """Anything but a JSON object is not this wire."""
    body = TEXT + f"data: {payload}\r\n\r\n".encode()
    check_parse(WIRE, body, [TextDelta("a", 0)], error=ProtocolError)


def failed(code: int, status: str | None, message: str = "no", *details: dict[str, Any]) -> PlaitError:
    """The error that a body with this error raises."""
    error = {"code": code, "message": message, **({"status": status} if status else {})}
    document = {"error": {**error, "details": list(details)} if details else error}
    with pytest.raises(ProviderError) as caught:
        plait.read_response(WIRE, json.dumps(document))
    return caught.value


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        (400, "INVALID_ARGUMENT", BadRequestError),
        (400, "FAILED_PRECONDITION", BadRequestError),
        (400, "OUT_OF_RANGE", BadRequestError),
        (401, "UNAUTHENTICATED", AuthenticationError),
        (403, "PERMISSION_DENIED", PermissionDeniedError),
        (404, "NOT_FOUND", NotFoundError),
        (409, "ABORTED", ServerError),
        (409, "ALREADY_EXISTS", BadRequestError),
        (413, None, BadRequestError),
        (429, "RESOURCE_EXHAUSTED", RateLimitError),
        (429, None, RateLimitError),
        (499, "CANCELLED", ServerError),
        (500, "INTERNAL", ServerError),
        (500, "UNKNOWN", ServerError),
        (502, None, ServerError),
        (503, "UNAVAILABLE", OverloadedError),
        (504, "DEADLINE_EXCEEDED", ServerError),
        (500, "A_NEW_STATUS", ServerError),
    ],
)
def test_classes(code: int, status: str | None, expected: type[ProviderError]) -> None:
    """The status decides; one that nobody knows leaves it to the HTTP code."""
    error = failed(code, status)
    assert type(error) is expected
    assert isinstance(error, ProviderError)
    assert error.status == code


@pytest.mark.parametrize(
    ("message", "details", "expected"),
    [
        ("API key not valid. Please pass a valid API key.", {}, AuthenticationError),
        ("no", {"reason": "API_KEY_INVALID"}, AuthenticationError),
        ("User location is not supported for the API use.", {}, PermissionDeniedError),
        (
            "The input token count (1200) exceeds the maximum number of tokens allowed (1000).",
            {},
            ContextWindowExceededError,
        ),
        ("Request payload size exceeds the limit: 20971520 bytes.", {}, BadRequestError),
    ],
    ids=["key", "key by reason", "location", "too long", "too large"],
)
def test_what_a_bad_request_means(
    message: str, details: dict[str, Any], expected: type[ProviderError]
) -> None:
    """A key that is not valid, a country, a prompt that is too long: all look alike at first."""
    status = "FAILED_PRECONDITION" if "location" in message else "INVALID_ARGUMENT"
    assert type(failed(400, status, message, details)) is expected


@pytest.mark.parametrize(
    ("message", "details", "seconds"),
    [
        ("Quota.", {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}, 34.5),
        ("Quota. Please retry in 12s.", {"retryDelay": "5s"}, 5.0),
        ("Quota. Please retry in 12.25s.", {}, 12.25),
        ("Quota.", {"retryDelay": "soon"}, None),
        ("Quota.", {"retryDelay": None}, None),
    ],
    ids=["details", "details before words", "words", "no duration", "null"],
)
def test_how_long_to_wait(message: str, details: dict[str, Any], seconds: float | None) -> None:
    """The delay is in the details, or in the words."""
    error = failed(429, "RESOURCE_EXHAUSTED", message, details)
    assert isinstance(error, ProviderError)
    assert error.retry_after == seconds
