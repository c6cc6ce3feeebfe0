"""Bytes of a response body to frames: server-sent events, NDJSON, a streamed JSON array, AWS event stream.

Every decoder is pushed: `feed(bytes)` returns the frames that are complete, `close()` those that the end of
the body completes. None does I/O, none depends on how the bytes were cut into chunks, and each costs time
in proportion to the bytes. See `Decoder` for how faults are reported.
"""

from __future__ import annotations

from plait.framing._decoder import MAX_FRAME, BytesLike, Decoder
from plait.framing.event_stream import (
    EventStreamDecoder,
    EventStreamMessage,
    HeaderValue,
    encode_event_stream_message,
)
from plait.framing.json_array import JSONArrayDecoder
from plait.framing.ndjson import NDJSONDecoder
from plait.framing.sse import Block, ServerSentEvent, SSEBlockDecoder, SSEDecoder, event_of, is_sse_start

__all__ = [
    "MAX_FRAME",
    "Block",
    "BytesLike",
    "Decoder",
    "EventStreamDecoder",
    "EventStreamMessage",
    "HeaderValue",
    "JSONArrayDecoder",
    "NDJSONDecoder",
    "SSEBlockDecoder",
    "SSEDecoder",
    "ServerSentEvent",
    "encode_event_stream_message",
    "event_of",
    "is_sse_start",
]
