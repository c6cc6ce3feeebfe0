"""The messages of an AWS event stream, read without Plait's decoder; and a message with another payload."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, NamedTuple

_PRELUDE = struct.Struct(">III")
_NAMES = (b":event-type", b":exception-type", b":error-code")
_TEXT = 7


class BinaryMessage(NamedTuple):
    """One message: its place in the body, the name of what it is, its payload.

    `inner` is whether the payload is a document of Anthropic's that came as base64 in a `chunk`.
    """

    start: int
    end: int
    name: str
    text: str
    payload: Any
    inner: bool


def messages(body: bytes) -> Iterator[BinaryMessage]:
    """The whole messages of a body, up to bytes that are none."""
    start = 0
    while len(body) - start >= _PRELUDE.size:
        total, headers_length, _ = _PRELUDE.unpack_from(body, start)
        end = start + total
        if not headers_length + 16 <= total <= len(body) - start:
            return
        first = start + _PRELUDE.size + headers_length
        text = body[first : end - 4].decode("utf-8", "replace")
        payload = _decoded(text)
        name = _name(body[start + _PRELUDE.size : first])
        inner = _inner(payload) if name == "chunk" else None
        yield BinaryMessage(start, end, name, text, payload if inner is None else inner, inner is not None)
        start = end


def with_payload(message: bytes, payload: bytes) -> bytes:
    """This message with another payload; lengths and checksums are right."""
    _, headers_length, _ = _PRELUDE.unpack_from(message)
    headers = message[_PRELUDE.size : _PRELUDE.size + headers_length]
    lengths = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    start = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return start + struct.pack(">I", zlib.crc32(start))


def event(name: str, payload: bytes) -> bytes:
    """An event of this type."""
    texts = ((b":message-type", b"event"), (b":event-type", name.encode()))
    headers = b"".join(
        struct.pack(">B", len(key)) + key + struct.pack(">BH", _TEXT, len(value)) + value
        for key, value in texts
    )
    return with_payload(_PRELUDE.pack(0, len(headers), 0) + headers, payload)


def _name(headers: bytes) -> str:
    # Every header of Bedrock's is text, so the name's bytes are followed by the type and the length.
    for name in _NAMES:
        at = headers.find(struct.pack(">B", len(name)) + name + struct.pack(">B", _TEXT))
        if at >= 0:
            (size,) = struct.unpack_from(">H", headers, at + len(name) + 2)
            first = at + len(name) + 4
            return headers[first : first + size].decode("utf-8", "replace")
    return ""


def _inner(payload: Any) -> Any:
    encoded = payload.get("bytes") if isinstance(payload, dict) else None
    try:
        return _decoded(b64decode(encoded).decode("utf-8", "replace")) if isinstance(encoded, str) else None
    except ValueError:
        return encoded


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, parse_int=lambda digits: int(digits[:4300]))  # more, `int` refuses to read
    except (ValueError, RecursionError):
        return text.strip()
