"""AWS event stream bodies, written as the documents they hold."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from plait.framing import encode_event_stream_message


def event(name: str, document: Mapping[str, Any] | str) -> bytes:
    """One event; text is sent as it is. Bedrock pads its documents, so these are padded."""
    payload = (
        document if isinstance(document, str) else json.dumps({**document, "p": "abc"}, ensure_ascii=False)
    )
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return encode_event_stream_message(headers, payload.encode())


def exception(name: str, document: Mapping[str, Any] | str) -> bytes:
    """One exception of the service's model."""
    payload = document if isinstance(document, str) else json.dumps(document)
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return encode_event_stream_message(headers, payload.encode())


def error(code: str, message: str) -> bytes:
    """One error that the service's model does not have."""
    return encode_event_stream_message(
        {":message-type": "error", ":error-code": code, ":error-message": message}
    )


def chunk(document: Mapping[str, Any] | str) -> bytes:
    """One document of Anthropic's in Bedrock's framing."""
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return event("chunk", {"bytes": b64encode(text.encode()).decode()})


def start(index: int, **block: Any) -> bytes:
    """`contentBlockStart` of a Converse stream."""
    return event("contentBlockStart", {"contentBlockIndex": index, "start": block})


def delta(index: int, **piece: Any) -> bytes:
    """`contentBlockDelta` of a Converse stream."""
    return event("contentBlockDelta", {"contentBlockIndex": index, "delta": piece})


def stop(index: int) -> bytes:
    """`contentBlockStop` of a Converse stream."""
    return event("contentBlockStop", {"contentBlockIndex": index})


def end(stop_reason: str = "end_turn", usage: Mapping[str, Any] | None = None, **metadata: Any) -> bytes:
    """`messageStop` and `metadata` of a Converse stream."""
    counts = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10} if usage is None else usage
    return event("messageStop", {"stopReason": stop_reason}) + event(
        "metadata", {"usage": counts, "metrics": {"latencyMs": 9}, **metadata}
    )


BEGIN = event("messageStart", {"role": "assistant"})
