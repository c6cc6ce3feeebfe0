"""Telemetry that fails, or is not there at all, does not harm a call."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from exported import Exported, ask, both_modes
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from plait import ConfigurationError, Model
from plait.telemetry import OpenTelemetry


class BadExporter(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise ZeroDivisionError("zebra")


class BadStart(SpanProcessor):
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise ZeroDivisionError("zebra")


class BadEnd(SpanProcessor):
    def on_end(self, span: ReadableSpan) -> None:
        raise ZeroDivisionError("zebra")


class Bad:
    """Everything about it raises."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError("zebra")


def events_of(mode: str, observer: OpenTelemetry | None) -> Any:
    events, error = ask(mode, Model("mock/any", observer=observer), "One two three")
    assert error is None
    return events


@both_modes
@pytest.mark.parametrize(
    "processor",
    [SimpleSpanProcessor(BadExporter()), BadStart(), BadEnd()],
    ids=["exporter", "start of a span", "end of a span"],
)
def test_failing_processor(mode: str, processor: SpanProcessor, caplog: pytest.LogCaptureFixture) -> None:
    """An exporter or a processor that raises is logged, and the answer is the same."""
    caplog.set_level(logging.WARNING)
    tracers = TracerProvider()
    tracers.add_span_processor(processor)
    assert events_of(mode, None) == events_of(mode, OpenTelemetry(tracers))
    assert caplog.records


@both_modes
@pytest.mark.parametrize(
    ("attribute", "warnings"),
    [("_duration", 1), ("_token_usage", 1), ("_first_chunk", 1), ("_per_chunk", 1), ("_tracer", 1)],
)
def test_failing_instrument(
    mode: str, attribute: str, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    """An instrument that raises costs one warning per call, without the error's text; the span is there."""
    exported = Exported()
    expected = events_of(mode, None)
    caplog.set_level(logging.WARNING)
    setattr(exported.observer, attribute, Bad())
    assert expected == events_of(mode, exported.observer)
    found = [record.getMessage() for record in caplog.records if record.name == "plait.telemetry"]
    assert warnings == len(found)
    assert all("ZeroDivisionError" in text and "zebra" not in text for text in found)
    assert (0 if attribute == "_tracer" else 1) == len(exported.spans)


def test_failing_content(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Content that cannot be written is left out; the rest of the span is there."""

    def bad(*_arguments: Any) -> Any:
        raise ZeroDivisionError("zebra")

    monkeypatch.setattr("plait.telemetry.content.request_content", bad)
    monkeypatch.setattr("plait.telemetry.content.response_content", bad)
    exported = Exported(content=True)
    assert events_of("sync", None) == events_of("sync", exported.observer)
    assert ("stop",) == exported.attributes["gen_ai.response.finish_reasons"]
    assert 2 == len(caplog.records)
    assert "zebra" not in caplog.text


def test_global_providers() -> None:
    """Without providers the global ones are used: where a program sets none up, nothing comes of it."""
    assert events_of("sync", None) == events_of("sync", OpenTelemetry())
    assert not trace.get_current_span().is_recording()


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenTelemetry's API, making the observer says what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigurationError, match=r"pip install plait\[otel\]"):
        OpenTelemetry()


@pytest.mark.parametrize(
    "code",
    ["import plait", "import plait; plait.Model('mock/any').generate('Hi')", "import plait.telemetry"],
    ids=["import", "a call", "the module"],
)
def test_loads_late(code: str) -> None:
    """Only making the observer loads OpenTelemetry."""
    script = f"{code}\nimport sys\nprint('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()


def test_needs_the_api_alone() -> None:
    """Neither the SDK nor the package of the conventions is needed at run time."""
    script = (
        "import sys\n"
        "import plait\n"
        "sys.modules['opentelemetry.sdk'] = sys.modules['opentelemetry.semconv'] = None\n"
        "from plait.telemetry import OpenTelemetry\n"
        "model = plait.Model('mock/any', observer=OpenTelemetry(content=True))\n"
        "print(''.join(event.content for event in model.stream('Good day') if event.type == 'text_delta'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ("Good day", "") == (done.stdout.strip(), done.stderr)


def test_repr() -> None:
    """An observer says whether it writes content."""
    assert ["OpenTelemetry(content=False)", "OpenTelemetry(content=True)"] == [
        repr(OpenTelemetry(content=content)) for content in (False, True)
    ]
