"""A JSON array that arrives element by element, as Gemini streams without `alt=sse`: `[{...},\\r\\n{...}]`.

Source of the grammar: RFC 8259, sections 2 to 7. The framing finds where elements end; it follows strings,
escapes and the depth of brackets, and leaves it to the reader of an element to see that it is JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto

from plait.errors import quote
from plait.framing._decoder import BOM, MAX_FRAME, Decoder

_NOT_WHITESPACE = re.compile(rb"[^ \t\r\n]")
_SCALAR_END = re.compile(rb"[,\]]")
# Both stop at what they cannot take: inside a string at its quote, or at a backslash that ends the bytes;
# outside at a bracket, or at the quote of a string that does not end in these bytes.
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+', re.DOTALL)

#: How much of what should not be there is collected, in bytes, so that the error can show it.
_STRAY_BYTES = 64


class _At(Enum):
    """What the next byte may be."""

    START = auto()  # `[`, or `{` of a body that is one object
    FIRST = auto()  # a value, or `]` of an empty array
    VALUE = auto()  # a value, after a comma
    NESTED = auto()  # anything: inside an object, array or string that is an element
    SCALAR = auto()  # anything: inside a number, true, false or null that is an element
    NEXT = auto()  # `,` or `]`, after an element
    END = auto()  # nothing
    STRAY = auto()  # anything: a fault was found, and its bytes are being collected


class JSONArrayDecoder(Decoder[str]):
    """Bytes of a streamed JSON array to the text of each element, as soon as the element is whole.

    Elements may be any JSON value; a number or literal ends at the comma or bracket after it. A body that is
    one object instead of an array (an error envelope) is yielded as one element. What does not start with
    `[` or `{`, what stands where a comma or a bracket should, and anything after the closing bracket is a
    fault. Such a fault is reported with the first 64 bytes of what came: when they have come, or at `close`.
    """

    def __init__(self, *, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            max_frame: the most bytes one element may have. 64 MiB, because one element may hold a base64
                image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._at = _At.START
        self._pending = bytearray()  # the bytes of an unfinished element, or the stray bytes
        self._start = 0  # where the element, or the stray bytes, start in the body
        self._begin = 0  # where the bytes that belong to `_pending` start in this chunk
        self._offset = 0  # where this chunk starts in the body
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the last byte was the backslash of an escape
        self._one_object = False
        self._closed = False
        self._expected = ""
        self._steps: dict[_At, Callable[[bytes, int, list[str]], int]] = {
            _At.START: self._read_start,
            _At.FIRST: self._read_value,
            _At.VALUE: self._read_value,
            _At.NESTED: self._read_nested,
            _At.SCALAR: self._read_scalar,
            _At.NEXT: self._read_next,
            _At.END: self._read_next,
            _At.STRAY: self._read_stray,
        }

    @property
    def closed(self) -> bool:
        """Whether the array's closing bracket was seen (or the closing brace, when the body is an object)."""
        return self._closed

    def close(self) -> list[str]:
        """Nothing: an element without its end is not returned. `closed` says whether the array was whole.

        Raises:
            ProtocolError: the fault of an earlier call, or bytes that should not be there at the body's end
        """
        return super().close()

    def _read(self, data: bytes) -> list[str]:
        frames: list[str] = []
        self._begin = 0
        pos = 0
        while pos < len(data) and self.error is None:
            pos = self._steps[self._at](data, pos, frames)
        if self.error is None and self._at in (_At.NESTED, _At.SCALAR):
            self._pending += data[self._begin :]
            if len(self._pending) > self._max:
                self._fail_too_long("JSON array: element", self._start)
        self._offset += len(data)
        if self.error is not None:
            self._pending = bytearray()
        return frames

    def _end(self) -> list[str]:
        if self._at is _At.STRAY:
            self._fail_stray()
        self._pending = bytearray()
        return []

    # Each step reads from `pos`, where there is a byte, and returns the position it read up to.

    def _read_start(self, data: bytes, pos: int, frames: list[str]) -> int:
        at = self._offset + pos
        if at < len(BOM) and data[pos] == BOM[at]:
            return pos + 1
        found = _NOT_WHITESPACE.search(data, pos)
        if found is None:
            return len(data)
        pos = found.start()
        if found[0] == b"[":
            self._at = _At.FIRST
            return pos + 1
        if found[0] == b"{":
            self._one_object = True
            return self._begin_element(_At.NESTED, pos)
        return self._begin_stray('"[" or "{" at the start of the body', pos)

    def _read_value(self, data: bytes, pos: int, frames: list[str]) -> int:
        found = _NOT_WHITESPACE.search(data, pos)
        if found is None:
            return len(data)
        pos = found.start()
        if found[0] == b"]" and self._at is _At.FIRST:
            return self._close_array(pos)
        if found[0] in b",]":
            return self._begin_stray("a JSON value", pos)
        if found[0] == b'"':
            self._in_string = True
            return self._begin_element(_At.NESTED, pos) + 1
        return self._begin_element(_At.NESTED if found[0] in b"{[" else _At.SCALAR, pos)

    def _read_nested(self, data: bytes, pos: int, frames: list[str]) -> int:
        size = len(data)
        while pos < size:
            if self._in_string:
                pos = self._read_string(data, pos)
                if self._in_string:
                    return size
                if self._depth == 0:
                    return self._finish_element(data, pos, frames)
                continue
            # _TO_BRACKET matches everywhere, if only the empty string.
            pos = _TO_BRACKET.match(data, pos).end()  # type: ignore[union-attr]
            if pos == size:
                return size
            found = data[pos]
            pos += 1
            if found in b"{[":
                self._depth += 1
            elif found in b"}]":
                self._depth -= 1
                if self._depth <= 0:
                    return self._finish_element(data, pos, frames)
            else:
                self._in_string = True
        return size

    def _read_string(self, data: bytes, pos: int) -> int:
        if self._escaped:
            self._escaped = False
            pos += 1
        pos = _IN_STRING.match(data, pos).end()  # type: ignore[union-attr]
        if pos == len(data):
            return pos
        if data[pos] == 0x22:
            self._in_string = False
        else:
            self._escaped = True
        return pos + 1

    def _read_scalar(self, data: bytes, pos: int, frames: list[str]) -> int:
        found = _SCALAR_END.search(data, pos)
        return len(data) if found is None else self._finish_element(data, found.start(), frames)

    def _read_next(self, data: bytes, pos: int, frames: list[str]) -> int:
        found = _NOT_WHITESPACE.search(data, pos)
        if found is None:
            return len(data)
        pos = found.start()
        if self._at is _At.END:
            return self._begin_stray("nothing after the end of the body's JSON", pos)
        if found[0] == b",":
            self._at = _At.VALUE
        elif found[0] == b"]":
            return self._close_array(pos)
        else:
            return self._begin_stray('"," or "]" after an element', pos)
        return pos + 1

    def _read_stray(self, data: bytes, pos: int, frames: list[str]) -> int:
        self._pending += data[pos : pos + _STRAY_BYTES - len(self._pending)]
        if len(self._pending) == _STRAY_BYTES:
            self._fail_stray()
        return len(data)

    def _begin_element(self, at: _At, pos: int) -> int:
        self._at = at
        self._begin = pos
        self._start = self._offset + pos
        return pos

    def _finish_element(self, data: bytes, end: int, frames: list[str]) -> int:
        self._pending += data[self._begin : end]
        element, self._pending = self._pending, bytearray()
        self._at = _At.NEXT
        if self._one_object:
            self._close_array(end)
        if len(element) > self._max:
            self._fail_too_long("JSON array: element", self._start)
            return end
        try:
            frames.append(element.decode().rstrip(" \t\r\n"))
        except UnicodeDecodeError as fault:
            self._fail_not_utf8("JSON array: element", self._start, fault)
        return end

    def _close_array(self, pos: int) -> int:
        self._at = _At.END
        self._closed = True
        return pos + 1

    def _begin_stray(self, expected: str, pos: int) -> int:
        self._at = _At.STRAY
        self._expected = expected
        self._start = self._offset + pos
        return pos

    def _fail_stray(self) -> None:
        came = quote(bytes(self._pending))
        self._fail(f"JSON array: expected {self._expected}, got {came} at byte {self._start:,}")
