"""Mistral's chat: as Chat Completions, with thinking as a part of the content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding import openai_chat
from plait.conformance.encoding.answer import Answer, Limits, Reasoning, Text, ToolCall
from plait.conformance.encoding.encoder import Document, Encoder


def _documents(answer: Answer) -> list[Document]:
    documents = [_chunk(answer, {"role": "assistant", "content": ""})]
    documents += [_chunk(answer, delta) for delta in _deltas(answer)]
    last = _chunk(answer, {"content": ""}, ENCODER.finish_reasons[answer.finish_reason])
    if answer.token_usage is not None:
        last["usage"] = openai_chat.usage(answer.token_usage)
    return [*documents, last, "[DONE]"]


def _chunk(answer: Answer, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {**_response(answer, "chat.completion.chunk"), "choices": [choice]}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    calls = 0
    for part in answer.parts:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Reasoning():
                yield from ({"content": [_thinking(piece)]} for piece in part.pieces)
                if part.signature is not None:
                    yield {"content": [{"type": "thinking", "thinking": [], "signature": part.signature}]}
            case ToolCall():
                yield from ({"tool_calls": [piece]} for piece in openai_chat.call_pieces(part, calls))
                calls += 1


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _body(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    calls = []
    for part in answer.parts:
        match part:
            case Text():
                content.append({"type": "text", "text": part.whole})
            case Reasoning(signature=None):
                content.append(_thinking(part.whole))
            case Reasoning():
                content.append({**_thinking(part.whole), "signature": part.signature})
            case ToolCall():
                calls.append(openai_chat.whole_call(part))
    message = {"role": "assistant", "content": content, "tool_calls": calls or None}
    choice = {"index": 0, "message": message, "finish_reason": ENCODER.finish_reasons[answer.finish_reason]}
    body = {**_response(answer, "chat.completion"), "choices": [choice]}
    usage = answer.token_usage
    return body if usage is None else {**body, "usage": openai_chat.usage(usage)}


def _response(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": answer.id, "object": kind, "created": answer.created, "model": answer.model}


ENCODER = Encoder(
    wire="mistral-chat",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "context_window": "model_length",
        "error": "error",
    },
    limits=Limits(joins="until signed", order="calls last"),
)
