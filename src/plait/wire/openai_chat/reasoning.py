"""Reasoning in every form of this wire -> moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import msgspec

from plait.wire.assembler import Assembler
from plait.wire.openai_chat import mapping, wire
from plait.wire.openai_chat.search import ServerTools
from plait.wire.reading import NotAnObject, Reader


class Reasoning:
    """The reasoning of one choice. At most one part is open; a run of parts makes one item of the message.

    Plain text ends where the answer begins. An unsigned `reasoning.text` entry stays open beyond that:
    its signature may come alone, after the answer has begun.

    Args:
        enter: called with `reasoning` when a part begins; returns the key of the run it belongs to
    """

    def __init__(
        self,
        assembler: Assembler,
        unknown: Counter[str],
        enter: Callable[[str], int],
        tools: ServerTools,
        *,
        count_fields: bool,
    ) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._enter = enter
        self._tools = tools
        self._count_fields = count_fields
        self._run: int | None = None
        self._part: Hashable = None
        self._number = 0
        self._may_be_signed = False
        self._signed = False
        self._left = False
        self._id: str | None = None
        self._data: list[str] = []
        self._kept: dict[Hashable, dict[str, Any]] = {}

    @cached_property
    def _reader(self) -> Reader:
        path = "choices[].delta.reasoning_details[]"
        return Reader(
            wire.ReasoningDetail, self._unknown, count_fields=self._count_fields, join_halves=True, path=path
        )

    def text(self, content: str, format: str | None) -> None:
        """A piece of plain text from the field `format`, or from between tags (None)."""
        run = self._enter("reasoning")
        if self._run != run or self._part != format:
            self._open(run, format)
        self._assembler.reasoning(content, run, self._number, format=format)

    def details(self, entries: Sequence[msgspec.Raw]) -> bool:
        """Entries of `reasoning_details`. Returns whether any had text to show."""
        shown = False
        for entry in entries:
            try:
                detail: wire.ReasoningDetail = self._reader.read_raw(entry)
            except NotAnObject as problem:
                self._unknown[f"reasoning_detail:{problem}"] += 1
                continue
            type_ = mapping.DETAIL_TYPES.get(detail.type or "")
            if type_ is None:
                self._keep(detail, self._reader.opaque(entry))
                continue
            content = detail.summary if type_ == "summary" else detail.text
            shown = shown or bool(content)
            self._detail(detail, content)
        return shown

    def leave(self) -> None:
        """Something else begins."""
        self._left = True
        if not self._may_be_signed or self._signed:
            self.close()

    def close(self) -> None:
        """The open part is whole."""
        if self._run is not None:
            if len(self._data) > 1:
                self._assembler.reasoning(None, self._run, self._number, data="".join(self._data))
            self._assembler.reasoning_done(self._run)
            self._run = None

    def _open(self, run: int, part: Hashable) -> None:
        self.close()
        self._run, self._part = run, part
        self._number += 1
        self._left = self._may_be_signed = self._signed = False
        self._id, self._data = None, []

    def _detail(self, detail: wire.ReasoningDetail, content: str | None) -> None:
        part = (detail.type, detail.index)
        same = (
            self._run is not None
            and self._part == part
            and not (content and self._signed)
            and not ((content or detail.data) and self._left)
            and not (detail.id and self._id and detail.id != self._id)
        )
        if not same:
            if not (content or detail.data or detail.signature):
                return
            self._open(self._enter("reasoning"), part)
            self._may_be_signed = detail.type == "reasoning.text"
        if detail.data:
            self._data.append(detail.data)
        self._signed = self._signed or bool(detail.signature)
        self._id = detail.id or self._id
        self._assembler.reasoning(
            content,
            self._run,
            self._number,
            type=mapping.DETAIL_TYPES[detail.type or ""],
            format=mapping.detail_format(detail) if detail.format or not same else None,
            id=detail.id,
            signature=detail.signature,
            data=detail.data if len(self._data) == 1 and detail.data else None,
        )
        if self._left and self._signed:
            self.close()

    def _keep(self, detail: wire.ReasoningDetail, entry: dict[str, Any]) -> None:
        """An entry that is no reasoning: it keeps its place among the others, to be sent back."""
        name = detail.tool_call_id or detail.id or detail.index
        key = ("reasoning_details", detail.type, name)
        before = self._kept.get(key)
        if before is None:
            self._enter("detail")
            self.close()
        else:  # said again, with what was missing
            entry = {**before, **{field: value for field, value in entry.items() if value is not None}}
        self._kept[key] = entry
        self._assembler.provider_block(key, mapping.DETAIL_FORMAT, entry)
        if detail.type == mapping.SERVER_TOOL_DETAIL:
            id_ = str(name) if name is not None else "server_tool"
            self._tools.ran(key, id_, detail.tool_name or "", detail.arguments, detail.result)
        elif before is None:
            self._unknown[f"reasoning_detail:{detail.type}"] += 1
