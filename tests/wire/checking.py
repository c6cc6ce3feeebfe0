"""Runs a parser over the same bytes in different chunks, and says which cut made a difference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import plait
from plait.errors import PlaitError
from plait.events import Event
from plait.wire.parser import Parser

ALL_SPLITS = 600
"""Bodies of at most so many bytes are cut at each position, longer ones at about so many."""


class Outcome(NamedTuple):
    """What a parser made of a body; equal for every partition of the same bytes."""

    events: list[Event]
    fault: tuple[str, str] | None
    unknown: dict[str, int]


def sse(*documents: Mapping[str, Any] | str, event_names: bool = True) -> bytes:
    """An SSE body: one event for each document (text is sent as it is), named by its `type`."""
    frames = []
    for document in documents:
        data = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
        name = document.get("type") if event_names and isinstance(document, Mapping) else None
        frames.append(f"event: {name}\ndata: {data}\n\n" if isinstance(name, str) else f"data: {data}\n\n")
    return "".join(frames).encode()


def partitions(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """`body` whole, one byte at a time, and in two chunks with an empty one between them, by name."""
    yield "whole", [body]
    yield "one byte at a time", [body[i : i + 1] for i in range(len(body))]
    for cut in range(1, len(body), len(body) // ALL_SPLITS + 1):
        near = f"{body[max(0, cut - 40) : cut]!r} | {body[cut : cut + 40]!r}"
        yield f"cut at {cut}: {near}", [body[:cut], b"", body[cut:]]


def run(parser: Parser, chunks: Iterable[bytes]) -> Outcome:
    """Feed the chunks and close: `feed` does not raise, and the fault is the one `error` named."""
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    known = parser.error
    last, fault = parser.finish()
    assert known is None or known is fault, "close() raises another fault than `error` named"
    assert parser.error is fault
    return Outcome(events + last, (type(fault).__name__, str(fault)) if fault else None, dict(parser.unknown))


def check_parse(
    wire: str,
    body: bytes,
    expected: Sequence[Event],
    *,
    error: type[PlaitError] | None = None,
    **options: Any,
) -> Parser:
    """Every partition of `body` gives the events `expected`, then a fault of class `error` (None: no fault).

    `options` go to `plait.parser`. Returns the parser that read the whole body, for its `message`,
    `error` and `unknown`; the fault's text and `unknown` are the same for every partition.
    """
    whole = plait.parser(wire, **options)
    first = run(whole, [body])
    assert list(expected) == first.events, "whole"
    assert (error and error.__name__) == (first.fault and first.fault[0]), first.fault
    message = whole.message
    for name, chunks in partitions(body):
        parser = plait.parser(wire, **options)
        assert first == run(parser, chunks), name
        if name == "one byte at a time":
            assert message == parser.message, name
    return whole


def events_of(wire: str, body: bytes, **options: Any) -> list[Event]:
    """The events of a body that is complete."""
    return list(plait.parse([body], wire, **options))
