"""The two drivers of a call: one sends and receives in this thread, one in this event loop.

All decisions are `Call`'s. A stream is an iterator of events and a context manager; whichever way it is left,
its connection is released.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError
from plait.events import Event, TokenUsage
from plait.transport.call import MAX_ERROR_BODY, Call
from plait.transport.clients import abort, can_abort, faults
from plait.transport.failures import failure_of
from plait.transport.response import ResponseInfo
from plait.transport.watch import Watch, watch_in_loop, watch_in_thread

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

DRAIN_SECONDS = 0.02
"""How long the end of a complete answer's body is waited for, so that its connection can be used again."""

_DRAIN_READS = 8


class _Answer:
    """What both kinds of stream tell of the answer."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._ready: Iterator[Event] = iter(())
        self._response: Any = None
        self._body: Any = None
        self._whole = False
        self._closed = False
        self._released = False
        self._raised = False

    @property
    def message(self) -> AssistantMessage:
        """What has been read so far; its `finish_reason` is None until the answer is complete."""
        return self._call.parser.message

    @property
    def usage(self) -> TokenUsage | None:
        """What the provider reported; None while, or when, it did not."""
        return self.message.token_usage

    @property
    def response(self) -> ResponseInfo | None:
        """Status, request id and headers of the response; None until one came."""
        return self._call.response

    @property
    def unknown(self) -> Counter[str]:
        """What was seen and not understood, with counts."""
        return self._call.parser.unknown

    @property
    def attempts(self) -> int:
        """How many times the request was sent."""
        return self._call.attempts

    def __repr__(self) -> str:
        asked = self._call.question
        return f"<{type(self).__name__} {asked.provider}/{asked.model}: {self._call.state}>"

    def _request(self, client: Any, signed: Mapping[str, str]) -> Any:
        """The request of this attempt."""
        asked, call = self._call.question, self._call
        connect = call.timeouts.connect
        return client.build_request(
            "POST",
            asked.url,
            headers={**asked.headers, **signed},
            content=asked.body,
            extensions={"timeout": _timeout(connect, call.time_left())},
        )

    def _began(self, request: Any, response: Any) -> bool:
        """A response began; whether its body is an answer."""
        self._response = response
        # From here on the watch is the clock; this one only helps where a read cannot be interrupted.
        limits = (self._call.timeouts.first_event, self._call.timeouts.idle)
        request.extensions["timeout"]["read"] = None if None in limits else max(limits)  # type: ignore[type-var]
        return self._call.responded(response.status_code, response.headers)

    def _to_raise(self) -> PlaitError | None:
        """The error that ends the iteration: once."""
        error, self._raised = (None if self._raised or self._closed else self._call.error), True
        return error


def _timeout(connect: float | None, read: float | None) -> dict[str, float | None]:
    return {"connect": connect, "read": read, "write": connect, "pool": connect}


class Stream(_Answer):
    """The events of one answer, as they come: an iterator and a context manager.

    Iterating raises, after the last event that came, what went wrong: see `Model.stream`. Leaving the loop or
    the `with` block, `close()` (from any thread), or dropping it ends the request and frees its connection.
    """

    def __init__(self, call: Call, client: Callable[[], Any], sign: Callable[[], Mapping[str, str]]) -> None:
        super().__init__(call)
        self._client = client
        self._sign = sign
        self._faults: tuple[type[Exception], ...] = ()
        self._watch: Watch = watch_in_thread(self._abort)
        self._reader: int | None = None
        self._lock = threading.Lock()
        self._woken = threading.Event()

    def __enter__(self) -> Stream:
        """Send the request, and wait until an answer begins."""
        self._open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> Generator[Event, None, None]:
        try:
            while True:
                yield from self._ready
                if not self._advance():
                    return
        finally:
            self.close()

    def __next__(self) -> Event:
        while True:
            for event in self._ready:
                return event
            if not self._advance():
                raise StopIteration

    def close(self) -> None:
        """End the request, if it goes on, and free its connection. Any thread may call it."""
        if self._closed or self._released:
            return
        self._closed = True
        self._ready = iter(())
        self._woken.set()
        self._call.abandon()
        if self._reader is not None and self._reader != threading.get_ident():
            self._abort()  # the thread that reads sees the end, and does the rest
        else:
            self._release()

    def __del__(self) -> None:
        if not getattr(self, "_released", True):
            with suppress(Exception):
                self.close()

    # Driving the call

    def _open(self) -> None:
        """Go on until an answer begins, or all attempts have failed."""
        try:
            while self._call.state == "waiting" and not self._closed:
                self._attempt()
        except BaseException as error:
            self._fail(error)
            raise
        if self._call.state == "ended" and (fault := self._to_raise()) is not None:
            self._release()
            raise fault

    def _advance(self) -> bool:
        """Read until there are events; False at the end."""
        call = self._call
        try:
            call.wait_begins()
            while call.state != "ended":
                if call.state == "waiting":
                    self._attempt()
                else:
                    events = self._read()
                    if events:
                        self._ready = iter(events)
                        return True
        except BaseException as error:
            self._fail(error)
            raise
        if not self._released:
            self._drain()
            self._release()
        if (fault := self._to_raise()) is not None:
            raise fault
        return False

    def _read(self) -> list[Event]:
        call, watch = self._call, self._watch
        failure = None
        chunk: bytes | None = None
        self._reader = threading.get_ident()
        watch.start(call.until)
        try:
            chunk = next(self._body, None)
        except self._faults as fault:
            failure = failure_of(fault)
        watch.until = inf
        self._reader = None
        if self._closed:
            self._release()
            return []
        if watch.fired:
            return call.timed_out()
        if failure is not None:
            return call.broke(failure)
        if chunk is None:
            self._whole = True
            return call.over()
        events = call.received(chunk)
        return call.timed_out() if not events and call.late else events

    def _attempt(self) -> None:
        call = self._call
        self._end_response()
        if call.wait:
            self._woken.wait(call.wait)
            if self._closed:
                return
        self._watch.fired = False
        call.begin()
        signed = self._sign()
        client = self._client()
        self._faults = faults(client)
        failure = None
        try:
            request = self._request(client, signed)
            response = client.send(request, stream=True, follow_redirects=False)
        except self._faults as fault:
            failure = failure_of(fault)
        if failure is not None:
            call.broke(failure)
            return
        answers = self._began(request, response)
        self._body = iter(response.stream)
        if self._closed:
            self._release()
        elif not answers:
            call.refused(self._error_body())
            self._end_response()

    def _error_body(self) -> bytes:
        found = bytearray()
        self._watch.start(self._call.until)
        with suppress(*self._faults):
            for chunk in self._body:
                found += chunk
                if len(found) > MAX_ERROR_BODY or self._watch.fired:
                    break
        self._watch.stop()
        self._watch.fired = False
        return bytes(found[:MAX_ERROR_BODY])

    # Ends

    def _drain(self) -> None:
        """Read the end of a body whose answer is complete, if it comes at once: the connection lives on."""
        if self._whole or self._call.error is not None or self._body is None or not can_abort(self._response):
            return
        self._watch.start(self._call.now() + DRAIN_SECONDS)
        with suppress(*self._faults):
            for _ in range(_DRAIN_READS):
                if next(self._body, None) is None:
                    break
        self._watch.stop()

    def _abort(self) -> None:
        with self._lock:
            if self._response is not None:
                abort(self._response)

    def _fail(self, error: BaseException) -> None:
        """Something else than the answer went wrong: a hook, an interrupt."""
        self._reader = None
        self._call.abandon(error)
        self._release()

    def _release(self) -> None:
        self._released = True
        self._watch.end()
        self._end_response()

    def _end_response(self) -> None:
        with self._lock:  # from here on its connection may be another's
            response, self._response = self._response, None
        self._body, body = None, self._body
        if response is not None:
            response.close()
        if (end := getattr(body, "close", None)) is not None:
            with suppress(ValueError, *self._faults):  # "generator already executing", in another thread
                end()


class AsyncStream(_Answer):
    """As `Stream`, for `async with` and `async for`. `aclose()` may be called from any task."""

    def __init__(
        self,
        call: Call,
        client: Callable[[], Awaitable[Any]],
        sign: Callable[[], Awaitable[Mapping[str, str]]],
    ) -> None:
        super().__init__(call)
        self._client = client
        self._sign = sign
        self._faults: tuple[type[Exception], ...] = ()
        self._watch: Watch | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled_before = 0
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
        self._call.abandon()
        if self._task is not None and self._task is not asyncio.current_task():
            self._gone = asyncio.Event()
            self._interrupt()  # the task that reads sees why, and does the rest
            await self._gone.wait()
        else:
            await self._release()

    def __del__(self) -> None:
        if getattr(self, "_released", True) or self._response is None or self._loop is None:
            return
        self._call.abandon()
        response, self._response = self._response, None
        body, self._body = self._body, None
        with suppress(RuntimeError):  # the loop is closed: its connections are, too
            self._loop.call_soon_threadsafe(_close_later, self._loop, response, body)

    # Driving the call

    def _begin(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._watch = watch_in_loop(self._interrupt)

    async def _open(self) -> None:
        self._begin()
        try:
            while self._call.state == "waiting" and not self._closed:
                await self._attempt()
        except BaseException as error:
            await self._fail(error)
            raise
        if self._call.state == "ended" and (fault := self._to_raise()) is not None:
            await self._release()
            raise fault

    async def _advance(self) -> bool:
        """Read until there are events; False at the end."""
        call = self._call
        try:
            call.wait_begins()
            while call.state != "ended":
                if call.state == "waiting":
                    self._begin()
                    await self._attempt()
                else:
                    events = await self._read()
                    if events:
                        self._ready = iter(events)
                        return True
        except BaseException as error:
            await self._fail(error)
            raise
        if not self._released:
            await self._drain()
            await self._release()
        if (fault := self._to_raise()) is not None:
            raise fault
        return False

    async def _read(self) -> list[Event]:
        call, watch = self._call, self._watch
        assert watch is not None
        failure = None
        chunk: bytes | None = None
        self._task = asyncio.current_task()
        watch.start(call.until)
        try:
            chunk = await self._body.__anext__()
        except StopAsyncIteration:
            self._whole = True
        except self._faults as fault:
            failure = failure_of(fault)
        except asyncio.CancelledError:
            if not self._is_ours():
                raise
        watch.until = inf
        self._task = None
        if self._closed:
            await self._release()
            return []
        if watch.fired:
            return call.timed_out()
        if failure is not None:
            return call.broke(failure)
        if chunk is None:
            return call.over()
        events = call.received(chunk)
        return call.timed_out() if not events and call.late else events

    async def _attempt(self) -> None:
        self._task = asyncio.current_task()
        try:
            await self._send()
        except asyncio.CancelledError:
            if not self._is_ours():
                raise
        self._task = None
        if self._closed:
            await self._release()

    async def _send(self) -> None:
        call = self._call
        await self._end_response()
        if call.wait:
            await asyncio.sleep(call.wait)
        assert self._watch is not None
        self._watch.fired = False
        call.begin()
        failure = None
        response: Any = None
        try:
            async with asyncio.timeout(call.time_left()) as limit:
                signed = await self._sign()
                client = await self._client()
                self._faults = faults(client)
                request = self._request(client, signed)
                response = await client.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            if not limit.expired():
                raise
        except self._faults as fault:
            failure = failure_of(fault)
        if response is None:
            if failure is not None:
                call.broke(failure)
            else:
                call.timed_out()
            return
        answers = self._began(request, response)
        self._body = aiter(response.stream)
        if not answers:
            call.refused(await self._error_body())
            await self._end_response()

    def _is_ours(self) -> bool:
        """Whether a cancellation is ours (the watch or `aclose` asked for it), and nobody else's as well."""
        watch, task = self._watch, self._task
        ours = self._closed or (watch is not None and watch.fired)
        return ours and task is not None and task.uncancel() <= self._cancelled_before

    async def _error_body(self) -> bytes:
        found = bytearray()
        with suppress(TimeoutError, *self._faults):
            async with asyncio.timeout(self._call.time_left()):
                async for chunk in self._body:
                    found += chunk
                    if len(found) > MAX_ERROR_BODY:
                        break
        return bytes(found[:MAX_ERROR_BODY])

    # Ends

    async def _drain(self) -> None:
        """As `Stream._drain`."""
        if self._whole or self._call.error is not None or self._body is None or not can_abort(self._response):
            return
        with suppress(TimeoutError, *self._faults):
            async with asyncio.timeout(DRAIN_SECONDS):
                for _ in range(_DRAIN_READS):
                    if await anext(self._body, None) is None:
                        break

    def _interrupt(self) -> None:
        if self._task is not None:
            self._cancelled_before = self._task.cancelling()
            self._task.cancel()

    async def _fail(self, error: BaseException) -> None:
        """Something else than the answer went wrong: a hook, a cancelled task."""
        self._task = None
        self._call.abandon(error)
        await self._release()

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
            await _close(response, body)


async def _close(response: Any, body: Any) -> None:
    # The response first: its generators then have nothing left to wait for.
    try:
        await response.aclose()
    finally:
        if (end := getattr(body, "aclose", None)) is not None:
            with suppress(RuntimeError):  # "asynchronous generator is already running", in another task
                await end()


_closing: set[asyncio.Task[None]] = set()


def _close_later(loop: asyncio.AbstractEventLoop, response: Any, body: Any) -> None:
    """In the loop: free the connection of a stream that nobody holds any more."""
    task = loop.create_task(_close(response, body))
    _closing.add(task)  # the loop itself holds its tasks only weakly
    task.add_done_callback(_closing.discard)
