"""Keys stay secret: whatever a call leaves behind is searched for them, for every way to sign."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import socket
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import asked
import google.auth
import httpx
import pytest

import plait
from plait.errors import ConfigurationError, PlaitError, ProtocolError, ProviderError, TransportError
from plait.providers import GoogleDefault, SigV4, find_provider
from plait.transport.secrets import Hidden, Secrets

clean = asked.clean

MARK = "MARKER"
KEY = f"{MARK}-3f9a-7bc1-55d0-e2aa"
JWT = f"eyJ{MARK}aaaa.bbbbbbbb{MARK}.cccccccc{MARK}"


class Kind(NamedTuple):
    """A way to sign: a model, how it is made, and what of it is secret."""

    name: str
    options: dict[str, Any]
    environment: dict[str, str] = {}  # noqa: RUF012
    secret: str = KEY


AZURE = {"endpoint": "unit"}
AWS = {
    "AWS_ACCESS_KEY_ID": f"AKID{MARK}00000000",
    "AWS_SECRET_ACCESS_KEY": KEY,
    "AWS_SESSION_TOKEN": f"S{KEY}",
}

KINDS = {
    "bearer": Kind("openai/m", {"wire": "openai-chat", "api_key": KEY}),
    "bearer of the environment": Kind("groq/m", {}, {"GROQ_API_KEY": KEY}),
    "bearer of a callable": Kind("mistral/m", {"api_key": lambda: KEY}),
    "optional bearer": Kind("ollama/m", {"api_key": KEY}),
    "x-api-key": Kind("anthropic/m", {"api_key": KEY}),
    "anthropic token": Kind("anthropic/m", {"api_key": f"sk-ant-oat{KEY}"}, {}, f"sk-ant-oat{KEY}"),
    "api-key": Kind("azure/m", {**AZURE, "api_key": KEY}),
    "azure token": Kind("azure/m", {**AZURE, "api_key": JWT}, {}, JWT),
    "x-goog-api-key": Kind("gemini/m", {"api_key": f"AIza{KEY}"}, {}, f"AIza{KEY}"),
    "google token": Kind("vertex/m", {"project": "p", "api_key": f"ya29.{KEY}"}, {}, f"ya29.{KEY}"),
    "google default": Kind("vertex/m", {"project": "p"}, {}, f"ya29.{KEY}"),
    "express": Kind("vertex/m", {"api_key": f"AQ.{KEY}"}, {}, f"AQ.{KEY}"),
    "bedrock key": Kind("bedrock/m", {"region": "us-east-1", "api_key": KEY}),
    "signature": Kind("bedrock/m", {"region": "us-east-1"}, AWS, f"S{KEY}"),
    "own header": Kind("openai/m", {"headers": {"Authorization": f"Custom {KEY}"}}),
    "own other header": Kind("ollama/m", {"headers": {"X-Gateway-Token": KEY}}),
    "query": Kind("openai-compatible/m", {"base_url": f"https://llm.example/v1?key={KEY}"}),
    "password": Kind("openai-compatible/m", {"base_url": f"https://me:{KEY}@llm.example/v1"}),
}

WHOLE: dict[str, Any] = {
    "openai-chat": {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
    "mistral-chat": {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
    "openai-responses": {
        "id": "r",
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    },
    "anthropic-messages": {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
    "bedrock-converse": {"output": {"message": {"content": [{"text": "Hi"}]}}, "stopReason": "end_turn"},
    "ollama-chat": {"message": {"content": "Hi"}, "done": True, "done_reason": "stop"},
}

Answer = Callable[[Kind, str], httpx.Response]


def _complete(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(200, json=WHOLE[wire], headers={"x-request-id": kind.secret, "x-echo": kind.secret})


def _refused(kind: Kind, wire: str) -> httpx.Response:
    told = {
        "message": f"Incorrect API key provided: {kind.secret}. See https://x.example",
        "type": f"bad {kind.secret}",
        "code": kind.secret,
        "param": [{kind.secret: kind.secret}],
    }
    return httpx.Response(
        401, json={"error": told, "__type": kind.secret}, headers={"request-id": kind.secret}
    )


def _refused_in_text(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(403, text=f"<html>{kind.secret} is wrong: Bearer {kind.secret}</html>")


def _refused_at_length(kind: Kind, wire: str) -> httpx.Response:
    start = "x" * (200 - len(kind.secret) + 3)
    return httpx.Response(400, json={"error": {"message": f"{start}{kind.secret} {'y' * 300}"}})


def _overloaded(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(
        503, json={"error": {"message": f"busy with {kind.secret}"}}, headers={"retry-after": "0"}
    )


def _redirected(kind: Kind, wire: str) -> httpx.Response:
    where = f"https://{kind.secret.lower()}.example/?key={kind.secret}"
    return httpx.Response(307, text=f"Moved: {kind.secret}", headers={"location": where})


def _strange_redirect(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(302, headers={"location": f"https://[{kind.secret}"})


def _page(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(200, text=f"<html>Bearer {kind.secret}", headers={"content-type": "text/html"})


def _long_page(kind: Kind, wire: str) -> httpx.Response:
    return httpx.Response(200, text=f"<html>{'x' * (194 - len(kind.secret) + 4)}{kind.secret}{'y' * 300}")


ANSWERS: dict[str, Answer] = {
    "complete": _complete,
    "refused": _refused,
    "refused in text": _refused_in_text,
    "refused at length": _refused_at_length,
    "overloaded": _overloaded,
    "redirected": _redirected,
    "strange redirect": _strange_redirect,
    "a page": _page,
    "a long page": _long_page,
}


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == "plait":
            self.said += [record.getMessage(), repr(record.args), repr(vars(record))]


@pytest.fixture
def records() -> Iterator[list[str]]:
    """What Plait's loggers say while all of them say everything."""
    handler, root = _Records(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler.said
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    """One of the ways to sign, with credentials to be found where it looks for them."""
    found = KINDS[request.param]
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)

    class Default:
        valid, token, quota_project_id = True, f"ya29.{KEY}", None

    monkeypatch.setattr(google.auth, "default", lambda **_: (Default(), "p"))
    for row in (find_provider("vertex"), find_provider("bedrock")):
        for at in row.endpoints:
            if isinstance(at.auth, GoogleDefault | SigV4):
                at.auth._found.clear()
    return found


def shown(*things: Any) -> Iterator[str]:
    """All that printing, logging, storing or sending these somewhere would show."""
    for thing in things:
        yield repr(thing)
        yield str(thing)
        yield repr(getattr(thing, "__dict__", {}))
        if isinstance(thing, BaseException):
            yield "".join(traceback.format_exception(thing))
            yield repr(thing.args)
            yield from shown(*[one for one in (thing.__cause__, thing.__context__) if one is not None])
        if isinstance(thing, PlaitError):
            yield pickle.dumps(thing).decode("latin-1")
            yield json.dumps(getattr(thing, "raw", None), default=str)


def search(texts: Any) -> None:
    """No text has the marker in it."""
    for text in texts:
        assert MARK not in text.upper()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("mode", ["stream", "generate", "astream"])
def test_whatever_is_answered(mode: str, answer: str, kind: Kind, records: list[str]) -> None:
    """Not the model, the stream, the response, the error, the retries nor the logs show a key."""
    seen: list[httpx.Request] = []
    left: list[Any] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return ANSWERS[answer](kind, model.wire)

    transport = httpx.MockTransport(respond)
    model = plait.Model(
        kind.name,
        http_client=(httpx.AsyncClient if mode == "astream" else httpx.Client)(transport=transport),
        on_retry=lambda retry: left.extend([retry, retry.error]),
        retries=plait.Retries(limit=1, first_wait=0.001),
        **kind.options,
    )

    def ask() -> None:
        if mode == "generate":
            left.append(model.generate("Hi"))
            return
        stream = model.stream("Hi")
        left.extend([stream, stream._call, stream._call.question, stream._call.secrets])
        for event in stream:
            left.append(event)
        left.append(stream.response)

    async def ask_later() -> None:
        stream = model.astream("Hi")
        left.extend([stream, stream._call, stream._call.question])
        async for event in stream:
            left.append(event)
        left.append(stream.response)

    try:
        asyncio.run(ask_later()) if mode == "astream" else ask()
    except PlaitError as error:
        left.append(error)
    assert seen
    told = [error for error in left if isinstance(error, PlaitError)]
    assert bool(told) == (answer != "complete")
    left.extend([model, model.provider, *model.provider.endpoints, model.timeouts, model.retries])
    search(shown(*left))
    search(records)
    assert records


def test_the_secret_was_there(kind: Kind) -> None:
    """What is searched for is sent: else the searches would prove nothing."""
    seen: list[httpx.Request] = []
    model = plait.Model(kind.name, http_client=asked.client(seen), **kind.options)
    with pytest.raises(ProviderError):
        model.generate("Hi")
    sent = f"{seen[0].url.raw_path!r}{seen[0].url.userinfo!r}{[*seen[0].headers.items()]}"
    assert kind.secret in sent


def test_nobody_answers(kind: Kind, records: list[str]) -> None:
    """A connection that is refused is told of without the key."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and does not listen
        base_url = f"http://me:{KEY}@127.0.0.1:{bound.getsockname()[1]}/v1?key={KEY}"
        options = {**kind.options, "base_url": base_url}
        with plait.Model(kind.name, retries=plait.Retries(limit=0), **options) as model:
            with pytest.raises(TransportError) as caught:
                model.generate("Hi")
            search(shown(caught.value, model))
    search(records)


@pytest.mark.parametrize("header", ["Authorization", "X-Gateway-Token"])
def test_header_that_cannot_be_sent(header: str, records: list[str]) -> None:
    """A header that HTTP has no way to send is refused without being shown."""
    headers = {header: f"Bearer {KEY}\nx-evil: 1"}
    with pytest.raises(ConfigurationError, match=f"printable ASCII text for '{header}'") as caught:
        plait.Model("vllm/m", base_url="http://127.0.0.1:9", headers=headers)
    assert KEY not in str(caught.value)
    assert KEY not in repr(vars(caught.value))
    search(records)


@pytest.mark.parametrize(
    "key",
    [f"{KEY}\n{KEY}", f"{KEY} {KEY}", f"{KEY}é", f"{KEY}\x00", KEY.encode()],
    ids=["line end", "space", "not ASCII", "control", "bytes"],
)
def test_key_that_cannot_be(key: Any, records: list[str]) -> None:
    """A key that no header can hold is refused without being shown."""
    model = plait.Model("anthropic/m", api_key=key)
    with pytest.raises(ConfigurationError) as caught:
        model.generate("Hi")
    search(shown(caught.value, model))
    search(records)


SSE = {"content-type": "text/event-stream"}
STARTED = 'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        pytest.param(ProviderError, STARTED + f'data: {{"error":{{"message":"no {KEY}"}}}}\n\n', id="error"),
        pytest.param(ProtocolError, STARTED + f"data: oops {KEY}\n\n", id="not JSON"),
        pytest.param(ProtocolError, STARTED + f"data: {'x' * 190}{KEY}{'x' * 90}\n\n", id="not JSON, cut"),
        pytest.param(plait.IncompleteStreamError, STARTED, id="incomplete"),
    ],
)
def test_faults_inside_a_stream(expected: type[PlaitError], body: str, records: list[str]) -> None:
    """Frames that repeat the key, too."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=body, headers=SSE))
    model = plait.Model("groq/m", api_key=KEY, http_client=httpx.Client(transport=transport))
    stream = model.stream("Hi")
    with pytest.raises(expected) as caught:
        list(stream)
    search(shown(caught.value, stream, model))
    search(records)


def test_plain_headers_are_left() -> None:
    """What is no secret stays readable in an error: a version, a content type."""
    told = {"error": {"message": "unknown beta files-2026-01-01 for application/json"}}
    transport = httpx.MockTransport(lambda request: httpx.Response(400, json=told))
    model = plait.Model(
        "anthropic/m",
        api_key=KEY,
        headers={"anthropic-beta": "files-2026-01-01"},
        http_client=httpx.Client(transport=transport),
    )
    with pytest.raises(ProviderError, match="unknown beta files-2026-01-01 for application/json"):
        model.generate("Hi")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("key *** is wrong", f"key {KEY} is wrong", id="whole"),
        pytest.param("***", KEY, id="alone"),
        pytest.param("***...", f"{KEY[:20]}...", id="cut"),
        pytest.param("'***'... (900 bytes)", f"'{KEY[:9]}'... (900 bytes)", id="cut in quotes"),
        pytest.param("key ***", f"key {KEY[:12]}", id="cut at the end"),
        pytest.param("*** and ***…", f"{KEY} and {KEY[:14]}…", id="whole and cut"),
        pytest.param(f"{MARK}... is short", f"{MARK}... is short", id="too short to be told from a word"),
        pytest.param(f"{KEY[:12]} goes on", f"{KEY[:12]} goes on", id="another word with the same start"),
    ],
)
def test_hiding(expected: str, text: str) -> None:
    """A secret is hidden whole, and where a text was cut inside it."""
    assert expected == Secrets([KEY]).hide(text)


def test_hiding_in_data() -> None:
    """Keys and values of decoded JSON; what is no text is left."""
    secrets = Secrets([KEY, None, ""], {"authorization": f"Bearer {JWT}", "accept": "*/*"})
    expected = {"***": ["***", 1, None, {"a": "x *** y"}], "b": "***"}
    assert expected == secrets.hide({KEY: [KEY, 1, None, {"a": f"x {JWT} y"}], "b": f"Bearer {JWT[:40]}"})
    assert "*/*" == secrets.hide("*/*")
    assert "*** is wrong" == Secrets([], {"authorization": "Bearer 12345678"}).hide("12345678 is wrong")
    assert MARK not in repr(secrets)


def test_signature_in_pieces() -> None:
    """A provider may quote a piece of a signature."""
    value = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE000000/20260102/us-east-1/bedrock/aws4_request, "
    value += "SignedHeaders=content-type;host;x-amz-date, Signature=ae406db5d583214863d79bd555ff611b"
    secrets = Secrets([], {"authorization": value})
    said = "got ae406db5d583214863d79bd555ff611b of AKIDEXAMPLE000000 over content-type;host;x-amz-date"
    assert "got *** of *** over content-type;host;x-amz-date" == secrets.hide(said)


def test_model_is_not_pickled_with_its_key() -> None:
    """A key does not go to another process unseen."""
    with pytest.raises(TypeError, match="a key is not pickled"):
        pickle.dumps(Hidden(KEY))
