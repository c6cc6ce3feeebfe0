"""Bedrock's Converse stream -> moves. The `:event-type` header says what a payload is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from plait import json_text
from plait.errors import PlaitError
from plait.framing import EventStreamMessage
from plait.wire import aws
from plait.wire.assembler import Assembler
from plait.wire.bedrock_converse import mapping, wire
from plait.wire.bedrock_converse.blocks import Block, Blocks
from plait.wire.errors import typed_error
from plait.wire.reading import NotAnObject, Reader
from plait.wire.translation import Translator

PROVIDER = "bedrock"

_Handling: TypeAlias = tuple[Callable[[str], Any], Callable[[Any], str | None]]
"""What reads a document, and what makes its moves: it names the member of which it understood nothing."""


class BedrockTranslator(Translator):
    """Reads `bedrock-converse`."""

    name = "bedrock-converse"
    types = wire.StreamEvent
    response_type = wire.Response
    terminal = "messageStop"
    framings = ("event-stream",)

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        super().__init__(assembler, unknown)
        self._blocks = Blocks(assembler, unknown, count_fields=count_fields)
        self._open: dict[int | None, Block] = {}
        self._began = False
        self._stopped = False
        self._stop_reason: str | None = None
        self._guardrail: Any = None
        self._readers = {
            event: Reader(struct, unknown, count_fields=count_fields, join_halves=True, path=event)
            for event, (struct, _) in self._events.items()
        }
        self._on: dict[Any, _Handling] = {
            event: (self._readers[event].read, getattr(self, handler))
            for event, (_, handler) in self._events.items()
        }

    _events: ClassVar[dict[str, tuple[type, str]]] = {
        "messageStart": (wire.MessageStart, "_message_start"),
        "contentBlockStart": (wire.ContentBlockStart, "_block_start"),
        "contentBlockDelta": (wire.ContentBlockDelta, "_block_delta"),
        "contentBlockStop": (wire.ContentBlockStop, "_block_stop"),
        "messageStop": (wire.MessageStop, "_message_stop"),
        "metadata": (wire.Metadata, "_metadata"),
    }

    def read_message(self, message: EventStreamMessage) -> None:
        """One message of the stream."""
        headers = message.headers
        on = self._on.get(headers.get(":event-type"))
        if on is None or headers.get(":message-type") != "event":
            on = self._unusual(message)
            if on is None:
                return
        read, handle = on
        try:
            text = message.payload.decode()
        except UnicodeDecodeError as problem:
            raise NotAnObject(f"bytes that are not UTF-8 at byte {problem.start:,}") from None
        unread = handle(read(text))
        if unread is not None:
            self._unread(text, unread)

    def read_response(self, body: wire.Response) -> None:
        """A whole response."""
        message = body.output.message if body.output is not None else None
        for data in (message.content if message is not None else None) or ():
            self._blocks.whole(data)
        self._finish(body.stop_reason)
        self._account(body.usage, body.trace)
        if body.stop_reason is not None:
            self._end()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """AWS's `{"message": ...}`, whose name is in an HTTP header, and the shapes of what is around it."""
        member = aws.member_error(document, PROVIDER)
        if member is not None:
            return member
        named = document.keys() & {"message", "Message", "__type", "error", "detail", "Output"}
        if event is None and (not named or "output" in document):
            return None
        return typed_error(aws.document_facts(document), mapping.ERRORS, provider=PROVIDER)

    def end_of_body(self) -> None:
        """Complete without `metadata` too: the usage is then unknown."""
        if self._stopped:
            self._end()

    def close(self) -> None:
        """What was kept back for a later document is counted as lost."""
        for reader in self._readers.values():
            reader.close()

    # Messages

    def _unusual(self, message: EventStreamMessage) -> _Handling | None:
        """How to read a message that does not call itself an event: an error, or of an unknown type."""
        error = aws.message_error(message, PROVIDER)
        if error is not None:
            raise error
        kind, event = message.message_type, message.event_type or ""
        if kind not in (None, "event"):
            self.unknown[f"message:{kind[:100]}"] += 1
            return None
        if event in self._on:
            return self._on[event]
        try:
            document = json_text.loads_tolerant(message.payload.decode("utf-8", "replace"))
        except ValueError:
            document = None
        named = {event: document if isinstance(document, dict) else {}}
        error = aws.member_error(document, PROVIDER) or aws.member_error(named, PROVIDER)
        if error is not None:
            raise error
        self.unknown[f"event:{event[:100]}"] += 1
        return None

    def _unread(self, text: str, member: str) -> None:
        """Nothing was understood of a document whose `member` says what it is about."""
        document = json_text.loads_tolerant(text)
        error = aws.member_error(document, PROVIDER)
        if error is not None:
            raise error
        value = document.get(member)
        names = list(value) if isinstance(value, dict) else []
        self.unknown.update(f"{member}:{name[:100]}" for name in names or ["empty"])

    # Events

    def _message_start(self, _event: wire.MessageStart) -> None:
        if self._began:
            self.unknown["event:messageStart again"] += 1
        self._began = True

    def _block_start(self, event: wire.ContentBlockStart) -> str | None:
        index, start = event.content_block_index, event.start
        if start is None:
            return "start"
        block = self._open.get(index)
        if block is not None and block.data == start != {}:
            self.unknown["event:contentBlockStart again"] += 1
            return None
        if block is not None:
            self._blocks.stop(self._open.pop(index))
        block = self._open[index] = Block()
        self._blocks.start(block, start)
        return None

    def _block_delta(self, event: wire.ContentBlockDelta) -> str | None:
        block = self._open.get(event.content_block_index)
        if block is None:
            block = self._block(event.content_block_index)
        delta = event.delta
        if delta is None:
            return "delta"
        # Nearly all documents are one of the first three: read without another call.
        if delta.text is not None:
            if block.has_text:
                if delta.text:
                    self.assembler.text(delta.text, block)
            else:
                self._blocks.text(block, delta.text)
        elif (tool := delta.tool_use) is not None:
            if block.kind == "tool":
                self.assembler.tool_call_arguments(block, tool.input or "")
            elif tool.input:
                self._blocks.tool_input(block, tool.input)
        elif (piece := delta.reasoning_content) is not None:
            if piece.text is not None and piece.signature is None:
                self.assembler.reasoning(piece.text, block, "text")
            elif not self._blocks.reasoning(block, piece):
                return "delta"
        elif delta.citation is not None:
            self._blocks.cite(block, delta.citation)
        elif delta.tool_result is not None:
            self._blocks.tool_results(block, delta.tool_result)
        elif delta.image is not None:
            self._blocks.media(block, delta.image)
        else:
            return "delta"
        return None

    def _block(self, index: int | None) -> Block:
        """The block that a piece belongs to, without an index the last one; most open without a start."""
        block = next(reversed(self._open.values()), None) if index is None else None
        if block is None:
            block = self._open[index] = Block()
        return block

    def _block_stop(self, event: wire.ContentBlockStop) -> None:
        index = event.content_block_index
        if index is None and self._open:
            index = next(reversed(self._open))
        block = self._open.pop(index, None)
        if block is None:
            self.unknown["event:contentBlockStop without its block"] += 1
        else:
            self._blocks.stop(block)

    def _message_stop(self, event: wire.MessageStop) -> None:
        self._stop_all()
        self._stopped = True
        self._finish(event.stop_reason)

    def _metadata(self, event: wire.Metadata) -> None:
        self._account(event.usage, event.trace)
        if self._stopped and event.usage is not None:
            self._end()

    # The end

    def _stop_all(self) -> None:
        for index in list(self._open):
            self._blocks.stop(self._open.pop(index))

    def _finish(self, stop_reason: str | None) -> None:
        if stop_reason:
            reason = mapping.FINISH_REASONS.get(stop_reason)
            if reason is None:
                self.unknown[f"finish_reason:{stop_reason[:100]}"] += 1
            self._stop_reason = stop_reason
            self.assembler.finished(reason or "other", stop_reason)

    def _account(self, usage: wire.Usage | None, trace: wire.Trace | None) -> None:
        """Usage and trace; some metadata has only one of them, or neither."""
        if usage is not None and (usage.input_tokens is not None or usage.output_tokens is not None):
            self.assembler.usage(
                mapping.token_usage(
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_input_tokens,
                    usage.cache_write_input_tokens,
                )
            )
        if trace is None:
            return
        if trace.prompt_router is not None:
            self.assembler.started(model=trace.prompt_router.invoked_model_id)
        if trace.guardrail is not None:
            self._guardrail = trace.guardrail

    def _end(self) -> None:
        self._stop_all()
        self._blocks.end()
        if self._guardrail is not None:
            self.assembler.provider_block("trace", mapping.TRACE_FORMAT, {"guardrail": self._guardrail})
            if self._stop_reason == mapping.INTERVENED:
                for guardrail, reason, phase in mapping.tripwires(self._guardrail):
                    self.assembler.guardrail_tripwire(guardrail, reason, phase)
        self.assembler.end()
