"""Asks a model in either mode, and says what came of it."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import pytest
from checking import sse

from plait import AssistantMessage, Event, Model, PlaitError
from plait.transport import Retries, Timeouts

MODES = ("sync", "async")
both_modes = pytest.mark.parametrize("mode", MODES)

ONCE = Retries(limit=0)
"""For what must fail at the first attempt."""

QUICK = Retries(limit=2, first_wait=0.01, jitter=0)


class Answered(NamedTuple):
    """What one call came to."""

    events: list[Event]
    error: PlaitError | None
    message: AssistantMessage
    attempts: int


def ask(mode: str, model: Model, messages: Any = "Hi", **options: Any) -> Answered:
    """Stream an answer to its end, or its error."""
    if mode == "sync":
        with model:
            return _ask(model, messages, options)
    return asyncio.run(_aask(model, messages, options))


def _ask(model: Model, messages: Any, options: dict[str, Any]) -> Answered:
    stream = model.stream(messages, **options)
    events: list[Event] = []
    error = None
    try:
        for event in stream:
            events.append(event)
    except PlaitError as raised:
        error = raised
    return Answered(events, error, stream.message, stream.attempts)


async def _aask(model: Model, messages: Any, options: dict[str, Any]) -> Answered:
    stream = model.astream(messages, **options)
    events: list[Event] = []
    error = None
    try:
        async for event in stream:
            events.append(event)
    except PlaitError as raised:
        error = raised
    return Answered(events, error, stream.message, stream.attempts)


def generate(mode: str, model: Model, messages: Any = "Hi", **options: Any) -> AssistantMessage:
    """Ask for a whole answer."""
    if mode == "sync":
        with model:
            return model.generate(messages, **options)
    return asyncio.run(model.agenerate(messages, **options))


def local(url: str, **settings: Any) -> Model:
    """A model of openai-chat at a local server."""
    settings = {"retries": ONCE, "timeouts": Timeouts(first_event=10, idle=10), **settings}
    return Model("openai-compatible/m", base_url=url, **settings)


def delta(text: str) -> dict[str, Any]:
    """A chunk of openai-chat with a piece of text."""
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]}


FINISH = {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
USAGE = {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
HELLO = (sse(delta("Hel")), sse(delta("lo")))
END = (sse(FINISH), sse(USAGE), sse("[DONE]"))
WHOLE = {
    "id": "c1",
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}
