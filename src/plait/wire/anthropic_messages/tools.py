"""Tools, the choice between them, and web search, as Anthropic's wire has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.errors import InvalidDataError
from plait.wire import claude
from plait.wire.claude_schemas import fitted
from plait.wire.history import sent_name
from plait.wire.options import NamedTool, ToolDefinition, WebSearch
from plait.wire.plan import Notes
from plait.wire.tool_schemas import input_schema

if TYPE_CHECKING:
    from plait.wire.requests import Asked

NAMES = r"[a-zA-Z0-9_-]{1,128}"
"""Names of tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools (2026-11)."""

_TOOL_DOCS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"
_SEARCH_DOCS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool"
_BEDROCK_DOCS = (
    "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html"
)


def tools(asked: Asked, notes: Notes, *, server_tools: bool) -> list[dict[str, Any]]:
    """The definitions of the client's tools, and of web search where it is asked for."""
    made = [_tool(tool, notes) for tool in asked.take("tools") or ()]
    if asked.options.web_search is not None and not server_tools:
        asked.drop("web_search", "Bedrock runs no server tools", _BEDROCK_DOCS)
    elif (search := asked.take("web_search")) is not None:
        made.append(_search(search, notes))
    names = [tool["name"] for tool in made]
    for name in names:
        if names.count(name) > 1:
            raise InvalidDataError(f"option tools: two tools are sent as {name!r}; rename one")
    return made


def _tool(tool: ToolDefinition, notes: Notes) -> dict[str, Any]:
    name = sent_name(tool.name, NAMES)
    what = f"tools.{tool.name}"
    if name != tool.name:
        notes.add("renamed", what, f"no name here: sent as {name!r}", _TOOL_DOCS)
    made: dict[str, Any] = {"name": name}
    if tool.description is not None:
        made["description"] = tool.description
    made["input_schema"] = input_schema(tool, what, notes)
    if tool.strict is not None and tool.kind == "function":
        made["strict"] = tool.strict
        if tool.strict:
            made["input_schema"] = fitted(made["input_schema"], f"{what}.parameters", notes)
    return made


def _search(wanted: WebSearch, notes: Notes) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search"}
    if wanted.max_uses is not None:
        made["max_uses"] = wanted.max_uses
    if wanted.allowed_domains:
        made["allowed_domains"] = wanted.allowed_domains
        if wanted.blocked_domains:
            why = "domains are either allowed or blocked"
            notes.add("dropped", "web_search.blocked_domains", why, _SEARCH_DOCS)
    elif wanted.blocked_domains:
        made["blocked_domains"] = wanted.blocked_domains
    if wanted.user_location is not None:
        place = wanted.user_location.model_dump(exclude_none=True)
        made["user_location"] = {"type": "approximate", **place}
    if wanted.context_size is not None:
        why = "how much is read of what is found cannot be said"
        notes.add("dropped", "web_search.context_size", why, _SEARCH_DOCS)
    return made


def add_choice(
    body: dict[str, Any], asked: Asked, thinking: claude.Thinking, notes: Notes, *, parallel: bool
) -> None:
    """`tool_choice`, with the switch of parallel calls inside.

    Args:
        parallel: whether the target takes that switch
    """
    if "tools" not in body and not asked.options.extra.get("tools"):
        for name in ("tool_choice", "parallel_tool_calls"):
            asked.drop(name, "there are no tools", _TOOL_DOCS)
        return
    wanted = asked.take("tool_choice")
    choice: dict[str, Any] | None = None
    if isinstance(wanted, NamedTool):
        choice = {"type": "tool", "name": sent_name(wanted.name, NAMES)}
    elif wanted is not None:
        choice = {"type": "any" if wanted == "required" else wanted}
    if choice is not None and choice["type"] in ("any", "tool") and thinking.mode == "enabled":
        why = "a forced choice is refused while the model thinks with a budget: sent as auto"
        notes.add("demoted", "tool_choice", why, claude.THINKING_DOCS)
        choice = {"type": "auto"}
    if asked.options.parallel_tool_calls is False:
        if not parallel:
            asked.drop("parallel_tool_calls", "Bedrock refuses the switch", _BEDROCK_DOCS)
        elif choice != {"type": "none"}:
            choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
    asked.take("parallel_tool_calls")
    if choice is not None:
        body["tool_choice"] = choice
