"""The form of an answer asked for in words, where a server has no other way, or wants the words beside it."""

from __future__ import annotations

import json
from typing import Any

from plait.wire.options import OutputSchema
from plait.wire.plan import Notes


def output_words(wanted: OutputSchema | str) -> str:
    """What to tell a model that is to answer with JSON."""
    if not isinstance(wanted, OutputSchema):
        return "Answer with JSON alone."
    schema = json.dumps(wanted.json_schema, ensure_ascii=False)
    return f"Answer with JSON alone that keeps to this JSON schema: {schema}"


def say(messages: list[dict[str, Any]], words: str, notes: Notes, *, unless_json: bool = False) -> None:
    """Put words at the end of the leading system text, or before everything where there is none.

    Args:
        messages: of a chat request, changed in place; a system message's `content` is one string
        unless_json: say nothing where a message speaks of JSON already
    """
    if unless_json and "json" in json.dumps(messages).lower():
        return
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] += f"\n\n{words}"
    else:
        messages.insert(0, {"role": "system", "content": words})
    notes.add("added", "output", "the form of the answer is asked for in the system text too")
