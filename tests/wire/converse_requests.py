"""Requests to Converse, each checked against botocore's service model."""

from __future__ import annotations

from typing import Any

from plait.wire.requests import plan_request
from request_oracles import check_converse

WIRE = "bedrock-converse"
FORMAT = "bedrock-converse-v1"
CLAUDE = "us.anthropic.claude-opus-4-6-v1"
NOVA = "us.amazon.nova-2-lite-v1:0"
LLAMA = "us.meta.llama4-scout-v1:0"
MISTRAL = "mistral.pixtral-large-2502-v1:0"
WRITER = "us.writer.palmyra-x5-v1:0"


def planned(
    messages: list[dict[str, Any]], *, model: str | None = None, **options: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, which the service model takes, and what its notes are about."""
    plan = plan_request(WIRE, messages, model=model, **options)
    check_converse(plan.body)
    return plan.body, [(note.kind, note.what) for note in plan.notes]


def tool_use(id: str, input: Any = None, name: str = "find") -> dict[str, Any]:
    """A `toolUse` block."""
    return {"toolUse": {"toolUseId": id, "name": name, "input": input or {}}}


def tool_result(id: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A `toolResult` block."""
    return {"toolResult": {"toolUseId": id, "content": list(content), **more}}
