"""How long an answer may take: the same limits, and the same errors, in both modes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from asking import END, HELLO, ONCE, QUICK, ask, both_modes, delta, generate, local
from checking import sse

import plait
from local_server import HOLD, Answer, LocalServer, steps
from plait import Model, RequestTimeoutError, StreamTimeoutError, Timeouts

PING = b": keep-alive\n\n"
PINGS: tuple[Any, ...] = (PING, 0.03) * 100
EMPTY: tuple[Any, ...] = (sse({"id": "c1", "choices": []}), 0.03) * 100
SOON = 3.0
"""Seconds within which every limit below must have been noticed, on a machine that is busy as well."""


def timed(mode: str, answer: Answer, timeouts: Timeouts) -> tuple[Any, float]:
    """What came of a call, and how many seconds it took."""
    with LocalServer(answer) as server:
        start = time.monotonic()
        answered = ask(mode, local(server.url, timeouts=timeouts))
        took = time.monotonic() - start
        assert server.wait_for(lambda server: server.open == 0, 5), "the connection is released"
    return answered, took


SILENT = {
    "silence": steps(HELLO, HOLD),
    "pings": steps(HELLO, PINGS, HOLD),
    "pings in pieces": steps(HELLO, (b": keep", 0.03, b"-alive\n", 0.03, b"\n", 0.03) * 50, HOLD),
    "empty chunks": steps(HELLO, EMPTY, HOLD),
}


@both_modes
@pytest.mark.parametrize("name", SILENT)
def test_idle(name: str, mode: str) -> None:
    """No event for too long ends the answer, whatever else is sent to keep the connection alive."""
    answered, took = timed(mode, Answer(SILENT[name]), Timeouts(idle=0.3))
    assert isinstance(answered.error, StreamTimeoutError), answered.error
    assert isinstance(answered.error, plait.IncompleteStreamError | TimeoutError)
    assert ("idle", 0.3) == (answered.error.phase, answered.error.seconds)
    assert "openai-chat: no event for 0.3 s" in str(answered.error)
    assert answered.error.partial_message is not None
    assert "Hello" == answered.message.text == answered.error.partial_message.text
    assert 0.3 <= took < SOON


@both_modes
def test_events_reset_the_idle_time(mode: str) -> None:
    """An answer may take long as a whole, if it goes on."""
    slow = steps(*[step for number in range(8) for step in (sse(delta(str(number))), 0.1)], END)
    answered, took = timed(mode, Answer(slow), Timeouts(idle=0.4))
    assert (None, "01234567") == (answered.error, answered.message.text)
    assert took > 0.4


QUIET: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any]]] = {
    "the input of a tool that the provider runs": (
        "anthropic/m",
        [
            {"type": "message_start", "message": {"id": "m", "model": "m"}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "server_tool_use", "id": "s", "name": "code_execution"},
            },
        ],
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": " "},
        },
    ),
    "the code of an interpreter": (
        "openai/m",
        [{"type": "response.created", "response": {"id": "r", "model": "m"}}],
        {"type": "response.code_interpreter_call_code.delta", "delta": "x", "output_index": 0},
    ),
}


@both_modes
@pytest.mark.parametrize("name", QUIET)
def test_pieces_without_an_event_reset_the_idle_time(name: str, mode: str) -> None:
    """What is told only when it is whole keeps an answer going; then silence ends it."""
    name, start, piece = QUIET[name]
    pieces = [part for _ in range(8) for part in (sse(piece), 0.1)]
    with LocalServer(Answer(steps(sse(*start), pieces, HOLD))) as server:
        timeouts = Timeouts(idle=0.4)
        model = Model(name, base_url=server.url, api_key="key-for-tests", timeouts=timeouts, retries=ONCE)
        began = time.monotonic()
        answered = ask(mode, model)
        took = time.monotonic() - began
    assert isinstance(answered.error, StreamTimeoutError), answered.error
    assert took > 1


@both_modes
@pytest.mark.parametrize("name", ["silence", "pings"])
def test_first_event(name: str, mode: str) -> None:
    """An answer that begins with headers and pings alone is given up, and may be asked for again."""
    waiting = Answer(steps(PINGS if name == "pings" else (), HOLD))
    with LocalServer(waiting, Answer(HELLO + END)) as server:
        start = time.monotonic()
        timeouts = Timeouts(first_event=0.7)
        answered = ask(mode, local(server.url, timeouts=timeouts, retries=QUICK))
        took = time.monotonic() - start
    assert (None, "Hello", 2) == (answered.error, answered.message.text, answered.attempts)
    assert 0.7 <= took < SOON
    answered, took = timed(mode, waiting, timeouts)
    assert isinstance(answered.error, RequestTimeoutError), answered.error
    assert isinstance(answered.error, plait.TransportError)
    assert ("first event", 0.7, 1) == (answered.error.phase, answered.error.seconds, answered.error.attempts)
    assert 0.7 <= took < SOON


@both_modes
def test_no_headers(mode: str) -> None:
    """A server that takes the request and says nothing at all is a first event that does not come."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        answered = ask(mode, local(url, timeouts=Timeouts(first_event=0.3)))
        took = time.monotonic() - start
    assert isinstance(answered.error, RequestTimeoutError)
    assert "first event" == answered.error.phase
    assert 0.3 <= took < SOON


@both_modes
@pytest.mark.parametrize("name", ["silence", "a steady stream"])
def test_total(name: str, mode: str) -> None:
    """The whole call has one limit of its own, whether it is silent or goes on and on."""
    steady = [step for number in range(100) for step in (sse(delta("x")), 0.03)]
    answer = Answer(steps(HELLO, HOLD) if name == "silence" else steps(steady, HOLD))
    answered, took = timed(mode, answer, Timeouts(total=0.4))
    assert isinstance(answered.error, StreamTimeoutError), answered.error
    assert ("total", 0.4) == (answered.error.phase, answered.error.seconds)
    assert 0.4 <= took < SOON


@both_modes
def test_total_spans_all_attempts(mode: str) -> None:
    """A wait for another attempt that would go beyond the total is not begun."""
    with LocalServer(Answer((b"{}",), status=503)) as server:
        start = time.monotonic()
        retries = plait.Retries(limit=50, first_wait=0.1, longest_wait=0.1, jitter=0)
        answered = ask(mode, local(server.url, timeouts=Timeouts(total=0.35), retries=retries))
        took = time.monotonic() - start
    if isinstance(answered.error, RequestTimeoutError):  # it was up during an attempt, not between two
        assert "total" == answered.error.phase
    else:
        assert isinstance(answered.error, plait.ServerError)
    assert took < SOON
    assert 1 <= answered.attempts <= 4


@both_modes
def test_a_whole_answer_has_the_time_of_a_first_event(mode: str) -> None:
    """`generate` waits for the body as long as a stream would for its first event."""
    with LocalServer(Answer((b'{"choices"', HOLD))) as server, pytest.raises(RequestTimeoutError):
        generate(mode, local(server.url, timeouts=Timeouts(first_event=0.3)))


@both_modes
def test_a_slow_consumer_is_no_silence(mode: str) -> None:
    """The idle time counts while an event is waited for, not while the caller thinks."""
    import asyncio

    with LocalServer(Answer(steps(HELLO, END))) as server:
        model = local(server.url, timeouts=Timeouts(idle=0.1))
        if mode == "sync":
            with model.stream("Hi") as stream:
                for _ in stream:
                    time.sleep(0.06)
            assert "Hello" == stream.message.text
        else:

            async def slowly() -> str:
                async with model.astream("Hi") as stream:
                    async for _ in stream:
                        await asyncio.sleep(0.06)
                return stream.message.text

            assert "Hello" == asyncio.run(slowly())


def test_limits_are_checked() -> None:
    """A limit of nothing is a mistake."""
    with pytest.raises(ValueError, match="idle: expected seconds above 0, or None, got 0"):
        Timeouts(idle=0)
