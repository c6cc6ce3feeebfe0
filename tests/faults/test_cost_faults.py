"""Faults of cost: reading everything again for each piece of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from chat_bodies import deltas
from said import WIRES

import plait
from plait.conformance.encoding import ENCODERS, Answer, Reasoning, Text, ToolCall

PIECES = 50_000


def body(wire: str, kind: str, pieces: int) -> bytes:
    """A stream of so many pieces of 20 characters."""
    texts = ("twenty characters ok",) * pieces
    parts: dict[str, Text | Reasoning | ToolCall] = {
        "text": Text(texts),
        "reasoning": Reasoning(texts),
        "arguments": ToolCall("c", "f", ('{"a":"', *texts, '"}')),
    }
    return ENCODERS[wire].stream(Answer(parts=(parts[kind],)))


def seconds(read: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        read()
        times.append(time.process_time() - begin)
    return min(times)


def check_linear(make: Callable[[int], bytes], wire: str, pieces: int, **options: Any) -> None:
    """Eight times the pieces take less than twenty times as long: a quadratic cost takes 64 times as long."""
    small, large = make(pieces // 8), make(pieces)

    def reading(data: bytes) -> Callable[[], object]:
        chunks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        return lambda: list(plait.parse(chunks, wire, **options))

    for _ in range(3):  # a busy machine may disturb one attempt, a quadratic cost disturbs all
        ratio = seconds(reading(large)) / seconds(reading(small))
        if ratio < 20:
            return
    raise AssertionError(f"eight times the pieces took {ratio:.0f} times as long")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["text", "reasoning", "arguments"])
def test_many_deltas(wire: str, kind: str) -> None:
    """Text, reasoning and arguments are joined once, at the end."""
    check_linear(lambda pieces: body(wire, kind, pieces), wire, PIECES)


def test_many_characters_between_tags() -> None:
    """Only the tail that may be a tag is looked at again."""

    def make(pieces: int) -> bytes:
        return deltas({"content": "<think>"}, *[{"content": "x"}] * pieces, {"content": "</think>y"})

    check_linear(make, "openai-chat", 100_000, think_tags=True)
