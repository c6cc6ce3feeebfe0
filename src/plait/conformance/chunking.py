"""Law 1: how the network cuts the bytes changes nothing."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import plait
from plait.conformance.law import law
from plait.conformance.reading import ParserLike, Reading, Subject, difference
from plait.errors import PlaitError
from plait.events import Event

SIZES = (1, 3, 7, 64, 1021)
"""Chunk sizes that are tried: odd ones drift over every frame's parts, primes over every period."""

ALL_SPLITS = 300
"""Up to this many bytes, the body is cut in two at every byte."""

SPLIT_WORK = 400_000
"""For longer bodies, cuts in two are sampled: as many as read about this many bytes."""

PARTITIONS = 4
"""Random partitions that are tried."""

RUN = 6_000
"""What it costs to make a parser and a message, in bytes that could be read instead."""


@law("chunking", 1)
def chunking(subject: Subject) -> Iterator[str]:
    """Any partition of the same bytes gives the same events, then the same fault and the same message."""
    for name, chunks in partitions(subject.body):
        differs = difference(subject.whole, subject.read(chunks))
        if differs is not None:
            yield f"{name}: {differs}"
    yield from _close_breaches(subject)
    if subject.is_ours:
        for name, reading in (("plait.parse", _parse(subject)), ("plait.aparse", _aparse(subject))):
            if (differs := difference(subject.whole, reading)) is not None:
                yield f"{name}: {differs}"


def _close_breaches(subject: Subject) -> Iterator[str]:
    """Closing again changes nothing, and `error` names the fault that `close` raises."""
    parser = subject.make_parser()
    parser.feed(subject.body)
    first, second = _closed(parser), _closed(parser)
    fault = first if isinstance(first, PlaitError) else None
    if second is not fault and second != []:
        yield f"closed again: {second!r}, after {fault!r}"
    if parser.error is not fault:
        yield f"close ended in {fault!r}, but error is {parser.error!r}"


def _closed(parser: ParserLike) -> list[Event] | PlaitError:
    try:
        return parser.close()
    except PlaitError as error:
        return error


def partitions(body: bytes) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Ways to cut a body, named: fixed sizes, lines, blank lines, in two, at random. Always the same ones."""
    for size in SIZES:
        yield f"chunks of {size}", (body[at : at + size] for at in range(0, len(body), size))
    yield (
        "empty chunks between",
        (piece for half in _cut(body, [len(body) // 2]) for piece in (b"", half, b"")),
    )
    yield "one chunk per line", body.splitlines(keepends=True)
    yield "one chunk per blank line", _after_each(body, b"\n\n")
    for at in _splits(body):
        yield f"cut in two at byte {at:,}", (body[:at], body[at:])
    for seed in range(PARTITIONS):
        chance = random.Random(seed)
        mean = (5, 50, 500, 5_000)[seed % 4]
        cuts = sorted(chance.sample(range(len(body) + 1), min(len(body), len(body) // mean + 1)))
        yield f"random partition {seed} (chunks of about {mean})", _cut(body, cuts)


def _splits(body: bytes) -> Iterable[int]:
    if len(body) <= ALL_SPLITS:
        return range(1, len(body))
    return sorted(
        random.Random(len(body)).sample(range(1, len(body)), min(100, SPLIT_WORK // (len(body) + RUN) + 1))
    )


def _cut(body: bytes, cuts: list[int]) -> list[bytes]:
    return [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


def _after_each(body: bytes, mark: bytes) -> list[bytes]:
    pieces = body.split(mark)
    return [piece + mark for piece in pieces[:-1]] + [pieces[-1]]


def _parse(subject: Subject) -> Reading:
    source = _cut(subject.body, [len(subject.body) // 3])
    events: list[Event] = []
    try:
        for event in plait.parse(source, subject.wire, dialect=subject.dialect, **subject.options):
            events.append(event)
    except PlaitError as error:
        return _as_whole(subject, events, error)
    return _as_whole(subject, events, None)


def _aparse(subject: Subject) -> Reading:
    events: list[Event] = []

    async def source() -> AsyncIterator[bytes]:
        for chunk in _cut(subject.body, [len(subject.body) // 3]):
            yield chunk

    async def collect() -> None:
        async for event in plait.aparse(source(), subject.wire, dialect=subject.dialect, **subject.options):
            events.append(event)

    try:
        _run(collect())
    except PlaitError as error:
        return _as_whole(subject, events, error)
    return _as_whole(subject, events, None)


def _run(coroutine: Any) -> None:
    # Nothing here ever waits, so no event loop is needed (and one may be running already).
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise RuntimeError("plait.aparse waited for something that is not its source")


def _as_whole(subject: Subject, events: list[Event], error: PlaitError | None) -> Reading:
    # The generators give no message and no counts of their own, and stop reading at the end or the fault.
    whole = subject.whole
    return Reading(events, error, whole.message, whole.unknown)
