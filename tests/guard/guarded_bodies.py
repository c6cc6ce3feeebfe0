"""Invented bodies of each wire, complete and cut behind some text, and the chain of an SDK's error."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from checking import sse

import bedrock_frames
from plait.guard import IncompleteStreamError

SSE = "text/event-stream; charset=utf-8"
NDJSON = "application/x-ndjson"
EVENT_STREAM = "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Body:
    """A streamed answer "Half of it", in chunks of one frame.

    Attributes:
        wire: its wire format
        path: of the URL that it comes from
        frames: the whole of it; the terminal event is the last, or begins the last few
        cut: how many frames come before the terminal event, with all of the text in them
        content_type: as its server sends it
        text: what the frames before the cut say
    """

    wire: str
    path: str
    frames: tuple[bytes, ...] = field(repr=False)
    cut: int
    content_type: str = SSE
    text: str = "Half of it"

    @property
    def whole(self) -> bytes:
        """All bytes."""
        return b"".join(self.frames)

    @property
    def half(self) -> bytes:
        """The bytes before the terminal event."""
        return b"".join(self.frames[: self.cut])


def _frames(*documents: dict[str, Any] | str, event_names: bool = True) -> tuple[bytes, ...]:
    return tuple(sse(document, event_names=event_names) for document in documents)


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1796000000,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


CHAT = Body(
    "openai-chat",
    "/v1/chat/completions",
    _frames(
        _chunk({"role": "assistant", "content": "Half"}),
        _chunk({"content": " of it"}),
        _chunk({}, "stop"),
        "[DONE]",
    ),
    2,
)


def response(status: str, *output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The response in an event of the Responses API."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1796000000,
        "status": status,
        "model": "m",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **fields,
    }


def _message(status: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": list(content),
    }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


_AT = {"item_id": "msg_1", "output_index": 0, "content_index": 0}

_RESPONSES: tuple[dict[str, Any], ...] = (
    {"type": "response.created", "response": response("in_progress")},
    {"type": "response.output_item.added", "output_index": 0, "item": _message("in_progress")},
    {"type": "response.content_part.added", **_AT, "part": _part("")},
    {"type": "response.output_text.delta", **_AT, "delta": "Half", "logprobs": []},
    {"type": "response.output_text.delta", **_AT, "delta": " of it", "logprobs": []},
    {"type": "response.output_text.done", **_AT, "text": "Half of it", "logprobs": []},
    {"type": "response.content_part.done", **_AT, "part": _part("Half of it")},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": _message("completed", _part("Half of it")),
    },
    {
        "type": "response.completed",
        "response": response("completed", _message("completed", _part("Half of it"))),
    },
)

RESPONSES = Body(
    "openai-responses",
    "/v1/responses",
    _frames(*({**document, "sequence_number": number} for number, document in enumerate(_RESPONSES))),
    8,
)

_USAGE = {"input_tokens": 7, "output_tokens": 1}
_ANTHROPIC: tuple[dict[str, Any], ...] = (
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE,
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " of it"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 4},
    },
    {"type": "message_stop"},
)

ANTHROPIC = Body("anthropic-messages", "/v1/messages", _frames(*_ANTHROPIC), 6)

ANTHROPIC_VERTEX = Body(
    "anthropic-messages",
    "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict",
    ANTHROPIC.frames,
    6,
)

ANTHROPIC_BEDROCK = Body(
    "anthropic-messages",
    "/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream",
    tuple(bedrock_frames.chunk(document) for document in _ANTHROPIC),
    6,
    EVENT_STREAM,
)

CONVERSE = Body(
    "bedrock-converse",
    "/model/amazon.nova-x-v1%3A0/converse-stream",
    (
        bedrock_frames.BEGIN,
        bedrock_frames.delta(0, text="Half"),
        bedrock_frames.delta(0, text=" of it"),
        bedrock_frames.stop(0),
        bedrock_frames.end(),
    ),
    4,
    EVENT_STREAM,
)


def _candidate(text: str, **fields: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"index": 0, "content": content, **fields}], "modelVersion": "m"}


_GEMINI = (_candidate("Half"), _candidate(" of it"), _candidate("", finishReason="STOP"))

GEMINI = Body("gemini", "/v1beta/models/m:streamGenerateContent", _frames(*_GEMINI, event_names=False), 2)

GEMINI_ARRAY = Body(
    "gemini",
    "/v1beta/models/n:streamGenerateContent",
    tuple(
        start + json.dumps(document).encode() + end
        for start, document, end in zip((b"[", b",\n", b",\n"), _GEMINI, (b"", b"", b"]"), strict=True)
    ),
    2,
    "application/json; charset=UTF-8",
)

COHERE = Body(
    "cohere-chat",
    "/v2/chat",
    _frames(
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant", "content": []}}},
        {
            "type": "content-start",
            "index": 0,
            "delta": {"message": {"content": {"type": "text", "text": ""}}},
        },
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Half of it"}}}},
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {}}},
    ),
    4,
)

MISTRAL = Body("mistral-chat", "/v1/chat/completions", CHAT.frames, 2)

OLLAMA = Body(
    "ollama-chat",
    "/api/chat",
    tuple(
        json.dumps({"model": "m", "created_at": "2026-11-30T12:00:00Z", **line}).encode() + b"\n"
        for line in (
            {"message": {"role": "assistant", "content": "Half"}, "done": False},
            {"message": {"role": "assistant", "content": " of it"}, "done": False},
            {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        )
    ),
    2,
    NDJSON,
)

BODIES: dict[str, Body] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic-messages": ANTHROPIC,
    "anthropic-messages, vertex": ANTHROPIC_VERTEX,
    "anthropic-messages, bedrock": ANTHROPIC_BEDROCK,
    "bedrock-converse": CONVERSE,
    "gemini": GEMINI,
    "gemini, JSON array": GEMINI_ARRAY,
    "cohere-chat": COHERE,
    "mistral-chat": MISTRAL,
    "ollama-chat": OLLAMA,
}
"""A body of each wire in each of its framings."""


def url(body: Body) -> str:
    """The URL that such a body comes from."""
    host = "api.mistral.ai" if body.wire == "mistral-chat" else "llm.test"
    return f"http://{host}{body.path}"


def guard_error(error: BaseException | None) -> IncompleteStreamError:
    """The guard's error in the chain of causes of what an SDK raised."""
    while error is not None:
        if isinstance(error, IncompleteStreamError):
            return error
        error = error.__cause__ or error.__context__
    raise AssertionError("the guard is not the cause")
