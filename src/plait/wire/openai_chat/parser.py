"""Chat Completions chunks -> moves.

One choice is read: the first whose index comes. Its content is a sequence of runs (text, refusal,
reasoning, tool calls, ...); a part of the message begins where the kind changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from plait.errors import IncompleteStreamError, PlaitError
from plait.json_text import ABSENT, given
from plait.wire.assembler import Assembler
from plait.wire.errors import error_facts, typed_error
from plait.wire.openai_chat import mapping, media, wire
from plait.wire.openai_chat.reasoning import Reasoning
from plait.wire.openai_chat.search import Citations, ServerTools
from plait.wire.openai_chat.think_tags import ThinkTags
from plait.wire.openai_chat.tool_calls import ToolCalls
from plait.wire.reading import NotAnObject, Reader
from plait.wire.translation import Translator

_FLAT_ERROR = (
    "message",
    "error_message",
    "error_type",
    "detail",
    "code",
    "type",
    "status_code",
    "request_id",
)


class ChatTranslator(Translator):
    """Reads `openai-chat`, of any server.

    Args:
        think_tags: split reasoning between tags off the answer text: True for `<think>`, or tag names
        cumulative: each delta's text is the whole text so far (some servers' non-incremental mode)
    """

    name = "openai-chat"
    types = wire.Chunk
    response_type = wire.Response
    terminal = "a finish_reason on the choice, or [DONE]"

    def __init__(
        self,
        assembler: Assembler,
        unknown: Counter[str],
        *,
        count_fields: bool = False,
        think_tags: bool | str | Sequence[str] = False,
        cumulative: bool = False,
    ) -> None:
        super().__init__(assembler, unknown)
        self._id: str | None = None
        self._model: str | None = None
        self._provider: str | None = None
        self._choice: int | None = -1  # no choice has come
        self._kind: str | None = None
        self._in_text = False
        self._say = assembler.text
        self._run = 0
        self._text_run: int | None = None
        self._tools = ServerTools(assembler, unknown)
        self._reasoning = Reasoning(assembler, unknown, self._enter, self._tools, count_fields=count_fields)
        self._calls = ToolCalls(assembler, unknown, self._enter)
        self._go_on = self._calls.go_on
        self._sound = media.Sound()
        self._images: set[str] = set()
        self._citations = Citations(assembler, unknown, self._tools)
        self._extra: Any = None
        self._counted = False
        self._split = ThinkTags(_tag_names(think_tags)) if think_tags else None
        self._so_far: dict[str, str] | None = {} if cumulative else None
        self._plain = not think_tags and not cumulative
        self._count_fields = count_fields

    @cached_property
    def _parts(self) -> Reader:
        path = "choices[].delta.content[]"
        return Reader(
            wire.ContentPart, self.unknown, count_fields=self._count_fields, join_halves=True, path=path
        )

    @cached_property
    def _messages(self) -> Reader:
        path = "choices[].message"
        return Reader(wire.Delta, self.unknown, count_fields=self._count_fields, path=path)

    # Documents

    def read(self, document: wire.Chunk) -> None:
        """One chunk: its content, then its finish reason, and an error last of all."""
        if document.model != self._model or not self._id:
            self._identify(document)
        error = None
        for choice in document.choices or ():
            if choice.index != self._choice and not self._is_read(choice.index):
                continue
            delta = choice.delta
            if delta is not None:
                content, calls = delta.content, delta.tool_calls
                thought = delta.reasoning_content or delta.reasoning
                if (
                    delta.reasoning_details
                    or delta.refusal
                    or delta.annotations
                    or delta.audio
                    or delta.images
                    or delta.function_call
                    or delta.executed_tools
                    or delta.extra_content
                ):
                    self._delta(delta)
                elif calls:
                    if content or thought or self._kind != "tool_call" or not self._go_on(calls):
                        self._delta(delta)
                else:
                    if thought:
                        self._plain_reasoning(delta)
                    if content:
                        if self._in_text and content.__class__ is str:
                            self._say(content, self._run)
                        else:
                            self._content(content)
            elif choice.message is not ABSENT and not self._has_output():
                self._message(choice.message)
            if choice.finish_reason:
                self._finish(choice.finish_reason, choice.native_finish_reason)
            if choice.usage is not None:
                self._usage(choice.usage)
            if choice.error:
                error = choice.error
        if (
            document.usage is not None
            or error
            or document.error
            or document.x_groq is not None
            or document.citations is not ABSENT
            or document.search_results is not ABSENT
        ):
            self._around(document, error)
        if not document.choices:
            self._raise_flat_error(document)

    def read_response(self, body: wire.Response) -> None:
        """A whole body: its first choice, as one delta."""
        self._identify(body)
        error = None
        for choice in body.choices or ():
            if not self._is_read(choice.index):
                continue
            if choice.message is not None:
                self._delta(choice.message)
            if choice.finish_reason:
                self._finish(choice.finish_reason, choice.native_finish_reason)
            if choice.usage is not None:
                self._usage(choice.usage)
            error = error or choice.error
        self._around(body, error)
        if not self._has_said_enough():
            raise IncompleteStreamError(
                f"{self.name}: the body has neither content nor a finish_reason", wire=self.name
            )
        self._end()

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """An `error` of any shape; where there are no choices also one that is not nested."""
        if not document.get("error"):
            if document.get("choices"):
                return None
            flat = isinstance(document.get("message"), str) or document.get("detail")
            if not flat and not document.get("error_message") and event != "error":
                return None
        provider = self._provider or self.name
        return typed_error(error_facts(document), mapping.ERRORS, provider=provider)

    def done_marker(self) -> None:
        """`[DONE]` ends the stream, unless nothing came before it: then the server lost an error."""
        if self._has_said_enough():
            self._end()

    def end_of_body(self) -> None:
        """Not every server says `[DONE]`: a finish reason is enough."""
        if self.assembler.finish_seen:
            self._end()

    # Around the content

    def _identify(self, document: wire.Chunk | wire.Response) -> None:
        self._id, self._model = self._id or document.id, document.model
        self._provider = document.provider or self._provider
        self.assembler.started(document.id, document.model, document.provider)

    def _is_read(self, index: int | None) -> bool:
        index = index or 0
        if self._choice == -1:
            self._choice = index
        if index == self._choice:
            return True
        self.unknown[f"choice:{index}"] += 1
        return False

    def _finish(self, raw: str, native: str | None) -> None:
        reason = mapping.FINISH_REASONS.get(raw)
        if reason is None:
            self.unknown[f"finish_reason:{raw[:100]}"] += 1
        if raw in mapping.NO_REASONS:
            return
        if native in mapping.NATIVE_LIMITS and reason in ("stop", "tool_calls"):
            reason = "length"
        elif native in mapping.NATIVE_FILTERS and reason == "stop":
            reason = "content_filter"
        self.assembler.finished(reason or "other", raw)

    def _usage(self, usage: wire.Usage) -> None:
        counts = mapping.token_usage(usage)
        if counts is not None and (counts.total_tokens or not self._counted):
            self._counted = True
            self.assembler.usage(counts)

    def _around(self, document: wire.Chunk | wire.Response, error: Any) -> None:
        """What stands beside the choices; `error` is what stood in one."""
        extension = document.x_groq
        usage = document.usage or (extension.usage if extension is not None else None)
        if usage is not None:
            self._usage(usage)
        self._tools.listed(document.citations, document.search_results)
        found = document.error or error or (extension.error if extension is not None else None)
        if found:
            beside = _present(document, ("code", "status_code", "request_id"))
            fault = self.read_error({"error": found, **beside})
            assert fault is not None
            raise fault

    def _raise_flat_error(self, document: wire.Chunk) -> None:
        if document.message or document.detail or document.error_message:
            error = self.read_error(_present(document, _FLAT_ERROR))
            if error is not None:
                raise error

    def _has_output(self) -> bool:
        return self._kind is not None or self._calls.seen or self._sound.seen

    def _has_said_enough(self) -> bool:
        self._flush_split()
        return self.assembler.finish_seen or self._has_output()

    def _end(self) -> None:
        self._flush_split()
        self._calls.end()
        self._reasoning.close()
        self._sound.end(self.assembler, self.unknown)
        if self._sound.id and self._text_run is not None:
            self.assembler.text_extra(self._text_run, audio_id=self._sound.id)
        self._citations.place(self._text_run)
        self._keep_extra()
        self._tools.end()
        self.assembler.end()

    # Content

    def _enter(self, kind: str) -> int:
        """The key of the open run of this kind; where it is a new one, what came before it is closed."""
        if kind != self._kind:
            self._reasoning.leave()
            if kind != "tool_call":
                self._calls.release()
            self._kind = kind
            self._in_text = self._plain and kind == "text"
            self._run += 1
        return self._run

    def _message(self, raw: msgspec.Raw) -> None:
        if given(raw) is None:
            return
        try:
            self._delta(self._messages.read_raw(raw))
        except NotAnObject as problem:
            self.unknown[f"type:choices[].message={problem}"] += 1

    def _delta(self, delta: wire.Delta) -> None:
        shown = bool(delta.reasoning_details) and self._details(delta.reasoning_details or [])
        if not shown:
            self._plain_reasoning(delta)
        if delta.content:
            self._content(delta.content)
        elif delta.audio is not None and delta.audio.transcript:
            self._content(delta.audio.transcript)
        if delta.refusal:
            self._refusal(delta.refusal)
        if delta.tool_calls:
            self._flush_split()
            self._calls.read(delta.tool_calls)
        if delta.function_call is not None:
            self._flush_split()
            self._calls.read_legacy(delta.function_call)
        if delta.audio is not None:
            self._sound.read(delta.audio)
            self.assembler.quiet += 1
        for item in delta.images or ():
            self._image(item.image_url)
        if delta.annotations:
            self._citations.read(delta.annotations)
            if self._text_run is not None:
                self._citations.place(self._text_run)
        if delta.executed_tools:
            self._tools.read(delta.executed_tools)
        if delta.extra_content:
            self._extra = mapping.kept(delta.extra_content, self.unknown) or self._extra

    def _details(self, entries: list[msgspec.Raw]) -> bool:
        self._flush_split()
        return self._reasoning.details(entries)

    def _plain_reasoning(self, delta: wire.Delta) -> None:
        for field in mapping.REASONING_FIELDS:
            content = getattr(delta, field)
            if content:
                self._flush_split()
                content = self._new_text(field, content)
                if content:
                    self._reasoning.text(content, field)
                return

    def _content(self, content: str | list[msgspec.Raw]) -> None:
        if isinstance(content, list):
            for raw in content:
                self._content_part(raw)
        elif content := self._new_text("content", content):
            self._text(content)

    def _text(self, content: str) -> None:
        if self._split is None:
            self._text_run = self._enter("text")
            self.assembler.text(content, self._text_run)
            self._citations.place(self._text_run)
        else:
            self._place_split(self._split.feed(content))

    def _flush_split(self) -> None:
        if self._split is not None:
            self._place_split(self._split.close())

    def _place_split(self, pieces: Any) -> None:
        for is_reasoning, content in pieces:
            if is_reasoning:
                self._reasoning.text(content, None)
            else:
                self._text_run = self._enter("text")
                self.assembler.text(content, self._text_run)
                self._citations.place(self._text_run)

    def _new_text(self, field: str, content: str) -> str:
        if self._so_far is None:
            return content
        before = self._so_far.get(field, "")
        self._so_far[field] = content
        if content.startswith(before):
            return content[len(before) :]
        self.unknown[f"text:{field} is not cumulative"] += 1
        return content

    def _refusal(self, content: str) -> None:
        self._flush_split()
        self._text_run = self._enter("refusal")
        self.assembler.refusal(content, self._text_run)

    def _content_part(self, raw: msgspec.Raw) -> None:
        text = bytes(raw).decode()
        if text.startswith('"'):
            self._text(self._parts.opaque(raw))
            return
        try:
            part: wire.ContentPart = self._parts.read(text)
        except NotAnObject as problem:
            self.unknown[f"content:{problem}"] += 1
            return
        if part.thinking:
            for thought in _texts(part.thinking):
                self._flush_split()
                self._reasoning.text(thought, None)
        elif part.text:
            self._text(part.text)
        elif part.refusal:
            self._refusal(part.refusal)
        elif part.image_url is not None:
            self._image(part.image_url)
        elif part.type not in ("text", "thinking", "refusal"):
            self.unknown[f"content:{part.type}"] += 1

    def _image(self, source: wire.ImageUrl | str | None) -> None:
        url = source if isinstance(source, str) or source is None else source.url
        if url and url not in self._images:
            self._images.add(url)
            self._flush_split()
            self._enter("file")
            media.image(self.assembler, url)

    def _keep_extra(self) -> None:
        """Google's signature of the answer goes with its text, or with its first call."""
        if self._extra:
            if self._text_run is not None:
                self.assembler.text_extra(self._text_run, extra_content=self._extra)
            elif (call := self._calls.first_key) is not None:
                self.assembler.tool_call_extra(call, message_extra_content=self._extra)


def _tag_names(option: bool | str | Sequence[str]) -> Sequence[str]:
    if option is True:
        return ("think",)
    return (option,) if isinstance(option, str) else tuple(option or ())


def _present(document: Any, fields: Sequence[str]) -> dict[str, Any]:
    values = ((name, getattr(document, name, None)) for name in fields)
    return {name: value for name, value in values if value is not None}


def _texts(thinking: Any) -> list[str]:
    """The texts of a `thinking` item: a string, or a list of text items."""
    if isinstance(thinking, str):
        return [thinking]
    items = thinking if isinstance(thinking, list) else []
    return [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]
