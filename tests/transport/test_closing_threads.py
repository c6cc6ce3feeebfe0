"""A synchronous stream, or its model, is closed by another thread: the reader ends at once and quietly."""

from __future__ import annotations

import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asking import END, HELLO, local
from raw_server import HEAD, RawServer, Script, hold, reset, say

import plait
from local_server import HOLD, Answer, LocalServer, steps
from plait import Event, IncompleteStreamError, Model, Retries
from plait.transport import stream as driver

AGAIN = Retries(limit=5, first_wait=0.01, jitter=0)
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


WHOLE = CHUNKED + chunk(b"".join(HELLO + END)) + b"0\r\n\r\n"


class Reader(threading.Thread):
    """Reads a stream; has what came of it."""

    def __init__(self, stream: Any, how: Callable[[Any], Any] = list) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._how = how
        self.events: list[Event] = []
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self.events = self._how(self._stream)
        except BaseException as error:
            self.error = error

    def ended(self) -> bool:
        """Whether it soon has nothing more to do."""
        self.join(2)
        return not self.is_alive()


def enter(stream: Any) -> list[Event]:
    with stream as entered:
        return list(entered)


def next_alone(stream: Any) -> list[Event]:
    return [event for event in [next(stream, None)] if event is not None]


@pytest.mark.parametrize("how", [list, enter, next_alone], ids=["for", "with", "next"])
def test_a_closed_stream_makes_no_other_attempt(how: Callable[[Any], Any]) -> None:
    """The connection breaks after the close, and there are attempts left: nobody wants them any more."""
    closed = threading.Event()

    def reset_then(connection: socket.socket) -> None:
        closed.wait(5)
        reset(connection)

    with RawServer(reset_then) as server, local(server.url, retries=AGAIN) as model:
        stream = model.stream("Hi")
        reader = Reader(stream, how)
        assert server.asked.wait(5)
        stream.close()
        closed.set()
        assert reader.ended()
        assert 1 == server.connections
    assert (None, []) == (reader.error, reader.events)
    assert 1 == stream.attempts


def test_a_reset_on_a_connection_that_is_used_again() -> None:
    """The same where the second call of a connection is closed before its headers."""
    asked, closed = threading.Event(), threading.Event()

    def twice(connection: socket.socket) -> None:
        connection.sendall(WHOLE)
        connection.recv(65536)
        asked.set()
        closed.wait(5)
        reset(connection)

    with RawServer(twice) as server, local(server.url, retries=AGAIN) as model:
        list(model.stream("Hi"))
        stream = model.stream("Hi")
        reader = Reader(stream)
        assert asked.wait(5)
        stream.close()
        closed.set()
        assert reader.ended()
        assert 1 == server.connections
    assert (None, []) == (reader.error, reader.events)


PLACES: dict[str, Script] = {
    "before the headers": hold,
    "within the headers": say(HEAD, then=hold),
    "before the body": say(CHUNKED, then=hold),
    "within an error's body": say(b'HTTP/1.1 503 No\r\ncontent-length: 99\r\n\r\n{"error":', then=hold),
}


@pytest.mark.parametrize("place", PLACES)
def test_closing_ends_the_wait(place: str) -> None:
    """Whatever is waited for, the reader ends at once, without an event, an error or another attempt."""
    with RawServer(PLACES[place]) as server, local(server.url, retries=AGAIN) as model:
        stream = model.stream("Hi")
        reader = Reader(stream)
        assert server.asked.wait(5)
        time.sleep(0.05)
        stream.close()
        assert reader.ended()
        assert 1 == server.connections
    assert (None, []) == (reader.error, reader.events)


def test_closing_while_the_body_is_drained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is complete and only the end of its body missing: it stays complete."""
    monkeypatch.setattr(driver, "DRAIN_SECONDS", 30)
    finished = threading.Event()

    def read(stream: Any) -> list[Event]:
        events = []
        for event in stream:
            events.append(event)
            if isinstance(event, plait.FinishReasonDone):
                finished.set()
        return events

    script = say(CHUNKED + chunk(b"".join(HELLO + END)), then=hold)
    with RawServer(script) as server, local(server.url) as model:
        stream = model.stream("Hi")
        reader = Reader(stream, read)
        assert finished.wait(5)
        time.sleep(0.05)
        assert reader.is_alive(), "it waits for the end of the body"
        stream.close()
        assert reader.ended()
    assert None is reader.error
    assert ("Hello", "stop") == (stream.message.text, stream.message.finish_reason)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_threads")
def test_closing_at_any_moment() -> None:
    """Two hundred times: no error, no event lost before the close, no connection that stays behind."""
    answer = Answer(steps(0.001, HELLO[0], 0.001, HELLO[1], 0.001, END))
    whole = list(plait.parse([b"".join(HELLO + END)], wire="openai-chat"))
    chance = random.Random(7)
    with LocalServer(answer) as server:
        with local(server.url, retries=AGAIN) as model:
            for _ in range(200):
                stream = model.stream("Hi")
                reader = Reader(stream)
                time.sleep(chance.random() * 0.006)
                stream.close()
                assert reader.ended()
                assert None is reader.error
                assert whole[: len(reader.events)] == reader.events
        assert server.wait_for(lambda server: server.open == 0)


def test_closing_the_model() -> None:
    """A stream that another thread reads breaks, rather than wait for the end of its time."""
    with LocalServer(Answer(steps(HELLO, HOLD))) as server:
        model = local(server.url)
        came = threading.Event()

        def read(stream: Any) -> list[Event]:
            for event in stream:
                if isinstance(event, plait.TextDelta) and event.content == "lo":
                    came.set()
            return []

        reader = Reader(model.stream("Hi"), read)
        assert came.wait(5)
        model.close()
        assert reader.ended()
        assert server.wait_for(lambda server: server.open == 0)
    assert isinstance(reader.error, IncompleteStreamError)
    assert reader.error.partial_message is not None
    assert "Hello" == reader.error.partial_message.text


def test_closing_a_model_that_nobody_uses() -> None:
    """It is no error, however often."""
    model = Model("mock/any")
    model.close()
    assert "hey" == model.generate("hey").text
    model.close()
    model.close()
