"""Faults of errors: those inside a successful response, in every place and shape, on every wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_bodies import chunk, stream
from checking import sse
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import text as gemini_text
from responses_documents import created, ended
from responses_documents import text as responses_text
from said import SSE, WIRES, frame, hello, read, said

import bedrock_frames as bedrock
from plait.conformance.encoding import ENCODERS
from plait.errors import OverloadedError, ProviderError, RateLimitError, ServerError

BUSY = {"message": "busy", "code": 503, "type": "overloaded_error", "status": "UNAVAILABLE"}


def fail(wire: str) -> bytes:
    """An error as a frame of this wire."""
    if wire == "bedrock-converse":
        return bedrock.exception("serviceUnavailableException", {"message": "busy"})
    return frame(wire, {"error": BUSY})


@pytest.mark.parametrize("wire", WIRES)
def test_error_as_the_first_frame(wire: str) -> None:
    """The request failed, though with HTTP 200: a typed error, nothing emitted, nothing in the message."""
    parser, events = read(wire, fail(wire))
    assert isinstance(parser.error, OverloadedError)
    assert ("busy", [], []) == (parser.error.message, events, parser.message.content)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("more", [b"", b"data: [DONE]\n\n"], ids=["end of body", "[DONE]"])
def test_error_in_mid_stream(wire: str, more: bytes) -> None:
    """What came before it is kept, and it is the error that is raised, not that the end is missing."""
    frames = hello(wire, "a", "b")
    until = next(n for n in range(len(frames)) if "text" in said(wire, b"".join(frames[: n + 1]))) + 1
    if wire == "gemini":
        frames, until = [frame(wire, gemini_chunk(gemini_text("a")))], 1
    assert {"text": "a", "error": OverloadedError} == said(wire, b"".join(frames[:until]) + fail(wire) + more)


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "bedrock-converse"])
@pytest.mark.parametrize("wrap", [False, True], ids=["object", "array"])
def test_error_as_the_whole_body(wire: str, wrap: bool) -> None:
    """An error that is no stream, with whatever content type, indented or not."""
    document: Any = [{"error": BUSY}] if wrap else {"error": BUSY}
    for indent in (None, 2):
        assert {"error": OverloadedError} == said(wire, json.dumps(document, indent=indent).encode())


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize("head", ["event: error\ndata: ", "event:error\ndata:"], ids=["space", "no space"])
def test_error_event_without_a_type(wire: str, head: str) -> None:
    """The event's name alone says that it is an error."""
    body = head.encode() + json.dumps({"message": "busy", "code": 503}).encode() + b"\n\n"
    found = said(wire, b"".join(hello(wire)[:1]) + body)
    assert issubclass(found["error"], ProviderError)


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "bedrock-converse"])
@pytest.mark.parametrize("last", [False, True], ids=["with content", "with the end"])
def test_error_beside_what_is_usual(wire: str, last: bool) -> None:
    """An error on a document that says something else, too, is never dropped; what it says is read."""
    encoder = ENCODERS[wire]
    documents: list[Any] = [
        json.loads(each.partition(b"data: ")[2] or each)
        for each in hello(wire, "a", "b")
        if b"[DONE]" not in each
    ]
    at = (
        len(documents) - 1
        if last
        else next(n for n, document in enumerate(documents) if '"a"' in json.dumps(document))
    )
    documents[at]["error"] = BUSY
    found = said(wire, b"".join(encoder.frames(documents)))
    assert found["error"] is OverloadedError
    assert found["text"] == ("ab" if last else "a")
    assert "finish" not in found


@pytest.mark.parametrize("wire", SSE)
def test_answer_in_an_event_named_error(wire: str) -> None:
    """The event says that something went wrong: the answer is no success, whatever else the event holds."""
    frames = [each for each in hello(wire, "a", "b") if b'"a"' in each or b'"b"' in each]
    body = (
        b"event: error\n" + frames[0].partition(b"\n")[2]
        if frames[0].startswith(b"event")
        else b"event: error\n" + frames[0]
    )
    found = said(wire, b"".join(hello(wire, "x")[:1]) + body + b"".join(hello(wire, "y")[1:]))
    assert issubclass(found["error"], ProviderError)


@pytest.mark.parametrize(
    "document",
    [
        {
            "choices": [],
            "error": {"code": 502, "message": "busy", "metadata": {"error_type": "provider_unavailable"}},
        },
        {"choices": [{"finish_reason": "error", "delta": {}}], "error": {"code": 502, "message": "busy"}},
        {"choices": [{"finish_reason": "error", "delta": {}, "error": {"code": 502, "message": "busy"}}]},
        {"choices": None, "error": "busy"},
        {"error": {"message": "quota", "type": "limit"}},
    ],
    ids=["no choices", "beside a choice", "in a choice", "choices null", "unknown type"],
)
def test_chat_errors(document: dict[str, Any]) -> None:
    """The chunk is not taken for the one with the usage."""
    found = said("openai-chat", stream(chunk({"content": "a"}), document))
    assert "a" == found["text"]
    assert issubclass(found["error"], ProviderError)


@pytest.mark.parametrize(
    "end",
    [
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}}},
        {"type": "response.failed", "error": {"code": "server_error", "message": "no"}},
        {"type": "response.failed"},
        {"type": "response.completed", "response": {"status": "failed", "error": None}},
        {
            "type": "response.completed",
            "response": {"status": "completed", "error": {"code": "server_error"}},
        },
        {"type": "response.in_progress", "response": {"status": "failed", "error": {"code": "server_error"}}},
        {"type": "response.error", "error": {"code": "server_error"}},
        {"type": "error", "code": "server_error", "message": "no", "param": None},
    ],
    ids=[
        "failed",
        "error beside",
        "no words",
        "status",
        "completed",
        "in progress",
        "response.error",
        "flat",
    ],
)
def test_responses_that_failed(end: dict[str, Any]) -> None:
    """A response that failed is an error wherever it says so, with the text before it."""
    body = sse(created(), responses_text("a"), end, ended())
    assert {"text": "a", "error": ServerError} == said("openai-responses", body)


def test_bedrock_exception() -> None:
    """An exception frame has the exception's name as its code."""
    slow = bedrock.exception("throttlingException", {"message": "slow"})
    parser, _ = read("bedrock-converse", bedrock.BEGIN + bedrock.delta(0, text="a") + slow)
    assert isinstance(parser.error, RateLimitError)
    assert ("slow", "throttlingException", "a") == (
        parser.error.message,
        parser.error.code,
        parser.message.text,
    )
