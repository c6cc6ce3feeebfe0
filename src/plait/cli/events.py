"""`plait events`: the events of a body, as JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

import plait
from plait.cli.source import Source
from plait.cli.status import Status, status_of
from plait.errors import PlaitError
from plait.events import Event

PROGRESS_FROM = 1_000_000
"""Bytes from which on a body that is written to a file shows progress on the terminal."""


def print_lines(sources: list[Source]) -> Status:
    """Print each response's events, one JSON object a line, as they come; a fault is the last line.

    Returns how the first response that was not complete ended.
    """
    statuses = [_print_lines(source) for source in sources]
    return next((status for status in statuses if status), Status.COMPLETE)


def _print_lines(source: Source) -> Status:
    parser = plait.parser(source.wire, dialect=source.dialect)
    with _progress(source) as chunks:
        for chunk in chunks:
            write_lines(parser.feed(chunk))
            if parser.done:
                break
    events, error = parser.finish()
    write_lines(events, error)
    return status_of(error)


def write_lines(events: Iterable[Event], error: PlaitError | None = None) -> None:
    """Print events, and a fault as the last line, one JSON object a line."""
    lines = [msgspec.json.encode(event.to_dict()) for event in events]
    if error is not None:
        document = {"type": "error", "error": type(error).__name__, "message": str(error)}
        lines.append(msgspec.json.encode(document))
    if lines:
        out = sys.stdout.buffer
        out.write(b"\n".join(lines) + b"\n")
        out.flush()


@contextmanager
def _progress(source: Source) -> Iterator[Iterable[bytes]]:
    """The source's chunks; with a bar on the terminal where the lines themselves are not to be seen."""
    long = source.size is not None and source.size >= PROGRESS_FROM
    if not (long and sys.stderr.isatty() and not sys.stdout.isatty()):
        yield source.chunks
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("parsing", total=source.size)

        def counted() -> Iterator[bytes]:
            for chunk in source.chunks:
                yield chunk
                progress.advance(task, len(chunk))

        yield counted()
