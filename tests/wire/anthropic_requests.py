"""Requests to Anthropic, each checked against the SDK's types."""

from __future__ import annotations

from typing import Any

from plait.wire.requests import plan_request
from request_oracles import check_anthropic

WIRE = "anthropic-messages"
FORMAT = "anthropic-claude-v1"


def planned(
    messages: list[dict[str, Any]], *, dialect: str | None = None, repair: bool = False, **options: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, which the SDK's types take, and what its notes are about (without that on the limit)."""
    options = {"model": "claude-x", **options}
    plan = plan_request(WIRE, messages, dialect=dialect, repair=repair, **options)
    check_anthropic(plan.body)
    notes: list[tuple[str, str]] = [
        (note.kind, note.what) for note in plan.notes if note.what != "max_output_tokens"
    ]
    return plan.body, notes


def tool_use(id: str, input: Any = None, name: str = "find") -> dict[str, Any]:
    """A `tool_use` block."""
    return {"type": "tool_use", "id": id, "name": name, "input": input or {}}


def tool_result(id: str, content: Any = None, **more: Any) -> dict[str, Any]:
    """A `tool_result` block."""
    said = {"type": "tool_result", "tool_use_id": id, **more}
    return said if content is None else {**said, "content": content}
