"""Turns and options -> the body of a request to Ollama's `/api/chat`.

Sources: https://docs.ollama.com/api/chat, the server's `api.ChatRequest`
(https://github.com/ollama/ollama/blob/main/api/types.go), the `ollama` SDK 0.6.3 and public recordings of its
clients, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from plait.errors import InvalidDataError
from plait.messages import FilePart, ImagePart, ReasoningContent, TextPart
from plait.wire import media
from plait.wire.history import Call, HistoryRules, Result, Turn
from plait.wire.ollama_chat import mapping
from plait.wire.openai_chat.content import file_text, kind
from plait.wire.options import NamedTool, OutputSchema, Reasoning, ToolDefinition
from plait.wire.plan import Notes
from plait.wire.requests import Asked
from plait.wire.tool_schemas import chosen, function_tool

SOURCE = "https://docs.ollama.com/api/chat"
_THINKING = "https://docs.ollama.com/capabilities/thinking"

_NAMES = r"(?s).+"
"""Names of tools: no rule is known."""

_OPTIONS = {
    "max_output_tokens": "num_predict",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop",
    "seed": "seed",
}
"""What stands in `options`, under which name."""

_TAKES = "text, and images as data"

_LEVELS: Mapping[str, str] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
"""`think` for an effort."""

_ALWAYS_THINKS = "gpt-oss"
"""In the name of a model that thinks at one of the levels, and takes no other `think`."""


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What Ollama takes of a history: any order of roles; arguments as objects."""
    return HistoryRules(
        sends=lambda made: made == mapping.FORMAT,
        name_pattern=_NAMES,
        object_arguments=True,
        result_media=False,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The body.

    Raises:
        InvalidDataError: a part that Ollama does not take, a choice of a tool that is not there, or nothing
            to send
    """
    wanted = asked.options
    body: dict[str, Any] = {"model": wanted.model} if wanted.model is not None else {}
    body["messages"] = _Messages(notes).write(turns)
    if not body["messages"]:
        raise InvalidDataError("messages: nothing of them can be sent; add a user message")
    body["stream"] = wanted.stream  # the default is true
    _tools(body, asked, notes)
    _output(body, asked, notes)
    _reasoning(body, asked.take("reasoning"), notes, wanted.model)
    options = {field: value for name, field in _OPTIONS.items() if (value := asked.take(name)) is not None}
    if options:
        body["options"] = options
    asked.drop("web_search", "searching is another API: give the model a tool that calls it", SOURCE)
    asked.drop("prompt_cache", "the server caches by itself; how long is said with `keep_alive`", SOURCE)
    asked.take("include_usage")  # usage is in every response
    return body


def _tools(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    """The tools. None can be forced, and `none` can only be said by leaving them out."""
    given: list[ToolDefinition] = asked.take("tools") or []
    asked.drop("parallel_tool_calls", "there is no such option", SOURCE)
    if not given:
        asked.drop("tool_choice", "there are no tools to choose from")
        return
    choice = asked.take("tool_choice")
    sent = chosen(given, choice)
    for what, tool in sent.items():
        if tool.strict:
            notes.add("dropped", f"{what}.strict", "there is no such option", SOURCE)
    if isinstance(choice, NamedTool):
        why = f"{choice.name!r} is the only tool that is sent: that it is called cannot be forced"
        notes.add("demoted", "tool_choice", why, SOURCE)
    elif choice == "required":
        notes.add("dropped", "tool_choice", "that a tool is called cannot be forced", SOURCE)
    elif choice == "none":
        notes.add("dropped", "tools", "tool_choice 'none' cannot be said: no tools are sent", SOURCE)
        return
    body["tools"] = [function_tool(tool, what, _NAMES, notes) for what, tool in sent.items()]


def _output(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    wanted = asked.take("output")
    if wanted is None:
        return
    body["format"] = "json"
    if isinstance(wanted, OutputSchema):
        body["format"] = wanted.json_schema
        if wanted.description is not None:
            notes.add("dropped", "output.description", "the model is not shown the schema", SOURCE)
        if wanted.strict is False:
            notes.add("dropped", "output.strict", "the schema is always kept to", SOURCE)
    if "tools" in body:
        notes.add("demoted", "tools", "the form of the answer keeps the model from calling them", SOURCE)


def _reasoning(body: dict[str, Any], wanted: Reasoning | None, notes: Notes, model: str | None) -> None:
    """`think`: whether, or how much. A model that cannot is refused by the server."""
    if wanted is None:
        return
    if wanted.summary is not None:
        notes.add("dropped", "reasoning.summary", "there is no such option", _THINKING)
    if wanted.budget_tokens:
        notes.add("dropped", "reasoning.budget_tokens", "there is no such option", _THINKING)
    if wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0:
        body["think"] = False
        if _ALWAYS_THINKS in (model or ""):
            body["think"] = "low"
            notes.add("clamped", "reasoning", "this model always thinks: 'low' is the least", _THINKING)
    elif wanted.effort is not None:
        body["think"] = _LEVELS[wanted.effort]
        if body["think"] != wanted.effort:
            why = f"{wanted.effort!r} is not among low, medium, high: {body['think']!r}"
            notes.add("clamped", "reasoning.effort", why, _THINKING)
    elif wanted.enabled or wanted.budget_tokens is not None:
        body["think"] = True


class _Messages:
    """Writes turns as messages. Their `content` is always one text."""

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
                messages.append({"role": turn.role, **self._said(turn)})
        return messages

    # What others say

    def _said(self, turn: Turn) -> dict[str, Any]:
        shown = [
            ("text", item.text) if isinstance(item, TextPart) else self._media(item, path)
            for item, path in zip(turn.items, turn.paths, strict=True)
            if isinstance(item, TextPart | ImagePart | FilePart)
        ]
        if len(list(groupby(name for name, _ in shown))) > 2:
            why = "images stand beside the text: which text each stood between is not said"
            self._notes.add("moved", turn.paths[0].partition(".")[0], why, SOURCE)
        said: dict[str, Any] = {"content": "\n".join(value for name, value in shown if name == "text")}
        images = [value for name, value in shown if name == "image"]
        return {**said, "images": images} if images else said

    def _media(self, item: ImagePart | FilePart, path: str) -> tuple[str, str]:
        """What an image or file is sent as, and its base64 or text."""
        found = media.media(item, path)
        if found.url is not None:
            raise found.refused(_TAKES, "fetch it with `part.resolve()`")
        if kind(item, found) == "image":
            if isinstance(item, ImagePart) and item.detail is not None:
                self._notes.add("dropped", f"{path}.detail", "there is no such option", SOURCE)
            return "image", found.data or ""
        text = file_text(found, self._notes)
        if text is None:
            raise found.refused(_TAKES, "leave it out, or say in text what it holds")
        return "text", text

    def _result(self, result: Result) -> dict[str, Any]:
        if result.is_error:
            self._notes.add("demoted", result.path, "a failure is told in the text: there is no mark for it")
        call = result.call
        known = {"tool_call_id": call.native_id} if call.native_id is not None else {}
        return {"role": "tool", "tool_name": call.name, **known, "content": result.marked_text}

    # The assistant's

    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        said = thought = ""
        calls: list[dict[str, Any]] = []
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    if item.refusal:
                        self._notes.add("demoted", path, "a refusal is sent as plain text")
                    said += item.text
                case ReasoningContent():
                    thought += "".join(detail.text or "" for detail in item.details)
                case Call():
                    known = {"id": item.native_id} if item.native_id is not None else {}
                    function = {"name": item.name, "arguments": item.input}
                    calls.append({**known, "type": "function", "function": function})
                case _:
                    self._notes.add("dropped", path, "an assistant message holds text, thinking and calls")
        if not said and not thought and not calls:
            self._notes.add("dropped", turn.paths[0].partition(".")[0], "nothing of it can be sent")
            return []
        made: dict[str, Any] = {"role": "assistant", "content": said}
        if thought:
            made["thinking"] = thought
        if calls:
            made["tool_calls"] = calls
        return [made]
