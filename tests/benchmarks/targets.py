"""What Plait set out to reach, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .imports import BASELINE, Imported
from .peers import PLAIT, RAW
from .timing import Row

FLOOR_RATIO = 1.5
SDK_RATIO = 50
IMPORT_RATIO = 1.2


@dataclass(frozen=True)
class Target:
    """A target: what was wanted, as a bound on a ratio, and the ratio."""

    name: str
    wanted: str
    measured: float
    reached: bool


def reading_targets(streams: Mapping[str, Sequence[Row]]) -> Iterator[Target]:
    """Times the floor on each stream, and times faster than the openai SDK's raw stream of the same run."""
    for stream, rows in streams.items():
        taken = {row.name: row.microseconds for row in rows}
        for plait, ratio in ((row.name, row.ratio) for row in rows if row.name in PLAIT):
            if ratio is not None:
                name = f"{stream}: {plait}, times the floor"
                yield Target(name, f"at most {FLOOR_RATIO}", ratio, ratio <= FLOOR_RATIO)
        raw = taken.get(RAW)
        for plait in PLAIT:
            own = taken.get(plait)
            if stream.startswith("openai") and raw is not None and own is not None:
                name = f"{stream}: openai SDK's raw stream, times {plait}"
                yield Target(name, f"at least {SDK_RATIO}", raw / own, raw / own >= SDK_RATIO)


def import_targets(rows: Sequence[Imported]) -> Iterator[Target]:
    """`import plait` beside the packages it is built on."""
    taken = {row.name: row.milliseconds for row in rows}
    own, base = taken.get("plait"), taken.get(BASELINE)
    if own is not None and base is not None:
        ratio = own / base
        yield Target(
            f"import plait, times {BASELINE}", f"at most {IMPORT_RATIO}", ratio, ratio <= IMPORT_RATIO
        )
