"""Invented Gemini bodies, framed as Google frames them: CR LF, no event names, no end marker."""

from __future__ import annotations

import json
from typing import Any

from checking import check_parse

import plait
from plait.events import Event, FinishReasonDone
from plait.messages import AssistantMessage

WIRE = "gemini"
STOP = FinishReasonDone("stop", "STOP")
CALLS = FinishReasonDone("tool_calls", "STOP")


def framed(document: Any) -> bytes:
    """One document as a server-sent event."""
    return b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\r\n\r\n"


def stream(*documents: Any) -> bytes:
    """A streamed body."""
    return b"".join(map(framed, documents))


def array(*documents: Any) -> bytes:
    """The same body without `alt=sse`: one pretty-printed array."""
    texts = [
        json.dumps(document, indent=2, ensure_ascii=False).replace("\n", "\r\n") for document in documents
    ]
    return ("[" + "\r\n,\r\n".join(texts) + "\r\n]\r\n").encode()


def chunk(*parts: dict[str, Any], finish: str | None = None, **candidate: Any) -> dict[str, Any]:
    """A document with one candidate; without parts its content is left out."""
    if parts:
        candidate["content"] = {"parts": list(parts), "role": "model"}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


def text(content: str, **fields: Any) -> dict[str, Any]:
    """A text part."""
    return {"text": content, **fields}


def call(name: str | None = None, signature: str | None = None, **fields: Any) -> dict[str, Any]:
    """A function call part; what is None is not sent."""
    part: dict[str, Any] = {"functionCall": {**({} if name is None else {"name": name}), **fields}}
    return part if signature is None else {**part, "thoughtSignature": signature}


def of_parts(*parts: dict[str, Any], finish: str = "STOP") -> bytes:
    """A stream with one chunk for each part, the finish reason in a last one without parts."""
    return stream(*(chunk(part) for part in parts), chunk(finish=finish))


def events_of(body: bytes) -> list[Event]:
    """The events of a body, which is read in all partitions."""
    events, error = read(body)
    check_parse(WIRE, body, events, error=None if error is None else type(error))
    return events


def message_of(body: bytes) -> AssistantMessage:
    """The message of a complete body, which is read in all partitions."""
    return check_parse(WIRE, body, events_of(body)).message


def read(body: bytes) -> tuple[list[Event], plait.PlaitError | None]:
    """The events of a body read whole, and its fault."""
    parser = plait.parser(WIRE)
    events = parser.feed(body)
    last, error = parser.finish()
    return events + last, error
