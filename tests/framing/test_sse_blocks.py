"""The quick ways through SSE blocks and the slow one give the same events, whatever the bytes and chunks."""

from __future__ import annotations

import re

from chunked import cuts, outcome, split
from hypothesis import example, given
from hypothesis import strategies as st

from plait.framing import Block, ServerSentEvent, SSEBlockDecoder, SSEDecoder, event_of

PIECES = [
    b'data: {"a":1}\n\n',
    b"data:{}\n\n",
    b"data:  two spaces\n\n",
    b"data: \n\n",
    b"event: delta\ndata: x\n\n",
    b"event: delta\ndata:y\n\n",
    b"event:delta\ndata: z\n\n",
    b"event: error\ndata: e\n\n",
    b"event:error\ndata: f\n\n",
    b"event:  error\ndata: g\n\n",
    b"event: \ndata: no name\n\n",
    b"event: data: \ndata: data: \n\n",
    b"event: x\n\n",
    b"id: 1\ndata: numbered\n\n",
    b"data: a\nevent: late\n\n",
    b"data: a\ndata: b\n\n",
    b": comment\n\n",
    b"\n",
    b"data: cr\r\r",
    b"data: crlf\r\n\r\n",
    b"event: delta\r\ndata: crlf\r\n\r\n",
    b"data: mixed\r\n\n",
    b"data: a\rb\n\n",
    b"data: nul \x00\n\n",
    "data: \u00e9 \u6771 \u2028 \U0001f309\n\n".encode(),
    b"\xef\xbb\xbfdata: mark\n\n",
    b"data: cut",
]
NOT_UTF8 = [b"data: \xff\n\n", b"event: \xc3\ndata: x\n\n", b": \xed\xa0\x80\n\n"]


def events(blocks: list[Block]) -> list[ServerSentEvent]:
    """The events of these blocks."""
    return [event for block in blocks if (event := event_of(block)) is not None]


def line_by_line(body: bytes) -> list[ServerSentEvent]:
    """What WHATWG makes of a body of UTF-8, in as few words as possible."""
    found: list[ServerSentEvent] = []
    data: list[str] = []
    event, number = "", None
    for line in [*re.split("\r\n|\n|\r", body.decode().removeprefix("\ufeff")), None]:
        name, _, value = (line or "").partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                joined = "\n".join(data)
                found.append(ServerSentEvent(joined, event or "message", number, None, line is not None))
            data, event, number = [], "", None
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id":
            number = value
    return found


@given(st.lists(st.sampled_from(PIECES), max_size=12), cuts)
@example([b"data:{}\n\n", b"data: x\n\n", b"data:  x\n\n"], [])
@example([b"event: {}\ndata: {}\n\n", b"event: z\n\n"], [])
@example([b"event: delta\ndata: x\n\n", b"event: delta\ndata: y\n\n", b"event: deltas\ndata: z\n\n"], [])
@example([b"data: x\n\n", b"data: y\nd", b"ata: z\n\n"], [])
@example([b"\xef\xbb\xbfdata: mark\n\n", b"\xef\xbb\xbfdata: mark\n\n"], [])
def test_any_chunks(pieces: list[bytes], places: list[int]) -> None:
    """A chunk for each block, the body whole, and any other chunks give what reading line by line gives."""
    body = b"".join(pieces)
    expected = (line_by_line(body), None)
    for chunks in (pieces, [body], split(body, places)):
        assert expected == outcome(SSEDecoder(), chunks)


@given(st.lists(st.sampled_from([*PIECES, *NOT_UTF8]), max_size=12))
def test_any_bytes(pieces: list[bytes]) -> None:
    """With bytes that are not UTF-8 the same events come first, and the fault names the same byte."""
    body = b"".join(pieces)
    single, fault = outcome(SSEDecoder(), [body[at : at + 1] for at in range(len(body))])
    assert (single, fault) == outcome(SSEDecoder(), [body])
    assert (single, fault) == outcome(SSEDecoder(), pieces)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_blocks(pieces: list[bytes]) -> None:
    """A block is regular or irregular, never both; a regular one has one line of data, no name `error`."""
    decoder = SSEBlockDecoder()
    blocks = [block for piece in pieces for block in decoder.feed(piece)]
    for event, data, irregular in blocks:
        assert not (irregular and (event or data))
        assert not re.search(rb"[\r\n]", event + data)
        assert b"error" != event
    assert events(blocks) == [event for event in line_by_line(b"".join(pieces)) if event.terminated]


def test_long_heads_are_not_kept() -> None:
    """What the decoder keeps of a block for the next one is short, whatever the provider sends."""
    decoder = SSEBlockDecoder()
    for _ in range(3):
        decoder.feed(b"event: " + b"x" * 100_000 + b"\ndata: y\n\n")
    assert len(decoder._head) < 1000
