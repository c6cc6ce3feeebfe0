"""A model that outlives event loops keeps nothing of them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any, ClassVar
from weakref import WeakSet, ref

import httpx
import pytest

from plait import Model

LOOPS = 50


class Client(httpx.AsyncClient):
    """One that knows how many of its kind there are."""

    alive: ClassVar[WeakSet[Client]] = WeakSet()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.alive.add(self)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setattr(httpx, "AsyncClient", Client)
    yield Model("mock/any")
    gc.collect()
    assert 0 == len(Client.alive)


async def ask(model: Model) -> ref[Any]:
    """A call; the loop it was made in."""
    assert "hey" == (await model.agenerate("hey")).text
    assert Client.alive
    return ref(asyncio.get_running_loop())


def ask_and_close(model: Model) -> ref[Any]:
    """The same in a loop that does not shut its generators down."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(ask(model))
    finally:
        loop.close()


def test_loops_and_clients_are_forgotten(model: Model) -> None:
    """`asyncio.run` again and again: neither a loop nor its client stays behind."""
    loops = [asyncio.run(ask(model)) for _ in range(LOOPS)]
    gc.collect()
    assert 0 == len(Client.alive)
    assert [] == [loop for loop in loops if loop() is not None]


def test_a_loop_that_was_just_closed(model: Model) -> None:
    """The next call, in another loop, forgets it and its client."""
    loops = [ask_and_close(model) for _ in range(LOOPS)]
    gc.collect()
    assert len(Client.alive) <= 1
    asyncio.run(ask(model))
    gc.collect()
    assert 0 == len(Client.alive)
    assert [] == [loop for loop in loops if loop() is not None]
