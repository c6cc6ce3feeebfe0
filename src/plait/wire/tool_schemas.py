"""The schema of a tool's input, where every tool takes an object."""

from __future__ import annotations

from typing import Any

from plait.errors import InvalidDataError
from plait.wire.history import sent_name
from plait.wire.options import NamedTool, ToolDefinition
from plait.wire.plan import Notes


def input_schema(tool: ToolDefinition, what: str, notes: Notes) -> dict[str, Any]:
    """The schema of a tool's input: an object. A custom tool's text becomes its only property.

    Raises:
        InvalidDataError: the arguments are not an object
    """
    if tool.kind == "custom":
        notes.add("demoted", what, 'a tool of free text is sent as one with the property "input"')
        if tool.format is not None:
            notes.add("dropped", f"{what}.format", "a grammar cannot be asked for")
        return {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    kind = tool.parameters.get("type")
    if kind == "object":
        return tool.parameters
    if kind is not None:
        raise InvalidDataError(f"option {what}.parameters: the arguments must be an object, not {kind!r}")
    if tool.parameters:
        notes.add("added", f"{what}.parameters", 'the schema needs "type": "object" at its top')
    return {"type": "object", **tool.parameters}


def function_tool(tool: ToolDefinition, what: str, names: str, notes: Notes) -> dict[str, Any]:
    """A tool as `{"type": "function", "function": ...}`, its input an object. `strict` is left to the caller.

    Args:
        tool: the tool
        what: its name in the notes
        names: the names that the target takes, as for `HistoryRules.name_pattern`

    Raises:
        InvalidDataError: the arguments are not an object
    """
    name = sent_name(tool.name, names)
    if name != tool.name:
        notes.add("renamed", f"{what}.name", f"{tool.name[:64]!r} is no name here: sent as {name!r}")
    described = {"description": tool.description} if tool.description is not None else {}
    return {
        "type": "function",
        "function": {"name": name, **described, "parameters": input_schema(tool, what, notes)},
    }


def chosen(tools: list[ToolDefinition], choice: str | NamedTool | None) -> dict[str, ToolDefinition]:
    """The tools to send where no choice can name one: the named one alone, else all. By their name in notes.

    Raises:
        InvalidDataError: no tool has the name
    """
    given = {f"tools[{at}]": tool for at, tool in enumerate(tools)}
    if not isinstance(choice, NamedTool):
        return given
    named = {what: tool for what, tool in given.items() if tool.name == choice.name}
    if not named:
        raise InvalidDataError(f"tool_choice: no tool is named {choice.name!r}")
    return named
