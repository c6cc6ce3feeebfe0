"""The AWS binary event stream."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from botocore.eventstream import EventStreamBuffer
from chunked import check_decode, cuts, outcome, split
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.errors import ProtocolError
from plait.framing import EventStreamDecoder, EventStreamMessage, HeaderValue, encode_event_stream_message

encode = encode_event_stream_message
ID = UUID("01234567-89ab-cdef-0123-456789abcdef")


def frame(
    headers: bytes = b"", payload: bytes = b"", *, total: int | None = None, size: int | None = None
) -> bytes:
    """One message from raw header bytes; `total` and `size` put false lengths under true checksums."""
    real = len(headers) + len(payload) + 16
    lengths = struct.pack(">II", real if total is None else total, len(headers) if size is None else size)
    message = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def header(name: bytes, kind: int, value: bytes = b"") -> bytes:
    return bytes([len(name)]) + name + bytes([kind]) + value


def message(headers: dict[str, Any], payload: bytes = b"") -> EventStreamMessage:
    return EventStreamMessage(headers, payload)


EVENT: dict[str, HeaderValue] = {
    ":event-type": "messageStop",
    ":content-type": "application/json",
    ":message-type": "event",
}
EVENT_BYTES = bytes.fromhex(
    "00000083000000518f0874490b3a6576656e742d7479706507000b6d65737361676553746f700d3a636f6e74656e742d747970"
    "650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b2270223a22616222"
    "2c2273746f70526561736f6e223a22656e645f7475726e227d9056e9a4"
)
EXCEPTION_BYTES = bytes.fromhex(
    "0000008300000061a9d144e50f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e0d"
    "3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700096578"
    "63657074696f6e7b226d657373616765223a22736c6f77227d9350311c"
)


def test_known_bytes() -> None:
    """Two messages written down as bytes decode to headers and payload, and encode to the same bytes."""
    event = EventStreamMessage(EVENT, b'{"p":"ab","stopReason":"end_turn"}')
    exception = EventStreamMessage(
        {
            ":exception-type": "throttlingException",
            ":content-type": "application/json",
            ":message-type": "exception",
        },
        b'{"message":"slow"}',
    )
    check_decode(EventStreamDecoder, EVENT_BYTES + EXCEPTION_BYTES, [event, exception])
    assert encode(event.headers, event.payload) == EVENT_BYTES
    assert encode(exception.headers, exception.payload) == EXCEPTION_BYTES


def test_named_headers() -> None:
    """The headers that say what a message is are properties; absent, or not text, is None."""
    (event,) = EventStreamDecoder().feed(EVENT_BYTES)
    (exception,) = EventStreamDecoder().feed(EXCEPTION_BYTES)
    error = EventStreamMessage({":message-type": "error", ":error-code": "500", ":error-message": "m"}, b"")
    assert (event.message_type, event.event_type) == ("event", "messageStop")
    assert event.content_type == "application/json"
    assert (event.exception_type, event.error_code, event.error_message) == (None, None, None)
    assert (exception.message_type, exception.exception_type) == ("exception", "throttlingException")
    assert (error.message_type, error.error_code, error.error_message) == ("error", "500", "m")
    assert EventStreamMessage({":event-type": 1}, b"").event_type is None


def test_header_types() -> None:
    """Every header type is read by its width, so what follows stays in step."""
    headers = b"".join(
        [
            header(b"true", 0),
            header(b"false", 1),
            header(b"byte", 2, b"\xff"),
            header(b"short", 3, b"\xff\xfe"),
            header(b"int", 4, struct.pack(">i", -3)),
            header(b"long", 5, struct.pack(">q", -(2**63))),
            header(b"bytes", 6, b"\0\x02\xff\0"),
            header(b"string", 7, b"\0\x02\xc3\xa9"),
            header(b"timestamp", 8, struct.pack(">q", 1_700_000_000_123)),
            header(b"uuid", 9, ID.bytes),
            header(b":event-type", 7, b"\0\x01e"),
        ]
    )
    expected: dict[str, HeaderValue] = {
        "true": True,
        "false": False,
        "byte": -1,
        "short": -2,
        "int": -3,
        "long": -(2**63),
        "bytes": b"\xff\0",
        "string": "é",
        "timestamp": 1_700_000_000_123,
        "uuid": ID,
        ":event-type": "e",
    }
    check_decode(EventStreamDecoder, frame(headers, b"x"), [EventStreamMessage(expected, b"x")])
    (message,) = EventStreamDecoder().feed(frame(headers))
    assert [type(value) for value in message.headers.values()] == [type(value) for value in expected.values()]


def test_bare_message() -> None:
    """The smallest message has 16 bytes, without headers and payload."""
    assert len(frame()) == 16
    check_decode(EventStreamDecoder, frame() + frame(payload=b"}{"), [message({}), message({}, b"}{")])


def test_headers_cannot_be_changed() -> None:
    """Messages with the same headers share them, so that nobody may change them."""
    decoder = EventStreamDecoder()
    (first,) = decoder.feed(EVENT_BYTES)
    with pytest.raises(TypeError):
        first.headers[":event-type"] = "changed"  # type: ignore[index]
    assert [message.headers for message in decoder.feed(EVENT_BYTES)] == [EVENT]


def test_pending() -> None:
    """`pending` counts the bytes of an unfinished message, and a cut body is no fault."""
    for cut in range(len(EVENT_BYTES)):
        decoder = EventStreamDecoder()
        assert len(decoder.feed(EXCEPTION_BYTES + EVENT_BYTES[:cut])) == 1
        assert decoder.close() == []
        assert decoder.pending == cut


LENGTHS = "event stream: message at byte 131: expected"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        pytest.param(
            b'{"message":"Forbidden"}',
            f'{LENGTHS} prelude CRC 0x65223a22, got 0xa98fe9c5 for b\'{{"message":"\'',
            id="json instead",
        ),
        pytest.param(
            frame(total=15, size=0), f"{LENGTHS} a length of at least 16 bytes, got 15", id="too short"
        ),
        pytest.param(
            frame(total=131, size=116),
            f"{LENGTHS} at most 115 bytes of headers in 131 bytes, got 116",
            id="headers",
        ),
        pytest.param(
            frame(total=0xFFFFFFFF),
            "event stream: message at byte 131 is longer than max_frame, 67,108,864 bytes",
            id="4 GiB",
        ),
    ],
)
def test_bad_prelude(bad: bytes, error: str) -> None:
    """The prelude's checksum, then its lengths, are checked as soon as its 12 bytes are there."""
    decoder = EventStreamDecoder()
    assert decoder.feed(EVENT_BYTES) == [message(EVENT, b'{"p":"ab","stopReason":"end_turn"}')]
    assert decoder.feed(bad[:11]) == []
    with pytest.raises(ProtocolError):
        decoder.feed(bad[11:12])
    assert decoder.pending == 0
    check_decode(
        EventStreamDecoder, EVENT_BYTES + bad, [message(EVENT, b'{"p":"ab","stopReason":"end_turn"}')], error
    )


def test_every_flipped_byte_is_found() -> None:
    """No single wrong byte goes unnoticed, and the message before it is delivered."""
    for position in range(len(EVENT_BYTES)):
        bad = bytearray(EVENT_BYTES)
        bad[position] ^= 0x10
        frames, error = outcome(EventStreamDecoder(), [EXCEPTION_BYTES + bytes(bad)])
        assert len(frames) == 1
        assert error is not None
        assert "CRC" in error, position


def test_bad_message_crc() -> None:
    """A wrong message checksum is a fault, however good the headers look."""
    bad = EVENT_BYTES[:-1] + b"\0"
    error = "event stream: message at byte 0: expected message CRC 0x9056e900, got 0x9056e9a4"
    check_decode(EventStreamDecoder, bad + EVENT_BYTES, [], error)


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        pytest.param(
            header(b"a", 10), "expected a type from 0 to 9 for header 'a', got 10 at byte 14", id="type"
        ),
        pytest.param(header(b"a", 0) * 2, "header 'a' came twice at byte 15", id="twice"),
        pytest.param(
            b"\x05ab", "expected 5 bytes of a header name, got 2 before the headers end at byte 13", id="name"
        ),
        pytest.param(
            b"\x01a",
            "expected 1 bytes of header 'a''s type, got 0 before the headers end at byte 14",
            id="no type",
        ),
        pytest.param(
            header(b"a", 5, b"1234"),
            "expected 8 bytes of header 'a', got 4 before the headers end at byte 15",
            id="int",
        ),
        pytest.param(
            header(b"a", 7, b"\0"),
            "expected 2 bytes of header 'a''s length, got 1 before the headers end at byte 15",
            id="length",
        ),
        pytest.param(
            header(b"a", 7, b"\0\x05xy"),
            "expected 5 bytes of header 'a', got 2 before the headers end at byte 17",
            id="string",
        ),
        pytest.param(
            header(b"a", 7, b"\0\x02x\xff"),
            "header 'a' is not UTF-8: byte 0xff at byte 18",
            id="string not UTF-8",
        ),
        pytest.param(
            header(b"a\xff", 0), "a header name is not UTF-8: byte 0xff at byte 14", id="name not UTF-8"
        ),
    ],
)
def test_bad_headers(headers: bytes, error: str) -> None:
    """Headers that do not fit the layout are a fault at their byte; the payload is not read as headers."""
    check_decode(
        EventStreamDecoder, frame(headers, b"\0" * 9), [], f"event stream: message at byte 0: {error}"
    )


def test_encode_refuses_what_the_layout_cannot_hold() -> None:
    """Names, values and integers that are too long, and other types, are refused with their header's name."""
    with pytest.raises(ValueError, match="a header name has at most 255 bytes, got 256"):
        encode({"n" * 256: True})
    with pytest.raises(ValueError, match="header 'a': a value has at most 65,535 bytes, got 65,536"):
        encode({"a": "x" * 65_536})
    with pytest.raises(ValueError, match="header 'a': an integer has at most 64 bits"):
        encode({"a": 2**63})
    with pytest.raises(TypeError, match="header 'a': expected bool, int, bytes, str or UUID, got float"):
        encode({"a": 1.5})  # type: ignore[dict-item]


header_values = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.binary(max_size=9), st.text(max_size=9), st.uuids()
)
messages = st.lists(
    st.tuples(st.dictionaries(st.text(max_size=6), header_values, max_size=4), st.binary(max_size=30)),
    max_size=4,
)


@settings(deadline=None, max_examples=150)
@given(messages, cuts)
def test_encoded_messages_decode(sent: list[tuple[dict[str, Any], bytes]], places: list[int]) -> None:
    """Decoding is the inverse of encoding, in any chunks."""
    body = b"".join(encode(headers, payload) for headers, payload in sent)
    expected = ([message(headers, payload) for headers, payload in sent], None)
    for chunks in ([body], split(body, places), [body[i : i + 1] for i in range(len(body))]):
        assert outcome(EventStreamDecoder(), chunks) == expected


def with_uuids(headers: dict[str, Any]) -> dict[str, Any]:
    """botocore leaves a UUID as its 16 bytes; no other value sent here has 16 bytes."""
    return {k: UUID(bytes=v) if isinstance(v, bytes) and len(v) == 16 else v for k, v in headers.items()}


@settings(deadline=None, max_examples=150)
@given(messages, cuts)
def test_botocore_agrees(sent: list[tuple[dict[str, Any], bytes]], places: list[int]) -> None:
    """botocore reads the same messages from the same chunks."""
    body = b"".join(encode(headers, payload) for headers, payload in sent)
    theirs = EventStreamBuffer()
    ours = EventStreamDecoder()
    for chunk in split(body, places):
        theirs.add_data(chunk)
        read = [(with_uuids(event.headers), event.payload) for event in theirs]
        assert [(frame.headers, frame.payload) for frame in ours.feed(chunk)] == read


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [EVENT_BYTES, frame(), frame(total=20), frame(header(b"a", 0) * 2), frame(b"\x09")]
            ),
            st.binary(max_size=20),
        ),
        max_size=4,
    ),
    cuts,
    st.sampled_from([16, 17, 100, 131, 200]),
)
def test_any_bytes_in_any_chunks(parts: list[bytes], places: list[int], limit: int) -> None:
    """Frames and fault, to the letter, do not depend on the chunks, also near the limit."""
    body = b"".join(parts)
    make = partial(EventStreamDecoder, max_frame=limit)
    expected = outcome(make(), [body])
    assert outcome(make(), split(body, places)) == expected
    assert outcome(make(), [body[i : i + 1] for i in range(len(body))]) == expected
