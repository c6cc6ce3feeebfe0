"""HTTP clients: the caller's own, never closed here, or ours.

`httpx` and `httpx2` have the same interface; which of them a client belongs to is seen from its class.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from plait.errors import ConfigurationError

USER_AGENT_HEADER = "user-agent"


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
    """What the library of this client raises when an exchange breaks."""
    names = [cls.__module__.partition(".")[0] for cls in type(client).__mro__]
    library = import_module(next((name for name in names if name in ("httpx", "httpx2")), "httpx"))
    return (library.RequestError, library.InvalidURL, library.StreamError, OSError)


def check_client(client: Any) -> None:
    """Refuse what is no HTTP client.

    Raises:
        ConfigurationError: it has no `build_request` and `send`
    """
    if not callable(getattr(client, "send", None)) or not callable(getattr(client, "build_request", None)):
        raise ConfigurationError(
            f"http_client: expected a Client or AsyncClient of httpx or httpx2, got {type(client).__name__}"
        )


def abort(response: Any) -> bool:
    """End a response's connection under a read that is going on in it. Whether that could be done.

    Only of HTTP/1: in HTTP/2 other responses share the connection.
    """
    stream = response.extensions.get("network_stream")
    if stream is None or not response.http_version.startswith("HTTP/1"):
        return False
    found = stream.get_extra_info("socket")
    if found is None:
        return False
    with suppress(OSError):
        # Not the method of an SSL socket: that one takes the encryption from under the read.
        socket.socket.shutdown(found, socket.SHUT_RDWR)
    return True


def can_abort(response: Any) -> bool:
    """Whether `abort` would find a connection."""
    stream = response.extensions.get("network_stream")
    return (
        stream is not None
        and response.http_version.startswith("HTTP/1")
        and stream.get_extra_info("socket") is not None
    )


class OwnClients:
    """The clients of one model: one for all threads, and one for each event loop, made when first needed."""

    def __init__(self, transport: Callable[[], Any] | None) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._sync: Any = None
        self._async: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = (
            WeakKeyDictionary()
        )

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
        with self._lock:
            if self._sync is None:
                import httpx

                self._sync = httpx.Client(**self._settings())
            return self._sync

    async def running(self) -> Any:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        found = self._async.get(loop)
        if found is None or found[0].is_closed:
            import httpx

            client = httpx.AsyncClient(**self._settings())
            keeper = _close_with_loop(client)
            found = self._async[loop] = (client, keeper)  # before any other task has its turn
            await anext(keeper)
        return found[0]

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the synchronous client."""
        with self._lock:
            client, self._sync = self._sync, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the clients of the running loop, and the synchronous one."""
        self.close()
        found = self._async.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[1].aclose()


async def _close_with_loop(client: Any) -> AsyncGenerator[None]:
    """Closes a client when the event loop shuts its generators down, as `asyncio.run` does at its end.

    Else the loop would be closed before the connections that the client keeps open.
    """
    try:
        yield
    finally:
        await client.aclose()
