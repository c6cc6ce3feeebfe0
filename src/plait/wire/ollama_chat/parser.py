"""Ollama's lines -> moves. Each line adds to the message; a part of it begins where the kind changes."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections import Counter
from typing import Any, Literal

import msgspec

from plait import json_text
from plait.errors import PlaitError, ServerError
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.ollama_chat import mapping, wire
from plait.wire.openai_chat.media import media_type
from plait.wire.parser import Translator


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
        self._model: str | None = None
        self._kind: Literal["text", "thinking"] | None = None
        self._part = 0  # the key of the newest part

    def read(self, line: wire.Line) -> None:
        """One line: its content, and if it is the last one, the end."""
        if line.model != self._model:
            self._identify(line)
        message = line.message
        if message.__class__ is wire.Message:
            if message.thinking or message.tool_calls or message.images or self._kind != "text":  # type: ignore[union-attr]
                self._message(message)  # type: ignore[arg-type]
            else:
                self.assembler.text(message.content or "", self._part)  # type: ignore[union-attr]
        if line.done or line.done_reason or line.error or line.detail or message.__class__ is str:
            self._end(line)

    def read_response(self, body: wire.Line) -> None:
        """A whole body: a single line."""
        self.read(body)
        self.end_of_body()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """Ollama's `{"error": "..."}`, and `{"message": "..."}` or `{"detail": ...}` of things in between."""
        flat = isinstance(document.get("message"), str) or document.get("detail")
        if event != "error" and not flat and not document.get("error"):
            return None
        return typed_error(error_facts(document), mapping.ERRORS, provider="ollama", default=ServerError)

    def end_of_body(self) -> None:
        """Some servers give a reason and do not say `done`: that is enough."""
        if self.assembler.finish_seen:
            self.assembler.end()

    def _identify(self, line: wire.Line) -> None:
        self._model = line.model
        self.assembler.started(None, line.model)
        if line.created_at:  # ids of calls must differ from those of other responses, which have no ids either
            self.assembler.seed = self.assembler.seed or "".join(filter(str.isalnum, line.created_at))

    def _end(self, line: wire.Line) -> None:
        error = self.read_error(
            {
                name: value
                for name, value in (("error", line.error), ("message", line.message), ("detail", line.detail))
                if value is not None and not isinstance(value, wire.Message)
            }
        )
        if error is not None:
            raise error
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
            self._image(data)

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
        self.assembler.tool_call_arguments(key, _arguments(function.arguments))
        self.assembler.tool_call_done(key, cut=not function.name)

    def _image(self, data: str) -> None:
        self._enter(None)
        try:
            start = b64decode(data[:32])
        except (NotBase64, ValueError):
            start = b""
        self.assembler.file(media_type(start, "image/*"), data=data)


def _arguments(raw: msgspec.Raw | None) -> str:
    """Arguments as text: as they came, without white space; what came as text is the text."""
    if raw is None:
        return ""
    value = bytes(raw).strip()
    if value.startswith(b'"'):
        text: str = msgspec.json.decode(value)
        return text
    return "" if value == b"null" else json_text.compact(raw)
