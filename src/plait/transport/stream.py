"""The synchronous driver of a call: it sends and receives in the caller's thread. `Call` decides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any
from weakref import ref

from plait.events import Event
from plait.transport.answer import DRAIN_READS, DRAIN_SECONDS, Answer
from plait.transport.call import MAX_ERROR_BODY, Call
from plait.transport.clients import abort, faults, is_open, network_stream
from plait.transport.failures import failure_of
from plait.transport.watch import Watch, watch_in_thread


class Stream(Answer):
    """The events of one answer, as they come: an iterator and a context manager.

    Iterating raises, after the last event that came, what went wrong: see `Model.stream`. Leaving the loop or
    the `with` block, `close()` (from any thread), or dropping it ends the request and frees its connection.
    """

    # One thread drives it at a time, and holds `_driving` while it does: only then may a connection be given
    # back. Another thread that closes the stream shuts the connection down, which ends the read that goes on.
    __slots__ = ("_client", "_connecting", "_driving", "_lock", "_sign", "_watch", "_woken")

    def __init__(self, call: Call, client: Callable[[], Any], sign: Callable[[], Mapping[str, str]]) -> None:
        super().__init__(call)
        self._client = client
        self._sign = sign
        self._watch: Watch = watch_in_thread(self._abort)
        self._connecting: Any = None
        self._driving = threading.Lock()
        self._lock = threading.Lock()
        self._woken = threading.Event()

    def __enter__(self) -> Stream:
        """Send the request, and wait until an answer begins."""
        self._drive(self._open)
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> Generator[Event, None, None]:
        try:
            while True:
                yield from self._ready
                if not self._drive(self._advance):
                    return
        finally:
            self.close()

    def __next__(self) -> Event:
        while True:
            for event in self._ready:
                return event
            if not self._drive(self._advance):
                raise StopIteration

    def close(self) -> None:
        """End the request, if it goes on, and free its connection. Any thread may call it."""
        with self._lock:
            if self._closed or self._released:
                return
            self._closed = True
        self._ready = iter(())
        self._woken.set()
        try:
            self._call.abandon()
        finally:
            self._abort()
            self._settle()

    def cut(self) -> None:
        """End its connection: the model is closed. Whoever reads it hears that the answer is incomplete."""
        self._abort()

    def __del__(self) -> None:
        if not getattr(self, "_released", True):
            with suppress(Exception):
                self.close()

    # Driving the call

    def _drive(self, step: Callable[[], bool]) -> bool:
        """Take a step of the call. Whether there are events to hand out; else it is over."""
        going_on = False
        with self._driving:
            try:
                going_on = not self._released and step()
            except BaseException as error:
                self._call.abandon(error)
                self._release()
                if isinstance(error, StopIteration):
                    raise RuntimeError("a callback raised StopIteration") from error
                raise
            else:
                if not going_on and not self._released:
                    self._drain()
                    self._release()
        if self._closed:
            self._settle()
        if not going_on and (fault := self._to_raise()) is not None:
            raise fault
        return going_on

    def _settle(self) -> None:
        """Give the connection of a closed stream back, unless a thread drives it: then that one does."""
        if not self._released and self._driving.acquire(blocking=False):
            try:
                self._release()
            finally:
                self._driving.release()

    def _open(self) -> bool:
        """Go on until an answer begins, or all attempts have failed."""
        while self._call.state == "waiting" and not self._closed:
            self._attempt()
        return self._call.state == "reading"

    def _advance(self) -> bool:
        """Read until there are events, or until the end."""
        call, watch = self._call, self._watch
        call.wait_begins()
        while not self._closed:
            if call.state == "reading":
                watch.start(call.until)
                try:
                    chunk = next(self._body)
                except self._stops as problem:
                    watch.until = inf
                    events = self._stopped(problem)
                else:
                    watch.until = inf
                    events = call.received(chunk)
                    if not events and call.late:
                        events = call.timed_out()
                if events:
                    self._ready = iter(events)
                    return True
            elif call.state == "waiting":
                self._attempt()
            else:
                break
        return False

    def _stopped(self, problem: BaseException) -> list[Event]:
        """There are no more chunks: the body ended, or broke, or was interrupted."""
        if self._closed:
            return []
        if self._watch.fired:
            return self._call.timed_out()
        if isinstance(problem, StopIteration):
            self._whole = True
            return self._call.over()
        assert isinstance(problem, Exception)
        return self._call.broke(failure_of(problem))

    def _attempt(self) -> None:
        call, watch = self._call, self._watch
        self._end_response()
        if call.wait and self._woken.wait(call.wait):
            return
        watch.fired = self._whole = False
        call.begin()
        signed = self._sign()
        client = self._client()
        self._faults = faults(client)
        self._stops = (StopIteration, *self._faults)
        response = failure = content = None
        watch.start(call.until)
        try:
            request = self._request(client, signed, trace=partial(_note_connection, ref(self)))
            response = client.send(request, stream=True, follow_redirects=False)
        except self._faults as fault:
            response, failure = getattr(fault, "response", None), failure_of(fault)
        watch.until = inf
        if response is None:
            self._connecting = None
            if watch.fired:
                call.timed_out()
            elif failure is not None and not self._closed:
                call.broke(failure)
            return
        content = self._began(response)
        self._connecting = None
        self._body = iter(response.stream) if content is None else iter((content,))
        if not call.responded(response.status_code, response.headers, decoded=content is not None):
            call.refused(self._error_body())
            self._end_response()

    def _error_body(self) -> bytes:
        found = bytearray()
        self._watch.start(self._call.until)
        with suppress(*self._faults):
            for chunk in self._body:
                found += chunk
                if len(found) > MAX_ERROR_BODY or self._watch.fired or self._closed:
                    break
        self._watch.until = inf
        self._watch.fired = False
        return bytes(found[:MAX_ERROR_BODY])

    # Ends

    def _drain(self) -> None:
        """Read the end of a body whose answer is complete, if it comes at once: the connection lives on."""
        call, response = self._call, self._response
        if self._whole or self._closed or call.error is not None or response is None or not is_open(response):
            return
        self._watch.start(call.now() + DRAIN_SECONDS)
        with suppress(*self._faults):
            for _ in range(DRAIN_READS):
                if next(self._body, None) is None:
                    break
        self._watch.until = inf

    def _abort(self) -> None:
        """Shut the connection down, which ends what waits for it, in whichever thread."""
        with self._lock:
            if self._response is not None:
                abort(network_stream(self._response))
            elif self._connecting is not None:
                abort(self._connecting)

    def _connected(self, stream: Any) -> None:
        with self._lock:
            self._connecting = stream
        if self._closed or self._watch.fired:
            self._abort()

    def _release(self) -> None:
        self._released = True
        self._watch.end()
        self._end_response()

    def _end_response(self) -> None:
        with self._lock:  # from here on its connection may be another's
            response, self._response = self._response, None
            self._connecting = None
        self._body, body = None, self._body
        if response is not None:
            response.close()
        if (end := getattr(body, "close", None)) is not None:
            end()


def _note_connection(stream: ref[Stream], name: str, info: Mapping[str, Any]) -> None:
    """What httpcore tells of a request: a connection was made for it.

    It is the only way to reach a connection before its response. One that is used again is not told of.
    """
    if name in _CONNECTED and (held := stream()) is not None:
        held._connected(info.get("return_value"))


_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
