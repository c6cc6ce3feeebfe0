"""The fields of Bedrock's Converse documents that are read; all else is drift.

A stream's payload does not say its own type: the tags of the structs are `:event-type`s.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Usage(Struct, gc=False, rename="camel"):
    """Token counts; what came from or went to a cache is counted beside `inputTokens`."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class PromptRouter(Struct, rename="camel"):
    """Which model a prompt router chose."""

    invoked_model_id: str | None = None


class Trace(Struct, rename="camel"):
    """What happened on the way to the answer; a guardrail's assessment is kept as it is."""

    guardrail: Any = None
    prompt_router: PromptRouter | None = None


class ToolUse(Struct, rename="camel"):
    """A tool call; of one that streams, only its start. `type` tells who runs it."""

    tool_use_id: str | None = None
    name: str | None = None
    type: str | None = None
    input: Any = None


class ToolResult(Struct, rename="camel"):
    """What a tool that the provider ran gave; of one that streams, only its start."""

    tool_use_id: str | None = None
    type: str | None = None
    content: list[Any] | None = None


class ReasoningText(Struct):
    """Reasoning that may be shown, in a non-streaming body."""

    text: str | None = None
    signature: str | None = None


class Reasoning(Struct, rename="camel"):
    """A reasoning block of a non-streaming body."""

    reasoning_text: ReasoningText | None = None
    redacted_content: str | None = None


class S3Location(Struct):
    """Where a file lies."""

    uri: str | None = None


class MediaSource(Struct, rename="camel"):
    """A file's content."""

    bytes: str | None = None
    s3_location: S3Location | None = None


class Media(Struct):
    """An image, sound or film; of one that streams, only its start, or a piece."""

    format: str | None = None
    source: MediaSource | None = None
    error: Any = None


class Words(Struct):
    """A piece of text in a list."""

    text: str | None = None


class CitationsContent(Struct):
    """Text with citations, in a non-streaming body."""

    content: list[Words] | None = None
    citations: list[Any] | None = None


class Block(Struct, rename="camel"):
    """A content block, or the start of one that streams: one field is there and tells the type."""

    text: str | None = None
    tool_use: ToolUse | None = None
    tool_result: ToolResult | None = None
    reasoning_content: Reasoning | None = None
    citations_content: CitationsContent | None = None
    image: Media | None = None
    audio: Media | None = None
    video: Media | None = None


class WebLocation(Struct):
    """A page that a citation names."""

    url: str | None = None
    domain: str | None = None


class Span(Struct):
    """The place in a document or search result that a citation names."""

    start: int | None = None
    end: int | None = None


class Location(Struct, rename="camel"):
    """Where a citation's words are: one field is there."""

    web: WebLocation | None = None
    document_char: Span | None = None
    document_page: Span | None = None
    document_chunk: Span | None = None
    search_result_location: Span | None = None


class Citation(Struct, rename="camel"):
    """What a piece of text rests on."""

    title: str | None = None
    source: str | None = None
    source_content: list[Words] | None = None
    location: Location | None = None


class ToolInput(Struct, gc=False):
    """A piece of a tool call's input: JSON text."""

    input: str | None = None


class ReasoningPiece(Struct, gc=False, rename="camel"):
    """A piece of reasoning."""

    text: str | None = None
    signature: str | None = None
    redacted_content: str | None = None


class Delta(Struct, gc=False, rename="camel"):
    """A piece of a content block: one field is there."""

    text: str | None = None
    tool_use: ToolInput | None = None
    reasoning_content: ReasoningPiece | None = None
    citation: Any = None
    tool_result: list[Any] | None = None
    image: Media | None = None


class MessageStart(Struct, gc=False, tag_field="type", tag="messageStart"):
    """The response begins."""


class ContentBlockStart(Struct, rename="camel", tag_field="type", tag="contentBlockStart"):
    """A block begins; text and reasoning begin without it."""

    content_block_index: int | None = None
    start: Any = None


class ContentBlockDelta(Struct, gc=False, rename="camel", tag_field="type", tag="contentBlockDelta"):
    """A piece of a block."""

    content_block_index: int | None = None
    delta: Delta | None = None


class ContentBlockStop(Struct, gc=False, rename="camel", tag_field="type", tag="contentBlockStop"):
    """A block ends."""

    content_block_index: int | None = None


class MessageStop(Struct, gc=False, rename="camel", tag_field="type", tag="messageStop"):
    """The terminal event."""

    stop_reason: str | None = None


class Metadata(Struct, tag_field="type", tag="metadata"):
    """What follows the terminal event."""

    usage: Usage | None = None
    trace: Trace | None = None


StreamEvent = ContentBlockDelta | ContentBlockStart | ContentBlockStop | MessageStart | MessageStop | Metadata


class Message(Struct):
    """The answer in a non-streaming body."""

    content: list[Any] | None = None


class Output(Struct):
    """The wrapper around the answer."""

    message: Message | None = None


class Response(Struct, rename="camel"):
    """A non-streaming body."""

    output: Output | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    trace: Trace | None = None
