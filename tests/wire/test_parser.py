"""What a body is, faults and endings: the same for all wires; `anthropic-messages` stands for them."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from checking import check_parse, events_of, partitions, run, sse
from hypothesis import given
from hypothesis import strategies as st
from parser_bodies import BODY, BODY_EVENTS, BOM, DOCUMENTS, EVENTS, SEEN, STREAM, WIRE

import plait
from plait import FinishReasonDone, TextDelta, TextDone
from plait.errors import IncompleteStreamError, PlaitError, ProtocolError, ProviderError


@pytest.mark.parametrize(
    "body",
    [
        STREAM,
        sse(*DOCUMENTS, event_names=False),
        STREAM.replace(b"\n", b"\r\n"),
        STREAM.replace(b"\n", b"\r"),
        BOM + STREAM,
        b"\r\n\n" + BOM + b"\n" + STREAM,
        b" " * 300 + b"\n\n" + STREAM,
        b": waiting\n\n:\n\n" + STREAM.replace(b"\n\n", b"\n\n: ping\n\n"),
        STREAM.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
        STREAM.replace(b": {", b":{").replace(b"}\n\n", b"   }\n\n"),
        STREAM.replace(b'{"type"', b'{\ndata: "type"'),
        STREAM[:-2],
        STREAM + b"data: [DONE]\n\n",
        STREAM + b"data: not json\n\n",
        STREAM + sse(*DOCUMENTS[2:3]),
        STREAM.replace(b"\n\n", b"\n\ndata: : keepalive\n\ndata:\n\n"),
        sse(*DOCUMENTS, event_names=False).replace(b"\n\n", b"\n") + b"\n",
        b"".join(json.dumps(document).encode() + b"\n\n" for document in DOCUMENTS),
        json.dumps(DOCUMENTS[0]).encode() + b"\n\n" + sse(*DOCUMENTS[1:]),
        json.dumps(DOCUMENTS[0]).encode() + b"\n" + sse(*DOCUMENTS[1:], event_names=False),
    ],
    ids=[
        "plain",
        "no event names",
        "CRLF",
        "CR",
        "BOM",
        "blank lines and BOM",
        "white space",
        "comments",
        "no space after the colon",
        "padding",
        "several data lines",
        "no final blank line",
        "[DONE]",
        "nonsense after the end",
        "content after the end",
        "keep-alives as data",
        "no blank lines between",
        "bare JSON lines",
        "first document bare",
        "first line bare",
    ],
)
def test_streams(body: bytes) -> None:
    """However a server frames its stream, and however it is cut, the events are the same."""
    parser = check_parse(WIRE, body, EVENTS)
    assert parser.done
    assert "stop" == parser.message.finish_reason


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(BODY).encode(),
        json.dumps(BODY, ensure_ascii=False, indent=2).encode(),
        BOM + json.dumps(BODY).encode() + b"\r\n",
        b" \n" * 200 + json.dumps(BODY).encode(),
        json.dumps(BODY).encode() + b"\n\ndata: [DONE]\n\n",
        json.dumps(BODY).encode() + b"data:[DO",
    ],
    ids=["compact", "indented", "BOM", "keep-alive white space", "[DONE]", "cut [DONE]"],
)
def test_json_body(body: bytes) -> None:
    """A whole JSON body in place of a stream is read as if it had been streamed."""
    parser = check_parse(WIRE, body, BODY_EVENTS)
    assert parser.message == plait.read_response(WIRE, json.dumps(BODY))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\r\n",
        BOM,
        BOM[:2],
        b": waiting\n\n: waiting\n\n",
        b":",
        b"dat",
        b"event",
        b'data: {"type":"mess',
        b'data: {"type":"message_start"}\n\ndata: \xe4\xb8',
        b'{"id": "m1", "cont',
        json.dumps(BODY).encode()[:-1],
        json.dumps(BODY, ensure_ascii=False).encode().split(b"\x8c")[0],
        b'{"n": -1.5e',
        b"data: [DONE]\n\n",
        b"event: ping\n\n",
        b"retry: 100\n\nid: 3\n\n",
        b"event: error\ndata: upstr",
    ],
    ids=[
        "empty",
        "blank lines",
        "BOM",
        "half a BOM",
        "comments",
        "colon",
        "half a field",
        "a field's name",
        "cut frame",
        "cut character",
        "cut JSON body",
        "JSON body without its brace",
        "JSON body cut in a character",
        "JSON body cut in a number",
        "only [DONE]",
        "no data",
        "no events",
        "cut error",
    ],
)
def test_nothing_is_incomplete(body: bytes) -> None:
    """A body that ends before it has said anything is incomplete, not empty."""
    parser = check_parse(WIRE, body, [], error=IncompleteStreamError)
    assert isinstance(parser.error, IncompleteStreamError)
    assert (WIRE, None, len(body)) == (parser.error.wire, parser.error.last_event, parser.error.bytes_read)


def test_every_cut_is_incomplete() -> None:
    """Wherever the body ends before its terminal event has come whole: the events so far, then the fault."""
    end = len(STREAM) - 2  # the final blank line may be missing
    for cut in range(end):
        parser = plait.parser(WIRE)
        outcome = run(parser, [STREAM[:cut]])
        assert outcome.fault is not None, cut
        assert "IncompleteStreamError" == outcome.fault[0], cut
        assert outcome.events == EVENTS[: len(outcome.events)], cut
        error = parser.error
        assert isinstance(error, IncompleteStreamError)
        assert (outcome.events[-1] if outcome.events else None) == error.last_event
        assert error.partial_message == parser.message
        assert parser.message.finish_reason is None
    for cut in range(end, len(STREAM) + 1):
        assert EVENTS == events_of(WIRE, STREAM[:cut]), cut


def test_every_cut_of_a_json_body_is_incomplete() -> None:
    """A JSON body cut anywhere is incomplete too."""
    body = json.dumps({**BODY, "n": [-1.5e-7, True, None, "\\u00e9\\"]}).encode()
    for cut in range(len(body)):
        check = run(plait.parser(WIRE), [body[:cut]])
        assert check.fault is not None
        assert "IncompleteStreamError" == check.fault[0], body[:cut]


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("an AWS event stream, got '<html>", b"<html><body>Bad gateway</body></html>"),
        ("an AWS event stream, got '<html>", b"\n \n<html>" + b"<p>sorry</p>" * 100),
        ("an AWS event stream, got 'upstream", b"upstream timed out"),
        (
            "an AWS event stream, got '\\x1f\ufffd",
            b"\x1f\x8b\x08\x00gzip" + b"\x00" * 300,
        ),
        ("expected JSON, got text that is not JSON", b"{'id': 1}"),
        ("expected JSON, got array: '[]'", b"[]"),
        ("expected JSON, got array", b"[{},{}]"),
        ("expected JSON, got an object that is no response: '{}'", b"{}"),
        ("expected JSON, got an object that is no response", b'{"object":"list","data":[]}'),
        ("the JSON body is not UTF-8 at byte 7", b'{"id":"\xff"}'),
        ("frame 1: expected a JSON object, got text that is not JSON", b"data: {oops}\n\n"),
        ("frame 2: expected a JSON object, got number: '1'", b"data: {}\n\ndata: 1\n\n"),
        ("frame 1: expected a JSON object, got null", b"data: null\n\n"),
        ("frame 1: expected a JSON object, got array", b"data: [1]\n\n"),
        ("frame 1: expected a JSON object, got string", b'data: "a"\n\n'),
        ("nested too deeply", b"data: " + b"[" * 9_999 + b"\n\n"),
        ("nested too deeply", b"data: " + b'{"a":' * 9_999 + b"1" + b"}" * 9_999 + b"\n\n"),
        ("not UTF-8", b'data: {"type":"ping"}\n\ndata: \xff\n\n'),
    ],
    ids=[
        "HTML",
        "long HTML",
        "plain text",
        "binary",
        "not JSON",
        "empty array",
        "array",
        "empty object",
        "another API's object",
        "JSON body not UTF-8",
        "broken frame",
        "number",
        "null",
        "array frame",
        "string",
        "deep and cut",
        "deep",
        "not UTF-8",
    ],
)
def test_not_the_wire(message: str, body: bytes) -> None:
    """What is not this wire at all is a ProtocolError that says what came and where, quoted short."""
    parser = check_parse(WIRE, body, [], error=ProtocolError)
    assert message in str(parser.error)
    assert str(parser.error).startswith(f"{WIRE}: ")
    assert len(str(parser.error)) < 1000  # 200 characters of a binary body are 800 as a literal


@pytest.mark.parametrize(
    ("expected", "message", "body"),
    [
        (
            plait.OverloadedError,
            "Busy",
            sse({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}),
        ),
        (
            plait.OverloadedError,
            "Busy",
            b'event:error\ndata:{"error":{"type":"overloaded_error","message":"Busy"}}\n\n',
        ),
        (plait.OverloadedError, "Busy", b'data: {"error":{"code":529,"message":"Busy"}}\n\n'),
        (plait.OverloadedError, "Busy", b'{"error":{"code":503,"status":"UNAVAILABLE","message":"Busy"}}'),
        (plait.OverloadedError, "Busy", b'[{"error":{"code":503,"message":"Busy"}}]\n'),
        (plait.OverloadedError, "Busy", b'{"error":{"code":503,"message":"Busy"}}\n\ndata: [DONE]\n\n'),
        (plait.OverloadedError, "Busy", b'error: {"code":503,"message":"Busy"}\n\n'),
        (ProviderError, "upstream timed out", b"event: error\ndata: upstream timed out\n\n"),
        (ProviderError, "no luck", b'event: error\ndata: "no luck"\n\n'),
        (ProviderError, "Forbidden", b'{"message":"Forbidden"}'),
        (ProviderError, "Not Found", b'{"detail":"Not Found"}'),
        (
            plait.RateLimitError,
            "slow",
            b'data: {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}',
        ),
    ],
    ids=[
        "named event",
        "no space",
        "no type",
        "JSON body",
        "array body",
        "JSON body and [DONE]",
        "error field",
        "words",
        "JSON string",
        "gateway message",
        "gateway detail",
        "unterminated",
    ],
)
def test_provider_errors(expected: type[ProviderError], message: str, body: bytes) -> None:
    """An error inside HTTP 200, in any shape, is the typed error; it is known before the body ends."""
    parser = check_parse(WIRE, body, [], error=expected)
    assert isinstance(parser.error, ProviderError)
    assert message == parser.error.message


@pytest.mark.parametrize(
    "fault",
    [sse({"type": "error", "error": {"message": "x"}}), b"data: {oops}\n\n", b"data: \xff\n\n", b""],
    ids=["provider", "protocol", "framing", "cut"],
)
def test_fault_loses_nothing(fault: bytes) -> None:
    """The events before a fault are delivered, later bytes are ignored, and the error knows what came."""
    body = sse(*DOCUMENTS[:4]) + fault + (sse(*DOCUMENTS[4:]) if fault else b"")
    parser = plait.parser(WIRE)
    assert SEEN == parser.feed(body)
    assert [] == parser.feed(b"more")
    for _ in range(2):
        with pytest.raises(PlaitError) as caught:
            parser.close()
    assert parser.error is caught.value
    assert parser.done
    assert caught.value.partial_message is not None
    assert "Hé 🌍\u2028" == caught.value.partial_message.text
    assert caught.value.partial_message.finish_reason is None


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=4))
def test_any_bytes(body: bytes, cuts: list[int]) -> None:
    """Any bytes give events or a typed fault, the same for each partition."""
    places = sorted({0, *(cut for cut in cuts if cut < len(body)), len(body)})
    chunks = [body[a:b] for a, b in pairwise(places)]
    assert run(plait.parser(WIRE), [body]) == run(plait.parser(WIRE), chunks)


PIECES = [
    *(b"data: ", b"data:", b"event: error\n", b"\n", b"\n\n", b"\r\n\r\n", b"\r", b" ", b":"),
    *(b"{", b"}", b"[", b"]", BOM, BOM[:1], b"\xff", b"[DONE]"),
    *(b'{"type":"message_stop"}', b'{"error":{"message":"x"}}', json.dumps(BODY).encode()),
    *(sse(document) for document in DOCUMENTS),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_mixture(pieces: list[bytes]) -> None:
    """Any mixture of what bodies are made of gives the same whole and byte by byte."""
    body = b"".join(pieces)
    whole = run(plait.parser(WIRE), [body])
    for name, chunks in list(partitions(body))[1:2]:
        assert whole == run(plait.parser(WIRE), chunks), name
    assert whole == run(plait.parser(WIRE), pieces)


def delta(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def escaped(*texts: str) -> bytes:
    """Deltas as a provider sends them that escapes all but ASCII."""
    return b"".join(f"data: {json.dumps(delta(text))}\n\n".encode() for text in texts)


@pytest.mark.parametrize(
    ("expected", "lost", "texts"),
    [
        (["a", "😀b"], 0, ["a\ud83d", "\ude00b"]),
        (["😀"], 0, ["\ud83d", "\ude00"]),
        (["😀x😀", "y"], 0, ["\ud83d", "\ude00x😀", "y"]),
        (["a", "😀"], 0, ["a\ud83d", "", "\ude00"]),
        (["a", "\ufffdb"], 1, ["a\ud83d", "b"]),
        (["\ufffdb"], 1, ["\ude00b"]),
        (["a"], 1, ["a\ud83d"]),
    ],
    ids=["pair", "only halves", "twice", "empty between", "no low half", "no high half", "at the end"],
)
def test_character_escaped_over_two_documents(expected: list[str], lost: int, texts: list[str]) -> None:
    """A character whose two escapes come in two documents is one character; a lone half is counted."""
    body = escaped(*texts) + sse(DOCUMENTS[-1])
    parser = check_parse(
        WIRE,
        body,
        [
            *(TextDelta(text, 0) for text in expected),
            TextDone("".join(expected), 0),
            FinishReasonDone("other"),
        ],
    )
    assert lost == parser.unknown["text:lone surrogate"]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: [sse(delta("twenty characters ok"))] * (n // 20),
        lambda n: [sse(delta("x"))[i : i + 1] for i in range(len(sse(delta("x"))))] * (n // 100),
        lambda n: [b"\n"] * n,
        lambda n: [BOM] + [b"\n"] * n,
        lambda n: [b" "] * n,
        lambda n: [b"{"] + [b" "] * n,
        lambda n: [b"{" + b" " * (50 * n) + b"}"],
        lambda n: [b"{" + b"data: [DONE] " * n + b"}"],
        lambda n: [b": ping\n\n"] * n,
        lambda n: [sse({"type": "error", "error": {"message": "exceeds the max " * n}})],
        lambda n: [sse({"type": "error", "error": {"message": "exceeds the max", "code": "9" * n}})],
    ],
    ids=[
        "deltas",
        "byte by byte",
        "blank lines",
        "BOM and blank lines",
        "spaces",
        "a body's spaces",
        "long white space",
        "many [DONE]",
        "comments",
        "long error",
        "long code",
    ],
)
def test_linear(make: Any) -> None:
    """Four times the bytes take about four times as long."""

    def seconds(size: int) -> float:
        chunks, best = make(size), 1e9
        for _ in range(3):
            parser, start = plait.parser(WIRE), time.process_time()
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            best = min(best, time.process_time() - start)
        return best

    seconds(1)
    for _ in range(5):  # a busy machine may disturb one attempt, a quadratic cost disturbs all
        ratio = seconds(40_000) / seconds(10_000)
        if ratio < 10:
            return
    raise AssertionError(f"four times the bytes took {ratio:.1f} times as long")


def test_frames_are_counted_as_they_came() -> None:
    """Two documents in one frame are one frame: the number in a fault is the same on every chunking."""
    ping = json.dumps({"type": "ping"})
    body = f"data: {ping}\ndata: {ping}\n\ndata: {ping}\n\ndata: oops\n\n".encode()
    parser = check_parse(WIRE, body, [], error=ProtocolError)
    assert str(parser.error).startswith(f"{WIRE}: frame 3: ")
