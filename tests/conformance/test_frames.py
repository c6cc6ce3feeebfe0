"""The second opinion on frames and endings, which reads without a parser."""

from __future__ import annotations

import pytest

from plait.conformance.frames import Ending, ending, frames

CHAT = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
FINISH = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n'
DONE = b"data: [DONE]\n\n"
FAILED = b'data: {"error":{"message":"busy"}}\n\n'
OUTPUT = b'data: {"type":"response.output_text.delta","delta":"Hi"}\n\n'
COMPLETED = b'data: {"type":"response.completed","response":{}}\n\n'


@pytest.mark.parametrize(
    ("payloads", "body"),
    [
        pytest.param([{"a": 1}, {"b": 2}], b'data: {"a": 1}\n\ndata: {"b": 2}\n\n', id="LF"),
        pytest.param([{"a": 1}, {"b": 2}], b'data: {"a": 1}\r\n\r\ndata:{"b": 2}\r\n\r\n', id="CRLF"),
        pytest.param([{"a": 1}, {"b": 2}], b'data: {"a": 1}\r\rdata: {"b": 2}', id="CR and no end"),
        pytest.param([{"a": 1}], b'\xef\xbb\xbf: hi\n\nid: 1\ndata: {"a":\ndata: 1}\n\n', id="two lines"),
        pytest.param([{"a": 1}], b'data: {"a": 1}\nevent: x\nid: 7\n\n', id="event after data"),
        pytest.param(["[DONE]"], b"data: [DONE]\n\n", id="no JSON"),
        pytest.param([{"a": "\u2028\x85"}], 'data: {"a": "\u2028\x85"}\n\n'.encode(), id="no line ends"),
        pytest.param([{"a": 1}], b' {"a": 1}\n', id="a document"),
        pytest.param([], b": hi\n\n", id="a comment only"),
    ],
)  # fmt: skip
def test_payloads(payloads: list[object], body: bytes) -> None:
    """The payloads of a body, in order, whatever its line ends."""
    assert payloads == [frame.payload for frame in frames("openai-chat", body)]


def test_offsets() -> None:
    """A frame says where it lies in the body, and where its payload does."""
    body = b'event: x\ndata: {"a": 1} \n\ndata: 2\n\n'
    first, second = frames("openai-chat", body)
    assert (first.start, first.end) == (0, 26)
    assert body[first.payload_start : first.payload_end] == b'{"a": 1}'
    assert (second.start, body[second.payload_start : second.payload_end]) == (26, b"2")


def _at(body: bytes, frame: bytes) -> int:
    return body.index(frame) + len(frame.rstrip())


@pytest.mark.parametrize(
    ("wire", "body", "complete", "over", "failed"),
    [
        pytest.param("openai-chat", CHAT + FINISH + USAGE + DONE, FINISH, DONE, None, id="chat: reason"),
        pytest.param("openai-chat", CHAT + USAGE + DONE, DONE, DONE, None, id="chat: only [DONE]"),
        pytest.param("openai-chat", USAGE + DONE, None, None, None, id="chat: [DONE] without output"),
        pytest.param("openai-chat", CHAT + USAGE, None, None, None, id="chat: neither"),
        pytest.param("openai-chat", CHAT + FINISH + FAILED, FINISH, None, FAILED, id="chat: late error"),
        pytest.param("openai-responses", OUTPUT + COMPLETED, COMPLETED, COMPLETED, None, id="responses"),
        pytest.param("openai-responses", OUTPUT + FAILED, None, None, FAILED, id="responses: error"),
    ],
)  # fmt: skip
def test_ending(
    wire: str, body: bytes, complete: bytes | None, over: bytes | None, failed: bytes | None
) -> None:
    """Where a response is complete, over, or failed: at the last byte of the payload that says so."""
    first, last, fault = [None if frame is None else _at(body, frame) for frame in (complete, over, failed)]
    assert Ending(complete=first, over=last, failed=fault) == ending(wire, body)


def test_ending_of_what_is_not_the_wire() -> None:
    """A payload that is no JSON object breaks the body at the end of its frame."""
    assert Ending(broken=len(CHAT) + len(b"data: [1]\n\n")) == ending("openai-chat", CHAT + b"data: [1]\n\n")


def test_byte_order_mark_is_before_the_first_frame() -> None:
    """What is put before the first frame goes behind the mark."""
    mark = b"\xef\xbb\xbf"
    assert [3] == [frame.start for frame in frames("openai-chat", mark + DONE)]
    assert [3] == [frame.start for frame in frames("ollama-chat", mark + b'{"done": true}\n')]


def test_long_number_is_json() -> None:
    """A number with more digits than Python reads as an integer is JSON all the same."""
    (frame,) = frames("openai-chat", b'data: {"n": %b}\n\n' % (b"9" * 5000))
    assert {"n": float("inf")} == frame.payload
