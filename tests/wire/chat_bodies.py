"""Chat Completions bodies for tests, from the parts that matter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from checking import sse

import plait
from plait.events import Event, FinishReasonDone, ResponseStarted, TextDelta, TextDone
from plait.messages import AssistantMessage

WIRE = "openai-chat"
STARTED = ResponseStarted("r1", "m")
STOP = FinishReasonDone("stop", "stop")
TOOL_CALLS = FinishReasonDone("tool_calls", "tool_calls")


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **choice: Any) -> dict[str, Any]:
    """One chunk of response `r1`; `choice` are further fields of the choice."""
    first = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish, **choice}
    return {"id": "r1", "model": "m", "choices": [first]}


def stream(*documents: Mapping[str, Any] | str, done: bool = True) -> bytes:
    """An SSE body, ended by `[DONE]`."""
    return sse(*documents, *(["[DONE]"] if done else []), event_names=False)


def deltas(*parts: Mapping[str, Any], finish: str = "stop") -> bytes:
    """A stream of these deltas, then a finish reason and `[DONE]`."""
    return stream(*(chunk(part) for part in parts), chunk(finish=finish))


def text(*contents: str, index: int = 0) -> list[Event]:
    """The events of answer text that came so."""
    return [
        *(TextDelta(content, index) for content in contents),
        TextDone("".join(contents), index),
    ]


def response(message: Mapping[str, Any], finish: str | None = "stop", **body: Any) -> str:
    """A non-streaming body."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "r1", "model": "m", "choices": [choice], **body})


def read(body: bytes, **options: Any) -> AssistantMessage:
    """The message that a stream builds."""
    parser = plait.parser(WIRE, **options)
    parser.feed(body)
    parser.close()
    return parser.message
