"""A law that cannot fail says nothing: each is shown a parser with a fault of its kind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any

import msgspec
import pytest
from bodies import BODIES, CLOSING, ERROR, OPENING, STREAM, TEXT, THINKING, WIRE
from broken import Parser, changing

import plait
from plait import conformance
from plait.conformance import TERMINALS, Terminal
from plait.errors import IncompleteStreamError, PlaitError, ProtocolError
from plait.events import (
    Event,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ServerToolCall,
    TextDelta,
    TextDone,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
)

MakeParser = Callable[[], Parser]


def dropping(*types: type[Event]) -> MakeParser:
    return changing(lambda event: [] if isinstance(event, types) else [event])


def doubling(type_: type[Event]) -> MakeParser:
    return changing(lambda event: [event, event] if isinstance(event, type_) else [event])


def replacing(type_: type[Event] | UnionType, **fields: Any) -> MakeParser:
    return changing(
        lambda event: [msgspec.structs.replace(event, **fields)] if isinstance(event, type_) else [event]
    )


def adding(type_: type[Event], event: Event) -> MakeParser:
    """Parsers that put this event behind each one of a type."""
    return changing(lambda each: [each, event] if isinstance(each, type_) else [each])


# Chunking


class DecodesEachChunk(Parser):
    """Takes a character cut over two chunks for two broken ones."""

    def feed(self, data: bytes) -> list[Event]:
        return super().feed(data.decode("utf-8", "replace").encode())


class MergesDeltasOfAChunk(Parser):
    """Joins the text deltas that came in one chunk."""

    def feed(self, data: bytes) -> list[Event]:
        merged: list[Event] = []
        for event in super().feed(data):
            last = merged[-1] if merged else None
            if isinstance(event, TextDelta) and isinstance(last, TextDelta):
                merged[-1] = TextDelta(last.content + event.content, event.index)
            else:
                merged.append(event)
        return merged


class RaisesFromFeed(Parser):
    """Raises a fault at once, and so loses the events before it in the same chunk."""

    def feed(self, data: bytes) -> list[Event]:
        events = super().feed(data)
        if self.error is not None:
            raise self.error
        return events


class NamesTheChunk(Parser):
    """Counts chunks in its fault."""

    chunks = 0

    def feed(self, data: bytes) -> list[Event]:
        self.chunks += 1
        return super().feed(data)

    def close(self) -> list[Event]:
        try:
            return super().close()
        except PlaitError as error:
            error.args = (f"{error.args[0]}, in chunk {self.chunks}",)
            raise


class CountsChunks(NamesTheChunk):
    """Counts something of each chunk as unknown."""

    @property
    def unknown(self) -> Mapping[str, int]:
        return Counter(chunks=self.chunks)

    def close(self) -> list[Event]:
        return Parser.close(self)


class AnotherFault(Parser):
    """Makes a new fault each time it is closed."""

    closed = False

    def close(self) -> list[Event]:
        if self.closed:
            raise ProtocolError("closed already")
        self.closed = True
        return super().close()


class HidesError(Parser):
    """Raises a fault that `error` does not name."""

    @property
    def error(self) -> PlaitError | None:
        return None


class LastMessageWins(Parser):
    """Keeps only the part of the message that came in its last chunk."""

    chunks = 0

    def feed(self, data: bytes) -> list[Event]:
        self.chunks += 1
        return super().feed(data)

    @property
    def message(self) -> Any:
        whole = self.inner.message
        return whole if self.chunks < 2 else whole.model_copy(update={"content": whole.content[1:]})


# Incomplete


class NeverIncomplete(Parser):
    """Takes the end of the body for the end of the response."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError:
            return [FinishReasonDone("stop")]


class EndsAtTheStopReason(Parser):
    """Is content with `message_delta`, though the wire ends with `message_stop`."""

    seen = b""

    def feed(self, data: bytes) -> list[Event]:
        self.seen += data
        return super().feed(data)

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError:
            if b'"stop_reason"' in self.seen:
                return [FinishReasonDone("tool_calls")]
            raise


class NeedsTheBlankLine(Parser):
    """Drops a last event without its blank line."""

    seen = b""

    def feed(self, data: bytes) -> list[Event]:
        self.seen += data
        if not data.endswith(b"\n\n"):
            data = data[: data.rfind(b"\n\n") + 2]
        return super().feed(data)


class AnyFault(Parser):
    """Says `ProtocolError` where the body only ended too early."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError as error:
            wrong = ProtocolError(str(error))
            wrong.partial_message = error.partial_message
            raise wrong from None


class NoPartialMessage(Parser):
    """Throws away what came."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError as error:
            error.partial_message = None
            raise


class NotDelivered(Parser):
    """Keeps the events of the last frame to itself when it fails."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError as error:
            error.undelivered = ()
            raise


class WrongFacts(Parser):
    """Does not say how far it came."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except IncompleteStreamError as error:
            error.bytes_read = 0
            raise


class SwallowsErrors(Parser):
    """Takes a provider's error for the end of the response."""

    def close(self) -> list[Event]:
        try:
            return super().close()
        except plait.ProviderError:
            return [FinishReasonDone("error")]


# Tolerance


class Strict(Parser):
    """Refuses fields that it does not know."""

    def feed(self, data: bytes) -> list[Event]:
        if b'"nested"' in data:
            self.refused = True
        return super().feed(data)

    refused = False

    def close(self) -> list[Event]:
        events = super().close()
        if self.refused:
            raise ProtocolError("an unknown field")
        return events


class CountsNothing(Parser):
    """Ignores what it does not know without a word."""

    @property
    def unknown(self) -> Mapping[str, int]:
        return {}


class TrustsTypes(Parser):
    """Fails with an exception of Python's where a string is a number."""

    def feed(self, data: bytes) -> list[Event]:
        if b'"text":7' in data or b'"text":-1.5' in data or b'"id":{' in data or b'"id":7' in data:
            raise TypeError("expected str")
        return super().feed(data)


class SkipsGarbage(Parser):
    """Reads on behind a payload that is not JSON."""

    def feed(self, data: bytes) -> list[Event]:
        return super().feed(data.replace(b"<html>busy</html>", b'{"type":"ping"}'))


# One reading


class OtherMessage(Parser):
    """Builds the message from something else than the events."""

    @property
    def message(self) -> Any:
        whole = self.inner.message
        calls = [
            part.model_copy(update={"tool_name": "other"}) if part.type == "tool-call" else part
            for part in whole.content
        ]
        return whole.model_copy(update={"content": calls})


# Cost


class Quadratic(Parser):
    """Reads all text again for each delta."""

    text = ""
    seen = 0

    def change(self, event: Event) -> list[Event]:
        if isinstance(event, TextDelta | ToolCallDelta | ReasoningDelta):
            self.text += "0123"
            self.seen += sum(map(len, self.text))
        return [event]


class KeepsCopies(Parser):
    """Keeps the whole text so far, once per delta."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def change(self, event: Event) -> list[Event]:
        if isinstance(event, TextDelta | ToolCallDelta | ReasoningDelta):
            self.kept.append((self.kept[-1] if self.kept else "") + "0123456789")
        return [event]


NO_TEXT = (OPENING + THINKING + CLOSING).encode()
FAILED = (OPENING + TEXT + ERROR).encode()
PART = ReasoningPart("text", "something else")

FAULTS: list[tuple[str, str, MakeParser, bytes]] = [
    ("chunking", "decodes each chunk alone", DecodesEachChunk, STREAM),
    ("chunking", "merges the deltas of a chunk", MergesDeltasOfAChunk, STREAM),
    ("chunking", "raises from feed", RaisesFromFeed, BODIES["an error in mid-stream"]),
    ("chunking", "names the chunk in its fault", NamesTheChunk, BODIES["a stream that was cut"]),
    ("chunking", "counts chunks", CountsChunks, STREAM),
    ("chunking", "raises another fault when closed again", AnotherFault, BODIES["a stream that was cut"]),
    ("chunking", "keeps its fault to itself", HidesError, BODIES["an error in mid-stream"]),
    ("chunking", "message of the last chunk", LastMessageWins, STREAM),
    ("text", "no TextDone", dropping(TextDone), STREAM),
    ("text", "two TextDone", doubling(TextDone), STREAM),
    ("text", "TextDone of other text", replacing(TextDone, content="Il gèle"), STREAM),
    ("text", "lost delta", replacing(TextDelta, content=""), STREAM),
    ("text", "TextDone without text", adding(ReasoningDone, TextDone("")), NO_TEXT),
    ("text", "TextDelta after TextDone", adding(TextDone, TextDelta("!", 1)), STREAM),
    ("tool_calls", "no ToolCallDone", dropping(ToolCallDone), STREAM),
    ("tool_calls", "two ToolCallDone", doubling(ToolCallDone), STREAM),
    ("tool_calls", "arguments that are not the deltas", replacing(ToolCallDone, arguments="{}"), STREAM),
    ("tool_calls", "empty id", replacing(ToolCallDelta, item_id=""), STREAM),
    ("tool_calls", "empty call_id", replacing(ToolCallDone, call_id=""), STREAM),
    ("tool_calls", "one call_id for all", replacing(ToolCallDone, call_id="t1"), STREAM),
    ("tool_calls", "one id for all", replacing(ToolCallDelta | ToolCallDone, item_id="t1"), STREAM),
    ("tool_calls", "one index for all", replacing(ToolCallDelta | ToolCallDone, index=2), STREAM),
    ("tool_calls", "another name", replacing(ToolCallDone, name="other"), STREAM),
    ("tool_calls", "incomplete in the events only", replacing(ToolCallDone, complete=False), STREAM),
    ("reasoning", "no ReasoningDone", dropping(ReasoningDone), STREAM),
    ("reasoning", "part of other text", replacing(ReasoningDone, part=PART), STREAM),
    ("reasoning", "lost deltas", dropping(ReasoningDelta), STREAM),
    ("reasoning", "a part twice", doubling(ReasoningDone), STREAM),
    ("ending", "no finish reason", dropping(FinishReasonDone), STREAM),
    ("ending", "two finish reasons", doubling(FinishReasonDone), STREAM),
    ("ending", "two usages", doubling(TokenUsageDone), STREAM),
    ("ending", "content at the very end", adding(FinishReasonDone, TextDelta("!", 1)), STREAM),
    ("ending", "usage that the message does not have", dropping(TokenUsageDone), STREAM),
    ("ending", "stop after calls", replacing(FinishReasonDone, finish_reason="stop"), STREAM),
    ("ending", "finish reason of an error", adding(TextDelta, FinishReasonDone("error")), FAILED),
    ("ending", "response starts twice", adding(TextDelta, plait.ResponseStarted("m1")), STREAM),
    ("index", "everything in the first part", replacing(TextDelta, index=0), STREAM),
    ("index", "beyond the message", replacing(ToolCallDelta, index=9), STREAM),
    ("index", "no index", replacing(ReasoningDelta, index=None), STREAM),
    ("incomplete", "never incomplete", NeverIncomplete, STREAM),
    ("incomplete", "ends at the stop reason", EndsAtTheStopReason, STREAM),
    ("incomplete", "needs the last blank line", NeedsTheBlankLine, STREAM),
    ("incomplete", "another fault", AnyFault, STREAM),
    ("incomplete", "no partial message", NoPartialMessage, STREAM),
    ("incomplete", "events of the last frame not delivered", NotDelivered, STREAM),
    ("incomplete", "wrong facts", WrongFacts, STREAM),
    ("incomplete", "swallows errors", SwallowsErrors, BODIES["an error in mid-stream"]),
    ("incomplete", "swallows a JSON error", NeverIncomplete, BODIES["a whole JSON body"]),
    ("one_reading", "another message", OtherMessage, STREAM),
    ("one_reading", "other id", replacing(plait.ResponseStarted, response_id="m2"), STREAM),
    ("one_reading", "lost usage", dropping(TokenUsageDone), STREAM),
    ("tolerance", "refuses unknown fields", Strict, STREAM),
    ("tolerance", "counts nothing", CountsNothing, STREAM),
    ("tolerance", "trusts types", TrustsTypes, STREAM),
    ("tolerance", "skips garbage", SkipsGarbage, STREAM),
    ("round_trip", "NaN in an event", changing(lambda e: [ServerToolCall("s1", "run", math.nan)]), STREAM),
    ("round_trip", "a tuple in an event", changing(lambda e: [ServerToolCall("s1", "run", (1, 2))]), STREAM),
    ("cost", "reads all again for each delta", Quadratic, STREAM),
    ("cost", "keeps a copy per delta", KeepsCopies, STREAM),
]  # fmt: skip


@pytest.mark.parametrize(
    ("law", "make_parser", "body"),
    [pytest.param(law, make, body, id=f"{law}: {fault}") for law, fault, make, body in FAULTS],
)
def test_the_law_names_the_fault(law: str, make_parser: MakeParser, body: bytes) -> None:
    """A parser with this fault breaks this law, and the breach is in its name and has words."""
    breaches = conformance.LAWS[law](WIRE, body, make_parser=make_parser)
    assert breaches, "the law does not see the fault"
    assert {law} == {breach.law for breach in breaches}
    assert all(str(breach).startswith(f"{law}: ") and breach.message for breach in breaches)


def test_every_law_is_shown_a_fault() -> None:
    """A law that is added comes with a parser that breaks it."""
    assert set(conformance.LAWS) == {law for law, *_ in FAULTS}


@pytest.mark.parametrize("law", conformance.LAWS)
def test_a_crash_breaks_every_law(law: str) -> None:
    """A parser that fails with an exception of Python's breaks the law, it does not stop the check."""

    class Crashes(Parser):
        def feed(self, data: bytes) -> list[Event]:
            raise KeyError("delta")

    (breach,) = conformance.LAWS[law](WIRE, STREAM, make_parser=Crashes)
    assert breach.message == "read whole: feed raised KeyError: 'delta'"


def test_a_breach_names_the_chunking() -> None:
    """Whoever reads the breach can repeat the partition."""
    breaches = conformance.chunking(WIRE, STREAM, make_parser=DecodesEachChunk)
    assert breaches[0].message.startswith("chunks of 1: event 5 is TextDelta(content='Il g��le")


def test_a_breach_names_the_cut() -> None:
    """Whoever reads the breach can repeat the cut."""
    first = STREAM.index(b"event: message_stop")
    breaches = conformance.incomplete(WIRE, STREAM, make_parser=EndsAtTheStopReason)
    cuts = [int(breach.message.split()[3].replace(",", "")) for breach in breaches]
    assert all(first - 300 < cut < first + len("event: message_stop\ndata: {...}") for cut in cuts)


def test_the_terminal_event_is_decided_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that names another terminal event makes a right parser break the law."""
    wrong = Terminal(
        completes=lambda payload, before: payload.get("type") == "message_delta",
        over=lambda payload: payload.get("type") == "message_stop",
        fails=TERMINALS[WIRE].fails,
    )
    monkeypatch.setitem(TERMINALS, WIRE, wrong)
    assert conformance.incomplete(WIRE, STREAM)
