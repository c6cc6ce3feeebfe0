"""Cohere's chat: an answer -> events. Content blocks and tool calls are numbered apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Limits, Reasoning, Text, ToolCall
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.conformance.encoding.openai_chat import whole_call
from plait.events import TokenUsage


def _documents(answer: Answer) -> list[Document]:
    return [*_events(answer), "[DONE]"]


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    opening = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield {"id": answer.id, "type": "message-start", "delta": {"message": opening}}
    blocks = calls = 0
    for part in answer.parts:
        if isinstance(part, ToolCall):
            yield from _call(part, calls)
            calls += 1
        else:
            yield from _block(part, blocks)
            blocks += 1
    delta: dict[str, Any] = {"finish_reason": ENCODER.finish_reasons[answer.finish_reason]}
    if answer.token_usage is not None:
        delta["usage"] = _usage(answer.token_usage)
    yield {"type": "message-end", "delta": delta}


def _block(part: Text | Reasoning, index: int) -> Iterator[dict[str, Any]]:
    kind = _kind(part)
    yield _event("content-start", index, {"content": {"type": kind, kind: ""}})
    for piece in part.pieces:
        yield _event("content-delta", index, {"content": {kind: piece}})
    yield {"type": "content-end", "index": index}


def _call(call: ToolCall, index: int) -> Iterator[dict[str, Any]]:
    function = {"name": call.name, "arguments": ""}
    start = {"id": call.id, "type": "function", "function": function}
    yield _event("tool-call-start", index, {"tool_calls": start})
    for piece in call.pieces:
        yield _event("tool-call-delta", index, {"tool_calls": {"function": {"arguments": piece}}})
    yield {"type": "tool-call-end", "index": index}


def _event(kind: str, index: int, message: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


def _kind(part: Text | Reasoning) -> str:
    return "text" if isinstance(part, Text) else "thinking"


def _body(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"}
    for part in answer.parts:
        if isinstance(part, ToolCall):
            message.setdefault("tool_calls", []).append(whole_call(part))
        else:
            kind = _kind(part)
            message.setdefault("content", []).append({"type": kind, kind: part.whole})
    body = {
        "id": answer.id,
        "message": message,
        "finish_reason": ENCODER.finish_reasons[answer.finish_reason],
    }
    return body if answer.token_usage is None else {**body, "usage": _usage(answer.token_usage)}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    tokens = without_none({**counts, "reasoning_tokens": usage.reasoning_tokens})
    return without_none({"billed_units": counts, "tokens": tokens, "cached_tokens": usage.cache_read_tokens})


ENCODER = Encoder(
    wire="cohere-chat",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "COMPLETE",
        "length": "MAX_TOKENS",
        "tool_calls": "TOOL_CALL",
        "error": "ERROR",
    },
    limits=Limits(
        model=False,
        signatures=False,
        usage=frozenset({"input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens"}),
        order="calls last",
    ),
    named=True,
)
