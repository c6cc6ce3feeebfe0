"""Bedrock's framing of Anthropic's stream: each `chunk` of an AWS event stream holds one document in base64.

Source: `ResponseStream` in the service model `bedrock-runtime/2023-09-30` of botocore 1.44.
"""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from plait import json_text
from plait.framing import EventStreamMessage
from plait.wire import aws
from plait.wire.reading import NotAnObject

PROVIDER = "bedrock"

_METRICS = frozenset(
    {
        "amazon-bedrock-invocationMetrics",
        "cacheReadInputTokenCount",
        "cacheWriteInputTokenCount",
        "firstByteLatency",
        "inputTokenCount",
        "invocationLatency",
        "outputTokenCount",
    }
)


class _PayloadPart(msgspec.Struct):
    data: bytes = msgspec.field(name="bytes")


_decode = msgspec.json.Decoder(_PayloadPart).decode


def document(message: EventStreamMessage, unknown: Counter[str]) -> str | None:
    """The text of the document that a message holds; None when it holds none.

    Raises:
        NotAnObject: the payload is not a JSON object with base64 in it
        ProviderError: the message is an exception or error
    """
    headers = message.headers
    if headers.get(":event-type") != "chunk" or headers.get(":message-type") != "event":
        error = aws.message_error(message, PROVIDER)
        if error is not None:
            raise error
        if message.event_type != "chunk":
            unknown[f"event:{(message.event_type or '')[:100]}"] += 1
            return None
    try:
        data = _decode(message.payload).data
    except msgspec.DecodeError:
        data = _unusual(_text(message.payload), unknown)
    return _text(data) or None


def is_metrics(document: Mapping[str, Any]) -> bool:
    """Whether this is no document of Anthropic's but Bedrock's counts, which repeat the usage."""
    return bool(document) and document.keys() <= _METRICS


def _unusual(text: str, unknown: Counter[str]) -> bytes:
    try:
        payload = json_text.loads_tolerant(text)
    except ValueError as problem:
        raise NotAnObject(f"text that is not JSON ({problem})") from None
    if not isinstance(payload, dict):
        raise NotAnObject(f"JSON that is no object ({type(payload).__name__})")
    error = aws.member_error(payload, PROVIDER)
    if error is not None:
        raise error
    encoded = payload.get("bytes")
    if not isinstance(encoded, str):
        unknown["type:bytes"] += 1
        return b""
    try:
        return b64decode(encoded, validate=True)
    except ValueError as problem:
        raise NotAnObject(f"bytes that are not base64 ({problem})") from None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise NotAnObject(f"bytes that are not UTF-8 at byte {problem.start:,}") from None
