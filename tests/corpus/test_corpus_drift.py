"""No public recording holds an event, a block or a value that is neither read nor listed with a reason."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import plait
from plait.conformance.drift import EXPLAINED, Drift, drift, kind_of, read_baseline, unexplained
from recordings import recordings

BASELINE = read_baseline(Path(__file__).with_name("drift_baseline.json").read_bytes())
"""Written by `plait drift $PLAIT_CORPUS --write-baseline tests/corpus/drift_baseline.json`; reasons by us."""


@cache
def found() -> Drift:
    """The drift of the whole corpus."""
    whole = Drift()
    for wire in plait.WIRES:
        for kind in ("stream", "json", "error"):
            for recording in recordings(wire, kind):
                whole.add(drift(wire, recording.body()))
    return whole


def _explained(entries: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    return {(wire, key) for wire, keys in entries.items() for key in keys if kind_of(key) in EXPLAINED}


def test_events_blocks_and_values_are_read_or_listed() -> None:
    """What a provider added must be read, or be listed with a reason; what no longer occurs, taken out."""
    assert _explained(BASELINE) == _explained(found().baseline())


def test_reasons() -> None:
    """Each event, block and value that is not read has a reason."""
    assert [] == unexplained(BASELINE)


def test_known_fields_have_the_known_types() -> None:
    """Fields of an unexpected JSON type are listed as well."""
    new = found().without(BASELINE)
    assert [] == [row for wire in new.wires for row in new.rows(wire) if row.kind == "type"]
