"""The transports: they decide which responses are watched, and leave all others as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from plait.content_coding import UnsupportedCodingError, decoders
from plait.guard.watching import LOGGER, Watch, known_wire, watched_wire

if TYPE_CHECKING:
    import httpx
    import httpx2

    class _Transport(httpx.BaseTransport, httpx2.BaseTransport):
        """What a client of either library takes."""

        def handle_request(self, request: Any) -> Any: ...

    class _AsyncTransport(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
        """What an asynchronous client of either library takes."""

        async def handle_async_request(self, request: Any) -> Any: ...

else:
    # At run time both libraries take any object with the methods, and SDKs refuse what derives from a class
    # of the other library.
    _Transport = _AsyncTransport = object

AnyTransport: TypeAlias = "httpx.BaseTransport | httpx2.BaseTransport"
AnyAsyncTransport: TypeAlias = "httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport"
WireChoice: TypeAlias = str | Callable[[Any], str | None] | None

_LIBRARIES = {"httpx": "plait.guard.with_httpx", "httpx2": "plait.guard.with_httpx2"}


def _library(request: Any) -> Any:
    """The module with the classes of the library that a request is of."""
    for cls in type(request).__mro__:
        module = _LIBRARIES.get(cls.__module__.partition(".")[0])
        if module is not None:
            return import_module(module)
    raise TypeError(
        f"expected a request of httpx or httpx2, got {type(request).__module__}.{type(request).__name__}"
    )


class _Watching:
    """The choice of what is watched; the same for both transports."""

    def __init__(self, wire: WireChoice) -> None:
        self._wire = known_wire(wire) if isinstance(wire, str) else wire
        self._warned: set[str] = set()

    def told(self, request: Any) -> str | None:
        """The wire format that the user says a request is answered in. Asked before the request is sent."""
        if self._wire is None or isinstance(self._wire, str):
            return self._wire
        wire = self._wire(request)
        return known_wire(wire) if wire is not None else None

    def watched(self, request: Any, response: Any, told: str | None, stream: str) -> Any:
        """The response, its body guarded by the library's class `stream` where it is to be watched."""
        wire = watched_wire(request, response, told, guess=self._wire is None)
        if wire is None:
            return response
        coding = response.headers.get("content-encoding", "")
        try:
            decoders(coding)
        except UnsupportedCodingError as problem:
            if coding not in self._warned:
                self._warned.add(coding)
                LOGGER.warning("responses of %s are not watched: %s", wire, problem)
            return response
        library = _library(request)
        if response.is_stream_consumed:
            # Mocks make responses that are read already: clients would not look at their stream again.
            if not isinstance(response.stream, library.ByteStream):
                return response
            response = library.Response(
                response.status_code,
                headers=response.headers,
                stream=response.stream,
                extensions=response.extensions,
            )
        response.stream = getattr(library, stream)(response.stream, partial(_watch, wire, coding))
        return response


def _watch(wire: str, coding: str) -> Watch:
    return Watch(wire, decoders(coding))


class GuardTransport(_Transport):
    """A transport that raises where a streamed answer ends before its wire says so. For both libraries.

    Every byte passes untouched and when it came; a response that is not watched is not touched at all.
    Watched are responses with status 200 that are streams (by content type, by URL, or because the request's
    JSON body has `"stream": true`) of a wire format that is known. A parser reads along, through gzip,
    deflate, br and zstd.

    The error is raised when the client asks for more and the body has ended, after all bytes were passed on.
    It is an `IncompleteStreamError`, with `wire`, `bytes_read` (of the decoded body), `partial_message` and
    `last_event`, and a `RemoteProtocolError` of the client's library.

    Error frames, and bytes that are not the wire format, pass like all others; most SDKs raise for them. A
    client that reads on to the end gets an `IncompleteStreamError` there, whose `__cause__` is the parser's
    `ProviderError` or `ProtocolError`: the answer is not whole. Not so where the terminal event came as well:
    before the fault, or as one that itself reports it (`response.failed`, a finish reason `error`).

    What the wrapped transport raises passes untouched. A client that closes early hears nothing.

    Args:
        transport: the transport to wrap, of the same library as the client. None makes the `HTTPTransport`
            of the library that the first request is of, with that library's defaults: a client's own settings
            (`verify`, `http2`, `limits`, `proxy`) do not reach a transport that is handed to it
        wire: the wire format of all streamed responses, one of `plait.WIRES`; or a function that takes a
            request and gives its wire format, or None to leave the response alone. By default the URL tells

    Raises:
        UnknownWireError: no such wire format
    """

    def __init__(self, transport: AnyTransport | None = None, *, wire: WireChoice = None) -> None:
        self._transport: Any = transport
        self._given = transport is not None
        self._making = Lock()
        self._watching = _Watching(wire)

    def handle_request(self, request: Any) -> Any:
        """Send the request; the response's body is guarded if it is to be watched.

        Raises:
            UnknownWireError: the function `wire` gave a name that there is not
            TypeError: the request is of neither library
        """
        told = self._watching.told(request)
        response = self._inner(request).handle_request(request)
        return self._watching.watched(request, response, told, "GuardedStream")

    def _inner(self, request: Any) -> Any:
        if self._transport is None:
            with self._making:
                if self._transport is None:
                    self._transport = _library(request).HTTPTransport()
        return self._transport

    def close(self) -> None:
        """Close the wrapped transport."""
        if self._transport is not None:
            self._transport.close()

    def __enter__(self) -> Self:
        if self._given:
            self._transport.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        if self._given:
            self._transport.__exit__(exc_type, exc_value, traceback)
        else:
            self.close()


class AsyncGuardTransport(_AsyncTransport):
    """As `GuardTransport`, for asynchronous clients."""

    def __init__(self, transport: AnyAsyncTransport | None = None, *, wire: WireChoice = None) -> None:
        self._transport: Any = transport
        self._given = transport is not None
        self._watching = _Watching(wire)

    async def handle_async_request(self, request: Any) -> Any:
        """As `GuardTransport.handle_request`."""
        told = self._watching.told(request)
        if self._transport is None:
            self._transport = _library(request).AsyncHTTPTransport()
        response = await self._transport.handle_async_request(request)
        return self._watching.watched(request, response, told, "AsyncGuardedStream")

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        if self._transport is not None:
            await self._transport.aclose()

    async def __aenter__(self) -> Self:
        if self._given:
            await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        if self._given:
            await self._transport.__aexit__(exc_type, exc_value, traceback)
        else:
            await self.aclose()
