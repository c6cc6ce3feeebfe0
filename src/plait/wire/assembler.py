"""Moves in, events and the assistant message out. The laws of the vocabulary are kept here, once.

A wire parser says what it saw: `text("Hel")`, `tool_call_started(...)`, `finished("stop", "end_turn")`.
The assembler gives each part its place (`index`) in the message, pairs every delta with its done, makes
ids unique, decides whether a call is whole, and puts usage and finish reason last.

Every part is named by a `key` of the parser's choice (any hashable: a block index, an output index).
To add a kind of content: one part class in `parts.py`, and the move that fills it here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from plait import inline_data, json_text
from plait.errors import ProtocolError
from plait.events import (
    Citation,
    Event,
    FileDone,
    FinishReason,
    FinishReasonDone,
    GuardrailPhase,
    GuardrailTripwire,
    ReasoningDelta,
    ReasoningDone,
    ReasoningType,
    ResponseStarted,
    SearchStatus,
    ServerToolCall,
    ServerToolResult,
    Source,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.wire.parts import Detail, File, Part, Provider, Reasoning, Text, ToolCall

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

MAX_DEPTH = 180
"""How deep opaque JSON may be nested: pydantic reads JSON of 200 levels, those of the message included."""

_CUT_REASONS = frozenset({"length", "context_window", "content_filter", "malformed_output", "error"})
"""Finish reasons after which a call without argument text counts as cut, not as one without arguments."""


def _id(id: str | None) -> str | None:
    return id if id and not id.isspace() else None


def _kept(data: Any) -> Any:
    if json_text.is_deeper(data, MAX_DEPTH):
        raise ProtocolError(f"a block's JSON is nested more than {MAX_DEPTH} levels deep")
    return data


class Assembler:
    """Builds one assistant message. Its methods are the moves; `take()` gives the events they caused."""

    __slots__ = (
        "_calls", "_closing", "_count", "_events", "_ids", "_model", "_parts", "_provider", "_providers",
        "_raw_reason", "_reason", "_reasoning", "_response_id", "_runs", "_started", "_texts", "_usage",
        "_writing", "ended", "format", "last_event", "quiet", "seed", "unknown",
    )  # fmt: skip

    def __init__(self) -> None:
        self.ended = False
        self.format: str | None = None
        """Names the wire in parts that carry what only it takes back."""
        self.unknown: Counter[str] = Counter()
        """Where a file that cannot be kept is counted: the parser's own `unknown`."""
        self.last_event: Event | None = None
        self.quiet = 0
        """How many pieces came that have no event: what they are part of is told when it is whole."""
        self._events: list[Event] = []
        self._parts: list[Part] = []
        self._texts: dict[Hashable, Text] = {}
        self._writing: Text | None = None
        self._runs: list[tuple[Text, int]] = []  # which part was written, from which of its pieces on
        self._reasoning: dict[Hashable, Reasoning] = {}
        self._calls: dict[Hashable, ToolCall] = {}
        self._providers: dict[Hashable, Provider] = {}
        self._closing: ToolCall | None = None
        self._ids: set[str] = set()
        self._started = False
        self._response_id: str | None = None
        self._model: str | None = None
        self._provider: str | None = None
        self.seed: str | None = None
        """Where the wire gives responses no id: what tells this one's substitute ids from another's."""
        self._usage: TokenUsage | None = None
        self._count: Callable[[], TokenUsage | None] | None = None
        self._reason: FinishReason | None = None
        self._raw_reason: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing of a response has been said: no name, no content, no usage, no end."""
        named = self._started or self._response_id or self._model or self._provider
        return not (self.ended or self._parts or named or self._counted() or self._reason)

    # Events and message

    def take(self) -> list[Event]:
        """The events since the last `take`."""
        events = self._events
        if not events:
            return []  # a list of the caller's own, not the one that later events go to
        self._events = []
        self.last_event = events[-1]
        return events

    def message(self) -> AssistantMessage:
        """What has been read so far; `finish_reason` is None until the response has ended."""
        from plait.messages import AssistantMessage

        return AssistantMessage.model_validate(
            {
                "content": [self._content(part) for part in self._parts],
                "id": self._response_id,
                "model": self._model,
                "provider": self._provider,
                "finish_reason": self._reason if self.ended else None,
                "raw_finish_reason": self._raw_reason,
                "token_usage": self._counted(),
            }
        )

    def _content(self, part: Part) -> dict[str, Any]:
        content = part.content()
        if content.get("signature") or content.get("extra"):
            content["format"] = self.format
        return content

    # Response

    def started(
        self, response_id: str | None = None, model: str | None = None, provider: str | None = None
    ) -> None:
        """The wire named the response, the model or the serving provider. Repeats keep the last value."""
        self._response_id = self._response_id or response_id or None
        self._model = model or self._model
        self._provider = provider or self._provider
        if not self._started and not self._parts and (response_id or model or provider):
            self._started = True
            self._events.append(ResponseStarted(response_id or None, model or None, provider or None))

    def usage(self, usage: TokenUsage) -> None:
        """The usage so far; a later one replaces it."""
        self._usage = usage

    def usage_from(self, count: Callable[[], TokenUsage | None]) -> None:
        """Where to ask for the usage so far, for a wire that says it with every piece of text."""
        self._count = count

    def _counted(self) -> TokenUsage | None:
        if self._count is not None:
            self._usage = self._count() or self._usage
        return self._usage

    def finished(self, reason: FinishReason | None, raw: str | None) -> None:
        """The wire gave a finish reason (a later one replaces it). The response goes on until `end()`."""
        self._reason = reason
        self._raw_reason = raw

    @property
    def finish_seen(self) -> bool:
        """Whether `finished` was called."""
        return self._reason is not None

    def end(self) -> None:
        """The terminal event: closes what is open, then text, usage, finish reason. A second is ignored."""
        if self.ended:
            return
        reason = self._final_reason()
        for reasoning in self._reasoning.values():
            self._close_detail(reasoning)
        for call in self._calls.values():
            if call.state != "done":
                self._finish_call(call, turn_cut=reason in _CUT_REASONS)
        self._reason = reason
        self.ended = True
        emit = self._events.append
        if self._runs:
            emit(TextDone(self._joined_text(), next(reversed(self._texts.values())).index))
        usage = self._counted()
        if usage is not None:
            emit(TokenUsageDone(usage))
        emit(FinishReasonDone(reason, self._raw_reason))

    def _joined_text(self) -> str:
        """The answer text in the order it came, even where parts were written by turns."""
        if len(self._runs) == 1:
            return "".join(self._runs[0][0].pieces)
        runs: list[list[str]] = []
        ends: dict[int, int] = {}
        for part, start in reversed(self._runs):
            runs.append(part.pieces[start : ends.get(part.index)])
            ends[part.index] = start
        return "".join(piece for run in reversed(runs) for piece in run)

    def _final_reason(self) -> FinishReason:
        reason = self._reason or "other"
        if reason in ("stop", "other") and self._calls:
            return "tool_calls"
        if reason == "stop":
            for part in self._texts.values():
                if part.refusal:
                    return "content_filter"
        return reason

    # Text

    def text(self, content: str, key: Hashable = None) -> None:
        """A piece of answer text. An empty piece says nothing, and opens no part."""
        if content:
            part = self._writing
            if part is None or (part.key is not key and part.key != key):
                part = self._write(key)
            part.pieces.append(content)
            self._events.append(TextDelta(content, part.index))

    def _write(self, key: Hashable) -> Text:
        """Text goes on in this part."""
        part = self._writing = self._text_part(key)
        self._runs.append((part, len(part.pieces)))
        return part

    def refusal(self, content: str, key: Hashable = None) -> None:
        """A piece of text that the provider marks as a refusal: text, and the response is filtered."""
        if content:
            self.text(content, key)
            self._texts[key].refusal = True

    def text_signed(self, signature: str, key: Hashable = None) -> None:
        """The provider signed this text part."""
        self._text_part(key).signature = signature

    def text_extra(self, key: Hashable, **extra: Any) -> None:
        """What else the adapter must send back with this text part, by name."""
        part = self._text_part(key)
        part.extra = {**(part.extra or {}), **_kept(extra)}

    def text_so_far(self, key: Hashable = None) -> str:
        """The text of this part so far (empty when it is not open)."""
        part = self._texts.get(key)
        return "" if part is None else "".join(part.pieces)

    def text_length(self, key: Hashable = None) -> int:
        """How many characters this text part has so far (0 when it is not open)."""
        part = self._texts.get(key)
        return 0 if part is None else part.length()

    def cite(
        self,
        key: Hashable = None,
        *,
        url: str | None = None,
        title: str | None = None,
        cited_text: str | None = None,
        start: int | None = None,
        end: int | None = None,
        format: str | None = None,
        data: Any = None,
    ) -> None:
        """An annotation on a text part; `data` is the wire's own, kept for replay under `format`.

        The same annotation said twice counts once.
        """
        part = self._text_part(key)
        entry = {
            "url": url, "title": title, "cited_text": cited_text, "start": start, "end": end,
            "format": format, "data": _kept(data),
        }  # fmt: skip
        said = repr(entry)
        if said not in part.cited:
            part.cited.add(said)
            part.citations.append(entry)
            self._events.append(Citation(url, title, cited_text, start, end, part.index))

    def _text_part(self, key: Hashable) -> Text:
        return self._texts.get(key) or self._open_text(key)

    def _open_text(self, key: Hashable) -> Text:
        part = self._texts[key] = Text(key, self._next_index())
        self._parts.append(part)
        return part

    # Reasoning

    def reasoning(
        self,
        content: str | None,
        key: Hashable,
        detail: Hashable = None,
        *,
        type: ReasoningType = "text",
        format: str | None = None,
        id: str | None = None,
        signature: str | None = None,
        data: str | None = None,
    ) -> None:
        """A piece of the reasoning item `key`: text to show, or a signature, id or opaque data.

        `detail` names the part inside the item; one is open at a time, another one closes it. `content`
        None leaves the part without text; an empty string gives it an empty text.
        """
        item = self._reasoning.get(key) or self._reasoning_item(key)
        open_ = item.open
        if open_ is None or open_.key != detail:
            self._close_detail(item)
            open_ = item.open = Detail(detail, type, format)
        if content is not None:
            if open_.pieces is None:
                open_.pieces = []
            if content:
                open_.pieces.append(content)
                self._events.append(ReasoningDelta(content, item.index))
        if signature:
            open_.signature = signature
            self.quiet += 1
        if data is not None:
            open_.data = data
            self.quiet += 1
        if id:
            open_.id = id
        if format:
            open_.format = format

    def reasoning_started(self, key: Hashable) -> None:
        """A reasoning item has its place in the message, though nothing of it may be shown (or ever come)."""
        self._reasoning_item(key)

    def _reasoning_item(self, key: Hashable) -> Reasoning:
        item = self._reasoning.get(key)
        if item is None:
            item = self._reasoning[key] = Reasoning(self._next_index())
            self._parts.append(item)
        return item

    def reasoning_id(self, key: Hashable, id: str) -> None:
        """The provider's id of a reasoning item that is open."""
        item = self._reasoning.get(key)
        if item is not None:
            item.id = id

    def reasoning_done(self, key: Hashable) -> None:
        """The open part of this reasoning item is whole. Unknown or closed items are ignored."""
        item = self._reasoning.get(key)
        if item is not None:
            self._close_detail(item)

    def reasoning_text(self, key: Hashable, detail: Hashable = None) -> str | None:
        """The text so far of the open part `detail` of this item; None when it is not the open one."""
        item = self._reasoning.get(key)
        if item is None or item.open is None or item.open.key != detail:
            return None
        return "".join(item.open.pieces or ())

    def _close_detail(self, item: Reasoning) -> None:
        if item.open is not None:
            part = item.open.part()
            item.open = None
            item.details.append(part)
            self._events.append(ReasoningDone(part, item.index))

    # Tool calls

    def tool_call_started(
        self,
        key: Hashable,
        *,
        name: str,
        call_id: str | None = None,
        item_id: str | None = None,
        kind: Literal["function", "custom"] = "function",
    ) -> None:
        """The model calls a tool of the client. Ids that are missing or taken get a stable substitute."""
        if key in self._calls:
            return
        number = len(self._calls)
        call_id, item_id = _id(call_id), _id(item_id)
        seed = self._response_id or self.seed
        substitute = f"call_{seed}_{number}" if seed else f"call_{number}"
        unique_call_id = self._unique(call_id or substitute, number)
        unique_item_id = self._unique(item_id, number) if item_id and item_id != call_id else unique_call_id
        call = ToolCall(self._next_index(), unique_item_id, unique_call_id, call_id or None, name)
        call.kind = kind
        self._calls[key] = call
        self._parts.append(call)
        first = '"' if kind == "custom" else ""
        if first:
            call.pieces.append(first)
        self._events.append(ToolCallDelta(unique_item_id, name, first, call.index))

    def tool_call_arguments(self, key: Hashable, delta: str) -> None:
        """A piece of a call's arguments; of a custom tool the free text, which becomes a JSON string."""
        call = self._calls.get(key)
        if call is None or not delta or call.state == "done":
            self.quiet += 1  # of a call that the provider runs
            return
        if call.kind == "custom":
            delta = msgspec.json.encode(delta)[1:-1].decode()
        call.pieces.append(delta)
        self._events.append(ToolCallDelta(call.item_id, None, delta, call.index))

    def tool_call_length(self, key: Hashable) -> int:
        """How many characters of arguments have come."""
        call = self._calls.get(key)
        return 0 if call is None else sum(map(len, call.pieces))

    def tool_call_extra(self, key: Hashable, *, signature: str | None = None, **extra: Any) -> None:
        """What the adapter must send back with this call: a signature, and anything else by name."""
        call = self._calls.get(key)
        if call is None:
            return
        call.signature = signature or call.signature
        if extra:
            call.extra = {**(call.extra or {}), **_kept(extra)}

    def tool_call_done(self, key: Hashable, *, cut: bool = False) -> None:
        """The call is whole; with `cut` the wire itself says that it is not.

        A call without argument text stays open until the next part or the end shows whether the model
        had nothing to say or was cut before it could.
        """
        call = self._calls.get(key)
        if call is None or call.state != "open":
            return
        self._settle()
        if cut or call.pieces:
            self._finish_call(call, cut=cut)
        else:
            call.state = "closing"
            self._closing = call

    def _settle(self) -> None:
        if self._closing is not None:
            call, self._closing = self._closing, None
            self._finish_call(call)

    def _finish_call(self, call: ToolCall, *, cut: bool = False, turn_cut: bool = False) -> None:
        """Close a call that the wire calls cut (`cut`), or whose whole turn ended early (`turn_cut`)."""
        if call.kind == "custom":
            call.pieces.append('"')
            self._events.append(ToolCallDelta(call.item_id, None, '"', call.index))
            call.complete = not cut and not turn_cut
        elif call.pieces:
            call.complete = not cut and json_text.is_json("".join(call.pieces))
        else:
            call.complete = not cut and not turn_cut
        call.complete = call.complete and bool(call.name)  # what has no name cannot be run
        call.state = "done"
        self._events.append(
            ToolCallDone(call.item_id, call.call_id, call.name, call.arguments(), call.complete, call.index)
        )

    def _unique(self, id: str, number: int) -> str:
        while id in self._ids:
            id = f"{id}_{number}"
        self._ids.add(id)
        return id

    # What the provider does by itself

    def provider_block(self, key: Hashable, format: str, data: Any) -> None:
        """A block that is kept as it is, for replay. A second one under the same key replaces its data."""
        part, data = self._providers.get(key), _kept(data)
        if part is None:
            part = self._providers[key] = Provider(self._next_index(), format, data)
            self._parts.append(part)
        else:
            part.data = data

    def server_tool_call(self, key: Hashable, id: str, name: str, input: Any) -> None:
        """The provider runs a tool of its own."""
        self._events.append(ServerToolCall(id, name, input, self._place(key)))

    def server_tool_result(self, key: Hashable, id: str, name: str, output: Any) -> None:
        """What that tool gave."""
        self._events.append(ServerToolResult(id, name, output, self._place(key)))

    def web_search_status(
        self, key: Hashable, status: SearchStatus, *, query: str | None = None, url: str | None = None
    ) -> None:
        """A search of the provider's goes on."""
        self._events.append(WebSearchStatus(status, query, url, self._place(key)))

    def web_search_done(self, key: Hashable, query: str, sources: list[Source]) -> None:
        """A search of the provider's has finished."""
        self._events.append(WebSearchDone(query, sources, self._place(key)))

    def file(
        self,
        media_type: str,
        *,
        data: str | None = None,
        url: str | None = None,
        signature: str | None = None,
    ) -> None:
        """A generated image, audio or file: base64 data or a URL; some providers sign it.

        What is sloppy base64 is written well; what is no base64 at all is no file, and counted.
        """
        if url is not None and inline_data.is_data_url(url):
            try:
                data, url = inline_data.encode(inline_data.read_data_url(url).data), None
            except ValueError:
                self.unknown["file:malformed data URL"] += 1
                return
        if data is not None:
            data = inline_data.repair(data)
            if data is None:
                self.unknown["file:not base64"] += 1
                return
        part = File(self._next_index(), media_type, data, url, signature)
        self._parts.append(part)
        self._events.append(FileDone(media_type, data, url, part.index))

    def guardrail_tripwire(self, guardrail_id: str, reason: str, phase: GuardrailPhase) -> None:
        """A guardrail of the provider's blocked the prompt or the answer."""
        self._events.append(GuardrailTripwire(guardrail_id, reason, phase))

    def _place(self, key: Hashable) -> int | None:
        part = self._providers.get(key) or self._texts.get(key)
        if part is None and self._texts:
            part = next(reversed(self._texts.values()))
        return None if part is None else part.index

    def _next_index(self) -> int:
        self._settle()
        return len(self._parts)
