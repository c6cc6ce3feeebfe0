"""Anthropic's stream -> moves. A block's index is the key of its part, as long as no other block had it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, ClassVar

import msgspec

from plait import json_text
from plait.errors import PlaitError, ProtocolError, quote
from plait.framing import EventStreamMessage
from plait.wire.anthropic_messages import bedrock, mapping, wire
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.reading import NotAnObject, Reader
from plait.wire.translation import Translator


class _OpenBlock:
    """A block that has started: its start document, and the pieces of its input."""

    __slots__ = ("block", "is_call", "pieces", "raw")

    def __init__(self, block: wire.Block, raw: msgspec.Raw) -> None:
        self.block = block
        self.is_call = block.type in mapping.CALL_BLOCKS
        self.raw = raw
        self.pieces: list[str] = []


class AnthropicTranslator(Translator):
    """Reads `anthropic-messages`."""

    name = "anthropic-messages"
    types = wire.StreamEvent
    response_type = wire.Message
    terminal = "message_stop"
    framings = ("sse", "event-stream")
    ignored = frozenset({"ping"})

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        super().__init__(assembler, unknown)
        self._count_fields = count_fields
        self._blocks = Reader(wire.Block, unknown, count_fields=count_fields, path="content_block")
        self._open: dict[Hashable, _OpenBlock] = {}
        self._used: set[Hashable] = set()
        self._renamed: dict[int | None, Hashable] = {}
        self._queries: dict[str, str] = {}
        self._tool_names: dict[str, str] = {}
        self._usage: dict[str, int] = {}
        self._message: wire.Message | None = None

    @cached_property
    def _citations(self) -> Reader:
        return Reader(wire.CitationData, self.unknown, count_fields=self._count_fields, path="citation")

    @cached_property
    def _documents(self) -> Reader:
        """For Bedrock's framing; the parser itself reads those of SSE."""
        return Reader(
            self.types,
            self.unknown,
            ignored=self.ignored,
            count_fields=self._count_fields,
            join_halves=True,
        )

    def read(self, document: Any) -> bool | None:
        """One stream event."""
        handler = self._on.get(document.__class__)
        if handler is None:
            return True
        if document.error:
            self._read_beside(document)
        handler(self, document)
        return None

    def read_message(self, message: EventStreamMessage) -> None:
        """One message of Bedrock's framing, `invoke-with-response-stream`."""
        text = bedrock.document(message, self.unknown)
        if text is None:
            return
        if '"type"' not in text:
            untyped = self._blocks.generic(text)
            if isinstance(untyped, dict) and bedrock.is_metrics(untyped):
                return
        document = self._documents.read(text)
        if document is not None:
            self.read(document)
        elif (error := self.read_error(self._blocks.generic(text))) is not None:
            raise error

    def close(self) -> None:
        """What was kept back for a later document is counted as lost."""
        if "_documents" in self.__dict__:
            self._documents.close()

    def read_response(self, body: wire.Message) -> None:
        """A whole message."""
        self._read_message(body)
        if body.stop_reason is not None:
            self.assembler.end()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """Anthropic's `{"type": "error", "error": {...}}`, and the `{"error": ...}` of things in between."""
        if event == "error" or document.get("error") or document.get("type") == "error":
            return typed_error(error_facts(document), mapping.ERRORS, provider="anthropic")
        return None

    # Message

    def _message_start(self, event: wire.MessageStart) -> None:
        message = event.message
        if message is None:
            return
        if self._message is not None:
            if message.id and self._message.id and message.id != self._message.id:
                raise ProtocolError(
                    f"{self.name}: message_start for {quote(message.id)} inside message "
                    f"{quote(self._message.id)}: two streams are mixed in one body"
                )
            self.unknown["event:message_start again"] += 1
            return
        self._message = message
        self._read_message(message)

    def _read_message(self, message: wire.Message) -> None:
        self.assembler.started(message.id, message.model, message.provider)
        for number, raw in enumerate(message.content or ()):
            key = ("whole", number)  # cannot collide with the index of a block that streams
            self._start(key, raw)
            if key in self._open:
                self._stop(key)
        self._finish(message.stop_reason, message.usage)

    def _message_delta(self, event: wire.MessageDelta) -> None:
        self._finish(event.delta.stop_reason if event.delta else None, event.usage)

    def _message_stop(self, _event: wire.MessageStop) -> None:
        for key in list(self._open):
            self._stop(key)
        self.assembler.end()

    def _finish(self, stop_reason: str | None, usage: wire.Usage | None) -> None:
        if usage is not None:
            self._count(usage)
        if stop_reason:
            reason = mapping.FINISH_REASONS.get(stop_reason)
            if reason is None:
                self.unknown[f"finish_reason:{stop_reason[:100]}"] += 1
            self.assembler.finished(reason or "other", stop_reason)

    def _count(self, usage: wire.Usage) -> None:
        """Counts are cumulative: a present one replaces, 0 included; null and absent change nothing."""
        counts = self._usage
        for name, value in (
            ("input_tokens", usage.input_tokens),
            ("output_tokens", usage.output_tokens),
            ("cache_creation_input_tokens", usage.cache_creation_input_tokens),
            ("cache_read_input_tokens", usage.cache_read_input_tokens),
        ):
            if value is not None:
                counts[name] = value
        details = usage.output_tokens_details
        if details is not None and details.thinking_tokens is not None:
            counts["thinking_tokens"] = details.thinking_tokens
        if counts:
            self.assembler.usage(mapping.token_usage(counts))

    def _read_beside(self, document: Any) -> None:
        """An error beside an event: what the event says is read, but it does not end the message well."""
        if type(document) is not wire.MessageStop:
            self._on[type(document)](self, document)
        self._error(wire.ErrorEvent(error=document.error))

    def _error(self, event: wire.ErrorEvent) -> None:
        document = {"type": "error", "error": event.error, "request_id": event.request_id}
        error = self.read_error(document)
        assert error is not None
        raise error

    # Blocks

    def _block_start(self, event: wire.ContentBlockStart) -> None:
        raw = json_text.given(event.content_block)
        if raw is None:
            return
        key: Hashable = None if event.index is None else self._key(event.index)
        if key in self._open:
            if bytes(self._open[key].raw) == bytes(raw):
                self.unknown["event:content_block_start again"] += 1
                return
            self._stop(key)
        if key is None or key in self._used:  # another block with an index that is taken
            key = self._renamed[event.index] = (event.index, len(self._used))
        self._start(key, raw)

    def _block_stop(self, event: wire.ContentBlockStop) -> None:
        self._stop(self._key(event.index))

    def _key(self, index: int | None) -> Hashable:
        """The key of the block that a delta or stop means; without an index the one opened last."""
        if index is None:
            return next(reversed(self._open), None)
        return self._renamed.get(index, index)

    def _block_delta(self, event: wire.ContentBlockDelta) -> None:
        delta = event.delta
        if delta is None:
            return
        index = event.index
        key = self._key(index) if index is None or self._renamed else index
        kind = delta.type
        if kind == "text_delta":  # this and the next are nearly all documents: without another call
            if delta.text:
                self.assembler.text(delta.text, key)
        elif kind == "input_json_delta":
            open_ = self._open.get(key)
            if open_ is None or not open_.is_call:
                self.unknown["delta:input_json_delta without its block"] += 1
            elif delta.partial_json:
                open_.pieces.append(delta.partial_json)
                self.assembler.tool_call_arguments(key, delta.partial_json)
        elif (handler := self._on_delta.get(kind)) is not None:
            handler(self, key, delta)
        else:
            self.unknown[f"delta:{(kind or '')[:100]}"] += 1

    def _thinking(self, key: Hashable, delta: wire.Delta) -> None:
        if delta.thinking is not None:
            self.assembler.reasoning(delta.thinking, key, format=mapping.FORMAT)

    def _signature(self, key: Hashable, delta: wire.Delta) -> None:
        if self.assembler.reasoning_text(key) is None:
            self.unknown["delta:signature_delta without its block"] += 1
        else:
            self.assembler.reasoning(None, key, format=mapping.FORMAT, signature=delta.signature)

    def _citation(self, key: Hashable, delta: wire.Delta) -> None:
        if (citation := json_text.given(delta.citation)) is not None:
            self._cite(key, citation)

    def _compaction(self, key: Hashable, delta: wire.Delta) -> None:
        open_ = self._open.get(key)
        if open_ is None or open_.block.type != "compaction":
            self.unknown["delta:compaction_delta without its block"] += 1
            return
        block = {**self._blocks.opaque(open_.raw), "content": delta.content}
        if delta.encrypted_content is not None:
            block["encrypted_content"] = delta.encrypted_content
        self.assembler.provider_block(key, mapping.FORMAT, block)

    def _start(self, key: Hashable, raw: msgspec.Raw) -> None:
        try:
            block: wire.Block = self._blocks.read_raw(raw)
        except NotAnObject as problem:
            self.unknown[f"block:{problem}"] += 1
            return
        self._open[key] = _OpenBlock(block, raw)
        self._used.add(key)
        kind = block.type or ""
        moves = self.assembler
        if kind == "text":
            for citation in block.citations or ():
                self._cite(key, citation)
            moves.text(block.text or "", key)
        elif kind == "thinking":
            moves.reasoning(block.thinking or "", key, format=mapping.FORMAT, signature=block.signature)
        elif kind == "redacted_thinking":
            moves.reasoning(None, key, type="redacted", data=block.data or "", format=mapping.FORMAT)
        elif kind == "tool_use":
            moves.tool_call_started(key, name=block.name or "", call_id=block.id)
            if block.caller is not None:
                moves.tool_call_extra(key, caller=block.caller)
            if block.toolset_name is not None:
                moves.tool_call_extra(key, toolset_name=block.toolset_name)
        else:
            self._start_server_block(key, kind, block, raw)

    def _start_server_block(self, key: Hashable, kind: str, block: wire.Block, raw: msgspec.Raw) -> None:
        moves = self.assembler
        moves.provider_block(key, mapping.FORMAT, self._blocks.opaque(raw))
        if kind in mapping.SERVER_CALL_BLOCKS:
            self._tool_names[block.id or ""] = block.name or ""
            if _is_search(block):
                moves.web_search_status(key, "in_progress")
        elif kind == "web_search_tool_result":
            query = self._queries.get(block.tool_use_id or "", "")
            moves.web_search_status(key, "completed", query=query or None)
            moves.web_search_done(key, query, mapping.sources(block.content))
        elif kind.endswith("_tool_result"):
            id_ = block.tool_use_id or ""
            name = self._tool_names.get(id_) or kind.removesuffix("_tool_result")
            moves.server_tool_result(key, id_, name, block.content)
        elif kind not in mapping.KEPT_BLOCKS:
            self.unknown[f"block:{kind[:100]}"] += 1

    def _stop(self, key: Hashable) -> None:
        open_ = self._open.pop(key, None)
        if open_ is None:
            self.unknown["event:content_block_stop without its block"] += 1
            self.assembler.reasoning_done(key)
            return
        kind = open_.block.type
        if kind in ("thinking", "redacted_thinking"):
            self.assembler.reasoning_done(key)
        elif kind == "tool_use":
            given = json_text.given(open_.block.input)
            if not open_.pieces and given is not None:
                whole = json_text.object_text(given)
                if whole not in ("{}", "null"):
                    self.assembler.tool_call_arguments(key, whole)
            self.assembler.tool_call_done(key)
        elif kind in mapping.SERVER_CALL_BLOCKS:
            self._stop_server_call(key, open_)

    def _stop_server_call(self, key: Hashable, open_: _OpenBlock) -> None:
        block = self._blocks.opaque(open_.raw)
        if open_.pieces:
            try:
                block["input"] = self._blocks.generic("".join(open_.pieces))
            except NotAnObject:
                self.unknown["text:input of a server tool that is not JSON"] += 1
        self.assembler.provider_block(key, mapping.FORMAT, block)
        id_, name, input_ = open_.block.id or "", open_.block.name or "", block.get("input")
        if _is_search(open_.block):
            query = input_.get("query") if isinstance(input_, dict) else None
            self._queries[id_] = query if isinstance(query, str) else ""
            self.assembler.web_search_status(key, "searching", query=self._queries[id_] or None)
        else:
            self.assembler.server_tool_call(key, id_, name, input_)

    def _cite(self, key: Hashable, raw: msgspec.Raw) -> None:
        try:
            data: wire.CitationData = self._citations.read_raw(raw)
        except NotAnObject as problem:
            self.unknown[f"citation:{problem}"] += 1
            return
        starts = (data.start_char_index, data.start_page_number, data.start_block_index)
        ends = (data.end_char_index, data.end_page_number, data.end_block_index)
        self.assembler.cite(
            key,
            url=data.url or data.source,
            title=data.title or data.document_title,
            cited_text=data.cited_text,
            start=next((value for value in starts if value is not None), None),
            end=next((value for value in ends if value is not None), None),
            format=mapping.FORMAT,
            data=self._citations.opaque(raw),
        )

    _on: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        wire.MessageStart: _message_start,
        wire.ContentBlockStart: _block_start,
        wire.ContentBlockDelta: _block_delta,
        wire.ContentBlockStop: _block_stop,
        wire.MessageDelta: _message_delta,
        wire.MessageStop: _message_stop,
        wire.ErrorEvent: _error,
    }

    _on_delta: ClassVar[dict[str | None, Callable[[Any, Hashable, Any], None]]] = {
        "thinking_delta": _thinking,
        "signature_delta": _signature,
        "citations_delta": _citation,
        "compaction_delta": _compaction,
    }


def _is_search(block: wire.Block) -> bool:
    return block.type == "server_tool_use" and block.name == mapping.SEARCH_TOOL
