"""The guarded streams and their error, as classes of `httpx`. Imported when a request of `httpx` comes."""

from __future__ import annotations

import httpx

from plait import errors
from plait.guard import streams

ByteStream = httpx.ByteStream
HTTPTransport = httpx.HTTPTransport
AsyncHTTPTransport = httpx.AsyncHTTPTransport
Response = httpx.Response


class IncompleteStreamError(errors.IncompleteStreamError, httpx.RemoteProtocolError):
    """The body ended before the wire's terminal event: Plait's error, and a transport failure of `httpx`."""


class GuardedStream(streams.GuardedStream, httpx.SyncByteStream):
    """A watched body of a synchronous response."""

    incomplete = IncompleteStreamError


class AsyncGuardedStream(streams.AsyncGuardedStream, httpx.AsyncByteStream):
    """A watched body of an asynchronous response."""

    incomplete = IncompleteStreamError
