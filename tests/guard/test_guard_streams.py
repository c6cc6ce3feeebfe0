"""A guarded body passes as it came; at its end half an answer is an error."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from typing import Any

import pytest
from checking import sse
from guarded_bodies import ANTHROPIC, BODIES, CHAT, OLLAMA, RESPONSES, Body, response, url
from guarded_clients import GET, LIBRARIES, LIBRARY, Get, Inner, get

from plait.errors import OverloadedError, ProtocolError, ProviderError, ServerError
from plait.events import TextDelta
from plait.guard import AsyncGuardTransport, GuardTransport, watching
from plait.wire import translator_class
from plait.wire.parser import Parser

BODY = pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in BODIES.items()])


@LIBRARY
@GET
@BODY
def test_whole_answer_passes(library: Any, get_body: Get, body: Body) -> None:
    """A complete stream arrives chunk by chunk as it was sent, and ends."""
    inner = Inner(library, body.frames, {"content-type": body.content_type})
    outcome = get_body(inner, url(body))
    assert outcome.error is None
    assert list(body.frames) == outcome.chunks


@LIBRARY
@GET
@BODY
def test_half_an_answer_raises(library: Any, get_body: Get, body: Body) -> None:
    """A cut stream arrives as it was sent, then raises: Plait's error and the library's at once."""
    half = body.frames[: body.cut]
    outcome = get_body(Inner(library, half, {"content-type": body.content_type}), url(body))
    assert list(half) == outcome.chunks
    error = outcome.incomplete
    assert isinstance(error, library.RemoteProtocolError)
    assert isinstance(error, library.TransportError)
    assert body.wire == error.wire
    assert len(body.half) == error.bytes_read
    assert error.partial_message is not None
    assert body.text == error.partial_message.text
    assert error.last_event is not None
    assert error.__cause__ is None
    assert "without the terminal event" in str(error)


@BODY
def test_every_cut(body: Body) -> None:
    """Cut anywhere before its terminal event a stream raises; from there on it does not."""
    before, after = len(body.half), len(body.whole)
    headers = {"content-type": body.content_type}
    verdicts = [
        get(Inner(LIBRARIES["httpx2"], [body.whole[:cut]], headers), url(body)).error is not None
        for cut in range(after + 1)
    ]
    assert [True] * (before + 1) == verdicts[: before + 1]
    assert verdicts[-1] is False
    if body.wire != "bedrock-converse":  # there a message cut behind the terminal event is a cut stream, too
        assert sorted(verdicts, reverse=True) == verdicts


@LIBRARY
@GET
def test_no_byte_at_all(library: Any, get_body: Get) -> None:
    """A stream without a single byte is not a whole answer."""
    error = get_body(Inner(library, []), url(CHAT)).incomplete
    assert 0 == error.bytes_read
    assert error.last_event is None


def test_error_knows_its_request_and_survives_pickling() -> None:
    """The error has the request, as the library's own errors have, and can be sent to another process."""
    for library in LIBRARIES.values():
        error: Any = get(Inner(library, CHAT.frames[:1]), url(CHAT)).incomplete
        assert url(CHAT) == str(error.request.url)
        copy = pickle.loads(pickle.dumps(error))
        assert type(error) is type(copy)
        assert str(error) == str(copy)
        assert (error.wire, error.bytes_read) == (copy.wire, copy.bytes_read)
        assert TextDelta("Half", index=0) == copy.last_event


@LIBRARY
def test_chunk_is_passed_before_it_is_read(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client has a chunk before the parser sees it, and before the next one is asked for."""
    order: list[str] = []
    feed = Parser.feed

    def noted(self: Parser, data: Any) -> Any:
        order.append("parser")
        return feed(self, data)

    monkeypatch.setattr(Parser, "feed", noted)
    inner = Inner(library, CHAT.frames)
    transport: Any = GuardTransport(inner)  # type: ignore[arg-type]
    for number, _chunk in enumerate(transport.handle_request(library.Request("POST", url(CHAT))).stream, 1):
        order.append("client")
        assert number == inner.taken
    assert ["client", "parser"] * len(CHAT.frames) == order


# Faults that the SDK sees itself


ANTHROPIC_ERROR = sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


@LIBRARY
@GET
def test_error_frame_passes_and_is_the_cause(library: Any, get_body: Get) -> None:
    """An error frame arrives as it was sent. Who reads on to the end has it as the error's cause."""
    frames = (*ANTHROPIC.frames[:4], ANTHROPIC_ERROR)
    outcome = get_body(Inner(library, frames), url(ANTHROPIC))
    assert list(frames) == outcome.chunks
    error = outcome.incomplete
    assert isinstance(error.__cause__, OverloadedError)
    assert "Overloaded" in str(error)
    assert isinstance(error, library.RemoteProtocolError)
    assert "anthropic-messages" == error.wire
    assert sum(map(len, frames)) == error.bytes_read
    assert error.partial_message is not None
    assert "Half of it" == error.partial_message.text
    assert TextDelta(" of it", index=0) == error.last_event


@LIBRARY
@GET
@pytest.mark.parametrize(
    ("chunks", "cause"),
    [
        pytest.param([b"<!doctype html>", b"<p>Please log in</p>" * 20], ProtocolError, id="a page"),
        pytest.param(
            [CHAT.frames[0], b"data: {not JSON}\n\n", *CHAT.frames[1:]], ProtocolError, id="a frame"
        ),
        pytest.param([b'{"error":{"message":"No","code":"x"}}'], ProviderError, id="an error body"),
        pytest.param(
            [CHAT.frames[0], b'data: {"error":{"message":"No"}}\n\n', b"data: [DONE]\n\n"],
            ProviderError,
            id="an error frame before [DONE]",
        ),
    ],
)
def test_what_is_no_answer(library: Any, get_body: Get, chunks: list[bytes], cause: type[Exception]) -> None:
    """Bytes that are not the wire format, and errors, pass; at the end of the body they are the cause."""
    outcome = get_body(Inner(library, chunks), url(CHAT))
    assert chunks == outcome.chunks
    assert isinstance(outcome.incomplete.__cause__, cause)


@LIBRARY
@GET
@pytest.mark.parametrize(
    ("wire", "chunks"),
    [
        pytest.param(
            CHAT,
            [
                *CHAT.frames[:2],
                b'data: {"choices":[{"index":0,"finish_reason":"error"}],"error":{"message":"No"}}\n\n',
            ],
            id="with the finish reason",
        ),
        pytest.param(
            CHAT,
            [*CHAT.frames[:3], b'data: {"error":{"message":"No"}}\n\n'],
            id="behind the finish reason",
        ),
        pytest.param(CHAT, [*CHAT.frames[:3], b"data: {no}\n\n"], id="no JSON behind the finish reason"),
        pytest.param(CHAT, [*CHAT.frames, b'data: {"error":{"message":"No"}}\n\n'], id="behind [DONE]"),
        pytest.param(ANTHROPIC, [*ANTHROPIC.frames, ANTHROPIC_ERROR], id="behind message_stop"),
    ],
)
def test_error_that_comes_with_the_terminal_event(
    library: Any, get_body: Get, wire: Body, chunks: list[bytes]
) -> None:
    """An error with or behind the terminal event is the client's: the stream ended as the wire says."""
    outcome = get_body(Inner(library, chunks), url(wire))
    assert outcome.error is None
    assert chunks == outcome.chunks


def test_stop_reason_is_no_terminal_event() -> None:
    """Anthropic's stop reason comes before its terminal event: an error between the two raises."""
    chunks = [*ANTHROPIC.frames[:6], ANTHROPIC_ERROR]
    assert get(Inner(LIBRARIES["httpx"], chunks), url(ANTHROPIC)).incomplete


FAILED = sse(
    {
        "type": "response.failed",
        "sequence_number": 9,
        "response": response("failed", error={"code": "server_error", "message": "It broke"}),
    }
)
ERROR_EVENT = sse({"type": "error", "sequence_number": 8, "code": "server_error", "message": "It broke"})


@GET
@pytest.mark.parametrize(
    "end",
    [
        pytest.param([FAILED], id="failed"),
        pytest.param([ERROR_EVENT, FAILED], id="error, failed"),
        pytest.param([ERROR_EVENT + FAILED], id="error and failed at once"),
        pytest.param([RESPONSES.frames[4] + FAILED[:60], FAILED[60:]], id="failed in two pieces"),
        pytest.param([bytes([byte]) for byte in ERROR_EVENT + FAILED], id="byte by byte"),
        pytest.param([FAILED.replace(b"\n", b"\r\n")], id="CRLF"),
        pytest.param([FAILED.strip()], id="without its blank line"),
    ],
)
def test_failed_response_is_a_terminal_event(get_body: Get, end: list[bytes]) -> None:
    """`response.failed` ends the stream as the wire says: the SDK hands it on, nothing is raised."""
    chunks = [*RESPONSES.frames[:4], *end]
    outcome = get_body(Inner(LIBRARIES["httpx2"], chunks), url(RESPONSES))
    assert outcome.error is None
    assert chunks == outcome.chunks


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        pytest.param([ERROR_EVENT], ServerError, id="an error event and no more"),
        pytest.param([FAILED[:-40]], type(None), id="failed, cut"),
        pytest.param([ERROR_EVENT, RESPONSES.frames[4]], ServerError, id="an error event, then text"),
    ],
)
def test_error_event_alone_is_no_end(end: list[bytes], cause: type) -> None:
    """An `error` event that no terminal event follows, or one that is cut, raises."""
    outcome = get(Inner(LIBRARIES["httpx2"], [*RESPONSES.frames[:4], *end]), url(RESPONSES))
    assert isinstance(outcome.incomplete.__cause__, cause)


# What is not the guard's


@LIBRARY
@GET
def test_inner_errors_pass(library: Any, get_body: Get) -> None:
    """What the wrapped transport raises in the middle of a body is raised as it is."""
    broken = library.ReadError("the connection broke")
    outcome = get_body(Inner(library, [CHAT.frames[0], broken]), url(CHAT))
    assert outcome.error is broken


@LIBRARY
def test_cancellation_passes(library: Any) -> None:
    """A task that is cancelled while it waits for a chunk ends as cancelled, and its body is closed."""

    async def run() -> Inner:
        inner = Inner(library, [CHAT.frames[0], asyncio.CancelledError()])
        transport: Any = AsyncGuardTransport(inner)  # type: ignore[arg-type]
        client = library.AsyncClient(transport=transport)
        async with client, client.stream("POST", url(CHAT)) as response:
            chunks = response.aiter_raw()
            assert CHAT.frames[0] == await anext(chunks)
            with pytest.raises(asyncio.CancelledError):
                await anext(chunks)
        return inner

    assert asyncio.run(run()).closed


@LIBRARY
def test_client_may_stop_early(library: Any) -> None:
    """A client that has enough closes the body: it hears nothing, and the inner body is closed."""
    inner = Inner(library, CHAT.frames[:2])
    transport: Any = GuardTransport(inner)  # type: ignore[arg-type]
    with library.Client(transport=transport) as client, client.stream("POST", url(CHAT)) as response:
        chunks = response.iter_raw()
        assert CHAT.frames[0] == next(chunks)
    assert 1 == inner.taken
    assert 1 == inner.closed


@LIBRARY
def test_async_client_may_stop_early(library: Any) -> None:
    """The same for an asynchronous client."""

    async def run() -> Inner:
        inner = Inner(library, CHAT.frames[:2])
        transport: Any = AsyncGuardTransport(inner)  # type: ignore[arg-type]
        client = library.AsyncClient(transport=transport)
        async with client, client.stream("POST", url(CHAT)) as response:
            async for chunk in response.aiter_raw():
                assert CHAT.frames[0] == chunk
                break
        return inner

    inner = asyncio.run(run())
    assert (1, 1) == (inner.taken, inner.closed)


@LIBRARY
@GET
def test_inner_body_is_closed_before_the_error(library: Any, get_body: Get) -> None:
    """When the guard raises, the connection has been given back, whatever the client does then."""
    inner = Inner(library, CHAT.frames[:1])
    assert get_body(inner, url(CHAT)).incomplete
    assert inner.closed


@GET
def test_fault_of_the_parser_harms_no_one(
    get_body: Get, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If Plait itself fails, the client reads on as if there were no guard, and the log says so."""

    def broken(self: Parser, data: bytes) -> None:
        raise ZeroDivisionError("a fault of the parser")

    monkeypatch.setattr(Parser, "feed", broken)
    with caplog.at_level(logging.WARNING, "plait.guard"):
        outcome = get_body(
            Inner(LIBRARIES["httpx"], OLLAMA.frames[:2], {"content-type": "application/x-ndjson"}),
            url(OLLAMA),
        )
    assert list(OLLAMA.frames[:2]) == outcome.chunks
    assert outcome.error is None
    assert ["a response of ollama-chat is not watched any more"] == [
        record.getMessage() for record in caplog.records
    ]


def test_fault_at_the_end_harms_no_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The same where Plait fails at the end of the body."""

    def broken(self: Parser) -> None:
        raise ZeroDivisionError("a fault of the parser")

    monkeypatch.setattr(Parser, "finish", broken)
    outcome = get(Inner(LIBRARIES["httpx"], CHAT.frames[:2]), url(CHAT))
    assert outcome.error is None
    assert 1 == len(caplog.records)


def test_failure_ends_are_terminal_events() -> None:
    """The table of terminal events that report a failure names events that their wires list as terminal."""
    for wire, mark in watching.FAILURE_ENDS.items():
        assert json.loads(mark) in translator_class(wire).terminal
