"""Documents of an Anthropic stream, invented, and the check that most tests of them make."""

from __future__ import annotations

from typing import Any

from checking import check_parse, sse

import plait
from plait import Event, FinishReasonDone, ReasoningPart, ResponseStarted
from plait.wire.anthropic_messages.mapping import FORMAT

WIRE = "anthropic-messages"
Doc = dict[str, Any]


def start(**fields: Any) -> Doc:
    return {"type": "message_start", "message": {"id": "m1", "model": "c", **fields}}


def block(index: Any, type_: Any, **fields: Any) -> Doc:
    return {"type": "content_block_start", "index": index, "content_block": {"type": type_, **fields}}


def delta(index: Any, type_: str, **fields: Any) -> Doc:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type_, **fields}}


def text(index: Any, content: str) -> Doc:
    return delta(index, "text_delta", text=content)


def args(index: Any, piece: str) -> Doc:
    return delta(index, "input_json_delta", partial_json=piece)


def stop(index: Any) -> Doc:
    return {"type": "content_block_stop", "index": index}


def finish(reason: Any = "end_turn", usage: Any = None) -> Doc:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


U = "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"


def usage(*counts: Any, **more: Any) -> Doc:
    """Counts in the order of `U`; `-` leaves one out."""
    return {name: count for name, count in zip(U, counts, strict=False) if count != "-"} | more


def thought(content: str | None, signature: str | None = None) -> ReasoningPart:
    return ReasoningPart("text", content, signature=signature, format=FORMAT)


PING: Doc = {"type": "ping"}
END: Doc = {"type": "message_stop"}
STARTED = ResponseStarted("m1", "c")
STOPPED = FinishReasonDone("stop", "end_turn")


def check(
    documents: list[Doc], expected: list[Event], unknown: dict[str, int] | None = None
) -> plait.AssistantMessage:
    """The documents between start and end give these events, for every cut; what was not understood."""
    body = sse(start(), *documents, finish(), END)
    last = expected[-1] if isinstance(expected[-1], FinishReasonDone) else STOPPED
    parser = check_parse(WIRE, body, [STARTED, *(event for event in expected if event is not last), last])
    assert (unknown or {}) == dict(parser.unknown)
    return parser.message
