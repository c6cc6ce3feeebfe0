"""Turns and options -> the body of `generateContent` and `streamGenerateContent`.

The URL names the model and whether the answer is streamed (`?alt=sse`), so neither is in the body.
Sources, as of 2026-11: https://ai.google.dev/api/generate-content and the types of `google-genai` 3.6.1.
"""

from __future__ import annotations

from typing import Any

from plait.errors import InvalidDataError
from plait.messages import TextPart
from plait.wire.gemini.contents import FORMATS, ContentsWriter
from plait.wire.gemini.dialects import row
from plait.wire.gemini.models import model
from plait.wire.gemini.schemas import SOURCE, openapi_schema
from plait.wire.history import HistoryRules, Turn, sent_name
from plait.wire.options import NamedTool, OutputSchema, Reasoning, ToolDefinition, WebSearch
from plait.wire.plan import Notes
from plait.wire.requests import Asked

_NAMES = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
_API = "https://ai.google.dev/api/generate-content"
_THINKING = "https://ai.google.dev/gemini-api/docs/thinking"
_CALLING = "https://ai.google.dev/gemini-api/docs/function-calling"
_CACHING = "https://ai.google.dev/gemini-api/docs/caching"
_MAX_STOPS = 5

_CONFIG = {
    "max_output_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "seed": "seed",
}
"""Options and their names in `generationConfig`."""

_TOP = {"store": "store", "service_tier": "serviceTier"}
"""Options and their names in the body."""

_ABSENT = {
    "parallel_tool_calls": "the model decides by itself whether to call tools in parallel",
    "user": "a request says nothing about the end user",
    "verbosity": "there is no such setting",
    "prompt_cache": "the provider caches by itself; extra={'cachedContent': ...} names a cache of your own",
    "previous_response_id": "the provider keeps no responses: send the whole conversation",
}
"""Options that are not there, and why."""

_LEVELS = {
    "none": "MINIMAL",
    "minimal": "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "XHIGH",
    "max": "XHIGH",
}
"""Efforts as levels."""

_BUDGETS = {
    "none": 0,
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}
"""Efforts as tokens, as https://ai.google.dev/gemini-api/docs/openai#thinking has them."""

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
"""`tool_choice` as `mode`."""


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What the server takes of a history."""
    row(dialect)
    return HistoryRules(
        sends=lambda format_: format_ in FORMATS,
        late_system="user",
        merge=frozenset({"user", "assistant"}),
        id_pattern=r"(?s).+",
        name_pattern=_NAMES,
        object_arguments=True,
        result_media=model(asked.options.model).result_media,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The JSON body."""
    return _Request(asked, dialect, notes).body(turns)


class _Request:
    def __init__(self, asked: Asked, dialect: str | None, notes: Notes) -> None:
        self._asked = asked
        self._row = row(dialect)
        self._model = model(asked.options.model)
        self._notes = notes

    def body(self, turns: list[Turn]) -> dict[str, Any]:
        body: dict[str, Any] = {}
        turns = self._system(turns, body)
        extra = self._asked.options.extra
        server_tools = "web_search" in self._asked or "tools" in extra or "toolConfig" in extra
        body["contents"] = ContentsWriter(self._row, self._model, server_tools, self._notes).contents(turns)
        for name, why in _ABSENT.items():
            self._asked.drop(name, why, _CACHING if name == "prompt_cache" else _API)
        if self._row.labels:
            labels = self._asked.take("metadata")
            if labels is not None:
                body["labels"] = labels
        else:
            self._asked.drop("metadata", "this server has no tags for requests", _API)
        if self._asked.take("include_usage") is False:
            self._notes.add("dropped", "include_usage", "usage is part of every response", _API)
        for name, field in _TOP.items():
            value = self._asked.take(name)
            if value is not None:
                body[field] = value
        functions = self._tools(body)
        config = self._config(functions)
        if config:
            body["generationConfig"] = config
        return body

    def _system(self, turns: list[Turn], body: dict[str, Any]) -> list[Turn]:
        """Leading system text as `systemInstruction`."""
        leading = [turn for turn in turns if turn.role == "system"]
        rest = [turn for turn in turns if turn.role != "system"]
        if not leading:
            return rest
        if self._model.system and rest:
            body["systemInstruction"] = {
                "parts": [
                    {"text": item.text}
                    for turn in leading
                    for item in turn.items
                    if isinstance(item, TextPart)
                ]
            }
            return rest
        why = "this model takes no system instruction" if rest else "there is nothing else to answer"
        for turn in leading:
            self._notes.add("moved", turn.paths[0], f"{why}: sent as the user's")
        items = [item for turn in leading for item in turn.items]
        paths = [turn.paths[0] for turn in leading for _ in turn.items]
        if rest and rest[0].role == "user":
            first = rest[0]
            return [Turn("user", [*items, *first.items], [*paths, *first.paths]), *rest[1:]]
        return [Turn("user", items, paths), *rest]

    # Tools

    def _tools(self, body: dict[str, Any]) -> bool:
        """Writes the tools; returns whether there are functions among them."""
        definitions: list[ToolDefinition] = self._asked.take("tools") or []
        declared = [self._declaration(number, tool) for number, tool in enumerate(definitions)]
        tools: list[dict[str, Any]] = [{"functionDeclarations": declared}] if declared else []
        config: dict[str, Any] = {}
        search: WebSearch | None = self._asked.take("web_search")
        if search is not None:
            tools.append({"googleSearch": self._search(search)})
            if declared:
                self._mix(config)
        choice: NamedTool | str | None = self._asked.take("tool_choice")
        if choice is not None:
            calling: dict[str, Any] = {"mode": _MODES.get(str(choice), "ANY")}
            if isinstance(choice, NamedTool):
                name = sent_name(choice.name, _NAMES)
                if (
                    name not in {tool["name"] for tool in declared}
                    and "tools" not in self._asked.options.extra
                ):
                    raise InvalidDataError(f"tool_choice: there is no tool {choice.name!r} in `tools`")
                calling["allowedFunctionNames"] = [name]
            config = {"functionCallingConfig": calling, **config}
        if tools:
            body["tools"] = tools
        if config:
            body["toolConfig"] = config
        return bool(declared)

    def _mix(self, config: dict[str, Any]) -> None:
        if self._model.mixes is False:
            why = "this model takes functions or a search of its own, not both"
            self._notes.add("will_be_refused", "web_search", why, _CALLING)
        elif self._model.mixes and self._row.mixes:
            config["includeServerSideToolInvocations"] = True
            why = "functions beside a search of the provider's need it"
            self._notes.add("added", "toolConfig.includeServerSideToolInvocations", why, _CALLING)

    def _declaration(self, number: int, tool: ToolDefinition) -> dict[str, Any]:
        what = f"tools[{number}]"
        name = sent_name(tool.name, _NAMES)
        if name != tool.name:
            self._notes.add("renamed", f"{what}.name", f"{tool.name!r} is no name here: sent as {name!r}")
        made: dict[str, Any] = {"name": name}
        if tool.description is not None:
            made["description"] = tool.description
        schema: dict[str, Any] = tool.parameters
        if tool.kind == "custom":
            schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
            self._notes.add("demoted", what, 'a custom tool is sent as a function of {"input": <the text>}')
        if tool.strict:
            self._notes.add("dropped", f"{what}.strict", "a function has no such setting", _CALLING)
        if not schema.get("properties") and schema.keys() <= {
            "type",
            "properties",
            "additionalProperties",
            "title",
        }:
            return made  # a function without parameters has no schema
        field = "parametersJsonSchema" if self._model.json_schema else "parameters"
        return {**made, field: self._schema(f"{what}.parameters", schema)}

    def _schema(self, what: str, schema: dict[str, Any]) -> dict[str, Any]:
        if self._model.json_schema:
            return schema
        made, changes = openapi_schema(schema)
        for change in changes:
            self._notes.add(change.kind, f"{what}.{change.path}".rstrip("."), change.why, SOURCE)
        return made

    def _search(self, search: WebSearch) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name in search.model_fields_set:
            value = getattr(search, name)
            if name == "blocked_domains" and value and self._row.blocked_domains:
                made["excludeDomains"] = value
            elif value is not None:
                self._notes.add("dropped", f"web_search.{name}", "Google's search has no such option", _API)
        return made

    # Output

    def _config(self, functions: bool) -> dict[str, Any]:
        config = {
            field: value
            for name, field in _CONFIG.items()
            if (value := self._asked.take(name)) is not None
        }  # fmt: skip
        stop: list[str] | None = self._asked.take("stop")
        if stop:
            if len(stop) > _MAX_STOPS:
                self._notes.add("clamped", "stop", f"at most {_MAX_STOPS} are taken: the first ones", _API)
            config["stopSequences"] = stop[:_MAX_STOPS]
        output: OutputSchema | str | None = self._asked.take("output")
        if output is not None:
            config |= self._output(output, functions)
        thinking = self._thinking()
        if thinking:
            config["thinkingConfig"] = thinking
        return config

    def _output(self, output: OutputSchema | str, functions: bool) -> dict[str, Any]:
        if functions and self._model.mixes is False:
            why = "this model takes functions or JSON output, not both"
            self._notes.add("will_be_refused", "output", why, _CALLING)
        made: dict[str, Any] = {"responseMimeType": "application/json"}
        if isinstance(output, OutputSchema):
            schema = output.json_schema
            if output.description and "description" not in schema:
                schema = {**schema, "description": output.description}
            field = "responseJsonSchema" if self._model.json_schema else "responseSchema"
            made[field] = self._schema("output.json_schema", schema)
        return made

    def _thinking(self) -> dict[str, Any]:
        asked: Reasoning | None = self._asked.take("reasoning")
        if asked is None:
            return {}
        off = asked.enabled is False or asked.effort == "none" or (asked.budget_tokens == 0)
        if self._model.thinking is None:
            if not off:
                self._notes.add("dropped", "reasoning", "this model does not think", _THINKING)
            return {}
        made: dict[str, Any] = {}
        if asked.summary not in (None, "none") or (asked.summary is None and asked.enabled):
            made["includeThoughts"] = True
        return made | (self._level(asked) if self._model.thinking == "level" else self._budget(asked))

    def _level(self, asked: Reasoning) -> dict[str, Any]:
        effort = "none" if asked.enabled is False else asked.effort
        if effort is None:
            return {} if asked.budget_tokens is None else {"thinkingBudget": asked.budget_tokens}
        if asked.budget_tokens is not None:
            why = "a level or a budget can be set, not both"
            self._notes.add("dropped", "reasoning.budget_tokens", why, _THINKING)
        level = _LEVELS[effort]
        if level.lower() != effort:
            self._notes.add(
                "clamped", "reasoning.effort", f"{effort}: the nearest level is {level}", _THINKING
            )
        return {"thinkingLevel": level}

    def _budget(self, asked: Reasoning) -> dict[str, Any]:
        budget = asked.budget_tokens
        if asked.enabled is False:
            budget = 0
        elif budget is not None and asked.effort is not None:
            self._notes.add(
                "dropped", "reasoning.effort", "this model takes a budget, which was given", _THINKING
            )
        elif budget is None and asked.effort is not None:
            budget = _BUDGETS[asked.effort]
            why = f"{asked.effort}: this model takes a budget, {budget} tokens"
            self._notes.add("renamed", "reasoning.effort", why, _THINKING)
        elif budget is None and asked.enabled:
            budget = -1  # as much as it sees fit
        if budget is None:
            return {}
        if budget == 0 and self._model.always_thinks:
            self._notes.add(
                "will_be_refused", "reasoning", "this model's thinking cannot be turned off", _THINKING
            )
        return {"thinkingBudget": budget}
