"""Servers that are slow before the first event: the limits hold for every step, the same in both modes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import repeat
from typing import Any

import pytest
from asking import ask, both_modes, local
from raw_server import HEAD, RawServer, drip, hold, say

import plait
from plait import RequestTimeoutError, Retries, Timeouts

LIMIT = 0.25
LONGER = 0.5
"""Where something has to come in time before."""

SOON = 1.2
"""Seconds within which a limit must have been noticed, on a machine that is busy as well."""

HINTS = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
REFUSED = b"HTTP/1.1 503 No\r\ncontent-length: 1000\r\n\r\n"

ANSWERS = {
    "no headers": hold,
    "headers that drip": say(HEAD, then=drip(repeat(b"x-more: yes\r\n"), 0.03)),
    "hints without end": drip(repeat(HINTS), 0.03),
    "no body": say(HEAD + b"connection: close\r\n\r\n", then=hold),
}


@contextmanager
def unreachable() -> Iterator[str]:
    """A server that takes no connections: its queue is full."""
    with ExitStack() as held, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def unread() -> Iterator[str]:
    """A server that takes connections, and nothing from them."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listening.bind(("127.0.0.1", 0))
        listening.listen(5)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def slow(name: str) -> Iterator[tuple[str, str]]:
    """The address of a server that is slow in this way, and what to send to it."""
    if name == "no connection":
        with unreachable() as url:
            yield url, "Hi"
    elif name == "nothing is read":
        with unread() as url:
            yield url, "x" * 8_000_000
    else:
        with RawServer(ANSWERS[name]) as server:
            yield server.url, "Hi"


def failed(mode: str, url: str, prompt: str, **limits: Any) -> tuple[RequestTimeoutError, float]:
    """The error of one call, and the seconds it took."""
    began = time.monotonic()
    answered = ask(mode, local(url, timeouts=Timeouts(**limits)), prompt)
    took = time.monotonic() - began
    assert isinstance(answered.error, RequestTimeoutError), answered.error
    assert [] == answered.events
    return answered.error, took


@both_modes
@pytest.mark.parametrize("limit", ["first_event", "total"])
@pytest.mark.parametrize("name", ["no connection", "nothing is read", *ANSWERS])
def test_each_step_is_bounded(name: str, limit: str, mode: str) -> None:
    """The time for the first event, or for the whole, is up, however long a step alone might take."""
    with slow(name) as (url, prompt):
        error, took = failed(mode, url, prompt, connect=10, **{limit: LIMIT})
    assert (limit.replace("_", " "), LIMIT) == (error.phase, error.seconds)
    assert LIMIT <= took < SOON


@both_modes
@pytest.mark.parametrize(("name", "phase"), [("no connection", "connect"), ("nothing is read", "write")])
def test_the_limit_of_a_step(name: str, phase: str, mode: str) -> None:
    """A connection, and each write, has a limit of its own."""
    with slow(name) as (url, prompt):
        error, took = failed(mode, url, prompt, connect=LIMIT)
    assert (phase, LIMIT) == (error.phase, error.seconds)
    assert LIMIT <= took < SOON


@both_modes
@pytest.mark.parametrize("limit", ["first_event", "total"])
@pytest.mark.parametrize("pause", [None, 0.03], ids=["silent", "dripping"])
def test_the_body_of_an_error(pause: float | None, limit: str, mode: str) -> None:
    """It is not waited for any longer; the status says what class the error has."""
    script = say(REFUSED, then=hold if pause is None else drip(repeat(b" "), pause))
    with RawServer(script) as server:
        began = time.monotonic()
        answered = ask(mode, local(server.url, timeouts=Timeouts(**{limit: LONGER})))
        took = time.monotonic() - began
    assert isinstance(answered.error, plait.OverloadedError), answered.error
    assert LONGER <= took < SOON


@both_modes
def test_the_total_spans_slow_attempts(mode: str) -> None:
    """Each attempt has its time for a first event; all of them, and the waits, have one total."""
    retries = Retries(limit=9, first_wait=0.01, longest_wait=0.01, jitter=0)
    with RawServer(hold) as server:
        began = time.monotonic()
        timeouts = Timeouts(first_event=0.2, total=0.5)
        answered = ask(mode, local(server.url, timeouts=timeouts, retries=retries))
        took = time.monotonic() - began
    assert answered.attempts in (2, 3)
    assert isinstance(answered.error, RequestTimeoutError)
    assert "total" == answered.error.phase
    assert 0.5 <= took < 0.5 + SOON
