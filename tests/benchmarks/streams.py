"""Invented streams in each provider's shape: the fields, padding and framing that it sends, our own text."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

DELTAS = 500

Kind = Literal["text", "tool"]
Document = dict[str, Any]

_AFTER_DELTAS = {"openai-chat": 3, "openai-responses": 4, "anthropic-messages": 3}
"""How many events come after the last delta of a text."""

_TEXT = (
    "the a of and to in is that it for with as on by this be are from or which river stone bridge water "
    "light morning harbour market station engine signal pattern measure answer question because although "
    "between through without slowly usually almost never often three seven twelve hundred first second "
    "café naïve Zürich 東京 “quoted” — 10,000 3.5% e.g."
)
_WORDS = _TEXT.split()


@dataclass(frozen=True)
class Stream:
    """One response's body.

    Attributes:
        wire: its wire format
        kind: `text`, an answer in many deltas; `tool`, one tool call whose arguments come in many deltas
        events: its SSE events, each with its blank line
        content: what must be read from it: the answer, or the call's arguments
    """

    wire: str
    kind: Kind
    events: tuple[bytes, ...]
    content: str
    body: bytes = field(repr=False)

    @property
    def blocks(self) -> list[bytes]:
        """The body in chunks of 4 KiB."""
        return [self.body[start : start + 4096] for start in range(0, len(self.body), 4096)]

    @property
    def unfinished(self) -> tuple[bytes, ...]:
        """The events up to the last delta."""
        return self.events[: -_AFTER_DELTAS[self.wire]]


def stream(wire: str, kind: Kind = "text", deltas: int = DELTAS) -> Stream:
    """The stream of a wire format with this many deltas; the same arguments give the same bytes."""
    rng = random.Random(f"{wire} {kind}")
    pieces = _pieces(rng, deltas) if kind == "text" else _json_pieces(rng, deltas)
    events = tuple(_BUILDERS[wire, kind](rng, pieces))
    return Stream(wire, kind, events, "".join(pieces), b"".join(events))


def _pieces(rng: random.Random, count: int) -> list[str]:
    """Pieces of text of one to three words; now and then a paragraph or something JSON must escape."""
    pieces = []
    for number in range(count):
        piece = "".join(" " + rng.choice(_WORDS) for _ in range(rng.choice((1, 1, 2, 3))))
        if number % 41 == 40:
            piece += ".\n\n"
        elif number % 29 == 28:
            piece += ' "so"'
        pieces.append(piece)
    return pieces


def _json_pieces(rng: random.Random, count: int) -> list[str]:
    """A JSON object in this many pieces of about a token each."""
    items = ",".join(f'"{rng.choice(_WORDS)} {number}"' for number in range(count // 4))
    text = f'{{"items":[{items}]}}'
    cuts = sorted(rng.sample(range(1, len(text)), count - 1))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _compact(document: Document) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _padding(rng: random.Random) -> str:
    return "".join(
        rng.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=rng.randint(0, 15))
    )


# OpenAI Chat Completions: no event names; a null usage and random padding in each chunk.


def _chat_event(rng: random.Random, choices: list[Document], usage: Document | None = None) -> bytes:
    document = {
        "id": "chatcmpl-Invented0000000000000000000",
        "object": "chat.completion.chunk",
        "created": 1796000000,
        "model": "gpt-5-mini-2025-08-07",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": choices,
        "usage": usage,
        "obfuscation": _padding(rng),
    }
    return f"data: {_compact(document)}\n\n".encode()


def _chat_choice(delta: Document, finish: str | None = None) -> list[Document]:
    return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]


def _chat(rng: random.Random, first: Document, deltas: list[Document], finish: str) -> Iterator[bytes]:
    usage = {
        "prompt_tokens": 57,
        "completion_tokens": len(deltas) + 1,
        "total_tokens": len(deltas) + 58,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
    yield _chat_event(rng, _chat_choice(first))
    for delta in deltas:
        yield _chat_event(rng, _chat_choice(delta))
    yield _chat_event(rng, _chat_choice({}, finish))
    yield _chat_event(rng, [], usage)
    yield b"data: [DONE]\n\n"


def _chat_text(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    first = {"role": "assistant", "content": "", "refusal": None}
    yield from _chat(rng, first, [{"content": piece} for piece in pieces], "stop")


def _chat_tool(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    function = {"name": "file_report", "arguments": ""}
    call = {"index": 0, "id": "call_Invented0000000000000000", "type": "function", "function": function}
    first = {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
    deltas = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    yield from _chat(rng, first, deltas, "tool_calls")


# OpenAI Responses: named events with sequence numbers, the whole response at both ends.

_MESSAGE_ID = "msg_0123456789abcdef0123456789abcdef0123456789abcdef01"
_CALL_ID = "fc_0123456789abcdef0123456789abcdef0123456789abcdef01"


def _response(status: str, output: list[Document], usage: Document | None) -> Document:
    return {
        "id": "resp_0123456789abcdef0123456789abcdef0123456789abcdef01",
        "object": "response",
        "created_at": 1796000000,
        "status": status,
        "background": False,
        "completed_at": 1796000009 if status == "completed" else None,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": "gpt-5-mini-2025-08-07",
        "output": output,
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    }


def _responses(open_item: Document, inner: list[Document], item: Document, deltas: int) -> Iterator[bytes]:
    usage = {
        "input_tokens": 57,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": deltas + 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": deltas + 58,
    }
    documents: list[Document] = [
        {"type": "response.created", "response": _response("in_progress", [], None)},
        {"type": "response.in_progress", "response": _response("in_progress", [], None)},
        {"type": "response.output_item.added", "item": open_item, "output_index": 0},
        *inner,
        {"type": "response.output_item.done", "item": item, "output_index": 0},
        {"type": "response.completed", "response": _response("completed", [item], usage)},
    ]
    for number, document in enumerate(documents):
        data = _compact({**document, "sequence_number": number})
        yield f"event: {document['type']}\ndata: {data}\n\n".encode()


def _responses_text(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    def part(text: str) -> Document:
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}

    def item(status: str, content: list[Document]) -> Document:
        return {
            "id": _MESSAGE_ID,
            "type": "message",
            "status": status,
            "content": content,
            "role": "assistant",
        }

    place = {"content_index": 0, "item_id": _MESSAGE_ID, "output_index": 0}
    text = "".join(pieces)
    deltas = [
        {
            "type": "response.output_text.delta",
            "content_index": 0,
            "delta": piece,
            "item_id": _MESSAGE_ID,
            "logprobs": [],
            "obfuscation": _padding(rng),
            "output_index": 0,
        }
        for piece in pieces
    ]
    inner = [
        {"type": "response.content_part.added", **place, "part": part("")},
        *deltas,
        {"type": "response.output_text.done", **place, "logprobs": [], "text": text},
        {"type": "response.content_part.done", **place, "part": part(text)},
    ]
    yield from _responses(item("in_progress", []), inner, item("completed", [part(text)]), len(pieces))


def _responses_tool(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    def item(status: str, arguments: str) -> Document:
        return {
            "id": _CALL_ID,
            "type": "function_call",
            "status": status,
            "arguments": arguments,
            "call_id": "call_Invented0000000000000000",
            "name": "file_report",
        }

    place = {"item_id": _CALL_ID, "output_index": 0}
    kind = "response.function_call_arguments"
    deltas = [
        {
            "type": f"{kind}.delta",
            "delta": piece,
            "item_id": _CALL_ID,
            "obfuscation": _padding(rng),
            "output_index": 0,
        }
        for piece in pieces
    ]
    arguments = "".join(pieces)
    inner: list[Document] = [*deltas, {"type": f"{kind}.done", "arguments": arguments, **place}]
    yield from _responses(item("in_progress", ""), inner, item("completed", arguments), len(pieces))


# Anthropic: named events; spaces before the closing brace, as many as hide the length.


def _anthropic(
    rng: random.Random, block: Document, deltas: list[Document], stop_reason: str
) -> Iterator[bytes]:
    usage = {
        "input_tokens": 57,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
    }
    message: Document = {
        "id": "msg_01Invented000000000000000",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    final = {
        name: usage[name]
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    }
    documents: list[Document] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": None},
            "usage": {**final, "output_tokens": len(deltas) + 1},
        },
        {"type": "message_stop"},
    ]
    for document in documents:
        data = _compact(document)[:-1] + " " * rng.randint(0, 15) + "}"
        yield f"event: {document['type']}\ndata: {data}\n\n".encode()


def _anthropic_text(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    deltas: list[Document] = [{"type": "text_delta", "text": piece} for piece in pieces]
    yield from _anthropic(rng, {"type": "text", "text": ""}, deltas, "end_turn")


def _anthropic_tool(rng: random.Random, pieces: list[str]) -> Iterator[bytes]:
    block: Document = {
        "type": "tool_use",
        "id": "toolu_01Invented00000000000000",
        "name": "file_report",
        "input": {},
    }
    deltas: list[Document] = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces]]
    yield from _anthropic(rng, block, deltas, "tool_use")


_BUILDERS = {
    ("openai-chat", "text"): _chat_text,
    ("openai-chat", "tool"): _chat_tool,
    ("openai-responses", "text"): _responses_text,
    ("openai-responses", "tool"): _responses_tool,
    ("anthropic-messages", "text"): _anthropic_text,
    ("anthropic-messages", "tool"): _anthropic_tool,
}

WIRES: tuple[str, ...] = tuple(dict.fromkeys(wire for wire, _kind in _BUILDERS))
