"""Every recorded stream through the guard: whole it passes byte for byte, and none that is cut passes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import httpx2
import pytest

import plait
from plait.conformance.frames import Ending, ending
from plait.errors import IncompleteStreamError, ProviderError
from plait.guard import AsyncGuardTransport, GuardTransport
from plait.wire.guessing import guess_wire
from recordings import Recording, recordings

CHUNKS = (137, 4096)
"""Sizes of the chunks that a body is sent in."""

CUTS = 25
"""Cuts of each recording at random places before its terminal event, beside those next to it."""

ALL = pytest.mark.parametrize(
    "recording",
    [recording for wire in plait.WIRES for recording in recordings(wire)],
    ids=lambda recording: recording.id,
)


def chunks(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


def content_type(body: bytes) -> str:
    """As the server of such a body sends it."""
    if body[:1] == b"\0":
        return "application/vnd.amazon.eventstream"
    return "application/json" if body.lstrip()[:1] in (b"[", b"{") else "text/event-stream"


def guard_options(recording: Recording) -> dict[str, Any]:
    """Nothing where the URL tells the wire, as it nearly always does."""
    return {} if guess_wire(recording.url, b"") == recording.wire else {"wire": recording.wire}


Got = tuple[list[bytes], IncompleteStreamError | None]
"""The raw chunks that a guarded client gets, and what is raised at their end."""


def take(library: Any, recording: Recording, body: bytes, size: int) -> Got:
    """What a client of this library gets when these bytes are sent in chunks of this size."""

    def answer(request: Any) -> Any:
        headers = {"content-type": content_type(recording.body())}
        return library.Response(200, headers=headers, content=iter(chunks(body, size)))

    transport: Any = GuardTransport(library.MockTransport(answer), **guard_options(recording))
    got: list[bytes] = []
    with library.Client(transport=transport) as client:
        try:
            with client.stream("POST", recording.url, json={"stream": True}) as response:
                assert type(response.stream._stream).__module__.startswith("plait.guard")
                for chunk in response.iter_raw():
                    got.append(chunk)
        except IncompleteStreamError as error:
            return got, error
    return got, None


async def take_async(recording: Recording, size: int) -> Got:
    """The same for an asynchronous client, of the whole body."""

    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks(recording.body(), size):
            yield chunk

    async def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": content_type(recording.body())}
        return httpx2.Response(200, headers=headers, content=body())

    transport = AsyncGuardTransport(httpx2.MockTransport(answer), **guard_options(recording))
    got: list[bytes] = []
    async with httpx2.AsyncClient(transport=transport) as client:
        try:
            async with client.stream("POST", recording.url) as response:
                async for chunk in response.aiter_raw():
                    got.append(chunk)
        except IncompleteStreamError as error:
            return got, error
    return got, None


def check_end(end: Ending, error: BaseException | None) -> None:
    """A body with a terminal event ends without an error, one with an error frame in its place with that."""
    if end.complete is not None:
        assert error is None
    else:
        assert error is not None
        assert isinstance(error.__cause__, ProviderError)


@ALL
def test_stream_passes(recording: Recording) -> None:
    """A recorded stream passes in its own bytes and chunks; it raises only if an error frame ends it."""
    body = recording.body()
    end = ending(recording.wire, body)
    for library in (httpx, httpx2):
        for size in CHUNKS:
            got, error = take(library, recording, body, size)
            assert chunks(body, size) == got
            check_end(end, error)


@ALL
def test_stream_passes_asynchronously(recording: Recording) -> None:
    """The same for an asynchronous client."""
    got, error = asyncio.run(take_async(recording, 997))
    assert chunks(recording.body(), 997) == got
    check_end(ending(recording.wire, recording.body()), error)


def cuts(size: int) -> Iterator[int]:
    """Where to cut what comes before the terminal event is complete: random places, and just before it."""
    yield from {cut for cut in (0, 1, size // 2, size - 40, size - 3, size - 2, size - 1) if 0 <= cut < size}
    yield from random.Random(size).sample(range(size), min(size, CUTS))


@ALL
def test_cut_stream_raises(recording: Recording) -> None:
    """Cut before its terminal event, a recorded stream raises, after all of its bytes were passed on.

    Where that event is, the table of the conformance kit says, not the parser.
    """
    body = recording.body()
    end = ending(recording.wire, body)
    terminal = end.complete if end.complete is not None else end.failed
    assert terminal is not None
    for cut in cuts(terminal):
        got, error = take(httpx2, recording, body[:cut], 4096)
        assert body[:cut] == b"".join(got)
        assert error is not None, f"cut at byte {cut:,}, the terminal event ends at {terminal:,}"
