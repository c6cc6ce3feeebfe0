"""Faults of framing, on every wire: cut characters and lines, keep-alives, bodies that are no stream."""

from __future__ import annotations

import msgspec
import pytest
from checking import partitions, run
from said import SSE, WIRES, frame, hello, said

import plait
from plait.conformance.encoding import ENCODERS, Answer, Text
from plait.errors import IncompleteStreamError, ProtocolError

HELLO = Answer(parts=(Text(("Hé ", "🌍")),))
STREAMING = [wire for wire in WIRES if wire not in ("gemini", "bedrock-converse")]
"""Wires whose response is over at its terminal event: of the two others more may follow it."""


def text_of(wire: str, body: bytes) -> str:
    """The text of a body that must be complete, whatever its partition."""
    found = said(wire, body)
    assert "error" not in found
    assert found["finish"].startswith("stop:")
    text: str = found["text"]
    return text


@pytest.mark.parametrize("wire", WIRES)
def test_characters_cut_by_the_network(wire: str) -> None:
    """A character's bytes may come in two chunks; no cut makes a U+FFFD of it."""
    assert "héé 🌍" == text_of(wire, b"".join(hello(wire, "héé 🌍")))


@pytest.mark.parametrize("wire", SSE)
def test_body_that_ends_inside_a_character(wire: str) -> None:
    """What was cut is incomplete, not text with a replacement character."""
    found = said(wire, b"".join(hello(wire, "a")[:1]) + b'data: {"text":"\xe4')
    assert found["error"] is IncompleteStreamError
    assert "\ufffd" not in found.get("text", "")


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize("end", ["\r", "\r\n"], ids=["CR", "CRLF"])
def test_line_ends(wire: str, end: str) -> None:
    """CR and CRLF end lines as LF does, also where a chunk ends between the two."""
    assert "Hé 🌍" == text_of(wire, b"".join(hello(wire)).replace(b"\n", end.encode()))


@pytest.mark.parametrize("wire", SSE)
def test_event_of_several_data_lines(wire: str) -> None:
    """CR, LF in the next chunk, and another data line: still one event."""
    body = b"".join(hello(wire)).replace(b'":{', b'":\r\ndata: {').replace(b"\n\n", b"\r\n\r\n")
    assert "Hé 🌍" == text_of(wire, body)


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"], ids=["none", "LF", "CR", "CRLF"])
def test_last_event_without_its_blank_line(wire: str, end: bytes) -> None:
    """It counts: with it would go the finish reason, the usage, the end of the response."""
    frames = [each for each in hello(wire) if b"[DONE]" not in each]
    assert "Hé 🌍" == text_of(wire, b"".join(frames).rstrip() + end)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x7f"], ids=ascii)
def test_separators_that_end_no_line(wire: str, character: str) -> None:
    """Unicode's other line ends are text, unescaped in the middle of JSON, too."""
    assert f"a{character}b" == text_of(wire, b"".join(hello(wire, f"a{character}b")))


KEEP_ALIVES = {
    "lone colon": b":\n\n",
    "comment": b": PROCESSING\n\n: PROCESSING\n\n",
    "comment as data": b"data: : keepalive\n\n",
    "empty data": b"data:\n\n",
    "event without data": b"event: ping\n\n",
    "retry and id": b"retry: 3000\nid: 7\n\n",
    "blank lines": b"\n\n\n",
}


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize("ping", KEEP_ALIVES.values(), ids=list(KEEP_ALIVES))
def test_keep_alives(wire: str, ping: bytes) -> None:
    """What only keeps the connection open says nothing: before the first event, and between any two."""
    assert "Hé 🌍" == text_of(wire, ping + ping.join(hello(wire)))


def test_keep_alive_lines() -> None:
    """JSON lines have blank lines, and objects that say nothing."""
    frames = hello("ollama-chat")
    assert "Hé 🌍" == text_of("ollama-chat", b"\r\n" + b"\n{}\n\n".join(frames))


@pytest.mark.parametrize("wire", WIRES)
def test_many_records_in_a_chunk_and_a_record_in_many(wire: str) -> None:
    """Chunks and frames have nothing to do with each other."""
    body = b"".join(hello(wire))
    whole = run(plait.parser(wire), [body])
    for size in (2, 3, 7):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert whole == run(plait.parser(wire), pieces), size


@pytest.mark.parametrize("wire", STREAMING)
def test_end_does_not_wait_for_the_socket(wire: str) -> None:
    """The response is over with its terminal event, though the connection stays open."""
    parser = plait.parser(wire)
    parser.feed(b"".join(hello(wire)))
    assert parser.done


@pytest.mark.parametrize("wire", STREAMING)
@pytest.mark.parametrize(
    "more",
    [b": bye\n\n", b"data: [DONE]\n\n", b"data: {oops\n\n", b"\xff\x00<html>", b"0\r\n\r\n"],
    ids=ascii,
)
def test_bytes_after_the_end(wire: str, more: bytes) -> None:
    """What follows the terminal event is nothing of this response."""
    assert "Hé 🌍" == text_of(wire, b"".join(hello(wire)) + more)


@pytest.mark.parametrize("wire", WIRES)
def test_half_a_body(wire: str) -> None:
    """A connection that closes before the terminal event, cleanly or not, gives half an answer."""
    frames = hello(wire, "a", "b")
    start = next(
        number for number, each in enumerate(frames) if said(wire, b"".join(frames[: number + 1])).get("text")
    )
    if wire == "gemini":  # its last text stands beside the finish reason
        frames, start = [frame(wire, {"candidates": [{"content": {"parts": [{"text": "a"}]}}]})], 0
    expected = {"text": "a", "error": IncompleteStreamError}
    assert expected == said(wire, b"".join(frames[: start + 1]))
    assert expected == said(wire, b"".join(frames[: start + 1]) + frames[0][: len(frames[0]) // 2])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("indent", [None, 2], ids=["compact", "indented"])
def test_whole_body_in_place_of_a_stream(wire: str, indent: int | None) -> None:
    """A server that does not stream gives the same answer; the content type is never asked."""
    body = ENCODERS[wire].whole(HELLO)
    body = body if indent is None else msgspec.json.format(body, indent=indent)
    assert "Hé 🌍" == text_of(wire, body)
    assert "Hé 🌍" == text_of(wire, body + b"\n\ndata: [DONE]\n\n")
    assert said(wire, body[:-1])["error"] is IncompleteStreamError


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>502 Bad Gateway</body></html>",
        b"upstream connect error",
        b"\x1f\x8b\x08",
        b"[]",
        b"{}",
        b"7",
    ],
    ids=ascii,
)
def test_what_is_no_response(wire: str, body: bytes) -> None:
    """A page of something in between is no empty answer."""
    found = said(wire, body)
    assert {"error"} == set(found)
    wrong: tuple[type, ...] = (ProtocolError, IncompleteStreamError)
    assert issubclass(found["error"], wrong)


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize("body", [b"", b"\n", b": hi\n\n", b"data: [DONE]\n\n", b"data:\n\n"], ids=ascii)
def test_empty_success(wire: str, body: bytes) -> None:
    """Nothing at all, though with HTTP 200 and perhaps an end marker, is incomplete."""
    assert {"error": IncompleteStreamError} == said(wire, body)


@pytest.mark.parametrize("wire", WIRES)
def test_events_that_were_delivered_never_change(wire: str) -> None:
    """What the caller keeps of a stream is what it was given."""
    body = b"".join(hello(wire, "a", "b", "c"))
    parser = plait.parser(wire)
    kept, written = [], []
    for chunk in next(chunks for name, chunks in partitions(body) if name == "one byte at a time"):
        for event in parser.feed(chunk):
            kept.append(event)
            written.append(repr(event))
    parser.close()
    assert written == [repr(event) for event in kept]
