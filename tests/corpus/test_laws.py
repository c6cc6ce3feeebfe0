"""The laws of DESIGN.md on every public recording of every wire format that Plait reads."""

from __future__ import annotations

import pytest

import plait
from plait import conformance
from recordings import Recording, recordings

ALL = [name for name, law in conformance.LAWS.items() if not law.slow]

ALL_LAWS_UP_TO = 20_000
"""Bytes of a JSON body that all laws are run on. Longer ones (images, mostly) are read whole, both ways."""

ON_LONG_BODIES = ["text", "tool_calls", "reasoning", "ending", "index", "one_reading", "round_trip"]

MEASURED = 5
"""Streams of each wire whose cost is measured: the longest, which have the most kinds of frames."""


def _of_all_wires(kind: str) -> list[Recording]:
    return [recording for wire in plait.WIRES for recording in recordings(wire, kind)]


def _longest(wire: str) -> list[Recording]:
    return sorted(recordings(wire), key=lambda recording: recording.path.stat().st_size)[-MEASURED:]


@pytest.mark.parametrize("recording", _of_all_wires("stream"), ids=lambda recording: recording.id)
def test_stream(recording: Recording) -> None:
    """A recorded stream obeys every law, whole or cut, as it came or changed."""
    breaches = conformance.check(recording.wire, recording.body(), ALL)
    assert breaches == [], "\n".join(map(str, breaches))


@pytest.mark.parametrize("recording", _of_all_wires("json"), ids=lambda recording: recording.id)
def test_json_body(recording: Recording) -> None:
    """A recorded answer that was not streamed obeys them too, and both ways to read it agree."""
    body = recording.body()
    laws = ALL if len(body) <= ALL_LAWS_UP_TO else ON_LONG_BODIES
    breaches = conformance.check(recording.wire, body, laws)
    assert breaches == [], "\n".join(map(str, breaches))


@pytest.mark.parametrize("recording", _of_all_wires("error"), ids=lambda recording: recording.id)
def test_error_body(recording: Recording) -> None:
    """A recorded error document is a typed error, on every chunking, and never less than that."""
    body = recording.body()
    breaches = conformance.check(recording.wire, body, ALL)
    assert breaches == [], "\n".join(map(str, breaches))
    with pytest.raises(plait.ProviderError):
        plait.read_response(recording.wire, body)


@pytest.mark.parametrize(
    "recording",
    [recording for wire in plait.WIRES for recording in _longest(wire)],
    ids=lambda recording: recording.id,
)
def test_cost(recording: Recording) -> None:
    """Time and memory grow with the length of a stream, and no faster."""
    breaches = conformance.cost(recording.wire, recording.body())
    assert breaches == [], "\n".join(map(str, breaches))
