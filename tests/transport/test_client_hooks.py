"""Hooks of the caller's HTTP client: what they do to a response is taken into account."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import pytest
from asking import END, HELLO, QUICK, WHOLE, both_modes, local

import plait
from local_server import Answer, LocalServer
from plait import ConfigurationError, Model

LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
JSON = {"content-type": "application/json"}
ONE_CHUNK = b"".join(HELLO + END)


def asked(
    mode: str, library: Any, url: str, hook: Callable[[Any], None], *, read: bool, generating: bool
) -> tuple[str, int]:
    """The text of an answer, and how often it was asked for, with a client that has this hook.

    `read`: the hook reads the body before.
    """

    async def ahook(response: Any) -> None:
        if read:
            await response.aread()
        hook(response)

    def sync_hook(response: Any) -> None:
        if read:
            response.read()
        hook(response)

    async def main() -> tuple[str, int]:
        async with library.AsyncClient(event_hooks={"response": [ahook]}) as client:
            model = local(url, http_client=client, retries=QUICK)
            if generating:
                return (await model.agenerate("Hi")).text, 0
            stream = model.astream("Hi")
            async for _ in stream:
                pass
            return stream.message.text, stream.attempts

    if mode == "async":
        return asyncio.run(main())
    with library.Client(event_hooks={"response": [sync_hook]}) as client:
        model = local(url, http_client=client, retries=QUICK)
        if generating:
            return model.generate("Hi").text, 0
        stream = model.stream("Hi")
        list(stream)
        return stream.message.text, stream.attempts


def nothing(response: Any) -> None:
    """Leave it as it is."""


def raise_for_status(response: Any) -> None:
    response.raise_for_status()


@both_modes
@LIBRARIES
@pytest.mark.parametrize("encoding", [None, "gzip"], ids=["plain", "gzip"])
@pytest.mark.parametrize("generating", [False, True], ids=["stream", "generate"])
def test_a_hook_that_reads_the_body(generating: bool, encoding: str | None, library: Any, mode: str) -> None:
    """The client has undone the content coding, and given the connection back: the answer is whole."""
    answer = Answer((ONE_CHUNK,), encoding=encoding)
    if generating:
        answer = Answer((json.dumps(WHOLE).encode(),), headers=JSON, encoding=encoding)
    with LocalServer(answer) as server:
        text, _ = asked(mode, library, server.url, nothing, read=True, generating=generating)
        assert 1 == len(server.requests)
    assert "Hello" == text


REFUSAL = json.dumps({"error": {"message": "The key is wrong."}}).encode()


@both_modes
@LIBRARIES
@pytest.mark.parametrize("read", [False, True], ids=["unread", "read"])
@pytest.mark.parametrize("generating", [False, True], ids=["stream", "generate"])
def test_a_hook_that_raises_for_the_status(generating: bool, read: bool, library: Any, mode: str) -> None:
    """The error is that of the response: typed, with its words where the hook has read them."""
    with (
        LocalServer(Answer((REFUSAL,), status=401, headers=JSON, framing="length")) as server,
        pytest.raises(plait.AuthenticationError) as caught,
    ):
        asked(mode, library, server.url, raise_for_status, read=read, generating=generating)
    assert 401 == caught.value.status
    assert ("The key is wrong." if read else "HTTP 401 without a body") == caught.value.message
    assert 1 == len(server.requests)


@both_modes
@pytest.mark.parametrize("read", [False, True], ids=["unread", "read"])
def test_what_a_hook_raised_for_is_tried_again(read: bool, mode: str) -> None:
    """A status that may pass is asked for anew, as without the hook."""
    busy = Answer((b"{}",), status=503, headers=JSON)
    with LocalServer(busy, busy, Answer((ONE_CHUNK,))) as server:
        text, attempts = asked(mode, httpx, server.url, raise_for_status, read=read, generating=False)
    assert ("Hello", 3) == (text, attempts)


@both_modes
def test_another_error_of_a_hook(mode: str) -> None:
    """It is the caller's own, and reaches the caller."""

    def fail(response: Any) -> None:
        raise ZeroDivisionError

    with LocalServer(Answer((ONE_CHUNK,))) as server:
        with pytest.raises(ZeroDivisionError):
            asked(mode, httpx, server.url, fail, read=False, generating=False)
        assert server.wait_for(lambda server: server.open == 0)


@LIBRARIES
@pytest.mark.parametrize("generating", [False, True], ids=["stream", "generate"])
def test_a_closed_client(generating: bool, library: Any) -> None:
    """It is named as what it is, whatever is called."""
    client = library.Client()
    client.close()
    model = Model("mock/any", http_client=client)
    with pytest.raises(ConfigurationError, match="http_client is closed"):
        model.generate("Hi") if generating else list(model.stream("Hi"))


@LIBRARIES
@pytest.mark.parametrize("generating", [False, True], ids=["stream", "generate"])
def test_a_closed_async_client(generating: bool, library: Any) -> None:
    """The same of an asynchronous one."""

    async def main() -> None:
        client = library.AsyncClient()
        await client.aclose()
        model = Model("mock/any", http_client=client)
        asking = model.agenerate("Hi") if generating else anext(model.astream("Hi"))
        with pytest.raises(ConfigurationError, match="http_client is closed"):
            await asking

    asyncio.run(main())
