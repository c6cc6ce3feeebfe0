"""Ollama's lines -> moves. Each line adds to the message; a part of it begins where the kind changes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import msgspec

from plait import json_text
from plait.errors import PlaitError, ServerError
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.ollama_chat import mapping, wire
from plait.wire.openai_chat import media
from plait.wire.translation import Translator

_Message = wire.Message  # found faster so


class OllamaTranslator(Translator):
    """Reads `ollama-chat`."""

    name = "ollama-chat"
    types = wire.Line
    response_type = wire.Line
    terminal = "done: true"
    framings = ("ndjson",)

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool = False) -> None:
        # `count_fields` is the parser's reader's business: here no document is read by itself.
        super().__init__(assembler, unknown)
        self._named = False
        self._say = assembler.text
        self._kind: Literal["text", "thinking"] | None = None
        self._part = 0  # the key of the newest part

    def read(self, line: wire.Line) -> None:
        """One line: its content, and if it is the last one, the end."""
        if not self._named:
            self._identify(line)
        message: Any = line.message
        if message.__class__ is not _Message or line.error:
            if message.__class__ is _Message:
                self._message(message)
            self._raise_error(line)
        elif self._kind != "text" or message.tool_calls or message.thinking or message.images:
            self._message(message)
        elif message.content:  # nearly all lines: without another call
            self._say(message.content, self._part)
        if line.done or line.done_reason:
            self._end(line)

    def read_response(self, body: wire.Line) -> None:
        """A whole body: a single line."""
        self.read(body)
        self.end_of_body()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """Ollama's `{"error": "..."}`, and `{"message": "..."}` or `{"detail": ...}` of things in between."""
        flat = isinstance(document.get("message"), str) or document.get("detail")
        flat = flat and document.get("model") is document.get("done") is None
        if event != "error" and not flat and not document.get("error"):
            return None
        return typed_error(error_facts(document), mapping.ERRORS, provider="ollama", default=ServerError)

    def end_of_body(self) -> None:
        """Some servers give a reason and do not say `done`: that is enough."""
        if self.assembler.finish_seen:
            self.assembler.end()

    def _identify(self, line: wire.Line) -> None:
        self._named = bool(line.model)
        self.assembler.started(None, line.model)
        if line.created_at:  # without ids of responses, ids of calls must still differ between them
            self.assembler.seed = self.assembler.seed or "".join(filter(str.isalnum, line.created_at))

    def _raise_error(self, line: wire.Line) -> None:
        """Raise the error that a line is; one without a message need not be an error."""
        values = ((name, getattr(line, name)) for name in ("error", "message", "detail", "model", "done"))
        error = self.read_error(
            {name: value for name, value in values if value is not None and not isinstance(value, _Message)}
        )
        if error is not None:
            raise error

    def _end(self, line: wire.Line) -> None:
        raw = line.done_reason or None
        reason = mapping.FINISH_REASONS.get(raw or "stop")
        if reason is None:
            self.unknown[f"finish_reason:{(raw or '')[:100]}"] += 1
        usage = mapping.token_usage(line)
        if usage is not None:
            self.assembler.usage(usage)
        self.assembler.finished(reason or "other", raw)
        if line.done:
            self.assembler.end()

    # Content

    def _message(self, message: wire.Message) -> None:
        if message.thinking:
            self.assembler.reasoning(message.thinking, self._enter("thinking"), format=mapping.FORMAT)
        if message.content:
            self.assembler.text(message.content, self._enter("text"))
        for call in message.tool_calls or ():
            self._tool_call(call)
        for data in message.images or ():
            self._enter(None)
            media.image(self.assembler, data if data.startswith("data:") else f"data:;base64,{data}")

    def _enter(self, kind: Literal["text", "thinking"] | None) -> int:
        """The key of the open part of this kind; where it is a new one, what came before it is closed."""
        if kind != self._kind or kind is None:
            if self._kind == "thinking":
                self.assembler.reasoning_done(self._part)
            self._kind = kind
            self._part += 1
        return self._part

    def _tool_call(self, call: wire.ToolCall) -> None:
        key = self._enter(None)
        function = call.function or wire.Function()
        if not function.name:  # kept, marked as cut, so that nothing runs it
            self.unknown["tool_call:without a name"] += 1
        self.assembler.tool_call_started(key, name=function.name or "", call_id=call.id)
        self.assembler.tool_call_arguments(key, self._arguments(function.arguments))
        self.assembler.tool_call_done(key, cut=not function.name)

    def _arguments(self, raw: msgspec.Raw) -> str:
        """Arguments as text: as they came, without white space; what came as text is the text."""
        return "" if bytes(raw) in (b"", b"null") else json_text.object_text(raw)
