"""CPU time of several things, measured so that they can be compared."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .peers import CANDIDATES, FLOOR
from .reading import Reading
from .streams import Kind, Stream, stream

SAMPLE_SECONDS = 0.01


def best_of(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of CPU (`time.process_time`, all threads) that each task takes.

    In each round every task has its turn, in an order that is shuffled anew: what the machine does, and what
    a task's background threads do after it, hits all alike. One sample is the mean of as many calls as fill
    10 ms; the result is the smallest sample of all rounds.
    """
    rng = random.Random(0)
    for task in tasks.values():
        task()
    counts = {name: max(1, round(SAMPLE_SECONDS / _seconds(task, 1))) for name, task in tasks.items()}
    best = dict.fromkeys(tasks, float("inf"))
    gc.collect()
    gc.freeze()  # what the peers' imports left is not scanned in everybody's time
    try:
        for _round in range(rounds):
            for name in rng.sample(list(tasks), len(tasks)):
                best[name] = min(best[name], _seconds(tasks[name], counts[name]))
    finally:
        gc.unfreeze()
    return best


def _seconds(task: Callable[[], object], count: int) -> float:
    gc.collect()
    start = time.process_time()
    for _call in range(count):
        task()
    return (time.process_time() - start) / count


@dataclass(frozen=True)
class Row:
    """One candidate's microseconds of CPU per event and how many times the floor, or why there are none."""

    name: str
    microseconds: float | None = None
    ratio: float | None = None
    note: str = ""


def reading(wire: str, kind: Kind, rounds: int) -> list[Row]:
    """What each candidate takes per event of one invented stream; all candidates in one run."""
    source = stream(wire, kind)
    notes: dict[str, str] = {}
    ready: dict[str, Reading] = {}
    for name, candidate in CANDIDATES.items():
        missing = candidate.missing(wire)
        if missing:
            notes[name] = missing
            continue
        try:
            ready[name] = checked(candidate.openers[wire](source), source)
        except Exception as error:  # a peer may fail in any way; the others are still measured
            notes[name] = f"failed: {_short(error)}"
    best = best_of({name: candidate.run for name, candidate in ready.items()}, rounds)
    return _rows(best, len(source.events), notes)


def checked(candidate: Reading, source: Stream) -> Reading:
    """The candidate, once it was seen to read all of the stream's content.

    Raises:
        ValueError: it read something else
    """
    content = candidate.content()
    if content is not None and content != source.content:
        raise ValueError(f"read {len(content)} characters, not the {len(source.content)} there are")
    return candidate


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:150]}"


def _rows(best: Mapping[str, float], events: int, notes: Mapping[str, str]) -> list[Row]:
    floor = best.get(FLOOR)
    return [
        Row(name, best[name] / events * 1e6, best[name] / floor if floor else None)
        if name in best
        else Row(name, note=notes[name])
        for name in CANDIDATES
    ]
