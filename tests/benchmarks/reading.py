"""A way of reading a stream, as something that can be timed, checked and held open."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import orjson

import plait


class Reading(ABC):
    """One candidate, set up for one stream."""

    @abstractmethod
    def run(self) -> object:
        """Read the whole stream once. This is what is timed."""

    def content(self) -> str | None:
        """What a reading makes of the answer or the arguments; None when it looks for neither."""
        return None

    def hold(self, content: str) -> object:
        """What is alive once `content` has been read, the stream being open.

        Raises:
            NotImplementedError: this candidate cannot stop there
        """
        raise NotImplementedError


class Floor(Reading):
    """The least that any reader in Python does: split the lines, decode each payload to dicts."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def run(self) -> object:
        loads = orjson.loads
        for line in self._body.split(b"\n"):
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                loads(line[6:])
        return None


class Feeding(Reading):
    """Plait: chunks into `feed`, the events let go as they come."""

    def __init__(self, wire: str, chunks: Sequence[bytes]) -> None:
        self._wire = wire
        self._chunks = chunks

    def _fed(self) -> plait.Parser:
        parser = plait.parser(self._wire)
        feed = parser.feed
        for chunk in self._chunks:
            feed(chunk)
        return parser

    def run(self) -> object:
        return self._fed().close()

    def content(self) -> str:
        parser = self._fed()
        parser.close()
        message = parser.message
        return message.text + "".join(call.arguments for call in message.tool_calls)

    def hold(self, content: str) -> object:
        parser = self._fed()
        assert content == parser.message.text
        return parser


class Iteration(Reading):
    """A client whose stream is iterated; `text` is the piece of answer or arguments in an item."""

    def __init__(self, items: Callable[[], Iterable[Any]], text: Callable[[Any], str | None]) -> None:
        self._items = items
        self._text = text

    def run(self) -> object:
        return deque(self._items(), maxlen=0)

    def content(self) -> str:
        return "".join(self._text(item) or "" for item in self._items())

    def hold(self, content: str) -> object:
        stream = iter(self._items())
        missing = len(content)
        while missing > 0:
            missing -= len(self._text(next(stream)) or "")
        return stream


class AsyncIteration(Reading):
    """As `Iteration`, for a client that is asynchronous only."""

    def __init__(self, items: Callable[[], AsyncIterator[Any]], text: Callable[[Any], str | None]) -> None:
        self._items = items
        self._text = text

    def run(self) -> object:
        async def read() -> None:
            async for _item in self._items():
                pass

        return _runner().run(read())

    def content(self) -> str:
        async def read() -> str:
            return "".join([self._text(item) or "" async for item in self._items()])

        return _runner().run(read())


class Bytes(Reading):
    """A response of the mock transport, its bytes let go: what each client's figure holds besides reading."""

    def __init__(self, items: Callable[[], Iterator[bytes]]) -> None:
        self._items = items

    def run(self) -> object:
        return deque(self._items(), maxlen=0)


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()
