"""The `thinking` parts of an answer -> moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from plait.wire.assembler import Assembler
from plait.wire.mistral_chat import mapping, wire

_TEXT = ("text", None)


class Thinking:
    """The reasoning of an answer. Pieces of one run are one part, up to its signature.

    A part's text is that of its text items. Where it has other items too (references), the part's `data` is
    the whole `thinking` list as JSON, for replay.
    """

    def __init__(self, assembler: Assembler, unknown: Counter[str]) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._number = 0
        self._run: int | None = None
        self._signature: str | None = None
        self._items: list[list[str] | dict[str, Any]] = []  # texts, each in its pieces, and other items
        self._plain = True

    def read(self, part: wire.ContentPart, run: int) -> None:
        """A `thinking` part, or a piece of one, in the run of parts with this key."""
        items = [part.thinking] if isinstance(part.thinking, str) else part.thinking or []
        signature = part.signature
        if self._run != run or (items and self._signature is not None and signature != self._signature):
            self.close()
            self._run = run
            self._number += 1
            self._signature, self._items, self._plain = None, [], True
        for item in items:
            text = item if isinstance(item, str) else item.text if item.type in _TEXT else None
            if text is None:
                self._other(item)  # type: ignore[arg-type]  # it is no str
            else:
                if not self._items or self._items[-1].__class__ is dict:
                    self._items.append([])
                self._items[-1].append(text)  # type: ignore[union-attr]
                self._assembler.reasoning(text, run, self._number, format=mapping.FORMAT)
        if signature:
            self._signature = signature
            self._assembler.reasoning(None, run, self._number, format=mapping.FORMAT, signature=signature)

    def close(self) -> None:
        """Something else begins, or the response ends: the open part is whole."""
        if self._run is None:
            return
        if not self._plain:
            items = [
                {"type": "text", "text": "".join(item)} if isinstance(item, list) else item
                for item in self._items
            ]
            data = msgspec.json.encode(items).decode()
            self._assembler.reasoning(None, self._run, self._number, format=mapping.FORMAT, data=data)
        self._assembler.reasoning_done(self._run)
        self._run = None

    def _other(self, item: wire.Thought) -> None:
        if item.type not in mapping.REFERENCES:
            self._unknown[f"thinking:{(item.type or '')[:100]}"] += 1
        self._items.append(mapping.to_wire(item))
        self._plain = False
