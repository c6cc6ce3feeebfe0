"""Hypothesis strategies: answers, their bodies on any wire, and bodies in which something is wrong.

    from hypothesis import given
    from plait.conformance import strategies

    @given(strategies.mutated("openai-chat"))
    def test_never_crashes(body):
        ...

This module needs `hypothesis`, and is the only one that does.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from plait.conformance.encoding import (
    ENCODERS,
    Answer,
    Document,
    Dump,
    Encoder,
    Part,
    Reasoning,
    Text,
    ToolCall,
)
from plait.conformance.mutations import BYTES, DOCUMENTS, FRAMES, Chance, dump
from plait.events import FinishReason, TokenUsage
from plait.wire.bodies import FramingName

try:
    from hypothesis import strategies as st
except ImportError as missing:
    raise ImportError(
        "plait.conformance.strategies needs hypothesis, which is not installed: pip install hypothesis"
    ) from missing

MAX_MUTATIONS = 4


class Body(msgspec.Struct, frozen=True):
    """A response's body, and how it came to be.

    Attributes:
        wire: the wire format
        framing: how it is, or was, cut into frames; None for a body that is not streamed
        data: its bytes
        answer: what it says, as far as the wire can say it; None when it was changed
        changes: the names of the mutations, in order
    """

    wire: str
    framing: FramingName | None
    data: bytes
    answer: Answer | None = None
    changes: tuple[str, ...] = ()


_words = st.text(max_size=8)
_pieces = st.lists(_words, max_size=4).map(tuple)
_tokens = st.integers(0, 10_000)
_scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.sampled_from([0.5, -2.25]) | _words
_values = _scalars | st.lists(_scalars, max_size=2) | st.dictionaries(_words, _scalars, max_size=2)
_objects = st.dictionaries(_words, _values, max_size=3)
_full_objects = st.dictionaries(_words, _values, min_size=1, max_size=3)

DUMPS: tuple[Dump, ...] = (
    msgspec.json.encode,
    lambda data: json.dumps(data).encode(),
    lambda data: json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(),
)
"""The ways servers write JSON: compact, with spaces and all in ASCII, and compact in the way of Python."""


@st.composite
def _calls(draw: st.DrawFn, id: str, *, empty: bool) -> ToolCall:
    name = draw(st.sampled_from(["look", "météo", "a.b-c_9"]))
    if empty and draw(st.integers(0, 4)) == 0:
        return ToolCall(id, name)
    text = draw(st.sampled_from(DUMPS))(draw(_objects if empty else _full_objects)).decode()
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
    return ToolCall(id, name, tuple(text[start:end] for start, end in ends))


@st.composite
def _usages(draw: st.DrawFn) -> TokenUsage:
    read, write, rest, thoughts, output = (draw(_tokens) for _ in range(5))
    given, said = draw(st.booleans()), draw(st.booleans())
    return TokenUsage(
        read + write + rest,
        thoughts + output,
        read if given else None,
        write if given else None,
        thoughts if said else None,
    )


@st.composite
def answers(draw: st.DrawFn, wire: str) -> Answer:
    """An answer that this wire has a finish reason for, of any parts in any order."""
    reasons: list[FinishReason] = sorted(ENCODERS[wire].finish_reasons)
    kinds = draw(st.lists(st.sampled_from([Text, Reasoning, ToolCall]), max_size=5))
    calls = ToolCall in kinds
    reason = draw(st.sampled_from([name for name in reasons if calls or name != "tool_calls"]))
    # Where an answer was cut short, so was a call without arguments, perhaps.
    empty = reason in ("stop", "tool_calls")
    parts: list[Part] = []
    for number, kind in enumerate(kinds):
        if kind is ToolCall:
            parts.append(draw(_calls(f"call-{number}", empty=empty)))
        elif kind is Text:
            parts.append(Text(draw(_pieces)))
        else:
            parts.append(Reasoning(draw(_pieces), draw(st.sampled_from([None, f"c2lnbmVk{number}"]))))
    return Answer(
        parts=tuple(parts),
        finish_reason=reason,
        token_usage=draw(st.none() | _usages()),
        id=draw(st.sampled_from(["r-1", "8f0a"])),
        model=draw(st.sampled_from(["m-1", "vendor/model:latest"])),
        created=draw(st.sampled_from([0, 1_800_000_000])),
    )


@st.composite
def bodies(draw: st.DrawFn, wire: str, framing: FramingName | None = None) -> Body:
    """The body of a streamed response as a server may send it.

    It is in this framing (None: in any of the wire's), with any line ends, and with comments, keep-alives and
    a byte order mark where the framing has them.
    """
    encoder = ENCODERS[wire]
    answer = draw(answers(wire))
    ways = encoder.framings if framing is None else (framing,)
    way = draw(st.sampled_from(ways))
    frames = encoder.frames(encoder.stream_documents(answer), way, dump=draw(st.sampled_from(DUMPS)))
    silent = _SILENT[way]
    if silent:
        for at in sorted(draw(st.lists(st.integers(0, len(frames)), max_size=4)), reverse=True):
            frames.insert(at, draw(st.sampled_from(silent)))
    data = encoder.join(frames, way)
    if way in _LINE_ENDS:
        data = data.replace(b"\n", draw(st.sampled_from(_LINE_ENDS[way])))
        if draw(st.integers(0, 9)) == 0:
            data = b"\xef\xbb\xbf" + data
        if draw(st.integers(0, 4)) == 0:
            data = data.rstrip(b"\r\n")
    return Body(wire, way, data, encoder.carried(answer))


_SILENT: dict[FramingName, tuple[bytes, ...]] = {
    "sse": (b": keep-alive\n\n", b":\n", b"\n", b"retry: 3000\n\n", b"id: 7\n\n", b"event: ping\n\n"),
    "ndjson": (b"\n", b"  \n"),
    "json-array": (),
    "event-stream": (),
}
"""Frames that say nothing."""

_LINE_ENDS: dict[FramingName, tuple[bytes, ...]] = {
    "sse": (b"\n", b"\r\n", b"\r"),
    "ndjson": (b"\n", b"\r\n"),
}


@st.composite
def whole_bodies(draw: st.DrawFn, wire: str) -> Body:
    """The body of a response that is not streamed."""
    encoder = ENCODERS[wire]
    answer = draw(answers(wire))
    return Body(wire, None, encoder.whole(answer), encoder.carried(answer, streamed=False))


@st.composite
def mutated(draw: st.DrawFn, wire: str) -> Body:
    """The body of a streamed response in which up to `MAX_MUTATIONS` things are wrong.

    Documents, frames and bytes are dropped, repeated, swapped, corrupted and cut, documents of two streams
    (of this wire or another) spliced, values replaced by others of any type, and what nobody knows is put
    between.
    """
    encoder = ENCODERS[wire]
    framing = draw(st.sampled_from(encoder.framings))
    chance = _Chance(draw, encoder)
    documents = encoder.stream_documents(draw(answers(wire)))
    levels = draw(
        st.lists(st.sampled_from(["document", "frame", "byte"]), min_size=1, max_size=MAX_MUTATIONS)
    )
    changes: list[str] = []
    for _ in range(levels.count("document")):
        changes.append(chance.name(DOCUMENTS))
        documents = DOCUMENTS[changes[-1]](chance, documents)
    frames = [encoder.frame(document, framing, dump=dump) for document in documents]
    for _ in range(levels.count("frame")):
        changes.append(chance.name(FRAMES))
        frames = FRAMES[changes[-1]](chance, frames)
    data = encoder.join(frames, framing)
    for _ in range(levels.count("byte")):
        changes.append(chance.name(BYTES))
        data = BYTES[changes[-1]](chance, data)
    return Body(wire, framing, data, changes=tuple(changes))


@st.composite
def mutated_documents(draw: st.DrawFn, wire: str) -> Body:
    """A body that is not streamed, an answer or an error, in which something is wrong."""
    encoder = ENCODERS[wire]
    chance = _Chance(draw, encoder)
    documents: list[Document] = [
        draw(st.sampled_from(ERRORS))
        if draw(st.booleans())
        else encoder.body(encoder.carried(draw(answers(wire)), streamed=False))
    ]
    changes: list[str] = []
    for _ in range(draw(st.integers(1, MAX_MUTATIONS))):
        changes.append(chance.name(_IN_DOCUMENTS))
        documents = DOCUMENTS[changes[-1]](chance, documents)
    data = b"".join(dump(document) for document in documents)
    if draw(st.integers(0, 3)) == 0:
        changes.append(chance.name(BYTES))
        data = BYTES[changes[-1]](chance, data)
    return Body(wire, None, data, changes=tuple(changes))


_IN_DOCUMENTS = ("change a value", "leave out a value", "add a field")

ERRORS: tuple[dict[str, Any], ...] = (
    {
        "error": {
            "message": "slow down",
            "type": "rate_limit_error",
            "code": "rate_limit_exceeded",
            "param": None,
        }
    },
    {
        "error": {
            "code": 429,
            "message": "slow down",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "x"}],
        }
    },
    {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, "request_id": "q"},
    {"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "no", "type": "v"}]}, "code": "1000"},
    {"message": "no such model", "id": "q"},
    {"error": "model not found"},
    {"detail": [{"loc": ["body", "model"], "msg": "field required", "type": "missing"}]},
    {"__type": "com.amazon#ThrottlingException", "Message": "too many", "retry_after": 1},
)
"""Error documents of every shape, as some provider or other sends them."""


class _Chance(Chance):
    """The choices of mutations, drawn."""

    def __init__(self, draw: st.DrawFn, encoder: Encoder) -> None:
        self._draw = draw
        self._encoder = encoder

    def below(self, size: int) -> int:
        return self._draw(st.integers(0, size - 1)) if size > 1 else 0

    def other_documents(self) -> list[Document]:
        wire = self._encoder.wire
        if self._draw(st.integers(0, 4)) == 0:
            wire = self._draw(st.sampled_from(sorted(ENCODERS)))
        return ENCODERS[wire].stream_documents(self._draw(answers(wire)))

    def error(self) -> Document:
        return self.pick(ERRORS)
