"""Memory of many streams that are open at the same time.

`python -m tests.benchmarks.memory COUNT WIRE CANDIDATE` is the measuring process; `memory` starts it.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass

from .peers import CANDIDATES, HELPER, PLAIT, RAW
from .streams import Stream, stream

DELTAS = 200
OPEN = 1000

ROWS = (PLAIT[2], RAW, HELPER, "lm15")


@dataclass(frozen=True)
class Held:
    """Bytes that one open stream keeps alive, or why that is not known."""

    name: str
    count: int
    bytes_each: float | None = None
    note: str = ""


def memory(wire: str, count: int = OPEN) -> list[Held]:
    """What each of `count` open streams keeps, of clients a tenth as many; each has read 200 deltas of text.

    Counted by tracemalloc, under which a thousand clients take minutes, in a process of its own. The bytes
    fed are shared by all and not counted.
    """
    return [_held(name, wire, count if name in PLAIT else count // 10) for name in ROWS]


def content_size(wire: str) -> int:
    """Bytes of the text alone: the least that must be kept for a message."""
    return len(stream(wire, "text", DELTAS).content.encode())


def _held(name: str, wire: str, count: int) -> Held:
    missing = CANDIDATES[name].missing(wire)
    if missing:
        return Held(name, count, note=missing)
    command = [sys.executable, "-W", "ignore", "-m", __name__, str(count), wire, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return Held(name, count, note=f"failed: {done.stderr.strip().splitlines()[-1][:150]}")
    return Held(name, count, bytes_each=json.loads(done.stdout))


def _measure(count: int, wire: str, name: str) -> float:
    whole = stream(wire, "text", DELTAS)
    body = b"".join(whole.unfinished)
    open_stream = Stream(wire, "text", whole.unfinished, whole.content, body)
    candidate = CANDIDATES[name].openers[wire](open_stream)
    warm = [candidate.hold(whole.content) for _ in range(3)]
    gc.collect()
    tracemalloc.start()
    held = [candidate.hold(whole.content) for _ in range(count)]
    gc.collect()
    size, _peak = tracemalloc.get_traced_memory()
    assert len(warm) + len(held) == count + 3
    return size / count


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), sys.argv[2], sys.argv[3])))
