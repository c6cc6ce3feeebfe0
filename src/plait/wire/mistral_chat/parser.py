"""Mistral's chunks -> moves.

As in Chat Completions one choice is read, and its content is a sequence of runs (text, thinking, tool calls,
...); a part of the message begins where the kind changes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from plait.errors import PlaitError
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.mistral_chat import mapping, wire
from plait.wire.mistral_chat.thinking import Thinking
from plait.wire.openai_chat import media
from plait.wire.openai_chat.tool_calls import ToolCalls
from plait.wire.openai_chat.wire import ImageUrl, Usage
from plait.wire.translation import Translator

_ERROR_FIELDS = ("error", "message", "detail", "code", "type", "raw_status_code", "request_id")


class MistralTranslator(Translator):
    """Reads `mistral-chat`."""

    name = "mistral-chat"
    types = wire.Chunk
    response_type = wire.Response
    terminal = "a finish_reason on the choice, or [DONE]"

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        # `count_fields` is the parser's reader's business: here no document is read by itself.
        super().__init__(assembler, unknown)
        self._id: str | None = None
        self._model: str | None = None
        self._choice: int | None = -1  # no choice has come
        self._kind: str | None = None
        self._run = 0
        self._text_run: int | None = None
        self._theirs = False  # what comes is said by a tool, not by the assistant
        self._thinking = Thinking(assembler, unknown)
        self._calls = ToolCalls(assembler, unknown, self._enter)

    # Documents

    def read(self, chunk: wire.Chunk) -> None:
        """One chunk: its content, then its finish reason, and an error last of all."""
        if chunk.model != self._model or chunk.id != self._id:
            self._identify(chunk)
        for choice in chunk.choices or ():
            if choice.index != self._choice and not self._is_read(choice.index):
                continue
            delta = choice.delta
            if delta is not None:
                content = delta.content
                if content.__class__ is not str or self._kind != "text" or delta.tool_calls or delta.role:
                    self._delta(delta)
                elif content:  # nearly all documents: without another call
                    self.assembler.text(content, self._run)
            if choice.finish_reason:
                self._finish(choice.finish_reason)
        if chunk.usage is not None:
            self._usage(chunk.usage)
        if chunk.error or not chunk.choices:
            self._raise_error(chunk)

    def read_response(self, body: wire.Response) -> None:
        """A whole body: its first choice, as one delta."""
        self._identify(body)
        for choice in body.choices or ():
            if not self._is_read(choice.index):
                continue
            for message in [choice.message] if choice.message is not None else choice.messages or ():
                self._delta(message)
            if choice.finish_reason:
                self._finish(choice.finish_reason)
        if body.usage is not None:
            self._usage(body.usage)
        self.done_marker()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """An `error`, or without choices a `message` or `detail`: text, or what validation found."""
        if not document.get("error"):
            if document.get("choices"):
                return None
            if not document.get("message") and not document.get("detail") and event != "error":
                return None
        return typed_error(error_facts(document), mapping.ERRORS, provider="mistral")

    def done_marker(self) -> None:
        """`[DONE]` ends the stream, unless nothing came before it: then the server lost an error."""
        if self.assembler.finish_seen or self._kind is not None or self._calls.seen:
            self._end()

    def end_of_body(self) -> None:
        """Without `[DONE]` a finish reason is enough."""
        if self.assembler.finish_seen:
            self._end()

    # Around the content

    def _identify(self, document: wire.Chunk | wire.Response) -> None:
        self._id, self._model = document.id, document.model
        self.assembler.started(document.id, document.model)

    def _is_read(self, index: int | None) -> bool:
        index = index or 0
        if self._choice == -1:
            self._choice = index
        if index == self._choice:
            return True
        self.unknown[f"choice:{index}"] += 1
        return False

    def _finish(self, raw: str) -> None:
        reason = mapping.FINISH_REASONS.get(raw)
        if reason is None:
            self.unknown[f"finish_reason:{raw[:100]}"] += 1
        self.assembler.finished(reason or "other", raw)

    def _usage(self, usage: Usage) -> None:
        counts = mapping.token_usage(usage)
        if counts is not None:
            self.assembler.usage(counts)

    def _raise_error(self, chunk: wire.Chunk) -> None:
        values = ((name, getattr(chunk, name)) for name in _ERROR_FIELDS)
        error = self.read_error({name: value for name, value in values if value is not None})
        if error is not None:
            raise error

    def _end(self) -> None:
        self._calls.end()
        self._thinking.close()
        self.assembler.end()

    # Content

    def _enter(self, kind: str) -> int:
        """The key of the open run of this kind; where it is a new one, what came before it is closed.

        A `part` stands by itself: it is always a new one.
        """
        if kind != self._kind or kind == "part":
            self._thinking.close()
            if kind != "tool_call":
                self._calls.release()
            self._kind = kind
            self._run += 1
            if kind == "text":
                self._text_run = self._run
        return self._run

    def _delta(self, delta: wire.Delta) -> None:
        if delta.role:
            self._theirs = delta.role == "tool"
        if self._theirs:
            self._enter("tool")
            self.unknown["delta:role=tool"] += 1
            return
        if isinstance(delta.content, str):
            self._text(delta.content)
        else:
            for part in delta.content or ():
                if isinstance(part, str):
                    self._text(part)
                else:
                    self._part(part)
        if delta.tool_calls:
            for call in delta.tool_calls:
                if call.id == "null":  # the SDK's word for no id
                    call.id = None
            self._calls.read(delta.tool_calls)

    def _text(self, content: str) -> None:
        if content:
            self.assembler.text(content, self._enter("text"))

    def _part(self, part: wire.ContentPart) -> None:
        if part.type not in mapping.PARTS:
            self.unknown[f"content:{(part.type or '')[:100]}"] += 1
        if part.thinking or part.signature:
            self._thinking.read(part, self._enter("thinking"))
        elif part.text:
            self._text(part.text)
        elif part.image_url is not None:
            self._image(part.image_url)
        elif part.type in mapping.REFERENCES:
            self._cite(part)
        elif part.type not in ("text", "thinking"):
            self.assembler.provider_block(self._enter("part"), mapping.FORMAT, mapping.to_wire(part))

    def _image(self, source: ImageUrl | str) -> None:
        url = source if isinstance(source, str) else source.url
        if url:
            self._enter("part")
            media.image(self.assembler, url)

    def _cite(self, part: wire.ContentPart) -> None:
        """A reference speaks of the text before it. It has no length: start and end are where it stands."""
        if self._text_run is None:
            self._enter("text")
        place = self.assembler.text_length(self._text_run)
        self.assembler.cite(
            self._text_run,
            url=part.url,
            title=part.title,
            start=place,
            end=place,
            format=mapping.FORMAT,
            data=mapping.to_wire(part),
        )
