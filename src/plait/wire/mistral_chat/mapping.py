"""What Mistral's names mean in the vocabulary. Sources: the `mistralai` SDK 3.7 types,
https://docs.mistral.ai/api, as of 2026-11; of its numeric error codes only what was seen recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from plait.errors import (
    BadRequestError,
    NotFoundError,
    ProviderError,
)
from plait.events import FinishReason, TokenUsage
from plait.wire.mistral_chat import wire
from plait.wire.openai_chat import mapping as chat
from plait.wire.openai_chat.wire import Usage

FORMAT = "mistral-chat-v1"
"""Format of `thinking` parts, references and other parts that this wire made and takes back."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "model_length": "context_window",
    "error": "error",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",  # on Azure
}

REFERENCES = frozenset({"reference", "tool_reference"})
"""Parts that say what the text before them rests on."""

KEPT_PARTS = frozenset({"document_url", "file", "input_audio", "resource", "resource_link"})
"""Parts without an event of ours: kept as they are and sent back in place."""

PARTS = REFERENCES | KEPT_PARTS | {"text", "thinking", "image_url", None}
"""All types of parts that are known."""

ERRORS: Mapping[str, type[ProviderError]] = {
    "invalid_model": NotFoundError,
    "1500": NotFoundError,
    "invalid_request_error": BadRequestError,
}
"""Code, or else type, of an error. Its codes are numbers of Mistral's own."""


def to_wire(part: wire.ContentPart | wire.Thought) -> dict[str, Any]:
    """A part as it was on the wire, without what was null."""
    data: dict[str, Any] = msgspec.to_builtins(part)
    other = data.pop("*", None) or {}
    return {name: value for name, value in data.items() if value is not None} | other


def token_usage(usage: Usage) -> TokenUsage | None:
    """As Chat Completions counts, but a total that is more than the sum has audio in it, which is input.

    None when the object has no counts.
    """
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    if prompt is not None and completion is not None and total is not None:
        prompt = max(prompt, total - max(completion, 0))
        usage = msgspec.structs.replace(usage, prompt_tokens=prompt)
    return chat.token_usage(usage)
