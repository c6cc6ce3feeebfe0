"""The asynchronous driver of a call: it sends and receives in the event loop. All decisions are `Call`'s."""

from __future__ import annotations

import asyncio
from asyncio import current_task
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import inf
from typing import Any, NoReturn

import anyio

from plait.events import Event
from plait.transport.answer import DRAIN_READS, DRAIN_SECONDS, Answer
from plait.transport.call import MAX_ERROR_BODY, Call
from plait.transport.clients import faults, free_orphans, is_open
from plait.transport.failures import failure_of
from plait.transport.watch import Watch, watch_in_loop


class AsyncStream(Answer):
    """As `Stream`, for `async with` and `async for`. `aclose()` may be called from any task."""

    # A wait is ended from outside in one of two ways: a read of the body by cancelling the task that waits,
    # which costs nothing while all is well; anything else by the scope it is in. HTTP libraries leave
    # connections behind when a task is cancelled while it connects or closes: those have own tasks.
    __slots__ = (
        "_cancelled_before", "_client", "_gone", "_interrupted", "_loop", "_scope", "_sign", "_task", "_used",
        "_watch",
    )  # fmt: skip

    def __init__(
        self,
        call: Call,
        client: Callable[[], Awaitable[Any]],
        sign: Callable[[], Awaitable[Mapping[str, str]]],
    ) -> None:
        super().__init__(call)
        self._client = client
        self._sign = sign
        self._used: Any = None
        self._watch: Watch | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scope: anyio.CancelScope | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled_before = 0
        self._interrupted = False
        self._gone: asyncio.Event | None = None

    async def __aenter__(self) -> AsyncStream:
        """Send the request, and wait until an answer begins."""
        await self._open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        try:
            while True:
                for event in self._ready:
                    yield event
                if not await self._advance():
                    return
        finally:
            await self.aclose()

    async def __anext__(self) -> Event:
        while True:
            for event in self._ready:
                return event
            if not await self._advance():
                raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the request, if it goes on, and free its connection. Any task may call it."""
        if self._closed or self._released:
            return
        self._closed = True
        self._ready = iter(())
        try:
            self._call.abandon()
        finally:
            if self._scope is None and self._task in (None, current_task()):
                await self._release()
            else:
                self._gone = asyncio.Event()
                self._interrupt()  # the task that waits sees why, and does the rest
                await self._gone.wait()

    def __del__(self) -> None:
        if getattr(self, "_released", True) or self._response is None or self._loop is None:
            return
        self._call.abandon()
        response, self._response = self._response, None
        body, self._body = self._body, None
        with suppress(RuntimeError):  # the loop is closed: its connections are, too
            self._loop.call_soon_threadsafe(_closing_task, self._loop, response, body, self._used)

    # Driving the call

    def _begin(self) -> Watch:
        self._loop = asyncio.get_running_loop()
        self._watch = watch = watch_in_loop(self._interrupt)
        return watch

    async def _open(self) -> None:
        """Go on until an answer begins, or all attempts have failed."""
        if self._watch is None:
            self._begin()
        try:
            while self._call.state == "waiting" and not self._closed:
                await self._attempt()
        except BaseException as error:
            await self._fail(error)
        if self._call.state == "ended":
            await self._end()

    async def _advance(self) -> bool:
        """Read until there are events; False at the end."""
        call = self._call
        watch = self._watch or self._begin()
        try:
            call.wait_begins()
            while not self._closed:
                if call.state == "reading":
                    self._task = task = current_task()
                    self._cancelled_before = task.cancelling()  # type: ignore[union-attr]  # it runs in one
                    watch.start(call.until)
                    try:
                        chunk = await self._body.__anext__()
                    except self._stops as problem:
                        watch.until = inf
                        events = self._stopped(problem)
                    else:
                        watch.until = inf
                        self._task = None
                        events = call.received(chunk)
                        if not events and call.late:
                            events = call.timed_out()
                    if events:
                        self._ready = iter(events)
                        return True
                elif call.state == "waiting":
                    await self._attempt()
                else:
                    break
        except BaseException as error:
            await self._fail(error)
        await self._end()
        return False

    async def _fail(self, error: BaseException) -> NoReturn:
        """Something else than the answer went wrong: a callback, a cancelled task."""
        self._task = None
        self._call.abandon(error)
        await self._release()
        if isinstance(error, StopAsyncIteration | StopIteration):
            raise RuntimeError(f"a callback raised {type(error).__name__}") from error
        raise error

    async def _end(self) -> None:
        """The call is over: free the connection, and raise what is to be raised."""
        if not self._released:
            try:
                await self._drain()
            finally:
                await self._release()
        if (fault := self._to_raise()) is not None:
            raise fault

    def _stopped(self, problem: BaseException) -> list[Event]:
        """There are no more chunks: the body ended, or broke, or was interrupted."""
        task, self._task = self._task, None
        interrupted, self._interrupted = self._interrupted, False
        if isinstance(problem, asyncio.CancelledError) and not (
            # Ours, and nobody else's at the same time.
            interrupted and task is not None and task.uncancel() <= self._cancelled_before
        ):
            raise problem
        if self._closed:
            return []
        if self._watch is not None and self._watch.fired:
            return self._call.timed_out()
        if isinstance(problem, StopAsyncIteration):
            self._whole = True
            return self._call.over()
        if isinstance(problem, Exception):
            return self._call.broke(failure_of(problem))
        raise problem

    def _interrupt(self) -> None:
        """End the wait that goes on."""
        if self._scope is not None:
            self._scope.cancel()
        elif self._task is not None and self._task.cancelling() <= self._cancelled_before:
            self._interrupted = True  # else somebody else has cancelled it: that ends the wait as well
            self._task.cancel()

    @contextmanager
    def _within(self, seconds: float | None) -> Iterator[None]:
        """A wait that may last so long, and that `_interrupt` ends."""
        deadline = inf if seconds is None else anyio.current_time() + seconds
        with anyio.CancelScope(deadline=deadline) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self._scope = None

    async def _attempt(self) -> None:
        call, watch = self._call, self._watch
        assert watch is not None
        await self._end_response()
        if call.wait:
            with self._within(None):
                await anyio.sleep(call.wait)
        if self._closed:
            return
        watch.fired = self._whole = False
        call.begin()
        response = failure = None
        try:
            response = await self._sent()
        except self._faults as fault:
            response, failure = getattr(fault, "response", None), failure_of(fault)
        if response is None:
            if failure is not None:
                call.broke(failure)
            else:
                call.timed_out()
            return
        content = self._began(response)
        self._body = aiter(response.stream) if content is None else _once(content)
        if not call.responded(response.status_code, response.headers, decoded=content is not None):
            call.refused(await self._error_body())
            await self._end_response()

    async def _sent(self) -> Any:
        """The response; None when it did not come in time, or nobody waits for it any more."""
        left = self._call.time_left()
        scope = anyio.CancelScope(deadline=inf if left is None else anyio.current_time() + left)
        self._scope = scope
        task = asyncio.get_running_loop().create_task(self._send(scope))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            scope.cancel()
            task.add_done_callback(_drop)
            raise
        finally:
            self._scope = None

    async def _send(self, scope: anyio.CancelScope) -> Any:
        with scope:
            signed = await self._sign()
            client = self._used = await self._client()
            self._faults = faults(client)
            self._stops = (StopAsyncIteration, asyncio.CancelledError, *self._faults)
            return await client.send(self._request(client, signed), stream=True, follow_redirects=False)
        if self._used is not None:
            await free_orphans(self._used)

    async def _error_body(self) -> bytes:
        found = bytearray()
        with self._within(self._call.time_left()), suppress(*self._faults):
            async for chunk in self._body:
                found += chunk
                if len(found) > MAX_ERROR_BODY:
                    break
        return bytes(found[:MAX_ERROR_BODY])

    # Ends

    async def _drain(self) -> None:
        """Read the end of a body whose answer is complete, if it comes at once: the connection lives on."""
        call, response = self._call, self._response
        if self._whole or self._closed or call.error is not None or response is None or not is_open(response):
            return
        with self._within(DRAIN_SECONDS), suppress(*self._faults):
            for _ in range(DRAIN_READS):
                if await anext(self._body, None) is None:
                    self._whole = True
                    break

    async def _release(self) -> None:
        self._released = True
        if self._watch is not None:
            self._watch.end()
        try:
            await self._end_response()
        finally:
            if self._gone is not None:
                self._gone.set()

    async def _end_response(self) -> None:
        response, self._response = self._response, None
        body, self._body = self._body, None
        if response is not None:
            loop, used = asyncio.get_running_loop(), None if self._whole else self._used
            await asyncio.shield(_closing_task(loop, response, body, used))


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _close(response: Any, body: Any, client: Any) -> None:
    # The response first: its generators then have nothing left to wait for.
    with suppress(Exception):
        await response.aclose()
    if (end := getattr(body, "aclose", None)) is not None:
        with suppress(Exception):
            await end()
    if client is not None:
        await free_orphans(client)


_tasks: set[asyncio.Task[None]] = set()
"""Connections that are being freed; an event loop holds its tasks only weakly."""


def _closing_task(
    loop: asyncio.AbstractEventLoop, response: Any, body: Any, client: Any
) -> asyncio.Task[None]:
    task = loop.create_task(_close(response, body, client))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task


def _drop(task: asyncio.Task[Any]) -> None:
    """A response that came when nobody waited for it any more."""
    if not task.cancelled() and task.exception() is None and task.result() is not None:
        _closing_task(task.get_loop(), task.result(), None, None)
