"""Requests to the Responses API, each checked against the SDK's types."""

from __future__ import annotations

from typing import Any

from plait.wire.requests import plan_request
from request_oracles import check_responses

WIRE = "openai-responses"
FORMAT = "openai-responses-v1"
TEXT_FORMAT = "openai-responses-text-v1"


def planned(
    messages: list[dict[str, Any]],
    *,
    dialect: str | None = None,
    repair: bool = False,
    known: bool = True,
    **options: Any,
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, which the SDK's types take, and what its notes are about."""
    plan = plan_request(WIRE, messages, dialect=dialect, repair=repair, **options)
    check_responses(plan.body, known=known)
    return plan.body, [(note.kind, note.what) for note in plan.notes]


def items(
    messages: list[dict[str, Any]], **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The input items, and what the notes are about."""
    body, notes = planned(messages, **options)
    return body["input"], notes


def detail(type: str, format: str | None = FORMAT, **fields: Any) -> dict[str, Any]:
    """A detail of a reasoning part."""
    named = {} if format is None else {"format": format}
    return {"type": type, **named, **fields}


def reasoning(*details: dict[str, Any], id: str | None = "rs_1") -> dict[str, Any]:
    """A reasoning part."""
    return {"type": "reasoning", "details": list(details), **({"id": id} if id else {})}


def said(words: str, **extra: Any) -> dict[str, Any]:
    """A text part that this wire made."""
    return {"type": "text", "text": words, "extra": extra, "format": WIRE}


def message(words: str, id: str = "msg_1", **more: Any) -> dict[str, Any]:
    """A message item with an id."""
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {
        "type": "message", "id": id, "role": "assistant", "status": "completed", "content": content, **more
    }  # fmt: skip
