"""Turns and options -> the body of a Chat Completions request, by the row of the server's dialect.

Source: the `openai` SDK 3.57 (`CompletionCreateParams`); what the other servers do otherwise is in
`dialects.py`, with its sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from plait.events import ReasoningPart
from plait.messages import (
    FilePart,
    ImagePart,
    ProviderPart,
    ReasoningContent,
    TextPart,
)
from plait.wire.history import Call, HistoryRules, Item, Result, Turn
from plait.wire.instructions import say
from plait.wire.openai_chat import asking, mapping, models
from plait.wire.openai_chat.content import UserContent
from plait.wire.openai_chat.dialects import DIALECTS, UNKNOWN, Dialect
from plait.wire.plan import Notes
from plait.wire.requests import Asked

FORMAT = "openai-chat"
"""Format of parts whose `extra` this wire made."""

_VENDORS = {
    "anthropic-claude": "anthropic",
    "google-gemini": "google",
    "openai-responses": "openai",
    "azure-openai-responses": "openai",
    "bedrock-openai-responses": "openai",
    "xai-responses": "x-ai",
    "bedrock-xai-responses": "x-ai",
}
"""Whose models made a `reasoning_details` entry of a format (without its version)."""


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What the server takes of a history."""
    row = _row(dialect)
    model = asked.options.model

    def sends(made: str) -> bool:
        if made.startswith(f"{mapping.DETAIL_FORMAT}:"):
            return mapping.DETAIL_FORMAT in row.replays and _made_by(made, model)
        return made == FORMAT or made in row.replays

    return HistoryRules(
        sends=sends,
        late_system="user" if row.strict_roles else "inline",
        one_system=row.strict_roles,
        merge=frozenset({"user", "assistant"}) if row.strict_roles else frozenset(),
        id_pattern=row.id_pattern,
        name_pattern=asking.NAMES,
        custom_tools=row.custom_tools,
        result_media=row.result_media,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The body.

    Raises:
        InvalidDataError: a part or option that the server does not take
    """
    row, options = _row(dialect), asked.options
    warned = _warnable(asked, turns, row)
    fields: dict[str, Any] = {}
    for name, field in row.options.items():
        value = asked.take(name) if name != "parallel_tool_calls" or options.tools else None
        if value is not None:
            fields[field] = _clamped(name, value, row, notes)
    reasons = asking.reasoning(fields, asked, row, notes)
    asking.tools(fields, asked, row, notes)
    words = asking.output(fields, asked, row, notes)
    mark = asking.prompt_cache(fields, asked, row, notes)
    asking.web_search(fields, asked, row, notes)
    _stream(fields, asked, row, notes)
    for name, value in row.adds.items():
        fields[name] = value
        notes.add("added", name, f"{value!r}: the server's own default loses something silently", row.source)
    messages = _Messages(row, notes, thinks=reasons).write(turns)
    if words is not None:
        json_mode = "response_format" in fields and options.output == "json"
        say(messages, words, notes, unless_json=json_mode)  # JSON mode is refused where none says JSON
    if mark is not None:
        _mark(messages, mark)
    if row.keeps and any(message.keys() & row.replays for message in messages):
        asking.merge(fields, row.keeps)
        notes.add("added", next(iter(row.keeps)), "else the reasoning in the history is not read", row.source)
    for what, why, source in models.refused(dialect, options.model, warned, reasons, options.stream):
        notes.add("will_be_refused", what, why, source)
    for name in type(options).model_fields:
        asked.drop(name, "there is no such option here", row.source)
    named = {"model": options.model} if options.model is not None else {}
    return {**named, "messages": messages, **fields}


def _row(dialect: str | None) -> Dialect:
    return UNKNOWN if dialect is None else DIALECTS[dialect]


def _made_by(format_: str, model: str | None) -> bool:
    """Whether an entry may be of this model: OpenRouter takes a vendor's entries for its own models only."""
    inner = format_.partition(":")[2].rpartition("#")[0]
    vendor = _VENDORS.get(re.sub(r"-v\d+$", "", inner))
    asked = (model or "").lstrip("~").partition("/")[0]
    return vendor is None or asked not in _VENDORS.values() or vendor == asked


def _warnable(asked: Asked, turns: list[Turn], row: Dialect) -> dict[str, Any]:
    """What was asked for and is sent, under the names of `models.RULES`."""
    options = asked.options
    sent = {
        *row.options,
        "reasoning",
        *(("tools",) if row.tools else ()),
        *(("web_search",) if row.search else ()),
    }
    warned = {name: getattr(options, name) for name in sent if name in asked}
    warned["model"] = options.model
    choice = options.tool_choice
    if options.tools and choice is not None and choice not in ("auto", "none"):
        warned["forced_choice"] = True
    if any(turn.role == "system" for turn in turns):
        warned["system"] = True
    return warned


def _clamped(name: str, value: Any, row: Dialect, notes: Notes) -> Any:
    if name == "stop" and row.stops is not None and len(value) > row.stops:
        notes.add("clamped", "stop", f"at most {row.stops} texts", row.source)
        return value[: row.stops]
    return value


def _stream(fields: dict[str, Any], asked: Asked, row: Dialect, notes: Notes) -> None:
    wanted = asked.take("include_usage")
    if not asked.options.stream:
        return  # a whole body always says it
    fields["stream"] = True
    if row.usage == "refused":
        if wanted:
            notes.add(
                "dropped", "include_usage", "usage is in every stream, and may not be asked for", row.source
            )
    elif wanted or (wanted is None and row.usage == "asked"):
        fields["stream_options"] = {"include_usage": True}


def _mark(messages: list[dict[str, Any]], mark: dict[str, Any]) -> None:
    """Mark where the cached beginning may end: after the system text, and after the history."""
    system = [message for message in messages if message["role"] == "system"]
    for message in (*system[-1:], messages[-1]):
        if isinstance(message.get("content"), str):
            message["content"] = [{"type": "text", "text": message["content"]}]
        if message.get("content"):
            message["content"][-1]["cache_control"] = mark


class _Messages:
    """Writes turns as messages.

    Args:
        thinks: whether the model is asked to think; None where nothing is said
    """

    def __init__(self, row: Dialect, notes: Notes, *, thinks: bool | None) -> None:
        self._row = row
        self._notes = notes
        self._content = UserContent(row, notes)
        self._thinks = thinks

    def write(self, turns: list[Turn]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for turn in turns:
            if turn.role == "assistant":
                messages += self._assistant(turn)
            elif turn.role == "tool":
                messages += [self._result(item) for item in turn.items if isinstance(item, Result)]
            elif turn.role == "system":
                text = "\n\n".join(item.text for item in turn.items if isinstance(item, TextPart))
                messages.append({"role": "system", "content": text})
            else:
                said = [item for item in turn.items if isinstance(item, TextPart | ImagePart | FilePart)]
                messages.append({"role": "user", "content": self._content.parts(said, turn.paths)})
        last = messages[-1] if messages else {}
        if last.get("role") == "assistant" and self._row.prefix and "tool_calls" not in last:
            last[self._row.prefix] = True
            self._notes.add("added", self._row.prefix, "the last message is the beginning of the answer")
        return messages

    # The assistant's

    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        said: dict[str, Any] = {}
        calls: list[dict[str, Any]] = []
        spoken = self._row.spoken and any("audio_id" in _extra(item) for item in turn.items)
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    self._text(item, path, said)
                case ReasoningContent():
                    self._reasoning(item.details, said)
                case ProviderPart():
                    said.setdefault("reasoning_details", []).append(item.data)
                case Call():
                    calls.append(self._call(item, path, said))
                case FilePart() if spoken:
                    pass  # the sound that the id stands for
                case _:
                    self._notes.add("dropped", path, "an assistant message is text here, and calls")
        if "audio" in said:
            said.pop("content", None)
        if not said and not calls:
            if turn.items:
                self._notes.add("dropped", turn.paths[0].partition(".")[0], "nothing of it can be sent")
            return []
        needed = self._row.needs_reasoning
        if calls and needed and needed not in said and self._thinks is not False:
            said[needed] = ""
            self._notes.add("added", f"{turn.paths[0].partition('.')[0]}.{needed}", "empty", self._row.source)
        content = {} if "audio" in said else {"content": self._shown(said, calls)}
        made = {"tool_calls": calls} if calls else {}
        return [{"role": "assistant", **content, **said, **made}]

    def _shown(self, said: dict[str, Any], calls: list[dict[str, Any]]) -> str | None:
        text: str | None = said.pop("content", None)
        return text if text is not None or calls or "refusal" in said else ""

    def _text(self, item: TextPart, path: str, said: dict[str, Any]) -> None:
        extra = _extra(item)
        if self._row.spoken and "audio_id" in extra:
            said["audio"] = {"id": extra["audio_id"]}
        self._signature(extra.get("extra_content"), path, said)
        field = "refusal" if item.refusal and self._row.refusals else "content"
        if item.refusal and not self._row.refusals:
            self._notes.add("demoted", path, "a refusal is sent as plain text", self._row.source)
        said[field] = said.get(field, "") + item.text

    def _reasoning(self, details: Iterable[ReasoningPart], said: dict[str, Any]) -> None:
        for part in details:
            entry = mapping.reasoning_detail(part)
            if entry is not None:
                said.setdefault("reasoning_details", []).append(entry)
            elif part.format in mapping.REASONING_FIELDS:
                said[part.format] = said.get(part.format, "") + (part.text or "")

    def _call(self, call: Call, path: str, said: dict[str, Any]) -> dict[str, Any]:
        if not self._row.tools:
            self._notes.add("will_be_refused", path, "there are no tools here", self._row.source)
        made: dict[str, Any] = {"id": call.id, "type": call.kind}
        if call.kind == "custom":
            text = call.input
            made["custom"] = {"name": call.name, "input": text if isinstance(text, str) else call.arguments}
        else:
            made["function"] = {"name": call.name, "arguments": call.arguments}
        self._signature(call.extra.get("message_extra_content"), path, said)
        self._signature(call.extra.get("extra_content"), path, made)
        return made

    def _signature(self, extra: Any, path: str, where: dict[str, Any]) -> None:
        if extra is None:
            return
        if self._row.extra_content:
            where["extra_content"] = extra
        else:
            self._notes.add("dropped", f"{path}.extra", "`extra_content` is Google's", self._row.source)

    # Results

    def _result(self, result: Result) -> dict[str, Any]:
        content: Any = result.marked_text
        if any(not isinstance(part, TextPart) for part in result.parts):
            content = self._content.parts(result.parts, [result.path] * len(result.parts))
        if result.is_error:
            self._notes.add("demoted", result.path, "a failure is told in the text: there is no mark for it")
        return {"role": "tool", "tool_call_id": result.call.id, "content": content}


def _extra(item: Item) -> dict[str, Any]:
    return dict(item.extra or {}) if isinstance(item, TextPart | Call) else {}
