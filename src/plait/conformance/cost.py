"""Law 11: a stream that is four times as long costs four times as much."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator

from plait.conformance.frames import Frame, framing
from plait.conformance.law import law
from plait.conformance.reading import Subject

TIMES = 500
"""How often the repeated frame comes in the short stream."""

GROWTH = 4
"""How much longer the long stream is; quadratic cost would show as `GROWTH` times as much again."""

SLACK = 1.8
"""How far from linear a measurement may be: noise of a busy machine, and never `GROWTH`."""

TRIES = 3
"""Measurements that must all fail before the law is called broken."""


@law("cost", 11, slow=True)
def cost(subject: Subject) -> Iterator[str]:
    """Time and memory grow linearly with the stream's length: the commonest frame is repeated to see it."""
    if framing(subject.wire, subject.body) == "json":
        return
    repeated = _commonest(subject.frames)
    if repeated is None:
        return
    short, long = (_longer(subject.body, repeated, times) for times in (TIMES, TIMES * GROWTH))
    bytes_more = len(long) / len(short)
    for name, measure in (("time", _seconds), ("memory", _peak)):
        ratios: list[float] = []
        for _ in range(TRIES):
            ratios.append(measure(subject, long) / measure(subject, short))
            if ratios[-1] <= bytes_more * SLACK:
                break
        else:
            yield (
                f"{bytes_more:.1f} times the bytes (the frame at byte {repeated.start:,}, "
                f"{TIMES * GROWTH:,} instead of {TIMES:,} times) take {min(ratios):.1f} times the {name}"
            )


def _commonest(frames: list[Frame]) -> Frame | None:
    """The first frame of the shape that comes most often: a delta, in any stream worth measuring."""
    shapes: dict[str, Frame] = {}
    counts: Counter[str] = Counter()
    for frame in frames:
        if isinstance(frame.payload, dict) and (frame.end > frame.payload_end or frame.binary):
            shape = json.dumps([frame.event, frame.payload.get("type"), sorted(frame.payload)])
            shapes.setdefault(shape, frame)
            counts[shape] += 1
    return shapes[counts.most_common(1)[0][0]] if counts else None


def _longer(body: bytes, frame: Frame, times: int) -> bytes:
    return body[: frame.end] + body[frame.start : frame.end] * times + body[frame.end :]


def _chunks(body: bytes) -> list[bytes]:
    return [body[at : at + 100] for at in range(0, len(body), 100)]


def _quietly(subject: Subject, chunks: list[bytes], measure: Callable[[], float]) -> float:
    gc.collect()
    gc.disable()
    try:
        before = measure()
        subject.read(chunks)
        return max(measure() - before, 1e-9)
    finally:
        gc.enable()


def _seconds(subject: Subject, body: bytes) -> float:
    return min(_quietly(subject, _chunks(body), time.process_time) for _ in range(2))


def _peak(subject: Subject, body: bytes) -> float:
    chunks = _chunks(body)
    tracemalloc.start()
    try:
        return _quietly(subject, chunks, lambda: float(tracemalloc.get_traced_memory()[1]))
    finally:
        tracemalloc.stop()
