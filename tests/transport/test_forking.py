"""A process that forks: the child has connections, locks and timers of its own."""

from __future__ import annotations

import json
import os
import select
import warnings
from collections.abc import Callable
from typing import Any

from asking import END, HELLO, local

from local_server import HOLD, Answer, LocalServer, steps
from plait import Model, PlaitError, Timeouts


def in_child(work: Callable[[], Any]) -> Any:
    """What a forked process makes of it."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the server has a thread, which stays behind
        child = os.fork()
    if child == 0:
        try:
            os.write(writes, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writes)
    try:
        ready, _, _ = select.select([reads], [], [], 5)
        found = os.read(reads, 65536) if ready else b""
    finally:
        os.close(reads)
        if not ready:
            os.kill(child, 9)
        os.waitpid(child, 0)
    assert found, "the child has not answered"
    return json.loads(found)


def ask_for_text(model: Model) -> str:
    return model.generate("Hi").text


def test_connections_are_not_shared() -> None:
    """The child makes its own; the parent goes on with the one it had."""
    with LocalServer(Answer(HELLO + END)) as server, local(server.url) as model:
        assert "Hello" == ask_for_text(model)
        assert 1 == server.connections
        assert "Hello" == in_child(lambda: ask_for_text(model))
        assert server.wait_for(lambda server: server.connections == 2)
        assert "Hello" == ask_for_text(model)
        assert (2, 3) == (server.connections, len(server.requests))


def test_closing_in_the_child_leaves_the_parent_alone() -> None:
    """A stream that the parent reads goes on when the child closes the model."""
    with LocalServer(Answer(steps(HELLO, 0.3, END))) as server, local(server.url) as model:
        stream = model.stream("Hi")
        next(stream)

        def close() -> str:
            model.close()
            return "closed"

        assert "closed" == in_child(close)
        list(stream)
        assert "stop" == stream.message.finish_reason


def test_deadlines_in_the_child() -> None:
    """The thread that keeps them is not inherited: the child starts one."""

    def wait_in_vain() -> str:
        try:
            ask_for_text(local(server.url, timeouts=Timeouts(idle=0.2)))
        except PlaitError as error:
            return type(error).__name__
        return "an answer"

    with LocalServer(Answer(steps(HELLO, HOLD))) as server:
        assert "StreamTimeoutError" == wait_in_vain()
        assert "StreamTimeoutError" == in_child(wait_in_vain)
