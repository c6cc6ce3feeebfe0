"""Callbacks that raise: an observer's faults stay its own, the caller's reach the caller, nothing is left."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from asking import END, HELLO, QUICK, both_modes, local

from local_server import Answer, LocalServer
from plait import Model

WAYS = pytest.mark.parametrize("way", ["for", "next", "with", "generate"])
BUSY = Answer((b"{}",), status=503)
SECRET = "what the user said"


def run(mode: str, model: Model, way: str) -> str:
    """The text of one call, made in this way."""
    import asyncio

    if mode == "sync":
        with model:
            if way == "generate":
                return model.generate("Hi").text
            stream = model.stream("Hi")
            if way == "with":
                with stream:
                    list(stream)
            elif way == "next":
                while next(stream, None) is not None:
                    pass
            else:
                list(stream)
            return stream.message.text

    async def main() -> str:
        async with model:
            if way == "generate":
                return (await model.agenerate("Hi")).text
            stream = model.astream("Hi")
            if way == "with":
                async with stream:
                    [event async for event in stream]
            elif way == "next":
                while await anext(stream, None) is not None:
                    pass
            else:
                [event async for event in stream]
            return stream.message.text

    return asyncio.run(main())


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """It is busy once, then answers."""
    with LocalServer(BUSY, Answer(HELLO + END)) as running:
        yield running
        assert running.wait_for(lambda server: server.open == 0), "a connection is left"


class Broken:
    """An observer, and its observation, of which some methods raise."""

    def __init__(self, *methods: str, error: type[Exception] = ValueError) -> None:
        self.called: list[str] = []
        self._methods = methods
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def method(*facts: Any) -> Any:
            self.called.append(name)
            if name in self._methods:
                raise self._error(SECRET)
            return self

        return method


METHODS = ("began", "responded", "received", "retrying", "ended")


@both_modes
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "error", [ValueError, StopIteration, RecursionError], ids=lambda error: error.__name__
)
def test_an_observer_that_raises(
    error: type[Exception], method: str, mode: str, server: LocalServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The call goes on; a warning names the method and the class, and not what the error says."""
    observer = Broken(method, error=error)
    with caplog.at_level(logging.DEBUG, "plait"):
        model = local(server.url, retries=QUICK, observer=observer)
        assert "Hello" == run(mode, model, "for")
    assert method in observer.called
    told = [record for record in caplog.records if record.name.startswith("plait")]
    warnings = {record.getMessage() for record in told if record.levelno == logging.WARNING}
    assert {f"the observer failed in {method}: {error.__name__}"} == warnings
    assert SECRET not in caplog.text


@both_modes
def test_an_observer_of_which_nothing_works(mode: str, server: LocalServer) -> None:
    """Every method raises: the call is as without it, a retry included."""
    observer = Broken(*METHODS[1:])
    assert "Hello" == run(mode, local(server.url, retries=QUICK, observer=observer), "for")
    assert set(METHODS) == set(observer.called)


@both_modes
def test_an_observer_without_methods(mode: str, server: LocalServer) -> None:
    """Not even `began`."""
    observer: Any = object()
    assert "Hello" == run(mode, local(server.url, retries=QUICK, observer=observer), "for")


class Oops(Exception):
    pass


def raising(error: type[Exception]) -> Any:
    def callback(*facts: Any) -> Any:
        raise error

    return callback


CALLBACKS = pytest.mark.parametrize("name", ["on_frame", "on_retry", "api_key"])


@both_modes
@WAYS
@CALLBACKS
def test_a_callback_that_raises(name: str, way: str, mode: str, server: LocalServer) -> None:
    """Its own error reaches the caller, and the connection is free."""
    settings: dict[str, Any] = {"retries": QUICK, name: raising(Oops)}
    with pytest.raises(Oops):
        run(mode, local(server.url, **settings), way)


@both_modes
@WAYS
@CALLBACKS
@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration], ids=lambda error: error.__name__)
def test_a_callback_that_ends_iterations(
    error: type[Exception], name: str, way: str, mode: str, server: LocalServer
) -> None:
    """What would be taken for the end of the answer is a RuntimeError, as in a generator (PEP 479)."""
    settings: dict[str, Any] = {"retries": QUICK, name: raising(error)}
    expected = RuntimeError if mode == "async" or error is StopIteration else StopAsyncIteration
    with pytest.raises(expected):
        run(mode, local(server.url, **settings), way)
