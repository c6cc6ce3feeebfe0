"""The fields of Cohere's documents that are read; all else is drift.

A stream has an object where a whole message has a list (`content`, `tool_calls`, `citations`): both are read
in both places. Numbers may be written as floats.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class Content(Struct, gc=False):
    """A block of content, or a piece of one; only a block's first has `type`."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None


class Function(Struct, gc=False):
    """A piece of a function call. `arguments` is JSON text."""

    name: str | None = None
    arguments: Any = None


class ToolCall(Struct, gc=False):
    """A piece of a tool call, or a whole one."""

    id: str | None = None
    function: Function | None = None


class Message(Struct, gc=False):
    """A whole message, or what an event adds to one."""

    content: Content | list[Content] | str | None = None
    tool_plan: str | None = None
    tool_calls: ToolCall | list[ToolCall] | None = None
    citations: Raw = Raw(b"")  # not `| None`: msgspec reads no other value then


class Document(Struct, gc=False):
    """A document, or a tool's output, that a citation names."""

    url: str | None = None
    title: str | None = None


class Source(Struct, gc=False):
    """What a citation rests on; which field it has depends on its type."""

    document: Document | None = None
    tool_output: Document | None = None


class CitationData(Struct, gc=False):
    """A citation. `start` and `end` count characters of the content block `content_index`."""

    start: int | None = None
    end: int | None = None
    text: str | None = None
    type: str | None = None
    content_index: int | None = None
    sources: list[Source] | None = None


class Tokens(Struct, gc=False):
    """Token counts. `image_tokens` stand beside the input, `reasoning_tokens` are part of the output."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    image_tokens: float | None = None
    reasoning_tokens: float | None = None


class BilledUnits(Struct, gc=False):
    """What is billed: the input without the hidden prompt around it."""

    input_tokens: float | None = None
    output_tokens: float | None = None


class Usage(Struct, gc=False):
    """What the response took."""

    tokens: Tokens | None = None
    billed_units: BilledUnits | None = None
    cached_tokens: float | None = None


class Delta(Struct, gc=False):
    """What an event adds to the message."""

    message: Message | None = None


class EndDelta(Struct, gc=False):
    """How the response ended."""

    finish_reason: str | None = None
    usage: Usage | None = None
    error: Any = None


class _Event(Struct, gc=False):
    error: Any = None  # of things in between, beside the event's own fields


class MessageStart(_Event, gc=False, tag_field="type", tag="message-start"):
    """The response begins."""

    id: str | None = None
    delta: Delta | None = None


class ContentStart(_Event, gc=False, tag_field="type", tag="content-start"):
    """A content block begins."""

    index: int | None = None
    delta: Delta | None = None


class ContentDelta(_Event, gc=False, tag_field="type", tag="content-delta"):
    """A piece of a content block."""

    index: int | None = None
    delta: Delta | None = None


class ContentEnd(_Event, gc=False, tag_field="type", tag="content-end"):
    """A content block ends."""

    index: int | None = None


class ToolPlanDelta(_Event, gc=False, tag_field="type", tag="tool-plan-delta"):
    """A piece of what the model plans to do with its tools."""

    delta: Delta | None = None


class ToolCallStart(_Event, gc=False, tag_field="type", tag="tool-call-start"):
    """A tool call begins."""

    index: int | None = None
    delta: Delta | None = None


class ToolCallDelta(_Event, gc=False, tag_field="type", tag="tool-call-delta"):
    """A piece of a tool call's arguments."""

    index: int | None = None
    delta: Delta | None = None


class ToolCallEnd(_Event, gc=False, tag_field="type", tag="tool-call-end"):
    """A tool call ends."""

    index: int | None = None


class CitationStart(_Event, gc=False, tag_field="type", tag="citation-start"):
    """A citation, whole."""

    index: int | None = None
    delta: Delta | None = None


class MessageEnd(_Event, gc=False, tag_field="type", tag="message-end"):
    """The terminal event."""

    id: str | None = None
    delta: EndDelta | None = None


class Response(Struct, gc=False):
    """A non-streaming body."""

    id: str | None = None
    message: Message | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


StreamEvent = (
    ContentDelta
    | ContentStart
    | ContentEnd
    | MessageStart
    | ToolPlanDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | CitationStart
    | MessageEnd
)
