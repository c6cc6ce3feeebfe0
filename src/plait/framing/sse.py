"""Server-sent events: a `text/event-stream` body to events.

Source: WHATWG HTML, section 9.2, "Server-sent events"
(https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation), with one
departure: an event without its final blank line is not dropped, see `SSEDecoder.close`.

A *block* is the bytes of one event: its lines up to and including the blank line that dispatches it. Whole
blocks are matched by one regular expression, as bytes; only blocks with anything but one data line, and
perhaps an event line before it, are read line by line. `SSEBlockDecoder` gives the blocks, for readers who
decode JSON and need no text of it; `SSEDecoder` gives the events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from plait.errors import ProtocolError
from plait.framing._decoder import BOM, MAX_FRAME, BytesLike, Decoder

Block: TypeAlias = tuple[bytes, bytes, bytes]
"""`(event, data, b"")` of a regular block, `(b"", b"", block)` of any other; all are UTF-8.

Regular is one data line, perhaps after an event line whose name is not `error`.
"""

_CR, _LF = 13, 10
_LONGEST_HEAD = 200  # of a block, which the decoder keeps

# In bytes whose lines end in LF and which end with a blank line: the blocks. One of the two alternatives
# always matches, so the matches lie end to end. Every repeat is possessive and ends with its line, so the
# cost is linear: about 200 ns for a block of 300 bytes.
_BLOCKS = re.compile(rb"(?:event: ?+(?!error\n)(.*+)\n)?+data: ?+(.*+)\n\n|((?:.++\n)*+\n)").findall

# The same for bytes whose lines end in CR LF, half the cost of replacing them. It matches bytes with other
# line ends, too, but then something tells: an LF in what should be one line, or a rest that is not a block.
_CRLF_BLOCKS = re.compile(
    rb"(?:event: ?+(?!error\r)([^\r]*+)\r\n)?+data: ?+([^\r]*+)\r\n\r\n|((?:[^\r]++\r\n)*+\r\n)|(.++)",
    re.DOTALL,
).findall

# A line end followed by the byte that ends a blank line. CR LF is not one: it is a single line end.
_BLANK_LINE = re.compile(rb"\n[\n\r]|\r\r")

# What follows a `{` line when a JSON document is printed over several lines; no SSE field starts so.
_JSON_CONTINUES = (" ", "\t", '"', "{", "}", "[", "]")


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    """One dispatched event.

    Attributes:
        data: the data lines, joined by LF
        event: the event's type; `message` when the event names none
        id: the value of this event's own id line, else None (an earlier event's id is not carried over)
        retry: milliseconds, when the event has a valid retry line
        terminated: False when the body ended before the blank line that should end the event
    """

    data: str
    event: str = "message"
    id: str | None = None
    retry: int | None = None
    terminated: bool = True


class SSEBlockDecoder(Decoder[Block]):
    """Bytes of a `text/event-stream` body to the blocks of its events; see `event_of`.

    Lines end in LF, CR LF or CR, and in nothing else: U+2028, U+0085 and form feed are text. A CR at the end
    of a chunk ends its line at once, and an LF that opens the next chunk then belongs to it. A block that is
    not UTF-8 is a fault at its byte.
    """

    __slots__ = (
        "_after_cr", "_at_start", "_between", "_event", "_head", "_offset", "_pending", "_start",
    )  # fmt: skip

    def __init__(self, *, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            max_frame: the most bytes one event may have, counted from the end of the previous event to its
                blank line, comments included. 64 MiB, because one event may hold a base64 image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._pending = bytearray()  # the bytes of a block without its blank line
        self._offset = 0  # where `_pending` starts in the body
        self._at_start = True  # no text was read yet, so a BOM may come
        self._after_cr = False  # the last byte was a CR, so an LF would be part of its line end
        self._between = False  # exactly at the start of a block, none of the above, no fault, not closed
        # What the last chunk of one regular block began with, up to its data, and the event's name there.
        self._head, self._start, self._event = b"data: ", 6, b""

    def feed(self, data: BytesLike) -> list[Block]:
        """The blocks that `data`, the next bytes of the body, completes; raises as `Decoder.feed`."""
        # The usual chunk is one or a few whole blocks. They need none of the bookkeeping of `_read`.
        if self._between and type(data) is bytes and (size := len(data)) <= self._max:
            head, start = self._head, self._start
            if (  # one regular block that begins as the last one did: nearly all of a live stream
                data.startswith(head)
                and data.find(b"\n", start) == size - 2
                and data[-1] == _LF
                and (data.isascii() or _is_utf8(data))
                and _CR not in data
            ):
                self._offset += size
                return [(self._event, data[start:-2], b"")]
            if data.endswith((b"\n\n", b"\n\r\n")) and _is_utf8(data):
                self._offset += size
                blocks = _blocks(data)
                if len(blocks) == 1 and blocks[0][1] and _CR not in data:
                    head = data[: -2 - len(blocks[0][1])]
                    if head.endswith(b"data: ") and len(head) < _LONGEST_HEAD:
                        self._head, self._start, self._event = head, len(head), blocks[0][0]
                return blocks
        return super().feed(data)

    def close(self) -> list[Block]:
        """The block that the body ended in, without its blank line: what is left of it, even half a line.

        When that is not UTF-8 the body was cut inside a character: it is dropped.

        Raises:
            ProtocolError: the fault of an earlier call
        """
        self._between = False
        return super().close()

    def _read(self, data: bytes) -> list[Block]:
        self._between = False
        skip = 0
        if self._after_cr and data[0] == _LF:
            if self._pending:
                skip = 1
            else:
                self._offset += 1
                data = data[1:]
        self._after_cr = data.endswith(b"\r")

        blocks: list[Block] = []
        end = self._end_of_blocks(data, skip)
        if end:
            whole = b"".join((self._pending, data[:end])) if self._pending else data[:end]
            self._pending = bytearray(data[end:])
            blocks = self._split(whole)
            self._offset += len(whole)
        else:
            self._pending += data
        if self.error is not None:
            self._pending = bytearray()
        elif len(self._pending) > self._max:
            self._pending = bytearray()
            self._fail_too_long("SSE: event", self._offset)
        else:
            self._between = not (self._pending or self._after_cr or self._at_start)
        return blocks

    def _end(self) -> list[Block]:
        rest = self._without_bom(bytes(self._pending))
        self._pending = bytearray()
        return [(b"", b"", _to_lf(rest))] if rest and _is_utf8(rest) else []

    def _end_of_blocks(self, data: bytes, skip: int) -> int:
        """The index after the last blank line in `data`, 0 without one.

        `skip` is 1 when `data[0]` belongs to the CR that ended the chunk before.
        """
        if _CR in data:
            end = data.rfind(b"\n\r") + 2
            # A later pair than this one is looked for only behind it.
            end = max(end, data.rfind(b"\n\n", max(end - 2, 0)) + 2, data.rfind(b"\r\r", max(end - 2, 0)) + 2)
        elif _LF in data:
            end = data.rfind(b"\n\n") + 2
        else:  # the middle of a long line: looking for pairs costs more
            return 0
        if end == 1:  # none inside the chunk; its first byte may still end a line that has no bytes
            starts_line = skip or not self._pending or self._pending[-1] in (_CR, _LF)
            if not starts_line or data[skip : skip + 1] not in (b"\n", b"\r"):
                return 0
            end = skip + 1
        return _past_line_end(data, end)

    def _split(self, data: bytes) -> list[Block]:
        """The blocks of `data`, which is whole blocks, up to a fault."""
        if len(data) <= self._max and _is_utf8(data):
            return _blocks(self._without_bom(data))
        # Somewhere in here is a fault, or too many blocks to rule out an overlong one: block by block.
        blocks: list[Block] = []
        for start, end in _block_spans(data):
            if end - start > self._max:
                self._fail_too_long("SSE: event", self._offset + start)
                break
            block = data[start:end]
            try:
                block.decode()
            except UnicodeDecodeError as fault:
                self._fail_not_utf8("SSE: event", self._offset + start, fault)
                break
            blocks += _blocks(self._without_bom(block))
        return blocks

    def _without_bom(self, data: bytes) -> bytes:
        if self._at_start:
            self._at_start = False
            return data.removeprefix(BOM)
        return data


class SSEDecoder(Decoder[ServerSentEvent]):
    """Bytes of a `text/event-stream` body to `ServerSentEvent`s.

    Lines and faults are as in `SSEBlockDecoder`. Comments, unknown fields and events without data are
    dropped.
    """

    def __init__(self, *, lenient: bool = False, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            lenient: read three things that are not SSE and that WHATWG ignores: see `event_of`
            max_frame: as for `SSEBlockDecoder`

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._lenient = lenient
        self._blocks = SSEBlockDecoder(max_frame=max_frame)

    def close(self) -> list[ServerSentEvent]:
        """The event that the body ended in, when it has data, with `terminated=False`.

        WHATWG drops such an event. Providers leave out the last blank line, and even the last newline, so it
        is returned, an unfinished last line included; whether it is whole is for the reader of its data to
        say. When its bytes are not UTF-8 the body was cut inside a character: the event is dropped.

        Raises:
            ProtocolError: the fault of an earlier call
        """
        return super().close()

    def _read(self, data: bytes) -> list[ServerSentEvent]:
        try:
            blocks = self._blocks.feed(data)
        except ProtocolError:
            blocks = []
        self.error = self._blocks.error
        return self._events(blocks)

    def _end(self) -> list[ServerSentEvent]:
        return self._events(self._blocks.close(), terminated=False)

    def _events(self, blocks: list[Block], *, terminated: bool = True) -> list[ServerSentEvent]:
        events = (event_of(block, lenient=self._lenient, terminated=terminated) for block in blocks)
        return [event for event in events if event is not None]


def event_of(block: Block, *, lenient: bool = False, terminated: bool = True) -> ServerSentEvent | None:
    """The event of a block; None when it has no data.

    Args:
        block: from `SSEBlockDecoder`
        lenient: read three things that are not SSE and that WHATWG ignores. White space before a field's
            name. A line that starts with `{` or `[{`, or is `[`, is a data line, and so are the lines of
            pretty-printed JSON after it: gateways, and Gemini on a failure, write bare JSON into the body. A
            field named `error` is a data line of an event of type `error`: llama.cpp wrote `error: {json}`
            before October 2025 (ggml-org/llama.cpp#16109).
        terminated: whether the blank line has come
    """
    event, data, irregular = block
    if not irregular:
        return ServerSentEvent(data.decode(), event.decode() or "message", terminated=terminated)
    return _read_lines(irregular.decode().split("\n"), lenient, terminated)


def _read_lines(lines: list[str], lenient: bool, terminated: bool) -> ServerSentEvent | None:
    data: list[str] = []
    event, event_id, retry = "", None, None
    bare_json = False
    for line in lines:
        if lenient and (
            line.startswith(("{", "[{")) or line == "[" or (bare_json and line.startswith(_JSON_CONTINUES))
        ):
            bare_json = True
            data.append(line)
            continue
        name, _, value = (line.lstrip(" \t") if lenient else line).partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id":
            if "\0" not in value:
                event_id = value
        elif name == "retry":
            # Eighteen digits are 31 million years; Python refuses to read some thousands of them.
            if value.isascii() and value.isdigit() and len(value) <= 18:
                retry = int(value)
        elif name == "error" and lenient:
            data.append(value)
            event = "error"
    if not data:
        return None
    return ServerSentEvent("\n".join(data), event or "message", event_id, retry, terminated)


def _blocks(data: bytes) -> list[Block]:
    if _CR in data:
        if data.endswith(b"\r\n\r\n") and (blocks := _crlf_blocks(data)) is not None:
            return blocks
        data = _to_lf(data)
    return _BLOCKS(data)


def _crlf_blocks(data: bytes) -> list[Block] | None:
    """The same for bytes with CR LF; None when a line ends in something else."""
    blocks: list[Block] = []
    for event, value, block, rest in _CRLF_BLOCKS(data):
        if rest or _LF in value or _LF in event or block.count(b"\n") != block.count(b"\r"):
            return None
        blocks.append((event, value, _to_lf(block)))
    return blocks


def _to_lf(data: bytes) -> bytes:
    if _CR not in data:
        return data
    # A third faster than replacing CR LF.
    return b"\n".join(data.split(b"\r\n")).replace(b"\r", b"\n")


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _past_line_end(data: bytes, end: int) -> int:
    """`end`, moved behind an LF there when the byte before it is its CR."""
    return end + 1 if data[end - 1] == _CR and data[end : end + 1] == b"\n" else end


def _block_spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each block in `data`, which is whole blocks; the LF of a final CR LF is in none."""
    start = 0
    while start < len(data):
        if data[start] in (_CR, _LF):
            end = start + 1
        else:
            blank = _BLANK_LINE.search(data, start)
            end = blank.end() if blank else len(data)
        yield start, end
        start = _past_line_end(data, end)


_FIELDS = (b"data", b"event", b"id", b"retry")


def is_sse_start(prefix: bytes, *, lenient: bool = False) -> bool | None:
    """Whether a body that starts with `prefix` is an SSE body and not, say, an HTML page or a JSON document.

    A BOM and blank lines are skipped. Then True when the first line is a comment or one of the fields
    `data`, `event`, `id` and `retry` (with `lenient` also `error`, and after white space, see `SSEDecoder`),
    False when it cannot be, None while the prefix is too short to tell, as `b"dat"` is.
    """
    if prefix.startswith((b"data:", b"event:")):  # nearly all
        return True
    if len(prefix) < len(BOM) and BOM.startswith(prefix):
        return None
    line = prefix.removeprefix(BOM).lstrip(b"\r\n \t" if lenient else b"\r\n")
    if line.startswith(b":"):
        return True
    for name in (*_FIELDS, b"error") if lenient else _FIELDS:
        if line.startswith(name) and len(line) > len(name):
            return line[len(name)] in b":\r\n"
        if name.startswith(line):
            return None
    return False
