"""What Anthropic's names mean in the vocabulary. Sources: the `anthropic` SDK 2.14 types and
https://platform.claude.com/docs/en/api/errors, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.errors import (
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.events import FinishReason, Source, TokenUsage
from plait.wire import aws

FORMAT = "anthropic-claude-v1"
"""Format of reasoning parts, citations and blocks that this wire made and takes back."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "pause_turn": "other",
    "refusal": "content_filter",
    "model_context_window_exceeded": "context_window",
    "compaction": "other",
}

ERRORS: Mapping[str, type[ProviderError]] = {
    "invalid_request_error": BadRequestError,
    "authentication_error": AuthenticationError,
    "billing_error": PermissionDeniedError,
    "permission_error": PermissionDeniedError,
    "not_found_error": NotFoundError,
    "conflict_error": BadRequestError,
    "request_too_large": BadRequestError,
    "rate_limit_error": RateLimitError,
    "api_error": ServerError,
    "timeout_error": ServerError,
    "overloaded_error": OverloadedError,
    **aws.ERRORS,
}
"""By Anthropic's error type, and by the name of AWS's exception where Bedrock serves the model."""

SEARCH_TOOL = "web_search"
"""Name of the server tool whose progress is web search; all other server tools are reported as such."""

SERVER_CALL_BLOCKS = frozenset({"server_tool_use", "mcp_tool_use"})
"""Calls that the provider runs by itself."""

CALL_BLOCKS = SERVER_CALL_BLOCKS | {"tool_use"}
"""Blocks whose input is streamed as JSON text."""

KEPT_BLOCKS = frozenset({"container_upload", "compaction", "fallback", "mcp_tool_listing"})
"""Blocks without an event of ours: kept as they are and sent back in place."""


def token_usage(counts: Mapping[str, int]) -> TokenUsage:
    """Anthropic counts cached input beside the rest; ours is all that entered the context."""
    read = counts.get("cache_read_input_tokens")
    write = counts.get("cache_creation_input_tokens")
    return TokenUsage(
        counts.get("input_tokens", 0) + (read or 0) + (write or 0),
        counts.get("output_tokens", 0),
        read,
        write,
        counts.get("thinking_tokens"),
    )


def sources(results: Any) -> list[Source]:
    """Title and URL of each search result; an error object has none."""
    found = [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []
    return [
        {"title": str(item.get("title") or ""), "url": item["url"]}
        for item in found
        if isinstance(item.get("url"), str)
    ]
