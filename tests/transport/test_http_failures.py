"""What is not an answer: error statuses, no server at all. What is tried again, when, and what is raised."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx
import pytest
import respx
from asking import END, HELLO, ONCE, QUICK, WHOLE, ask, both_modes, generate, local
from checking import sse

import plait
from local_server import RESET, Answer, LocalServer, steps
from plait import Model, PlaitError, Retries, Retry, TransportError

URL = "http://provider.test/v1"
STREAM = {"content-type": "text/event-stream"}
ANSWER = httpx.Response(200, headers=STREAM, content=b"".join(HELLO + END))

STATUSES = [
    (400, plait.BadRequestError, False),
    (401, plait.AuthenticationError, False),
    (403, plait.PermissionDeniedError, False),
    (404, plait.NotFoundError, False),
    (408, plait.ServerError, True),
    (409, plait.ProviderError, True),
    (413, plait.BadRequestError, False),
    (422, plait.BadRequestError, False),
    (429, plait.RateLimitError, True),
    (500, plait.ServerError, True),
    (502, plait.ServerError, True),
    (503, plait.ServerError, True),
    (529, plait.OverloadedError, True),
]


def error_body(message: str = "No.") -> dict[str, Any]:
    return {"error": {"message": message, "type": "an_error", "code": None}}


@both_modes
@pytest.mark.parametrize(("status", "error", "again"), STATUSES, ids=lambda value: str(value))
def test_statuses(status: int, error: type[PlaitError], again: bool, mode: str) -> None:
    """Each status is its typed error; those that may pass are tried as often as allowed."""
    with respx.mock:
        route = respx.post(f"{URL}/chat/completions").respond(
            status, json=error_body(), headers={"x-request-id": "req_1"}
        )
        answered = ask(mode, local(URL, retries=QUICK))
    assert isinstance(answered.error, error)
    assert isinstance(answered.error, plait.ProviderError)
    assert (status, "req_1", "No.") == (
        answered.error.status, answered.error.request_id, answered.error.message,
    )  # fmt: skip
    assert (3 if again else 1) == route.call_count == answered.attempts


@both_modes
def test_the_second_attempt_may_do(mode: str) -> None:
    """An overloaded provider is asked again, and its answer is whole."""
    with respx.mock:
        respx.post(f"{URL}/chat/completions").mock(
            side_effect=[httpx.Response(529, json=error_body()), httpx.ConnectError("refused"), ANSWER]
        )
        answered = ask(mode, local(URL, retries=QUICK))
    assert (None, "Hello", 3) == (answered.error, answered.message.text, answered.attempts)


@both_modes
def test_retries_are_told(mode: str) -> None:
    """`on_retry` is given the attempt, the wait and the error, before each new attempt."""
    told: list[Retry] = []
    with respx.mock:
        respx.post(f"{URL}/chat/completions").mock(
            side_effect=[httpx.Response(500, json=error_body()), httpx.ReadError("gone"), ANSWER]
        )
        ask(mode, local(URL, retries=QUICK, on_retry=told.append))
    assert [(1, 0.01), (2, 0.02)] == [(retry.attempt, retry.wait) for retry in told]
    assert [plait.ServerError, TransportError] == [type(retry.error) for retry in told]


@both_modes
@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"retry-after": "0.05"}, 0.05), ({"retry-after-ms": "30"}, 0.03), ({}, 0.01)],
    ids=["seconds", "milliseconds", "not said"],
)
def test_the_providers_wait_is_kept(headers: dict[str, str], wait: float, mode: str) -> None:
    """`retry-after` and `retry-after-ms` decide how long is waited."""
    told: list[Retry] = []
    with respx.mock:
        respx.post(f"{URL}/chat/completions").mock(
            side_effect=[httpx.Response(429, json=error_body(), headers=headers), ANSWER]
        )
        answered = ask(mode, local(URL, retries=QUICK, on_retry=told.append))
    assert None is answered.error
    assert [wait] == [retry.wait for retry in told]


@both_modes
def test_a_wait_that_is_too_long_is_not_waited(mode: str) -> None:
    """A provider that asks for an hour is not waited for: its error says how long it asked."""
    with respx.mock:
        route = respx.post(f"{URL}/chat/completions").respond(
            429, json=error_body(), headers={"retry-after": "3600"}
        )
        answered = ask(mode, local(URL, retries=QUICK))
    assert isinstance(answered.error, plait.RateLimitError)
    assert (3600, 1) == (answered.error.retry_after, route.call_count)


@both_modes
@pytest.mark.parametrize(("status", "verdict", "calls"), [(500, "false", 1), (400, "true", 3)])
def test_the_providers_verdict_decides(status: int, verdict: str, calls: int, mode: str) -> None:
    """`x-should-retry`, which OpenAI and Anthropic send, comes before the status."""
    with respx.mock:
        route = respx.post(f"{URL}/chat/completions").respond(
            status, json=error_body(), headers={"x-should-retry": verdict}
        )
        ask(mode, local(URL, retries=QUICK))
    assert calls == route.call_count


@both_modes
def test_nothing_is_tried_again_after_the_first_event(mode: str) -> None:
    """An answer that broke is not asked for anew: its events were handed out."""
    with LocalServer(Answer(steps(HELLO, 0.05, RESET)), Answer(HELLO + END)) as server:
        answered = ask(mode, local(server.url, retries=QUICK))
    assert isinstance(answered.error, plait.IncompleteStreamError)
    assert 1 == len(server.requests)


BUSY = sse({"error": {"message": "busy", "type": "overloaded_error"}})
EARLY_FAILURES = {
    "a reset behind the headers": Answer((RESET,)),
    "an empty body": Answer(()),
    "a reset behind a ping": Answer((b": ping\n\n", 0.05, RESET)),
    "an overloaded error": Answer((BUSY,)),
}


@both_modes
@pytest.mark.parametrize("first", EARLY_FAILURES.values(), ids=EARLY_FAILURES)
def test_what_fails_before_the_first_event_is_tried_again(first: Answer, mode: str) -> None:
    """Nothing was handed out yet, so another attempt can take its place."""
    with LocalServer(first, Answer(HELLO + END)) as server:
        answered = ask(mode, local(server.url, retries=QUICK))
    assert (None, "Hello", 2) == (answered.error, answered.message.text, len(server.requests))


@both_modes
def test_no_server(mode: str) -> None:
    """A refused connection is a TransportError that names the place, the reason and the attempts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answered = ask(mode, local(f"http://127.0.0.1:{port}/v1", retries=QUICK))
    assert isinstance(answered.error, TransportError)
    assert ("openai-compatible", 3) == (answered.error.provider, answered.error.attempts)
    assert f"no answer from 127.0.0.1:{port}/v1/chat/completions: ConnectError" in str(answered.error)


@both_modes
def test_a_server_that_hangs_up(mode: str) -> None:
    """A connection that ends before any response is a TransportError, too."""
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            for _ in range(1):
                connection, _ = listening.accept()
                connection.recv(1000)
                connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        answered = ask(mode, local(f"http://127.0.0.1:{listening.getsockname()[1]}/v1"))
        thread.join(5)
    assert isinstance(answered.error, TransportError)


@both_modes
def test_a_redirect_is_not_followed(mode: str) -> None:
    """A key is not sent where the provider did not say: a redirect is an error that names the host."""
    with respx.mock:
        respx.post(f"{URL}/chat/completions").respond(308, headers={"location": "https://elsewhere.test/x"})
        elsewhere = respx.post("https://elsewhere.test/x").respond(200)
        answered = ask(mode, local(URL))
    assert isinstance(answered.error, plait.ProviderError)
    assert "redirected to elsewhere.test" in str(answered.error)
    assert 0 == elsewhere.call_count


@both_modes
def test_a_long_error_page_is_cut(mode: str) -> None:
    """Of an endless error page only its start is read."""
    page = b"<html><title>Bad gateway</title>" + b"x" * 100_000
    with LocalServer(
        Answer(steps([page] * 100), status=502, headers={"content-type": "text/html"})
    ) as server:
        answered = ask(mode, local(server.url))
    assert isinstance(answered.error, plait.ServerError)
    assert "Bad gateway" in str(answered.error)
    assert len(str(answered.error)) < 1000


@both_modes
def test_generate_fails_alike(mode: str) -> None:
    """`generate` raises the same errors, and tries again in the same way."""
    with respx.mock:
        route = respx.post(f"{URL}/chat/completions").mock(
            side_effect=[httpx.Response(503, json=error_body()), httpx.Response(200, json=WHOLE)]
        )
        assert "Hello" == generate(mode, local(URL, retries=QUICK)).text
        route.mock(return_value=httpx.Response(404, json=error_body("no such model")))
        with pytest.raises(plait.NotFoundError, match="no such model"):
            generate(mode, local(URL, retries=QUICK))


@both_modes
def test_a_whole_answer_that_is_cut(mode: str) -> None:
    """A JSON body that ends early is incomplete; it can be asked for again, since nothing was handed out."""
    half = json.dumps(WHOLE).encode()[:-20]
    with LocalServer(
        Answer((half,), headers={"content-type": "application/json"}, framing="close")
    ) as server:
        with pytest.raises(plait.IncompleteStreamError):
            generate(mode, local(server.url, retries=QUICK))
        assert 3 == len(server.requests)


def test_waits_grow_and_are_bounded() -> None:
    """Each wait is twice the last, never above the longest, less what is left to chance."""
    retries = Retries(limit=6, first_wait=0.5, longest_wait=4, jitter=0.5)
    assert [0.5, 1, 2, 4, 4, 4, None] == [retries.wait(n, None, lambda: 0.0) for n in range(1, 8)]
    assert [0.25, 0.5] == [retries.wait(n, None, lambda: 1.0) for n in (1, 2)]
    assert 7 == retries.wait(1, 7.0)
    assert None is retries.wait(7, 7.0)
    assert None is retries.wait(1, 61.0)


def test_names_say_where_it_goes() -> None:
    """An unknown provider, and a name without one, are errors that say what to do."""
    with pytest.raises(plait.ConfigurationError, match=r"unknown provider 'nobody'.*openai-compatible/MODEL"):
        Model("nobody/m")
    with pytest.raises(plait.ConfigurationError, match="expected PROVIDER/MODEL"):
        Model("gpt-5")
    assert "meta-llama/l" == Model("meta-llama/l", base_url=URL, wire="openai-chat").model


def test_once_is_once() -> None:
    """The limit counts attempts after the first."""
    assert None is ONCE.wait(1, None)
