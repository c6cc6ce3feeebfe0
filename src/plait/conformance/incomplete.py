"""Law 6: half an answer never passes for a whole one, wherever the bytes stop."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

from plait.conformance.content import content_breaches, text_by_part
from plait.conformance.frames import Ending, ending
from plait.conformance.law import law
from plait.conformance.reading import Reading, Subject, event_difference, shorten
from plait.errors import IncompleteStreamError, ProtocolError, ProviderError
from plait.events import FinishReasonDone, TextDelta

ALL_CUTS = 300
"""Up to this many bytes, the body is cut at every byte."""

WORK = 1_200_000
"""For longer bodies, the cuts that matter most are made until about this many bytes have been read again."""

RUN = 6_000
"""What it costs to make a parser and a message, in bytes that could be read instead."""

FEWEST = 40
"""So many cuts are made of a body of any length."""


@law("incomplete", 6)
def incomplete(subject: Subject) -> Iterator[str]:
    """Cut before its terminal event, a response is an `IncompleteStreamError`; cut after it, it is complete.

    Where the terminal event is, `TERMINALS` says, not the parser. Events before the cut are delivered, and
    the error carries the partial message.
    """
    end = _ending(subject)
    whole = subject.whole
    if (problem := _verdict_breach(end, len(subject.body), whole)) is not None:
        yield f"the whole body: {problem}"
        return
    for cut in cuts(subject, end):
        got = subject.read([subject.body[:cut]])
        for words in _cut_breaches(subject, end, cut, got):
            yield f"cut at byte {cut:,} of {len(subject.body):,}: {words}"


def cuts(subject: Subject, end: Ending) -> list[int]:
    """Where to cut: every byte of a small body; else the terminal event, the frames' edges, and a sample."""
    size = len(subject.body)
    if size <= ALL_CUTS:
        return list(range(size))
    marks = [mark for mark in (end.complete, end.over, end.failed, size) if mark is not None]
    boundaries = [place for frame in subject.frames for place in (frame.payload_end, frame.end)]
    around = [
        place + shift
        for frame in subject.frames
        for place in (frame.start, frame.payload_start, frame.payload_end, frame.end)
        for shift in (-2, -1, 1, 2)
    ]
    near = [mark + shift for mark in marks for shift in range(-24, 9)]
    chance = random.Random(size)
    others = [*near, *around, *chance.sample(range(size), min(size, 200))]
    chance.shuffle(boundaries)
    chance.shuffle(others)
    at_marks = [mark + shift for mark in marks for shift in (-1, 0)]
    return _affordable(
        chain(at_marks, boundaries[: len(boundaries) // 2], _in_turn(boundaries, others)), size
    )


def _in_turn(one: Iterable[int], other: Iterable[int]) -> Iterator[int]:
    for pair in zip_longest(one, other, fillvalue=-1):
        yield from pair


def _affordable(candidates: Iterable[int], size: int) -> list[int]:
    chosen: set[int] = set()
    work = 0
    for cut in candidates:
        if 0 <= cut < size and cut not in chosen:
            chosen.add(cut)
            work += cut + RUN
            if work > WORK and len(chosen) >= FEWEST:
                break
    return sorted(chosen)


def _ending(subject: Subject) -> Ending:
    end = ending(subject.wire, subject.body)
    if end.failed is None and len(subject.frames) == 1 and subject.frames[0].start == 0 and end.edges is None:
        (document,) = subject.frames
        if subject.body[document.payload_start : document.payload_start + 1] in (b"{", b"["):
            # One JSON document: it can only be whole at its last byte. What it means, the parser says.
            whole = subject.whole.error
            at = document.payload_end
            if isinstance(whole, ProviderError):
                return Ending(failed=at)
            return Ending() if isinstance(whole, IncompleteStreamError) else Ending(at, at)
    return end


def _verdict_breach(end: Ending, cut: int, got: Reading) -> str | None:
    """What is wrong with how the body ended when it was cut here."""
    error = got.error
    if end.failed is not None and cut >= end.failed:
        return None if isinstance(error, ProviderError) else f"an error frame came, but {_words(got)}"
    if end.broken is not None and cut >= end.broken:
        return None if isinstance(error, ProtocolError) else f"a payload is no JSON object, but {_words(got)}"
    if end.complete is not None and cut >= end.complete and end.may_end(cut):
        return None if error is None else f"the terminal event came, but {_words(got)}"
    if isinstance(error, IncompleteStreamError) or (isinstance(error, ProtocolError) and _may_be_broken(end)):
        return None
    return f"no terminal event came, but {_words(got)}"


def _may_be_broken(end: Ending) -> bool:
    # Not the wire format at all, an HTML page perhaps: at which byte that shows is for the parser to say.
    return end.broken is not None or end.failed is end.complete is None


def _words(got: Reading) -> str:
    if got.error is None:
        return "the response is complete"
    return f"it ended in {type(got.error).__name__}: {shorten(got.error)}"


def _cut_breaches(subject: Subject, end: Ending, cut: int, got: Reading) -> Iterator[str]:
    if got.crash is not None:
        yield got.crash
        return
    if (problem := _verdict_breach(end, cut, got)) is not None:
        yield problem
        return
    whole = subject.whole
    if isinstance(got.error, IncompleteStreamError):
        yield from _partial_breaches(subject, cut, got, got.error)
    elif cut >= (end.over or end.failed or len(subject.body)):
        if got.events != whole.events:
            yield event_difference(whole.events, got.events)
        if got.message != whole.message:
            yield f"the message is {shorten(got.message)}, not {shorten(whole.message)}"
    elif got.error is None:  # complete, but more may come that is read: usage after a finish reason
        if not got.events or not isinstance(got.events[-1], FinishReasonDone):
            yield "complete without a FinishReasonDone at its end"
        if not _text(whole).startswith(_text(got)):
            yield f"the text {shorten(_text(got))!r} does not begin the whole one"
        yield from content_breaches(got)


def _partial_breaches(
    subject: Subject, cut: int, got: Reading, error: IncompleteStreamError
) -> Iterator[str]:
    events = got.events
    if events != subject.whole.events[: len(events)]:
        yield event_difference(subject.whole.events[: len(events)], events)
    partial = error.partial_message
    if partial is None:
        yield "the error has no partial_message"
    elif partial.text != (text := text_by_part(got)):
        yield f"partial_message has the text {shorten(partial.text)!r}, the events {shorten(text)!r}"
    elif partial.finish_reason is not None:
        yield f"partial_message has the finish reason {partial.finish_reason!r}"
    elif any(part.complete for part in partial.tool_calls) and not _any_call_done(got):
        yield "partial_message has a complete tool call, the events have none"
    facts = {"wire": subject.wire, "last_event": events[-1] if events else None, "bytes_read": cut}
    for name, fact in facts.items():
        if getattr(error, name) != fact:
            yield f"the error's {name} is {shorten(getattr(error, name))}, not {shorten(fact)}"


def _any_call_done(got: Reading) -> bool:
    return any(event.type == "tool_call_done" for event in got.events)


def _text(reading: Reading) -> str:
    return "".join(event.content for event in reading.events if isinstance(event, TextDelta))
