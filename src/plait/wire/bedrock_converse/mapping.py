"""What Bedrock's names mean in the vocabulary. Sources: the service model `bedrock-runtime/2023-09-30` of
botocore 1.44, and https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
as of 2026-11.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plait.errors import ProviderError
from plait.events import FinishReason, GuardrailPhase, TokenUsage
from plait.wire import aws

FORMAT = "bedrock-converse-v1"
"""Format of reasoning parts, citations and blocks that this wire made and takes back."""

TRACE_FORMAT = "bedrock-converse-trace-v1"
"""Format of a guardrail's trace: kept beside the answer, never sent back."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "malformed_output",
    "malformed_tool_use": "malformed_output",
    "model_context_window_exceeded": "context_window",
}

INTERVENED = "guardrail_intervened"
"""The stop reason after which a guardrail's trace says what was blocked."""

ERRORS: Mapping[str, type[ProviderError]] = aws.ERRORS

SERVER_TOOL = "server_tool_use"
"""`type` of a call that the provider runs. `tool_use`, or none, is one for the client."""

SEARCH_TOOL = "nova_grounding"
"""Name of the server tool that is web search; all other server tools are reported as such."""

MEDIA_TYPES: Mapping[str, str] = {
    "audio/m4a": "audio/mp4",
    "audio/mka": "audio/x-matroska",
    "audio/mkv": "audio/x-matroska",
    "audio/mp3": "audio/mpeg",
    "audio/mpga": "audio/mpeg",
    "audio/x-aac": "audio/aac",
    "video/flv": "video/x-flv",
    "video/mkv": "video/x-matroska",
    "video/mov": "video/quicktime",
    "video/mpg": "video/mpeg",
    "video/three_gp": "video/3gpp",
    "video/wmv": "video/x-ms-wmv",
}
"""Media types of formats that are not named as their media type; the others are `kind/format`."""


def media_type(kind: str, format: str | None) -> str:
    """The media type of an `image`, `audio` or `video` in this format."""
    plain = f"{kind}/{format}"
    return MEDIA_TYPES.get(plain, plain) if format else "application/octet-stream"


def token_usage(
    input_tokens: int | None, output_tokens: int | None, cache_read: int | None, cache_write: int | None
) -> TokenUsage:
    """Bedrock counts cached input beside the rest; ours is all that entered the context."""
    return TokenUsage(
        (input_tokens or 0) + (cache_read or 0) + (cache_write or 0),
        output_tokens or 0,
        cache_read,
        cache_write,
    )


def join_base64(pieces: Sequence[str]) -> str:
    """The base64 of what all pieces of base64 hold together; a single piece stays as it came."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode()
    except ValueError:
        return "".join(pieces)


def tripwires(trace: Any) -> Iterator[tuple[str, str, GuardrailPhase]]:
    """Each guardrail that blocked: its id, why, and whether it was the prompt (`before`) or the answer."""
    if not isinstance(trace, dict):
        return
    reason = trace.get("actionReason")
    phases: tuple[tuple[str, GuardrailPhase], ...] = (
        ("inputAssessment", "before"),
        ("outputAssessments", "after"),
    )
    for field, phase in phases:
        assessed = trace.get(field)
        for guardrail, policies in assessed.items() if isinstance(assessed, dict) else ():
            names = sorted(set(_blocking(policies)))
            if names:
                why = f": {reason}" if isinstance(reason, str) and reason else ""
                yield guardrail, ", ".join(names) + why, phase


def _blocking(policies: Any) -> Iterator[str]:
    """The policies that say `"action": "BLOCKED"` somewhere inside, each with what it found when it says so.

    What was matched is the user's or the model's text, and stays out.
    """
    for each in policies if isinstance(policies, list) else [policies]:
        for policy, found in each.items() if isinstance(each, dict) else ():
            for item in _blocked(found):
                kind = item.get("name") or item.get("type")
                yield f"{policy} {kind}" if isinstance(kind, str) else policy


def _blocked(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("action") == "BLOCKED":
            yield value
        for item in value.values():
            yield from _blocked(item)
    elif isinstance(value, list):
        for item in value:
            yield from _blocked(item)
