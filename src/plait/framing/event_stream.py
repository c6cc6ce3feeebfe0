"""The AWS binary event stream, `application/vnd.amazon.eventstream`, as Bedrock streams.

One message, all integers big-endian (H is headers_length, T total_length):

    offset   size  field
    0        4     total_length    u32, of the whole message, every checksum included
    4        4     headers_length  u32
    8        4     prelude CRC     crc32 of bytes 0 to 7
    12       H     headers
    12 + H   T-H-16  payload
    T - 4    4     message CRC     crc32 of bytes 0 to T - 5

One header is `name_length u8, name, type u8, value`:

    type  value                          here
    0     no bytes                       True
    1     no bytes                       False
    2     i8  (byte)                     int
    3     i16 (short)                    int
    4     i32 (int)                      int
    5     i64 (long)                     int
    6     u16 length, bytes              bytes
    7     u16 length, UTF-8              str
    8     i64 (timestamp)                int: milliseconds since 1970-01-01 UTC
    9     16 bytes (UUID)                uuid.UUID

The CRC is the one of zlib. Sources: Smithy, "Amazon Event Stream"
(https://smithy.io/2.0/aws/amazon-eventstream.html), and botocore/eventstream.py.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias
from uuid import UUID

import msgspec

from plait.errors import quote
from plait.framing._decoder import MAX_FRAME, Decoder

HeaderValue: TypeAlias = bool | int | bytes | str | UUID

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_U16 = struct.Struct(">H")
_INTEGERS = {2: struct.Struct(">b"), 3: struct.Struct(">h"), 4: struct.Struct(">i"), 5: struct.Struct(">q")}
_TIMESTAMP = 8
#: The bytes of a message without headers and payload.
_OVERHEAD = 16
#: How many blocks of headers are remembered, of at most how many bytes. Bedrock sends about ten kinds of
#: message, each with about a hundred bytes of headers.
_KNOWN_BLOCKS, _KNOWN_SIZE = 32, 1024


class EventStreamMessage(msgspec.Struct, frozen=True, gc=False):
    """One message whose checksums are right.

    Attributes:
        headers: the headers by name, such as `:event-type`, in their order, read-only; types as above
        payload: the bytes after the headers; for Bedrock JSON, or nothing
    """

    headers: Mapping[str, HeaderValue]
    payload: bytes

    @property
    def message_type(self) -> str | None:
        """`:message-type`: `event`, `exception` (in the service's model) or `error` (not in it)."""
        return self._text(":message-type")

    @property
    def event_type(self) -> str | None:
        """`:event-type` of an event, such as `contentBlockDelta`."""
        return self._text(":event-type")

    @property
    def exception_type(self) -> str | None:
        """`:exception-type` of an exception, such as `throttlingException`."""
        return self._text(":exception-type")

    @property
    def error_code(self) -> str | None:
        """`:error-code` of an error."""
        return self._text(":error-code")

    @property
    def error_message(self) -> str | None:
        """`:error-message` of an error."""
        return self._text(":error-message")

    @property
    def content_type(self) -> str | None:
        """`:content-type` of the payload, such as `application/json`."""
        return self._text(":content-type")

    def _text(self, name: str) -> str | None:
        value = self.headers.get(name)
        return value if isinstance(value, str) else None


class EventStreamDecoder(Decoder[EventStreamMessage]):
    """Bytes of an event-stream body to `EventStreamMessage`s.

    The prelude's checksum is checked before its lengths are trusted, and the lengths before the rest is
    awaited. A wrong checksum, an impossible length, and headers that do not fit the layout (an unknown type,
    a name twice, text that is not UTF-8, a value that ends outside) are faults.
    """

    def __init__(self, *, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            max_frame: the most bytes one message may have, checksums included. 64 MiB: AWS allows payloads
                of 24 MiB, and one may hold an image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._buffer = bytearray()
        self._offset = 0  # where `_buffer` starts in the body
        self._known: dict[bytes, Mapping[str, HeaderValue]] = {}  # headers that were read, by their bytes
        self._wanted = _PRELUDE.size  # how many bytes it takes to get on: the prelude, then the message

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished message have come. Not 0 after `close`: the body was cut."""
        return len(self._buffer)

    def close(self) -> list[EventStreamMessage]:
        """Nothing: a message that was cut is not returned. `pending` says whether there is one.

        Raises:
            ProtocolError: the fault of an earlier call
        """
        return super().close()

    def _read(self, data: bytes) -> list[EventStreamMessage]:
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._wanted:
                return []
            data = bytes(self._buffer)
        # Every token of an answer passes through this loop: names are local, slices few.
        read_prelude, read_crc, crc32, known = _PRELUDE.unpack_from, _CRC.unpack_from, zlib.crc32, self._known
        frames: list[EventStreamMessage] = []
        start, size = 0, len(data)
        self._wanted = _PRELUDE.size
        while size - start >= _PRELUDE.size:
            total, headers_length, prelude_crc = read_prelude(data, start)
            if (
                crc32(data[start : start + 8]) != prelude_crc
                or total < headers_length + _OVERHEAD
                or total > self._max
            ):
                self._fail_prelude(data, start)
                break
            end = start + total
            if end > size:
                self._wanted = total
                break
            tail = end - _CRC.size
            # The message's checksum continues the prelude's, which covers the first 8 bytes.
            if crc32(data[start + 8 : tail], prelude_crc) != read_crc(data, tail)[0]:
                self._fail_message(data, start, end)
                break
            payload_start = start + _PRELUDE.size + headers_length
            block = data[start + _PRELUDE.size : payload_start]
            headers = known.get(block)
            if headers is None and (headers := self._headers(block, start)) is None:
                break
            frames.append(EventStreamMessage(headers, data[payload_start:tail]))
            start = end
        self._offset += start
        if self.error is not None:
            self._buffer = bytearray()
        elif start < size or self._buffer:
            self._buffer = bytearray(memoryview(data)[start:])
        return frames

    def _end(self) -> list[EventStreamMessage]:
        return []

    def _fail_prelude(self, data: bytes, start: int) -> None:
        total, headers, crc = _PRELUDE.unpack_from(data, start)
        where = f"message at byte {self._offset + start:,}"
        actual = zlib.crc32(data[start : start + 8])
        if actual != crc:
            came = data[start : start + _PRELUDE.size]
            self._fail(
                f"event stream: {where}: expected prelude CRC 0x{crc:08x}, got 0x{actual:08x} for {came!r}"
            )
        elif total < _OVERHEAD:
            self._fail(f"event stream: {where}: expected a length of at least {_OVERHEAD} bytes, got {total}")
        elif headers > total - _OVERHEAD:
            self._fail(
                f"event stream: {where}: expected at most {total - _OVERHEAD:,} bytes of headers in"
                f" {total:,} bytes, got {headers:,}"
            )
        else:
            self._fail_too_long("event stream: message", self._offset + start)

    def _fail_message(self, data: bytes, start: int, end: int) -> None:
        (crc,) = _CRC.unpack_from(data, end - _CRC.size)
        actual = zlib.crc32(data[start : end - _CRC.size])
        self._fail(
            f"event stream: message at byte {self._offset + start:,}: expected message CRC 0x{crc:08x},"
            f" got 0x{actual:08x}"
        )

    def _headers(self, block: bytes, start: int) -> Mapping[str, HeaderValue] | None:
        """The headers of the message at `start`, None after reporting a fault.

        Each event of a kind has the same ones, so they are read once and shared, read-only.
        """
        try:
            headers = MappingProxyType(_read_headers(block))
        except _HeaderFault as fault:
            at = self._offset + start + _PRELUDE.size + fault.position
            self._fail(
                f"event stream: message at byte {self._offset + start:,}: {fault.message} at byte {at:,}"
            )
            return None
        if len(self._known) < _KNOWN_BLOCKS and len(block) <= _KNOWN_SIZE:
            self._known[block] = headers
        return headers


class _HeaderFault(Exception):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class _Cursor:
    """Reads a block of headers from its start; every read is checked against its end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0

    def take(self, size: int, what: str) -> bytes:
        end = self.pos + size
        if end > len(self.data):
            left = len(self.data) - self.pos
            raise _HeaderFault(
                f"expected {size} bytes of {what}, got {left} before the headers end", self.pos
            )
        taken = self.data[self.pos : end]
        self.pos = end
        return taken

    def take_sized(self, what: str) -> bytes:
        (size,) = _U16.unpack(self.take(2, f"{what}'s length"))
        return self.take(size, what)


def _read_headers(data: bytes) -> dict[str, HeaderValue]:
    headers: dict[str, HeaderValue] = {}
    cursor = _Cursor(data)
    while cursor.pos < len(data):
        start = cursor.pos
        (name_length,) = cursor.take(1, "a header name's length")
        name = _to_text(cursor.take(name_length, "a header name"), start + 1, "a header name")
        if name in headers:
            raise _HeaderFault(f"header {quote(name)} came twice", start)
        headers[name] = _read_value(cursor, name)
    return headers


def _read_value(cursor: _Cursor, name: str) -> HeaderValue:
    what = f"header {quote(name)}"
    (kind,) = cursor.take(1, f"{what}'s type")
    start = cursor.pos
    if kind in (0, 1):
        return bool(kind == 0)
    if kind in _INTEGERS or kind == _TIMESTAMP:
        layout = _INTEGERS[5 if kind == _TIMESTAMP else kind]
        return int(layout.unpack(cursor.take(layout.size, what))[0])
    if kind == 6:
        return cursor.take_sized(what)
    if kind == 7:
        return _to_text(cursor.take_sized(what), start + 2, what)
    if kind == 9:
        return UUID(bytes=cursor.take(16, what))
    raise _HeaderFault(f"expected a type from 0 to 9 for {what}, got {kind}", start - 1)


def _to_text(data: bytes, start: int, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        message = f"{what} is not UTF-8: byte 0x{data[fault.start]:02x}"
        raise _HeaderFault(message, start + fault.start) from None


def encode_event_stream_message(headers: Mapping[str, HeaderValue], payload: bytes = b"") -> bytes:
    """One message as bytes: what `EventStreamDecoder` reads, with right lengths and checksums.

    A bool is written as type 0 or 1, an int as type 4 when it fits 32 bits and else as type 5 (there is no
    telling a timestamp from a number), bytes, str and UUID as types 6, 7 and 9.

    Raises:
        ValueError: a name of more than 255 bytes, a value of more than 65,535, an int of more than 64 bits,
            a message of 4 GiB
        TypeError: a value of another type
    """
    block = b"".join(_encode_header(name, value) for name, value in headers.items())
    total = len(block) + len(payload) + _OVERHEAD
    if total > 0xFFFFFFFF:
        raise ValueError(f"a message has at most {0xFFFFFFFF:,} bytes, got {total:,}")
    lengths = struct.pack(">II", total, len(block))
    message = b"".join((lengths, _CRC.pack(zlib.crc32(lengths)), block, payload))
    return message + _CRC.pack(zlib.crc32(message))


def _encode_header(name: str, value: HeaderValue) -> bytes:
    raw = name.encode()
    if len(raw) > 255:
        raise ValueError(f"a header name has at most 255 bytes, got {len(raw):,}: {quote(name)}")
    return bytes((len(raw),)) + raw + _encode_value(name, value)


def _encode_value(name: str, value: HeaderValue) -> bytes:
    if isinstance(value, bool):
        return b"\x00" if value else b"\x01"
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return struct.pack(">bi", 4, value)
        if -(2**63) <= value < 2**63:
            return struct.pack(">bq", 5, value)
        raise ValueError(f"header {quote(name)}: an integer has at most 64 bits, got {value}")
    if isinstance(value, UUID):
        return b"\x09" + value.bytes
    if not isinstance(value, bytes | str):
        raise TypeError(
            f"header {quote(name)}: expected bool, int, bytes, str or UUID, got {type(value).__name__}"
        )
    kind, raw = (6, value) if isinstance(value, bytes) else (7, value.encode())
    if len(raw) > 0xFFFF:
        raise ValueError(f"header {quote(name)}: a value has at most 65,535 bytes, got {len(raw):,}")
    return struct.pack(">bH", kind, len(raw)) + raw
