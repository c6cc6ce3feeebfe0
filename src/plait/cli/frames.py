"""A body as the frames it is made of, for people to look at. Parsers have decoders of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from plait.framing import ServerSentEvent, SSEDecoder, is_sse_start

_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)+")
SNIFFED_BYTES = 1024
"""How much of a body may be blank before it says what it is."""


@dataclass(frozen=True)
class Frame:
    """One frame: its place in the body, its bytes (line ends included), and what they say.

    `open_ended`: only the end of the body ends it, so its events come when the parser is closed.
    """

    number: int
    offset: int
    raw: bytes
    open_ended: bool = False

    def name(self) -> str:
        """The event's name, when the frame has one."""
        frames = self._decoded()
        return frames[0].event if frames and frames[0].event != "message" else ""

    def payload(self) -> str:
        """The data, or the raw text of a frame without data (comments)."""
        frames = self._decoded()
        return frames[0].data if frames else self.raw.decode("utf-8", "replace").strip()

    def _decoded(self) -> list[ServerSentEvent]:
        decoder = SSEDecoder(lenient=True)
        return decoder.feed(self.raw) + decoder.close()


def frames(chunks: Iterable[bytes]) -> Iterator[Frame]:
    """The body's frames, as soon as each is whole; a body that is no stream is one frame."""
    number, offset, searched = 0, 0, 0
    buffer = bytearray()
    is_stream: bool | None = None
    for chunk in _ended(chunks):
        buffer += chunk or b""
        is_stream = (
            is_sse_start(bytes(buffer[:SNIFFED_BYTES]), lenient=True) if is_stream is None else is_stream
        )
        # A CR at the end may be the first half of a CR LF.
        limit = len(buffer) - (chunk is not None and buffer.endswith(b"\r"))
        ends = [blank.end() for blank in _BLANK_LINE.finditer(buffer, searched, limit)] if is_stream else []
        start = 0
        for end in ends:
            number += 1
            yield Frame(number, offset + start, bytes(buffer[start:end]))
            start = end
        offset += start
        del buffer[:start]
        searched = max(len(buffer) - 3, 0)
    if buffer:
        yield Frame(number + 1, offset, bytes(buffer), open_ended=True)


def _ended(chunks: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from chunks
    yield None
