"""`anthropic-messages` in Bedrock's framing, and the error shapes of the clouds that serve it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import check_parse, sse

import plait
from bedrock_frames import chunk, error, event, exception
from plait import (
    FinishReasonDone,
    IncompleteStreamError,
    OverloadedError,
    ProtocolError,
    ProviderError,
    RateLimitError,
    ResponseStarted,
    ServerError,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
)

WIRE = "anthropic-messages"
Doc = dict[str, Any]

START: Doc = {"type": "message_start", "message": {"id": "m1", "model": "c", "usage": {"input_tokens": 5}}}
OPEN: Doc = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
TEXT: Doc = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hé🌍"}}
CLOSE: Doc = {"type": "content_block_stop", "index": 0}
DELTA: Doc = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
METRICS: Doc = {"inputTokenCount": 5, "outputTokenCount": 2, "invocationLatency": 9, "firstByteLatency": 3}
STOP: Doc = {"type": "message_stop", "amazon-bedrock-invocationMetrics": METRICS}

BEGINNING = [ResponseStarted("m1", "c"), TextDelta("hé🌍", 0)]
ENDING = [TextDone("hé🌍", 0), TokenUsageDone(TokenUsage(5, 2)), FinishReasonDone("stop", "end_turn")]


def body(*documents: Doc | str) -> bytes:
    return b"".join(map(chunk, documents))


def test_stream() -> None:
    """Each chunk is the document that a server-sent event has; both framings give the same message."""
    documents = (START, {"type": "ping"}, OPEN, TEXT, CLOSE, DELTA, STOP)
    parser = check_parse(WIRE, body(*documents), BEGINNING + ENDING)
    assert check_parse(WIRE, sse(*documents), BEGINNING + ENDING).message == parser.message
    assert {} == parser.unknown


def test_metrics() -> None:
    """Bedrock's counts, which repeat the usage, say nothing: in a document of their own or in another."""
    own = {"amazon-bedrock-invocationMetrics": METRICS}
    parser = check_parse(WIRE, body(START, OPEN, TEXT, METRICS, own, CLOSE, DELTA, STOP), BEGINNING + ENDING)
    assert {} == parser.unknown


def test_incomplete() -> None:
    """Without `message_stop`, or with its frame cut, the answer is incomplete."""
    whole = body(START, OPEN, TEXT, CLOSE, DELTA)
    check_parse(WIRE, whole, BEGINNING, error=IncompleteStreamError)
    check_parse(WIRE, whole + chunk(STOP)[:-1], BEGINNING, error=IncompleteStreamError)


@pytest.mark.parametrize(
    ("frame", "cls", "code"),
    [
        pytest.param(
            exception("throttlingException", {"message": "m"}),
            RateLimitError,
            "throttlingException",
            id="exception",
        ),
        pytest.param(
            exception("modelTimeoutException", {"message": "m"}),
            ServerError,
            "modelTimeoutException",
            id="timeout",
        ),
        pytest.param(error("InternalError", "m"), ServerError, "InternalError", id="error"),
        pytest.param(
            event("chunk", {"throttlingException": {"message": "m"}}),
            RateLimitError,
            "throttlingException",
            id="member",
        ),
        pytest.param(
            chunk({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
            OverloadedError,
            "overloaded_error",
            id="Anthropic's error",
        ),
        pytest.param(
            chunk({"error": {"type": "rate_limit_error", "message": "m"}}),
            RateLimitError,
            "rate_limit_error",
            id="untyped",
        ),
    ],
)
def test_errors(frame: bytes, cls: type[ProviderError], code: str) -> None:
    """Errors of Bedrock's and of Anthropic's end the stream; what came before them is kept."""
    parser = check_parse(WIRE, body(START, OPEN, TEXT) + frame + body(STOP), BEGINNING, error=cls)
    found = parser.error
    assert isinstance(found, ProviderError)
    assert ("m", code) == (found.message, found.code)
    assert found.partial_message is not None
    assert "hé🌍" == found.partial_message.text


@pytest.mark.parametrize(
    ("frame", "unknown"),
    [
        pytest.param(event("newEvent", {"a": 1}), {"event:newEvent": 1}, id="event"),
        pytest.param(chunk({"type": "new_event"}), {"event:new_event": 1}, id="document"),
        pytest.param(chunk({"a": 1}), {"type:type=null": 1}, id="untyped document"),
        pytest.param(event("chunk", {"a": 1}), {"type:bytes": 1}, id="no bytes"),
        pytest.param(event("chunk", {"bytes": 7}), {"type:bytes": 1}, id="number"),
        pytest.param(event("chunk", {"bytes": ""}), {}, id="empty"),
    ],
)
def test_unknown_things(frame: bytes, unknown: dict[str, int]) -> None:
    """What nobody knows is skipped and counted."""
    parser = check_parse(WIRE, body(START, OPEN, TEXT) + frame + body(CLOSE, DELTA, STOP), BEGINNING + ENDING)
    assert unknown == parser.unknown


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(event("chunk", "no JSON"), id="payload"),
        pytest.param(event("chunk", "[1]"), id="list"),
        pytest.param(event("chunk", {"bytes": "a"}), id="base64"),
        pytest.param(event("chunk", {"bytes": "/w=="}), id="UTF-8"),
        pytest.param(chunk("no JSON"), id="document"),
        pytest.param(chunk('"type"'), id="text"),
    ],
)
def test_broken_chunks(frame: bytes) -> None:
    """A chunk that holds no JSON object is a fault, after what came before it."""
    check_parse(WIRE, body(START, OPEN, TEXT) + frame + body(STOP), BEGINNING, error=ProtocolError)


def test_split_surrogates() -> None:
    """An escaped pair that is cut over two documents is one character; a half alone is counted as lost."""
    half = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}'
    high, low = half % "a\\ud83d", half % "\\ude00b"
    events = list(plait.parse(body(START, OPEN, high, low, CLOSE, DELTA, STOP), WIRE))
    lost = plait.parser(WIRE)
    assert TextDone("a😀b", 0) in events
    lost.feed(body(START, OPEN, high, CLOSE, DELTA, STOP))
    lost.close()
    assert {"text:lone surrogate": 1} == lost.unknown


def test_whole_body() -> None:
    """The body of `invoke` is Anthropic's own."""
    document = {
        "id": "m1",
        "model": "c",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn",
    }
    assert "a" == plait.read_response(WIRE, json.dumps(document)).text


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            [{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}], id="Vertex, in a list"
        ),
        pytest.param({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}, id="Vertex"),
        pytest.param(
            {
                "error": {
                    "code": 429,
                    "message": '{"error":{"type":"rate_limit_error","message":"m"}}',
                    "status": "X",
                }
            },
            id="Vertex, with Anthropic's own inside",
        ),
    ],
)
def test_vertex_errors(document: Any) -> None:
    """Google's shapes, and Anthropic's document inside them, are the typed error."""
    with pytest.raises(RateLimitError) as caught:
        plait.read_response(WIRE, json.dumps(document).encode())
    assert ("m", 429) == (caught.value.message, caught.value.status)
