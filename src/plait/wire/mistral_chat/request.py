"""Turns and options -> the body of a request to Mistral's chat API.

Sources: the `mistralai` SDK 3.7 (`ChatCompletionRequest`, which refuses fields it does not know: 422),
https://docs.mistral.ai/api and public recordings of its clients, as of 2026-11.
"""

from __future__ import annotations

from typing import Any

from plait import json_text
from plait.errors import InvalidDataError
from plait.events import ReasoningPart
from plait.messages import (
    FilePart,
    ImagePart,
    ProviderPart,
    ReasoningContent,
    TextPart,
)
from plait.wire import media
from plait.wire.history import Call, HistoryRules, Result, Turn, sent_name
from plait.wire.media import Media
from plait.wire.mistral_chat import mapping
from plait.wire.openai_chat.content import any_url, file_text, kind
from plait.wire.options import NamedTool, OutputSchema, ToolDefinition
from plait.wire.plan import Notes
from plait.wire.requests import Asked

SOURCE = "https://docs.mistral.ai/api/endpoint/chat"

_IDS = r"[a-zA-Z0-9]{9}|chatcmpl-tool-[0-9a-f]+"
"""Ids of calls: nine letters and digits, or, from models that it serves with vLLM, that one's: recorded."""
_NAMES = r"[a-zA-Z0-9_-]{1,64}"
_FIELDS = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop",
    "seed": "random_seed",
    "metadata": "metadata",
    "service_tier": "service_tier",
}
"""The field of each plain option."""

_BETWEEN = "'OK' of the assistant's before it: a user message may not follow a tool's"
_TAKES = "text, images, documents (PDF and office files) and sound"


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What Mistral takes of a history. Ids are nine letters and digits; roles must alternate."""
    return HistoryRules(
        sends=lambda made: made == mapping.FORMAT,
        late_system="user",
        merge=frozenset({"user", "assistant"}),
        id_pattern=_IDS,
        id_length=9,
        unique_ids=True,
        name_pattern=_NAMES,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The body.

    Raises:
        InvalidDataError: a part that Mistral does not take, or a choice of a tool that is not there
    """
    options = asked.options
    body: dict[str, Any] = {"model": options.model} if options.model is not None else {}
    body["messages"] = _Messages(notes).write(turns)
    for name, field in _FIELDS.items():
        value = asked.take(name)
        if value is not None:
            body[field] = value
    _tools(body, asked, notes)
    _output(body, asked, notes)
    _reasoning(body, asked, notes)
    cache = asked.take("prompt_cache")
    if cache is not None and cache.key is not None:
        body["prompt_cache_key"] = cache.key
    if cache is not None and cache.ttl is not None:
        notes.add("dropped", "prompt_cache.ttl", "it cannot be chosen", SOURCE)
    asked.drop("web_search", "the chat API has no search; agents have", SOURCE)
    asked.take("include_usage")  # usage is in every response, and there is no `stream_options`
    if options.stream:
        body["stream"] = True
    return body


def _tools(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    given: list[ToolDefinition] = asked.take("tools") or []
    if not given:
        asked.drop("tool_choice", "there are no tools to choose from")
        asked.drop("parallel_tool_calls", "there are no tools to call")
        return
    body["tools"] = [_tool(tool, f"tools[{number}]", notes) for number, tool in enumerate(given)]
    choice = asked.take("tool_choice")
    if isinstance(choice, NamedTool):
        if not any(tool.name == choice.name for tool in given):
            raise InvalidDataError(f"tool_choice: no tool is named {choice.name!r}")
        body["tool_choice"] = {"type": "function", "function": {"name": sent_name(choice.name, _NAMES)}}
    elif choice is not None:
        body["tool_choice"] = "any" if choice == "required" else choice
    parallel = asked.take("parallel_tool_calls")
    if parallel is not None:
        body["parallel_tool_calls"] = parallel


def _tool(tool: ToolDefinition, path: str, notes: Notes) -> dict[str, Any]:
    name = sent_name(tool.name, _NAMES)
    if name != tool.name:
        notes.add("renamed", f"{path}.name", f"{tool.name[:64]!r} is no name here: sent as {name!r}", SOURCE)
    parameters = dict(tool.parameters)
    if tool.kind == "custom":
        notes.add("demoted", path, "a custom tool is sent as a function with one text, `input`", SOURCE)
        parameters = {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
        }
    function: dict[str, Any] = {"name": name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _output(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    wanted = asked.take("output")
    if isinstance(wanted, OutputSchema):
        schema: dict[str, Any] = {"name": wanted.name}
        if wanted.description is not None:
            schema["description"] = wanted.description
        schema["schema"] = wanted.json_schema
        if wanted.strict is not None:
            schema["strict"] = wanted.strict
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif wanted is not None:
        body["response_format"] = {"type": "json_object"}


def _reasoning(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    """`reasoning_effort` is on (`high`) or off (`none`)."""
    wanted = asked.take("reasoning")
    if wanted is None:
        return
    for name in ("budget_tokens", "summary"):
        if getattr(wanted, name) is not None:
            notes.add("dropped", f"reasoning.{name}", "there is no such option", SOURCE)
    if wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0:
        body["reasoning_effort"] = "none"
    elif wanted.enabled or wanted.effort is not None or wanted.budget_tokens is not None:
        body["reasoning_effort"] = "high"
        if wanted.effort not in (None, "high"):
            notes.add(
                "clamped", "reasoning.effort", f"{wanted.effort!r} is sent as 'high': it is on or off", SOURCE
            )


class _Messages:
    """Writes turns as messages."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def write(self, turns: list[Turn]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for turn in turns:
            if turn.role == "assistant":
                messages += self._assistant(turn)
            elif turn.role == "tool":
                messages += [self._result(item) for item in turn.items if isinstance(item, Result)]
            else:
                if turn.role == "user" and messages and messages[-1]["role"] == "tool":
                    self._notes.add("added", turn.paths[0].partition(".")[0], _BETWEEN, SOURCE)
                    messages.append({"role": "assistant", "content": "OK"})
                said = [item for item in turn.items if isinstance(item, TextPart | ImagePart | FilePart)]
                messages.append({"role": turn.role, "content": self._content(said, turn.paths)})
        last = messages[-1] if messages else {}
        if last.get("role") == "assistant" and "tool_calls" not in last:
            last["prefix"] = True
            why = "the last message is the assistant's: it is the beginning of the answer"
            self._notes.add("added", "prefix", why, SOURCE)
        return messages

    # The assistant's

    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    self._text(item, path, parts)
                case ReasoningContent():
                    parts += [_thinking(detail) for detail in item.details]
                case ProviderPart():
                    parts.append(dict(item.data) if isinstance(item.data, dict) else {})
                case Call():
                    function = {"name": item.name, "arguments": item.arguments}
                    calls.append({"id": item.id, "type": "function", "function": function})
                case _:
                    self._notes.add("dropped", path, "an assistant message holds text, thinking and calls")
        if not parts and not calls:
            self._notes.add("dropped", turn.paths[0].partition(".")[0], "nothing of it can be sent")
            return []
        texts = all(part["type"] == "text" for part in parts)
        content: Any = "".join(part["text"] for part in parts) if texts else parts
        return [
            {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})},
        ]

    def _text(self, item: TextPart, path: str, parts: list[dict[str, Any]]) -> None:
        """Text, with its references where they stood in it."""
        if item.refusal:
            self._notes.add("demoted", path, "a refusal is sent as plain text")
        at = 0
        for citation in item.citations or ():
            place = min(max(citation.start or 0, at), len(item.text))
            if isinstance(citation.data, dict):
                if place > at:
                    parts.append({"type": "text", "text": item.text[at:place]})
                parts.append(dict(citation.data))
                at = place
        if item.text[at:]:
            parts.append({"type": "text", "text": item.text[at:]})

    # What others say

    def _content(self, items: list[TextPart | ImagePart | FilePart], paths: list[str]) -> Any:
        made = [self._part(item, path) for item, path in zip(items, paths, strict=True)]
        if len(made) == 1 and made[0]["type"] == "text":
            return made[0]["text"]
        return made

    def _part(self, item: TextPart | ImagePart | FilePart, path: str) -> dict[str, Any]:
        if isinstance(item, TextPart):
            return {"type": "text", "text": item.text}
        found = media.media(item, path)
        match kind(item, found):
            case "image":
                detail = {"detail": item.detail} if isinstance(item, ImagePart) and item.detail else {}
                return {"type": "image_url", "image_url": {"url": any_url(found), **detail}}
            case "sound":
                return {"type": "input_audio", "input_audio": found.url or found.data}
            case "video":
                raise found.refused(_TAKES, "leave it out")
        text = file_text(found, self._notes)
        return {"type": "text", "text": text} if text is not None else _document(found)

    def _result(self, result: Result) -> dict[str, Any]:
        content: Any = result.marked_text
        if any(not isinstance(part, TextPart) for part in result.parts):
            content = self._content(result.parts, [result.path] * len(result.parts))
        if result.is_error:
            self._notes.add("demoted", result.path, "a failure is told in the text: there is no mark for it")
        call = result.call
        return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content}


def _document(found: Media) -> dict[str, Any]:
    name = {"document_name": found.filename} if found.filename else {}
    return {"type": "document_url", "document_url": any_url(found), **name}


def _thinking(detail: ReasoningPart) -> dict[str, Any]:
    """A `thinking` part. Where it held more than text, `data` is its whole list."""
    items = (
        json_text.loads(detail.data)
        if detail.data is not None
        else [{"type": "text", "text": detail.text or ""}]
    )
    signed = {"signature": detail.signature} if detail.signature is not None else {}
    return {"type": "thinking", "thinking": items, **signed}
