"""How a call's span ends: failed, tried again, left, dropped; and whose child it is."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import httpx
import pytest
from checking import sse
from exported import (
    KEY,
    USAGE,
    Exported,
    answering,
    ask,
    both_modes,
    chat,
    delta,
    finish,
    streamed,
)
from opentelemetry import trace
from opentelemetry.trace import StatusCode

from plait import ConfigurationError, Model, Retry

WHOLE = (sse(delta(content="Hel")), sse(delta(content="lo")), sse(finish(), USAGE, "[DONE]"))


def mock(exported: Exported) -> Model:
    return Model("mock/any", observer=exported.observer)


@both_modes
@pytest.mark.parametrize(
    ("answer", "error_type"),
    [
        (401, "AuthenticationError"),
        (400, "BadRequestError"),
        (httpx.ConnectError("no"), "TransportError"),
        (httpx.ConnectTimeout("late"), "RequestTimeoutError"),
        ("cut", "IncompleteStreamError"),
        ("broken", "IncompleteStreamError"),
        ("html", "ProtocolError"),
    ],
    ids=["401", "400", "no server", "connect timeout", "cut", "broken connection", "not the wire"],
)
def test_failed_call(mode: str, answer: Any, error_type: str) -> None:
    """A call that fails has the error's class as `error.type` and the status ERROR, without a text."""
    exported = Exported()
    answers: dict[str, Any] = {
        "cut": lambda: streamed(WHOLE[0]),
        "broken": lambda: streamed(WHOLE[0], break_off=True),
        "html": lambda: streamed(b"data: <html>\n\n"),
    }
    if isinstance(answer, int):
        made = [httpx.Response(answer, json={"error": {"message": "No."}})]
    else:
        made = [answers[answer]() if isinstance(answer, str) else answer for _ in range(3)]
    asked = chat(mode, exported, answering(*made))
    _, error = ask(mode, asked)
    assert error_type == type(error).__name__
    assert error_type == exported.attributes["error.type"]
    assert (StatusCode.ERROR, None) == (exported.span.status.status_code, exported.span.status.description)
    assert "plait.incomplete" not in exported.attributes


def test_failed_call_tells_what_came() -> None:
    """What was known of an answer that broke is told: its id and model. It has no finish reason."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(streamed(WHOLE[0]))))
    found = exported.attributes
    assert ("c1", "gpt-x-2") == (found["gen_ai.response.id"], found["gen_ai.response.model"])
    assert "gen_ai.response.finish_reasons" not in found


@both_modes
def test_retries(mode: str) -> None:
    """Each attempt that is made again is an event of the one span, which ends well."""
    exported = Exported()
    answers = answering(httpx.Response(503), httpx.ConnectError("no"), streamed(*WHOLE))
    assert ask(mode, chat(mode, exported, answers))[1] is None
    events: list[tuple[str, dict[str, Any]]] = [
        (event.name, dict(event.attributes or {})) for event in exported.span.events
    ]
    waits = [facts.pop("plait.retry.wait") for _, facts in events]
    assert [
        (
            "plait.retry",
            {"plait.retry.attempt": 1, "error.type": "OverloadedError", "http.response.status_code": 503},
        ),
        ("plait.retry", {"plait.retry.attempt": 2, "error.type": "TransportError"}),
    ] == events
    assert all(0 < wait < 1 for wait in waits)
    assert ("stop",) == exported.attributes["gen_ai.response.finish_reasons"]
    assert "error.type" not in exported.attributes


@both_modes
def test_parent(mode: str) -> None:
    """The parent is the span that was current when the call was made, wherever the answer is read."""
    exported = Exported()
    tracer = exported.tracers.get_tracer("test")
    with tracer.start_as_current_span("parent") as parent:
        asked = mock(exported)
        stream: Any = asked.stream("Hi") if mode == "sync" else asked.astream("Hi")
    with tracer.start_as_current_span("elsewhere"):
        if mode == "sync":
            list(stream)
        else:

            async def read() -> None:
                async for _ in stream:
                    pass

            asyncio.run(read())
    call = next(span for span in exported.spans if span.name == "chat any")
    assert call.parent is not None
    assert parent.get_span_context().span_id == call.parent.span_id


def test_not_current_while_read() -> None:
    """What its reader does between two events is not done inside the call's span."""
    exported = Exported()
    with exported.tracers.get_tracer("test").start_as_current_span("outer") as outer:
        for _ in mock(exported).stream("Good day"):
            assert outer is trace.get_current_span()


@both_modes
def test_left_early(mode: str) -> None:
    """A stream that its reader leaves is no error, and its span ends at once, marked as incomplete."""
    exported = Exported()

    async def leave() -> None:
        async with mock(exported).astream("One two three") as stream:
            async for event in stream:
                if type(event).__name__ == "TextDelta":
                    break

    if mode == "async":
        asyncio.run(leave())
    else:
        with mock(exported).stream("One two three") as stream:
            next(event for event in stream if type(event).__name__ == "TextDelta")
    found = exported.attributes
    assert found["plait.incomplete"] is True
    assert "chatcmpl-mock" == found["gen_ai.response.id"]
    assert "error.type" not in found
    assert StatusCode.UNSET == exported.span.status.status_code


def test_ended_once() -> None:
    """Closing a stream again, after its end or after it was left, ends nothing twice."""
    exported = Exported()
    stream = mock(exported).stream("Hi")
    list(stream)
    stream.close()
    stream.close()
    left = mock(exported).stream("Hi")
    next(left)
    left.close()
    left.close()
    assert 2 == len(exported.spans)
    assert 2 == sum(point.count for _, point in exported.points("gen_ai.client.operation.duration"))


@both_modes
def test_never_read(mode: str) -> None:
    """A stream that is made and dropped ends its span, too."""
    exported = Exported()
    asked = mock(exported)
    stream: Any = asked.stream("Hi") if mode == "sync" else asked.astream("Hi")
    assert () == exported.spans
    del stream
    gc.collect()
    assert exported.attributes["plait.incomplete"] is True


def test_cancelled() -> None:
    """A task that is cancelled while it waits for an answer leaves a failed span."""
    exported = Exported()

    async def never(_request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def cancel() -> None:
        client = httpx.AsyncClient(transport=httpx.MockTransport(never))
        asked = Model("mock/any", http_client=client, observer=exported.observer)
        task = asyncio.create_task(asked.agenerate("Hi"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancel())
    assert "CancelledError" == exported.attributes["error.type"]
    assert StatusCode.ERROR == exported.span.status.status_code


def test_failing_hook() -> None:
    """An error that is not of the answer, such as one of the caller's own hook, ends the span as well."""
    exported = Exported()

    def hook(_retry: Retry) -> None:
        raise LookupError(KEY)

    with pytest.raises(LookupError):
        ask("sync", chat("sync", exported, answering(httpx.Response(503)), on_retry=hook))
    assert "LookupError" == exported.attributes["error.type"]
    assert KEY not in exported.everything()


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that could not be signed is a failed one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    exported = Exported()
    _, error = ask("sync", chat("sync", exported, answering(), api_key=None))
    assert isinstance(error, ConfigurationError)
    assert "ConfigurationError" == exported.attributes["error.type"]
