"""Work on many recordings, for `plait check` and `plait drift`: on all cores, with a bar on the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from plait.cli.source import check_wire
from plait.cli.status import BadArgumentsError
from plait.conformance.recordings import Source, sources

Result = TypeVar("Result")

ALONE_BYTES = 2_000_000
"""Files that are together shorter than this are not worth starting other processes."""

TASK_BYTES = 100_000
"""Files are handed out in groups of about this many bytes: small enough to share the work out evenly."""

MOST_JOBS = 8
"""Processes that are started when nobody says how many."""


def found_sources(paths: Sequence[str], wire: str | None) -> list[Source]:
    """The files to read.

    Raises:
        BadArgumentsError: there is no such path or wire format, or no file in the folders
    """
    if wire is not None:
        check_wire(wire)
    try:
        found = sources(paths, wire=wire)
    except OSError as error:
        raise BadArgumentsError(
            f"cannot read {error.filename!r}: {error.strerror or error}; expected cassettes, bodies of "
            "responses, or folders of them"
        ) from None
    if not found:
        raise BadArgumentsError(f"no files in {', '.join(paths)}: expected cassettes or bodies of responses")
    return found


def worked(
    work: Callable[[Sequence[Source]], list[Result]],
    found: Sequence[Source],
    jobs: int | None,
    words: str,
) -> Generator[list[Result], None, None]:
    """What `work` makes of these files, a group at a time, in their order where one process does it all.

    Args:
        work: a function that other processes can import, with arguments that can be pickled
        found: the files
        jobs: how many processes; None for as many as there are cores, if that is worth it
        words: what the bar says
    """
    sizes = [_size(source) for source in found]
    tasks = list(_tasks(found, sizes))
    if jobs is None:
        jobs = min(_cores(), MOST_JOBS) if sum(sizes) >= ALONE_BYTES else 1
    jobs = min(jobs, len(tasks))
    with _bar(words, len(found)) as advance:
        if jobs <= 1:
            for task in tasks:
                for source in task:
                    yield work([source])
                    advance(1)
            return
        yield from _in_processes(work, tasks, jobs, advance)


def _in_processes(
    work: Callable[[Sequence[Source]], list[Result]],
    tasks: Sequence[Sequence[Source]],
    jobs: int,
    advance: Callable[[int], None],
) -> Iterator[list[Result]]:
    # Processes are started afresh, not forked: the bar runs in a thread.
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, context, initializer=_start, initargs=(stop,))
    futures: dict[Future[list[Result]], int] = {}
    try:
        with _uninterrupted():
            futures = {pool.submit(_work, work, task): len(task) for task in tasks}
        for future in as_completed(futures):
            yield future.result()
            advance(futures[future])
    except BrokenProcessPool:
        raise OSError("a process that was reading recordings was ended from outside") from None
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


_stop: Any = None
"""In a process that works for another: set when that one needs no more results."""


def _start(stop: Any) -> None:
    global _stop
    _stop = stop


def _work(work: Callable[[Sequence[Source]], list[Result]], task: Sequence[Source]) -> list[Result]:
    results: list[Result] = []
    for source in task:
        if not _stop.is_set():
            results += work([source])
    return results


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C, which the one that started them acts on."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _size(source: Source) -> int:
    try:
        return Path(source.file).stat().st_size
    except OSError:
        return 0


def _tasks(found: Sequence[Source], sizes: Sequence[int]) -> Iterator[list[Source]]:
    task: list[Source] = []
    size = 0
    for source, more in zip(found, sizes, strict=True):
        if task and size + more > TASK_BYTES:
            yield task
            task, size = [], 0
        task.append(source)
        size += more + 1_000
    if task:
        yield task


@contextmanager
def _bar(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, where that is a terminal; gives what advances it."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words, total=total)
        yield lambda done: progress.advance(task, done)
