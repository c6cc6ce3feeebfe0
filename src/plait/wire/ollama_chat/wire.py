"""The fields of Ollama's documents that are read; all else is drift.

A line of a stream and a whole body have the same fields.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class Function(Struct, gc=False):
    """A function call, always whole. `arguments` is an object; some models and proxies make it text."""

    name: str | None = None
    arguments: Raw = Raw(b"")  # not `| None`: msgspec reads no other value then


class ToolCall(Struct, gc=False):
    """A tool call. Older servers give it no id."""

    id: str | None = None
    function: Function | None = None


class Message(Struct, gc=False):
    """What a line adds to the message, or a whole one."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None
    images: list[str] | None = None


class Line(Struct, gc=False):
    """A line of a stream, or a whole body.

    `error`, a `message` that is text, and `detail` are those of an error: the server's own, or of what stands
    in front of it.
    """

    model: str | None = None
    created_at: str | None = None
    message: Message | str | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None
    detail: Any = None
