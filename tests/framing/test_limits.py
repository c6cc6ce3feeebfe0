"""What all decoders share: how faults are reported, how a body ends, bounds, and cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from chunked import check_decode, check_linear

from plait.errors import ProtocolError
from plait.framing import (
    Decoder,
    EventStreamDecoder,
    JSONArrayDecoder,
    NDJSONDecoder,
    ServerSentEvent,
    SSEBlockDecoder,
    SSEDecoder,
    encode_event_stream_message,
)

Make = Callable[..., Decoder[Any]]

WHAT: dict[type[Decoder[Any]], str] = {
    SSEDecoder: "SSE: event",
    NDJSONDecoder: "NDJSON: line",
    JSONArrayDecoder: "JSON array: element",
}

EMPTY = encode_event_stream_message({})  # 16 bytes

# For each decoder: a frame's bytes in front of which more frames may come, and bytes that are a fault.
KINDS = [
    pytest.param(SSEDecoder, b"data: a\n\n", b"data: \xff\n\n", id="sse"),
    pytest.param(NDJSONDecoder, b"1\n", b"\xff\n", id="ndjson"),
    pytest.param(JSONArrayDecoder, b'[{},"a"', b',"\xff"', id="json-array"),
    pytest.param(EventStreamDecoder, EMPTY, b"not a prelude", id="event-stream"),
]


@pytest.mark.parametrize(("make", "good", "bad"), KINDS)
def test_fault_after_frames(make: Make, good: bytes, bad: bytes) -> None:
    """Frames before a fault are returned, `error` is known at once, and every later call raises it."""
    decoder = make()
    assert decoder.feed(good + bad) != []
    error = decoder.error
    assert isinstance(error, ProtocolError)
    calls: list[Callable[[], object]] = [lambda: decoder.feed(good), decoder.close, lambda: decoder.feed(b"")]
    for call in (*calls, decoder.close):
        with pytest.raises(ProtocolError) as caught:
            call()
        assert caught.value is error


@pytest.mark.parametrize(("make", "good", "bad"), KINDS)
def test_fault_without_frames(make: Make, good: bytes, bad: bytes) -> None:
    """A fault with no frames before it in the chunk is raised at once, and again later."""
    decoder = make()
    assert decoder.feed(good) != []
    with pytest.raises(ProtocolError) as first:
        decoder.feed(bad)
    assert decoder.error is first.value
    with pytest.raises(ProtocolError) as second:
        decoder.close()
    assert second.value is first.value


@pytest.mark.parametrize(("make", "good", "bad"), KINDS)
def test_end(make: Make, good: bytes, bad: bytes) -> None:
    """`close` again returns nothing; `feed` after `close` is the caller's mistake."""
    decoder = make()
    decoder.feed(good)
    assert decoder.close() == []
    assert decoder.close() == []
    with pytest.raises(ValueError, match="one decoder for each body"):
        decoder.feed(good)
    assert decoder.error is None


@pytest.mark.parametrize(("make", "good", "bad"), KINDS)
def test_bytes_like(make: Make, good: bytes, bad: bytes) -> None:
    """bytearray and memoryview are read as bytes and not kept; text and numbers are refused."""
    expected = make().feed(good)
    array = bytearray(good)
    decoder = make()
    frames = decoder.feed(array[:3]) + decoder.feed(memoryview(array)[3:])
    array[:] = b"?" * len(array)
    assert frames + decoder.close() == expected
    with pytest.raises(TypeError, match=r"feed\(\) takes bytes, got str: pass the body's bytes as they came"):
        make().feed(good.decode("latin-1"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"feed\(\) takes bytes, got int$"):
        make().feed(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_frame must be at least 1 byte, got 0"):
        make(max_frame=0)


@pytest.mark.parametrize(
    ("make", "body", "frames", "long_at"),
    [
        pytest.param(SSEDecoder, b"data: ab\n\n", ["ab"], None, id="sse, just fits"),
        pytest.param(SSEDecoder, b"data: a\r\n\r\n" * 2, ["a", "a"], None, id="sse, crlf, just fits"),
        pytest.param(SSEDecoder, b"data: ab\n\ndata: abc\n\n", ["ab"], 10, id="sse, by its blank line"),
        pytest.param(SSEDecoder, b"data: a\r\n\r\ndata: ab\r\n\r\n", ["a"], 11, id="sse, crlf"),
        pytest.param(SSEDecoder, b"\n\n: 23456789", [], None, id="sse, tail just fits"),
        pytest.param(SSEDecoder, b"\n\n: 234567890", [], 2, id="sse, tail"),
        pytest.param(
            SSEDecoder, b"data: a\n\n" + b"\n" * 99 + b"data: b\n\n", ["a", "b"], None, id="sse, blanks"
        ),
        pytest.param(
            NDJSONDecoder, b"123456789\n1234567890\n", ["123456789", "1234567890"], None, id="ndjson, fits"
        ),
        pytest.param(NDJSONDecoder, b"1\n1234567890\r\n", ["1"], 2, id="ndjson, with its cr"),
        pytest.param(NDJSONDecoder, b"1\n12345678901", ["1"], 2, id="ndjson, tail"),
        pytest.param(JSONArrayDecoder, b'[ "34567890" , 2', ['"34567890"'], None, id="array, just fits"),
        pytest.param(JSONArrayDecoder, b'[1, "345678901" , 2', ["1"], 4, id="array, string"),
        pytest.param(JSONArrayDecoder, b'[1, {"5678": ', ["1"], None, id="array, tail fits"),
        pytest.param(JSONArrayDecoder, b'[1, {"5678": {}', ["1"], 4, id="array, tail"),
        pytest.param(
            JSONArrayDecoder, b"[1,2          , 3", ["1"], 3, id="array, scalar with what follows it"
        ),
        pytest.param(
            JSONArrayDecoder, b"[" + b" " * 99 + b"1" + b"," + b" " * 99 + b"2]", ["1", "2"], None, id="gaps"
        ),
    ],
)
def test_bound(make: type[Decoder[Any]], body: bytes, frames: list[str], long_at: int | None) -> None:
    """A frame of `max_frame` bytes is read and one with a byte more is a fault, whatever the chunks."""
    error = None if long_at is None else f"{WHAT[make]} at byte {long_at} is longer than max_frame, 10 bytes"
    expected = [ServerSentEvent(data) for data in frames] if make is SSEDecoder else frames
    check_decode(partial(make, max_frame=10), body, expected, error)


def test_bound_of_event_stream() -> None:
    """The length in the prelude decides, before the message has come."""
    make = partial(EventStreamDecoder, max_frame=17)
    fits = encode_event_stream_message({}, b"x")
    long = encode_event_stream_message({}, b"xy")
    error = "event stream: message at byte 17 is longer than max_frame, 17 bytes"
    check_decode(make, fits + long[:12], EventStreamDecoder().feed(fits), error)


def test_nothing_is_kept_after_an_overlong_frame() -> None:
    """A body without any line end stops being buffered at the bound."""
    decoder = SSEBlockDecoder(max_frame=1000)
    for _ in range(10):
        assert decoder.feed(b"x" * 100) == []
    assert len(decoder._pending) == 1000
    for _ in range(20):
        with pytest.raises(ProtocolError):
            decoder.feed(b"x" * 100)
    assert len(decoder._pending) == 0


def drain(decoder: Decoder[Any], body: bytes, chunk: int) -> int:
    view = memoryview(body)
    frames = 0
    for start in range(0, len(body), chunk):
        frames += len(decoder.feed(bytes(view[start : start + chunk])))
    return frames + len(decoder.close())


def sse_frame(size: int) -> bytes:
    return b"data: " + b"x" * size + b"\n\n"


def sse_lines(size: int) -> bytes:
    return (b"data: " + b"x" * 58 + b"\n") * (size // 65) + b"\n"


def sse_cr_events(size: int) -> bytes:
    return b"data: x\r\r" * (size // 9)


def sse_lf_then_cr(size: int) -> bytes:
    return b"data: x\n\n" * (size // 18) + b"data: x\r\r" * (size // 18)


def sse_comments(size: int) -> bytes:
    return b": keep-alive\n" * (size // 13) + b"\n"


def array_element(size: int) -> bytes:
    return b'[{"a":"' + b"x" * size + b'"}]'


def array_escapes(size: int) -> bytes:
    return b'[{"a":"' + b'\\"\\\\' * (size // 4) + b'"}]'


def array_nesting(size: int) -> bytes:
    return b"[" + b"[" * (size // 8) + b"]" * (size // 8) + b"]"


def array_open_string(size: int) -> bytes:
    return b'[{"a":"' + b"x" * size


def line(size: int) -> bytes:
    return b'"' + b"x" * size + b'"\n'


def binary_message(size: int) -> bytes:
    return encode_event_stream_message({":event-type": "e"}, b"x" * size)


KB = 1 << 10


@pytest.mark.parametrize("chunk", [1024, 1 << 30], ids=["1k", "whole"])
@pytest.mark.parametrize(
    ("make", "body", "size"),
    [
        pytest.param(SSEDecoder, sse_frame, KB * 64, id="sse, one line"),
        pytest.param(SSEDecoder, sse_lines, KB * 64, id="sse, many data lines"),
        pytest.param(SSEDecoder, sse_cr_events, KB * 32, id="sse, cr events"),
        pytest.param(SSEDecoder, sse_lf_then_cr, KB * 32, id="sse, lf then cr events"),
        pytest.param(SSEDecoder, sse_comments, KB * 32, id="sse, comments"),
        pytest.param(NDJSONDecoder, line, KB * 64, id="ndjson"),
        pytest.param(JSONArrayDecoder, array_element, KB * 64, id="array, one string"),
        pytest.param(JSONArrayDecoder, array_escapes, KB * 64, id="array, escapes"),
        pytest.param(JSONArrayDecoder, array_nesting, KB * 32, id="array, nesting"),
        pytest.param(JSONArrayDecoder, array_open_string, KB * 64, id="array, string without end"),
        pytest.param(EventStreamDecoder, binary_message, KB * 64, id="event-stream"),
    ],
)
def test_cost_of_large_frames(make: Make, body: Callable[[int], bytes], size: int, chunk: int) -> None:
    """Sixteen times the bytes take about sixteen times as long, whatever the frame is made of."""
    bodies = {factor * size: body(factor * size) for factor in (1, 16)}
    check_linear(lambda size: drain(make(), bodies[size], chunk), size)


@pytest.mark.parametrize(
    ("make", "body"),
    [
        pytest.param(SSEDecoder, sse_frame, id="sse, one line"),
        pytest.param(SSEDecoder, sse_lines, id="sse, many data lines"),
        pytest.param(NDJSONDecoder, line, id="ndjson"),
        pytest.param(JSONArrayDecoder, array_element, id="array"),
        pytest.param(EventStreamDecoder, binary_message, id="event-stream"),
    ],
)
def test_cost_of_one_byte_chunks(make: Make, body: Callable[[int], bytes]) -> None:
    """Sixteen times the one-byte chunks take about sixteen times as long."""
    bodies = {size: body(size) for size in (10_000, 160_000)}
    check_linear(lambda size: drain(make(), bodies[size], 1), 10_000)


@pytest.mark.parametrize(
    ("make", "body", "frames"),
    [
        pytest.param(SSEDecoder, sse_frame(1_000_000), 1, id="sse"),
        pytest.param(EventStreamDecoder, binary_message(1_000_000), 1, id="event-stream"),
    ],
)
def test_a_million_one_byte_chunks(make: Make, body: bytes, frames: int) -> None:
    """A frame that comes in a million chunks comes out whole."""
    assert drain(make(), body, 1) == frames


def test_a_large_image_in_one_event() -> None:
    """50 MB of base64 fit in one event under the default bound, in network-sized chunks."""
    body = sse_frame(50 * 1000 * 1000)
    decoder = SSEDecoder()
    frames = [
        event for start in range(0, len(body), 16384) for event in decoder.feed(body[start : start + 16384])
    ]
    assert [len(event.data) for event in frames] == [50 * 1000 * 1000]


def test_cost_of_many_events_over_the_bound() -> None:
    """A chunk larger than `max_frame`, full of small events, is read event by event in linear time."""
    bodies = {size: b"data: x\n\n" * (size // 9) for size in (40_000, 640_000)}
    check_linear(lambda size: drain(SSEDecoder(max_frame=20), bodies[size], 1 << 30), 40_000)
