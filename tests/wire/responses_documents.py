"""Short documents of the Responses API, to build streams and bodies from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checking import check_parse, sse

from plait.errors import PlaitError
from plait.events import Event, FinishReasonDone, ResponseStarted, TokenUsage, TokenUsageDone
from plait.wire.parser import Parser

Document = dict[str, Any]

STARTED = ResponseStarted("r1", "gpt")
STOP = FinishReasonDone("stop", "completed")
CALLED = FinishReasonDone("tool_calls", "completed")


def response(status: str = "in_progress", output: list[Document] | None = None, **more: Any) -> Document:
    """A response object."""
    return {
        "id": "r1",
        "status": status,
        "model": "gpt",
        "output": output or [],
        **more,
    }


def created() -> Document:
    """The first event."""
    return {"type": "response.created", "response": response()}


def ended(status: str = "completed", output: list[Document] | None = None, **more: Any) -> Document:
    """The terminal event of this name."""
    return {"type": f"response.{status}", "response": response(status, output, **more)}


def added(index: int | None, item: Document) -> Document:
    """`output_item.added`."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int | None, item: Document) -> Document:
    """`output_item.done`."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def event(name: str, index: int | None = 0, id: str | None = "m", **more: Any) -> Document:
    """An event about the item at `index`."""
    document = {"type": f"response.{name}", "output_index": index, "item_id": id, **more}
    return {key: value for key, value in document.items() if value is not None}


def text(delta: str, index: int | None = 0, id: str | None = "m", part: int = 0) -> Document:
    """`output_text.delta`."""
    return event("output_text.delta", index, id, content_index=part, delta=delta)


def message(*texts: str, id: str = "m", **more: Any) -> Document:
    """A whole message item."""
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {
        "type": "message",
        "id": id,
        "role": "assistant",
        "status": "completed",
        "content": content,
        **more,
    }


def call(
    arguments: str = "{}", id: str = "fc", call_id: str = "call", name: str = "f", **more: Any
) -> Document:
    """A function call item."""
    return {
        "type": "function_call",
        "id": id,
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **more,
    }


def arguments(delta: str, index: int | None = 0, id: str | None = "fc") -> Document:
    """`function_call_arguments.delta`."""
    return event("function_call_arguments.delta", index, id, delta=delta)


def check(
    documents: Sequence[Document | str],
    expected: list[Event],
    *,
    error: type[PlaitError] | None = None,
    names: bool = False,
    **options: Any,
) -> Parser:
    """`check_parse` on a stream of these documents."""
    return check_parse(
        "openai-responses", sse(*documents, event_names=names), expected, error=error, **options
    )


def usage(input_tokens: int, output_tokens: int) -> Document:
    """The usage of a response, without details."""
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": 99}


def used(input_tokens: int, output_tokens: int) -> TokenUsageDone:
    """The event for it."""
    return TokenUsageDone(TokenUsage(input_tokens, output_tokens))
