"""The fields of Anthropic's documents that are read; all else is drift."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from plait.json_text import ABSENT


class Usage(Struct, gc=False):
    """Cumulative token counts; null and absent both mean that the count did not change."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class OutputDetails(Struct, gc=False):
    """Parts of the output count."""

    thinking_tokens: int | None = None


class Message(Struct):
    """A whole message: the non-streaming body, and what `message_start` opens with."""

    id: str | None = None
    type: str | None = None
    model: str | None = None
    provider: str | None = None
    content: list[Raw] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class Block(Struct):
    """A content block of any type; which fields it has depends on `type`."""

    type: str | None = None
    text: str | None = None
    citations: list[Raw] | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    caller: Any = None
    toolset_name: str | None = None
    tool_use_id: str | None = None
    content: Any = None


class SearchResult(Struct):
    """A page that a web search found."""

    url: str | None = None
    title: str | None = None


class CitationData(Struct):
    """A citation of any type; the location fields depend on it."""

    url: str | None = None
    source: str | None = None
    title: str | None = None
    document_title: str | None = None
    cited_text: str | None = None
    start_char_index: int | None = None
    end_char_index: int | None = None
    start_page_number: int | None = None
    end_page_number: int | None = None
    start_block_index: int | None = None
    end_block_index: int | None = None


class Delta(Struct, gc=False):
    """A piece of a content block; `type` says which field it is in."""

    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    citation: Raw = ABSENT
    content: str | None = None
    encrypted_content: str | None = None


class MessageDeltaData(Struct, gc=False):
    """What `message_delta` changes of the message."""

    stop_reason: str | None = None


class _Event(Struct, gc=False):
    error: Any = None  # of things in between, beside the event's own fields


class MessageStart(_Event, tag_field="type", tag="message_start"):
    """The response begins."""

    message: Message | None = None


class ContentBlockStart(_Event, tag_field="type", tag="content_block_start"):
    """A block begins; some block types come whole here."""

    index: int | None = None
    content_block: Raw = ABSENT


class ContentBlockDelta(_Event, gc=False, tag_field="type", tag="content_block_delta"):
    """A piece of a block."""

    index: int | None = None
    delta: Delta | None = None


class ContentBlockStop(_Event, gc=False, tag_field="type", tag="content_block_stop"):
    """A block ends."""

    index: int | None = None


class MessageDelta(_Event, gc=False, tag_field="type", tag="message_delta"):
    """Stop reason and cumulative usage."""

    delta: MessageDeltaData | None = None
    usage: Usage | None = None


class MessageStop(_Event, gc=False, tag_field="type", tag="message_stop"):
    """The terminal event."""


class ErrorEvent(_Event, tag_field="type", tag="error"):
    """The provider failed."""

    request_id: str | None = None


StreamEvent = (
    ContentBlockDelta
    | ContentBlockStart
    | ContentBlockStop
    | MessageStart
    | MessageDelta
    | MessageStop
    | ErrorEvent
)
