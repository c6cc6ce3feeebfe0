"""Ollama's chat: an answer -> lines. A call is always whole, and its arguments are an object."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from plait.conformance.encoding.answer import Answer, Limits, Reasoning, Text, ToolCall, arguments
from plait.conformance.encoding.encoder import Document, Encoder


def _documents(answer: Answer) -> list[Document]:
    lines = [_line(answer, message) for message in _messages(answer)]
    return [*lines, {**_line(answer, {}), **_ending(answer)}]


def _messages(answer: Answer) -> Iterator[dict[str, Any]]:
    calls = 0
    for part in answer.parts:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Reasoning():
                yield from ({"thinking": piece} for piece in part.pieces)
            case ToolCall():
                yield {"tool_calls": [_call(part, calls)]}
                calls += 1


def _call(call: ToolCall, index: int) -> dict[str, Any]:
    function = {"index": index, "name": call.name, "arguments": arguments(call)}
    return {"id": call.id, "function": function}


def _body(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {}
    calls = [part for part in answer.parts if isinstance(part, ToolCall)]
    for part in answer.parts:
        if isinstance(part, Text | Reasoning):
            message["content" if isinstance(part, Text) else "thinking"] = part.whole
    if calls:
        message["tool_calls"] = [_call(call, index) for index, call in enumerate(calls)]
    return {**_line(answer, message), **_ending(answer)}


def _line(answer: Answer, message: dict[str, Any]) -> dict[str, Any]:
    created = datetime.fromtimestamp(answer.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    message = {"role": "assistant", "content": "", **message}
    return {"model": answer.model, "created_at": created, "message": message, "done": False}


def _ending(answer: Answer) -> dict[str, Any]:
    ending = {"done": True, "done_reason": ENCODER.finish_reasons[answer.finish_reason]}
    usage = answer.token_usage
    if usage is None:
        return ending
    return {**ending, "prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens}


ENCODER = Encoder(
    wire="ollama-chat",
    documents=_documents,
    body=_body,
    finish_reasons={"stop": "stop", "length": "length", "tool_calls": "stop", "other": "load"},
    limits=Limits(
        id=False,
        signatures=False,
        usage=frozenset({"input_tokens", "output_tokens"}),
        joins="unsigned",
        order="by kind",
        whole_arguments=True,
    ),
    framings=("ndjson",),
)
