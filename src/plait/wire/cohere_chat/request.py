"""Turns and options -> the body of a request to Cohere's `/v2/chat`.

Sources: https://docs.cohere.com/v2/reference/chat, the types and texts of the `cohere` SDK 7.3.1 and public
recordings of its clients, as of 2026-11. Fields that Cohere does not know are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from plait.errors import InvalidDataError
from plait.messages import (
    ErrorJson,
    ErrorText,
    FilePart,
    ImagePart,
    ReasoningContent,
    TextPart,
)
from plait.wire import media
from plait.wire.cohere_chat import mapping
from plait.wire.cohere_chat.schemas import fitted
from plait.wire.history import Call, HistoryRules, Result, Turn
from plait.wire.instructions import output_words, say
from plait.wire.openai_chat.content import any_url, file_text, kind
from plait.wire.options import NamedTool, OutputSchema, ToolDefinition
from plait.wire.plan import Notes
from plait.wire.requests import Asked
from plait.wire.tool_schemas import chosen, function_tool

SOURCE = "https://docs.cohere.com/v2/reference/chat"
_THINKING = "https://docs.cohere.com/docs/reasoning"

_NAMES = r"[a-zA-Z0-9_-]{1,64}"
_FIELDS = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "p",
    "top_k": "k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop_sequences",
    "seed": "seed",
}
"""The field of each plain option."""

_BOUNDS: Mapping[str, tuple[float, float]] = {
    "top_p": (0.01, 0.99),
    "top_k": (0, 500),
    "presence_penalty": (0.0, 1.0),
    "frequency_penalty": (0.0, 1.0),
}
"""The least and the most that is taken."""

_STOPS = 5
"""At most this many stop sequences are taken."""

_UNFORCED = r"command-r(-plus)?(-0\d-2024)?"
"""Models older than Command R7B: they take no `tool_choice`."""

_TAKES = "text and images"


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What Cohere takes of a history: any order of roles; only text as a tool's result."""
    return HistoryRules(
        sends=lambda made: made in (mapping.FORMAT, mapping.PLAN_FORMAT),
        name_pattern=_NAMES,
        result_media=False,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The body.

    Raises:
        InvalidDataError: a part that Cohere does not take, a choice of a tool that is not there, or nothing
            to send
    """
    options = asked.options
    body: dict[str, Any] = {"model": options.model} if options.model is not None else {}
    messages = body["messages"] = _Messages(notes).write(turns)
    if not messages:
        raise InvalidDataError("messages: nothing of them can be sent; add a user message")
    if messages[-1]["role"] == "assistant":
        why = "the last message must be the user's or a tool's: an answer cannot be begun"
        notes.add("will_be_refused", "messages[-1]", why, SOURCE)
    for name, field in _FIELDS.items():
        value = asked.take(name)
        if value is not None:
            body[field] = _clamped(name, value, notes)
    _tools(body, asked, notes)
    _output(body, asked, notes)
    _reasoning(body, asked, notes)
    asked.drop("web_search", "there is no search here", SOURCE)
    asked.drop("prompt_cache", "prompts are cached always, and nothing of it can be chosen", SOURCE)
    asked.take("include_usage")  # usage is in every response
    if options.stream:
        body["stream"] = True
    return body


def _clamped(name: str, value: Any, notes: Notes) -> Any:
    if name == "stop" and len(value) > _STOPS:
        notes.add("clamped", name, f"at most {_STOPS} texts", SOURCE)
        return value[:_STOPS]
    if name not in _BOUNDS:
        return value
    least, most = _BOUNDS[name]
    taken = min(max(value, least), most)
    if taken != value:
        notes.add("clamped", name, f"{value:g} to {taken:g}: it goes from {least:g} to {most:g}", SOURCE)
    return taken


def _tools(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    given: list[ToolDefinition] = asked.take("tools") or []
    asked.drop("parallel_tool_calls", "there is no such option", SOURCE)
    if not given:
        asked.drop("tool_choice", "there are no tools to choose from")
        return
    choice = asked.take("tool_choice")
    sent = chosen(given, choice)
    if isinstance(choice, NamedTool):
        why = f"no tool can be named: {choice.name!r} is the only one that is sent, and must be called"
        notes.add("demoted", "tool_choice", why, SOURCE)
    body["tools"] = [function_tool(tool, what, _NAMES, notes) for what, tool in sent.items()]
    if all(tool.strict for tool in sent.values()):
        body["strict_tools"] = True
    elif any(tool.strict for tool in sent.values()):
        notes.add("dropped", "tools.strict", "it is for all tools or for none", SOURCE)
    if choice is not None and choice != "auto":
        body["tool_choice"] = "NONE" if choice == "none" else "REQUIRED"
        if re.fullmatch(_UNFORCED, asked.options.model or ""):
            why = "this model takes none: Command R7B and later ones do"
            notes.add("will_be_refused", "tool_choice", why, SOURCE)


def _output(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    """`response_format`, which is refused beside tools and documents: then it is asked for in words."""
    wanted: OutputSchema | str | None = asked.take("output")
    if wanted is None:
        return
    beside = [name for name in ("tools", "documents") if name in body or asked.options.extra.get(name)]
    if beside:
        why = f"`response_format` is refused beside `{beside[0]}`: it is asked for in words"
        notes.add("demoted", "output", why, SOURCE)
        say(body["messages"], output_words(wanted), notes)
        return
    body["response_format"] = {"type": "json_object"}
    if isinstance(wanted, OutputSchema):
        body["response_format"]["json_schema"] = fitted(wanted.json_schema, "output", notes)
        for name in ("description", "strict"):
            if getattr(wanted, name) not in (None, True):
                notes.add("dropped", f"output.{name}", "there is no such option", SOURCE)
    else:  # without a schema it may write white space without end
        say(body["messages"], output_words(wanted), notes, unless_json=True)


def _reasoning(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    """`thinking`: on or off, and how many tokens."""
    wanted = asked.take("reasoning")
    if wanted is None:
        return
    if wanted.summary is not None:
        notes.add("dropped", "reasoning.summary", "there is no such option", _THINKING)
    if wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0:
        body["thinking"] = {"type": "disabled"}
    elif wanted.enabled or wanted.effort is not None or wanted.budget_tokens is not None:
        body["thinking"] = {"type": "enabled"}
        if wanted.budget_tokens is not None:
            body["thinking"]["token_budget"] = wanted.budget_tokens
        if wanted.effort is not None:
            why = f"{wanted.effort!r}: thinking is on or off, or has a budget of tokens"
            notes.add("demoted", "reasoning.effort", why, _THINKING)


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
                parts = [
                    self._part(item, path)
                    for item, path in zip(turn.items, turn.paths, strict=True)
                    if isinstance(item, TextPart | ImagePart | FilePart)
                ]
                messages.append({"role": turn.role, "content": _shortened(parts)})
        return messages

    # What others say

    def _part(self, item: TextPart | ImagePart | FilePart, path: str) -> dict[str, Any]:
        if isinstance(item, TextPart):
            return {"type": "text", "text": item.text}
        found = media.media(item, path)
        if kind(item, found) == "image":
            detail = {"detail": item.detail} if isinstance(item, ImagePart) and item.detail else {}
            return {"type": "image_url", "image_url": {"url": any_url(found), **detail}}
        text = file_text(found, self._notes)
        if text is None:
            remedy = "leave it out, or say in text what it holds"
            if found.url is not None and found.is_text:
                remedy = "fetch it with `part.resolve()`: its text is taken"
            raise found.refused(_TAKES, remedy)
        return {"type": "text", "text": text}

    def _result(self, result: Result) -> dict[str, Any]:
        content: Any = _shortened([{"type": "text", "text": part.text} for part in _texts(result)])
        if isinstance(result.output, ErrorText | ErrorJson):
            content = json.dumps({"error": result.output.value}, ensure_ascii=False, separators=(",", ":"))
        if result.is_error:
            self._notes.add("demoted", result.path, "a failure is told in the text: there is no mark for it")
        return {"role": "tool", "tool_call_id": result.call.id, "content": content or ""}

    # The assistant's

    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        plan = ""
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    self._text(item, path, content)
                case ReasoningContent():
                    plan += self._reasoning(item, content)
                case Call():
                    function = {"name": item.name, "arguments": item.arguments}
                    calls.append({"id": item.id, "type": "function", "function": function})
                case _:
                    self._notes.add("dropped", path, "an assistant message holds text, thinking and calls")
        if not content and not calls:
            self._notes.add("dropped", turn.paths[0].partition(".")[0], "nothing of it can be sent")
            return []
        made: dict[str, Any] = {"role": "assistant"}
        if content:
            made["content"] = _shortened(content)
        if plan:
            made["tool_plan"] = plan
        if calls:
            made["tool_calls"] = calls
        return [made]

    def _text(self, item: TextPart, path: str, content: list[dict[str, Any]]) -> None:
        if item.refusal:
            self._notes.add("demoted", path, "a refusal is sent as plain text")
        if item.citations:
            self._notes.add("dropped", f"{path}.citations", "an answer is sent back without them", SOURCE)
        if item.text:
            content.append({"type": "text", "text": item.text})

    def _reasoning(self, item: ReasoningContent, content: list[dict[str, Any]]) -> str:
        """Puts what was thought into the content; returns what was a plan."""
        plan = ""
        for detail in item.details:
            if detail.format == mapping.PLAN_FORMAT:
                plan += detail.text or ""
            elif detail.text:
                content.append({"type": "thinking", "thinking": detail.text})
        return plan


def _texts(result: Result) -> list[TextPart]:
    """The texts of a result: images and files have been moved out of it."""
    return [part for part in result.parts if isinstance(part, TextPart)]


def _shortened(parts: list[dict[str, Any]]) -> Any:
    """A lone text as a bare string."""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts
