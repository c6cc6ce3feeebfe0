"""The corpus of public recordings, when `PLAIT_CORPUS` names it, and our own cassettes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(os.environ["PLAIT_CORPUS"]) if os.environ.get("PLAIT_CORPUS") else None


@dataclass(frozen=True)
class Recording:
    """One recorded response of the corpus."""

    id: str
    wire: str
    kind: str
    path: Path
    url: str
    status: int
    request: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def body(self) -> bytes:
        """The bytes as recorded."""
        return self.path.read_bytes()


@cache
def _entries() -> tuple[Recording, ...]:
    def read() -> Iterator[Recording]:
        assert CORPUS is not None
        for index in sorted(CORPUS.glob("*/index.jsonl")):
            for line in index.read_text("utf-8").splitlines():
                entry = json.loads(line)
                wire = {"cohere-v2": "cohere-chat"}.get(entry["wire"], entry["wire"])
                yield Recording(
                    entry["id"],
                    wire,
                    entry["kind"],
                    CORPUS / entry["file"],
                    entry["url"],
                    entry["status"],
                    entry["request"],
                )

    return tuple(read()) if CORPUS else ()


def recordings(wire: str, kind: str = "stream") -> list[Recording]:
    """The corpus entries of a wire format and kind (`stream`, `json`, `error`); none without a corpus.

    Tests are parametrized with these, so that without a corpus they are not there, rather than skipped.
    """
    return [entry for entry in _entries() if entry.wire == wire and entry.kind == kind]
