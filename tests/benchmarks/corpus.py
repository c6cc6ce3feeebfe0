"""The floor and Plait over the recorded streams that `PLAIT_CORPUS` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import orjson

import plait
from plait.framing import SSEDecoder

from .timing import best_of


@dataclass(frozen=True)
class Recorded:
    """All recorded streams of a wire format: how many, and microseconds of CPU per event."""

    wire: str
    streams: int
    events: int
    bytes: int
    floor: float
    plait: float

    @property
    def ratio(self) -> float:
        """How many times the floor Plait takes."""
        return self.plait / self.floor


def corpus(wires: Sequence[str], rounds: int) -> list[Recorded]:
    """Every recorded stream of these wire formats, fed whole.

    Raises:
        FileNotFoundError: `PLAIT_CORPUS` is not set
    """
    recordings = import_module("tests.recordings")
    if recordings.CORPUS is None:
        raise FileNotFoundError("PLAIT_CORPUS does not name the folder of recordings")
    return [
        _recorded(wire, [entry.body() for entry in recordings.recordings(wire)], rounds) for wire in wires
    ]


def _recorded(wire: str, bodies: Sequence[bytes], rounds: int) -> Recorded:
    tasks: dict[str, Callable[[], object]] = {
        "floor": lambda: _floor(bodies),
        "plait": lambda: _plait(wire, bodies),
    }
    best = best_of(tasks, rounds)
    events = sum(_count(body) for body in bodies)
    floor, taken = (best[name] / events * 1e6 for name in ("floor", "plait"))
    return Recorded(wire, len(bodies), events, sum(map(len, bodies)), floor, taken)


def _floor(bodies: Sequence[bytes]) -> None:
    loads = orjson.loads
    for body in bodies:
        for line in body.split(b"\n"):
            if line.startswith(b"data:"):
                try:
                    loads(line[5:])
                except orjson.JSONDecodeError:  # [DONE], and what some recordings hold in its place
                    continue


def _plait(wire: str, bodies: Sequence[bytes]) -> None:
    for body in bodies:
        parser = plait.parser(wire)
        parser.feed(body)
        parser.finish()


def _count(body: bytes) -> int:
    decoder = SSEDecoder(lenient=True)
    return len(decoder.feed(body)) + len(decoder.close())
