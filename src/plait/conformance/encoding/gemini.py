"""Gemini: an answer -> chunks. A call is whole, and its arguments are an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Limits, Reasoning, Text, ToolCall, arguments
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.events import TokenUsage


def _documents(answer: Answer) -> list[Document]:
    documents: list[Document] = [_chunk(answer, [part]) for part in _parts(answer)]
    return [*documents, {**_chunk(answer, []), **_ending(answer, [])}]


def _parts(answer: Answer) -> Iterator[dict[str, Any]]:
    for part in answer.parts:
        match part:
            case Text():
                yield from ({"text": piece} for piece in part.pieces)
            case Reasoning(signature=None):
                yield from ({"text": piece, "thought": True} for piece in part.pieces)
            case Reasoning():
                yield {"text": part.whole, "thought": True, "thoughtSignature": part.signature}
            case ToolCall():
                yield {"functionCall": {"id": part.id, "name": part.name, "args": arguments(part)}}


def _chunk(answer: Answer, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"candidates": [_candidate(parts)], "modelVersion": answer.model, "responseId": answer.id}


def _candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"content": {"parts": parts, "role": "model"}, "index": 0}


def _ending(answer: Answer, parts: list[dict[str, Any]]) -> dict[str, Any]:
    reason = ENCODER.finish_reasons[answer.finish_reason]
    ending: dict[str, Any] = {"candidates": [{**_candidate(parts), "finishReason": reason}]}
    if answer.token_usage is not None:
        ending["usageMetadata"] = _usage(answer.token_usage)
    return ending


def _body(answer: Answer) -> dict[str, Any]:
    return {**_chunk(answer, []), **_ending(answer, [*_parts(answer)])}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    thoughts = usage.reasoning_tokens
    return without_none(
        {
            "promptTokenCount": usage.input_tokens,
            "cachedContentTokenCount": usage.cache_read_tokens,
            "candidatesTokenCount": usage.output_tokens - (thoughts or 0),
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": usage.total_tokens,
        }
    )


ENCODER = Encoder(
    wire="gemini",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "STOP",
        "length": "MAX_TOKENS",
        "tool_calls": "STOP",
        "content_filter": "SAFETY",
        "malformed_output": "MALFORMED_RESPONSE",
        "error": "TOO_MANY_TOOL_CALLS",
        "other": "OTHER",
    },
    limits=Limits(
        usage=frozenset({"input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens"}),
        joins="unsigned",
        whole_arguments=True,
        whole_signed=True,
    ),
    framings=("sse", "json-array"),
)
