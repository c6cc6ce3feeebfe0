"""The Responses API: an answer -> events. Each part is an output item; what a signature is elsewhere is
`encrypted_content` here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.conformance.encoding.answer import Answer, Part, Reasoning, Text, ToolCall
from plait.conformance.encoding.encoder import Document, Encoder, without_none
from plait.events import TokenUsage

_PREFIXES = {Text: "msg", Reasoning: "rs", ToolCall: "fc"}


def _documents(answer: Answer) -> list[Document]:
    return [{**event, "sequence_number": number} for number, event in enumerate(_events(answer))]


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    started = _response(answer, "in_progress", [])
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    output = []
    for index, part in enumerate(answer.parts):
        place = {"output_index": index, "item_id": _item_id(part, index)}
        yield {"type": "response.output_item.added", "output_index": index, "item": _added(part, index)}
        for event in _pieces(part):
            yield {**event, **place}
        item = _item(part, index)
        output.append(item)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    body = _whole(answer, output)
    yield {"type": f"response.{body['status']}", "response": body}


def _item_id(part: Part, index: int) -> str:
    return f"{_PREFIXES[type(part)]}_{index}"


def _added(part: Part, index: int) -> dict[str, Any]:
    item = {**_item(part, index), "status": "in_progress"}
    empty: dict[str, Any] = {"content": [], "summary": [], "arguments": ""}
    item = {name: empty.get(name, value) for name, value in item.items()}
    item.pop("encrypted_content", None)
    return item


def _pieces(part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case Text():
            kind = "response.output_text"
            place: dict[str, Any] = {"content_index": 0}
            yield {"type": "response.content_part.added", **place, "part": _text("")}
            for piece in part.pieces:
                yield {"type": f"{kind}.delta", **place, "delta": piece, "logprobs": []}
            yield {"type": f"{kind}.done", **place, "text": part.whole, "logprobs": []}
            yield {"type": "response.content_part.done", **place, "part": _text(part.whole)}
        case Reasoning():
            kind = "response.reasoning_summary"
            place = {"summary_index": 0}
            yield {"type": f"{kind}_part.added", **place, "part": _summary("")}
            for piece in part.pieces:
                yield {"type": f"{kind}_text.delta", **place, "delta": piece}
            yield {"type": f"{kind}_text.done", **place, "text": part.whole}
            yield {"type": f"{kind}_part.done", **place, "part": _summary(part.whole)}
        case ToolCall():
            kind = "response.function_call_arguments"
            for piece in part.pieces:
                yield {"type": f"{kind}.delta", "delta": piece}
            yield {"type": f"{kind}.done", "arguments": part.whole}


def _item(part: Part, index: int) -> dict[str, Any]:
    item = {"id": _item_id(part, index), "status": "completed"}
    match part:
        case Text():
            return {**item, "type": "message", "role": "assistant", "content": [_text(part.whole)]}
        case Reasoning():
            kept = without_none({"encrypted_content": part.signature})
            return {**item, "type": "reasoning", "summary": [_summary(part.whole)], **kept}
        case ToolCall():
            said = {"call_id": part.id, "name": part.name, "arguments": part.whole}
            return {**item, "type": "function_call", **said}


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _body(answer: Answer) -> dict[str, Any]:
    return _whole(answer, [_item(part, index) for index, part in enumerate(answer.parts)])


def _whole(answer: Answer, output: list[dict[str, Any]]) -> dict[str, Any]:
    word = ENCODER.finish_reasons[answer.finish_reason]
    if word == "completed":
        body = _response(answer, word, output)
    else:
        body = {**_response(answer, "incomplete", output), "incomplete_details": {"reason": word}}
    return body if answer.token_usage is None else {**body, "usage": _usage(answer.token_usage)}


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": answer.id,
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "model": answer.model,
        "output": output,
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


def _usage(usage: TokenUsage) -> dict[str, Any]:
    given = {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    made = {"reasoning_tokens": usage.reasoning_tokens}
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": without_none(given),
        "output_tokens": usage.output_tokens,
        "output_tokens_details": without_none(made),
        "total_tokens": usage.total_tokens,
    }


ENCODER = Encoder(
    wire="openai-responses",
    documents=_documents,
    body=_body,
    finish_reasons={
        "stop": "completed",
        "tool_calls": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
        "other": "max_tool_calls",
    },
    named=True,
)
