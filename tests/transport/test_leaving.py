"""Leaving a stream before its end: the connection is released at once, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from asking import END, HELLO, both_modes, local

from local_server import HOLD, Answer, LocalServer, steps
from plait import Model, Retries, Timeouts

ENDLESS = Answer(steps(HELLO, HOLD))


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer(ENDLESS) as running:
        yield running


def released(server: LocalServer, seconds: float = 2.0) -> bool:
    """Whether the server soon sees that the client has left."""
    return server.wait_for(lambda server: server.connections == 1 and server.open == 0, seconds)


# One way to leave each: called with the model, returns when it has left.


def break_the_loop(model: Model) -> Any:
    stream = model.stream("Hi")
    for _ in stream:
        break
    return stream  # still held: leaving the loop is enough


def leave_the_block(model: Model) -> Any:
    with model.stream("Hi") as stream:
        next(stream)
    return stream


def close(model: Model) -> Any:
    stream = model.stream("Hi")
    next(stream)
    stream.close()
    stream.close()
    return stream


def drop(model: Model) -> Any:
    next(model.stream("Hi"))


def drop_unread(model: Model) -> Any:
    model.stream("Hi").__enter__()


def fail_in_the_loop(model: Model) -> Any:
    with suppress(ZeroDivisionError):
        for _ in model.stream("Hi"):
            raise ZeroDivisionError


async def abreak_the_loop(model: Model) -> Any:
    stream = model.astream("Hi")
    async for _ in stream:
        break
    return stream


async def aleave_the_block(model: Model) -> Any:
    async with model.astream("Hi") as stream:
        await anext(stream)
    return stream


async def aclose(model: Model) -> Any:
    stream = model.astream("Hi")
    await anext(stream)
    await stream.aclose()
    await stream.aclose()
    return stream


async def adrop(model: Model) -> Any:
    await anext(model.astream("Hi"))


async def adrop_unread(model: Model) -> Any:
    await model.astream("Hi").__aenter__()


async def afail_in_the_loop(model: Model) -> Any:
    with suppress(ZeroDivisionError):
        async for _ in model.astream("Hi"):
            raise ZeroDivisionError


async def cancel(model: Model) -> Any:
    async def read() -> None:
        async for _ in model.astream("Hi"):
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def time_out(model: Model) -> Any:
    with suppress(TimeoutError):
        async with asyncio.timeout(0.3):
            async for _ in model.astream("Hi"):
                pass
        raise AssertionError("the time was up, and nothing stopped")


SYNC = [break_the_loop, leave_the_block, close, drop, drop_unread, fail_in_the_loop]
ASYNC = [abreak_the_loop, aleave_the_block, aclose, adrop, adrop_unread, afail_in_the_loop, cancel, time_out]


@pytest.mark.parametrize("leave", SYNC, ids=lambda leave: leave.__name__)
def test_the_connection_is_released(leave: Callable[[Model], Any], server: LocalServer) -> None:
    """Whichever way a stream is left, the server sees it at once."""
    with local(server.url) as model:
        left = leave(model)
        assert released(server)
        if left is not None:
            assert [] == list(left)


@pytest.mark.parametrize("leave", ASYNC, ids=lambda leave: leave.__name__)
def test_the_connection_is_released_async(leave: Callable[[Model], Any], server: LocalServer) -> None:
    """The same in an event loop that goes on."""

    async def main() -> None:
        async with local(server.url) as model:
            left = await leave(model)
            assert await asyncio.to_thread(released, server)
            if left is not None:
                assert [] == [event async for event in left]

    asyncio.run(main())


@pytest.mark.parametrize("leave", ASYNC, ids=lambda leave: leave.__name__)
def test_a_loop_that_ends_at_once(leave: Callable[[Model], Any], server: LocalServer) -> None:
    """An event loop that ends right then leaves no warning and no open connection, without `aclose`."""
    model = local(server.url)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(leave(model))
        gc.collect()
    assert [] == [str(warning.message) for warning in caught]
    assert released(server)


def test_closing_from_another_thread(server: LocalServer) -> None:
    """A thread that waits for bytes ends quietly when another one closes the stream."""
    with local(server.url) as model:
        stream = model.stream("Hi")
        seen: list[Any] = []
        reader = threading.Thread(target=lambda: seen.extend(stream))
        reader.start()
        assert server.wait_for(lambda server: bool(server.requests))
        time.sleep(0.1)
        stream.close()
        reader.join(2)
        assert not reader.is_alive()
        assert released(server)
    assert 3 == len(seen)
    assert None is stream.message.finish_reason


def test_closing_from_another_task(server: LocalServer) -> None:
    """A task that waits for bytes ends quietly, uncancelled, when another one closes the stream."""

    async def main() -> tuple[list[Any], bool]:
        async with local(server.url) as model:
            stream = model.astream("Hi")

            async def read() -> list[Any]:
                return [event async for event in stream]

            task = asyncio.create_task(read())
            await asyncio.sleep(0.1)
            await stream.aclose()
            seen = await task
            return seen, task.cancelled() or bool(task.cancelling())

    seen, cancelled = asyncio.run(main())
    assert (3, False) == (len(seen), cancelled)
    assert released(server)


def test_closing_during_a_wait_for_the_next_attempt() -> None:
    """A thread that waits before it tries again does not wait any longer."""
    with (
        LocalServer(Answer((b"{}",), status=503)) as server,
        local(server.url, retries=Retries(limit=1, first_wait=30, longest_wait=30, jitter=0)) as model,
    ):
        stream = model.stream("Hi")
        seen: list[Any] = []
        reader = threading.Thread(target=lambda: seen.extend(stream))
        reader.start()
        assert server.wait_for(lambda server: bool(server.requests))
        time.sleep(0.1)
        stream.close()
        reader.join(2)
        assert not reader.is_alive()


@pytest.mark.parametrize(
    "answer", [Answer((b"{}",), status=503), Answer((5.0,))], ids=["a wait", "headers alone"]
)
def test_closing_from_another_task_before_the_first_event(answer: Answer) -> None:
    """A task that waits for another attempt, or for an answer to begin, ends quietly and at once."""

    async def main() -> list[Any]:
        retries = Retries(limit=1, first_wait=30, longest_wait=30, jitter=0)
        async with local(running.url, retries=retries) as model:
            stream = model.astream("Hi")

            async def read() -> list[Any]:
                return [event async for event in stream]

            task = asyncio.create_task(read())
            await asyncio.sleep(0.2)
            await stream.aclose()
            return await asyncio.wait_for(task, 2)

    with LocalServer(answer) as running:
        assert [] == asyncio.run(main())


@both_modes
def test_the_terminal_event_ends_the_stream(mode: str) -> None:
    """A server that holds the connection open after [DONE] is not waited for."""
    with LocalServer(Answer(steps(HELLO, END, HOLD))) as server:
        start = time.monotonic()
        if mode == "sync":
            with local(server.url) as model, model.stream("Hi") as stream:
                list(stream)
        else:

            async def main() -> Any:
                async with local(server.url) as model, model.astream("Hi") as stream:
                    [event async for event in stream]
                    return stream

            stream = asyncio.run(main())
        took = time.monotonic() - start
        assert "stop" == stream.message.finish_reason
        assert took < 1
        assert released(server)


@both_modes
def test_connections_are_used_again(mode: str) -> None:
    """A complete answer leaves its connection for the next call."""
    with LocalServer(Answer(HELLO + END)) as server:
        if mode == "sync":
            with local(server.url) as model:
                for _ in range(3):
                    list(model.stream("Hi"))
        else:

            async def main() -> None:
                async with local(server.url) as model:
                    for _ in range(3):
                        [event async for event in model.astream("Hi")]

            asyncio.run(main())
        assert (3, 1) == (len(server.requests), server.connections)


class Counted(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body without end that knows how many of its kind are open."""

    open = 0

    def __init__(self) -> None:
        type(self).open += 1
        self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from HELLO * 1000

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in HELLO * 1000:
            yield chunk

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            type(self).open -= 1

    async def aclose(self) -> None:
        self.close()


def endless(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Counted())


ABANDONED = 10_000
KEPT = 5_000
"""Objects that may be there afterwards: an event loop forgets cancelled timers only when they are many."""


def grown(objects_before: int) -> int:
    gc.collect()
    return len(gc.get_objects()) - objects_before


def test_ten_thousand_abandoned_streams() -> None:
    """None of them stays open, and none leaves an object behind."""
    with httpx.Client(transport=httpx.MockTransport(endless)) as client:
        model = local("http://provider.test", http_client=client)
        next(model.stream("Hi"))
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(ABANDONED):
            for _event in model.stream("Hi"):
                break
        assert 0 == Counted.open
        assert grown(before) < KEPT


def test_ten_thousand_abandoned_async_streams() -> None:
    """The same in an event loop, left half by the loop and half by cancellation."""

    async def abandon(model: Model) -> None:
        async for _event in model.astream("Hi"):
            return

    async def hang(model: Model) -> None:
        async with model.astream("Hi") as stream:
            await anext(stream)
            await asyncio.sleep(60)

    async def main() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(endless)) as client:
            model = local("http://provider.test", http_client=client)
            await abandon(model)
            await asyncio.sleep(0)
            gc.collect()
            before = len(gc.get_objects())
            for _ in range(ABANDONED // 100):
                await asyncio.gather(*[abandon(model) for _ in range(50)])
                tasks = [asyncio.create_task(hang(model)) for _ in range(50)]
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0.01)
            assert 0 == Counted.open
            assert grown(before) < KEPT

    asyncio.run(main())


def test_watches_of_finished_streams_are_forgotten() -> None:
    """The thread that keeps deadlines holds nothing of a stream that is over."""
    import weakref

    with LocalServer(Answer(HELLO + END)) as server, local(server.url, timeouts=Timeouts(idle=60)) as model:
        stream = model.stream("Hi")
        list(stream)
        held = weakref.ref(stream)
        del stream
        gc.collect()
        assert None is held()
