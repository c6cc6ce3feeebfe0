"""Deadlines of waits that are going on: one timer for many of them, moved only when it fires.

A stream waits for bytes thousands of times, and nearly never in vain. So a wait only notes its deadline; the
timer that was set for an earlier one looks at the note when it fires, and is set again.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable
from math import inf


class Watch:
    """The deadline of one stream's waits.

    Attributes:
        until: the time until which the wait that is going on may last; `inf` while there is none
        fired: it lasted longer, and was interrupted
    """

    __slots__ = ("_due", "_interrupt", "_over", "_schedule", "fired", "until")

    def __init__(self, interrupt: Callable[[], None], schedule: Callable[[float, Watch], None]) -> None:
        self.until = inf
        self.fired = False
        self._interrupt: Callable[[], None] | None = interrupt
        self._schedule = schedule
        self._due = inf
        self._over = False

    def start(self, until: float) -> None:
        """A wait begins."""
        self.until = until
        if until < self._due:
            self._due = until
            self._schedule(until, self)

    def stop(self) -> None:
        """The wait is over."""
        self.until = inf

    def end(self) -> None:
        """There will be no more waits."""
        self.until = inf
        self._over = True
        self._interrupt = None

    def look(self, due: float) -> None:
        """The timer that was set for `due` fired."""
        if self._over or due != self._due:
            return  # it is over, or another timer was set for an earlier time since
        until = self.until
        if until <= time.monotonic():
            self._due = inf
            self.fired = True
            if (interrupt := self._interrupt) is not None:
                interrupt()
        else:
            self._due = until
            if until < inf:
                self._schedule(until, self)


class _Timers:
    """One thread for the deadlines of all synchronous streams of this process; it ends with the process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._heap: list[tuple[float, int, Watch]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, due: float, watch: Watch) -> None:
        with self._changed:
            heapq.heappush(self._heap, (due, next(self._numbers), watch))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="plait-deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][2] is watch:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap or self._heap[0][0] > time.monotonic():
                    self._changed.wait(self._heap[0][0] - time.monotonic() if self._heap else None)
                due, _, watch = heapq.heappop(self._heap)
            watch.look(due)
            del watch


_timers = _Timers()


def _new_timers() -> None:
    global _timers
    _timers = _Timers()  # a forked process has neither the thread nor a lock that can be relied on


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_timers)


def watch_in_thread(interrupt: Callable[[], None]) -> Watch:
    """A watch whose `interrupt` is called in another thread."""
    return Watch(interrupt, lambda due, watch: _timers.add(due, watch))


def watch_in_loop(interrupt: Callable[[], None]) -> Watch:
    """A watch whose `interrupt` is called by the running event loop."""
    loop = asyncio.get_running_loop()
    return Watch(interrupt, lambda due, watch: _call_at(loop, due, watch))


def _call_at(loop: asyncio.AbstractEventLoop, due: float, watch: Watch) -> None:
    loop.call_later(max(0.0, due - time.monotonic()), watch.look, due)
