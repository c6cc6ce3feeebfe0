"""One short answer, as documents, events, an SSE body and a JSON body."""

from __future__ import annotations

from typing import Any

from checking import sse

import plait
from plait import FinishReasonDone, ResponseStarted, TextDelta, TextDone, TokenUsage, TokenUsageDone

WIRE = "anthropic-messages"
BOM = b"\xef\xbb\xbf"

DOCUMENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m1", "model": "c", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hé "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "🌍\u2028"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
EVENTS: list[plait.Event] = [
    ResponseStarted("m1", "c"),
    TextDelta("Hé ", 0),
    TextDelta("🌍\u2028", 0),
    TextDone("Hé 🌍\u2028", 0),
    TokenUsageDone(TokenUsage(3, 2)),
    FinishReasonDone("stop", "end_turn"),
]
STREAM = sse(*DOCUMENTS)
SEEN = EVENTS[:3]
"""The events of a stream that is cut after its text."""

BODY: dict[str, Any] = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": [{"type": "text", "text": "Hé 🌍\u2028"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
BODY_EVENTS = [EVENTS[0], TextDelta("Hé 🌍\u2028", 0), *EVENTS[3:]]
