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
from functools import partial
from math import inf
from typing import TypeAlias
from weakref import WeakMethod

_MANY = 100
"""So many timers that nobody needs any more are kept before they are looked for."""


Schedule: TypeAlias = "Callable[[float, Watch], Callable[[], None]]"
"""Has `watch.look(due)` called at a time; gives what takes that back."""


class Watch:
    """The deadline of one stream's waits.

    Attributes:
        until: the time until which the wait that is going on may last; `inf` while there is none
        fired: it lasted longer, and was interrupted
    """

    __slots__ = ("_cancel", "_due", "_interrupt", "_schedule", "fired", "until")

    def __init__(self, interrupt: Callable[[], None], schedule: Schedule) -> None:
        self.until = inf
        self.fired = False
        self._interrupt = WeakMethod(interrupt)  # a stream that nobody holds is to go at once
        self._schedule = schedule
        self._due = inf
        self._cancel: Callable[[], None] | None = None

    def start(self, until: float) -> None:
        """A wait begins."""
        self.until = until
        if until < self._due:
            self._set(until)

    def stop(self) -> None:
        """The wait is over."""
        self.until = inf

    def end(self) -> None:
        """There will be no more waits."""
        self.until = inf
        self._set(inf)

    def look(self, due: float) -> None:
        """The timer that was set for `due` fired."""
        if due != self._due:
            return  # it was too late to take it back
        self._cancel = None
        until = self.until
        if until > time.monotonic():
            self._due = inf
            self._set(until)
            return
        self._due = inf
        self.fired = True
        if (interrupt := self._interrupt()) is not None:
            interrupt()

    def _set(self, due: float) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        self._due = due
        if due < inf:
            self._cancel = self._schedule(due, self)


class _Timers:
    """One thread for the deadlines of all synchronous streams of this process; it ends with the process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._heap: list[tuple[float, int, list[Watch]]] = []
        self._numbers = itertools.count()
        self._dead = 0
        self._thread: threading.Thread | None = None

    def add(self, due: float, watch: Watch) -> Callable[[], None]:
        held = [watch]
        with self._changed:
            heapq.heappush(self._heap, (due, next(self._numbers), held))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="plait-deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][2] is held:
                self._changed.notify()
        return partial(self._forget, held)

    def _forget(self, held: list[Watch]) -> None:
        held.clear()
        with self._changed:
            self._dead += 1
            if self._dead > _MANY and self._dead > len(self._heap) // 2:
                self._heap = [entry for entry in self._heap if entry[2]]
                heapq.heapify(self._heap)
                self._dead = 0

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap or self._heap[0][0] > time.monotonic():
                    self._changed.wait(self._heap[0][0] - time.monotonic() if self._heap else None)
                due, _, held = heapq.heappop(self._heap)
                self._dead -= not held
                watch = held[0] if held else None
            if watch is not None:
                watch.look(due)
            del watch, held


_timers = _Timers()


def _new_timers() -> None:
    global _timers
    _timers = _Timers()  # a forked process has neither the thread nor a lock that can be relied on


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_timers)


def watch_in_thread(interrupt: Callable[[], None]) -> Watch:
    """A watch whose `interrupt`, a method, is called in another thread."""
    return Watch(interrupt, lambda due, watch: _timers.add(due, watch))


def watch_in_loop(interrupt: Callable[[], None]) -> Watch:
    """A watch whose `interrupt`, a method, is called by the running event loop."""
    return Watch(interrupt, partial(_call_at, asyncio.get_running_loop()))


def _call_at(loop: asyncio.AbstractEventLoop, due: float, watch: Watch) -> Callable[[], None]:
    return loop.call_later(max(0.0, due - time.monotonic()), watch.look, due).cancel
