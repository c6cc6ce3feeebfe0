"""Which output item an event belongs to.

`output_index` decides, because the ids of one item may change from event to event (Copilot). Where a server
gives several items one index, or none, their type and id tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Literal, TypeAlias

from plait.wire.openai_responses import wire

Detail: TypeAlias = tuple[Literal["summary", "text", "signature", "encrypted"], int]
"""A part of a reasoning item: the list it stands in, and its position there."""


class Item:
    """An output item that was seen.

    Attributes:
        kind: the item's `type`
        key: names the item's parts to the assembler
        index: its `output_index`
        ids: its `id` and `call_id`, as far as they are known
        data: its document: that of `added`, later that of `done`
        added: whether it was announced, rather than opened by an event that belongs to it
        closed: whether it was read whole
        started: whether its tool call was started, its name being known
        pieces: the pieces of its arguments
        texts: content index -> whether the whole text was read
        details: reasoning part -> whether the whole text was read
        detail: the reasoning part that is open
        statuses: progress of a search that was reported
    """

    __slots__ = (
        "added", "closed", "data", "detail", "details", "ids", "index", "key", "kind", "pieces", "started",
        "statuses", "texts",
    )  # fmt: skip

    def __init__(self, kind: str, key: int, index: int | None) -> None:
        self.kind = kind
        self.key = key
        self.index = index
        self.ids: set[str] = set()
        self.data = wire.Item(kind)
        self.added = False
        self.closed = False
        self.started = False
        self.pieces: list[str] = []
        self.texts: dict[int, bool] = {}
        self.details: dict[Detail, bool] = {}
        self.detail: Detail | None = None
        self.statuses: set[str] = set()


class Items:
    """The items of one response, in the order they were seen."""

    def __init__(self) -> None:
        self.all: list[Item] = []
        self._at: dict[tuple[str, int | None], Item] = {}
        self._named: dict[tuple[str, str], Item] = {}

    def find(self, kind: str, index: int | None, id: str | None) -> Item:
        """The item of this kind that an event belongs to; one that nothing announced is opened."""
        item = self._at.get((kind, index))
        if item is not None and (not id or id in item.ids):
            return item
        if id:
            named = self._named.get((kind, id))
            if named is not None and (
                index is None or named.index == index or (item is None and not named.closed)
            ):
                return named
        if item is not None and not item.closed and (index is not None or not item.ids):
            return item
        return self.open(kind, index, id)

    def announced(self, data: wire.Item, index: int | None) -> Item | None:
        """The item that `added` announces; None when it is a repeat."""
        kind = data.type or ""
        item = self._at.get((kind, index))
        if item is None or item.closed or item.added:
            if item is not None and not item.closed and item.ids & {data.id, data.call_id}:
                return None
            item = self.open(kind, index)
        item.added = True
        self.describe(item, data)
        return item

    def finished(self, data: wire.Item, index: int | None) -> Item:
        """The item that `done` is about; it may be new, or already closed."""
        kind = data.type or ""
        id = data.id if (kind, data.id) in self._named else data.call_id or data.id
        item = self.find(kind, index, id)
        return self.open(kind, index) if item.closed and not id else item

    def open(self, kind: str, index: int | None, id: str | None = None) -> Item:
        """A new item."""
        item = Item(kind, len(self.all), index)
        self.all.append(item)
        self._at[kind, index] = self._at[kind, None] = item
        self._name(item, id)
        return item

    def describe(self, item: Item, data: wire.Item) -> None:
        """The item's own document came."""
        item.data = data
        self._name(item, data.id)
        self._name(item, data.call_id)

    def match(self, output: Iterable[wire.Item]) -> dict[int, Item]:
        """Position in the terminal event's `output` -> the item that was seen for it.

        By id, else (OpenRouter and Copilot give other ids there) by position, else by order within a type.
        """
        matches: dict[int, Item] = {}
        left = self.all
        entries = list(enumerate(output))
        for of_item, of_entry in _IDENTITIES:
            if len(matches) == len(entries):
                break
            ranks: dict[str, int] = {}
            waiting: dict[Hashable, Item] = {}
            for item in left:
                rank = ranks[item.kind] = ranks.get(item.kind, -1) + 1
                key = of_item(item, rank)
                if key is not None:
                    waiting.setdefault((item.kind, key), item)
            ranks = {}
            for position, data in entries:
                if position in matches:
                    continue
                kind = data.type or ""
                rank = ranks[kind] = ranks.get(kind, -1) + 1
                found = waiting.pop((kind, of_entry(data, position, rank)), None)
                if found is not None:
                    matches[position] = found
            taken = {item.key for item in matches.values()}
            left = [item for item in left if item.key not in taken]
        return matches

    def _name(self, item: Item, id: str | None) -> None:
        if id:
            item.ids.add(id)
            self._named[item.kind, id] = item


_IDENTITIES: tuple[tuple[Callable[[Item, int], Hashable], Callable[[wire.Item, int, int], Hashable]], ...] = (
    (lambda item, _rank: item.data.id, lambda data, _position, _rank: data.id or ""),
    (lambda item, _rank: item.data.call_id, lambda data, _position, _rank: data.call_id or ""),
    (lambda item, _rank: item.index, lambda _data, position, _rank: position),
    (lambda _item, rank: rank, lambda _data, _position, rank: rank),
)
"""What tells items apart, best first: of an item that was seen (its rank is that within its type), and of an
entry of `output`. The rank is among those that nothing before has matched."""
