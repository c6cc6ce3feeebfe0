"""Many streams at once on one core: Plait's `Model` beside a bare loop over `httpx`'s bytes.

A server in a process of its own plays a Chat Completions stream to each of 1,000 connections: one event a
write, all at one pace, each from a moment of its own. The client is one process with one event loop. It
counts the CPU that it used from before the first request until the last stream ended, opening connections
included. The pace does not matter as long as the client keeps up with it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from .streams import stream

STREAMS = 1_000
EVENTS = 300
PACE = 0.1
ROUNDS = 3
TARGET = 1.15
WIRE = "openai-chat"

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Load:
    """What one way to read cost.

    Attributes:
        name: the way
        streams: how many at once
        events: how many events were read in all
        microseconds: CPU per event
        ratio: times that of the bare loop
        events_per_second: what one core could read: events by CPU time
        bytes_each: growth of the process's memory, by stream
    """

    name: str
    streams: int
    events: int
    microseconds: float
    ratio: float
    events_per_second: float
    bytes_each: float


def load(
    streams: int = STREAMS, events: int = EVENTS, pace: float = PACE, rounds: int = ROUNDS
) -> list[Load]:
    """Both ways, in turn; of each the round that took the least CPU."""
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe()
    server = context.Process(target=_serve, args=(ours, events, pace), daemon=True)
    server.start()
    try:
        port = theirs.recv()
        found: dict[str, list[tuple[float, int, float]]] = {name: [] for name in _WAYS}
        for _ in range(rounds):
            for name in _WAYS:
                there, here = context.Pipe()
                client = context.Process(target=_measure, args=(here, name, port, streams), daemon=True)
                client.start()
                found[name].append(there.recv())
                client.join()
    finally:
        server.terminate()
    best = {name: min(measured) for name, measured in found.items()}
    base = best[BARE][0] / best[BARE][1]
    return [
        Load(
            name=name,
            streams=streams,
            events=read,
            microseconds=cpu / read * 1e6,
            ratio=cpu / read / base,
            events_per_second=read / cpu,
            bytes_each=memory / streams,
        )
        for name, (cpu, read, memory) in best.items()
    ]


def _serve(ready: Connection, events: int, pace: float) -> None:
    source = stream(WIRE, deltas=events)
    frames = [b"%x\r\n%b\r\n" % (len(event), event) for event in source.events]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(_HEAD)
        await asyncio.sleep(random.random() * pace)
        for frame in frames:
            writer.write(frame)
            await asyncio.sleep(pace)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> None:
        _allow_sockets()
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
        ready.send(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(main())


def _measure(result: Connection, name: str, port: int, streams: int) -> None:
    import httpx

    _allow_sockets()
    url = f"http://127.0.0.1:{port}"
    way = _WAYS[name]

    async def main() -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(limits=limits, timeout=None) as client:
            read = way(client, url)
            await read()  # whatever is loaded and made once
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            start = time.process_time()
            counts = await asyncio.gather(*[read() for _ in range(streams)])
            cpu = time.process_time() - start
            memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        result.send((cpu, sum(counts), memory))

    asyncio.run(main())


def _bare(client: Any, url: str) -> Callable[[], Awaitable[int]]:
    async def read() -> int:
        count = 0
        async with client.stream("POST", url, content=b"{}") as response:
            async for _chunk in response.aiter_bytes():
                count += 1
        return count

    return read


def _plait(client: Any, url: str) -> Callable[[], Awaitable[int]]:
    import plait

    model = plait.Model("openai-compatible/m", base_url=url, http_client=client)

    async def read() -> int:
        count = 0
        async with model.astream("Hi") as answer:
            async for _event in answer:
                count += 1
        assert answer.message.finish_reason == "stop"
        return count

    return read


BARE = "httpx, bytes alone"
_WAYS: dict[str, Callable[[Any, str], Callable[[], Awaitable[int]]]] = {BARE: _bare, "plait.Model": _plait}


def _allow_sockets() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(8192, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    for row in load(*map(int, sys.argv[1:3])):
        print(row)
