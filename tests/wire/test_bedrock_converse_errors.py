"""`bedrock-converse`: errors as frames, as HTTP bodies, and bytes that are not the wire format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import check_parse

import plait
from bedrock_frames import BEGIN, delta, end, error, event, exception, stop
from plait import (
    AuthenticationError,
    BadRequestError,
    ContextWindowExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    ProviderError,
    RateLimitError,
    ServerError,
    TextDelta,
)
from plait.framing import encode_event_stream_message
from plait.wire.bedrock_converse.mapping import ERRORS
from plait.wire.http_errors import http_error

WIRE = "bedrock-converse"


def fault(body: bytes, *before: plait.Event, cls: type[plait.PlaitError] = ProviderError) -> Any:
    """The error that this body ends in, after these events."""
    return check_parse(WIRE, body, before, error=cls).error


@pytest.mark.parametrize(("name", "cls"), ERRORS.items())
def test_exceptions(name: str, cls: type[ProviderError]) -> None:
    """Every exception frame is its typed error; what came before it is delivered and kept."""
    body = (
        BEGIN
        + delta(0, text="a")
        + exception(name, {"message": "slow", "p": "ab"})
        + delta(0, text="b")
        + end()
    )
    found = fault(body, TextDelta("a", 0), cls=cls)
    assert (cls, "slow", name, "bedrock") == (type(found), found.message, found.code, found.provider)
    assert {"message": "slow", "p": "ab"} == found.raw
    assert found.partial_message is not None
    assert "a" == found.partial_message.text


def test_exception_after_the_stop() -> None:
    """An exception between `messageStop` and `metadata` is one, too."""
    body = BEGIN + event("messageStop", {"stopReason": "end_turn"})
    assert (
        "late"
        == fault(body + exception("internalServerException", {"message": "late"}), cls=ServerError).message
    )


def test_stream_error_keeps_the_models_status() -> None:
    """What the model answered Bedrock with is the status, and stays in `raw`."""
    document = {"message": "m", "originalStatusCode": 529, "originalMessage": "busy"}
    found = fault(exception("modelStreamErrorException", document), cls=ServerError)
    assert (529, document) == (found.status, found.raw)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        pytest.param("", "fooException", id="nothing"),
        pytest.param("{}", "fooException", id="empty object"),
        pytest.param("busy", "busy", id="words"),
        pytest.param('{"Message":"busy"}', "busy", id="capital"),
        pytest.param("[1]", "fooException", id="list"),
    ],
)
def test_exceptions_of_any_shape(payload: str, message: str) -> None:
    """An exception that nobody knows is an error whatever its payload is."""
    found = fault(BEGIN + exception("fooException", payload))
    assert (ProviderError, message, "fooException") == (type(found), found.message, found.code)


def test_error_frame() -> None:
    """An error that the service's model does not have is the server's."""
    found = fault(BEGIN + error("InternalError", "it broke"), cls=ServerError)
    assert ("it broke", "InternalError") == (found.message, found.code)
    assert isinstance(fault(error("throttlingException", "slow"), cls=RateLimitError), RateLimitError)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(event("throttlingException", {"message": "slow"}), id="named by the event type"),
        pytest.param(
            event("newEvent", {"throttlingException": {"message": "slow"}}), id="member of a new event"
        ),
        pytest.param(
            event("contentBlockDelta", {"throttlingException": {"message": "slow"}}),
            id="member of a known one",
        ),
        pytest.param(
            encode_event_stream_message({":exception-type": "throttlingException"}, b'{"message":"slow"}'),
            id="without a message type",
        ),
    ],
)
def test_exceptions_in_disguise(frame: bytes) -> None:
    """An exception is never taken for an event that nobody knows."""
    found = fault(BEGIN + frame, cls=RateLimitError)
    assert ("slow", "throttlingException") == (found.message, found.code)


@pytest.mark.parametrize(
    ("name", "message", "cls"),
    [
        pytest.param(
            "validationException",
            "Input is too long for requested model.",
            ContextWindowExceededError,
            id="long",
        ),
        pytest.param(
            "ValidationException",
            "The model returned the following errors: Input Tokens Exceeded: Number of input tokens.",
            ContextWindowExceededError,
            id="long, in the model's words",
        ),
        pytest.param(
            "ValidationException",
            "prompt is too long: 9 tokens > 8 maximum",
            ContextWindowExceededError,
            id="prompt",
        ),
        pytest.param(
            "ValidationException", "The provided model identifier is invalid.", NotFoundError, id="model"
        ),
        pytest.param(
            "ValidationException",
            "Invocation with on-demand throughput isn\u2019t supported.",
            BadRequestError,
            id="other",
        ),
        pytest.param(
            "ThrottlingException",
            "Too many tokens, please wait before trying again.",
            RateLimitError,
            id="the name decides",
        ),
    ],
)
def test_words(name: str, message: str, cls: type[ProviderError]) -> None:
    """A refused request is told apart by its words, anything else by its name."""
    assert cls is type(fault(exception(name, {"message": message}), cls=cls))


@pytest.mark.parametrize(
    ("status", "kind", "body", "cls"),
    [
        pytest.param(
            429,
            "ThrottlingException:http://internal.amazon.com/x/",
            {"message": "m"},
            RateLimitError,
            id="suffix",
        ),
        pytest.param(403, "UnrecognizedClientException", {"message": "m"}, AuthenticationError, id="key"),
        pytest.param(403, "AccessDeniedException", {"Message": "m"}, PermissionDeniedError, id="capital"),
        pytest.param(429, "ModelNotReadyException", {"message": "m"}, OverloadedError, id="not ready"),
        pytest.param(400, "ServiceQuotaExceededException", {"message": "m"}, RateLimitError, id="quota"),
        pytest.param(
            404, None, {"__type": "a.b#ResourceNotFoundException", "message": "m"}, NotFoundError, id="type"
        ),
        pytest.param(
            404,
            None,
            {"Output": {"__type": "a#UnknownOperationException"}, "Version": "1.0"},
            NotFoundError,
            id="front end",
        ),
    ],
)
def test_http_errors(status: int, kind: str | None, body: dict[str, Any], cls: type[ProviderError]) -> None:
    """The header names the error, with or without a URL behind it; else the body does."""
    headers = {"X-Amzn-RequestId": "r1", **({"x-amzn-ErrorType": kind} if kind else {})}
    found = http_error("bedrock", ERRORS, status, headers, json.dumps(body).encode())
    assert (cls, "r1", status) == (type(found), found.request_id, found.status)
    assert found.code in ERRORS


@pytest.mark.parametrize(
    "document", [{"message": "m"}, {"Message": "m"}, {"throttlingException": {"message": "m"}}]
)
def test_error_bodies(document: dict[str, Any]) -> None:
    """An error document in place of an answer is an error, read whole or as a stream."""
    body = json.dumps(document).encode()
    with pytest.raises(ProviderError) as caught:
        plait.read_response(WIRE, body)
    assert "m" == caught.value.message
    assert "m" == fault(body, cls=type(caught.value)).message


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(event("contentBlockDelta", "no JSON"), id="not JSON"),
        pytest.param(event("contentBlockStop", "[]"), id="not an object"),
        pytest.param(event("messageStop", '{"stopReason":'), id="cut JSON"),
        pytest.param(b"\x00" + BEGIN, id="bytes between messages"),
        pytest.param(BEGIN[:-1] + b"x", id="wrong checksum"),
        pytest.param(
            encode_event_stream_message(
                {":message-type": "event", ":event-type": "messageStop"}, b'{"a":"\xff"}'
            ),
            id="not UTF-8",
        ),
    ],
)
def test_broken_bytes(frame: bytes) -> None:
    """Bytes that are not the wire format are a fault, after what came before them."""
    body = BEGIN + delta(0, text="a") + frame + stop(0) + end()
    fault(body, TextDelta("a", 0), cls=ProtocolError)


@pytest.mark.parametrize("body", [b"<html><body>Bad gateway</body></html>", b"Internal error", b"{}", b"[1]"])
def test_other_bodies(body: bytes) -> None:
    """A page of something in between is no stream."""
    fault(body, cls=ProtocolError)


def test_event_named_error() -> None:
    """A gateway's event of type `error` is an error, not an unknown event before a good end."""
    body = BEGIN + delta(0, text="a") + event("error", '{"message": "busy"}') + stop(0) + end()
    assert "busy" == fault(body, TextDelta("a", 0), cls=ServerError).message
