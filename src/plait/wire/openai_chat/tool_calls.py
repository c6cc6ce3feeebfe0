"""Pieces of tool calls -> moves. Which call a piece belongs to, and when its name and id are known.

OpenAI numbers the calls and says name and id once, first. Other servers leave out the number or use one
twice, send name or id again, cut, late or never; each rule below is for some of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

from plait import json_text
from plait.wire.assembler import Assembler
from plait.wire.openai_chat import mapping, wire

_LEGACY = "function_call"


class _Call:
    """A call and what is known of it before it starts: until then name and id may still come."""

    __slots__ = ("extra", "first", "id", "key", "kind", "name", "pending", "started")

    def __init__(self, key: int, kind: Literal["function", "custom"]) -> None:
        self.key = key
        self.kind: Literal["function", "custom"] = kind
        self.id: str | None = None
        self.name = ""
        self.pending: list[str] = []
        self.first: str | None = None
        """The first piece of arguments while there is no second, an empty text after that."""
        self.started = False
        self.extra: Any = None

    @property
    def begun(self) -> bool:
        """Whether arguments have come."""
        return self.first is not None

    def is_whole(self) -> bool:
        """Whether all arguments came in one piece. Never looks at more than that one: cost stays linear."""
        return bool(self.first) and self.kind == "function" and json_text.is_json(self.first or "")


class ToolCalls:
    """The tool calls of one choice.

    Args:
        enter: called with `tool_call` when a call begins, so that what came before it is closed
    """

    def __init__(self, assembler: Assembler, unknown: Counter[str], enter: Callable[[str], int]) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._enter = enter
        self._calls: list[_Call] = []
        self._by_index: dict[Hashable, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._nameless: dict[int, _Call] = {}
        self._waiting: dict[int, _Call] = {}
        """Calls that have a name and no arguments yet."""

    @property
    def seen(self) -> bool:
        """Whether any call, or a piece of one, has come."""
        return bool(self._calls)

    @property
    def first_key(self) -> Hashable:
        """The assembler's key of the first call that has started; None without one."""
        return next((call.key for call in self._calls if call.started), None)

    def read(self, entries: Sequence[wire.ToolCall]) -> None:
        """The `tool_calls` of a delta or message."""
        if self.go_on(entries):
            return
        backs = _backs(entries)
        for position, entry in enumerate(entries):
            kind: Literal["function", "custom"] = "function"
            name, arguments = None, None
            if entry.custom is not None and (entry.type == "custom" or entry.function is None):
                kind, name, arguments = "custom", entry.custom.name, entry.custom.input
            elif entry.function is not None:
                name, arguments = entry.function.name, entry.function.arguments
            text, id_ = _text(arguments), entry.id or None
            extra = mapping.kept(entry.extra_content, self._unknown)
            self._piece(entry.index, position, backs[position], id_, name, text, kind, extra)

    def go_on(self, entries: Sequence[wire.ToolCall]) -> bool:
        """Take nearly all pieces at once: more arguments of a call that has started, named by its index."""
        if len(entries) != 1:
            return False
        entry = entries[0]
        function = entry.function
        if function is None or entry.id or function.name or entry.custom or entry.extra_content:
            return False
        call = self._by_index.get(entry.index)
        arguments = function.arguments
        if call is None or not call.started or arguments.__class__ is not str:
            return False
        if arguments:
            call.first = arguments if call.first is None else ""
            self._assembler.tool_call_arguments(call.key, arguments)
        return True

    def read_legacy(self, function: wire.Function) -> None:
        """The `function_call` that came before `tool_calls`: one call, without an id."""
        arguments = _text(function.arguments)
        if function.name or arguments:
            self._piece(_LEGACY, 0, 1, None, function.name, arguments, "function", None)

    def release(self) -> None:
        """Something else begins: the names that have come are whole."""
        while self._waiting:
            self._start(next(iter(self._waiting.values())))

    def end(self) -> None:
        """The response ends. A call that never got a name is kept, marked as cut, so that nothing runs it."""
        self.release()
        for call in list(self._nameless.values()):
            if call.id or call.pending:
                self._unknown["tool_call:without a name"] += 1
                self._start(call)
                self._assembler.tool_call_done(call.key, cut=True)
            else:
                self._unknown["tool_call:empty"] += 1

    def _piece(
        self,
        index: Hashable,
        position: int,
        back: int,
        id: str | None,
        name: str | None,
        arguments: str,
        kind: Literal["function", "custom"],
        extra: Any,
    ) -> None:
        call = self._find(index, position, back, id, name, arguments)
        if call is None:
            call = self._open(index, kind)
        elif id and id == call.id and arguments[:1] == "{" and arguments == call.first and call.is_whole():
            self._unknown["tool_call:again"] += 1
            return
        if id:
            self._by_id.setdefault(id, call)
            if call.id is None and not call.started:
                call.id = id
        if name:
            self._name(call, name)
        if extra:
            call.extra = extra
            if call.started:
                self._assembler.tool_call_extra(call.key, extra_content=extra)
        if arguments:
            call.first = "" if call.begun else arguments
            if call.started:
                self._assembler.tool_call_arguments(call.key, arguments)
                return
            call.pending.append(arguments)
            self._assembler.quiet += 1
        if call.pending and call.name:
            self._start(call)

    def _find(
        self, index: Hashable, position: int, back: int, id: str | None, name: str | None, arguments: str
    ) -> _Call | None:
        """The open call that a piece continues; None when it begins another one."""
        unnamed = not name or name == "null"
        if index is not None:
            call = self._by_index.get(index)
        elif id:
            call = self._by_id.get(id)
            if call is None and unnamed and arguments:  # some servers give each piece an id of its own
                last = self._latest(back)
                return None if last is None or last.is_whole() else last
        elif unnamed:
            return self._latest(back)
        else:  # the last one goes on, unless this piece stands beside it or names another
            call = None if position else self._latest(back)
            if call is not None and call.name and name != call.name:
                return None
        if call is None or unnamed or not call.name:
            return call
        if id and call.id and id != call.id:
            return None
        if not call.begun:
            return call
        if name != call.name:
            return None
        return None if not id and call.is_whole() else call

    def _latest(self, back: int) -> _Call | None:
        return self._calls[-min(back, len(self._calls))] if self._calls else None

    def _open(self, index: Hashable, kind: Literal["function", "custom"]) -> _Call:
        self.release()
        call = _Call(len(self._calls), kind)
        self._calls.append(call)
        self._nameless[call.key] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _name(self, call: _Call, name: str) -> None:
        if not call.name:
            self._enter("tool_call")
            call.name = name
            self._waiting[call.key] = self._nameless.pop(call.key)
        elif name not in (call.name, "null") and not call.begun and not call.started:
            call.name += name

    def _start(self, call: _Call) -> None:
        self._waiting.pop(call.key, None)
        self._enter("tool_call")
        call.started = True
        moves = self._assembler
        moves.tool_call_started(call.key, name=call.name, call_id=call.id, kind=call.kind)
        if call.extra:
            moves.tool_call_extra(call.key, extra_content=call.extra)
        for piece in call.pending:
            moves.tool_call_arguments(call.key, piece)
        call.pending = []


def _backs(entries: Sequence[wire.ToolCall]) -> Sequence[int]:
    """For each piece that says nothing of its call, which call from the end it continues.

    Pieces side by side go on with as many calls, in order; one alone goes on with the last.
    """
    if len(entries) == 1:
        return (1,)
    backs: list[int] = []
    run = 0
    for entry in reversed(entries):
        name = entry.function.name if entry.function is not None else None
        run = 0 if entry.index is not None or entry.id or name else run + 1
        backs.append(max(run, 1))
    return backs[::-1]


def _text(arguments: Any) -> str:
    """Arguments as text: some servers send them decoded."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
