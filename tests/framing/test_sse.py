"""Server-sent events."""

from __future__ import annotations

from functools import partial

import msgspec
import pytest
from chunked import check_decode, cuts, outcome, split
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.errors import ProtocolError
from plait.framing import ServerSentEvent, SSEDecoder, is_sse_start

Event = ServerSentEvent
cut = partial(ServerSentEvent, terminated=False)
lenient = partial(SSEDecoder, lenient=True)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(["data: a", ""], [Event("a")], id="one event"),
        pytest.param(["data:a", ""], [Event("a")], id="no space"),
        pytest.param(["data:  a ", ""], [Event(" a ")], id="one space is dropped, not two"),
        pytest.param(["data: a", "", "data: b", ""], [Event("a"), Event("b")], id="two events"),
        pytest.param(["event: e", "data: a", ""], [Event("a", "e")], id="event"),
        pytest.param(["event:e", "data:a", ""], [Event("a", "e")], id="event without space"),
        pytest.param(["data: a", "event: e", ""], [Event("a", "e")], id="event after data"),
        pytest.param(["event: e", "", "data: a", ""], [Event("a")], id="event without data is dropped"),
        pytest.param(["event: e", "event: f", "data: a", ""], [Event("a", "f")], id="last event wins"),
        pytest.param(["event:", "data: a", ""], [Event("a")], id="empty event is message"),
        pytest.param(["event: ", "data: a", ""], [Event("a")], id="blank event is message"),
        pytest.param(["data: a", "data: b", ""], [Event("a\nb")], id="two data lines"),
        pytest.param(["data: a", "data", "data:", ""], [Event("a\n\n")], id="data lines without a value"),
        pytest.param(["data:", ""], [Event("")], id="empty data"),
        pytest.param(["data", ""], [Event("")], id="data without colon"),
        pytest.param(["data: a:b", ""], [Event("a:b")], id="only the first colon splits"),
        pytest.param(["id: 1", "data: a", "", "data: b", ""], [Event("a", id="1"), Event("b")], id="id"),
        pytest.param(["id", "data: a", ""], [Event("a", id="")], id="id without a value"),
        pytest.param(["id: 1", "id: \0", "data: a", ""], [Event("a", id="1")], id="id with NUL is ignored"),
        pytest.param(["retry: 300", "data: a", ""], [Event("a", retry=300)], id="retry"),
        pytest.param(["retry: 3s", "data: a", ""], [Event("a")], id="retry that is no number"),
        pytest.param(["retry: \u0663", "data: a", ""], [Event("a")], id="retry in other digits"),
        pytest.param(["retry: " + "9" * 5000, "data: a", ""], [Event("a")], id="retry of 5000 digits"),
        pytest.param([": c", "", ":", "", "data: a", ""], [Event("a")], id="comments"),
        pytest.param(["data: a", ": c", "data: b", ""], [Event("a\nb")], id="comment inside an event"),
        pytest.param(["foo: 1", "bar", "data: a", "Data: b", ""], [Event("a")], id="unknown fields"),
        pytest.param([" data: a", "data: b", ""], [Event("b")], id="a space before the name"),
        pytest.param(
            ["", "", "data: a", "", "", "", "data: b", "", ""], [Event("a"), Event("b")], id="blanks"
        ),
        pytest.param(["{}", "error: {}", ""], [], id="bare JSON is an unknown field"),
        pytest.param(["", ""], [], id="only blank lines"),
    ],
)
def test_lines(lines: list[str], expected: list[Event], end: str) -> None:
    """Fields are read as WHATWG says, for each of the three line ends and each cut."""
    check_decode(SSEDecoder, "".join(line + end for line in lines).encode(), expected)


def test_mixed_line_ends() -> None:
    """Each line may end in its own way; CR LF is one line end, LF CR is two."""
    body = b"data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\rdata: e\r\n\r\n\r\ndata: f\rdata: g\n\n"
    check_decode(SSEDecoder, body, [Event(data) for data in ("a", "b", "c", "d", "e", "f\ng")])


def test_cr_at_the_end_of_a_chunk_ends_its_line_at_once() -> None:
    """An event that ends in CR is returned with that CR; the LF of the next chunk belongs to it."""
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r\n\r") == [Event("a")]
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"data: b\r") == []
    assert decoder.feed(b"\ndata: c\r\n\r\n") == [Event("b\nc")]


@pytest.mark.parametrize(
    "character",
    ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\0", "\ufeff"],
    ids=lambda character: f"U+{ord(character):04X}",
)
def test_other_separators_are_text(character: str) -> None:
    """Only CR, LF and CR LF end a line: what `str.splitlines` also splits at stays in the text."""
    text = f'{{"content":"a{character}b"}}'
    check_decode(
        SSEDecoder, f"data: {text}\n\ndata: x\ndata: {text}\n\n".encode(), [Event(text), Event(f"x\n{text}")]
    )


def test_bom() -> None:
    """A BOM is dropped at the start of the body and is text everywhere else."""
    check_decode(SSEDecoder, b"\xef\xbb\xbfdata: a\n\ndata: b\n\n", [Event("a"), Event("b")])
    check_decode(SSEDecoder, b"\xef\xbb\xbf\n\ndata: a\n\n", [Event("a")])
    check_decode(SSEDecoder, b"\xef\xbb\xbf\ndata: a", [cut("a")])
    check_decode(SSEDecoder, b"\n\xef\xbb\xbfdata: a\ndata: b\n\n", [Event("b")])
    check_decode(SSEDecoder, b"\xef\xbb\xbf\xef\xbb\xbfdata: a\ndata: b\n\n", [Event("b")])


def test_multibyte_characters() -> None:
    """A character cut between chunks comes out whole."""
    check_decode(SSEDecoder, "data: héé 🌍\n\ndata: 漢\r\n\r\n".encode(), [Event("héé 🌍"), Event("漢")])


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"], ids=["none", "lf", "crlf", "cr"])
def test_last_event_without_blank_line(end: str) -> None:
    """The event that the body ends in is returned by `close`, marked, even without its newline."""
    check_decode(SSEDecoder, f"data: a\n\nevent: e\ndata: b{end}".encode(), [Event("a"), cut("b", "e")])


def test_last_event_without_data() -> None:
    """A tail without a data line is no event."""
    for tail in (b"event: e", b": c", b"da", b"\n", b"", b"\xef\xbb"):
        check_decode(SSEDecoder, b"data: a\n\n" + tail, [Event("a")])


def test_body_cut_inside_a_character() -> None:
    """A tail that is not UTF-8 was cut inside a character: nothing is made up for it."""
    check_decode(SSEDecoder, b"data: a\n\ndata: b\xe4", [Event("a")])
    check_decode(SSEDecoder, b"data: a\n\ndata: b\ndata: \xf0\x9f\x8c", [Event("a")])


@pytest.mark.parametrize(
    ("body", "expected", "start", "at"),
    [
        pytest.param(b"data: \xff\n\n", [], 0, 6, id="at the start"),
        pytest.param(b"data: a\n\ndata: \xff\n\ndata: b\n\n", [Event("a")], 9, 15, id="between events"),
        pytest.param(b"data: a\r\n\r\n: \xc3\r\n\r\n", [Event("a")], 11, 13, id="comment, crlf"),
        pytest.param(b"data: a\r\n\r\n\xe4\r\ndata: b\r\n\r\n", [Event("a")], 11, 11, id="crlf counted"),
        pytest.param(
            "data: é\n\nx\ndata: ".encode() + b"\xed\xa0\x80\n\n", [Event("é")], 10, 18, id="surrogate"
        ),
    ],
)
def test_not_utf8(body: bytes, expected: list[Event], start: int, at: int) -> None:
    """An ended event that is not UTF-8 is a fault at its byte; the events before it come first."""
    message = f"SSE: event at byte {start} is not UTF-8: byte 0x{body[at]:02x} at byte {at}"
    check_decode(SSEDecoder, body, expected, message)


def test_lenient_bare_json() -> None:
    """Lenient: a line that starts with a brace is data, also printed over several lines."""
    pretty = '{\n  "error": {\n\t"code": 503\n  }\n}'
    body = f'data: a\n\n{{"error":1}}\n\n{pretty}\n\ndata: x\n{{}}\n\n{{"b"\n'.encode()
    expected = [Event("a"), Event('{"error":1}'), Event(pretty), Event("x\n{}"), cut('{"b"')]
    check_decode(lenient, body, expected)
    check_decode(lenient, b'  "a": 1\n]\ndata: b\n\n', [Event("b")])


def test_lenient_error_field() -> None:
    """Lenient: a field named `error` is the data of an event of type `error`."""
    check_decode(lenient, b'error: {"code":500}\n\ndata: a\n\n', [Event('{"code":500}', "error"), Event("a")])
    check_decode(lenient, b'error:{"code":500}', [cut('{"code":500}', "error")])
    check_decode(SSEDecoder, b'error: {"code":500}\n\n', [])


def test_events_are_values() -> None:
    """Events are equal by value and cannot be changed."""
    event = Event("a", "e", "1", 2, False)
    assert msgspec.structs.astuple(event) == ("a", "e", "1", 2, False)
    with pytest.raises(AttributeError):
        event.data = "b"  # type: ignore[misc]


def by_the_book(body: bytes) -> list[Event]:
    """WHATWG's algorithm, line by line over the whole body, plus the unterminated event."""
    text = body.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    events: list[Event] = []
    block: list[str] = []
    *lines, tail = text.split("\n")

    def dispatch(terminated: bool) -> None:
        fields = [line.partition(":") for line in block]
        values = [(name, value[1:] if value[:1] == " " else value) for name, _, value in fields]
        data = [value for name, value in values if name == "data"]
        kinds = [value for name, value in values if name == "event"]
        ids = [value for name, value in values if name == "id"]
        if data:
            kind = kinds[-1] if kinds else ""
            event_id = ids[-1] if ids else None
            events.append(Event("\n".join(data), kind or "message", event_id, None, terminated))
        block.clear()

    for line in lines:
        if line:
            block.append(line)
        else:
            dispatch(True)
    block.append(tail)
    dispatch(False)
    return events


PIECES = (
    (
        "data: ",
        "data:",
        "data",
        "event: ",
        "event",
        "id: 1",
        ":",
        ": c",
        "{",
        "a",
        "é",
        "\u2028",
        "\ufeff",
        " ",
    ),
    ("\n", "\n\n", "\r\n", "\r\n\r\n", "\r"),
    ("data: x\n\n", "event: e\ndata: x\n\n", "data: y\r\n\r\n"),
)
pieces = st.one_of([st.sampled_from(kind) for kind in PIECES])


@settings(deadline=None, max_examples=300)
@given(st.lists(pieces, max_size=14).map("".join), cuts)
def test_any_text_is_read_by_the_book(text: str, places: list[int]) -> None:
    """Whatever the text and the chunks, the events are those of WHATWG's algorithm."""
    body = text.encode()
    expected = (by_the_book(body), None)
    assert outcome(SSEDecoder(), [body]) == expected
    assert outcome(SSEDecoder(), split(body, places)) == expected
    assert outcome(SSEDecoder(), [body[i : i + 1] for i in range(len(body))]) == expected


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.one_of(pieces.map(str.encode), st.sampled_from([b"\xff", b"\xc3", b"\xf0\x9f"])), max_size=14
    ),
    cuts,
    st.integers(1, 40),
    st.booleans(),
)
def test_any_bytes_in_any_chunks(parts: list[bytes], places: list[int], limit: int, is_lenient: bool) -> None:
    """Frames and fault, to the letter, do not depend on the chunks, also near the limit."""
    body = b"".join(parts)
    make = partial(SSEDecoder, max_frame=limit, lenient=is_lenient)
    expected = outcome(make(), [body])
    assert outcome(make(), split(body, places)) == expected
    assert outcome(make(), [body[i : i + 1] for i in range(len(body))]) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        (b"", None),
        (b"\xef", None),
        (b"\xef\xbb\xbf", None),
        (b"\xef\xbb\xbf\r\n\n", None),
        (b"dat", None),
        (b"data", None),
        (b"data:", True),
        (b"data\n", True),
        (b"\xef\xbb\xbf\n\nevent: e", True),
        (b"id:1", True),
        (b"retry: 1", True),
        (b":", True),
        (b"database", False),
        (b"i", None),
        (b"it", False),
        (b"<!doctype html>", False),
        (b'{"error":', False),
        (b"[", False),
        (b" data: a", False),
        (b"\xef\xbb<", False),
        (b"error: {", False),
        (b"\xff", False),
    ],
)
def test_is_sse_start(prefix: bytes, expected: bool | None) -> None:
    """The first line that is not blank decides, as soon as it can."""
    assert is_sse_start(prefix) is expected


def test_is_sse_start_lenient() -> None:
    """Lenient: the `error` field of old llama.cpp starts an SSE body too, bare JSON does not."""
    assert is_sse_start(b"e", lenient=True) is None
    assert is_sse_start(b"error", lenient=True) is None
    assert is_sse_start(b"error: {", lenient=True) is True
    assert is_sse_start(b"event: e", lenient=True) is True
    assert is_sse_start(b"{", lenient=True) is False


def test_fault_then_good_events() -> None:
    """After a fault no event is read, however good."""
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\ndata: \xff\n\n") == [Event("a")]
    error = decoder.error
    assert isinstance(error, ProtocolError)
    for _ in range(2):
        with pytest.raises(ProtocolError) as caught:
            decoder.feed(b"data: b\n\n")
        assert caught.value is error


def test_lenient_reads_a_field_after_white_space() -> None:
    """Recordings exist whose first line was indented by hand; WHATWG has it as an unknown field."""
    body = b" data: {}\n\ndata: 1\n\n"
    assert [event.data for event in SSEDecoder(lenient=True).feed(body)] == ["{}", "1"]
    assert [event.data for event in SSEDecoder().feed(body)] == ["1"]
    assert is_sse_start(body, lenient=True) is True
    assert is_sse_start(body) is False
