"""One request through a guarded client of either library, over a transport whose bodies are watched, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import httpx2
import pytest

from plait.errors import IncompleteStreamError
from plait.guard import AsyncGuardTransport, GuardTransport

LIBRARIES = {"httpx": httpx, "httpx2": httpx2}
LIBRARY = pytest.mark.parametrize(
    "library", [pytest.param(value, id=key) for key, value in LIBRARIES.items()]
)


@dataclass
class Inner:
    """A transport of either library, sync and async, that gives one response.

    Attributes:
        library: `httpx` or `httpx2`
        chunks: the body; an exception in it is raised in its place
        response: the response that was given
        closed: how often its body was closed
        taken: how many chunks were asked for
        entered: how often it was entered and not closed
    """

    library: Any
    chunks: Sequence[bytes | BaseException]
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    status: int = 200
    response: Any = None
    closed: int = 0
    taken: int = 0
    entered: int = 0

    def _answer(self) -> Any:
        self.response = self.library.Response(self.status, headers=self.headers, stream=_body(self))
        return self.response

    def handle_request(self, request: Any) -> Any:
        """The response."""
        return self._answer()

    async def handle_async_request(self, request: Any) -> Any:
        """The response."""
        return self._answer()

    def close(self) -> None:
        """Note it."""
        self.entered -= 1

    async def aclose(self) -> None:
        """Note it."""
        self.entered -= 1

    def __enter__(self) -> Inner:
        self.entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Inner:
        self.entered += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _body(inner: Inner) -> Any:
    class Stream(inner.library.SyncByteStream, inner.library.AsyncByteStream):  # type: ignore[name-defined,misc]
        def __iter__(self) -> Iterator[bytes]:
            for chunk in inner.chunks:
                inner.taken += 1
                if isinstance(chunk, BaseException):
                    raise chunk
                yield chunk

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in inner.chunks:
                inner.taken += 1
                if isinstance(chunk, BaseException):
                    raise chunk
                yield chunk

        def close(self) -> None:
            inner.closed += 1

        async def aclose(self) -> None:
            inner.closed += 1

    return Stream()


@dataclass
class Outcome:
    """What a client got.

    Attributes:
        chunks: the raw body as it came
        error: what was raised at its end
    """

    chunks: list[bytes] = field(default_factory=list)
    error: BaseException | None = None

    @property
    def body(self) -> bytes:
        """The raw body."""
        return b"".join(self.chunks)

    @property
    def incomplete(self) -> IncompleteStreamError:
        """The error, which is the guard's."""
        assert isinstance(self.error, IncompleteStreamError), repr(self.error)
        return self.error


Get = Callable[..., Outcome]


def get(inner: Inner, url: str, *, wire: Any = None, asked: Any = None) -> Outcome:
    """The body of a POST through a guarded client, as it came."""
    transport: Any = GuardTransport(inner, wire=wire)  # type: ignore[arg-type]
    outcome = Outcome()
    with inner.library.Client(transport=transport) as client:
        try:
            with client.stream("POST", url, **({"json": asked} if asked is not None else {})) as response:
                for chunk in response.iter_raw():
                    outcome.chunks.append(chunk)
        except Exception as error:
            outcome.error = error
    return outcome


def get_async(inner: Inner, url: str, *, wire: Any = None, asked: Any = None) -> Outcome:
    """The same with an asynchronous client."""
    transport: Any = AsyncGuardTransport(inner, wire=wire)  # type: ignore[arg-type]
    outcome = Outcome()

    async def send() -> None:
        async with inner.library.AsyncClient(transport=transport) as client:
            try:
                sent = {"json": asked} if asked is not None else {}
                async with client.stream("POST", url, **sent) as response:
                    async for chunk in response.aiter_raw():
                        outcome.chunks.append(chunk)
            except Exception as error:
                outcome.error = error

    asyncio.run(send())
    return outcome


GET = pytest.mark.parametrize("get_body", [pytest.param(get, id="sync"), pytest.param(get_async, id="async")])
