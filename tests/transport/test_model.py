"""What a model sends, and what it can be told."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
import respx
from asking import END, HELLO, ONCE, QUICK, WHOLE, ask, both_modes, generate, local
from checking import sse

import plait
from plait import ConfigurationError, InvalidDataError, Model, UnknownWireError
from plait.framing import ServerSentEvent

STREAM = {"content-type": "text/event-stream"}
KEY = "key-for-tests"


def sent(
    mode: str, model: Model, url: str, messages: Any = "Hi", *, stream: bool = True, **options: Any
) -> httpx.Request:
    """The one request that a call makes, to that URL and no other."""
    answer = (
        httpx.Response(200, headers=STREAM, content=b"".join(HELLO + END))
        if stream
        else httpx.Response(200, json=WHOLE)
    )
    with respx.mock:
        route = respx.post(url).mock(return_value=answer)
        try:
            if stream:
                ask(mode, model, messages, **options)
            else:
                generate(mode, model, messages, **options)
        except plait.PlaitError:
            assert "openai-chat" != model.wire
        (call,) = route.calls
        request: httpx.Request = call.request
        return request


@both_modes
@pytest.mark.parametrize(
    ("name", "stream_url", "whole_url", "header"),
    [
        ("openai/gpt-5", "https://api.openai.com/v1/responses", None, ("authorization", f"Bearer {KEY}")),
        ("anthropic/claude-sonnet-4-5", "https://api.anthropic.com/v1/messages", None, ("x-api-key", KEY)),
        (
            "gemini/gemini-3-pro",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
            ("x-goog-api-key", KEY),
        ),
        ("mistral/m", "https://api.mistral.ai/v1/chat/completions", None, ("authorization", f"Bearer {KEY}")),
        ("cohere/m", "https://api.cohere.com/v2/chat", None, ("authorization", f"Bearer {KEY}")),
        (
            "groq/org/m",
            "https://api.groq.com/openai/v1/chat/completions",
            None,
            ("authorization", f"Bearer {KEY}"),
        ),
    ],
    ids=lambda value: value.partition("/")[0] if isinstance(value, str) and "//" not in value else "",
)
def test_where_and_how(
    name: str, stream_url: str, whole_url: str | None, header: tuple[str, str], mode: str
) -> None:
    """The catalogue says where a model is, and how the key is sent."""
    for stream, url in ((True, stream_url), (False, whole_url or stream_url)):
        request = sent(mode, Model(name, api_key=KEY, retries=ONCE), url, stream=stream)
        assert header[1] == request.headers[header[0]]
        assert "application/json" == request.headers["content-type"]
        assert request.headers["user-agent"].startswith("plait/")
        body = json.loads(request.content)
        if "models" not in url:
            assert (name.partition("/")[2], stream) == (body["model"], body.get("stream", False))


def test_anthropic_says_its_version() -> None:
    """A header that a provider demands is in its row."""
    request = sent(
        "sync", Model("anthropic/m", api_key=KEY, retries=ONCE), "https://api.anthropic.com/v1/messages"
    )
    assert "2023-06-01" == request.headers["anthropic-version"]


def test_everything_can_be_overridden() -> None:
    """URL, wire format, headers and options are the caller's, over those of the row."""
    model = Model(
        "anthropic/m",
        api_key=KEY,
        base_url="http://here.test/base/",
        wire="openai-chat",
        headers={"Anthropic-Version": "2", "X-Mine": "yes"},
        options={"temperature": 0.5, "max_output_tokens": 7},
        retries=ONCE,
    )
    request = sent("sync", model, "http://here.test/base/chat/completions", temperature=0.25)
    assert ("2", "yes") == (request.headers["anthropic-version"], request.headers["x-mine"])
    body = json.loads(request.content)
    assert (0.25, 7) == (body["temperature"], body["max_completion_tokens"])


@both_modes
def test_a_callable_gives_the_key_of_each_attempt(mode: str) -> None:
    """A token that expires is asked for anew when a call is tried again."""
    keys = iter(["first-key", "second-key"])
    with respx.mock:
        route = respx.post("http://here.test/chat/completions").mock(
            side_effect=[
                httpx.Response(500),
                httpx.Response(200, headers=STREAM, content=b"".join(HELLO + END)),
            ]
        )
        answered = ask(mode, local("http://here.test", api_key=lambda: next(keys), retries=QUICK))
    assert None is answered.error
    assert ["Bearer first-key", "Bearer second-key"] == [
        call.request.headers["authorization"] for call in route.calls
    ]


def test_a_coroutine_gives_the_key() -> None:
    """Of an asynchronous call; a synchronous one cannot wait for it."""

    async def key() -> str:
        return KEY

    request = sent("async", local("http://here.test", api_key=key), "http://here.test/chat/completions")
    assert f"Bearer {KEY}" == request.headers["authorization"]
    with pytest.raises(ConfigurationError, match="api_key is a coroutine function: use astream or agenerate"):
        list(local("http://here.test", api_key=key).stream("Hi"))


@both_modes
def test_the_environment_gives_the_key(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read at each call; without one the error names the variable."""
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    model = Model("groq/m", retries=ONCE)
    with pytest.raises(
        ConfigurationError, match="groq: expected an API key: pass api_key=, or set GROQ_API_KEY"
    ):
        generate(mode, model)
    monkeypatch.setenv("GROQ_API_KEY", f" {KEY}\n")
    request = sent(mode, model, "https://api.groq.com/openai/v1/chat/completions")
    assert f"Bearer {KEY}" == request.headers["authorization"]


def test_a_caller_that_signs() -> None:
    """An authorization header of the caller's own takes the place of a key."""
    model = Model("groq/m", headers={"Authorization": "Custom abc"}, retries=ONCE)
    request = sent("sync", model, "https://api.groq.com/openai/v1/chat/completions")
    assert "Custom abc" == request.headers["authorization"]


@pytest.mark.parametrize(
    "key", ["with space inside", "line\nend", "schlüssel", 7], ids=["space", "line", "umlaut", "int"]
)
def test_keys_that_cannot_be(key: Any) -> None:
    """What no header can hold is refused, and not shown."""
    with pytest.raises(ConfigurationError) as raised:
        list(local("http://here.test", api_key=key).stream("Hi"))
    assert str(key) not in str(raised.value)


def test_bad_requests_are_refused_before_anything_is_sent() -> None:
    """Unknown options, wires, dialects and settings, and histories that a provider refuses."""
    model = local("http://here.test")
    with pytest.raises(InvalidDataError, match="unknown option 'temprature'"):
        model.stream("Hi", temprature=1)
    with pytest.raises(InvalidDataError, match="at least one message"):
        model.generate([])
    with pytest.raises(UnknownWireError, match="unknown wire format 'smoke'"):
        Model("openai/m", wire="smoke")
    with pytest.raises(UnknownWireError, match="no dialect 'smoke'"):
        Model("openai/m", dialect="smoke")
    with pytest.raises(ConfigurationError, match="openai has no setting 'region'; its settings: endpoint"):
        Model("openai/m", region="here")


def test_what_is_known_of_an_answer() -> None:
    """Status, request id and rate limits are there as soon as the block is entered."""
    headers = {
        **STREAM,
        "x-request-id": "req_9",
        "x-ratelimit-remaining-tokens": "7",
        "set-cookie": "secret=1",
    }
    with respx.mock:
        respx.post("http://here.test/chat/completions").respond(
            200, headers=headers, content=b"".join(HELLO + END)
        )
        with local("http://here.test") as model, model.stream("Hi") as stream:
            assert stream.response is not None
            assert (200, "req_9", 1) == (
                stream.response.status, stream.response.request_id, stream.response.attempts,
            )  # fmt: skip
            assert {"x-ratelimit-remaining-tokens": "7"} == stream.response.rate_limits
            assert "set-cookie" not in stream.response.headers
            assert None is stream.usage
            list(stream)
            assert stream.usage is not None
            assert 5 == stream.usage.total_tokens


def test_raw_frames_are_shown() -> None:
    """`on_frame` is given every frame, those that cause no event included."""
    frames: list[Any] = []
    body = [b": ping\n\n", *HELLO, *END]
    with respx.mock:
        respx.post("http://here.test/chat/completions").respond(200, headers=STREAM, content=b"".join(body))
        ask("sync", local("http://here.test", on_frame=frames.append))
        whole = [frame.data for frame in frames if isinstance(frame, ServerSentEvent)]
        assert 5 == len(whole) == len(frames)
        assert "[DONE]" == whole[-1]
        frames.clear()
        respx.post("http://here.test/chat/completions").respond(200, json=WHOLE)
        generate("sync", local("http://here.test", on_frame=frames.append))
    assert WHOLE == json.loads(b"".join(frames))


def test_reading_options() -> None:
    """Options of the parser, such as think tags, are the model's."""
    body = b"".join(
        [sse({"id": "c", "choices": [{"index": 0, "delta": {"content": "<think>hm</think>Yes"}}]}), *END]
    )
    with respx.mock:
        respx.post("http://here.test/chat/completions").respond(200, headers=STREAM, content=body)
        answered = ask("sync", local("http://here.test", reading={"think_tags": True}))
    assert ("hm", "Yes") == (answered.message.reasoning_text, answered.message.text)
    with pytest.raises(UnknownWireError, match="no option 'thinc'"):
        local("http://here.test", reading={"thinc": True}).stream("Hi")


def test_half_a_surrogate_pair_is_sent_escaped() -> None:
    """Text that is no Unicode does not keep a request from being made."""
    request = sent("sync", local("http://here.test"), "http://here.test/chat/completions", "a\ud83d")
    assert b"a" in request.content


def test_logging_is_silent_unless_asked(caplog: pytest.LogCaptureFixture) -> None:
    """The transport tells what it does at DEBUG, without bodies and keys."""
    with respx.mock, caplog.at_level(logging.DEBUG, logger="plait"):
        respx.post("http://here.test/chat/completions").respond(
            200, headers=STREAM, content=b"".join(HELLO + END)
        )
        ask("sync", local("http://here.test", api_key=KEY), "A secret question")
    text = caplog.text
    assert "openai-compatible: POST here.test/chat/completions (openai-chat, attempt 1)" in text
    assert "HTTP 200" in text
    assert "complete after" in text
    assert KEY not in text
    assert "secret question" not in text
    assert "Hello" not in text


def test_plan_sends_nothing() -> None:
    """`plan` tells what would be sent."""
    plan = Model("anthropic/m").plan("Hi", seed=7)
    assert "m" == plan.body["model"]
    assert ["seed"] == [note.what for note in plan.notes if note.kind == "dropped"]


def test_reprs_are_short() -> None:
    """A model and a stream say what they are."""
    model = local("http://here.test", api_key=KEY)
    assert "Model('openai-compatible/m', wire='openai-chat')" == repr(model)
    assert "<Stream openai-compatible/m: waiting>" == repr(model.stream("Hi"))
