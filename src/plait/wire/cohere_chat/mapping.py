"""What Cohere's names mean in the vocabulary. Sources: the `cohere` SDK 7.3.1 types,
https://docs.cohere.com/reference/errors and https://docs.cohere.com/v2/reference/chat-stream, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.errors import (
    ContentFilterError,
    ContextWindowExceededError,
    ProviderError,
)
from plait.events import FinishReason, TokenUsage
from plait.wire.cohere_chat import wire

FORMAT = "cohere-chat-v2"
"""Format of `thinking` blocks and citations: plain text, sent back as it was."""

PLAN_FORMAT = "cohere-tool-plan"
"""Format of what came as `tool_plan`, which goes back in that field."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
    "ERROR_TOXIC": "content_filter",  # version 1, as are the next two
    "ERROR_LIMIT": "context_window",
    "USER_CANCEL": "other",
}
"""Compared in upper case."""

TEXT_CITATION = "TEXT_CONTENT"
"""The type of the citations that stand in the answer's text (also meant when there is none)."""

ERRORS: Mapping[str, type[ProviderError]] = {
    "TOO_MANY_TOKENS": ContextWindowExceededError,
    "HTTP 498": ContentFilterError,
}
"""By `error_type`, or by HTTP status where Cohere's own meaning is not the usual one."""


def token_usage(usage: wire.Usage) -> TokenUsage | None:
    """The real tokens, images included; only where they are missing the billed ones, which are fewer.

    None without any count.
    """
    tokens = usage.tokens or wire.Tokens()
    input_, output = _count(tokens.input_tokens), _count(tokens.output_tokens)
    images = _count(tokens.image_tokens)
    if input_ is output is images is None:
        billed = usage.billed_units or wire.BilledUnits()
        input_, output = _count(billed.input_tokens), _count(billed.output_tokens)
    if input_ is output is images is None:
        return None
    cached = _count(usage.cached_tokens)
    return TokenUsage(
        max((input_ or 0) + (images or 0), cached or 0),
        max(output or 0, _count(tokens.reasoning_tokens) or 0),
        cached,
        None,
        _count(tokens.reasoning_tokens),
    )


def _count(value: float | None) -> int | None:
    return int(value) if value is not None and 0 <= value < 2**63 else None
