"""The fields of Mistral's documents that are read; all else is drift.

Tool calls are those of Chat Completions, and so is usage.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from plait.wire.openai_chat.wire import ImageUrl, ToolCall, Usage


class Thought(Struct, gc=False, forbid_unknown_fields=True):
    """An item of a `thinking` list. `other` are the fields that are not read, kept for replay."""

    type: str | None = None
    text: str | None = None
    other: dict[str, Any] | None = field(default=None, name="*")


class ContentPart(Struct, gc=False, forbid_unknown_fields=True):
    """An item of a `content` that is a list; which fields it has depends on `type`."""

    type: str | None = None
    text: str | None = None
    thinking: list[Thought | str] | str | None = None
    signature: str | None = None
    closed: bool | None = None  # on all pieces but the first: it does not say that the thinking ends
    image_url: ImageUrl | str | None = None
    reference_ids: list[Any] | None = None
    url: str | None = None  # of a `tool_reference`, as `title`
    title: str | None = None
    other: dict[str, Any] | None = field(default=None, name="*")


class Delta(Struct, gc=False):
    """What a chunk adds to the answer; with the same fields, the `message` of a non-streaming body."""

    role: str | None = None
    content: str | list[ContentPart | str] | None = None
    tool_calls: list[ToolCall] | None = None


class Choice(Struct, gc=False):
    """A choice of a chunk."""

    index: int | None = 0
    delta: Delta | None = None
    finish_reason: str | None = None


class ResponseChoice(Struct, gc=False):
    """A choice of a non-streaming body."""

    index: int | None = 0
    message: Delta | None = None
    messages: list[Delta] | None = None
    finish_reason: str | None = None


class Response(Struct, gc=False):
    """A non-streaming body."""

    id: str | None = None
    model: str | None = None
    choices: list[ResponseChoice] | None = None
    usage: Usage | None = None


class Chunk(Struct, gc=False):
    """A stream's document. The fields from `error` on are those of an error."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    message: Any = None
    detail: Any = None
    code: Any = None
    type: Any = None
    raw_status_code: Any = None
    request_id: Any = None
