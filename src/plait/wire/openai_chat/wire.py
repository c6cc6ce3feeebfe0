"""The fields of Chat Completions documents that are read; all else is drift.

One set of structs for all servers. Fields that only some of them send name one of those.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from plait.json_text import ABSENT


class PromptDetails(Struct, gc=False):
    """Parts of the prompt count."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: int | None = None


class CompletionDetails(Struct, gc=False):
    """Parts of the completion count."""

    reasoning_tokens: int | None = None


class Usage(Struct, gc=False):
    """Token counts; what they include depends on the server (see `mapping.token_usage`)."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek
    cached_tokens: int | None = None  # Moonshot, Together
    num_cached_tokens: int | None = None  # Mistral
    reasoning_tokens: int | None = None  # Perplexity


class Function(Struct, gc=False):
    """A piece of a function call. `arguments` is JSON text; some servers send it decoded."""

    name: str | None = None
    arguments: Any = None


class Custom(Struct, gc=False):
    """A piece of a custom tool's call: free text."""

    name: str | None = None
    input: Any = None


class ToolCall(Struct, gc=False):
    """A piece of a tool call, or a whole one."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    extra_content: Any = None  # Google: the call's thought signature


class ReasoningDetail(Struct, gc=False):
    """An entry of OpenRouter's `reasoning_details`; which fields it has depends on `type`."""

    type: str | None = None
    format: str | None = None
    index: int | None = None
    id: str | None = None
    text: str | None = None
    summary: str | None = None
    signature: str | None = None
    data: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    result: Any = None


class UrlCitation(Struct, gc=False):
    """A page the answer rests on. Offsets count characters of the answer; both 0 means no place."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    start_index: int | None = None
    end_index: int | None = None


class Annotation(Struct, gc=False):
    """An annotation on the answer: nested under its type's name, or flat."""

    type: str | None = None
    url_citation: UrlCitation | None = None
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None


class SearchResult(Struct, gc=False):
    """A page that a web search found."""

    url: str | None = None
    title: str | None = None


class SearchResults(Struct, gc=False):
    """The pages of one search."""

    results: list[SearchResult] | None = None


class ExecutedTool(Struct, gc=False):
    """A tool that Groq's compound models ran: first with its arguments, then again with its output."""

    index: int | None = None
    type: str | None = None
    arguments: Any = None
    output: Any = None
    search_results: SearchResults | None = None


class ImageUrl(Struct, gc=False):
    """A `data:` or other URL."""

    url: str | None = None


class Image(Struct, gc=False):
    """An image the model made (OpenRouter)."""

    image_url: ImageUrl | str | None = None


class Audio(Struct, gc=False):
    """A piece of spoken answer: base64 sound, and its transcript."""

    id: str | None = None
    data: str | None = None
    transcript: str | None = None


class ContentPart(Struct, gc=False):
    """An item of a `content` that is a list."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    thinking: Any = None
    image_url: ImageUrl | str | None = None


class Delta(Struct, gc=False):
    """What a chunk adds to the answer; with the same fields, the `message` of a non-streaming body."""

    content: str | list[Raw] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Raw] | None = None
    audio: Audio | None = None
    images: list[Image] | None = None
    annotations: list[Annotation] | None = None
    executed_tools: list[ExecutedTool] | None = None
    extra_content: Any = None


class Choice(Struct, gc=False):
    """A choice of a chunk. `message` is read where a server sends it instead of `delta`."""

    index: int | None = 0
    delta: Delta | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    usage: Usage | None = None  # Moonshot
    error: Any = None  # OpenRouter
    message: Raw = ABSENT


class ResponseChoice(Struct, gc=False):
    """A choice of a non-streaming body."""

    index: int | None = 0
    message: Delta | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    usage: Usage | None = None
    error: Any = None


class GroqExtension(Struct, gc=False):
    """Groq's `x_groq`."""

    usage: Usage | None = None
    error: Any = None


class Response(Struct, gc=False):
    """A non-streaming body."""

    id: str | None = None
    model: str | None = None
    provider: str | None = None
    choices: list[ResponseChoice] | None = None
    usage: Usage | None = None
    error: Any = None
    x_groq: GroqExtension | None = None
    citations: Raw = ABSENT  # Perplexity, xAI
    search_results: Raw = ABSENT  # Perplexity


class Chunk(Struct, gc=False):
    """A stream's document. The fields from `message` on are those of an error that is not nested."""

    id: str | None = None
    model: str | None = None
    provider: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    x_groq: GroqExtension | None = None
    citations: Raw = ABSENT
    search_results: Raw = ABSENT
    message: Any = None
    detail: Any = None
    error_message: Any = None
    error_type: Any = None
    code: Any = None
    type: Any = None
    status_code: Any = None
    request_id: Any = None
