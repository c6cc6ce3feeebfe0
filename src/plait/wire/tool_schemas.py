"""The schema of a tool's input, where every tool takes an object."""

from __future__ import annotations

from typing import Any

from plait.errors import InvalidDataError
from plait.wire.options import ToolDefinition
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
