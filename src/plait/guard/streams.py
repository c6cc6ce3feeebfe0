"""Bodies that are passed on as they come while a parser reads along; the same for both libraries.

A chunk is yielded first and read after it, when the client asks for the next one: watching delays no byte.
Only where the inner stream ends of itself is anything raised. What it raises passes untouched, and a client
that closes early hears nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, ClassVar

from plait.errors import IncompleteStreamError
from plait.guard.watching import Watch


class GuardedStream:
    """A watched body of a synchronous response.

    Attributes:
        incomplete: the class of the error that is raised at the end of half an answer
    """

    incomplete: ClassVar[type[IncompleteStreamError]]

    def __init__(self, stream: Any, watch: Callable[[], Watch]) -> None:
        self._stream = stream
        self._watch = watch

    def __iter__(self) -> Iterator[bytes]:
        """The inner stream's chunks.

        Raises:
            IncompleteStreamError: it ended, and the wire's terminal event had not come
        """
        watch = self._watch()
        feed = watch.reading()
        for chunk in self._stream:
            yield chunk
            try:
                feed(chunk)
            except Exception as problem:
                feed = watch.give_up(problem)
        error = watch.end(self.incomplete)
        if error is not None:
            self.close()  # at its own end httpx would close it now, after an error it may not
            raise error

    def close(self) -> None:
        """Close the inner stream."""
        self._stream.close()


class AsyncGuardedStream:
    """A watched body of an asynchronous response; see `GuardedStream`."""

    incomplete: ClassVar[type[IncompleteStreamError]]

    def __init__(self, stream: Any, watch: Callable[[], Watch]) -> None:
        self._stream = stream
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The inner stream's chunks.

        Raises:
            IncompleteStreamError: it ended, and the wire's terminal event had not come
        """
        watch = self._watch()
        feed = watch.reading()
        async for chunk in self._stream:
            yield chunk
            try:
                feed(chunk)
            except Exception as problem:
                feed = watch.give_up(problem)
        error = watch.end(self.incomplete)
        if error is not None:
            await self.aclose()
            raise error

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._stream.aclose()
