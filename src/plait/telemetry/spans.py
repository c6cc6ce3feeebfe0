"""An observer of calls that writes OpenTelemetry spans and metrics.

A call and its telemetry are kept apart: whatever fails in here (an exporter, a processor, a sampler) is
logged as a warning of `plait.telemetry`, and the call goes on.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import plait
from plait.errors import ConfigurationError, PlaitError
from plait.events import (
    Event,
    FileDone,
    ReasoningDelta,
    ResponseStarted,
    ServerToolCall,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
)
from plait.telemetry import names
from plait.wire.options import RequestOptions

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from plait.messages import AssistantMessage
    from plait.transport import Call, Observation, Question, ResponseInfo, Retry

_log = logging.getLogger("plait.telemetry")

OUTPUT_EVENTS = (TextDelta, ReasoningDelta, ToolCallDelta, ToolCallDone, ServerToolCall, FileDone)
"""Events that bring something of the answer; the first of them ends the wait for the first chunk."""


@contextmanager
def _harmless(what: str) -> Iterator[None]:
    """Nothing raised in here reaches the call. Only its class is logged: its text may quote content."""
    try:
        yield
    except Exception as error:
        _log.warning("OpenTelemetry: %s failed: %s", what, type(error).__name__)


class OpenTelemetry:
    """Watches the calls of models: `plait.Model(..., observer=OpenTelemetry())`.

    One client span per call, all its attempts included, from the moment `Model.stream` is called (the span
    that is current then is its parent) until the answer is complete, has failed, or was left; and four
    histograms. Names and form are those of the OpenTelemetry semantic conventions for generative AI. Unless
    `content` is asked for, nothing of what was said is in any of it, error messages included; keys never are.
    One observer may watch any number of models, threads and event loops.

    Args:
        tracer_provider: where spans go; the global one by default
        meter_provider: where metrics go; the global one by default
        content: also write the conversation, the tools, the answer and the text of errors into the span

    Raises:
        ConfigurationError: OpenTelemetry's API is not installed
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        content: bool = False,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise ConfigurationError(
                "OpenTelemetry needs opentelemetry-api, which is not installed: pip install plait[otel]"
            ) from None
        self.content = content
        self._tracer: Tracer = trace.get_tracer("plait", plait.__version__, tracer_provider)
        meter = metrics.get_meter("plait", plait.__version__, meter_provider)

        def histogram(metric: names.Metric) -> Histogram:
            return meter.create_histogram(
                metric.name,
                metric.unit,
                metric.description,
                explicit_bucket_boundaries_advisory=metric.buckets,
            )

        self._duration = histogram(names.DURATION)
        self._token_usage = histogram(names.TOKEN_USAGE)
        self._first_chunk = histogram(names.FIRST_CHUNK)
        self._per_chunk = histogram(names.PER_CHUNK)

    def __repr__(self) -> str:
        return f"OpenTelemetry(content={self.content})"

    def began(self, call: Call) -> Observation:
        """A call begins: its span does, too."""
        with _harmless("beginning a span"):
            return _Watched(self, call)
        return _Unwatched()


class _Unwatched:
    """The observation of a call whose span could not be made."""

    def responded(self, response: ResponseInfo) -> None:
        pass

    def received(self, events: list[Event]) -> None:
        pass

    def retrying(self, retry: Retry) -> None:
        pass

    def ended(self, message: AssistantMessage, error: BaseException | None) -> None:
        pass


class _Watched:
    """The span of one call, and what is measured of it."""

    def __init__(self, to: OpenTelemetry, call: Call) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        self._once = threading.Lock()  # taken by whoever ends the span: a stream may be closed by any thread
        self._to = to
        self._call = weakref.ref(call)  # which holds its observation: both are to go as soon as it is dropped
        asked = call.question
        self._streamed = asked.stream
        self._facts = _target(asked)
        operation = self._facts[names.OPERATION]
        self._span: Span = to._tracer.start_span(
            f"{operation} {asked.model}",
            kind=SpanKind.CLIENT,
            attributes={**self._facts, names.REQUEST_STREAM: asked.stream, **_options(asked)},
        )
        self._context: Context = set_span_in_context(self._span)  # ties measurements to the span
        self._began = self._latest = perf_counter()
        self._first: float | None = None
        if to.content and self._span.is_recording():
            with _harmless("writing the request's content"):
                from plait.telemetry.content import request_content

                self._span.set_attributes(request_content(asked.messages, asked.options))

    def responded(self, response: ResponseInfo) -> None:
        """Somebody answered. Nothing is told of HTTP: instrumentation of the HTTP client does."""
        with _harmless("naming the server"):
            self._locate()

    def _locate(self) -> None:
        """The server, where the call did not know it when it began (a region or project to be looked up)."""
        if names.SERVER_ADDRESS not in self._facts and (call := self._call()) is not None:
            found = _server(call.question.url)
            self._facts = {**self._facts, **found}
            self._span.set_attributes(found)

    def received(self, events: list[Event]) -> None:
        """A chunk came, about one per token: measured when it brings some of the answer."""
        if not self._streamed:
            return
        try:
            for event in events:
                if isinstance(event, OUTPUT_EVENTS):
                    return self._chunk()
                if isinstance(event, ResponseStarted) and event.model:
                    self._facts = {**self._facts, names.RESPONSE_MODEL: self._clean(event.model)}
        except Exception as error:
            self._streamed = False  # one warning per call, not one per token
            _log.warning("OpenTelemetry: measuring a chunk failed: %s", type(error).__name__)

    def _chunk(self) -> None:
        now = perf_counter()
        since, self._latest = now - self._latest, now
        if self._first is None:
            self._first = since
            self._to._first_chunk.record(since, self._facts, self._context)
        else:
            self._to._per_chunk.record(since, self._facts, self._context)

    def retrying(self, retry: Retry) -> None:
        """An attempt failed: an event of the span."""
        with _harmless("telling of a retry"):
            facts: dict[str, Any] = {
                names.RETRY_ATTEMPT: retry.attempt,
                names.RETRY_WAIT: retry.wait,
                names.ERROR_TYPE: type(retry.error).__qualname__,
            }
            if (status := getattr(retry.error, "status", None)) is not None:
                facts[names.HTTP_STATUS] = status
            self._span.add_event(names.RETRY, facts)

    def ended(self, message: AssistantMessage, error: BaseException | None) -> None:
        """The call is over: so is its span."""
        self._end(message, error)

    def __del__(self) -> None:
        # A stream that was made and never read may be dropped without a word.
        if (
            (once := getattr(self, "_once", None)) is not None
            and not once.locked()
            and hasattr(self, "_span")
        ):
            self._end(None, None)

    def _end(self, message: AssistantMessage | None, error: BaseException | None) -> None:
        if not self._once.acquire(blocking=False):
            return
        seconds = perf_counter() - self._began
        with _harmless("describing an answer"):
            self._locate()
            self._span.set_attributes(self._clean(_answer(message, error)))
            if self._first is not None:
                self._span.set_attribute(names.TIME_TO_FIRST_CHUNK, self._first)
        if error is not None:
            with _harmless("describing an error"):
                self._failed(error)
        if self._to.content and message is not None:
            with _harmless("writing an answer's content"):
                from plait.telemetry.content import response_content

                if self._span.is_recording():
                    self._span.set_attributes(self._clean(response_content(message, error)))
        with _harmless("measuring a call"):
            self._measure(message, error, seconds)
        with _harmless("ending a span"):
            self._span.end()

    def _clean(self, value: Any) -> Any:
        """What a server wrote, without the keys that it may repeat."""
        call = self._call()
        return value if call is None else call.secrets.hide(value)

    def _failed(self, error: BaseException) -> None:
        from opentelemetry.trace import Status, StatusCode

        # A message quotes the wire, and a provider's words may quote the prompt: both are content. The text
        # of another library's error may hold anything, and is never written.
        text = self._clean(str(error)) if self._to.content and isinstance(error, PlaitError) else None
        self._span.set_status(Status(StatusCode.ERROR, text))

    def _measure(self, message: AssistantMessage | None, error: BaseException | None, seconds: float) -> None:
        facts = dict(self._facts)
        if message is not None and message.model:
            facts[names.RESPONSE_MODEL] = self._clean(message.model)
        failed = {names.ERROR_TYPE: type(error).__qualname__} if error is not None else {}
        self._to._duration.record(seconds, facts | failed, self._context)
        if message is None or (usage := message.token_usage) is None:
            return  # what was not reported is not counted
        for kind, field in names.TOKEN_TYPES.items():
            count = getattr(usage, field)
            self._to._token_usage.record(count, {**facts, names.TOKEN_TYPE: kind}, self._context)


def _target(asked: Question) -> dict[str, Any]:
    """What spans and metrics both say of a call."""
    return {
        names.OPERATION: names.OPERATIONS.get(asked.wire, "chat"),
        names.PROVIDER: names.PROVIDERS.get(asked.provider, asked.provider),
        names.REQUEST_MODEL: asked.model,
        **_server(asked.url),
    }


def _server(url: str) -> dict[str, Any]:
    """Host and port of a URL; nothing of one that is not known yet."""
    parts = urlsplit(url)
    if not parts.hostname:
        return {}
    port = parts.port or (80 if parts.scheme == "http" else 443)
    return {names.SERVER_ADDRESS: parts.hostname, names.SERVER_PORT: port}


def _options(asked: Question) -> dict[str, Any]:
    """The options of a request that the conventions have names for, as they were asked."""
    given = {*names.REQUEST_OPTIONS.values(), "reasoning"}
    options = RequestOptions.of({name: value for name, value in asked.options.items() if name in given})
    found = {name: getattr(options, field) for name, field in names.REQUEST_OPTIONS.items()}
    if options.reasoning is not None:
        found[names.REASONING_LEVEL] = options.reasoning.effort
    if asked.options.get("output") is not None:
        found[names.OUTPUT_TYPE] = "json"
    return {name: value for name, value in found.items() if value is not None}


def _answer(message: AssistantMessage | None, error: BaseException | None) -> dict[str, Any]:
    """What a span says of how its call ended, and of the message that came of it."""
    facts: dict[str, Any] = {}
    if error is not None:
        facts[names.ERROR_TYPE] = type(error).__qualname__
    elif message is None or message.finish_reason is None:
        facts[names.INCOMPLETE] = True
    if message is None:
        return facts
    facts |= {names.RESPONSE_ID: message.id, names.RESPONSE_MODEL: message.model}
    if message.finish_reason is not None:
        reason = names.FINISHES.get(message.finish_reason, message.finish_reason)
        facts[names.FINISH_REASONS] = [reason]
    if message.token_usage is not None:
        facts |= {name: getattr(message.token_usage, field) for name, field in names.USAGE.items()}
    return {name: value for name, value in facts.items() if value is not None}
