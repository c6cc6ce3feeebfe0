"""What Google's names mean in the vocabulary. Sources: `types.FinishReason` and `types.BlockedReason` of the
`google-genai` SDK 3.6.1, google.rpc.Code (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto)
and https://ai.google.dev/gemini-api/docs/troubleshooting, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from plait.events import FinishReason, TokenUsage
from plait.wire.gemini import wire

FORMAT = "google-gemini-v1"
"""Format of reasoning parts and blocks that this wire made and takes back."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "ESCALATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed_output",
    "MALFORMED_RESPONSE": "malformed_output",
    "UNEXPECTED_TOOL_CALL": "malformed_output",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "NO_IMAGE": "error",
    "PUP_LIMITED_DISABLED": "error",
    "OTHER": "other",
    "IMAGE_OTHER": "other",
}

BLOCK_REASONS = frozenset(
    {
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "JAILBREAK",
    }
)
"""Why a prompt was not answered: all are `content_filter`."""

UNSPECIFIED = frozenset(
    {"FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"}
)
"""Values that give no reason: with them a response has not ended."""

ERRORS: Mapping[str, type[ProviderError]] = {
    "CANCELLED": ServerError,
    "UNKNOWN": ServerError,
    "INVALID_ARGUMENT": BadRequestError,
    "DEADLINE_EXCEEDED": ServerError,
    "NOT_FOUND": NotFoundError,
    "ALREADY_EXISTS": BadRequestError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "UNAUTHENTICATED": AuthenticationError,
    "RESOURCE_EXHAUSTED": RateLimitError,
    "FAILED_PRECONDITION": BadRequestError,
    "ABORTED": ServerError,
    "OUT_OF_RANGE": BadRequestError,
    "UNIMPLEMENTED": BadRequestError,
    "INTERNAL": ServerError,
    "UNAVAILABLE": OverloadedError,
    "DATA_LOSS": ServerError,
    "API_KEY_INVALID": AuthenticationError,
}
"""By `status`; the last one is a `reason` (`google.rpc.ErrorInfo`), which says more than its status."""

CODE_TOOL = "code_execution"
"""Name of the server tool that `executableCode` and `codeExecutionResult` parts are."""

URL_TOOL = "url_context"
"""Name of the server tool that `urlContextMetadata` tells about."""

SEARCH_TOOL = "GOOGLE_SEARCH_WEB"
"""The `toolType` whose progress is web search; all other server tools are reported as such."""


def token_usage(usage: wire.Usage) -> TokenUsage | None:
    """Google counts thoughts beside the output, and tool results beside the prompt. None without any count.

    The prompt's count includes what was read from a cache. The first preview models that thought counted the
    thoughts as output, too, which the total tells.
    """
    prompt, tool_use = usage.prompt_token_count, usage.tool_use_prompt_token_count
    output, thoughts = usage.candidates_token_count, usage.thoughts_token_count
    if prompt is tool_use is output is thoughts is None:
        return None
    counted = usage.total_token_count == (prompt or 0) + (tool_use or 0) + (output or 0)
    return TokenUsage(
        (prompt or 0) + (tool_use or 0),
        (output or 0) + (0 if counted else thoughts or 0),
        usage.cached_content_token_count,
        None,
        thoughts,
    )
