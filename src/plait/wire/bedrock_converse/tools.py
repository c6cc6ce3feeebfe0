"""`toolConfig`: tools, the choice between them, and what a history with tool calls demands.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html (2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.errors import InvalidDataError
from plait.wire.bedrock_converse.families import Family
from plait.wire.bedrock_converse.mapping import SEARCH_TOOL, SERVER_TOOL
from plait.wire.claude import THINKING_DOCS
from plait.wire.claude_schemas import fitted
from plait.wire.history import sent_name
from plait.wire.options import NamedTool, ToolDefinition, WebSearch
from plait.wire.plan import Notes
from plait.wire.tool_schemas import input_schema

if TYPE_CHECKING:
    from plait.wire.requests import Asked

NAMES = r"[a-zA-Z0-9_-]{1,64}"
"""Names of tools."""

_TOOL_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html"
_NAMED_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SpecificToolChoice.html"
_SEARCH_DOCS = "https://docs.aws.amazon.com/nova/latest/userguide/grounding.html"


def tool_config(
    asked: Asked, family: Family, messages: list[dict[str, Any]], thinks: bool, notes: Notes
) -> dict[str, Any]:
    """The tools and the choice; empty where neither the caller nor the history has any.

    Args:
        messages: as they are sent
        thinks: whether Claude thinks with a budget
    """
    tools = [_tool(tool, notes) for tool in asked.take("tools") or ()]
    names = [tool["toolSpec"]["name"] for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise InvalidDataError(f"option tools: two tools are sent as {name!r}; rename one")
    tools += _search(asked, family, notes)
    used = _used(messages)
    wanted = asked.options.tool_choice
    if wanted == "none":
        return _not_to_be_used(tools, used, asked, notes)
    if not tools and used:
        tools = used
        notes.add("added", "tools", "a history with tool calls needs tools: those it calls", _TOOL_DOCS)
    if not tools:
        asked.drop("tool_choice", "there are no tools", _TOOL_DOCS)
        return {}
    choice = _choice(asked, family, thinks, notes)
    return {"tools": tools, "toolChoice": choice} if choice else {"tools": tools}


def _not_to_be_used(
    tools: list[dict[str, Any]], used: list[dict[str, Any]], asked: Asked, notes: Notes
) -> dict[str, Any]:
    """There is no choice `none`: without tools in the history, none are sent."""
    if used:
        why = "there is no such choice, and the history needs tools: the model may call one"
        asked.drop("tool_choice", why, _TOOL_DOCS)
        return {"tools": tools or used}
    asked.take("tool_choice")
    if tools:
        notes.add("dropped", "tools", "the choice `none` is made by sending none", _TOOL_DOCS)
    return {}


def _tool(tool: ToolDefinition, notes: Notes) -> dict[str, Any]:
    name = sent_name(tool.name, NAMES)
    what = f"tools.{tool.name}"
    if name != tool.name:
        notes.add("renamed", what, f"no name here: sent as {name!r}", _TOOL_DOCS)
    spec: dict[str, Any] = {"name": name}
    if tool.description:
        spec["description"] = tool.description
    schema = input_schema(tool, what, notes)
    if tool.strict is not None and tool.kind == "function":
        spec["strict"] = tool.strict
        schema = fitted(schema, f"{what}.parameters", notes) if tool.strict else schema
    spec["inputSchema"] = {"json": schema}
    return {"toolSpec": spec}


def _search(asked: Asked, family: Family, notes: Notes) -> list[dict[str, Any]]:
    if family.name != "nova":
        asked.drop("web_search", "only Nova searches the web", _SEARCH_DOCS)
        return []
    wanted: WebSearch | None = asked.take("web_search")
    if wanted is None:
        return []
    for name in sorted(wanted.model_fields_set):
        if getattr(wanted, name) is not None:
            notes.add("dropped", f"web_search.{name}", "a search cannot be narrowed", _SEARCH_DOCS)
    return [{"systemTool": {"name": SEARCH_TOOL}}]


def _used(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A definition of each tool that the history calls."""
    made: dict[str, dict[str, Any]] = {}
    for message in messages:
        for block in message["content"]:
            call = block.get("toolUse")
            if call is None:
                continue
            schema = {"json": {"type": "object", "properties": {}}}
            made[call["name"]] = (
                {"systemTool": {"name": call["name"]}}
                if call.get("type") == SERVER_TOOL
                else {"toolSpec": {"name": call["name"], "inputSchema": schema}}
            )
    return list(made.values())


def _choice(asked: Asked, family: Family, thinks: bool, notes: Notes) -> dict[str, Any] | None:
    wanted = asked.take("tool_choice")
    if wanted is None:
        return None
    if wanted == "auto":
        return {"auto": {}}
    if thinks:
        why = "a forced choice is refused while the model thinks with a budget: sent as auto"
        notes.add("demoted", "tool_choice", why, THINKING_DOCS)
        return {"auto": {}}
    if isinstance(wanted, NamedTool):
        if not family.choose:
            notes.add("will_be_refused", "tool_choice", "this model cannot be told which tool", _NAMED_DOCS)
        return {"tool": {"name": sent_name(wanted.name, NAMES)}}
    return {"any": {}}
