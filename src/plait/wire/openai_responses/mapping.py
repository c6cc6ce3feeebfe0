"""What the names of the Responses API mean in the vocabulary.

Sources: the `openai` SDK 3.57 types (events, items, error codes), https://platform.openai.com/docs and
recordings of OpenAI, Azure, xAI, OpenRouter, DeepSeek, Bedrock Mantle and Copilot, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from plait import json_text
from plait.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextWindowExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.events import FinishReason, Source, TokenUsage
from plait.wire.openai_responses import wire

FORMAT = "openai-responses-v1"
"""Format of citations, kept items, and of the summaries and encrypted content of reasoning items.

It is the name OpenRouter gives this shape, too. An item goes back as `{"type": "reasoning", "id", "summary",
"content", "encrypted_content"}`: its `summary` details in order, its `text` details in order as `content`,
and the `data` of its `encrypted` detail; without such data OpenAI has no use for it."""

TEXT_FORMAT = "openai-responses-text-v1"
"""Format of `content` parts (`reasoning_text`) of reasoning items.

Servers of open models (gpt-oss on LM Studio, vLLM, Bedrock; DeepSeek) write reasoning in the clear and take
it back in the clear, which OpenAI does not. A name of its own keeps it away from adapters that only know
what OpenAI encrypted. Items that name their own `format` (OpenRouter) have that one in both places."""

INCOMPLETE_REASONS: Mapping[str, FinishReason] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "max_messages": "other",
    "max_tool_calls": "other",
    "steered": "other",
}
"""`incomplete_details.reason`."""

FINAL_STATUSES = frozenset({"completed", "complete", "incomplete", "failed", "cancelled"})
"""Values of `status` of a response that does not go on (`complete` is some servers' spelling)."""

RUNNING_STATUSES = frozenset({"queued", "in_progress"})
"""Values of `status` of a response that goes on in the background."""

UNFINISHED = frozenset({"in_progress", "searching", "interpreting", "generating"})
"""Values of `status` of an item that was not finished."""

ERRORS: Mapping[str, type[ProviderError]] = {
    "invalid_api_key": AuthenticationError,
    "authentication_error": AuthenticationError,
    "invalid_authentication_error": AuthenticationError,
    "permission_denied": PermissionDeniedError,
    "permission_error": PermissionDeniedError,
    "insufficient_permissions": PermissionDeniedError,
    "unsupported_country_region_territory": PermissionDeniedError,
    "data_residency_mismatch": PermissionDeniedError,
    "model_not_found": NotFoundError,
    "DeploymentNotFound": NotFoundError,
    "previous_response_not_found": NotFoundError,
    "insufficient_quota": RateLimitError,
    "credit_balance_exhausted": RateLimitError,
    "HTTP 402": RateLimitError,  # DeepSeek, OpenRouter
    "organization_spend_limit_exceeded": RateLimitError,
    "project_spend_limit_exceeded": RateLimitError,
    "rate_limit_exceeded": RateLimitError,
    "rate_limit_error": RateLimitError,
    "RateLimitReached": RateLimitError,
    "too_many_requests": RateLimitError,
    "server_is_overloaded": OverloadedError,
    "slow_down": OverloadedError,
    "overloaded_error": OverloadedError,
    "context_length_exceeded": ContextWindowExceededError,
    "exceed_context_size_error": ContextWindowExceededError,
    "content_filter": ContentFilterError,
    "content_policy_violation": ContentFilterError,
    "image_content_policy_violation": ContentFilterError,
    "invalid_prompt": ContentFilterError,
    "bio_policy": ContentFilterError,
    "cyber_policy": ContentFilterError,
    "misalignment_policy_violation": ContentFilterError,
    "invalid_encrypted_content": BadRequestError,
    "unknown_parameter": BadRequestError,
    "unsupported_parameter": BadRequestError,
    "unsupported_value": BadRequestError,
    "invalid_value": BadRequestError,
    "invalid_function_parameters": BadRequestError,
    "unsupported_file": BadRequestError,
    "vector_store_timeout": BadRequestError,
    "invalid_image": BadRequestError,
    "invalid_image_format": BadRequestError,
    "invalid_image_mode": BadRequestError,
    "invalid_image_url": BadRequestError,
    "invalid_base64_image": BadRequestError,
    "image_too_large": BadRequestError,
    "image_too_small": BadRequestError,
    "image_file_too_large": BadRequestError,
    "image_parse_error": BadRequestError,
    "image_file_not_found": BadRequestError,
    "unsupported_image_media_type": BadRequestError,
    "empty_image_file": BadRequestError,
    "failed_to_download_image": BadRequestError,
    "server_error": ServerError,
}
"""Codes of HTTP bodies, of `response.error` and of `error` events. Not `invalid_request_error`, a type that
also stands beside statuses that say more (401, 404)."""

IGNORED: Mapping[str, str] = {
    "keepalive": "nothing: sent during long waits",
    "ping": "nothing: sent during long waits",
    "response.keep_alive": "nothing: OpenRouter's",
    "response.debug": "OpenRouter's view of the upstream request",
    "response.content_part.added": "an empty part; its deltas name it",
    "response.reasoning_summary_part.added": "an empty part; its deltas name it",
    "response.reasoning_part.added": "an empty part (vLLM, Bedrock)",
    "response.reasoning_part.done": "what response.reasoning_text.done says (vLLM, Bedrock)",
    "response.file_search_call.in_progress": "progress; the item says what came of it",
    "response.file_search_call.searching": "progress; the item says what came of it",
    "response.file_search_call.completed": "progress; the item says what came of it",
    "response.code_interpreter_call.in_progress": "progress; the item says what came of it",
    "response.code_interpreter_call.interpreting": "progress; the item says what came of it",
    "response.code_interpreter_call.completed": "progress; the item says what came of it",
    "response.code_interpreter_call_code.delta": "the code is whole on the item",
    "response.code_interpreter_call_code.done": "the code is whole on the item",
    "response.image_generation_call.in_progress": "progress; the item says what came of it",
    "response.image_generation_call.generating": "progress; the item says what came of it",
    "response.image_generation_call.partial_image": "a preview; the image is on the item",
    "response.image_generation_call.completed": "progress; the item says what came of it",
    "response.mcp_call_arguments.delta": "a call the provider runs; whole on the item",
    "response.mcp_call_arguments.done": "a call the provider runs; whole on the item",
    "response.mcp_call.in_progress": "progress; the item says what came of it",
    "response.mcp_call.completed": "progress; the item says what came of it",
    "response.mcp_call.failed": "progress; the item says what came of it",
    "response.mcp_list_tools.in_progress": "progress; the item says what came of it",
    "response.mcp_list_tools.completed": "progress; the item says what came of it",
    "response.mcp_list_tools.failed": "progress; the item says what came of it",
    "response.shell_call_command.added": "the commands are whole on the item",
    "response.shell_call_command.delta": "the commands are whole on the item",
    "response.shell_call_command.done": "the commands are whole on the item",
    "response.shell_call_output_content.delta": "the output is whole on the item",
    "response.shell_call_output_content.done": "the output is whole on the item",
    "response.apply_patch_call_operation_diff.delta": "the patch is whole on the item",
    "response.apply_patch_call_operation_diff.done": "the patch is whole on the item",
    "response.compaction.compacting": "progress; the item is the compaction",
    "response.audio.delta": "no model of this API speaks",
    "response.audio.done": "no model of this API speaks",
    "response.audio.transcript.delta": "no model of this API speaks",
    "response.audio.transcript.done": "no model of this API speaks",
    "response.steer.accepted": "only over WebSocket",
    "response.steer.pending": "only over WebSocket",
    "response.steer.failed": "only over WebSocket",
    "response.skill.loaded": "Perplexity's progress",
    "response.reasoning.started": "Perplexity's progress",
    "response.reasoning.search_queries": "Perplexity's progress",
    "response.reasoning.search_results": "Perplexity's progress",
    "response.reasoning.fetch_url_queries": "Perplexity's progress",
    "response.reasoning.fetch_url_results": "Perplexity's progress",
    "response.reasoning.stopped": "Perplexity's progress",
}
"""Events that are known and not read, and why."""

CLIENT_ITEMS = frozenset(
    {
        "computer_call",
        "local_shell_call",
        "apply_patch_call",
        "mcp_approval_request",
        "shell_call",
        "tool_search_call",
    }
)
"""Items other than calls of tools that ask the client to act, unless the provider did (see `client_acts`)."""

RESULT_ITEMS: Mapping[str, tuple[str, str]] = {
    "shell_call_output": ("shell", "output"),
    "tool_search_output": ("tool_search", "tools"),
    "program_output": ("program", "result"),
}
"""Items with what a tool of the provider gave: the tool's name, and the field."""

KEPT_ITEMS = frozenset(
    {
        "mcp_list_tools", "mcp_approval_response", "additional_tools", "compaction", "function_call_output",
        "custom_tool_call_output", "computer_call_output", "local_shell_call_output",
        "apply_patch_call_output",
    }
)  # fmt: skip
"""Items without an event of ours: kept as they are and sent back in place."""

XAI_SERVER_TOOLS = frozenset(
    {"x_keyword_search", "x_semantic_search", "x_user_search", "x_thread_fetch", "view_x_video", "view_image"}
)
"""Names under which xAI reports its own tools as `custom_tool_call` items (vercel/ai fixtures of xAI)."""

_MEDIA_TYPES: Mapping[str, str] = {"svg": "image/svg+xml", "jpg": "image/jpeg"}
_BASE64_STARTS: Mapping[str, str] = {
    "iVBOR": "image/png",
    "/9j/": "image/jpeg",
    "R0lG": "image/gif",
    "UklG": "image/webp",
}


def token_usage(usage: wire.Usage) -> TokenUsage | None:
    """Input counts include cached tokens, output counts include reasoning. None when there are no counts."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    read = usage.input_tokens_details
    out = usage.output_tokens_details
    return TokenUsage(
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        read.cached_tokens if read else None,
        read.cache_write_tokens if read else None,
        out.reasoning_tokens if out else None,
    )


def is_xai_server_tool(item: wire.Item) -> bool:
    """Whether a `custom_tool_call` is a tool that xAI runs itself."""
    return item.name in XAI_SERVER_TOOLS or (item.call_id or "").startswith("xs_call")


def client_acts(item: wire.Item) -> bool:
    """Whether an item of `CLIENT_ITEMS` waits for the client: not a shell in the provider's container,
    nor a search in tools that the provider holds.
    """
    if item.type == "tool_search_call":
        return item.execution == "client"
    if item.type == "shell_call" and isinstance(item.environment, dict):
        return item.environment.get("type") == "local"
    return item.type in CLIENT_ITEMS


def text_of(value: Any) -> str:
    """Arguments as text; some servers write the object itself."""
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def data_of(value: Any) -> Any:
    """What the text of arguments means, when it is JSON; else the text."""
    if not isinstance(value, str):
        return value
    try:
        return json_text.loads(value)
    except ValueError:
        return value


def server_call(item: wire.Item) -> tuple[str, Any] | None:
    """Name and input of a tool that the provider ran."""
    match item.type:
        case "code_interpreter_call":
            return "code_interpreter", {"code": item.code}
        case "file_search_call":
            return "file_search", {"queries": item.queries}
        case "image_generation_call":
            return "image_generation", {"prompt": item.revised_prompt} if item.revised_prompt else None
        case "mcp_call":
            return item.name or "mcp", data_of(item.arguments)
        case "tool_search_call":
            return "tool_search", data_of(item.arguments)
        case "shell_call":
            return "shell", item.action
        case "program":
            return "program", {"code": item.code}
        case "custom_tool_call":
            return item.name or "", data_of(item.input)
    return None


def server_result(item: wire.Item) -> tuple[bool, Any]:
    """Whether the item of a call also holds its result, and the result; an error is `{"error": ...}`."""
    if item.error is not None:
        return True, {"error": item.error}
    match item.type:
        case "code_interpreter_call":
            return True, item.outputs
        case "file_search_call":
            return True, item.results
        case "image_generation_call":
            return True, None
        case "mcp_call":
            return True, item.output
    return False, None


def search(item: wire.Item) -> tuple[str, list[Source], str | None, bool]:
    """What a `web_search_call` did: query, sources, URL, and whether it opened a page.

    OpenAI has `query`, DeepSeek only `queries`, older xAI the arguments of a call.
    """
    action = item.action if isinstance(item.action, dict) else {}
    query = action.get("query")
    if not (isinstance(query, str) and query):
        queries = action.get("queries")
        query = ", ".join(q for q in queries if isinstance(q, str)) if isinstance(queries, list) else ""
    if not query and isinstance(arguments := data_of(item.arguments), dict):
        query = arguments["query"] if isinstance(arguments.get("query"), str) else ""
    found = action.get("sources")
    sources: list[Source] = [
        {"title": str(source.get("title") or ""), "url": source["url"]}
        for source in (found if isinstance(found, list) else ())
        if isinstance(source, dict) and isinstance(source.get("url"), str)
    ]
    url = action.get("url")
    return query, sources, url if isinstance(url, str) else None, action.get("type") == "open_page"


def citation(annotation: dict[str, Any]) -> dict[str, Any]:
    """URL, title and place of an annotation of any type."""

    def number(*names: str) -> int | None:
        values = (annotation.get(name) for name in names)
        return next((value for value in values if type(value) is int), None)

    def text(*names: str) -> str | None:
        values = (annotation.get(name) for name in names)
        return next((value for value in values if isinstance(value, str)), None)

    return {
        "url": text("url"),
        "title": text("title", "filename"),
        "start": number("start_index", "index"),
        "end": number("end_index"),
    }


def media_type(item: wire.Item) -> str:
    """Media type of a generated image."""
    if item.output_format:
        return _MEDIA_TYPES.get(item.output_format, f"image/{item.output_format}")
    data = item.result if isinstance(item.result, str) else ""
    return next((kind for start, kind in _BASE64_STARTS.items() if data.startswith(start)), "image/png")
