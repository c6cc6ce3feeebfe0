"""The fields of Responses documents that are read; all else is drift.

`output_index` is the key of an item; the ids of one item may differ from event to event (Copilot).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field

from plait.json_text import ABSENT


class InputDetails(Struct, gc=False):
    """Parts of the input count."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class OutputDetails(Struct, gc=False):
    """Parts of the output count."""

    reasoning_tokens: int | None = None


class Usage(Struct, gc=False):
    """Token counts of a whole response."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None


class IncompleteDetails(Struct, gc=False):
    """Why a response stopped early."""

    reason: str | None = None


class Response(Struct):
    """A response: the non-streaming body, and what the events about the whole response hold."""

    id: str | None = None
    object: str | None = None
    status: str | None = None
    model: str | None = None
    output: list[Raw] | None = None
    usage: Usage | None = None
    incomplete_details: IncompleteDetails | None = None
    error: Any = None


class Part(Struct):
    """A content or summary part of any type."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    annotations: list[Any] | None = None


class Item(Struct):
    """An output item of any type; which fields it has depends on `type`."""

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    status: str | None = None
    content: list[Part] | str | None = None
    phase: str | None = None
    summary: list[Part] | str | None = None
    encrypted_content: str | None = None
    format: str | None = None
    signature: str | None = None
    namespace: Any = None
    caller: Any = None
    async_: Any = field(default=None, name="async")
    action: Any = None
    queries: Any = None
    results: Any = None
    code: Any = None
    outputs: Any = None
    output: Any = None
    error: Any = None
    result: Any = None
    tools: Any = None
    output_format: str | None = None
    revised_prompt: str | None = None
    execution: str | None = None
    environment: Any = None


class _Event(Struct, gc=False):
    error: Any = None  # of things in between, beside the event's own fields


class ItemEvent(_Event, gc=False):
    """Says which item an event belongs to."""

    output_index: int | None = None
    item_id: str | None = None


class _Delta(ItemEvent, gc=False):
    delta: str = ""


class _ContentDelta(_Delta, gc=False):
    content_index: int = 0


class OutputTextDelta(_ContentDelta, gc=False, tag_field="type", tag="response.output_text.delta"):
    """A piece of answer text."""


class RefusalDelta(_ContentDelta, gc=False, tag_field="type", tag="response.refusal.delta"):
    """A piece of a refusal."""


class ReasoningTextDelta(_ContentDelta, gc=False, tag_field="type", tag="response.reasoning_text.delta"):
    """A piece of the reasoning itself."""


class ReasoningSummaryDelta(_Delta, gc=False, tag_field="type", tag="response.reasoning_summary_text.delta"):
    """A piece of a summary of the reasoning."""

    summary_index: int = 0


class ArgumentsDelta(_Delta, gc=False, tag_field="type", tag="response.function_call_arguments.delta"):
    """A piece of a call's arguments."""


class CustomInputDelta(_Delta, gc=False, tag_field="type", tag="response.custom_tool_call_input.delta"):
    """A piece of a custom call's free text."""


class OutputTextDone(ItemEvent, gc=False, tag_field="type", tag="response.output_text.done"):
    """The whole text of a part."""

    content_index: int = 0
    text: str | None = None


class RefusalDone(ItemEvent, gc=False, tag_field="type", tag="response.refusal.done"):
    """The whole text of a refusal."""

    content_index: int = 0
    refusal: str | None = None


class ReasoningTextDone(ItemEvent, gc=False, tag_field="type", tag="response.reasoning_text.done"):
    """The whole text of one part of the reasoning."""

    content_index: int = 0
    text: str | None = None


class ReasoningSummaryDone(ItemEvent, gc=False, tag_field="type", tag="response.reasoning_summary_text.done"):
    """One whole summary."""

    summary_index: int = 0
    text: str | None = None


class ArgumentsDone(ItemEvent, gc=False, tag_field="type", tag="response.function_call_arguments.done"):
    """The whole arguments of a call; its name and `call_id` are only on the item."""

    arguments: Any = None


class CustomInputDone(ItemEvent, gc=False, tag_field="type", tag="response.custom_tool_call_input.done"):
    """The whole free text of a custom call."""

    input: Any = None


class ContentPartDone(ItemEvent, tag_field="type", tag="response.content_part.done"):
    """A part of a message, or of the reasoning, is whole."""

    content_index: int = 0
    part: Part | None = None


class SummaryPartDone(ItemEvent, tag_field="type", tag="response.reasoning_summary_part.done"):
    """One summary is whole."""

    summary_index: int = 0
    part: Part | None = None


class AnnotationAdded(ItemEvent, tag_field="type", tag="response.output_text.annotation.added"):
    """A citation."""

    content_index: int = 0
    annotation: Any = None


class SearchInProgress(ItemEvent, gc=False, tag_field="type", tag="response.web_search_call.in_progress"):
    """A web search begins."""


class SearchSearching(ItemEvent, gc=False, tag_field="type", tag="response.web_search_call.searching"):
    """A web search goes on."""


class SearchCompleted(ItemEvent, gc=False, tag_field="type", tag="response.web_search_call.completed"):
    """A web search has its results; what it searched for is on the item."""


class OutputItemAdded(_Event, tag_field="type", tag="response.output_item.added"):
    """An item begins; its content is provisional."""

    output_index: int | None = None
    item: Raw = ABSENT


class OutputItemDone(_Event, tag_field="type", tag="response.output_item.done"):
    """An item is whole."""

    output_index: int | None = None
    item: Raw = ABSENT


class ResponseCreated(_Event, tag_field="type", tag="response.created"):
    """The response begins."""

    response: Response | None = None


class ResponseQueued(_Event, tag_field="type", tag="response.queued"):
    """The response waits for its turn in the background; a resumed stream may begin so."""

    response: Response | None = None


class ResponseInProgress(_Event, tag_field="type", tag="response.in_progress"):
    """The model works; a resumed stream may begin so."""

    response: Response | None = None


class ResponseCompleted(_Event, tag_field="type", tag="response.completed"):
    """Terminal: the response is whole."""

    response: Response | None = None


class ResponseIncomplete(_Event, tag_field="type", tag="response.incomplete"):
    """Terminal: the response stopped early, by a limit or a filter."""

    response: Response | None = None


class ResponseFailed(_Event, tag_field="type", tag="response.failed"):
    """Terminal: the provider failed."""

    response: Response | None = None


class ErrorEvent(_Event, tag_field="type", tag="error"):
    """The provider failed: nested in `error` (OpenAI, Azure), or flat (xAI, and OpenAI's documentation)."""

    code: Any = None
    message: Any = None
    param: Any = None


StreamEvent = (
    OutputTextDelta
    | ReasoningSummaryDelta
    | ReasoningTextDelta
    | ArgumentsDelta
    | CustomInputDelta
    | RefusalDelta
    | OutputTextDone
    | RefusalDone
    | ReasoningSummaryDone
    | ReasoningTextDone
    | ArgumentsDone
    | CustomInputDone
    | ContentPartDone
    | SummaryPartDone
    | AnnotationAdded
    | SearchInProgress
    | SearchSearching
    | SearchCompleted
    | OutputItemAdded
    | OutputItemDone
    | ResponseCreated
    | ResponseQueued
    | ResponseInProgress
    | ResponseCompleted
    | ResponseIncomplete
    | ResponseFailed
    | ErrorEvent
)
