"""Unmodified SDKs take a cut stream for a whole one; through the guard they raise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from guarded_bodies import Body, guard_error
from guarded_sdks import SDKS, Sdk
from loopback import serving

from plait.errors import IncompleteStreamError
from plait.guard import AsyncGuardTransport, GuardTransport

Source = Literal["mock", "chunked", "close-delimited"]
SOURCES: tuple[Source, ...] = ("mock", "chunked", "close-delimited")

SDK = pytest.mark.parametrize("sdk", [pytest.param(sdk, id=name) for name, sdk in SDKS.items()])
SOURCE = pytest.mark.parametrize("source", SOURCES)


async def asynchronous(frames: tuple[bytes, ...]) -> AsyncIterator[bytes]:
    """The frames, one by one."""
    for frame in frames:
        yield frame


@contextmanager
def server(sdk: Sdk, body: Body, frames: tuple[bytes, ...], source: Source) -> Iterator[tuple[str, Any]]:
    """Where the SDK sends its request, and the mock transport to send it with (None: the real one)."""
    if source != "mock":
        with serving(frames, body.content_type, source) as base:
            yield base, None
        return

    class Mock(sdk.library.BaseTransport, sdk.library.AsyncBaseTransport):  # type: ignore[name-defined,misc]
        def handle_request(self, request: Any) -> Any:
            return self.response(iter(frames))

        async def handle_async_request(self, request: Any) -> Any:
            return self.response(asynchronous(frames))

        def response(self, content: Any) -> Any:
            return sdk.library.Response(200, headers={"content-type": body.content_type}, content=content)

    yield "http://llm.test", Mock()


def run(sdk: Sdk, frames: tuple[bytes, ...], source: Source, *, guarded: bool) -> list[str]:
    """What the SDK gives for these frames."""
    with server(sdk, sdk.body, frames, source) as (base, mock):
        inner = mock or sdk.library.HTTPTransport()
        return list(sdk.stream(sdk.library, base, GuardTransport(inner) if guarded else inner))


def run_async(sdk: Sdk, frames: tuple[bytes, ...], source: Source, *, guarded: bool) -> list[str]:
    """The same with the asynchronous client."""

    async def collect(base: str, mock: Any) -> list[str]:
        inner = mock or sdk.library.AsyncHTTPTransport()
        transport = AsyncGuardTransport(inner) if guarded else inner
        return [event async for event in sdk.astream(sdk.library, base, transport)]

    with server(sdk, sdk.body, frames, source) as (base, mock):
        return asyncio.run(collect(base, mock))


RUN = pytest.mark.parametrize("run_sdk", [pytest.param(run, id="sync"), pytest.param(run_async, id="async")])


@SDK
@RUN
@SOURCE
def test_sdk_alone_takes_half_an_answer(sdk: Sdk, run_sdk: Any, source: Source) -> None:
    """Without the guard a stream that ends cleanly before its terminal event is a normal return."""
    half = sdk.body.frames[: sdk.body.cut]
    events = run_sdk(sdk, half, source, guarded=False)
    assert "Half" in "".join(events)
    assert events == run_sdk(sdk, sdk.body.frames, source, guarded=False)[: len(events)]


@SDK
@RUN
@SOURCE
def test_guarded_sdk_raises(sdk: Sdk, run_sdk: Any, source: Source) -> None:
    """With it, the SDK raises: what it raises for a failed transport, with Plait's error as the cause."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # each SDK has a class of its own
        run_sdk(sdk, sdk.body.frames[: sdk.body.cut], source, guarded=True)
    error = guard_error(caught.value)
    assert isinstance(error, sdk.library.RemoteProtocolError)
    assert sdk.body.wire == error.wire
    assert len(sdk.body.half) == error.bytes_read
    assert error.partial_message is not None
    assert sdk.body.text == error.partial_message.text
    assert error.last_event is not None


@SDK
@RUN
@SOURCE
def test_whole_answer_is_the_same(sdk: Sdk, run_sdk: Any, source: Source) -> None:
    """A complete stream gives, through the guard, exactly what the SDK gives without it."""
    frames = sdk.body.frames
    expected = run_sdk(sdk, frames, source, guarded=False)
    assert expected
    assert all(json.loads(event) for event in expected)
    assert expected == run_sdk(sdk, frames, source, guarded=True)


@SDK
@RUN
@pytest.mark.parametrize("source", ["chunked", "close-delimited"])
def test_each_event_arrives_before_the_error(sdk: Sdk, run_sdk: Any, source: Source) -> None:
    """The events that the SDK reads of a cut stream are delivered before it raises."""
    seen: list[str] = []
    half = sdk.body.frames[: sdk.body.cut]
    with server(sdk, sdk.body, half, source) as (base, _mock):
        if run_sdk is run:
            with pytest.raises(Exception) as caught:  # noqa: PT011
                seen.extend(sdk.stream(sdk.library, base, GuardTransport()))
        else:

            async def collect() -> None:
                async for event in sdk.astream(sdk.library, base, AsyncGuardTransport()):
                    seen.append(event)

            with pytest.raises(Exception) as caught:  # noqa: PT011
                asyncio.run(collect())
    assert isinstance(guard_error(caught.value), IncompleteStreamError)
    assert run_sdk(sdk, half, source, guarded=False) == seen
