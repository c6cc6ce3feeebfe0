"""Which responses are watched, and the parser that reads along one of them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from re import Pattern
from typing import Any, TypeVar

import msgspec

from plait import wire as wires
from plait.content_coding import Decoder, decode
from plait.errors import IncompleteStreamError, PlaitError
from plait.wire.guessing import guess_wire

LOGGER = logging.getLogger("plait.guard")
"""Says what is not watched, and why. Silent unless the program configures logging."""

LOGGER.addHandler(logging.NullHandler())

STREAM_TYPES: Mapping[str, str] = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    "application/vnd.amazon.eventstream": "event-stream",
}
"""Content types of streams, with the framing that each names."""

STREAM_URIS: Pattern[str] = re.compile(
    r":stream(?:GenerateContent|RawPredict)$|/(?:converse|invoke-with-response)-stream$"
)
"""Ends of the paths that only streams come from, whatever content type they have."""

FAILURE_ENDS: Mapping[str, bytes] = {"openai-responses": b'"response.failed"'}
"""Terminal events that report a failure, as JSON: the parser's fault, and yet the wire's proper end."""

REASON_ENDS = frozenset(wires.WIRES) - {"anthropic-messages", "openai-responses"}
"""Wires whose terminal event is the one with the finish reason; an error may come with it, or behind it."""

Raised = TypeVar("Raised", bound=IncompleteStreamError)


class _Asked(msgspec.Struct):
    stream: Any = None


_ASKED = msgspec.json.Decoder(_Asked)


def known_wire(wire: str) -> str:
    """A wire format's name, once it is known to be one.

    Raises:
        UnknownWireError: it is not; the message lists those there are
    """
    wires.translator_class(wire)
    return wire


def watched_wire(request: Any, response: Any, told: str | None, *, guess: bool) -> str | None:
    """The wire format that a response is to be watched as, or None for one that is none of ours.

    Watched are responses with status 200 that are streams: by their content type, by their URL, or because
    the request's JSON body has `"stream": true` (only where the body is at hand: none is consumed for this).

    Args:
        request: the request, of either library
        response: its response
        told: the wire format as the user said it
        guess: whether to go by the URL instead. A content type that names a framing the guessed wire does not
            have says that the URL only looks like one of ours
    """
    if response.status_code != 200:
        return None
    uri = str(request.url)
    wire = guess_wire(uri, b"") if guess else told
    if wire is None:
        return None
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    framing = STREAM_TYPES.get(media_type)
    if framing is not None:
        return wire if not guess or framing in wires.translator_class(wire).framings else None
    path = re.split(r"[?#]", uri, maxsplit=1)[0]
    return wire if STREAM_URIS.search(path) or _asks_for_stream(request) else None


def _asks_for_stream(request: Any) -> bool:
    try:
        content = request.content
    except RuntimeError:  # RequestNotRead: it was sent from an iterator
        return False
    try:
        return _ASKED.decode(content).stream is True
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False


class Watch:
    """A parser that reads along one body and says at its end whether the answer was whole.

    A watch that fails itself, be it on a broken compression or by a fault of Plait's own, gives up with a
    warning to the log: what the client reads does not depend on it.
    """

    def __init__(self, wire: str, decoders: Sequence[Decoder] = ()) -> None:
        self._parser = wires.parser(wire)
        self._wire = wire
        self._decoders = decoders
        self._failed = False  # whether a terminal event that reports a failure has come
        self._gave_up = False

    def reading(self) -> Callable[[bytes], object]:
        """What takes the bytes of the body as they come; to be asked for once."""
        read = self._looking(FAILURE_ENDS[self._wire]) if self._wire in FAILURE_ENDS else self._parser.feed
        return partial(self._decode, read) if self._decoders else read

    def give_up(self, problem: Exception) -> Callable[[bytes], object]:
        """Stop watching because of `problem`, with a warning; what takes the rest of the body is returned."""
        self._gave_up = True
        LOGGER.warning("a response of %s is not watched any more", self._wire, exc_info=problem)
        return _ignore

    def end(self, incomplete: type[Raised]) -> Raised | None:
        """The body has ended: the error to raise, of the class `incomplete`, or None for a whole answer.

        An error frame, or bytes that are not the wire format, have been passed on like all others. A client
        that still read to the end gets that fault as the error's cause, unless the terminal event came, too:
        before the fault, or as one that itself reports a failure.
        """
        if self._gave_up:
            return None
        try:
            _events, fault = self._parser.finish()
            return None if fault is None or self._is_terminal(fault) else self._error(fault, incomplete)
        except Exception as problem:
            self.give_up(problem)
            return None

    def _is_terminal(self, fault: PlaitError) -> bool:
        if isinstance(fault, IncompleteStreamError):
            return False
        partial = fault.partial_message
        finished = partial is not None and partial.raw_finish_reason is not None
        return self._failed or (finished and self._wire in REASON_ENDS)

    def _error(self, fault: PlaitError, incomplete: type[Raised]) -> Raised:
        size = self._parser.bytes_read
        cut = isinstance(fault, IncompleteStreamError)
        where = f"{self._wire}: the body ended, at byte {size:,}, without the terminal event, after a fault"
        last = self._parser.last_event
        error = incomplete(
            str(fault) if cut else f"{where}: {fault}", wire=self._wire, last_event=last, bytes_read=size
        )
        error.partial_message = fault.partial_message
        error.__cause__ = None if cut else fault
        return error

    def _decode(self, read: Callable[[bytes], object], data: bytes) -> None:
        if self._over:
            return
        for piece in decode(self._decoders, data):
            read(piece)
            if self._over:
                return

    @property
    def _over(self) -> bool:
        """Whether nothing that may come matters any more."""
        parser = self._parser
        return parser.done and (parser.error is None or self._wire not in FAILURE_ENDS or self._failed)

    def _looking(self, mark: bytes) -> Callable[[bytes], object]:
        """Reads, and notes the terminal event that the parser takes for a fault, or stops before."""
        parser, feed, tail = self._parser, self._parser.feed, b""

        def look(data: bytes) -> None:
            nonlocal tail
            feed(data)
            if data[-2:] == b"\n\n" and parser.error is None:
                tail = b""  # whole frames, and no failure among them
                return
            seen = tail + data
            self._failed = self._failed or mark in seen
            tail = seen[1 - len(mark) :]

        return look


def _ignore(data: bytes) -> None:
    """The rest of a body that is not watched."""
