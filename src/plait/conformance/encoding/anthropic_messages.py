"""Anthropic's messages: an answer -> documents. Each part is a block with a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Part, Reasoning, Text, ToolCall, arguments
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.events import TokenUsage


def _documents(answer: Answer) -> list[Document]:
    return [*_events(answer)]


def _events(answer: Answer) -> Iterator[Document]:
    usage = answer.token_usage
    opening = {**_message(answer), "content": [], "stop_reason": None}
    if usage is not None:
        opening["usage"] = {**_usage(usage), "output_tokens": 0}
        opening["usage"].pop("output_tokens_details", None)
    yield {"type": "message_start", "message": opening}
    for index, part in enumerate(answer.parts):
        yield {"type": "content_block_start", "index": index, "content_block": _start(part)}
        for delta in _deltas(part):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": ENCODER.finish_reasons[answer.finish_reason], "stop_sequence": None}
    closing: dict[str, Any] = {"type": "message_delta", "delta": reason}
    yield closing if usage is None else {**closing, "usage": _usage(usage)}
    yield {"type": "message_stop"}


def _start(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": ""}
        case Reasoning():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}


def _deltas(part: Part) -> Iterator[dict[str, Any]]:
    kind, field = {
        Text: ("text_delta", "text"),
        Reasoning: ("thinking_delta", "thinking"),
        ToolCall: ("input_json_delta", "partial_json"),
    }[type(part)]
    for piece in part.pieces:
        yield {"type": kind, field: piece}
    if isinstance(part, Reasoning) and part.signature is not None:
        yield {"type": "signature_delta", "signature": part.signature}


def _body(answer: Answer) -> dict[str, Any]:
    body = {
        **_message(answer),
        "content": [_block(part) for part in answer.parts],
        "stop_reason": ENCODER.finish_reasons[answer.finish_reason],
        "stop_sequence": None,
    }
    return body if answer.token_usage is None else {**body, "usage": _usage(answer.token_usage)}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.whole}
        case Reasoning():
            return {"type": "thinking", "thinking": part.whole, "signature": part.signature or ""}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": arguments(part)}


def _message(answer: Answer) -> dict[str, Any]:
    return {"id": answer.id, "type": "message", "role": "assistant", "model": answer.model}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    read, write, thinking = usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens
    return without_none(
        {
            "input_tokens": usage.input_tokens - (read or 0) - (write or 0),
            "cache_creation_input_tokens": write,
            "cache_read_input_tokens": read,
            "output_tokens": usage.output_tokens,
            "output_tokens_details": None if thinking is None else {"thinking_tokens": thinking},
        }
    )


ENCODER = Encoder(
    wire="anthropic-messages",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "refusal",
        "context_window": "model_context_window_exceeded",
        "other": "pause_turn",
    },
    framings=("sse", "event-stream"),
    named=True,
)
