"""Short ways to write a history."""

from __future__ import annotations

from typing import Any


def user(*content: Any) -> dict[str, Any]:
    """A user message of parts; a string is a text part."""
    return {"role": "user", "content": [text(c) if isinstance(c, str) else c for c in content]}


def assistant(*content: Any) -> dict[str, Any]:
    """An assistant message of parts; a string is a text part."""
    return {"role": "assistant", "content": [text(c) if isinstance(c, str) else c for c in content]}


def text(words: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": words}


def call(id: str, name: str = "find", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    """A tool call part."""
    return {"type": "tool-call", "tool_call_id": id, "tool_name": name, "arguments": arguments, **more}


def results(**outputs: Any) -> dict[str, Any]:
    """A tool message: outputs by the id of their call; a string is a text output."""
    parts = [
        {
            "type": "tool-result",
            "tool_call_id": id,
            "tool_name": "find",
            "output": {"type": "text", "value": output} if isinstance(output, str) else output,
        }
        for id, output in outputs.items()
    ]
    return {"role": "tool", "content": parts}
