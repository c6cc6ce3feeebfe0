"""Chat Completions: an answer -> chunks. Reasoning is plain text in `reasoning_content`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Limits, Reasoning, Text, ToolCall
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.events import TokenUsage


def _documents(answer: Answer) -> list[Document]:
    return [*_chunks(answer)]


def _chunks(answer: Answer) -> Iterator[Document]:
    yield _chunk(answer, {"role": "assistant", "content": ""})
    for delta in _deltas(answer):
        yield _chunk(answer, delta)
    yield _chunk(answer, {}, ENCODER.finish_reasons[answer.finish_reason])
    if answer.token_usage is not None:
        yield {
            **_response(answer, "chat.completion.chunk"),
            "choices": [],
            "usage": usage(answer.token_usage),
        }
    yield "[DONE]"


def _chunk(answer: Answer, delta: dict[str, Any], finish_reason: str | None = None) -> Document:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {**_response(answer, "chat.completion.chunk"), "choices": [choice]}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    calls = 0
    for part in answer.parts:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Reasoning():
                yield from ({"reasoning_content": piece} for piece in part.pieces)
            case ToolCall():
                yield from ({"tool_calls": [piece]} for piece in call_pieces(part, calls))
                calls += 1


def call_pieces(call: ToolCall, index: int) -> Iterator[dict[str, Any]]:
    """A call as entries of `tool_calls`: its name first, then the pieces of its arguments."""
    function = {"name": call.name, "arguments": ""}
    yield {"index": index, "id": call.id, "type": "function", "function": function}
    for piece in call.pieces:
        yield {"index": index, "function": {"arguments": piece}}


def whole_call(call: ToolCall) -> dict[str, Any]:
    """A call as an entry of a message's `tool_calls`."""
    function = {"name": call.name, "arguments": call.whole}
    return {"id": call.id, "type": "function", "function": function}


def _body(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls = []
    for part in answer.parts:
        match part:
            case Text():
                message["content"] = part.whole
            case Reasoning():
                message["reasoning_content"] = part.whole
            case ToolCall():
                calls.append(whole_call(part))
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": ENCODER.finish_reasons[answer.finish_reason],
    }
    body = {**_response(answer, "chat.completion"), "choices": [choice]}
    return body if answer.token_usage is None else {**body, "usage": usage(answer.token_usage)}


def _response(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": answer.id, "object": kind, "created": answer.created, "model": answer.model}


def usage(counts: TokenUsage) -> dict[str, Any]:
    """Token counts as Chat Completions has them."""
    given = {"cached_tokens": counts.cache_read_tokens, "cache_write_tokens": counts.cache_write_tokens}
    made = {"reasoning_tokens": counts.reasoning_tokens}
    return without_none(
        {
            "prompt_tokens": counts.input_tokens,
            "completion_tokens": counts.output_tokens,
            "total_tokens": counts.total_tokens,
            "prompt_tokens_details": without_none(given) or None,
            "completion_tokens_details": without_none(made) or None,
        }
    )


ENCODER = Encoder(
    wire="openai-chat",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "error": "error",
    },
    limits=Limits(signatures=False, joins="unsigned", order="by kind"),
)
