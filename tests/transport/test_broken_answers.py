"""Answers that break: what came before is handed out, then one typed error, the same in both modes."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest
from asking import END, HELLO, ask, both_modes, delta, local
from checking import sse

import plait
from local_server import RESET, Answer, LocalServer, steps
from plait import IncompleteStreamError

JSON = {"content-type": "application/json"}

BROKEN = {
    "a clean end of a chunked body": Answer(HELLO),
    "a clean end of a body that the connection ends": Answer(HELLO, framing="close"),
    "a reset": Answer(steps(HELLO, 0.05, RESET)),
    "a chunked body without its last chunk": Answer(HELLO, cut=True),
    "a body shorter than its length": Answer(HELLO, framing="length", length=10_000),
    "half a frame": Answer(steps(HELLO, sse(delta("never"))[:-20]), framing="close"),
}


@both_modes
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_incomplete(name: str, mode: str) -> None:
    """Whatever way the body ends before its terminal event: the events, then IncompleteStreamError."""
    with LocalServer(BROKEN[name]) as server:
        answered = ask(mode, local(server.url))
    assert ["Hel", "lo"] == [event.content for event in answered.events if isinstance(event, plait.TextDelta)]
    error = answered.error
    assert isinstance(error, IncompleteStreamError), error
    assert error.partial_message is not None
    assert "Hello" == error.partial_message.text == answered.message.text
    assert error.usage is None
    assert error.last_event == answered.events[-1]
    assert sum(map(len, HELLO)) <= error.bytes_read
    assert 1 == answered.attempts


@both_modes
def test_usage_that_was_reported_is_kept(mode: str) -> None:
    """An error after a report of usage says what was used."""
    usage = {"id": "c1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}
    with LocalServer(Answer(steps(HELLO, sse(usage), 0.05, RESET))) as server:
        answered = ask(mode, local(server.url))
    assert isinstance(answered.error, IncompleteStreamError)
    assert answered.error.usage is not None
    assert 7 == answered.error.usage.input_tokens
    assert "usage is reported" in str(answered.error)


@both_modes
def test_the_reason_is_in_the_message(mode: str) -> None:
    """A reset says that the connection broke, what was read, and that the usage is unknown."""
    with LocalServer(BROKEN["a reset"]) as server:
        answered = ask(mode, local(server.url))
    assert "openai-chat: the connection broke (ReadError" in str(answered.error)
    assert "usage is unknown" in str(answered.error)


def _gzip_stream(*parts: bytes) -> list[bytes]:
    packer = zlib.compressobj(wbits=31)
    return [packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) for part in parts]


@both_modes
@pytest.mark.parametrize("tail", [b"\xff\xff\xff\xff broken", b""], ids=["garbage", "cut"])
def test_compression_that_breaks(tail: bytes, mode: str) -> None:
    """A gzip stream that turns to garbage, or ends early, is an incomplete answer, not a crash."""
    parts = _gzip_stream(*HELLO)
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    answer = Answer(steps(parts, [tail] if tail else []), headers=headers, framing="close")
    with LocalServer(answer) as server:
        answered = ask(mode, local(server.url))
    assert isinstance(answered.error, IncompleteStreamError), answered.error
    assert "Hello" == answered.message.text


@both_modes
def test_a_reset_after_the_terminal_event_is_no_fault(mode: str) -> None:
    """Everything was said: how the connection ends no longer matters."""
    with LocalServer(Answer(steps(HELLO, END, RESET))) as server:
        answered = ask(mode, local(server.url))
    assert answered.error is None
    assert "stop" == answered.message.finish_reason


@both_modes
def test_a_reset_behind_the_finish_reason_keeps_the_usage(mode: str) -> None:
    """The finish reason is chat's terminal event; usage that came before the reset is in the message."""
    with LocalServer(Answer(steps(HELLO, END[:2], 0.05, RESET))) as server:
        answered = ask(mode, local(server.url))
    assert answered.error is None
    assert answered.message.token_usage is not None
    assert 3 == answered.message.token_usage.input_tokens


@both_modes
@pytest.mark.parametrize(
    ("body", "words"),
    [(b"<html><title>Welcome</title></html>", "html"), (b"data: {nope}\n\n", "expected a JSON object")],
    ids=["an HTML page", "a frame that is not JSON"],
)
def test_what_is_not_the_wire_format(body: bytes, words: str, mode: str) -> None:
    """Bytes of something else are a ProtocolError, and are not asked for again."""
    with LocalServer(Answer((body,))) as server:
        answered = ask(mode, local(server.url, retries=plait.Retries(first_wait=0.01)))
    assert isinstance(answered.error, plait.ProtocolError)
    assert words in str(answered.error)
    assert 1 == len(server.requests)


@both_modes
def test_an_error_in_the_stream(mode: str) -> None:
    """An error frame after text: the text, then the provider's error, with its facts."""
    frame = {
        "error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
    }
    headers = {"content-type": "text/event-stream", "x-request-id": "req_7"}
    with LocalServer(Answer(steps(HELLO, sse(frame)), headers=headers)) as server:
        answered = ask(mode, local(server.url))
    assert isinstance(answered.error, plait.RateLimitError)
    assert ("openai-compatible", "req_7") == (answered.error.provider, answered.error.request_id)
    assert "Hello" == answered.message.text


@both_modes
def test_a_whole_json_answer_to_a_streaming_request(mode: str) -> None:
    """A server that does not stream is read all the same."""
    from json import dumps

    from asking import WHOLE

    with LocalServer(Answer((dumps(WHOLE).encode(),), headers=JSON, framing="length")) as server:
        answered = ask(mode, local(server.url))
    assert answered.error is None
    assert ("Hello", "stop") == (answered.message.text, answered.message.finish_reason)


@both_modes
def test_an_error_with_status_200(mode: str) -> None:
    """A 200 whose body is an error is that error."""
    body = b'{"error":{"message":"The model is overloaded","type":"overloaded_error"}}'
    with LocalServer(Answer((body,), headers=JSON, framing="length")) as server:
        answered = ask(mode, local(server.url))
    assert isinstance(answered.error, plait.OverloadedError)
    assert [] == answered.events


@both_modes
def test_gzip_of_a_whole_stream(mode: str) -> None:
    """A compressed stream is read like any other."""
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    body: Any = gzip.compress(b"".join(HELLO + END))
    with LocalServer(Answer((body,), headers=headers)) as server:
        answered = ask(mode, local(server.url))
    assert (None, "Hello") == (answered.error, answered.message.text)
