"""Error answers of odd shapes: a typed error all the same, and the wait that the provider asked for."""

from __future__ import annotations

import gzip
import json
import pickle
import time
from email.utils import formatdate
from typing import Any

import httpx
import pytest
import respx
from asking import END, HELLO, QUICK, ask, both_modes, local

import plait
from plait import Retry
from plait.transport import ResponseInfo

URL = "http://provider.test/v1"
STREAM = {"content-type": "text/event-stream"}
PLAIN = b"".join(HELLO + END)


def answered(mode: str, *responses: httpx.Response, **settings: Any) -> Any:
    """What comes of a call that gets these responses, one for each attempt."""
    with respx.mock:
        respx.post(f"{URL}/chat/completions").mock(side_effect=list(responses))
        return ask(mode, local(URL, **settings))


class Bytes(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body as it is on the wire."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Any:
        yield self._data

    async def __aiter__(self) -> Any:
        yield self._data


def coded(coding: str, data: bytes, status: int = 200) -> httpx.Response:
    return httpx.Response(status, headers={**STREAM, "content-encoding": coding}, stream=Bytes(data))


@both_modes
@pytest.mark.parametrize("coding", ["x-gzip", "X-GZip", "gzip", "identity, x-gzip"])
def test_names_of_gzip(coding: str, mode: str) -> None:
    """`x-gzip` is gzip (RFC 9110, 8.4.1.3), in any case."""
    assert "Hello" == answered(mode, coded(coding, gzip.compress(PLAIN))).message.text


@both_modes
@pytest.mark.parametrize("coding", ["utf-8", "UTF8", "none", "identity", ""])
def test_codings_that_are_none(coding: str, mode: str) -> None:
    """Some servers name a character set there, or say that there is no coding: the body is plain."""
    assert "Hello" == answered(mode, coded(coding, PLAIN)).message.text


@both_modes
@pytest.mark.parametrize("coding", ["utf-8", "none", "snappy", "gzip", "br", "gzip, nonsense"])
def test_an_error_with_a_nonsense_coding(coding: str, mode: str) -> None:
    """The status is enough to say what the matter is; where the body is plain its words are there, too."""
    refusal = json.dumps({"error": {"message": "The key is wrong."}}).encode()
    error = answered(mode, coded(coding, refusal, status=401)).error
    assert isinstance(error, plait.AuthenticationError), error
    assert 401 == error.status
    if coding in ("utf-8", "none", "snappy"):
        assert "The key is wrong." == error.message


@both_modes
@pytest.mark.parametrize("depth", [300, 900, 960, 985, 990, 1000, 100_000])
def test_an_error_that_is_nested_deeply(depth: int, mode: str) -> None:
    """However deep: a typed error, with its key nowhere in it."""
    key = "gsk_InventedKeyForTests0123456789"
    nested = b"[" * depth + json.dumps(key).encode() + b"]" * depth
    body = b'{"error":{"message":"No.","details":' + nested + b"}}"
    error = answered(mode, httpx.Response(400, content=body), api_key=key).error
    assert isinstance(error, plait.BadRequestError), error
    assert key not in str(error)
    if depth <= 300:
        assert "No." == error.message


def test_an_error_that_is_nested_deeply_in_a_stream() -> None:
    """The same where it comes as a frame of an answer."""
    nested = b"[" * 985 + b"]" * 985
    body = b'data: {"error":{"message":"No.","code":"server_error","details":' + nested + b"}}\n\n"
    error = answered("sync", httpx.Response(200, headers=STREAM, content=body)).error
    assert isinstance(error, plait.PlaitError), error


class Enough(Exception):
    """The wait is known, and need not be waited."""


def wait_after(mode: str, headers: dict[str, str]) -> float:
    """Seconds that are waited after a 429 with these headers."""
    waits: list[float] = []

    def note(retry: Retry) -> None:
        waits.append(retry.wait)
        raise Enough

    with pytest.raises(Enough):
        answered(mode, httpx.Response(429, headers=headers), retries=QUICK, on_retry=note)
    return waits[0]


def in_seconds(seconds: float) -> str:
    return formatdate(time.time() + seconds, usegmt=True)


@both_modes
def test_a_date_to_wait_for(mode: str) -> None:
    """It counts from the server's own date, and from our clock where it tells none."""
    assert 28 <= wait_after(mode, {"retry-after": in_seconds(30)}) <= 30
    both = {"retry-after": in_seconds(1030), "date": in_seconds(1000)}
    assert 29 <= wait_after(mode, both) <= 31


@both_modes
@pytest.mark.parametrize(
    "asked",
    ["3600", "999999999999", "9" * 30, "9" * 300, "9" * 30 + ".5", "a date"],
    ids=["an hour", "12 digits", "30 digits", "300 digits", "a fraction", "a date"],
)
def test_a_wait_that_is_too_long(asked: str, mode: str) -> None:
    """The error is raised at once, and says how long the provider asked for."""
    headers = {"retry-after": in_seconds(7200) if asked == "a date" else asked}
    result = answered(mode, httpx.Response(429, headers=headers), retries=QUICK)
    assert isinstance(result.error, plait.RateLimitError)
    assert 1 == result.attempts
    assert result.error.retry_after is not None
    assert result.error.retry_after >= 3600


@both_modes
@pytest.mark.parametrize("asked", ["-5", "0", "nan", "inf", "soon", "1e3", "+1", "Wed, 99 Foo 2020", "past"])
def test_a_wait_that_says_nothing(asked: str, mode: str) -> None:
    """Our own wait takes its place."""
    value = in_seconds(-100) if asked == "past" else asked
    assert QUICK.first_wait == wait_after(mode, {"retry-after": value})


def test_what_is_known_of_a_response_is_pickled() -> None:
    """A worker process can send it back, and the error that came with it."""
    with respx.mock:
        respx.post(f"{URL}/chat/completions").respond(
            429,
            json={"error": {"message": "Slow down."}},
            headers={"x-request-id": "req_1", "retry-after": "99"},
        )
        stream = local(URL).stream("Hi")
        with pytest.raises(plait.RateLimitError) as caught:
            list(stream)
    assert isinstance(stream.response, ResponseInfo)
    copied = pickle.loads(pickle.dumps(stream.response))
    assert stream.response == copied
    assert (429, "req_1", {"retry-after": "99"}) == (copied.status, copied.request_id, copied.rate_limits)
    error = pickle.loads(pickle.dumps(caught.value))
    assert ("Slow down.", 99.0, "req_1") == (error.message, error.retry_after, error.request_id)
