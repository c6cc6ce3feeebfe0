"""The HTTP clients a model uses: the caller's own, of httpx and httpx2, or ours."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

import httpx
import httpx2
import pytest
from asking import END, HELLO, ONCE, ask, both_modes, generate, local

import plait
from local_server import RESET, Answer, LocalServer, steps
from plait import ConfigurationError, Model

LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


@LIBRARIES
def test_a_client_of_the_callers(library: Any) -> None:
    """It is used, and stays open."""
    with LocalServer(Answer(HELLO + END)) as server, library.Client(headers={"x-mine": "yes"}) as client:
        answered = ask("sync", local(server.url, http_client=client))
        assert (None, "Hello") == (answered.error, answered.message.text)
        assert not client.is_closed
        assert "yes" == server.requests[0].headers["x-mine"]


@LIBRARIES
def test_an_async_client_of_the_callers(library: Any) -> None:
    """The same for asynchronous calls."""

    async def main() -> None:
        async with library.AsyncClient() as client:
            model = local(server.url, http_client=client)
            async with model, model.astream("Hi") as stream:
                text = "".join(
                    [event.content async for event in stream if isinstance(event, plait.TextDelta)]
                )
            assert "Hello" == text
            assert not client.is_closed

    with LocalServer(Answer(HELLO + END)) as server:
        asyncio.run(main())


@LIBRARIES
def test_faults_of_either_library(library: Any) -> None:
    """A reset is the same error, whichever library reports it."""
    with LocalServer(Answer(steps(HELLO, 0.05, RESET))) as server, library.Client() as client:
        answered = ask("sync", local(server.url, http_client=client))
    assert isinstance(answered.error, plait.IncompleteStreamError)
    assert "the connection broke (ReadError" in str(answered.error)
    with library.Client() as client:
        answered = ask("sync", local("http://127.0.0.1:9", http_client=client))
    assert isinstance(answered.error, plait.TransportError)


@LIBRARIES
def test_idle_time_with_either_library(library: Any) -> None:
    """The watch can interrupt a read in either library."""
    from local_server import HOLD
    from plait import StreamTimeoutError, Timeouts

    with LocalServer(Answer(steps(HELLO, HOLD))) as server, library.Client() as client:
        answered = ask("sync", local(server.url, http_client=client, timeouts=Timeouts(idle=0.2)))
    assert isinstance(answered.error, StreamTimeoutError)


def test_a_subclass_of_a_client() -> None:
    """The library is told from the base class, as of the clients that SDKs derive."""

    class Derived(httpx2.Client):
        pass

    with Derived(transport=httpx2.MockTransport(_refuse)) as client:
        answered = ask("sync", local("http://provider.test", http_client=client))
    assert isinstance(answered.error, plait.TransportError)


def _refuse(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


def test_the_wrong_kind_of_client() -> None:
    """A synchronous client cannot answer an asynchronous call, nor the other way; others are no client."""
    with httpx.Client() as client:
        model = Model("mock/any", http_client=client)
        with pytest.raises(ConfigurationError, match="http_client is a Client: use stream or generate"):
            model.astream("Hi")
    with pytest.raises(ConfigurationError, match="http_client is a AsyncClient: use astream or agenerate"):
        Model("mock/any", http_client=httpx.AsyncClient()).stream("Hi")
    with pytest.raises(
        ConfigurationError, match="expected a Client or AsyncClient of httpx or httpx2, got dict"
    ):
        Model("mock/any", http_client={})  # type: ignore[arg-type]


def test_one_model_in_many_event_loops() -> None:
    """Each loop has connections of its own, closed with it; nothing warns."""
    with LocalServer(Answer(HELLO + END)) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = local(server.url)
        for _ in range(3):
            asyncio.run(_twice(model))
        gc.collect()
        assert server.wait_for(lambda server: server.open == 0)
        assert 3 == server.connections
    assert [] == [str(warning.message) for warning in caught]


async def _twice(model: Model) -> None:
    for _ in range(2):
        async for _event in model.astream("Hi"):
            pass


def test_a_model_that_is_dropped_closes_its_connections() -> None:
    """Without `close`, and without a warning."""
    with LocalServer(Answer(HELLO + END)) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = local(server.url)
        list(model.stream("Hi"))
        assert 1 == server.open
        del model
        gc.collect()
        assert server.wait_for(lambda server: server.open == 0)
    assert [] == [str(warning.message) for warning in caught]


def test_a_closed_model_can_be_used() -> None:
    """`close` frees connections; the next call makes new ones."""
    with LocalServer(Answer(HELLO + END)) as server, local(server.url) as model:
        list(model.stream("Hi"))
        model.close()
        assert "Hello" == "".join(e.content for e in model.stream("Hi") if isinstance(e, plait.TextDelta))
        assert 2 == server.connections


@both_modes
def test_streams_at_the_same_time(mode: str) -> None:
    """Many streams of one model do not mix."""
    from concurrent.futures import ThreadPoolExecutor

    with LocalServer(Answer(steps([part for part in HELLO for _ in range(20)], END))) as server:
        model = local(server.url)
        if mode == "sync":
            with model, ThreadPoolExecutor(20) as pool:
                texts = list(pool.map(lambda _: _text(model), range(60)))
        else:
            texts = asyncio.run(_texts(model, 60))
    assert {"Hel" * 20 + "lo" * 20} == set(texts)
    assert 60 == len(texts)


def _text(model: Model) -> str:
    with model.stream("Hi") as stream:
        return "".join(event.content for event in stream if isinstance(event, plait.TextDelta))


async def _texts(model: Model, number: int) -> list[str]:
    async def text() -> str:
        async with model.astream("Hi") as stream:
            return "".join([event.content async for event in stream if isinstance(event, plait.TextDelta)])

    async with model:
        return list(await asyncio.gather(*[text() for _ in range(number)]))


@both_modes
def test_the_mock_needs_no_key_and_no_network(mode: str) -> None:
    """`mock/any` repeats what was said, and calls the tool that is named."""
    answered = ask(mode, Model("mock/any"), "Say  this,\nplease 🌍 ")
    assert (None, "Say  this,\nplease 🌍 ") == (answered.error, answered.message.text)
    tools = [
        {"name": "get_time", "description": "The time", "parameters": {"type": "object", "properties": {}}}
    ]
    message = generate(mode, Model("mock/any", retries=ONCE), "Call get_time", tools=tools)
    assert [("get_time", "{}")] == [(call.tool_name, call.arguments) for call in message.tool_calls]
    assert "tool_calls" == message.finish_reason
    answered = ask(mode, Model("mock/any"), "Call get_time", tools=tools)
    assert ["get_time"] == [call.tool_name for call in answered.message.tool_calls]
