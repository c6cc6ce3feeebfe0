"""Whole items and whole responses -> moves.

A stream and a non-streaming body meet here: `response.output_item.done`, an entry of `output` in the
terminal event, and one in a body are read the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, ClassVar, Literal

import msgspec

from plait.events import FinishReason, ReasoningType, SearchStatus
from plait.wire.assembler import Assembler
from plait.wire.openai_responses import mapping, wire
from plait.wire.openai_responses.items import Detail, Item, Items
from plait.wire.reading import NotAnObject, Reader


class Output:
    """The output of one response: its items, what they say, and how the response ended because of them."""

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        self.assembler = assembler
        self.unknown = unknown
        self.items = Items()
        self._reader = Reader(wire.Item, unknown, count_fields=count_fields, path="item")
        self._tool_search = ""
        self._refused = False
        self._called = False
        self._waiting: dict[str, str] = {}

    # Items

    def added(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item was announced: it has its place, and a tool call its name."""
        data = self._read(raw)
        if data is None:
            return
        item = self.items.announced(data, index)
        if item is None:
            self.unknown["event:response.output_item.added again"] += 1
        elif item.kind == "reasoning":
            self.assembler.reasoning_started(item.key)
        elif self._is_call(item):
            if data.name and data.call_id:
                self._start_call(item)
            self.arguments(item, _arguments(data))
        elif item.kind != "message":
            self.assembler.provider_block(item.key, mapping.FORMAT, self._reader.opaque(raw))
            if item.kind == "web_search_call":
                self.search_status(item, "in_progress")

    def done(self, raw: msgspec.Raw, index: int | None) -> None:
        """An item is whole; it may be new. A repeat says nothing."""
        data = self._read(raw)
        if data is not None:
            self._done(self.items.finished(data, index), data, raw)

    def finish(self, output: Iterable[msgspec.Raw], *, cut: bool) -> None:
        """The response is over: items that are still open are read from its `output`, or closed as they are.

        `cut` says that it stopped early, so that calls still in progress are not whole.
        """
        entries = [(data, raw) for raw in output if (data := self._read(raw)) is not None]
        seen = self.items.match(data for data, _ in entries)
        for position, (data, raw) in enumerate(entries):
            item = seen.get(position) or self.items.open(data.type or "", position)
            self._done(item, data, raw, cut=cut)
        for item in self.items.all:
            if not item.closed and item.kind in ("message", "reasoning", "function_call", "custom_tool_call"):
                self._close[item.kind](self, item, cut)

    def finish_reason(self) -> tuple[FinishReason, str | None]:
        """Why a response that completed ended, and the wire's word for it where that is not the status."""
        if self._called or self._waiting:
            return "tool_calls", None
        if self._refused:
            return "content_filter", "refusal"
        return "stop", None

    def _read(self, raw: msgspec.Raw) -> wire.Item | None:
        try:
            item: wire.Item = self._reader.read_raw(raw)
        except NotAnObject as problem:
            self.unknown[f"block:{problem}"] += 1
            return None
        return item

    def _done(self, item: Item, data: wire.Item, raw: msgspec.Raw, *, cut: bool = False) -> None:
        if item.closed:
            return
        item.closed = True
        self.items.describe(item, data)
        if item.kind not in self._close or (item.kind == "custom_tool_call" and not self._is_call(item)):
            self._close_provider_item(item, raw)
            return
        if item.kind == "web_search_call":
            self.assembler.provider_block(item.key, mapping.FORMAT, self._reader.opaque(raw))
        self._close[item.kind](
            self, item, data.status == "incomplete" or (cut and data.status in mapping.UNFINISHED)
        )

    # Text

    def text_key(self, item: Item, content_index: int) -> Hashable:
        """The key of a part of a message."""
        item.texts.setdefault(content_index, False)
        return item.key, content_index

    def refusal(self, item: Item, content_index: int, delta: str) -> None:
        """A piece of a refusal."""
        self._refused = self._refused or bool(delta)
        self.assembler.refusal(delta, self.text_key(item, content_index))

    def whole_part(self, item: Item, content_index: int, part: wire.Part) -> None:
        """A part of a message is whole: what did not stream of it comes now."""
        if part.text is not None and part.type != "refusal":
            self.whole_text(item, content_index, part.text)
        elif part.refusal is not None:
            self.whole_text(item, content_index, part.refusal, refusal=True)
        else:
            self.unknown[f"part:{(part.type or '')[:100]}"] += 1
        for annotation in part.annotations or ():
            self.cite(item, content_index, annotation)

    def whole_text(self, item: Item, content_index: int, whole: str | None, *, refusal: bool = False) -> None:
        """The whole text of a part. Deltas that it contradicts stand: they were delivered."""
        if whole is None or item.texts.get(content_index):
            return
        key = self.text_key(item, content_index)
        item.texts[content_index] = True
        rest = self._rest("text", whole, self.assembler.text_so_far(key))
        if refusal:
            self.refusal(item, content_index, rest)
        else:
            self.assembler.text(rest, key)

    def cite(self, item: Item, content_index: int, annotation: object) -> None:
        """An annotation; the same one comes as an event and on the whole part."""
        if not isinstance(annotation, dict):
            self.unknown["citation:not an object"] += 1
            return
        self.assembler.cite(
            self.text_key(item, content_index),
            **mapping.citation(annotation),
            format=mapping.FORMAT,
            data=annotation,
        )

    def _close_message(self, item: Item, _cut: bool) -> None:
        data = item.data
        if item.closed:
            parts = _parts(data.content, "output_text")
            for index, part in _placed(parts, item.texts):
                self.whole_part(item, index, part)
        extra = {"id": data.id} if data.id else {}
        if data.phase:
            extra["phase"] = data.phase
        for index in item.texts:
            key = (item.key, index)
            if extra and self.assembler.text_length(key):
                self.assembler.text_extra(key, **extra)

    def _rest(self, what: str, whole: str, so_far: str) -> str:
        if whole.startswith(so_far):
            return whole[len(so_far) :]
        self.unknown[f"{what}:done differs from deltas"] += 1
        return ""

    # Reasoning

    def reasoning(self, item: Item, detail: Detail, delta: str) -> None:
        """A piece of reasoning."""
        if detail == item.detail:
            self.assembler.reasoning(delta, item.key, detail)
            return
        item.detail = detail
        item.details.setdefault(detail, False)
        type_: ReasoningType = "summary" if detail[0] == "summary" else "text"
        format_ = item.data.format or _FORMATS[detail[0]]
        self.assembler.reasoning(delta, item.key, detail, type=type_, format=format_)

    def whole_reasoning(self, item: Item, detail: Detail, whole: str | None) -> None:
        """The whole text of a part of a reasoning item. It stays open: a signature may come with the item."""
        so_far = self.assembler.reasoning_text(item.key, detail)
        if whole is None or item.details.get(detail) or (so_far is None and detail in item.details):
            return
        self.reasoning(item, detail, self._rest("reasoning", whole, so_far or ""))
        item.details[detail] = True

    def _close_reasoning(self, item: Item, _cut: bool) -> None:
        data, moves = item.data, self.assembler
        format_ = data.format or mapping.FORMAT
        moves.reasoning_started(item.key)
        if item.closed:
            self._whole_details(item, "summary", _parts(data.summary, "summary_text"))
            self._whole_details(item, "text", _parts(data.content, "reasoning_text"))
            if data.signature or (data.format and item.detail):
                named = data.format if item.detail else format_
                detail: Detail = item.detail or ("signature", 0)
                moves.reasoning(None, item.key, detail, format=named, signature=data.signature)
            if data.encrypted_content:
                moves.reasoning(
                    None,
                    item.key,
                    ("encrypted", 0),
                    type="encrypted",
                    format=format_,
                    id=data.id,
                    data=data.encrypted_content,
                )
        if data.id:
            moves.reasoning_id(item.key, data.id)
        moves.reasoning_done(item.key)
        item.detail = None

    def _whole_details(self, item: Item, kind: Literal["summary", "text"], parts: list[wire.Part]) -> None:
        seen = {index: whole for (name, index), whole in item.details.items() if name == kind}
        for index, part in _placed(parts, seen):
            self.whole_reasoning(item, (kind, index), part.text)

    # Tool calls

    def arguments(self, item: Item, delta: str) -> None:
        """A piece of the arguments of a call. It is kept back while the call has no name."""
        if delta:
            item.pieces.append(delta)
            if item.started:
                self.assembler.tool_call_arguments(item.key, delta)

    def whole_arguments(self, item: Item, whole: str) -> None:
        """The whole arguments of a call; nothing where the server leaves them out here."""
        if whole:
            self.arguments(item, self._rest("arguments", whole, "".join(item.pieces)))

    def _is_call(self, item: Item) -> bool:
        """Whether the client runs this."""
        if item.kind == "custom_tool_call":
            return not mapping.is_xai_server_tool(item.data)
        return item.kind == "function_call"

    def _start_call(self, item: Item) -> None:
        data = item.data
        item.started = self._called = True
        self.assembler.tool_call_started(
            item.key,
            name=data.name or "",
            call_id=data.call_id or data.id,
            item_id=data.id or data.call_id,
            kind="custom" if item.kind == "custom_tool_call" else "function",
        )
        for piece in item.pieces:
            self.assembler.tool_call_arguments(item.key, piece)

    def _close_call(self, item: Item, cut: bool) -> None:
        if not self._is_call(item):
            return
        data = item.data
        if not item.started:
            if not data.name:
                self.unknown["tool call without name"] += 1
            self._start_call(item)
        if item.closed:
            self.whole_arguments(item, _arguments(data))
        extra = {"namespace": data.namespace, "caller": data.caller, "async": data.async_}
        if extra := {name: value for name, value in extra.items() if value is not None}:
            self.assembler.tool_call_extra(item.key, **extra)
        self.assembler.tool_call_done(item.key, cut=cut or not data.name)

    # What the provider does by itself

    def search_status(self, item: Item, status: SearchStatus) -> None:
        """A web search goes on. The event and the item say the same."""
        if status not in item.statuses:
            item.statuses.add(status)
            self.assembler.web_search_status(item.key, status)

    def _close_search(self, item: Item, _cut: bool) -> None:
        data = item.data
        if data.status in mapping.UNFINISHED:
            return
        query, sources, url, is_page = mapping.search(data)
        if is_page:
            self.assembler.web_search_status(item.key, "open_page", url=url)
        if data.status in ("completed", None):
            self.search_status(item, "completed")
        self.assembler.web_search_done(item.key, query, sources)

    def _close_provider_item(self, item: Item, raw: msgspec.Raw) -> None:
        data, moves, kind = item.data, self.assembler, item.kind
        document = self._reader.opaque(raw)
        if kind == "custom_tool_call" and data.input is None and item.pieces:
            document["input"] = data.input = "".join(item.pieces)  # xAI may leave out what it streamed
        moves.provider_block(item.key, mapping.FORMAT, document)
        id_ = data.call_id or data.id or ""
        if kind in mapping.CLIENT_ITEMS and mapping.client_acts(data):
            self._waiting[id_] = kind
        elif kind in mapping.RESULT_ITEMS:
            name, field = mapping.RESULT_ITEMS[kind]
            if name == "tool_search":
                id_ = data.call_id or self._tool_search or id_
            moves.server_tool_result(item.key, id_, name, getattr(data, field))
        elif (call := mapping.server_call(data)) is not None:
            self._close_server_call(item, id_, *call)
        elif kind not in mapping.KEPT_ITEMS:
            self.unknown[f"block:{kind[:100]}"] += 1
        if kind.endswith("_output"):
            self._waiting.pop(id_, None)

    def _close_server_call(self, item: Item, id_: str, name: str, input_: object) -> None:
        data, moves = item.data, self.assembler
        if name == "tool_search":
            self._tool_search = id_
        moves.server_tool_call(item.key, id_, name, input_)
        if isinstance(data.result, str) and data.result and item.kind == "image_generation_call":
            moves.file(mapping.media_type(data), data=data.result)
        has_result, output = mapping.server_result(data)
        if has_result and data.status not in mapping.UNFINISHED:
            moves.server_tool_result(item.key, id_, name, output)

    _close: ClassVar[dict[str, Callable[[Any, Item, bool], None]]] = {
        "message": _close_message,
        "reasoning": _close_reasoning,
        "function_call": _close_call,
        "custom_tool_call": _close_call,
        "web_search_call": _close_search,
    }


_FORMATS: dict[str, str] = {"summary": mapping.FORMAT, "text": mapping.TEXT_FORMAT}


def _arguments(data: wire.Item) -> str:
    return mapping.text_of(data.arguments if data.type == "function_call" else data.input)


def _parts(content: list[wire.Part] | str | None, type_: str) -> list[wire.Part]:
    if isinstance(content, str):
        return [wire.Part(type_, content)]
    return content or []


def _placed(parts: list[wire.Part], seen: dict[int, bool]) -> Iterator[tuple[int, wire.Part]]:
    """The index under which each part of a list streamed, if it did.

    It is the position, except on servers (Bedrock, vLLM) that count from 1 or over several lists: then the
    parts that streamed are taken in order.
    """
    indexes = sorted(seen)
    if len(indexes) < len(parts) and (not indexes or indexes[-1] < len(parts)):
        indexes = list(range(len(parts)))
    beyond = indexes[-1] + 1 if indexes else 0
    for number, part in enumerate(parts):
        yield indexes[number] if number < len(indexes) else beyond + number - len(indexes), part
