"""Turns and options -> the body of `POST /v1/responses`.

Sources: `ResponseCreateParams` of the `openai` SDK 3.57, https://platform.openai.com/docs/api-reference/responses
and recorded requests, as of 2026-11.
"""

from __future__ import annotations

import re
from typing import Any

from plait.errors import InvalidDataError
from plait.messages import ReasoningContent
from plait.wire.history import HistoryRules, Turn, sent_name
from plait.wire.openai_responses.dialects import Dialect, row
from plait.wire.openai_responses.input import InputWriter, system_text
from plait.wire.options import NamedTool, OutputSchema, PromptCache, Reasoning, ToolDefinition, WebSearch
from plait.wire.plan import Notes
from plait.wire.requests import Asked
from plait.wire.schemas import SOURCE, NotStrictError, strict_schema

_NAMES = r"[a-zA-Z0-9_-]{1,64}"
_API = "https://platform.openai.com/docs/api-reference/responses/create"
_CACHING = "https://platform.openai.com/docs/guides/prompt-caching"
_MIN_OUTPUT = 16
_ENCRYPTED = "reasoning.encrypted_content"

_PLAIN = {
    "max_output_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "parallel_tool_calls": "parallel_tool_calls",
    "metadata": "metadata",
    "previous_response_id": "previous_response_id",
    "service_tier": "service_tier",
}
"""Options that go as they are, and the field of each."""

_ABSENT = ("stop", "seed", "presence_penalty", "frequency_penalty", "top_k")
"""Options of Chat Completions that this API does not have."""

_REASONING_MODELS = re.compile(r"(?:openai[/.])?(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*chat))")
"""OpenAI's models that reason, by their names (https://platform.openai.com/docs/models)."""


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What the server takes of a history."""
    taken = row(dialect)
    limit = taken.call_id_length
    return HistoryRules(
        sends=lambda format_: format_ in taken.formats,
        id_pattern=rf"(?s).{{1,{limit}}}" if limit else r"(?s).+",
        name_pattern=_NAMES,
        custom_tools=True,
        continues=taken.stores and ("previous_response_id" in asked or "conversation" in asked.options.extra),
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The JSON body."""
    return _Request(row(dialect), asked, notes).body(turns)


class _Request:
    def __init__(self, taken: Dialect, asked: Asked, notes: Notes) -> None:
        self._row = taken
        self._asked = asked
        self._notes = notes
        self._model = asked.options.model or ""

    def body(self, turns: list[Turn]) -> dict[str, Any]:
        self._refuse()
        body: dict[str, Any] = {"model": self._model} if self._model else {}
        tools = [tool for tool in self._asked.options.tools if tool.kind == "custom"]
        custom = {sent_name(tool.name, _NAMES) for tool in tools}
        stored = self._row.stores and self._asked.options.store is not False
        turns = self._instructions(turns, body)
        body["input"] = InputWriter(self._row, stored, custom, self._notes).items(turns)
        reasoned = any(isinstance(item, ReasoningContent) for turn in turns for item in turn.items)
        self._plain(body)
        self._store(body)
        self._tools(body)
        self._text(body)
        self._reasoning(body, stored, reasoned)
        self._cache(body)
        user = self._asked.take("user")
        if user is not None:
            body[self._row.user] = user
        if self._asked.options.stream:
            body["stream"] = True
        if self._asked.take("include_usage") is False:
            self._notes.add("dropped", "include_usage", "usage is part of every response", _API)
        for name, value in self._row.forced:
            if body.get(name) != value:
                self._notes.add("added", name, f"the server demands {value!r}", self._row.source)
            body[name] = value
        return body

    def _refuse(self) -> None:
        for name in _ABSENT:
            self._asked.drop(name, "the Responses API has no such option", _API)
        if self._row.only is not None:
            for name in sorted(set(type(self._asked.options).model_fields) - self._row.only):
                self._asked.drop(name, "this server takes no such option", self._row.source)
        if not self._row.stores:
            why = "this server keeps no responses"
            self._asked.drop("previous_response_id", why, self._row.source)
            if self._asked.options.store:
                self._asked.drop("store", why, self._row.source)

    # The history

    def _instructions(self, turns: list[Turn], body: dict[str, Any]) -> list[Turn]:
        """Leading system text as `instructions`; later system text stays where it is."""
        leading = 0
        while leading < len(turns) and turns[leading].role == "system":
            leading += 1
        rest = turns[leading:]
        texts = [system_text(turn) for turn in turns[:leading]]
        if self._row.late_instructions:
            for turn in rest:
                if turn.role == "system":
                    why = "this server takes system text only as `instructions`"
                    self._notes.add("moved", turn.paths[0], why, self._row.source)
                    texts.append(system_text(turn))
            rest = [turn for turn in rest if turn.role != "system"]
            if not texts:
                why = "this server demands instructions: give a system message"
                self._notes.add("will_be_refused", "messages", why, self._row.source)
        elif not rest:
            return turns  # nothing but system text: there must be some input
        if texts:
            body["instructions"] = "\n\n".join(texts)
        return rest

    # Options

    def _plain(self, body: dict[str, Any]) -> None:
        reasoning: Reasoning | None = self._asked.options.reasoning
        reasons = self._row.refuses_sampling and self._is_reasoning_model() and not _is_off(reasoning)
        for name, field in _PLAIN.items():
            value = self._asked.take(name)
            if value is None:
                continue
            if reasons and name in ("temperature", "top_p"):
                self._notes.add("will_be_refused", name, f"{self._model} reasons, and takes none", _API)
            if name == "max_output_tokens" and value < _MIN_OUTPUT and self._row.refuses_sampling:
                self._notes.add("will_be_refused", name, f"at least {_MIN_OUTPUT} are demanded", _API)
            body[field] = value

    def _is_reasoning_model(self) -> bool:
        return _REASONING_MODELS.match(self._model) is not None

    def _store(self, body: dict[str, Any]) -> None:
        store = self._asked.take("store")
        if store is not None:
            body["store"] = store

    def _cache(self, body: dict[str, Any]) -> None:
        cache: PromptCache | None = self._asked.take("prompt_cache")
        if cache is None:
            return
        if cache.key is not None:
            body["prompt_cache_key"] = cache.key
        if cache.ttl == "30m":
            body["prompt_cache_options"] = {"ttl": "30m"}
        elif cache.ttl == "24h":
            body["prompt_cache_retention"] = "24h"
        elif cache.ttl is not None:
            self._notes.add(
                "dropped", "prompt_cache.ttl", f"{cache.ttl}: only 30m and 24h are offered", _CACHING
            )

    def _text(self, body: dict[str, Any]) -> None:
        output: OutputSchema | str | None = self._asked.take("output")
        verbosity = self._asked.take("verbosity")
        text: dict[str, Any] = {}
        if isinstance(output, OutputSchema):
            schema, strict = self._strict("output.json_schema", output.json_schema, bool(output.strict))
            text["format"] = {
                "type": "json_schema",
                "name": output.name,
                **({"description": output.description} if output.description else {}),
                "schema": schema,
                "strict": strict,
            }
        elif output is not None:
            text["format"] = {"type": "json_object"}
        if verbosity is not None:
            text["verbosity"] = verbosity
        if text:
            body["text"] = text

    def _reasoning(self, body: dict[str, Any], stored: bool, reasoned: bool) -> None:
        asked: Reasoning | None = self._asked.take("reasoning")
        made: dict[str, Any] = {}
        if asked is not None:
            if asked.effort is not None:
                made["effort"] = asked.effort
            elif asked.enabled is not None:
                made["effort"] = "medium" if asked.enabled else "none"
                self._notes.add(
                    "added", "reasoning.effort", f"{made['effort']!r}: effort is the only switch", _API
                )
            if asked.effort is not None and asked.enabled is False and asked.effort != "none":
                made["effort"] = "none"
                self._notes.add("dropped", "reasoning.effort", "reasoning is not enabled")
            if asked.budget_tokens is not None:
                self._notes.add("dropped", "reasoning.budget_tokens", "only an effort can be asked for", _API)
            if asked.summary not in (None, "none"):
                made["summary"] = asked.summary
        if made:
            body["reasoning"] = made
        expected = made.get("effort") != "none" and (bool(made) or reasoned or self._is_reasoning_model())
        if not stored and expected and self._row.encrypts:
            body["include"] = [_ENCRYPTED]

    # Tools

    def _tools(self, body: dict[str, Any]) -> None:
        definitions: list[ToolDefinition] | None = self._asked.take("tools")
        tools = [self._tool(number, tool) for number, tool in enumerate(definitions or ())]
        search: WebSearch | None = self._asked.take("web_search")
        if search is not None:
            tools.append(self._web_search(search, body))
        if tools:
            body["tools"] = tools
        choice: NamedTool | str | None = self._asked.take("tool_choice")
        if isinstance(choice, NamedTool):
            name = sent_name(choice.name, _NAMES)
            kinds = {tool["name"]: tool["type"] for tool in tools if "name" in tool}
            if name not in kinds and "tools" not in self._asked.options.extra:
                raise InvalidDataError(f"tool_choice: there is no tool {choice.name!r} in `tools`")
            body["tool_choice"] = {"type": kinds.get(name, "function"), "name": name}
        elif choice is not None:
            body["tool_choice"] = choice
            if choice == "required" and not tools and "tools" not in self._asked.options.extra:
                self._notes.add("will_be_refused", "tool_choice", "there are no tools to choose from", _API)

    def _tool(self, number: int, tool: ToolDefinition) -> dict[str, Any]:
        name = sent_name(tool.name, _NAMES)
        if name != tool.name:
            what = f"tools[{number}].name"
            self._notes.add("renamed", what, f"{tool.name!r} is no name here: sent as {name!r}")
        described = {"description": tool.description} if tool.description is not None else {}
        if tool.kind == "custom":
            grammar = {"format": tool.format} if tool.format is not None else {}
            return {"type": "custom", "name": name, **described, **grammar}
        schema, strict = self._strict(f"tools[{number}].parameters", tool.parameters, bool(tool.strict))
        return {"type": "function", "name": name, **described, "parameters": schema, "strict": strict}

    def _strict(self, what: str, schema: dict[str, Any], asked: bool) -> tuple[dict[str, Any], bool]:
        """The schema, and whether it is kept to exactly. Not asked for, that is said: the default is yes."""
        if not asked:
            return schema, False
        try:
            made, changes = strict_schema(schema)
        except NotStrictError as problem:
            self._notes.add("demoted", what, f"not strict: {problem}", SOURCE)
            return schema, False
        for change in changes:
            self._notes.add(change.kind, f"{what}.{change.path}", change.why, SOURCE)
        return made, True

    def _web_search(self, search: WebSearch, body: dict[str, Any]) -> dict[str, Any]:
        kind = self._row.web_search
        tool: dict[str, Any] = {"type": kind}
        filters: dict[str, Any] = {}
        domains = {
            "allowed_domains": (search.allowed_domains, "allowed_domains" if kind == "web_search" else None),
            "blocked_domains": (search.blocked_domains, self._row.blocked_domains),
        }
        for name, (value, field) in domains.items():
            if value and field:
                filters[field] = value
            elif value:
                self._notes.add(
                    "dropped", f"web_search.{name}", f"{kind} has no such filter", self._row.source
                )
        if filters:
            tool["filters"] = filters
        if search.context_size is not None:
            tool["search_context_size"] = search.context_size
        if search.user_location is not None:
            place = search.user_location.model_dump(exclude_none=True)
            tool["user_location"] = {"type": "approximate", **place}
        if search.max_uses is not None:
            body["max_tool_calls"] = search.max_uses
            why = "max_tool_calls: it counts the calls of all tools that the provider runs"
            self._notes.add("renamed", "web_search.max_uses", why, _API)
        return tool


def _is_off(reasoning: Reasoning | None) -> bool:
    return reasoning is not None and (reasoning.effort == "none" or reasoning.enabled is False)
