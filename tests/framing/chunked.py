"""Runs a decoder over the same bytes in different chunks, and says which cut made a difference."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from plait.errors import ProtocolError
from plait.framing import Decoder

Outcome = tuple[list[Any], str | None]


def outcome(decoder: Decoder[Any], chunks: Iterable[bytes]) -> Outcome:
    """The frames, then the message of the fault or None."""
    frames: list[Any] = []
    raised: ProtocolError | None = None
    try:
        for chunk in chunks:
            got = decoder.feed(chunk)
            assert got or decoder.error is None, "a fault without frames is raised, not only kept"
            frames += got
        frames += decoder.close()
    except ProtocolError as error:
        raised = error
    assert decoder.error is raised
    if raised is None:
        assert decoder.close() == []
    return frames, None if raised is None else str(raised)


def partitions(body: bytes) -> Iterable[tuple[str, list[bytes]]]:
    """Whole, one byte at a time, pairs, each two-way cut, and each with an empty chunk at the cut."""
    yield "whole", [body]
    yield "one byte at a time", [body[i : i + 1] for i in range(len(body))]
    yield "two bytes at a time", [body[i : i + 2] for i in range(0, len(body), 2)]
    yield "two bytes at a time, from 1", [body[:1], *(body[i : i + 2] for i in range(1, len(body), 2))]
    for cut in range(1, len(body)):
        yield f"cut at {cut}: {body[:cut]!r} | {body[cut:]!r}", [body[:cut], b"", body[cut:]]


def check_decode(
    make: Callable[[], Decoder[Any]], body: bytes, expected: Sequence[Any], error: str | None = None
) -> None:
    """Every partition of `body` gives the frames `expected`, then the fault `error` (None: no fault)."""
    for name, chunks in partitions(body):
        assert outcome(make(), chunks) == (list(expected), error), name


def split(body: bytes, cuts: Iterable[int]) -> list[bytes]:
    """`body` cut at each position of `cuts`, taken modulo its length."""
    places = sorted({cut % (len(body) + 1) for cut in cuts})
    return [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


cuts: st.SearchStrategy[list[int]] = st.lists(st.integers(0, 10_000), max_size=8)


def seconds(run: Callable[[], object], repeat: int = 3) -> float:
    """The least time of `repeat` runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def check_linear(run: Callable[[int], object], size: int, factor: int = 16) -> None:
    """Running with `factor` times the size takes less than eight times `factor` times as long.

    A quadratic cost takes `factor` squared. The margin is for caches and fresh memory pages, which cost the
    small size little. Megabytes of one line are decoded in less time than the pages for them take: with
    sizes up to about 1 MB it is the decoder that is measured.
    """
    for _ in range(3):  # a busy machine may disturb one attempt, a quadratic cost disturbs all
        small = seconds(lambda: run(size), repeat=7)
        large = seconds(lambda: run(size * factor), repeat=3)
        if large < 8 * factor * small:
            return
    raise AssertionError(f"{factor} times the bytes took {large / small:.1f} times as long")
