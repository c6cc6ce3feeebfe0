"""One reading of a body by a fresh parser, and what differs between two readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

import plait
from plait.conformance.frames import Frame, frames
from plait.errors import PlaitError
from plait.events import Event

if TYPE_CHECKING:
    from plait.messages import AssistantMessage


class ParserLike(Protocol):
    """What a parser must have to be checked; `plait.Parser` has it."""

    @property
    def error(self) -> PlaitError | None:
        """The fault, as soon as it is known."""

    @property
    def message(self) -> AssistantMessage:
        """What has been read so far."""

    @property
    def unknown(self) -> Mapping[str, int]:
        """What was seen and not understood, with counts."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""

    def close(self) -> list[Event]:
        """The last events, or the fault is raised."""


MakeParser: TypeAlias = Callable[[], ParserLike]


class Reading(msgspec.Struct):
    """What a parser made of a body.

    Attributes:
        events: all of them, those of a last frame that `close` could not return included
        error: what `close` raised; None for a complete response
        message: the message, or what there was of it at the fault
        unknown: the parser's counts
        crash: an exception that no parser may raise for what a provider sent, with where it was raised
    """

    events: list[Event]
    error: PlaitError | None = None
    message: Any = None
    unknown: Mapping[str, int] = {}
    crash: str | None = None


def read(make_parser: MakeParser, chunks: Iterable[bytes]) -> Reading:
    """Feed these chunks to a fresh parser, and close it. What they raise is in the reading."""
    events: list[Event] = []
    error: PlaitError | None = None
    where = "feed"
    parser = make_parser()
    feed = parser.feed
    try:
        for chunk in chunks:
            new = feed(chunk)
            if new:
                events += new
        where = "close"
        try:
            events += parser.close()
        except PlaitError as fault:
            events += fault.undelivered
            error = fault
        where = "message"
        return Reading(events, error, parser.message, parser.unknown)
    except Exception as bug:
        return Reading(events, error, crash=f"{where} raised {type(bug).__name__}: {shorten(bug)}")


class Subject:
    """A body under check: how to read it, and what is asked of it more than once."""

    def __init__(
        self,
        wire: str,
        body: bytes,
        *,
        dialect: str | None = None,
        make_parser: MakeParser | None = None,
        **options: Any,
    ) -> None:
        self.wire = wire
        self.body = body
        self.dialect = dialect
        self.options = options
        self.make_parser = make_parser or (lambda: plait.parser(wire, dialect=dialect, **options))
        self.is_ours = make_parser is None

    def read(self, chunks: Iterable[bytes]) -> Reading:
        """A fresh parser's reading of these chunks."""
        return read(self.make_parser, chunks)

    def fed(self, start: bytes) -> list[Event]:
        """The events that come while the body only begins with these bytes, and may go on."""
        try:
            return self.make_parser().feed(start)
        except Exception:
            return []

    @cached_property
    def whole(self) -> Reading:
        """The reading of the body as one chunk."""
        return self.read([self.body])

    @cached_property
    def frames(self) -> list[Frame]:
        """The body's frames, read without the parser."""
        return frames(self.wire, self.body)


def difference(expected: Reading, got: Reading) -> str | None:
    """What differs first between two readings of the same bytes, in words; None when nothing does."""
    if got.crash is not None:
        return got.crash
    if got.events != expected.events:
        return event_difference(expected.events, got.events)
    if (fault := _fault(got.error)) != (wanted := _fault(expected.error)):
        return f"ended in {shorten(fault)}, not in {shorten(wanted)}"
    if got.message != expected.message:
        return f"the message is {shorten(got.message)}, not {shorten(expected.message)}"
    for error in (got.error, expected.error):
        if error is not None and error.partial_message != expected.message:
            return f"partial_message is {shorten(error.partial_message)}, not {shorten(expected.message)}"
    if dict(got.unknown) != dict(expected.unknown):
        return f"unknown is {shorten(dict(got.unknown))}, not {shorten(dict(expected.unknown))}"
    return None


def event_difference(expected: Sequence[Event], got: Sequence[Event]) -> str:
    """Where two unequal sequences of events part, in words."""
    for number, (wanted, found) in enumerate(zip(expected, got, strict=False), 1):
        if wanted != found:
            return f"event {number} is {shorten(found)}, not {shorten(wanted)}"
    if len(got) < len(expected):
        return f"event {len(got) + 1} is missing: {shorten(expected[len(got)])}"
    return f"event {len(expected) + 1} is too much: {shorten(got[len(expected)])}"


def _fault(error: PlaitError | None) -> str:
    return "a complete response" if error is None else f"{type(error).__name__}: {error}"


def shorten(value: object, limit: int = 200) -> str:
    """The value as text, cut in the middle when it is longer than `limit` characters."""
    text = value if isinstance(value, str) else str(value) if isinstance(value, Exception) else repr(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} ... {text[-limit // 2 :]}"
