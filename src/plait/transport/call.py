"""One call of a model, without I/O: what to send, what an answer means, when to try again, when to give up.

The drivers in `stream.py` and `async_stream.py` send and receive; whatever is decided is decided here, once
for both of them. A driver begins an attempt, reports what came of it (`responded`, `refused`, `received`,
`over`, `broke`), and looks at `state`: `reading` (go on), `waiting` (begin anew after `wait` seconds) or
`ended` (hand out what came, then raise `error` if there is one).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from math import inf
from typing import Literal
from urllib.parse import urlsplit

from plait import content_coding
from plait import wire as wires
from plait.errors import (
    ConfigurationError,
    IncompleteStreamError,
    PlaitError,
    ProtocolError,
    ProviderError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamTimeoutError,
    TransportError,
)
from plait.events import Event
from plait.transport.failures import Failure
from plait.transport.frames import FrameTap, OnFrame
from plait.transport.limits import Retries, Retry, Timeouts
from plait.transport.observing import Observer, Unharmed
from plait.transport.question import Question
from plait.transport.response import ResponseInfo, response_info
from plait.transport.secrets import Secrets
from plait.wire.parser import Parser

MAX_ERROR_BODY = 1024 * 1024
"""Bytes of an error response that are read."""

_TICK = 0.02
"""Seconds by which two timers that were set for the same moment may differ."""

_log = logging.getLogger("plait.transport")
_wire_log = logging.getLogger("plait.wire")
_AGAIN = frozenset({408, 409, 429})


class Call:
    """One call, through all its attempts.

    Attributes:
        state: what the driver is to do next
        wait: with `waiting`, the seconds until the next attempt
        error: with `ended`, what is to be raised when all events are handed out
        until: by the clock, when the wait that is going on has lasted too long
        attempts: how many were begun
        response: the last response's status and headers
    """

    __slots__ = (
        "__weakref__", "_began", "_clock", "_end", "_first_event_by", "_handed_out", "_idle", "_observer",
        "_on_frame", "_on_retry", "_parser", "_quiet", "_tap", "_undo", "attempts", "error", "left",
        "question", "response", "retries", "secrets", "state", "timeouts", "until", "wait",
    )  # fmt: skip

    def __init__(
        self,
        question: Question,
        *,
        timeouts: Timeouts,
        retries: Retries,
        secrets: Secrets,
        on_retry: Callable[[Retry], None] | None = None,
        on_frame: OnFrame | None = None,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.question = question
        self.timeouts = timeouts
        self.retries = retries
        self.secrets = secrets
        self.state: Literal["reading", "waiting", "ended"] = "waiting"
        self.wait = 0.0
        self.until = inf
        self._quiet = 0
        self.error: PlaitError | None = None
        self.attempts = 0
        self.response: ResponseInfo | None = None
        self.left = False
        self._clock = clock
        self._on_retry = on_retry
        self._on_frame = on_frame
        self._tap: FrameTap | None = None
        self._undo: list[content_coding.Decoder] = []
        self._parser = self._new_parser()
        self._handed_out = False
        self._began = clock()
        self._end = self._began + timeouts.total if timeouts.total is not None else inf
        self._idle = timeouts.idle if timeouts.idle is not None else inf
        self._first_event_by = inf
        self._observer = Unharmed(observer, self) if observer is not None else None

    @property
    def parser(self) -> Parser:
        """The parser of the current attempt."""
        return self._parser

    def _new_parser(self) -> Parser:
        asked = self.question
        return wires.parser(asked.wire, dialect=asked.dialect, **asked.reading)

    # What the drivers ask

    def begin(self) -> None:
        """An attempt begins."""
        if self.left:
            return
        if self.attempts:
            self._parser = self._new_parser()
            self._quiet = 0
        if self._on_frame is not None:
            self._tap = FrameTap(self.question.wire, self._on_frame)
        self.attempts += 1
        self.state = "reading"
        first = self.timeouts.first_event
        self._first_event_by = self._clock() + first if first is not None else inf
        self.wait_begins()
        _log.debug(
            "%s: POST %s (%s, attempt %d)",
            self.question.provider, self.question.place, self.question.wire, self.attempts,
        )  # fmt: skip

    def now(self) -> float:
        """The time by the clock of all deadlines."""
        return self._clock()

    def wait_begins(self) -> None:
        """The next event is waited for: sets `until`."""
        if self._handed_out:
            self.until = min(self._clock() + self._idle, self._end)
        else:
            self.until = min(self._first_event_by, self._end)

    @property
    def late(self) -> bool:
        """Whether the wait for the next event has lasted too long."""
        return self.state == "reading" and self._clock() >= self.until

    def time_left(self) -> float | None:
        """Seconds until the first event, or the whole call, must have come; None without end."""
        left = min(self._first_event_by, self._end) - self._clock()
        return None if left == inf else max(left, 0.001)

    # What the drivers report

    def responded(self, status: int, headers: Mapping[str, str], *, decoded: bool = False) -> bool:
        """A response began. Whether its body is an answer; else it is to be read and given to `refused`.

        `decoded`: whoever read the body has undone its content coding.
        """
        self.response = response_info(status, self.secrets.hide(dict(headers.items())), self.attempts)
        _log.debug("%s: HTTP %d, request %s", self.question.provider, status, self.response.request_id)
        coding = "" if decoded else self.response.headers.get("content-encoding", "")
        self._undo, answers = [], 200 <= status < 300
        try:
            self._undo = content_coding.decoders(coding)
        except content_coding.UnknownCodingError:
            pass  # `utf-8`, `none`: if it is a coding after all, the parser will not know the bytes
        except content_coding.UnsupportedCodingError as problem:
            if answers:
                self._end_attempt(ProtocolError(f"{self.question.wire}: {problem}"), again=False)
        if self._observer is not None:
            self._observer.tell("responded", self.response)
        return answers

    def refused(self, body: bytes) -> None:
        """The provider answered with an error status; this is the start of its body."""
        assert self.response is not None
        if self._undo:
            body = self._start_of(body)
        status = self.response.status
        # Where a time to wait is a date and the server does not tell its own, it is counted from here.
        headers = {"date": formatdate(usegmt=True), **self.response.headers}
        error = wires.read_error(self.question.wire, status, headers, body, provider=self.question.provider)
        if 300 <= status < 400:
            where = _host(headers.get("location", ""))
            error.message = f"redirected to {where or 'elsewhere'}, which is not followed: correct base_url"
            error.args = (error.message,)
        verdict = headers.get("x-should-retry", "").lower()
        again = (status in _AGAIN or status >= 500) if verdict not in ("true", "false") else verdict == "true"
        self._end_attempt(error, again=again)

    def received(self, chunk: bytes) -> list[Event]:
        """Bytes of the body came: the events to hand out."""
        if self._undo:
            return self._received_coded(chunk)
        return self._received(chunk)

    def _received_coded(self, chunk: bytes) -> list[Event]:
        """The same, of a compressed body: a piece at a time, so that a small chunk cannot fill the memory."""
        events: list[Event] = []
        try:
            for piece in content_coding.decode(self._undo, chunk):
                events += self._received(piece)
                if self.state != "reading":
                    return events
        except Exception as problem:  # each package has a class of its own
            words = f"the compressed body is broken: {type(problem).__name__}: {problem}"
            events += self._finish(Failure(words))
        return events

    def _start_of(self, data: bytes) -> bytes:
        """The start of a compressed error body, as much of it as can be read."""
        found = bytearray()
        with suppress(Exception):
            for piece in content_coding.decode(self._undo, data):
                found += piece
                if len(found) > MAX_ERROR_BODY:
                    break
        return bytes(found[:MAX_ERROR_BODY])

    def _received(self, chunk: bytes) -> list[Event]:
        if self._tap is not None:
            self._tap.feed(chunk)
        parser = self._parser
        events = parser.feed(chunk)
        if events:
            self._handed_out = True
            if self._observer is not None:
                self._observer.tell("received", events)
        elif parser.quiet != self._quiet:
            self._quiet = parser.quiet
            self.wait_begins()  # nothing to tell yet, but the answer goes on
        if parser.done:
            self._finish(None)
        return events

    def over(self) -> list[Event]:
        """The body ended, as HTTP has it: the last events to hand out."""
        return self._finish(None)

    def broke(self, failure: Failure) -> list[Event]:
        """The exchange with the server broke: the last events to hand out."""
        if self.response is not None and self.response.attempts == self.attempts:
            return self._finish(failure)
        if failure.timeout is not None:
            return self._timed_out(self._phase(failure.timeout), failure)
        if failure.ours:
            self._end_attempt(
                ConfigurationError(
                    f"{self.question.provider}: the request cannot be sent to {self.question.place}: "
                    f"its URL or a header is not one ({failure.words})"
                ),
                again=False,
            )
            return []
        self._end_attempt(
            TransportError(
                f"{self.question.provider}: no answer from {self.question.place}: {failure.words}",
                provider=self.question.provider,
                attempts=self.attempts,
            ),
            again=failure.again,
        )
        return []

    def _phase(self, step: str) -> str:
        """Which limit ran out when a step of sending lasted too long: it has what is left of all of them."""
        soon = self._clock() + _TICK
        if soon >= self._end:
            return "total"
        return "first event" if soon >= self._first_event_by or step == "read" else step

    def timed_out(self) -> list[Event]:
        """A wait lasted too long: the last events to hand out."""
        if self._clock() >= self._end:
            return self._timed_out("total", None)
        return self._timed_out("idle" if self._handed_out else "first event", None)

    def abandon(self, error: BaseException | None = None) -> None:
        """The caller left before the end."""
        if self.state != "ended":
            self.state = "ended"
            self.left = True
            self._say_ended(error)

    # Ends

    def _finish(self, failure: Failure | None) -> list[Event]:
        """The body is over, or the parser has seen enough."""
        if self._tap is not None:
            self._tap.close()
        events, error = self._parser.finish()
        if events:
            self._handed_out = True
            if self._observer is not None:
                self._observer.tell("received", events)
        if failure is not None and error is not None and not isinstance(error, ProviderError):
            if failure.timeout is not None and isinstance(error, IncompleteStreamError):
                self._timed_out("idle" if self._handed_out else "first event", failure)
                return events
            self._explain(error, failure)
        if error is None:
            self._end_call(None)
            return events
        again = isinstance(error, IncompleteStreamError | RateLimitError | ServerError)
        self._end_attempt(error, again=again)
        return events

    def _timed_out(self, phase: str, failure: Failure | None) -> list[Event]:
        limits = {
            "connect": self.timeouts.connect,
            "write": self.timeouts.connect,
            "first event": self.timeouts.first_event,
            "idle": self.timeouts.idle,
            "total": self.timeouts.total,
        }
        seconds = limits.get(phase) or 0.0
        if not self._handed_out:
            early = RequestTimeoutError(
                f"{self.question.provider}: {_TOO_LONG[phase].format(seconds)} ({self.question.place})",
                provider=self.question.provider,
                attempts=self.attempts,
            )
            early.phase, early.seconds = phase, seconds
            again = phase != "total" and (failure is None or failure.again)
            self._end_attempt(early, again=again)
            return []
        events, seen = self._parser.finish()
        if seen is None:
            self._end_call(None)  # the last bytes were a whole event without the blank line behind it
            return events
        late = StreamTimeoutError(
            f"{self.question.wire}: {_TOO_LONG[phase].format(seconds)}; {_tail(self._parser)}",
            wire=self.question.wire,
            last_event=getattr(seen, "last_event", None),
            bytes_read=self._parser.bytes_read,
        )
        late.phase, late.seconds = phase, seconds
        late.partial_message = seen.partial_message
        self._end_call(late)
        return events

    def _explain(self, error: PlaitError, failure: Failure) -> None:
        """The parser knows only that bytes are missing; this is why."""
        if isinstance(error, IncompleteStreamError):
            error.args = (f"{error.wire}: the connection broke ({failure.words}); {_tail(self._parser)}",)
        elif isinstance(error, ProtocolError):
            error.args = (f"{error}; then the connection broke ({failure.words})",)

    def _end_attempt(self, error: PlaitError, *, again: bool) -> None:
        """An attempt failed: another one, or the end."""
        if self.left:
            return
        self._complete(error)
        wait = None
        if again and not self._handed_out:
            wait = self.retries.wait(self.attempts, getattr(error, "retry_after", None))
        if wait is not None and self._clock() + wait < self._end:
            self.state, self.wait = "waiting", wait
            retry = Retry(self.attempts, wait, error)
            _log.info(
                "%s: attempt %d failed (%s), the next in %.2f s",
                self.question.provider, self.attempts, type(error).__name__, wait,
            )  # fmt: skip
            if self._observer is not None:
                self._observer.tell("retrying", retry)
            if self._on_retry is not None:
                self._on_retry(retry)
        else:
            self._end_call(error)

    def _complete(self, error: PlaitError) -> None:
        """What only the transport knows of an error, and nothing that must not be known."""
        if isinstance(error, ProviderError):
            if error.provider in (None, self.question.wire):
                error.provider = self.question.provider
            if error.request_id is None and self.response is not None:
                error.request_id = self.response.request_id
        self.secrets.clean(error)

    def _end_call(self, error: PlaitError | None) -> None:
        if self.left:
            return
        self.state, self.error = "ended", error
        if error is not None:
            self._complete(error)
        self._say_ended(error)

    def _say_ended(self, error: BaseException | None) -> None:
        if self._parser.unknown and _wire_log.isEnabledFor(logging.DEBUG):
            unknown = self.secrets.hide(dict(self._parser.unknown))
            _wire_log.debug("%s: not understood: %s", self.question.wire, unknown)
        _log.debug(
            "%s: %s after %.3f s",
            self.question.provider,
            "left by its caller" if self.left else "complete" if error is None else type(error).__name__,
            self._clock() - self._began,
        )
        if self._observer is not None:
            self._observer.tell("ended", self._parser.message, error)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


_TOO_LONG = {
    "connect": "no connection within {:g} s",
    "write": "the request could not be sent within {:g} s",
    "pool": "no connection was free in the HTTP client's pool",
    "first event": "no event came within {:g} s",
    "idle": "no event for {:g} s",
    "total": "the call took longer than {:g} s",
}


def _tail(parser: Parser) -> str:
    usage = parser.message.token_usage
    return (
        f"{parser.bytes_read:,} bytes were read, the usage is {'reported' if usage else 'unknown'}, "
        "and what came is in partial_message"
    )
