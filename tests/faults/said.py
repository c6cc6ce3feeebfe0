"""What a body said, in few words: how the faults that other libraries had are written as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chat_bodies import chunk, stream
from checking import check_parse, sse
from responses_documents import created, ended

import plait
from plait.conformance.encoding import ENCODERS, Answer, Text
from plait.events import Citation, Event, WebSearchDone, WebSearchStatus
from plait.wire.parser import Parser

WIRES = list(ENCODERS)
SSE = [wire for wire in WIRES if ENCODERS[wire].framings[0] == "sse"]


def hello(wire: str, *pieces: str) -> list[bytes]:
    """The frames of a short answer, text only; `bedrock-converse` is without the metadata that ends it."""
    encoder = ENCODERS[wire]
    return encoder.frames(encoder.stream_documents(Answer(parts=(Text(pieces or ("Hé ", "🌍")),))))


def frame(wire: str, document: Mapping[str, Any] | str) -> bytes:
    """One document as a frame of this wire."""
    return ENCODERS[wire].frame(document if isinstance(document, str) else dict(document))


def lines(*documents: Mapping[str, Any]) -> bytes:
    """A body of JSON lines."""
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def read(wire: str, body: bytes, **options: Any) -> tuple[Parser, list[Event]]:
    """The parser of a body and its events, which are the same for every partition of the body."""
    parser = plait.parser(wire, **options)
    events = parser.feed(body)
    last, error = parser.finish()
    events += last
    return check_parse(wire, body, events, error=None if error is None else type(error), **options), events


def said(wire: str, body: bytes, **options: Any) -> dict[str, Any]:
    """Text, reasoning, calls (name, arguments, complete), finish (`ours:theirs`), usage and error of a body.

    What is not there is left out; of the error the class. All partitions of the body say the same.
    """
    parser, events = read(wire, body, **options)
    message = parser.message
    found: dict[str, Any] = {
        "text": message.text,
        "reasoning": message.reasoning_text,
        "calls": [(call.tool_name, call.arguments, call.complete) for call in message.tool_calls],
        "finish": message.finish_reason and f"{message.finish_reason}:{message.raw_finish_reason}",
        "usage": message.token_usage,
        "search": [event for event in events if isinstance(event, WebSearchStatus | WebSearchDone)],
        "citations": [event for event in events if isinstance(event, Citation)],
        "error": type(parser.error) if parser.error is not None else None,
    }
    return {name: value for name, value in found.items() if value}


def ids(wire: str, body: bytes) -> list[str]:
    """The ids of the calls in a body."""
    return [call.tool_call_id for call in read(wire, body)[0].message.tool_calls]


def piece(name: Any = None, text: Any = None, **fields: Any) -> dict[str, Any]:
    """An entry of `tool_calls`; what is None is not sent."""
    function = {"name": name, "arguments": text}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}


def chat(*chunks: list[dict[str, Any]], finish: str = "tool_calls") -> bytes:
    """A stream with these entries in each chunk."""
    return stream(*(chunk({"tool_calls": entries}) for entries in chunks), chunk({}, finish))


def responses(*documents: dict[str, Any], status: str = "completed", **more: Any) -> bytes:
    """A stream with these documents between the first and the last."""
    return sse(created(), *documents, ended(status, **more))
