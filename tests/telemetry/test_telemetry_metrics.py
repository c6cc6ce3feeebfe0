"""Histograms of calls: tokens, durations, and the time until and between chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from checking import sse
from exported import (
    USAGE,
    Exported,
    answering,
    ask,
    both_modes,
    chat,
    delta,
    finish,
    generate,
    streamed,
)

from plait.telemetry import names

FACTS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-x",
    "server.address": "api.openai.com",
    "server.port": 443,
}
ANSWERED = {**FACTS, "gen_ai.response.model": "gpt-x-2"}

DURATION = "gen_ai.client.operation.duration"
TOKENS = "gen_ai.client.token.usage"
FIRST = "gen_ai.client.operation.time_to_first_chunk"
PER_CHUNK = "gen_ai.client.operation.time_per_output_chunk"

CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
WHOLE = (sse(delta(content="Hel")), sse(delta(content="lo")), sse(finish(), USAGE, "[DONE]"))


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def body(self, *steps: tuple[float, bytes]) -> httpx.Response:
        """A stream whose chunks come so many seconds after the one before."""

        class Timed(httpx.SyncByteStream):
            def __iter__(_self) -> Iterator[bytes]:
                for seconds, chunk in steps:
                    self.now += seconds
                    yield chunk

        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Timed())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("plait.telemetry.spans.perf_counter", made)
    return made


def sums(exported: Exported, metric: str) -> list[tuple[int, float]]:
    """Of each set of attributes, how often and how much in all."""
    return [(point.count, round(point.sum, 6)) for _, point in exported.points(metric)]


@both_modes
def test_tokens(mode: str) -> None:
    """Input and output are one measurement each, told apart by `gen_ai.token.type`."""
    exported = Exported()
    ask(mode, chat(mode, exported, answering(streamed(*WHOLE))))
    assert [
        ({**ANSWERED, "gen_ai.token.type": "input"}, 30),
        ({**ANSWERED, "gen_ai.token.type": "output"}, 7),
    ] == [(facts, point.sum) for facts, point in exported.points(TOKENS)]


def test_unreported_tokens() -> None:
    """What a provider does not report is not counted, not even as zero."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(streamed(*WHOLE[:2], sse(finish(), "[DONE]")))))
    assert [] == exported.points(TOKENS)
    assert [(ANSWERED, 1)] == [(facts, point.count) for facts, point in exported.points(DURATION)]


def test_duration(clock: Clock) -> None:
    """A call lasts from its beginning to its end, in seconds."""
    exported = Exported()
    body = clock.body((2, WHOLE[0]), (3, WHOLE[1]), (4, WHOLE[2]))
    ask("sync", chat("sync", exported, answering(body)))
    assert [(1, 9.0)] == sums(exported, DURATION)


@both_modes
def test_failed_duration(mode: str) -> None:
    """The duration of a call that failed has its `error.type`."""
    exported = Exported()
    ask(mode, chat(mode, exported, answering(httpx.Response(401))))
    assert [{**FACTS, "error.type": "AuthenticationError"}] == [
        facts for facts, _ in exported.points(DURATION)
    ]


def test_first_chunk(clock: Clock) -> None:
    """The first chunk is the first with something of the answer: no role, no ping, no model's name."""
    exported = Exported()
    body = clock.body(
        (1, b": ping\n\n"),
        (1, sse(delta(role="assistant", content=""))),
        (1, WHOLE[0]),
        (1, WHOLE[1] + WHOLE[2]),
    )
    ask("sync", chat("sync", exported, answering(body)))
    assert [(ANSWERED, 3.0)] == [(facts, point.sum) for facts, point in exported.points(FIRST)]
    assert 3.0 == (exported.span.attributes or {})["gen_ai.response.time_to_first_chunk"]


@pytest.mark.parametrize(
    "first",
    [delta(content="a"), delta(reasoning_content="a"), delta(tool_calls=[CALL])],
    ids=["text", "reasoning", "tool call"],
)
def test_first_chunk_of_each_kind(clock: Clock, first: dict[str, Any]) -> None:
    """Text, reasoning and tool calls all end the wait."""
    exported = Exported()
    body = clock.body((2, sse(first)), (1, sse(delta(content="b"), finish(), "[DONE]")))
    ask("sync", chat("sync", exported, answering(body)))
    assert [(1, 2.0)] == sums(exported, FIRST)


def test_later_chunks(clock: Clock) -> None:
    """Each later chunk is measured from the one before; what ends a stream is no output."""
    exported = Exported()
    chunks = [sse(delta(content=piece)) for piece in "abcd"]
    body = clock.body(
        (1, chunks[0]), (2, chunks[1]), (3, chunks[2] + chunks[3]), (9, sse(finish(), USAGE, "[DONE]"))
    )
    ask("sync", chat("sync", exported, answering(body)))
    assert [(2, 5.0)] == sums(exported, PER_CHUNK)
    assert [ANSWERED] == [facts for facts, _ in exported.points(PER_CHUNK)]


def test_first_chunk_counts_from_the_call(clock: Clock) -> None:
    """Attempts that failed are part of the wait for the first chunk, as they are for whoever waits."""
    exported = Exported()
    answers = iter([httpx.Response(503), clock.body((1, WHOLE[0]), (0, WHOLE[2]))])

    def answer(_request: httpx.Request) -> httpx.Response:
        clock.now += 4
        return next(answers)

    ask("sync", chat("sync", exported, answer))
    assert [(1, 9.0)] == sums(exported, FIRST)


@both_modes
def test_whole_call_has_no_chunks(mode: str) -> None:
    """A call that is not streamed has a duration and tokens only."""
    exported = Exported()
    body = {
        "id": "c1",
        "model": "gpt-x-2",
        "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    generate(mode, chat(mode, exported, answering(httpx.Response(200, json=body))))
    assert [] == exported.points(FIRST) + exported.points(PER_CHUNK)
    assert [(1, 1.0), (1, 2.0)] == sums(exported, TOKENS)
    assert 1 == len(exported.points(DURATION))


@pytest.mark.parametrize(
    "metric",
    [names.DURATION, names.TOKEN_USAGE, names.FIRST_CHUNK, names.PER_CHUNK],
    ids=lambda metric: metric.name,
)
def test_buckets(metric: names.Metric) -> None:
    """Each histogram has the bucket boundaries that the conventions advise, and a point."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(streamed(*WHOLE))))
    bounds = {tuple(point.explicit_bounds) for _, point in exported.points(metric.name)}
    assert {tuple(float(bound) for bound in metric.buckets)} == bounds
