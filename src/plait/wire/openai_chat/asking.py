"""Options that are more than one plain field -> fields of the body, by the row of the server's dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.errors import InvalidDataError
from plait.wire.history import sent_name
from plait.wire.instructions import output_words
from plait.wire.openai_chat.dialects import EFFORTS, Dialect, Search
from plait.wire.options import NamedTool, OutputSchema, ToolDefinition, UserLocation
from plait.wire.plan import Notes
from plait.wire.requests import Asked
from plait.wire.schemas import SOURCE, NotStrictError, strict_schema

Body = dict[str, Any]
NAMES = r"[a-zA-Z0-9_-]{1,64}"
"""What a tool may be called."""


def put(body: Body, path: str, value: Any) -> None:
    """Set the field at a path such as `reasoning.effort`."""
    *outer, last = path.split(".")
    for name in outer:
        body = body.setdefault(name, {})
    body[last] = value


def merge(body: Body, more: Mapping[str, Any]) -> None:
    """Put fields into a body, objects into objects."""
    for name, value in more.items():
        if isinstance(value, Mapping):
            merge(body.setdefault(name, {}), value)
        else:
            body[name] = value


# Reasoning


def reasoning(body: Body, asked: Asked, row: Dialect, notes: Notes) -> bool | None:
    """How much the model thinks. Returns whether it was asked for (True), turned off (False), or neither."""
    wanted = asked.take("reasoning")
    if wanted is None:
        return None
    thinking = row.thinking
    if wanted.summary is not None:
        if thinking.summary is not None and wanted.summary != "none":
            put(body, thinking.summary, wanted.summary)
        else:
            notes.add("dropped", "reasoning.summary", "there is no such option here", row.source)
    if wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0:
        _no_reasoning(body, row, notes, prefer_effort=wanted.effort == "none")
        return False
    effort, budget = wanted.effort, wanted.budget_tokens
    if budget is not None and thinking.budget is None:
        notes.add("dropped", "reasoning.budget_tokens", "there is no such option here", row.source)
        budget = None
    if effort is not None and budget is not None and thinking.either:
        notes.add("dropped", "reasoning.effort", "it takes an effort or a budget, not both", row.source)
        effort = None
    if effort is not None and thinking.effort is None:
        notes.add(
            "demoted",
            "reasoning.effort",
            "reasoning is only turned on: there are no efforts here",
            row.source,
        )
    elif effort is not None and thinking.effort is not None:
        put(body, thinking.effort, _nearest(effort, row, notes))
    if budget is not None and thinking.budget is not None:
        put(body, thinking.budget, budget)
    if wanted.enabled or budget is not None or thinking.effort is None:
        if thinking.switch is not None:
            put(body, thinking.switch[0], thinking.switch[1])
        elif wanted.enabled:
            notes.add("dropped", "reasoning.enabled", "there is no such option here", row.source)
    return bool(effort or budget or wanted.enabled)


def _no_reasoning(body: Body, row: Dialect, notes: Notes, *, prefer_effort: bool) -> None:
    thinking = row.thinking
    by_effort = thinking.effort is not None and "none" in thinking.efforts
    if thinking.switch is not None and not (prefer_effort and by_effort):
        put(body, thinking.switch[0], thinking.switch[2])
    elif thinking.effort is not None and by_effort:
        put(body, thinking.effort, "none")
    else:
        notes.add("dropped", "reasoning", "it cannot be turned off here", row.source)


def _nearest(effort: str, row: Dialect, notes: Notes) -> str:
    taken = row.thinking.efforts
    if effort in taken:
        return effort
    order = [str(one) for one in EFFORTS]
    place = order.index(effort)
    nearest = min((one for one in taken if one != "none"), key=lambda one: abs(order.index(one) - place))
    notes.add(
        "clamped", "reasoning.effort", f"{effort!r} is not among {', '.join(taken)}: {nearest!r}", row.source
    )
    return nearest


# Tools


def tools(body: Body, asked: Asked, row: Dialect, notes: Notes) -> None:
    """The tools, which of them is to be called, and whether several at once."""
    given: list[ToolDefinition] = asked.options.tools
    if given and not row.tools:
        asked.drop("tools", "there are no tools here", row.source)
        given = []
    asked.take("tools")
    if given:
        body["tools"] = [_tool(tool, f"tools[{at}]", row, notes) for at, tool in enumerate(given)]
    else:
        asked.drop("tool_choice", "there are no tools to choose from")
        asked.drop("parallel_tool_calls", "there are no tools to call")
    choice = asked.take("tool_choice")
    if choice is not None and given:
        _choose(body, choice, given, row, notes)


def _tool(tool: ToolDefinition, path: str, row: Dialect, notes: Notes) -> Body:
    name = sent_name(tool.name, NAMES)
    if name != tool.name:
        notes.add(
            "renamed", f"{path}.name", f"{tool.name[:64]!r} is no name here: sent as {name!r}", row.source
        )
    described = {"description": tool.description} if tool.description is not None else {}
    if tool.kind == "custom" and row.custom_tools:
        format_ = {"format": _grammar(tool.format)} if tool.format else {}
        return {"type": "custom", "custom": {"name": name, **described, **format_}}
    parameters, strict = dict(tool.parameters), tool.strict
    if tool.kind == "custom":
        notes.add("demoted", path, "a custom tool is sent as a function with one text, `input`", row.source)
        parameters = {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": False,
        }
    elif strict and row.strict:
        parameters, strict = _strict(parameters, f"{path}.parameters", notes)
    function = {"name": name, **described, "parameters": parameters}
    return {
        "type": "function",
        "function": {**function, "strict": strict} if strict is not None else function,
    }


def _grammar(format_: Mapping[str, Any]) -> Body:
    if format_.get("type") == "grammar" and "grammar" not in format_:  # nested here, flat in Responses
        return {
            "type": "grammar",
            "grammar": {name: value for name, value in format_.items() if name != "type"},
        }
    return dict(format_)


def _strict(schema: Body, path: str, notes: Notes) -> tuple[Body, bool]:
    try:
        made, changes = strict_schema(schema)
    except NotStrictError as problem:
        notes.add("demoted", path, f"sent with strict=False: {problem}", SOURCE)
        return schema, False
    for change in changes:
        notes.add(change.kind, f"{path}.{change.path}", change.why, SOURCE)
    return made, True


def _choose(
    body: Body, choice: str | NamedTool, given: list[ToolDefinition], row: Dialect, notes: Notes
) -> None:
    kind = "named" if isinstance(choice, NamedTool) else choice
    named = next((tool for tool in given if isinstance(choice, NamedTool) and tool.name == choice.name), None)
    if isinstance(choice, NamedTool) and named is None:
        raise InvalidDataError(f"tool_choice: no tool is named {choice.name!r}")
    if kind in row.tool_choices:
        if named is None:
            body["tool_choice"] = choice
        else:
            type_ = named.kind if row.custom_tools else "function"
            body["tool_choice"] = {"type": type_, type_: {"name": sent_name(named.name, NAMES)}}
    elif kind == "none":
        del body["tools"]
        notes.add("dropped", "tools", "tool_choice 'none' cannot be said here: no tools are sent", row.source)
    elif kind != "auto":
        taken = ", ".join(sorted(row.tool_choices)) or "nothing"
        notes.add("dropped", "tool_choice", f"it takes {taken} here", row.source)


# Structured output


def output(body: Body, asked: Asked, row: Dialect, notes: Notes) -> str | None:
    """The form of the answer. Returns what must be said in words, where the server has no such form."""
    wanted = asked.take("output")
    if wanted is None:
        return None
    if isinstance(wanted, OutputSchema):
        schema = dict(wanted.json_schema)
        if "json_schema" in row.outputs:
            strict = wanted.strict
            if strict and row.strict:
                schema, strict = _strict(schema, "output", notes)
            described = {"description": wanted.description} if wanted.description is not None else {}
            named = {"name": wanted.name, **described, "schema": schema}
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {**named, "strict": strict} if strict is not None else named,
            }
            return None
        notes.add("demoted", "output", "there are no schemas here: it is asked for in words", row.source)
    if "json_object" in row.outputs:
        body["response_format"] = {"type": "json_object"}
    elif not isinstance(wanted, OutputSchema):
        notes.add("demoted", "output", "any JSON cannot be asked for here but in words", row.source)
    return output_words(wanted)


# Caching and searching


def prompt_cache(body: Body, asked: Asked, row: Dialect, notes: Notes) -> Body | None:
    """The prompt's cache. Returns the mark for parts, where the server wants those marked."""
    wanted = asked.take("prompt_cache")
    if wanted is None:
        return None
    if wanted.key is not None:
        if row.cache_key is None:
            notes.add("dropped", "prompt_cache.key", "there is no such option here", row.source)
        else:
            body[row.cache_key] = wanted.key
    marked = row.cache_marks and wanted.ttl in (None, "5m", "1h")
    if wanted.ttl is not None and not marked:
        field = row.cache_times.get(wanted.ttl)
        if field is None:
            notes.add("dropped", "prompt_cache.ttl", f"{wanted.ttl!r} cannot be chosen here", row.source)
        else:
            put(body, field, wanted.ttl)
    if not row.cache_marks:
        return None
    return {"type": "ephemeral", **({"ttl": wanted.ttl} if marked and wanted.ttl else {})}


def web_search(body: Body, asked: Asked, row: Dialect, notes: Notes) -> None:
    """The server's own search."""
    if row.search is None:
        asked.drop("web_search", "there is no search here that can be asked for", row.source)
    wanted = asked.take("web_search")
    search = row.search
    if wanted is None or search is None:
        return
    made: Body = {}
    merge(made, search.base)
    for name in type(wanted).model_fields:
        value = getattr(wanted, name)
        if value is None:
            continue
        if name not in search.fields:
            notes.add("dropped", f"web_search.{name}", "there is no such option here", row.source)
            continue
        if isinstance(value, UserLocation):
            value = _location(value, search)
        put(made, search.fields[name], value)
    if search.tool:
        body.setdefault("tools", []).append(made)
    else:
        merge(body, made)


def _location(value: UserLocation, search: Search) -> Body:
    place = value.model_dump(exclude_none=True)
    if search.location == "nested":
        return {"type": "approximate", "approximate": place}
    return {"type": "approximate", **place} if search.location == "typed" else place
