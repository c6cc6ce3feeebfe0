"""Server-sent events: a `text/event-stream` body to events.

Source: WHATWG HTML, section 9.2, "Server-sent events"
(https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation), with one
departure: an event without its final blank line is not dropped, see `SSEDecoder.close`.

A *block* is the bytes of one event: its lines up to and including the blank line that dispatches it. Whole
blocks are decoded at once and matched by one regular expression; only blocks with anything but one data
line, and perhaps an event line before it, are read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from plait.framing._decoder import BOM, MAX_FRAME, BytesLike, Decoder

_CR, _LF = 13, 10

# In text whose lines end in LF and which ends with a blank line: a regular block as (event, data, ""), any
# other block as ("", "", block). One of the two always matches, so the matches lie end to end. Every repeat
# is possessive and ends with its line, so the cost is linear: about 240 ns for a block of 300 bytes.
_BLOCKS = re.compile(r"(?:event: ?([^\n]*+)\n)?data: ?([^\n]*+)\n\n|((?:[^\n]++\n)*+\n)").findall

# The same for text whose lines end in CR LF, half the cost of replacing them. It matches text with other line
# ends, too, but then something tells: an LF in what should be one line, or a rest that is not a block.
_CRLF_BLOCKS = re.compile(
    r"(?:event: ?([^\r]*+)\r\n)?data: ?([^\r]*+)\r\n\r\n|((?:[^\r]++\r\n)*+\r\n)|(.++)", re.DOTALL
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


class SSEDecoder(Decoder[ServerSentEvent]):
    """Bytes of a `text/event-stream` body to `ServerSentEvent`s.

    Lines end in LF, CR LF or CR, and in nothing else: U+2028, U+0085 and form feed are text. A CR at the end
    of a chunk ends its line at once, and an LF that opens the next chunk then belongs to it. Comments,
    unknown fields and events without data are dropped. A block that is not UTF-8 is a fault at its byte.
    """

    def __init__(self, *, lenient: bool = False, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            lenient: read three things that are not SSE and that WHATWG ignores. White space before a
                field's name. A line that starts with `{` or `[{`, or is `[`,
                is a data line, and so are the lines of pretty-printed JSON after it: gateways, and Gemini
                on a failure, write bare JSON into the body. A field named `error` is a data line of an
                event of type `error`: llama.cpp wrote `error: {json}` before October 2025
                (ggml-org/llama.cpp#16109).
            max_frame: the most bytes one event may have, counted from the end of the previous event to its
                blank line, comments included. 64 MiB, because one event may hold a base64 image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._lenient = lenient
        self._pending = bytearray()  # the bytes of a block without its blank line
        self._offset = 0  # where `_pending` starts in the body
        self._at_start = True  # no text was read yet, so a BOM may come
        self._after_cr = False  # the last byte was a CR, so an LF would be part of its line end
        self._between = False  # exactly at the start of a block, none of the above, no fault, not closed

    def feed(self, data: BytesLike) -> list[ServerSentEvent]:
        """The events that `data`, the next bytes of the body, completes.

        Raises:
            ProtocolError: a fault with no events before it, or the fault of an earlier call
            TypeError: `data` is text, or anything else that is not bytes
            ValueError: the decoder was closed
        """
        # The usual chunk is one or a few whole events. They need none of the bookkeeping of `_read`.
        if (
            self._between
            and type(data) is bytes
            and data.endswith((b"\n\n", b"\n\r\n"))
            and len(data) <= self._max
        ):
            try:
                text = data.decode()
            except UnicodeDecodeError:
                return super().feed(data)
            self._offset += len(data)
            # One regular event: half the time that the regular expression takes to start and stop.
            cr = text.find("\r")
            if cr >= 0:
                if cr == len(text) - 4 and text.startswith("data: ") and text.find("\n") == cr + 1:
                    return [ServerSentEvent(text[6:cr])]
                return self._events(text)
            data_line = text.find("\n") + 1 if text.startswith("event: ") else 0
            if text.startswith("data: ", data_line) and text.find("\n", data_line) == len(text) - 2:
                event = text[7 : data_line - 1] if data_line else ""
                return [ServerSentEvent(text[data_line + 6 : -2], event or "message")]
            return self._events(text)
        return super().feed(data)

    def close(self) -> list[ServerSentEvent]:
        """The event that the body ended in, when it has data, with `terminated=False`.

        WHATWG drops such an event. Providers leave out the last blank line, and even the last newline, so it
        is returned, an unfinished last line included; whether it is whole is for the reader of its data to
        say. When its bytes are not UTF-8 the body was cut inside a character: the event is dropped.

        Raises:
            ProtocolError: the fault of an earlier call
        """
        self._between = False
        return super().close()

    def _read(self, data: bytes) -> list[ServerSentEvent]:
        self._between = False
        skip = 0
        if self._after_cr and data[0] == _LF:
            if self._pending:
                skip = 1
            else:
                self._offset += 1
                data = data[1:]
        self._after_cr = data.endswith(b"\r")

        frames: list[ServerSentEvent] = []
        end = self._end_of_blocks(data, skip)
        if end:
            blocks = b"".join((self._pending, data[:end])) if self._pending else data[:end]
            self._pending = bytearray(data[end:])
            frames = self._read_blocks(blocks)
            self._offset += len(blocks)
        else:
            self._pending += data
        if self.error is not None:
            self._pending = bytearray()
        elif len(self._pending) > self._max:
            self._pending = bytearray()
            self._fail_too_long("SSE: event", self._offset)
        else:
            self._between = not (self._pending or self._after_cr or self._at_start)
        return frames

    def _end(self) -> list[ServerSentEvent]:
        try:
            text = self._pending.decode()
        except UnicodeDecodeError:
            return []
        finally:
            self._pending = bytearray()
        event = self._read_lines(_to_lf(self._without_bom(text)), terminated=False)
        return [] if event is None else [event]

    def _end_of_blocks(self, data: bytes, skip: int) -> int:
        """The index after the last blank line in `data`, 0 without one.

        `skip` is 1 when `data[0]` belongs to the CR that ended the chunk before.
        """
        has_cr = b"\r" in data
        if not has_cr and b"\n" not in data:  # the middle of a long line: looking for pairs costs more
            return 0
        end = data.rfind(b"\n\r") + 2 if has_cr else 1
        after = max(end - 2, 0)  # a later pair than this one is looked for only behind it
        end = max(end, data.rfind(b"\n\n", after) + 2)
        if has_cr:
            end = max(end, data.rfind(b"\r\r", after) + 2)
        if end == 1:  # none inside the chunk; its first byte may still end a line that has no bytes
            starts_line = skip or not self._pending or self._pending[-1] in (_CR, _LF)
            if not starts_line or data[skip : skip + 1] not in (b"\n", b"\r"):
                return 0
            end = skip + 1
        return _past_line_end(data, end)

    def _read_blocks(self, data: bytes) -> list[ServerSentEvent]:
        if len(data) <= self._max:
            try:
                return self._events(self._without_bom(data.decode()))
            except UnicodeDecodeError:
                pass
        # Somewhere in here is a fault, or too many blocks to rule out an overlong one: block by block.
        frames: list[ServerSentEvent] = []
        for start, end in _block_spans(data):
            if end - start > self._max:
                self._fail_too_long("SSE: event", self._offset + start)
                break
            try:
                text = data[start:end].decode()
            except UnicodeDecodeError as fault:
                self._fail_not_utf8("SSE: event", self._offset + start, fault)
                break
            frames += self._events(self._without_bom(text))
        return frames

    def _events(self, text: str) -> list[ServerSentEvent]:
        """The events of `text`, which is whole blocks."""
        if "\r" in text:
            if text.endswith("\r\n\r\n") and (events := self._crlf_events(text)) is not None:
                return events
            text = _to_lf(text)
        frames: list[ServerSentEvent] = []
        for event, data, block in _BLOCKS(text):
            if block:
                irregular = self._read_lines(block, terminated=True)
                if irregular is not None:
                    frames.append(irregular)
            elif event:
                frames.append(ServerSentEvent(data, event))
            else:
                frames.append(ServerSentEvent(data))
        return frames

    def _crlf_events(self, text: str) -> list[ServerSentEvent] | None:
        """The same for text with CR LF; None when a line ends in something else."""
        frames: list[ServerSentEvent] = []
        for event, data, block, rest in _CRLF_BLOCKS(text):
            if block:
                if block.count("\n") != block.count("\r"):
                    return None
                irregular = self._read_lines(_to_lf(block), terminated=True)
                if irregular is not None:
                    frames.append(irregular)
            elif rest or "\n" in data or "\n" in event:
                return None
            else:
                frames.append(ServerSentEvent(data, event or "message"))
        return frames

    def _without_bom(self, text: str) -> str:
        if self._at_start:
            self._at_start = False
            return text.removeprefix("\ufeff")
        return text

    def _read_lines(self, block: str, *, terminated: bool) -> ServerSentEvent | None:
        """The event of one block, line by line; None when the block has no data line."""
        data: list[str] = []
        event, event_id, retry = "", None, None
        bare_json = False
        for line in block.split("\n"):
            if self._lenient and (
                line.startswith(("{", "[{"))
                or line == "["
                or (bare_json and line.startswith(_JSON_CONTINUES))
            ):
                bare_json = True
                data.append(line)
                continue
            name, _, value = (line.lstrip(" \t") if self._lenient else line).partition(":")
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
            elif name == "error" and self._lenient:
                data.append(value)
                event = "error"
        if not data:
            return None
        return ServerSentEvent("\n".join(data), event or "message", event_id, retry, terminated)


def _to_lf(text: str) -> str:
    if "\r" not in text:
        return text
    # A third faster than replacing CR LF.
    return "\n".join(text.split("\r\n")).replace("\r", "\n")


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
