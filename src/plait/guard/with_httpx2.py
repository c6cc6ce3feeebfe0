"""The guarded streams and their error, as classes of `httpx2`. Imported when a request of `httpx2` comes."""

from __future__ import annotations

import httpx2

from plait import errors
from plait.guard import streams

ByteStream = httpx2.ByteStream
HTTPTransport = httpx2.HTTPTransport
AsyncHTTPTransport = httpx2.AsyncHTTPTransport
Response = httpx2.Response


class IncompleteStreamError(errors.IncompleteStreamError, httpx2.RemoteProtocolError):
    """The body ended before the wire's terminal event: Plait's error, and a transport failure of `httpx2`."""


class GuardedStream(streams.GuardedStream, httpx2.SyncByteStream):
    """A watched body of a synchronous response."""

    incomplete = IncompleteStreamError


class AsyncGuardedStream(streams.AsyncGuardedStream, httpx2.AsyncByteStream):
    """A watched body of an asynchronous response."""

    incomplete = IncompleteStreamError
