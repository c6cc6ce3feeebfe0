"""Bodies that obey the laws, invented for these tests, all in the wire format `anthropic-messages`."""

from __future__ import annotations

import json
from typing import Any

WIRE = "anthropic-messages"


def frame(**document: Any) -> str:
    """One frame of the wire, named by its `type`."""
    return f"event: {document['type']}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n"


def _start(index: int, **block: Any) -> str:
    return frame(type="content_block_start", index=index, content_block=block)


def _delta(index: int, **delta: Any) -> str:
    return frame(type="content_block_delta", index=index, delta=delta)


def _stop(index: int) -> str:
    return frame(type="content_block_stop", index=index)


MESSAGE = {"id": "m1", "type": "message", "model": "test", "content": [], "usage": {"input_tokens": 3}}
OPENING = frame(type="message_start", message=MESSAGE)
THINKING = (
    _start(0, type="thinking", thinking="")
    + _delta(0, type="thinking_delta", thinking="Look ")
    + _delta(0, type="thinking_delta", thinking="outside.")
    + _delta(0, type="signature_delta", signature="c2ln")
    + _stop(0)
)
TEXT = (
    _start(1, type="text", text="")
    + _delta(1, type="text_delta", text="Il gèle à ")
    + _delta(1, type="text_delta", text="Saint-Véran ❄")
    + _stop(1)
)
CALLS = (
    _start(2, type="tool_use", id="t1", name="weather", input={})
    + _delta(2, type="input_json_delta", partial_json='{"city": ')
    + _delta(2, type="input_json_delta", partial_json='"Saint-Véran"}')
    + _stop(2)
    + _start(3, type="tool_use", id="t2", name="clock", input={})
    + _stop(3)
)
CLOSING = frame(type="message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 9}) + frame(
    type="message_stop"
)
ERROR = frame(type="error", error={"type": "overloaded_error", "message": "busy"})

STREAM = (OPENING + THINKING + TEXT + CALLS + CLOSING).encode()

WHOLE = json.dumps(
    {
        **MESSAGE,
        "content": [
            {"type": "thinking", "thinking": "Look outside.", "signature": "c2ln"},
            {"type": "text", "text": "Il gèle à Saint-Véran ❄"},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Saint-Véran"}},
            {"type": "tool_use", "id": "t2", "name": "clock", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 9},
    },
    ensure_ascii=False,
).encode()

BODIES: dict[str, bytes] = {
    "a stream": STREAM,
    "a stream with CRLF": STREAM.replace(b"\n", b"\r\n"),
    "a stream with CR": STREAM.replace(b"\n", b"\r"),
    "a stream without its last blank line": STREAM.rstrip(),
    "a stream with comments": b": hello\n\n" + STREAM.replace(b"event: content", b": ping\n\nevent: content"),
    "a stream with a byte order mark": b"\xef\xbb\xbf" + STREAM,
    "two texts by turns": (
        OPENING
        + _start(0, type="text", text="")
        + _start(1, type="text", text="")
        + _delta(1, type="text_delta", text="b")
        + _delta(0, type="text_delta", text="a")
        + _delta(1, type="text_delta", text="c")
        + CLOSING
    ).encode(),
    "text only": (OPENING + TEXT + CLOSING).encode(),
    "a stream that was cut": (OPENING + THINKING + TEXT + CALLS).encode(),
    "an error in mid-stream": (OPENING + TEXT + ERROR + CLOSING).encode(),
    "a payload that is not JSON": (OPENING + TEXT + "data: {'a': 1}\n\n" + CLOSING).encode(),
    "more after the end": STREAM + TEXT.encode(),
    "a whole JSON body": WHOLE,
    "a whole JSON body with white space": b"\n " + WHOLE + b"\n\n",
    "a JSON body with numbers of every form": WHOLE[:-1] + b', "x": [-1, 0.25, 5E+3, -2.5e-07, true, null]}',
    "a JSON error": b'{"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}',
    "an HTML page": b"<html><body>Bad gateway</body></html>" * 10,
    "nothing": b"",
}
