"""Tasks that are cancelled: the cancellation wins, wherever it comes, and leaves no connection behind."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from asking import END, HELLO, local
from raw_server import RawServer, hold

from local_server import HOLD, Answer, LocalServer, steps
from plait import Event, Retries, Retry, Timeouts

SLOW_AGAIN = Retries(limit=3, first_wait=30, longest_wait=30, jitter=0)
SILENT = Answer(steps(b": ping\n\n", HOLD))
ENDLESS = Answer(steps(HELLO, HOLD))


async def read(stream: Any) -> list[Event]:
    return [event async for event in stream]


async def cancelled(task: asyncio.Task[Any]) -> bool:
    """Whether the task soon ends by its cancellation."""
    await asyncio.wait([task], timeout=2)
    return task.cancelled()


@pytest.mark.parametrize("how", ["cancel", "timeout"])
@pytest.mark.parametrize("generating", [False, True], ids=["astream", "agenerate"])
def test_during_the_wait_for_the_next_attempt(generating: bool, how: str) -> None:
    """After an attempt whose first event did not come in time, too."""

    async def main() -> None:
        waiting, limit = asyncio.Event(), asyncio.timeout(5)

        def note(retry: Retry) -> None:
            waiting.set()
            if how == "timeout":
                limit.reschedule(asyncio.get_running_loop().time() + 0.05)

        async with local(
            server.url, retries=SLOW_AGAIN, timeouts=Timeouts(first_event=0.1), on_retry=note
        ) as model:

            async def ask() -> None:
                if generating:
                    await model.agenerate("Hi")
                else:
                    await read(model.astream("Hi"))

            if how == "timeout":
                start = time.monotonic()
                with pytest.raises(TimeoutError) as caught:
                    async with limit:
                        await ask()
                assert TimeoutError is caught.type
                assert time.monotonic() - start < 2
            else:
                task = asyncio.create_task(ask())
                await asyncio.wait_for(waiting.wait(), 2)
                await asyncio.sleep(0.05)
                task.cancel()
                assert await cancelled(task)
            assert waiting.is_set()
        assert await asyncio.to_thread(server.wait_for, lambda server: server.open == 0)
        assert 1 == len(server.requests)

    with LocalServer(SILENT) as server:
        asyncio.run(main())


@pytest.mark.parametrize("first", ["cancel", "aclose"])
@pytest.mark.parametrize("place", ["within the body", "before the headers"])
def test_a_cancellation_and_a_close_at_once(place: str, first: str) -> None:
    """Another task closes the stream in the same turn of the loop: the task is cancelled all the same."""

    async def main() -> None:
        async with local(server.url) as model:
            stream = model.astream("Hi")
            task = asyncio.create_task(read(stream))
            await asyncio.sleep(0.1)
            if first == "cancel":
                task.cancel()
                await stream.aclose()
            else:
                closing = asyncio.create_task(stream.aclose())
                await asyncio.sleep(0)
                task.cancel()
                await closing
            assert await cancelled(task)
            assert 1 == task.cancelling()

    with LocalServer(ENDLESS) if place == "within the body" else RawServer(hold) as server:
        asyncio.run(main())


@pytest.mark.parametrize("later", [-0.1, 0.1], ids=["cancelled first", "timed out first"])
def test_a_cancellation_and_the_end_of_the_idle_time_at_once(later: float) -> None:
    """A loop that was busy finds both due in the same turn: the task is cancelled."""
    idle = 0.4

    async def main() -> None:
        async with local(server.url, timeouts=Timeouts(idle=idle)) as model:
            stream = model.astream("Hi")
            task = asyncio.create_task(read(stream))
            while stream.message.text != "Hello":
                await asyncio.sleep(0.01)
            asyncio.get_running_loop().call_later(idle + later, task.cancel)
            time.sleep(idle + 0.3)
            assert await cancelled(task)

    with LocalServer(ENDLESS) as server:
        asyncio.run(main())


def test_a_close_leaves_no_cancellation_behind() -> None:
    """The task whose read another task ended goes on, uncancelled."""

    async def close_soon(stream: Any) -> None:
        await asyncio.sleep(0.05)
        await stream.aclose()

    async def main() -> None:
        async with local(server.url) as model:
            for _ in range(3):
                stream = model.astream("Hi")
                closing = asyncio.create_task(close_soon(stream))
                await read(stream)
                await closing
                task = asyncio.current_task()
                assert task is not None
                assert 0 == task.cancelling()

    with LocalServer(ENDLESS) as server:
        asyncio.run(main())


class SlowToClose(httpx.AsyncByteStream):
    """A whole answer, or the start of one, whose closing takes a while."""

    def __init__(self, chunks: tuple[bytes, ...], endless: bool) -> None:
        self._chunks = chunks
        self._endless = endless
        self.closing = asyncio.Event()
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._endless:
            await asyncio.sleep(60)

    async def aclose(self) -> None:
        self.closing.set()
        await asyncio.sleep(0.05)
        self.closed.set()


@pytest.mark.parametrize("endless", [False, True], ids=["a whole answer", "a part of one"])
def test_closing_goes_on(endless: bool) -> None:
    """A task that is cancelled while its connection is being freed: that is done all the same."""

    async def main() -> None:
        body = SlowToClose(HELLO if endless else HELLO + END[:-1], endless)  # nothing behind its end

        def answer(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            model = local("http://provider.test", http_client=client)
            task = asyncio.create_task(read(model.astream("Hi")))
            if endless:
                await asyncio.sleep(0.05)
                task.cancel()
            await asyncio.wait_for(body.closing.wait(), 2)
            task.cancel()
            await asyncio.wait_for(body.closed.wait(), 2)
            assert await cancelled(task)

    asyncio.run(main())


def test_a_connection_that_comes_when_its_task_is_cancelled() -> None:
    """Of a pool of one: who waits for it is cancelled around the moment it is free; the next one has it."""

    async def main() -> None:
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(limits=limits) as client:
            model = local(server.url, http_client=client, timeouts=Timeouts(connect=1))
            for turns in range(12):
                first = model.astream("Hi")
                await first.__aenter__()
                waiting = asyncio.create_task(read(model.astream("Hi")))
                await asyncio.sleep(0.01)
                closing = asyncio.create_task(first.aclose())
                for _ in range(turns):
                    await asyncio.sleep(0)
                waiting.cancel()
                await closing
                assert await cancelled(waiting)
            assert 6 == len(await asyncio.wait_for(read(model.astream("Hi")), 2))

    with LocalServer(Answer(steps(HELLO, 0.02, END))) as server:
        asyncio.run(main())


MANY = 300


@pytest.mark.parametrize("end", ["cancel", "cancel twice", "aclose"])
def test_three_hundred_tasks_cancelled_at_any_moment(end: str) -> None:
    """While they connect, wait, read and close: the caller's client keeps no connection of theirs."""
    chance = random.Random(11)
    answer = Answer(steps(0.02, HELLO[0], 0.02, HELLO[1], 0.02, END))

    async def leave(stream: Any, task: asyncio.Task[Any], after: float) -> None:
        await asyncio.sleep(after)
        if end == "aclose":
            await stream.aclose()
        else:
            task.cancel()
        if end == "cancel twice":
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.done()
        if not task.cancelled():
            assert None is task.exception()

    async def main() -> None:
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=50)) as client:
            model = local(server.url, http_client=client)
            streams = [model.astream("Hi") for _ in range(MANY)]
            await asyncio.gather(
                *[
                    leave(stream, asyncio.create_task(read(stream)), chance.random() ** 2 * 0.4)
                    for stream in streams
                ]
            )
            pool = client._transport._pool  # type: ignore[attr-defined]
            for _ in range(100):
                if all(connection.is_idle() for connection in pool.connections):
                    break
                await asyncio.sleep(0.02)
            assert [] == [connection for connection in pool.connections if not connection.is_idle()]
            assert [] == pool._requests
            assert 6 == len(await read(model.astream("Hi")))  # and it can be used
        assert await asyncio.to_thread(server.wait_for, lambda server: server.open == 0)

    with LocalServer(answer) as server:
        asyncio.run(main())
