"""What one event costs to make, by what it could be made of: `python -m tests.benchmarks.events`.

Each candidate is immutable and has the fields of `TextDelta`. Prints nanoseconds for an event that is made
and dropped, and for one that is kept (where the garbage collector has to look at it again and again).
"""

from __future__ import annotations

import gc
import importlib.util
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

import plait

CALLS = 100_000
REPEATS = 7


class Struct(msgspec.Struct, frozen=True):
    """A plain msgspec struct."""

    content: str
    index: int | None = None


@dataclass(frozen=True, slots=True)
class FrozenDataclass:
    """A frozen dataclass with slots."""

    content: str
    index: int | None = None


@dataclass(slots=True)
class MutableDataclass:
    """For comparison: what freezing costs."""

    content: str
    index: int | None = None


class Tuple(NamedTuple):
    """A named tuple."""

    content: str
    place: int | None = None  # a tuple has an `index` of its own


class Model(BaseModel):
    """A frozen pydantic model."""

    model_config = ConfigDict(frozen=True)
    content: str
    index: int | None = None


@pydantic_dataclass(frozen=True, slots=True)
class PydanticDataclass:
    """A frozen pydantic dataclass."""

    content: str
    index: int | None = None


def candidates() -> dict[str, Callable[[str, int], Any]]:
    """A way to make each kind of event, by name."""
    found: dict[str, Callable[[str, int], Any]] = {
        "plait.TextDelta (msgspec struct, gc=False)": plait.TextDelta,
        "msgspec struct, frozen": Struct,
        "NamedTuple": Tuple,
        "dataclass, slots, not frozen": MutableDataclass,
        "dataclass, slots, frozen": FrozenDataclass,
        "pydantic dataclass, frozen": PydanticDataclass,
        "pydantic model, frozen": lambda content, index: Model(content=content, index=index),
        "pydantic model, model_construct": lambda content, index: Model.model_construct(
            content=content, index=index
        ),
        "dict": lambda content, index: {"type": "text_delta", "content": content, "index": index},
    }
    if importlib.util.find_spec("attrs"):
        attrs = importlib.import_module("attrs")
        found["attrs, slots, frozen"] = attrs.make_class(
            "Attrs", ["content", "index"], frozen=True, slots=True
        )
    return found


def measure(make: Callable[[str, int], Any]) -> tuple[float, float]:
    """Nanoseconds for one event that is dropped, and for one that is kept; the best of several runs."""
    names = {"make": make}
    dropped = timeit.repeat('make("word", 3)', globals=names, number=CALLS, repeat=REPEATS)
    kept = timeit.repeat(
        'append(make("word", 3))', "append = [].append; gc.enable()", globals={**names, "gc": gc},
        number=CALLS, repeat=REPEATS,
    )  # fmt: skip
    return min(dropped) / CALLS * 1e9, min(kept) / CALLS * 1e9


def main() -> None:
    """Measure and print, the cheapest first."""
    results = {name: measure(make) for name, make in candidates().items()}
    print(f"{'ns per event':<46}{'dropped':>9}{'kept':>9}")
    for name, (dropped, kept) in sorted(results.items(), key=lambda item: item[1]):
        print(f"{name:<46}{dropped:>9.0f}{kept:>9.0f}")


if __name__ == "__main__":
    main()
