"""The `thinking` parts of an answer -> moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from plait.wire.assembler import Assembler
from plait.wire.mistral_chat import mapping, wire
from plait.wire.reading import NotAnObject, Reader


class Thinking:
    """The reasoning of an answer. Pieces of one run are one part, up to its signature.

    A part's text is that of its text items. Where it has other items too (references), the part's `data` is
    the whole `thinking` list as JSON, for replay.
    """

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._reader = Reader(wire.Thought, unknown, count_fields=count_fields, join_halves=True)
        self._number = 0
        self._run: int | None = None
        self._signature: str | None = None
        self._items: list[list[str] | Any] = []  # texts, each in its pieces, and what else there is
        self._other = False

    def read(self, part: wire.ContentPart, run: int) -> None:
        """A `thinking` part, or a piece of one, in the run of parts with this key."""
        items = [part.thinking] if isinstance(part.thinking, str) else part.thinking or []
        if self._run != run or (items and self._signature is not None and part.signature != self._signature):
            self._open(run)
        for item in items:
            if isinstance(item, str):
                self._text(item)
            else:
                self._item(item)
        if part.signature:
            self._signature = part.signature
            self._assembler.reasoning(
                None, run, self._number, format=mapping.FORMAT, signature=part.signature
            )

    def close(self) -> None:
        """Something else begins, or the response ends: the open part is whole."""
        if self._run is None:
            return
        if self._other:
            items = [
                {"type": "text", "text": "".join(item)} if isinstance(item, list) else item
                for item in self._items
            ]
            data = msgspec.json.encode(items).decode()
            self._assembler.reasoning(None, self._run, self._number, format=mapping.FORMAT, data=data)
        self._assembler.reasoning_done(self._run)
        self._run = None

    def end_of_body(self) -> None:
        """Nothing more will be read."""
        self._reader.close()

    def _open(self, run: int) -> None:
        self.close()
        self._run = run
        self._number += 1
        self._signature, self._items, self._other = None, [], False

    def _text(self, content: str) -> None:
        if not self._items or not isinstance(self._items[-1], list):
            self._items.append([])
        self._items[-1].append(content)
        self._assembler.reasoning(content, self._run, self._number, format=mapping.FORMAT)

    def _item(self, raw: msgspec.Raw) -> None:
        try:
            thought: wire.Thought = self._reader.read(bytes(raw).decode())
        except NotAnObject as problem:
            self._unknown[f"thinking:{problem}"] += 1
            return
        if thought.text is not None and thought.type in ("text", None):
            self._text(thought.text)
            return
        if thought.type not in mapping.REFERENCES:
            self._unknown[f"thinking:{(thought.type or '')[:100]}"] += 1
        self._items.append(self._reader.opaque(raw))
        self._other = True
