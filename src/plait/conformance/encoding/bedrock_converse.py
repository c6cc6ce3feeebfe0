"""Bedrock's Converse: an answer -> documents, each with one member, whose name goes into a header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Limits, Part, Reasoning, Text, ToolCall, arguments
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.events import TokenUsage


def _documents(answer: Answer) -> list[Document]:
    return [*_events(answer)]


def _events(answer: Answer) -> Iterator[Document]:
    yield {"messageStart": {"role": "assistant"}}
    for index, part in enumerate(answer.parts):
        if isinstance(part, ToolCall):  # text and reasoning begin with their first piece
            start = {"toolUse": {"toolUseId": part.id, "name": part.name}}
            yield {"contentBlockStart": {"start": start, "contentBlockIndex": index}}
        for delta in _deltas(part):
            yield {"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}}
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": ENCODER.finish_reasons[answer.finish_reason]}}
    if answer.token_usage is not None:
        yield {"metadata": {"usage": _usage(answer.token_usage), "metrics": {"latencyMs": 0}}}


def _deltas(part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case Text():
            yield from ({"text": piece} for piece in part.pieces)
        case Reasoning():
            yield from ({"reasoningContent": {"text": piece}} for piece in part.pieces)
            if part.signature is not None:
                yield {"reasoningContent": {"signature": part.signature}}
        case ToolCall():
            yield from ({"toolUse": {"input": piece}} for piece in part.pieces)


def _body(answer: Answer) -> dict[str, Any]:
    body = {
        "output": {"message": {"role": "assistant", "content": [_block(part) for part in answer.parts]}},
        "stopReason": ENCODER.finish_reasons[answer.finish_reason],
        "metrics": {"latencyMs": 0},
    }
    return body if answer.token_usage is None else {**body, "usage": _usage(answer.token_usage)}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"text": part.whole}
        case Reasoning():
            said = without_none({"text": part.whole, "signature": part.signature})
            return {"reasoningContent": {"reasoningText": said}}
        case ToolCall():
            return {"toolUse": {"toolUseId": part.id, "name": part.name, "input": arguments(part)}}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    read, write = usage.cache_read_tokens, usage.cache_write_tokens
    return without_none(
        {
            "inputTokens": usage.input_tokens - (read or 0) - (write or 0),
            "outputTokens": usage.output_tokens,
            "totalTokens": usage.total_tokens,
            "cacheReadInputTokens": read,
            "cacheWriteInputTokens": write,
        }
    )


ENCODER = Encoder(
    wire="bedrock-converse",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered",
        "context_window": "model_context_window_exceeded",
        "malformed_output": "malformed_model_output",
    },
    limits=Limits(
        id=False,
        model=False,
        usage=frozenset({"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"}),
    ),
    framings=("event-stream",),
)
