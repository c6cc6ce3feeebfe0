"""Calls that are watched, and what OpenTelemetry's SDK exports of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from plait import AssistantMessage, Event, Model, PlaitError, Retries
from plait.telemetry import OpenTelemetry

both_modes = pytest.mark.parametrize("mode", ["sync", "async"])

KEY = "sk-test-0123456789abcdef"
QUICK = Retries(limit=2, first_wait=0.001)


class Exported:
    """An observer and all that came of it."""

    def __init__(self, *, content: bool = False) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader])
        self.observer = OpenTelemetry(self.tracers, self.meters, content=content)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """The spans that ended, in that order."""
        return self._exporter.get_finished_spans()

    @property
    def span(self) -> ReadableSpan:
        """The only one."""
        (span,) = self.spans
        return span

    @property
    def attributes(self) -> dict[str, Any]:
        """Those of the only span; what takes time is checked to be some, and left out."""
        found = dict(self.span.attributes or {})
        first = found.pop("gen_ai.response.time_to_first_chunk", None)
        assert first is None or (isinstance(first, float) and first > 0)
        return found

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """Of one metric, each set of attributes with its point."""
        data = self._reader.get_metrics_data()
        return [
            (dict(point.attributes or {}), point)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def everything(self) -> str:
        """All that was exported, as text."""
        data = self._reader.get_metrics_data()
        return "\n".join([span.to_json() for span in self.spans] + ([data.to_json()] if data else []))


class Chunks(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in chunks; `break_off` breaks the connection behind them."""

    def __init__(self, *chunks: bytes, break_off: bool = False) -> None:
        self._chunks = chunks
        self._break_off = break_off

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._break_off:
            raise httpx.ReadError("gone")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


Answers = Callable[[httpx.Request], httpx.Response]


def streamed(*chunks: bytes, break_off: bool = False) -> httpx.Response:
    """An answer of server-sent events."""
    body = Chunks(*chunks, break_off=break_off)
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)


def answering(*answers: httpx.Response | Exception) -> Answers:
    """One answer after the other."""
    left = iter(answers)

    def answer(_request: httpx.Request) -> httpx.Response:
        one = next(left)
        if isinstance(one, Exception):
            raise one
        return one

    return answer


def model(mode: str, exported: Exported, answers: Answers, name: str = "openai/gpt-x", **more: Any) -> Model:
    """A model whose requests these answers meet."""
    transport = httpx.MockTransport(answers)
    client: Any = (httpx.Client if mode == "sync" else httpx.AsyncClient)(transport=transport)
    settings: dict[str, Any] = {"api_key": KEY, "retries": QUICK, "http_client": client, **more}
    return Model(name, observer=exported.observer, **settings)


def chat(mode: str, exported: Exported, answers: Answers, **more: Any) -> Model:
    """As `model`, of the wire openai-chat."""
    return model(mode, exported, answers, wire="openai-chat", **more)


def ask(
    mode: str, asked: Model, messages: Any = "Hi", **options: Any
) -> tuple[list[Event], PlaitError | None]:
    """Stream an answer: its events, and the error behind them."""
    events: list[Event] = []

    async def later() -> None:
        async with asked.astream(messages, **options) as stream:
            async for event in stream:
                events.append(event)

    try:
        if mode == "async":
            asyncio.run(later())
        else:
            with asked.stream(messages, **options) as stream:
                for event in stream:
                    events.append(event)
    except PlaitError as error:
        return events, error
    return events, None


def generate(mode: str, asked: Model, messages: Any = "Hi", **options: Any) -> AssistantMessage:
    """Ask for a whole answer."""
    if mode == "async":
        return asyncio.run(asked.agenerate(messages, **options))
    return asked.generate(messages, **options)


def delta(**fields: Any) -> dict[str, Any]:
    """A chunk of openai-chat."""
    return {"id": "c1", "model": "gpt-x-2", "choices": [{"index": 0, "delta": fields}]}


def finish(reason: str = "stop") -> Mapping[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


USAGE = {
    "id": "c1",
    "choices": [],
    "usage": {
        "prompt_tokens": 30,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 5},
    },
}
