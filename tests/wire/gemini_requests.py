"""Requests to Gemini, each checked against the SDK's types."""

from __future__ import annotations

from typing import Any

from plait.wire.requests import plan_request
from request_oracles import check_gemini

WIRE = "gemini"
FORMAT = "google-gemini-v1"


def planned(
    messages: list[dict[str, Any]], *, dialect: str | None = None, repair: bool = False, **options: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, which the SDK's types take, and what its notes are about."""
    plan = plan_request(WIRE, messages, dialect=dialect, repair=repair, **options)
    check_gemini(plan.body)
    return plan.body, [(note.kind, note.what) for note in plan.notes]


def contents(
    messages: list[dict[str, Any]], **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The contents, and what the notes are about."""
    body, notes = planned(messages, **options)
    return body["contents"], notes


def content(role: str, *parts: dict[str, Any] | str) -> dict[str, Any]:
    """One entry of `contents`; a string is a text part."""
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def signed(part: dict[str, Any], signature: str) -> dict[str, Any]:
    """A message part with a signature of this wire's."""
    return {**part, "signature": signature, "format": WIRE}
