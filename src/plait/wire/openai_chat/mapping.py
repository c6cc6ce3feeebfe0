"""What Chat Completions names mean in the vocabulary, for OpenAI and for the servers that speak its wire.

Sources: the `openai` SDK 3.57 types, the SDKs and error pages of Groq, Together, Fireworks, Cerebras,
Perplexity, OpenRouter, Mistral, DeepSeek, Alibaba, Moonshot (platform.kimi.ai) and Z.ai
(docs.z.ai/api-reference/api-code), and public recordings of them, as of 2026-11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

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
from plait.events import FinishReason, ReasoningPart, ReasoningType, TokenUsage
from plait.wire.assembler import MAX_DEPTH
from plait.wire.openai_chat import wire

FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "eos": "stop",  # Together
    "eos_token": "stop",  # Hugging Face TGI
    "stop_sequence": "stop",  # Hugging Face TGI
    "model_length": "context_window",  # Mistral
    "model_context_window_exceeded": "context_window",  # Z.ai
    "error": "error",  # Mistral, OpenRouter
    "insufficient_system_resource": "error",  # DeepSeek
    "network_error": "error",  # Z.ai
    "abort": "error",  # vLLM, SGLang
    "sensitive": "content_filter",  # Z.ai
    "repetition": "malformed_output",  # Baseten
}

NATIVE_LIMITS = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
"""Values of OpenRouter's `native_finish_reason` that mean a token limit, whatever `finish_reason` says."""

NATIVE_FILTERS = frozenset(
    {"refusal", "content_filter", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}
)
"""Values of it that mean a refusal or a filter."""

NO_REASONS = frozenset({"null", "None"})
"""What some servers write into every chunk where `null` is meant: the answer goes on."""

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields with reasoning as plain text, which some servers send twice: the first that is there is read.

The field's name becomes the part's `format`, because servers that want the text back want it there.
"""

DETAIL_TYPES: Mapping[str, ReasoningType] = {
    "reasoning.text": "text",
    "reasoning.summary": "summary",
    "reasoning.encrypted": "encrypted",
}
"""Types of `reasoning_details` entries that are reasoning."""

DETAIL_FORMAT = "openrouter"
"""Format of the other `reasoning_details` entries (calls of server tools, ...), kept as they are."""

SERVER_TOOL_DETAIL = "reasoning.server_tool_call"


def detail_format(detail: wire.ReasoningDetail) -> str:
    """The `format` of a reasoning part made of a `reasoning_details` entry.

    It is `openrouter:<the entry's format>#<the entry's index>`, either being empty where the entry has
    none, so that with the part's type, text, data, signature and id the entry can be made again:
    `openrouter:anthropic-claude-v1#0`.
    """
    index = "" if detail.index is None else detail.index
    return f"{DETAIL_FORMAT}:{detail.format or ''}#{index}"


def reasoning_detail(part: ReasoningPart) -> dict[str, Any] | None:
    """The `reasoning_details` entry that a part was made of; None when it was made of something else."""
    prefix, _, rest = (part.format or "").partition(":")
    inner, mark, index = rest.rpartition("#")
    if prefix != DETAIL_FORMAT or not mark:
        return None
    types = {type_: name for name, type_ in DETAIL_TYPES.items()}
    if part.type not in types:
        return None
    entry: dict[str, Any] = {
        "type": types[part.type],
        "summary" if part.type == "summary" else "text": part.text,
        "data": part.data,
        "signature": part.signature,
        "id": part.id,
        "format": inner or None,
        "index": int(index) if index else None,
    }
    return {name: value for name, value in entry.items() if value is not None}


def kept(extra: Any, unknown: Counter[str]) -> Any:
    """What a server wants back as it came; None where it is nested deeper than a message may be."""
    if json_text.is_deeper(extra, MAX_DEPTH - 1):
        unknown["extra_content:nested too deeply"] += 1
        return None
    return extra


def token_usage(usage: wire.Usage) -> TokenUsage | None:
    """The usage in our terms: input and output are all tokens, cached and reasoning ones included.

    OpenAI counts so. Servers that do not are told by their own sums:

    - more cached than prompt tokens (Grok on Azure Foundry): the prompt leaves out the cached ones
    - total = prompt + completion + audio (Mistral): the prompt leaves out the audio
    - total > prompt + completion (xAI, Gemini): the completion leaves out the reasoning
    - more reasoning than completion tokens: the same where no total contradicts it (xAI), else the count
      of reasoning tokens is wrong and is cut to the completion (Doubleword)

    None when the object has no counts.
    """
    prompt, completion = _count(usage.prompt_tokens), _count(usage.completion_tokens)
    total = _count(usage.total_tokens)
    if prompt is None and completion is None and total is None:
        return None
    given = usage.prompt_tokens_details or _NO_PROMPT_DETAILS
    made = usage.completion_tokens_details or _NO_COMPLETION_DETAILS
    read = _first(
        given.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens, usage.num_cached_tokens
    )
    reasoning = _first(made.reasoning_tokens, usage.reasoning_tokens)
    if prompt is None:
        prompt = max(0, (total or 0) - (completion or 0))
    if completion is None:
        completion = max(0, (total or 0) - prompt)
    unexplained = 0 if total is None else total - prompt - completion
    if read is not None and read > prompt:
        prompt += read
        unexplained -= read
    if unexplained > 0:
        if unexplained == _count(given.audio_tokens):
            prompt += unexplained
        else:
            completion += unexplained
    elif reasoning is not None and reasoning > completion and total is None:
        completion += reasoning
    if reasoning is not None:
        reasoning = min(reasoning, completion)
    return TokenUsage(prompt, completion, read, _count(given.cache_write_tokens), reasoning)


def _count(value: int | None) -> int | None:
    return None if value is None or value < 0 else value


def _first(*values: int | None) -> int | None:
    for value in values:
        if value is not None and value >= 0:
            return value
    return None


_NO_PROMPT_DETAILS = wire.PromptDetails()
_NO_COMPLETION_DETAILS = wire.CompletionDetails()


ERRORS: Mapping[str, type[ProviderError]] = {
    # The key
    "invalid_api_key": AuthenticationError,
    "authentication_error": AuthenticationError,
    "invalid_authentication_error": AuthenticationError,  # Moonshot
    "incorrect_api_key_error": AuthenticationError,
    "wrong_api_key": AuthenticationError,  # Cerebras
    "1000": AuthenticationError,  # Z.ai, like all numbers of four digits
    "1001": AuthenticationError,
    "1002": AuthenticationError,
    "1003": AuthenticationError,
    "1004": AuthenticationError,
    # What it may do
    "permission_denied": PermissionDeniedError,
    "permission_error": PermissionDeniedError,
    "permission_denied_error": PermissionDeniedError,
    "insufficient_permissions": PermissionDeniedError,
    "unsupported_country_region_territory": PermissionDeniedError,
    "model_not_available": PermissionDeniedError,
    "1110": PermissionDeniedError,
    "1111": PermissionDeniedError,
    "1112": PermissionDeniedError,
    "1120": PermissionDeniedError,
    "1121": PermissionDeniedError,
    "1220": PermissionDeniedError,
    "1311": PermissionDeniedError,
    # What there is
    "model_not_found": NotFoundError,
    "invalid_model": NotFoundError,
    "not_found_error": NotFoundError,
    "DeploymentNotFound": NotFoundError,  # Azure
    "1211": NotFoundError,
    "1221": NotFoundError,
    "1222": NotFoundError,
    # A quota that is used up
    "insufficient_quota": RateLimitError,
    "credit_balance_exhausted": RateLimitError,
    "organization_spend_limit_exceeded": RateLimitError,
    "project_spend_limit_exceeded": RateLimitError,
    "exceeded_current_quota_error": RateLimitError,  # Moonshot
    "Arrearage": RateLimitError,  # Alibaba
    "HTTP 402": RateLimitError,  # DeepSeek, OpenRouter
    "1113": RateLimitError,
    "1304": RateLimitError,
    "1308": RateLimitError,
    "1309": RateLimitError,
    "1310": RateLimitError,
    "1313": RateLimitError,
    # A rate
    "rate_limit_exceeded": RateLimitError,
    "rate_limit_error": RateLimitError,
    "rate_limit_reached_error": RateLimitError,  # Moonshot
    "RateLimitReached": RateLimitError,  # Azure
    "too_many_requests": RateLimitError,
    "too_many_requests_error": RateLimitError,
    "request_quota_exceeded": RateLimitError,  # Cerebras
    "token_quota_exceeded": RateLimitError,
    "limit_requests": RateLimitError,  # Alibaba
    "Throttling": RateLimitError,
    "Throttling.RateQuota": RateLimitError,
    "Throttling.BurstRate": RateLimitError,
    "Throttling.AllocationQuota": RateLimitError,
    "Throttling.User": RateLimitError,
    "1302": RateLimitError,
    "1303": RateLimitError,
    "1305": RateLimitError,
    # Capacity
    "server_is_overloaded": OverloadedError,
    "overloaded_error": OverloadedError,
    "slow_down": OverloadedError,
    "provider_overloaded": OverloadedError,  # OpenRouter
    "provider_unavailable": OverloadedError,
    "engine_overloaded_error": OverloadedError,  # Moonshot
    "capacity_exceeded": OverloadedError,  # Groq
    "service_unavailable": OverloadedError,
    "service_unavailable_error": OverloadedError,
    "The service is currently unavailable": OverloadedError,  # xAI, with HTTP 200
    "1312": OverloadedError,
    # The prompt's length
    "context_length_exceeded": ContextWindowExceededError,
    "exceed_context_size_error": ContextWindowExceededError,  # llama.cpp
    "too_many_prompt_tokens": ContextWindowExceededError,  # Perplexity
    "1261": ContextWindowExceededError,
    # Safety
    "content_filter": ContentFilterError,
    "content_policy_violation": ContentFilterError,
    "ResponsibleAIPolicyViolation": ContentFilterError,  # Azure
    "data_inspection_failed": ContentFilterError,  # Alibaba
    "DataInspectionFailed": ContentFilterError,
    "flagged_input": ContentFilterError,  # OpenRouter
    "1300": ContentFilterError,
    "1301": ContentFilterError,
    # The request, or what the model made of it
    "tool_use_failed": BadRequestError,  # Groq
    "json_validate_failed": BadRequestError,
    "invalid_request_error": BadRequestError,
    "invalid_parameter_error": BadRequestError,
    "unsupported_parameter": BadRequestError,
    "unsupported_value": BadRequestError,
    "invalid_value": BadRequestError,
    "invalid-argument": BadRequestError,  # xAI
    "BadRequestError": BadRequestError,  # vLLM
    "1210": BadRequestError,
    "1212": BadRequestError,
    "1213": BadRequestError,
    "1214": BadRequestError,
    "1215": BadRequestError,
    # The server
    "server_error": ServerError,
    "internal_error": ServerError,
    "internal_server_error": ServerError,
    "InternalServerError": ServerError,  # vLLM
    "api_error": ServerError,
    "timeout": ServerError,
    "1230": ServerError,
    "1234": ServerError,
}
"""Code, or else type, of an error; by HTTP status where it has another meaning than usual."""
