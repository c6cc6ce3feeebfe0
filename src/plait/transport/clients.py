"""HTTP clients: the caller's own, never closed here, or ours.

`httpx` and `httpx2` have the same interface; which of them a client belongs to is seen from its class.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol
from weakref import WeakSet, ref

from plait.errors import ConfigurationError


class HTTPClient(Protocol):
    """What is used of `httpx.Client`, `httpx.AsyncClient` and their like in `httpx2`."""

    @property
    def build_request(self) -> Callable[..., Any]:
        """Makes a request."""
        ...

    @property
    def send(self) -> Callable[..., Any]:
        """Sends it; of an asynchronous client a coroutine function."""
        ...


def is_async(client: Any) -> bool:
    """Whether a client is an asynchronous one."""
    return inspect.iscoroutinefunction(client.send)


def faults(client: Any) -> tuple[type[Exception], ...]:
    """What is raised when an exchange breaks, or cannot be begun.

    A `HTTPStatusError` is raised by hooks of the caller's client; it holds the response.

    Raises:
        ConfigurationError: the client is closed
    """
    if getattr(client, "is_closed", False):
        raise ConfigurationError("http_client is closed: pass an open one")
    names = [cls.__module__.partition(".")[0] for cls in type(client).__mro__]
    library = import_module(next((name for name in names if name in ("httpx", "httpx2")), "httpx"))
    return (
        library.RequestError, library.HTTPStatusError, library.InvalidURL, library.StreamError,
        OSError, UnicodeError,
    )  # fmt: skip


def check_client(client: Any) -> None:
    """Refuse what is no HTTP client.

    Raises:
        ConfigurationError: it has no `build_request` and `send`
    """
    if not callable(getattr(client, "send", None)) or not callable(getattr(client, "build_request", None)):
        raise ConfigurationError(
            f"http_client: expected a Client or AsyncClient of httpx or httpx2, got {type(client).__name__}"
        )


def network_stream(response: Any) -> Any:
    """The connection of a response, when it has that to itself; in HTTP/2 other responses share it."""
    stream = response.extensions.get("network_stream")
    return stream if stream is not None and response.http_version.startswith("HTTP/1") else None


def is_open(response: Any) -> bool:
    """Whether a response has a socket to itself, so that `abort` can end a read that goes on in it."""
    return _socket(network_stream(response)) is not None


def abort(stream: Any) -> None:
    """End a connection under a read, or write, that goes on in it; nothing when it has no socket."""
    found = _socket(stream)
    if found is not None:
        with suppress(OSError):
            # Not the method of an SSL socket: that one takes the encryption from under the read.
            socket.socket.shutdown(found, socket.SHUT_RDWR)


def _socket(stream: Any) -> Any:
    return stream.get_extra_info("socket") if stream is not None else None


async def free_orphans(client: Any) -> None:
    """Close the connections in a client's pool that no request has.

    httpcore 1.0 leaves one there when a task is cancelled just as it is given a connection it waited for, or
    once more while it closes one: it is neither open for the next request nor closed, and counts against the
    pool's size for ever. There is no public way to see that; another pool than httpcore's is left alone.
    """
    transports = [getattr(client, "_transport", None), *getattr(client, "_mounts", {}).values()]
    for transport in transports:
        pool: Any = getattr(transport, "_pool", None)
        if type(pool).__module__.partition(".")[0] != "httpcore":
            continue
        with suppress(AttributeError):  # another version
            held = {id(request.connection) for request in pool._requests}
            orphans = [
                connection
                for connection in pool._connections
                if id(connection) not in held and not connection.is_idle() and not connection.is_closed()
            ]
            if orphans:
                pool._connections = [other for other in pool._connections if other not in orphans]
                closing = pool._assign_requests_to_connections()  # one that waits may have a place now
                await pool._close_connections([*orphans, *closing])


class OwnClients:
    """The clients of one model: one for all threads, and one for each event loop, made when first needed."""

    def __init__(self, transport: Callable[[], Any] | None) -> None:
        self._transport = transport
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._sync: Any = None
        self._streams: WeakSet[Any] = WeakSet()
        self._async: dict[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None, None]]] = {}

    def _settings(self) -> dict[str, Any]:
        import httpx

        made = self._transport() if self._transport is not None else None
        return {
            "timeout": None,
            "limits": httpx.Limits(max_connections=None, max_keepalive_connections=100),
            **({"transport": made} if made is not None else {}),
        }

    def sync(self) -> Any:
        """The synchronous client."""
        self._after_fork()
        with self._lock:
            if self._sync is None:
                import httpx

                self._sync = httpx.Client(**self._settings())
            return self._sync

    def reads(self, stream: Any) -> None:
        """A synchronous stream uses the client: `close` ends it first."""
        self._after_fork()
        with self._lock:
            self._streams.add(stream)

    async def running(self) -> Any:
        """The client of the running event loop."""
        self._after_fork()
        loop = asyncio.get_running_loop()
        found = self._async.get(loop)
        if found is None or found[0].is_closed:
            import httpx

            for other in [other for other in self._async if other.is_closed()]:
                del self._async[other]
            client = httpx.AsyncClient(**self._settings())
            keeper = _close_with_loop(client, ref(self), loop)
            found = self._async[loop] = (client, keeper)  # before any other task has its turn
            await anext(keeper)
        return found[0]

    def forget(self, loop: asyncio.AbstractEventLoop, client: Any) -> None:
        """This client of this loop is closed."""
        if loop in self._async and self._async[loop][0] is client:
            del self._async[loop]

    def _after_fork(self) -> None:
        """A forked process must not use its parent's connections: the answers would cross."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = threading.Lock()  # another thread may have held it
            _inherited.append((self._sync, self._async))  # not closed: that is the parent's to do
            self._sync, self._async, self._streams = None, {}, WeakSet()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """End the synchronous streams that go on, and close their client."""
        self._after_fork()
        with self._lock:
            client, self._sync = self._sync, None
            streams, self._streams = [*self._streams], WeakSet()
        for stream in streams:
            stream.cut()
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the client of the running loop, and the synchronous one."""
        self.close()
        found = self._async.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[1].aclose()


_inherited: list[Any] = []
"""Clients of the process that this one was forked from; dropping them would warn of open sockets."""


async def _close_with_loop(
    client: Any, owner: ref[OwnClients], loop: asyncio.AbstractEventLoop
) -> AsyncGenerator[None, None]:
    """Closes a client when the event loop shuts its generators down, as `asyncio.run` does at its end.

    Else the loop would be closed before the connections that the client keeps open.
    """
    try:
        yield
    finally:
        if (clients := owner()) is not None:
            clients.forget(loop, client)
        await client.aclose()
