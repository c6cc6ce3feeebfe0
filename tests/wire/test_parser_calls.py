"""Using a parser, `parse`, `aparse` and `read_response`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from checking import sse
from parser_bodies import BODY, BOM, DOCUMENTS, EVENTS, SEEN, STREAM, WIRE

import plait
from plait import TextDelta
from plait.errors import IncompleteStreamError, PlaitError, ProtocolError, UnknownWireError


class TestCalls:
    """Using a parser."""

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview], ids=lambda kind: kind.__name__)
    def test_kinds_of_bytes(self, kind: Any) -> None:
        """Any kind of bytes is taken."""
        parser = plait.parser(WIRE)
        assert EVENTS == parser.feed(kind(STREAM[:9])) + parser.feed(kind(STREAM[9:])) + parser.close()

    def test_bytes_are_not_kept(self) -> None:
        """A buffer that its owner reuses does not change what was read."""
        parser, buffer, events = plait.parser(WIRE), bytearray(1), []
        for byte in STREAM:
            buffer[0] = byte
            events += parser.feed(memoryview(buffer))
        assert EVENTS == events

    @pytest.mark.parametrize("data", ["text", None, 1, [b"x"]], ids=repr)
    @pytest.mark.parametrize(
        "start", [b"", STREAM[:50], STREAM, b"<"], ids=["start", "stream", "over", "body"]
    )
    def test_not_bytes(self, data: Any, start: bytes) -> None:
        """Anything else is the caller's mistake, in every state."""
        parser = plait.parser(WIRE)
        parser.feed(start)
        with pytest.raises(TypeError, match="feed takes bytes, got"):
            parser.feed(data)

    @pytest.mark.parametrize("body", [b"", STREAM, b"<html>"], ids=["empty", "complete", "fault"])
    def test_feed_after_close(self, body: bytes) -> None:
        """A parser is for one response."""
        parser = plait.parser(WIRE)
        parser.feed(body)
        parser.finish()
        with pytest.raises(ValueError, match="closed: make a new one"):
            parser.feed(b"x")
        assert len(body) == parser.bytes_read

    def test_close_twice(self) -> None:
        """A second close gives nothing."""
        parser = plait.parser(WIRE)
        parser.feed(STREAM[:-2])
        assert EVENTS[3:] == parser.close()
        assert [] == parser.close()

    def test_feed_after_the_end(self) -> None:
        """What follows the terminal event is counted but not read."""
        parser = plait.parser(WIRE)
        assert EVENTS == parser.feed(STREAM)
        assert parser.done
        assert [] == parser.feed(STREAM)
        assert 2 * len(STREAM) == parser.bytes_read
        assert [] == parser.close()

    def test_undelivered(self) -> None:
        """Events of the last, unterminated frame are on the error that `close` raises."""
        parser = plait.parser(WIRE)
        assert SEEN[:2] == parser.feed(sse(*DOCUMENTS[:4])[:-1])
        with pytest.raises(IncompleteStreamError) as caught:
            parser.close()
        assert (SEEN[2],) == caught.value.undelivered
        assert SEEN[2] == caught.value.last_event

    def test_returned_list_is_the_callers(self) -> None:
        """Clearing what `feed` returned changes nothing."""
        parser, got = plait.parser(WIRE), []
        for chunk in (STREAM[:300], STREAM[300:]):
            events = parser.feed(chunk)
            got += events
            events.clear()
        assert EVENTS == got

    def test_message_grows(self) -> None:
        """`message` is what has been read so far, and earlier ones do not change."""
        parser = plait.parser(WIRE)
        parser.feed(sse(*DOCUMENTS[:3]))
        first = parser.message
        parser.feed(sse(*DOCUMENTS[3:]))
        assert ("Hé ", "Hé 🌍\u2028") == (first.text, parser.message.text)

    @pytest.mark.parametrize(
        ("message", "wire", "options"),
        [
            ("unknown wire format 'openai'; the wire formats are openai-chat", "openai", {}),
            ("anthropic-messages has no dialect 'x'; its dialects are anthropic", WIRE, {"dialect": "x"}),
            ("anthropic-messages has no option 'x'", WIRE, {"x": 1}),
        ],
        ids=["wire", "dialect", "option"],
    )
    def test_unknown_names(self, message: str, wire: str, options: dict[str, Any]) -> None:
        """An unknown name is refused at once, by each way in, with the names there are."""
        for call in (plait.parser, lambda *a, **k: plait.parse(b"", *a, **k)):
            with pytest.raises(UnknownWireError, match=message):
                call(wire, **options)
        with pytest.raises(UnknownWireError, match=message):
            plait.read_response(wire, b"{}", **options)


class TestParse:
    """`parse` and `aparse`."""

    @pytest.mark.parametrize(
        "source",
        [STREAM, bytearray(STREAM), [STREAM[:40], STREAM[40:]], iter([STREAM])],
        ids=["bytes", "bytearray", "list", "iterator"],
    )
    def test_sources(self, source: Any) -> None:
        """One bytes object, or any iterable of chunks."""
        assert EVENTS == list(plait.parse(source, WIRE))

    def test_fault_comes_last(self) -> None:
        """The events of the fault's own chunk are delivered before it is raised."""
        events = plait.parse(sse(*DOCUMENTS[:4]) + b"data: {oops}\n\n", WIRE)
        assert SEEN == [next(events) for _ in SEEN]
        with pytest.raises(ProtocolError):
            next(events)

    def test_incomplete_delivers_the_last_frame(self) -> None:
        """The events of an unterminated last frame come too."""
        events = plait.parse(sse(*DOCUMENTS[:4])[:-2], WIRE)
        assert SEEN == [next(events) for _ in SEEN]
        with pytest.raises(IncompleteStreamError):
            next(events)

    def test_source_fails(self) -> None:
        """An error of the source is passed on, after the events before it."""

        def source() -> Iterator[bytes]:
            yield sse(*DOCUMENTS[:4])
            raise ConnectionResetError("gone")

        events = plait.parse(source(), WIRE)
        assert SEEN == [next(events) for _ in SEEN]
        with pytest.raises(ConnectionResetError):
            next(events)

    def test_stops_at_the_end(self) -> None:
        """The source is not asked for more once the response has ended, so an open socket does not hang."""

        def source() -> Iterator[bytes]:
            yield STREAM
            raise AssertionError("asked for more after the terminal event")

        assert EVENTS == list(plait.parse(source(), WIRE))

    def test_lazy(self) -> None:
        """Chunks are asked for one by one, as events are taken; leaving early asks for no more."""
        asked = []

        def source() -> Iterator[bytes]:
            for number, document in enumerate(DOCUMENTS):
                asked.append(number)
                yield sse(document)

        for event in plait.parse(source(), WIRE):
            if isinstance(event, TextDelta):
                break
        assert [0, 1, 2] == asked

    def test_async(self) -> None:
        """`aparse` gives the same, and the same faults."""

        async def source(body: bytes) -> AsyncIterator[bytes]:
            for start in range(0, len(body), 10):
                yield body[start : start + 10]

        async def collect(body: bytes) -> tuple[list[plait.Event], str | None]:
            got: list[plait.Event] = []
            try:
                async for event in plait.aparse(source(body), WIRE):
                    got.append(event)
            except PlaitError as error:
                return got, type(error).__name__
            return got, None

        assert (EVENTS, None) == asyncio.run(collect(STREAM))
        assert (SEEN, "IncompleteStreamError") == asyncio.run(collect(sse(*DOCUMENTS[:4])[:-2]))
        assert (SEEN, "ProtocolError") == asyncio.run(collect(sse(*DOCUMENTS[:4]) + b"data: {oops}\n\n"))


class TestReadResponse:
    """`read_response`."""

    @pytest.mark.parametrize(
        "body",
        [
            json.dumps(BODY),
            json.dumps(BODY).encode(),
            bytearray(json.dumps(BODY).encode()),
            BODY,
            "\ufeff\n" + json.dumps(BODY, indent=2) + "\n",
            BOM + json.dumps(BODY).encode(),
            json.dumps(BODY) + "\n\ndata: [DONE]\n\n",
        ],
        ids=["str", "bytes", "bytearray", "dict", "BOM and spaces", "BOM bytes", "[DONE]"],
    )
    def test_bodies(self, body: Any) -> None:
        """Text, bytes or decoded JSON."""
        parser = plait.parser(WIRE)
        parser.feed(STREAM)
        assert parser.message == plait.read_response(WIRE, body)

    @pytest.mark.parametrize(
        ("message", "body"),
        [
            ("got text that is not JSON .*: '<html>'", "<html>"),
            ("got text that is not JSON .*truncated", b'{"id":'),
            ("got text that is not JSON", b""),
            ("got array", "[]"),
            ("got null", "null"),
            ("got an object that is no response", {}),
            ("not UTF-8 .* at byte 1", b"{\xff}"),
            ("nested too deeply", '{"a":' * 5000),
            (
                "nested more than 180 levels",
                {"content": [{"type": "other", "a": json.loads("[" * 300 + "]" * 300)}]},
            ),
            ("got text that is not JSON", STREAM),
        ],
        ids=[
            "HTML",
            "cut",
            "empty",
            "array",
            "null",
            "no response",
            "not UTF-8",
            "deep",
            "deep block",
            "a stream",
        ],
    )
    def test_not_a_response(self, message: str, body: Any) -> None:
        """What is not a JSON object, or no response, is a ProtocolError."""
        with pytest.raises(ProtocolError, match=message):
            plait.read_response(WIRE, body)

    @pytest.mark.parametrize(
        "body",
        [
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Busy"},
                "request_id": "req_1",
            },
            [{"error": {"message": "Busy", "code": 529}, "request_id": "req_1"}],
        ],
        ids=["object", "array"],
    )
    def test_error_body(self, body: Any) -> None:
        """An error body is the typed error, whatever the HTTP status was."""
        with pytest.raises(plait.OverloadedError, match="Busy") as caught:
            plait.read_response(WIRE, json.dumps(body))
        assert ("req_1", plait.AssistantMessage(content=[])) == (
            caught.value.request_id,
            caught.value.partial_message,
        )

    def test_lone_surrogates_in_decoded_json(self) -> None:
        """Halves of characters in decoded JSON, in values or keys, become U+FFFD as they do on a stream."""
        block = {"type": "other", "\ud83d": "\ude00"}
        message = plait.read_response(WIRE, {**BODY, "content": [{"type": "text", "text": "a\ud83d"}, block]})
        assert ("a\ufffd", {"type": "other", "\ufffd": "\ufffd"}) == (
            message.text,
            message.to_dict()["content"][1]["data"],
        )
