"""The fields of Gemini's documents that are read; all else is drift. Every field may be absent."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field


class Usage(Struct, gc=False, rename="camel"):
    """Cumulative token counts of the response so far."""

    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    total_token_count: int | None = None

    def keep(self, before: Usage) -> None:
        """Counts are cumulative, so the last one holds, also where a later chunk leaves it out."""
        if self.prompt_token_count is None:
            self.prompt_token_count = before.prompt_token_count
        if self.cached_content_token_count is None:
            self.cached_content_token_count = before.cached_content_token_count
        if self.tool_use_prompt_token_count is None:
            self.tool_use_prompt_token_count = before.tool_use_prompt_token_count
        if self.candidates_token_count is None:
            self.candidates_token_count = before.candidates_token_count
        if self.thoughts_token_count is None:
            self.thoughts_token_count = before.thoughts_token_count


class PartialArg(Struct, gc=False, rename="camel"):
    """A value, or a piece of a string, of the arguments; `json_path` says where it belongs."""

    json_path: str | None = None
    string_value: str | None = None
    number_value: float | None = None
    bool_value: bool | None = None
    null_value: str | None = None
    will_continue: bool | None = None


class FunctionCall(Struct, gc=False, rename="camel"):
    """A call of the client's function, whole (`args`) or a piece of one (`partial_args`)."""

    id: str | None = None
    name: str | None = None
    args: Raw = Raw()
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class Blob(Struct, gc=False, rename="camel"):
    """A file as base64."""

    mime_type: str | None = None
    data: str | None = None


class FileData(Struct, gc=False, rename="camel"):
    """A file by its address."""

    mime_type: str | None = None
    file_uri: str | None = None


class Part(Struct, gc=False, rename="camel", forbid_unknown_fields=True):
    """A piece of the answer: one data field, beside it perhaps `thought` and a signature."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    executable_code: Any = None
    code_execution_result: Any = None
    tool_call: Any = None
    tool_response: Any = None
    other: dict[str, Any] | None = field(default=None, name="*")
    """The fields nobody knows: a part whose only data field is here is kept as it is, for replay."""


class Content(Struct, gc=False):
    """The parts that this chunk adds."""

    parts: list[Part] | None = None


class WebChunk(Struct, gc=False):
    """A page that a search found."""

    uri: str | None = None
    title: str | None = None


class ImageChunk(Struct, gc=False, rename="camel"):
    """An image that a search found, on the page `source_uri`."""

    source_uri: str | None = None
    title: str | None = None


class RetrievedChunk(Struct, gc=False):
    """A piece of a document of the caller's own; of a place on a map."""

    uri: str | None = None
    title: str | None = None
    text: str | None = None


class GroundingChunk(Struct, gc=False, rename="camel"):
    """What an answer rests on."""

    web: WebChunk | None = None
    image: ImageChunk | None = None
    retrieved_context: RetrievedChunk | None = None
    maps: RetrievedChunk | None = None


class Segment(Struct, gc=False, rename="camel"):
    """Where in the answer text: offsets in UTF-8 bytes, the end exclusive. An absent start is 0."""

    start_index: int | None = None
    end_index: int | None = None


class GroundingSupport(Struct, gc=False, rename="camel"):
    """Which chunks a segment of the answer rests on."""

    segment: Segment | None = None
    grounding_chunk_indices: list[int] | None = None


class Grounding(Struct, gc=False, rename="camel"):
    """Searches and what they found; `{}` on most chunks, filled on the last."""

    web_search_queries: list[str] | None = None
    image_search_queries: list[str] | None = None
    grounding_chunks: list[GroundingChunk] | None = None
    grounding_supports: list[GroundingSupport] | None = None


class UrlMetadata(Struct, gc=False, rename="camel"):
    """A page that the URL context tool was to fetch."""

    retrieved_url: str | None = None
    url_retrieval_status: str | None = None


class UrlContext(Struct, gc=False, rename="camel"):
    """Pages that the URL context tool fetched."""

    url_metadata: list[UrlMetadata] | None = None


class RecitationSource(Struct, gc=False, rename="camel"):
    """A source that the answer recites."""

    start_index: int | None = None
    end_index: int | None = None
    uri: str | None = None
    title: str | None = None


class Recitation(Struct, gc=False, rename="camel"):
    """Sources that the answer recites; `citation_sources` is the older name."""

    citations: list[RecitationSource] | None = None
    citation_sources: list[RecitationSource] | None = None


class Candidate(Struct, gc=False, rename="camel"):
    """One of the answers; an absent index is 0."""

    content: Content | None = None
    finish_reason: str | None = None
    index: int | None = None
    grounding_metadata: Grounding | None = None
    url_context_metadata: UrlContext | None = None
    citation_metadata: Recitation | None = None


class PromptFeedback(Struct, gc=False, rename="camel"):
    """Why there is no answer."""

    block_reason: str | None = None


class Chunk(Struct, gc=False, rename="camel"):
    """`GenerateContentResponse`: each document of a stream, and a whole answer."""

    candidates: list[Candidate] | None = None
    prompt_feedback: PromptFeedback | None = None
    usage_metadata: Usage | None = None
    model_version: str | None = None
    response_id: str | None = None
    error: Any = None
