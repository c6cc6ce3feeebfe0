"""Which responses are watched, and what a guard does as a transport."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import respx
from guarded_bodies import ANTHROPIC, CHAT, CONVERSE, GEMINI, GEMINI_ARRAY, NDJSON, OLLAMA, SSE, Body, url
from guarded_clients import GET, LIBRARY, Get, Inner, get
from loopback import serving

from plait.errors import IncompleteStreamError, UnknownWireError
from plait.guard import AsyncGuardTransport, GuardTransport, with_httpx, with_httpx2

JSON = "application/json"
HOST = "http://llm.test"


def is_watched(inner: Inner, address: str, *, wire: Any = None, asked: Any = None) -> bool:
    """Whether half an answer raises; where it does not, the response must be the very object, untouched."""
    transport: Any = GuardTransport(inner, wire=wire)  # type: ignore[arg-type]
    sent: dict[str, Any] = {"json": asked} if asked is not None else {}
    response = transport.handle_request(inner.library.Request("POST", address, **sent))
    assert inner.response is response
    watched = type(response.stream).__module__.startswith("plait.guard")
    try:
        response.read()
    except IncompleteStreamError:
        assert watched
        return True
    assert not watched
    return False


def half(library: Any, content_type: str | None, status: int = 200, body: Body = CHAT) -> Inner:
    """A transport that answers with half of a body."""
    headers = {"content-type": content_type} if content_type is not None else {}
    return Inner(library, [body.half], headers, status)


@LIBRARY
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(CHAT, SSE, id="SSE"),
        pytest.param(CHAT, "Text/Event-Stream ;charset=utf-8", id="SSE, written otherwise"),
        pytest.param(OLLAMA, NDJSON, id="JSON lines"),
        pytest.param(CONVERSE, "application/vnd.amazon.eventstream", id="event stream"),
        pytest.param(CONVERSE, None, id="converse-stream URL"),
        pytest.param(GEMINI, "text/plain", id="streamGenerateContent URL, SSE"),
        pytest.param(GEMINI_ARRAY, "application/json; charset=UTF-8", id="streamGenerateContent URL, array"),
    ],
)
def test_stream_is_watched(library: Any, body: Body, content_type: str | None) -> None:
    """A stream is known by its content type, or by its URL."""
    assert is_watched(half(library, content_type, body=body), url(body))


@LIBRARY
def test_query_is_no_part_of_the_path(library: Any) -> None:
    """The URL tells, whatever its query is."""
    assert is_watched(half(library, JSON, body=GEMINI), f"{url(GEMINI)}?alt=sse&key=k")


@LIBRARY
@pytest.mark.parametrize(
    ("asked", "watched"),
    [
        pytest.param({"model": "m", "stream": True}, True, id="true"),
        pytest.param({"model": "m", "stream": False}, False, id="false"),
        pytest.param({"model": "m"}, False, id="not asked"),
        pytest.param({"stream": "true"}, False, id="text"),
        pytest.param([True], False, id="no object"),
    ],
)
def test_request_tells_of_a_stream(library: Any, asked: Any, watched: bool) -> None:
    """Without a stream's content type or URL, it counts whether the request asked for a stream."""
    assert watched == is_watched(half(library, JSON), url(CHAT), asked=asked)


@LIBRARY
def test_request_body_is_not_consumed(library: Any) -> None:
    """A request whose body is an iterator is not read to find out."""

    def asked() -> Iterator[bytes]:
        yield b'{"stream": true}'

    inner = half(library, JSON)
    request = library.Request("POST", url(CHAT), content=asked())
    transport: Any = GuardTransport(inner)  # type: ignore[arg-type]
    assert CHAT.half == transport.handle_request(request).read()
    assert b'{"stream": true}' == request.read()


@LIBRARY
@pytest.mark.parametrize("status", [201, 204, 206, 400, 401, 429, 500, 529])
def test_other_status_is_untouched(library: Any, status: int) -> None:
    """A response that is not 200 is no answer: it passes as the same object."""
    assert not is_watched(half(library, SSE, status), url(CHAT), asked={"stream": True})


@LIBRARY
@pytest.mark.parametrize(
    "address",
    [
        pytest.param(f"{HOST}/", id="nothing"),
        pytest.param(f"{HOST}/v1/embeddings", id="embeddings"),
        pytest.param(f"{HOST}/v1/audio/speech", id="speech"),
        pytest.param(f"{HOST}/v1/images/generations", id="images"),
        pytest.param(f"{HOST}/v1/completions", id="another protocol"),
        pytest.param(f"{HOST}/model/meta.llama-x/invoke-with-response-stream", id="another model"),
        pytest.param(f"{HOST}/v1/messages/batches/b/results", id="a batch"),
    ],
)
def test_unknown_url_is_untouched(library: Any, address: str) -> None:
    """What is not known to be an answer of a wire passes as the same object."""
    assert not is_watched(half(library, SSE), address, asked={"stream": True})


@LIBRARY
def test_url_that_only_looks_like_a_wire(library: Any) -> None:
    """`/api/chat` is Ollama's path and many others': server-sent events there are not Ollama's JSON lines."""
    assert not is_watched(half(library, SSE), url(OLLAMA))
    assert is_watched(half(library, SSE), url(OLLAMA), wire="openai-chat")


@LIBRARY
def test_whole_json_is_untouched(library: Any) -> None:
    """An answer that is not streamed passes, be it whole or not: its client sees that it is not JSON."""
    assert not is_watched(half(library, JSON), url(CHAT), asked={"model": "m"})


@LIBRARY
@GET
def test_whole_json_in_place_of_a_stream(library: Any, get_body: Get) -> None:
    """A server that does not stream although it was asked to gives a whole answer."""
    body = b'{"id":"c","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    outcome = get_body(Inner(library, [body], {"content-type": JSON}), url(CHAT), asked={"stream": True})
    assert outcome.error is None
    assert body == outcome.body


@LIBRARY
@GET
def test_wire_by_name(library: Any, get_body: Get) -> None:
    """A URL that says nothing is watched as the wire that the user names."""
    address = f"{HOST}/gateway"
    assert get_body(Inner(library, [CHAT.half]), address).error is None
    assert "openai-chat" == get_body(Inner(library, [CHAT.half]), address, wire="openai-chat").incomplete.wire
    assert get_body(Inner(library, [CHAT.whole]), address, wire="openai-chat").error is None


@LIBRARY
@GET
def test_wire_by_function(library: Any, get_body: Get) -> None:
    """A function says it for each request; None leaves a response alone, whatever its URL is."""

    def wire(request: Any) -> str | None:
        assert isinstance(request, library.Request)
        return "anthropic-messages" if request.url.path == "/claude" else None

    inner = [ANTHROPIC.half]
    assert get_body(Inner(library, inner), f"{HOST}/claude", wire=wire).incomplete
    assert get_body(Inner(library, inner), url(ANTHROPIC), wire=wire).error is None


@pytest.mark.parametrize("transport", [GuardTransport, AsyncGuardTransport])
def test_unknown_wire_is_refused(transport: Any) -> None:
    """A name that is no wire format is an error at once."""
    with pytest.raises(UnknownWireError, match="openai-chat"):
        transport(wire="openai")


def test_unknown_wire_of_a_function_is_refused_before_sending() -> None:
    """A name that the function gives is checked before the request is sent."""
    inner = Inner(httpx, CHAT.frames)
    assert isinstance(get(inner, url(CHAT), wire=lambda request: "openai").error, UnknownWireError)
    assert inner.response is None


# As a transport


@LIBRARY
def test_clients_own_transport(library: Any) -> None:
    """Without an inner transport the guard makes that of the library whose request comes, and closes it."""
    with serving(CHAT.frames, SSE, "chunked") as base:
        guard = GuardTransport()
        with library.Client(transport=guard) as client:
            assert CHAT.whole == client.post(f"{base}{CHAT.path}", json={}).content
            assert type(guard._transport) is library.HTTPTransport
            assert [True] == [connection.is_idle() for connection in guard._transport._pool.connections]
        assert [] == guard._transport._pool.connections


@LIBRARY
def test_async_clients_own_transport(library: Any) -> None:
    """The same, asynchronous."""

    async def run(base: str) -> Any:
        guard = AsyncGuardTransport()
        async with library.AsyncClient(transport=guard) as client:
            assert CHAT.whole == (await client.post(f"{base}{CHAT.path}", json={})).content
            assert type(guard._transport) is library.AsyncHTTPTransport
        return guard._transport

    with serving(CHAT.frames, SSE, "chunked") as base:
        assert [] == asyncio.run(run(base))._pool.connections


@LIBRARY
def test_one_transport_for_all_threads(library: Any) -> None:
    """Requests of several threads that come first at the same time share one transport."""
    guard = GuardTransport()
    seen: list[Any] = []
    request = library.Request("POST", url(CHAT))
    threads = [Thread(target=lambda: seen.append(guard._inner(request))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    guard.close()
    assert 8 == len(seen)
    assert 1 == len(set(map(id, seen)))


@LIBRARY
@pytest.mark.parametrize("delivery", ["chunked", "close-delimited"])
def test_connection_is_given_back(library: Any, delivery: Any) -> None:
    """After the error no connection is held, even where the client never closes the response."""
    limits = library.Limits(max_connections=1)
    with serving(CHAT.frames[:2], SSE, delivery) as base:
        guard = GuardTransport(library.HTTPTransport(limits=limits))
        client = library.Client(transport=guard, timeout=library.Timeout(5, pool=1))
        with client:
            for _ in range(3):
                request = client.build_request("POST", f"{base}{CHAT.path}")
                response = client.send(request, stream=True)
                with pytest.raises(IncompleteStreamError):
                    list(response.iter_raw())
            assert all(connection.is_idle() for connection in guard._transport._pool.connections)


@LIBRARY
@pytest.mark.parametrize("delivery", ["chunked", "close-delimited"])
def test_async_connection_is_given_back(library: Any, delivery: Any) -> None:
    """The same, asynchronous."""

    async def run(base: str) -> None:
        limits = library.Limits(max_connections=1)
        guard = AsyncGuardTransport(library.AsyncHTTPTransport(limits=limits))
        client = library.AsyncClient(transport=guard, timeout=library.Timeout(5, pool=1))
        async with client:
            for _ in range(3):
                request = client.build_request("POST", f"{base}{CHAT.path}")
                response = await client.send(request, stream=True)
                with pytest.raises(IncompleteStreamError):
                    _ = [chunk async for chunk in response.aiter_raw()]
            assert all(connection.is_idle() for connection in guard._transport._pool.connections)

    with serving(CHAT.frames[:2], SSE, delivery) as base:
        asyncio.run(run(base))


@LIBRARY
def test_inner_transport_is_entered_and_closed(library: Any) -> None:
    """A client that is used as a context enters and closes the wrapped transport once."""
    inner = Inner(library, CHAT.frames)
    guard: Any = GuardTransport(inner)  # type: ignore[arg-type]
    with library.Client(transport=guard) as client:
        assert 1 == inner.entered
        client.post(url(CHAT))
    assert 0 == inner.entered
    guard.close()
    assert -1 == inner.entered


@LIBRARY
def test_async_inner_transport_is_entered_and_closed(library: Any) -> None:
    """The same, asynchronous."""
    inner = Inner(library, CHAT.frames)
    guard: Any = AsyncGuardTransport(inner)  # type: ignore[arg-type]

    async def run() -> None:
        async with library.AsyncClient(transport=guard) as client:
            assert 1 == inner.entered
            await client.post(url(CHAT))
        assert 0 == inner.entered
        await guard.aclose()

    asyncio.run(run())
    assert -1 == inner.entered


@LIBRARY
def test_guard_that_was_never_used_closes(library: Any) -> None:
    """Closing a guard that has made no transport does nothing."""
    GuardTransport().close()
    asyncio.run(AsyncGuardTransport().aclose())
    with library.Client(transport=GuardTransport()) as client:
        assert not client.is_closed


@pytest.mark.parametrize("request_", [object(), "POST"], ids=["an object", "text"])
def test_other_requests_are_refused(request_: Any) -> None:
    """A request of neither library is a TypeError that names what came."""
    with pytest.raises(TypeError, match="expected a request of httpx or httpx2, got builtins"):
        GuardTransport().handle_request(request_)


@LIBRARY
def test_request_of_a_subclass(library: Any) -> None:
    """A user's own subclass of the library's request is of that library."""

    class Request(library.Request):  # type: ignore[misc]
        """A user's."""

    inner = Inner(library, CHAT.frames[:1])
    response = GuardTransport(inner).handle_request(Request("POST", url(CHAT)))  # type: ignore[arg-type]
    assert isinstance(response.stream, library.SyncByteStream)
    with pytest.raises(library.RemoteProtocolError):
        response.read()


@LIBRARY
@pytest.mark.parametrize("given", ["content", "iterator", "stream"])
def test_mock_transport(library: Any, given: str) -> None:
    """The library's mock transport is guarded as well, also where its responses are read already."""

    def answer(request: Any) -> Any:
        bodies: dict[str, dict[str, Any]] = {
            "content": {"content": CHAT.half},
            "iterator": {"content": iter([CHAT.half])},
            "stream": {"stream": library.ByteStream(CHAT.half)},
        }
        return library.Response(200, headers={"content-type": SSE, "x-request-id": "r"}, **bodies[given])

    client = library.Client(transport=GuardTransport(library.MockTransport(answer)))
    with client, client.stream("POST", url(CHAT)) as response:
        assert "r" == response.headers["x-request-id"]
        chunks = response.iter_bytes()
        assert CHAT.half == next(chunks)
        with pytest.raises(IncompleteStreamError):
            next(chunks)


@respx.mock
def test_respx() -> None:
    """So is what respx answers in the place of a real transport."""
    respx.post(url(CHAT)).mock(httpx.Response(200, headers={"content-type": SSE}, content=CHAT.half))
    with httpx.Client(transport=GuardTransport()) as client, pytest.raises(IncompleteStreamError):
        client.post(url(CHAT))


@LIBRARY
def test_response_that_was_read_from_elsewhere(library: Any) -> None:
    """A response whose body a wrapped transport has read itself (a cache) is left alone."""

    def answer(request: Any) -> Any:
        response = library.Response(200, headers={"content-type": SSE}, content=iter([CHAT.half]))
        response.read()
        return response

    with library.Client(transport=GuardTransport(library.MockTransport(answer))) as client:
        assert CHAT.half == client.post(url(CHAT)).content


def test_guard_is_of_neither_library() -> None:
    """It is an instance of no class of `httpx` or `httpx2`: SDKs refuse what is of the other library."""
    for cls in (GuardTransport, AsyncGuardTransport):
        assert {"plait", "builtins"} == {base.__module__.partition(".")[0] for base in cls.__mro__}


def test_both_modules_are_alike() -> None:
    """What is said for `httpx` is said for `httpx2`, word for word."""
    one, other = (Path(str(module.__file__)).read_text("utf-8") for module in (with_httpx, with_httpx2))
    assert one.replace("httpx", "httpx2") == other


LOADED = "import json, sys; print(json.dumps([name for name in ('httpx', 'httpx2') if name in sys.modules]))"


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        pytest.param("import plait.guard", [], id="import"),
        pytest.param(
            "import httpx, plait.guard as g\n"
            "g.GuardTransport(httpx.MockTransport(lambda request: httpx.Response(200, content=b'data: 1', "
            "headers={'content-type': 'text/event-stream'}))).handle_request("
            "httpx.Request('POST', 'http://h/v1/messages'))",
            ["httpx"],
            id="httpx",
        ),
        pytest.param(
            "import httpx2 as h, plait.guard as g\n"
            "g.GuardTransport(h.MockTransport(lambda request: h.Response(200, content=b'data: 1', "
            "headers={'content-type': 'text/event-stream'}))).handle_request("
            "h.Request('POST', 'http://h/v1/messages'))",
            ["httpx2"],
            id="httpx2",
        ),
    ],
)
def test_only_what_is_in_use_is_imported(code: str, loaded: list[str]) -> None:
    """The guard imports neither library of itself, and for a request only the one that it is of."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    assert loaded == json.loads(done.stdout)


def test_log_is_silent_by_default() -> None:
    """A program that does not configure logging sees nothing of the guard."""
    logger = logging.getLogger("plait.guard")
    assert [logging.NullHandler] == [type(handler) for handler in logger.handlers]
