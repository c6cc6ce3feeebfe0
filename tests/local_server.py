"""A server on this machine that answers by a script: given chunks, pauses, resets, wrong lengths."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

RESET = "reset"
"""The connection is reset."""

HOLD = "hold"
"""Nothing more comes; the connection stays open until the client leaves."""

Step: TypeAlias = bytes | float | str
"""Bytes are sent as one chunk, a number is a pause in seconds."""


@dataclass(frozen=True)
class Answer:
    """What is sent for one request.

    `framing`: HTTP chunks, a body that the end of the connection ends, or one of a declared length (of its
    bytes, unless `length` says otherwise). With `cut` a chunked body ends without its last chunk.
    """

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    framing: Literal["chunked", "close", "length"] = "chunked"
    length: int | None = None
    cut: bool = False
    encoding: str | None = None


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    line: str
    headers: Mapping[str, str]
    body: bytes


class LocalServer:
    """Serves while its `with` block runs. The nth request gets the nth answer, further ones the last."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[Received] = []
        self.connections = 0
        self.open = 0
        self.left = 0
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> LocalServer:
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)
        assert not self._thread.is_alive()

    def wait_for(self, condition: Callable[[LocalServer], bool], seconds: float = 5.0) -> bool:
        """Whether the condition came true in time."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self), seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        await asyncio.sleep(0)  # one that was just accepted would be lost if the server were closed first
        server.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._tasks:  # not all of them have begun, and are among these
                task.cancel()
            await asyncio.wait(others, timeout=0.01)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._count(connections=1, open=1)
        try:
            while await self._one_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()
            self._count(open=-1)

    def _count(self, **changes: int) -> None:
        with self._changed:
            for name, change in changes.items():
                setattr(self, name, getattr(self, name) + change)
            self._changed.notify_all()

    async def _one_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection may be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        with self._changed:
            self.requests.append(Received(head[0], headers, body))
            answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
            self._changed.notify_all()
        writer.write(_head(answer))
        for step in answer.steps:
            if step == RESET:
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            if step == HOLD:
                await reader.read(1)
                self._count(left=1)
                return False
            if isinstance(step, bytes):
                writer.write(_framed(answer, _encoded(answer, step)))
                await writer.drain()
            else:
                await asyncio.sleep(float(step))
        if answer.framing == "chunked" and not answer.cut:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        if answer.framing == "close" or answer.cut or answer.length is not None:
            writer.close()
            await writer.wait_closed()
            return False
        return True


def _encoded(answer: Answer, step: bytes) -> bytes:
    return gzip.compress(step, mtime=0) if answer.encoding == "gzip" else step


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.framing == "chunked":
        lines.append("transfer-encoding: chunked")
    elif answer.framing == "close":
        lines.append("connection: close")
    else:
        sent = sum(len(_encoded(answer, step)) for step in answer.steps if isinstance(step, bytes))
        lines.append(f"content-length: {answer.length if answer.length is not None else sent}")
    if answer.encoding:
        lines.append(f"content-encoding: {answer.encoding}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _framed(answer: Answer, data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if answer.framing == "chunked" else data


def pieces(body: bytes, size: int) -> tuple[bytes, ...]:
    """The body in chunks of this size."""
    return tuple(body[start : start + size] for start in range(0, len(body), size))


def steps(*parts: Step | Iterable[Step]) -> tuple[Step, ...]:
    """Steps, and sequences of them, as one sequence."""
    found: list[Step] = []
    for part in parts:
        if isinstance(part, bytes | str | float):
            found.append(part)
        else:
            found.extend(part)
    return tuple(found)
