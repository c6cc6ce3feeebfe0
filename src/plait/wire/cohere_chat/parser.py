"""Cohere's stream -> moves. Content blocks and tool calls are numbered apart; a tool plan has no number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec

from plait.errors import PlaitError, ServerError
from plait.wire.assembler import Assembler
from plait.wire.cohere_chat import mapping, wire
from plait.wire.errors import error_facts, typed_error
from plait.wire.reading import NotAnObject, Reader
from plait.wire.translation import Translator


class _Call:
    """A tool call that has started. `held` may become `null`, which stands for no arguments."""

    __slots__ = ("held", "id", "key", "named")

    def __init__(self, key: int, id: str | None, *, named: bool) -> None:
        self.key = key
        self.id = id
        self.named = named
        self.held: str | None = ""


class CohereTranslator(Translator):
    """Reads `cohere-chat`."""

    name = "cohere-chat"
    types = wire.StreamEvent
    response_type = wire.Response
    terminal = "message-end"
    ignored = frozenset({"citation-end", "debug"})

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        super().__init__(assembler, unknown)
        self._citations = Reader(wire.CitationData, unknown, count_fields=count_fields, path="citation")
        self._parts = 0  # the key of the newest block, plan or call
        self._blocks: dict[int | None, int] = {}
        self._texts: dict[int | None, int] = {}  # those of the blocks that are text
        self._text: int | None = None  # the key of the newest of them
        self._text_index: int | None = -1  # its index while it is the newest block with that index
        self._plan: int | None = None
        self._calls: dict[int | None, _Call] = {}
        self._called = False

    def read(self, document: Any) -> bool | None:
        """One stream event."""
        handler = self._on.get(document.__class__)
        if handler is None:
            return True
        if document.error:
            self._read_beside(document)
        if document.__class__ is wire.ContentDelta and document.index == self._text_index:
            # Nearly all documents: without another call.
            delta = document.delta
            message = delta.message if delta is not None else None
            content = message.content if message is not None else None
            if content.__class__ is wire.Content and not content.thinking:
                self.assembler.text(content.text or "", self._text)
                return None
        handler(self, document)
        return None

    def read_response(self, body: wire.Response) -> None:
        """A whole message."""
        self.assembler.started(body.id)
        if body.message is not None:
            self._message(body.message)
        self._usage(body.usage)
        if body.finish_reason:
            self._end(body.finish_reason)

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """Cohere's `{"message": "..."}`, without a `type`, and the `{"error": ...}` of things in between."""
        kind = document.get("type")
        flat = isinstance(document.get("message"), str) and not isinstance(kind, str)
        flat = flat and "finish_reason" not in document
        if event != "error" and kind != "error" and not flat and not document.get("error"):
            return None
        return typed_error(error_facts(document), mapping.ERRORS, provider="cohere", default=ServerError)

    # Message

    def _message_start(self, event: wire.MessageStart) -> None:
        self.assembler.started(event.id)
        message = _message_of(event)
        if message is not None:
            self._message(message)

    def _message(self, message: wire.Message) -> None:
        """A message as a whole. Its content comes first: citations name its blocks."""
        self._add_plan(message.tool_plan)
        for index, content in enumerate(_listed(message.content)):
            self._open_block(index)
            self._add_content(index, content)
            self._close_block(index)
        self._cite_all(message.citations)
        for index, call in enumerate(_listed(message.tool_calls)):
            self._open_call(index, call)
            self._close_call(index)

    def _message_end(self, event: wire.MessageEnd) -> None:
        delta = event.delta or wire.EndDelta()
        self._usage(delta.usage)
        if delta.error:
            self._raise(delta.error)
        self._end(delta.finish_reason)

    def _read_beside(self, document: Any) -> None:
        """An error beside an event: what the event says is read, but it does not end the message well."""
        if document.__class__ is not wire.MessageEnd:
            self._on[document.__class__](self, document)
        self._raise(document.error)

    def _raise(self, found: Any) -> None:
        error = self.read_error({"error": found}, "error")
        assert error is not None
        raise error

    def _usage(self, usage: wire.Usage | None) -> None:
        counts = mapping.token_usage(usage) if usage is not None else None
        if counts is not None:
            self.assembler.usage(counts)

    def _end(self, raw: str | None) -> None:
        self._close_plan()
        for index in list(self._calls):
            self._close_call(index, early=True)
        reason = mapping.FINISH_REASONS.get((raw or "").upper())
        if reason is None and raw:
            self.unknown[f"finish_reason:{raw[:100]}"] += 1
        if reason == "tool_calls" and not self._called:
            reason = "malformed_output" if self._text is None else "stop"
        self.assembler.finished(reason or "other", raw)
        self.assembler.end()

    # Content

    def _content_start(self, event: wire.ContentStart) -> None:
        self._open_block(event.index)
        self._contents(event)

    def _content_delta(self, event: wire.ContentDelta) -> None:
        self._contents(event)

    def _contents(self, event: wire.ContentStart | wire.ContentDelta) -> None:
        message = _message_of(event)
        for content in _listed(message.content) if message is not None else ():
            self._add_content(event.index, content)

    def _content_end(self, event: wire.ContentEnd) -> None:
        self._close_block(event.index)

    def _open_block(self, index: int | None) -> int:
        self._close_plan()
        self._close_block(index)
        for known in (self._blocks, self._texts):
            known.pop(index, None)
        if index == self._text_index:
            self._text_index = -1
        self._parts += 1
        self._blocks[index] = self._parts
        return self._parts

    def _close_block(self, index: int | None) -> None:
        key = self._key(index)
        if key is not None:
            self.assembler.reasoning_done(key)

    def _key(self, index: int | None) -> int | None:
        """The key of the block that an event means; without an index the one opened last."""
        if index is None and None not in self._blocks:
            return next(reversed(self._blocks.values()), None)
        return self._blocks.get(index)

    def _add_content(self, index: int | None, content: wire.Content | str) -> None:
        if isinstance(content, str):
            content = wire.Content(text=content)
        key = self._key(index)
        if key is None:
            key = self._open_block(index)
        if content.thinking or content.type == "thinking":
            self.assembler.reasoning(content.thinking or "", key, format=mapping.FORMAT)
        if content.text:
            self.assembler.text(content.text, key)
        if content.text or content.type == "text":
            self._text, self._text_index = key, index
            self._texts[index] = key
        elif content.type not in (None, "thinking"):
            self.unknown[f"content:{content.type[:100]}"] += 1

    # Tool plan

    def _tool_plan(self, event: wire.ToolPlanDelta) -> None:
        message = _message_of(event)
        if message is not None:
            self._add_plan(message.tool_plan)

    def _add_plan(self, piece: str | None) -> None:
        if piece:
            if self._plan is None:
                self._parts += 1
                self._plan = self._parts
            self.assembler.reasoning(piece, self._plan, format=mapping.PLAN_FORMAT)

    def _close_plan(self) -> None:
        """A plan has no end of its own: it ends where something else begins."""
        if self._plan is not None:
            self.assembler.reasoning_done(self._plan)
            self._plan = None

    # Tool calls

    def _tool_call_start(self, event: wire.ToolCallStart) -> None:
        message = _message_of(event)
        for call in _listed(message.tool_calls) if message is not None else ():
            self._open_call(event.index, call)

    def _tool_call_delta(self, event: wire.ToolCallDelta) -> None:
        message = _message_of(event)
        open_ = self._calls.get(self._open_index(event.index))
        for call in _listed(message.tool_calls) if message is not None else ():
            if open_ is None:
                self._open_call(event.index, call)
            elif call.function is not None:
                self._add_arguments(open_, call.function.arguments)

    def _tool_call_end(self, event: wire.ToolCallEnd) -> None:
        self._close_call(event.index)

    def _open_index(self, index: int | None) -> int | None:
        """The index of the open call that an event means; without an index that of the one opened last."""
        return next(reversed(self._calls), None) if index is None and None not in self._calls else index

    def _open_call(self, index: int | None, call: wire.ToolCall) -> None:
        open_ = self._calls.get(index)
        if open_ is not None:
            if call.id is not None and call.id == open_.id:
                self.unknown["event:tool-call-start again"] += 1
                return
            self._close_call(index)
        self._close_plan()
        self._parts += 1
        self._called = True
        function = call.function or wire.Function()
        if not function.name:  # kept, marked as cut, so that nothing runs it
            self.unknown["tool_call:without a name"] += 1
        self.assembler.tool_call_started(self._parts, name=function.name or "", call_id=call.id)
        open_ = self._calls[index] = _Call(self._parts, call.id, named=bool(function.name))
        self._add_arguments(open_, function.arguments)

    def _add_arguments(self, call: _Call, arguments: Any) -> None:
        piece = arguments if isinstance(arguments, str) else _json(arguments)
        if call.held is not None:
            piece = call.held + piece
            if "null".startswith(piece):
                call.held = piece
                return
            call.held = None
        self.assembler.tool_call_arguments(call.key, piece)

    def _close_call(self, index: int | None, *, early: bool = False) -> None:
        """A call ends; with `early` the response does, and the arguments show whether the call is whole."""
        call = self._calls.pop(self._open_index(index), None)
        if call is None:
            self.unknown["event:tool-call-end without its call"] += 1
            return
        if call.held and call.held != "null":
            self.assembler.tool_call_arguments(call.key, call.held)
        if not early or not call.named:
            self.assembler.tool_call_done(call.key, cut=not call.named)

    # Citations

    def _citation_start(self, event: wire.CitationStart) -> None:
        message = _message_of(event)
        if message is not None:
            self._cite_all(message.citations)

    def _cite_all(self, raw: msgspec.Raw) -> None:
        value = bytes(raw)
        if value.startswith(b"["):
            for item in msgspec.json.decode(value, type=list[msgspec.Raw]):
                self._cite(item)
        elif value not in (b"", b"null"):
            self._cite(raw)

    def _cite(self, raw: msgspec.Raw) -> None:
        try:
            data: wire.CitationData = self._citations.read(bytes(raw).decode())
        except NotAnObject as problem:
            self.unknown[f"citation:{problem}"] += 1
            return
        if data.type not in (mapping.TEXT_CITATION, None):
            self.unknown[f"citation:{data.type[:100]}"] += 1  # of a plan or a thought: not of the answer
            return
        key = self._texts.get(data.content_index or 0, self._text)
        if key is None:
            key = self._text = self._texts[data.content_index] = self._open_block(data.content_index)
        known = [source.document or source.tool_output or wire.Document() for source in data.sources or ()]
        self.assembler.cite(
            key,
            url=next((document.url for document in known if document.url), None),
            title=next((document.title for document in known if document.title), None),
            cited_text=data.text,
            start=data.start,
            end=data.end,
            format=mapping.FORMAT,
            data=self._citations.opaque(raw),
        )

    _on: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        wire.MessageStart: _message_start,
        wire.ContentStart: _content_start,
        wire.ContentDelta: _content_delta,
        wire.ContentEnd: _content_end,
        wire.ToolPlanDelta: _tool_plan,
        wire.ToolCallStart: _tool_call_start,
        wire.ToolCallDelta: _tool_call_delta,
        wire.ToolCallEnd: _tool_call_end,
        wire.CitationStart: _citation_start,
        wire.MessageEnd: _message_end,
    }


def _message_of(event: Any) -> wire.Message | None:
    return event.delta.message if event.delta is not None else None


def _listed(items: Any) -> Sequence[Any]:
    """The items of a list; what stands where a list was is its only item."""
    return items if isinstance(items, list) else () if items is None else (items,)


def _json(arguments: Any) -> str:
    """Arguments that came decoded, as text."""
    return "" if arguments is None else msgspec.json.encode(arguments).decode()
