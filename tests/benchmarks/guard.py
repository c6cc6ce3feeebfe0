"""What the guard costs: `python -m tests.benchmarks.guard`.

The same responses, one event per chunk, are taken from a transport and from that transport guarded. Prints
microseconds of CPU per event: what guarding adds, what parsing alone takes, and the difference, which is the
guard's own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator

import httpx

import plait
from plait.guard import AsyncGuardTransport, GuardTransport

from .streams import WIRES, Kind, Stream, stream
from .timing import best_of

ROUNDS = 40
KINDS: tuple[Kind, ...] = ("text", "tool")
TARGET = 3.0

URLS = {
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "anthropic-messages": "https://api.anthropic.com/v1/messages",
}
_HEADERS = {"content-type": "text/event-stream; charset=utf-8"}


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives one event at a time."""

    def __init__(self, events: tuple[bytes, ...]) -> None:
        self.events = events

    def __iter__(self) -> Iterator[bytes]:
        yield from self.events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self.events:
            yield event


class _Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    def __init__(self, source: Stream) -> None:
        self.source = source

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=_HEADERS, stream=_Body(self.source.events))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def _taking(transport: httpx.BaseTransport, request: httpx.Request) -> Callable[[], None]:
    def take() -> None:
        for _chunk in transport.handle_request(request).iter_raw():
            pass

    return take


def _taking_async(
    loop: asyncio.AbstractEventLoop, transport: httpx.AsyncBaseTransport, request: httpx.Request
) -> Callable[[], None]:
    async def take() -> None:
        async for _chunk in (await transport.handle_async_request(request)).aiter_raw():
            pass

    return lambda: loop.run_until_complete(take())


def _parsing(source: Stream) -> Callable[[], None]:
    def parse() -> None:
        feed = plait.parser(source.wire).feed
        for event in source.events:
            feed(event)

    return parse


def measure(wire: str, kind: Kind, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds per event: what guarding adds, `sync` and `async`, and what `parsing` alone takes."""
    source = stream(wire, kind)
    request = httpx.Request("POST", URLS[wire], json={"stream": True})
    transport = _Transport(source)
    loop = asyncio.new_event_loop()
    try:
        best = best_of(
            {
                "plain": _taking(transport, request),
                "guarded": _taking(GuardTransport(transport), request),
                "plain async": _taking_async(loop, transport, request),
                "guarded async": _taking_async(loop, AsyncGuardTransport(transport), request),
                "parsing": _parsing(source),
            },
            rounds,
        )
    finally:
        loop.close()
    each = {name: seconds / len(source.events) * 1e6 for name, seconds in best.items()}
    return {
        "sync": each["guarded"] - each["plain"],
        "async": each["guarded async"] - each["plain async"],
        "parsing": each["parsing"],
    }


def main(arguments: list[str]) -> None:
    """Measure and print; an argument is the number of rounds."""
    rounds = int(arguments[0]) if arguments else ROUNDS
    print(f"us of CPU per event (target: guarding adds less than {TARGET})")
    print(f"{'':<28}{'sync':>8}{'async':>8}{'parsing':>9}{'own':>8}{'own, async':>12}")
    for wire in WIRES:
        for kind in KINDS:
            found = measure(wire, kind, rounds)
            own, own_async = (found[name] - found["parsing"] for name in ("sync", "async"))
            print(
                f"{wire + ' ' + kind:<28}{found['sync']:>8.2f}{found['async']:>8.2f}{found['parsing']:>9.2f}"
                f"{own:>8.2f}{own_async:>12.2f}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
