"""The span of a call: its name, and what it says of request, server and answer."""

from __future__ import annotations

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
    model,
    streamed,
)
from opentelemetry.trace import SpanKind, StatusCode

from plait import Model, Provider, Setting
from plait.providers.catalogue import CATALOGUE
from plait.telemetry import names

MOCK = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mock",
    "gen_ai.request.model": "any",
    "server.address": "mock.invalid",
    "server.port": 80,
    "gen_ai.response.id": "chatcmpl-mock",
    "gen_ai.response.model": "any",
    "gen_ai.response.finish_reasons": ("stop",),
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
}

WHOLE = (sse(delta(content="Hel")), sse(delta(content="lo")), sse(finish(), USAGE, "[DONE]"))


def mock(exported: Exported, **more: Any) -> Model:
    return Model("mock/any", observer=exported.observer, **more)


@both_modes
def test_streamed_call(mode: str) -> None:
    """One client span per call, named by operation and model, with what the conventions ask for."""
    exported = Exported()
    assert ask(mode, mock(exported), "Good day")[1] is None
    assert ("chat any", SpanKind.CLIENT) == (exported.span.name, exported.span.kind)
    assert {**MOCK, "gen_ai.request.stream": True} == exported.attributes
    assert StatusCode.UNSET == exported.span.status.status_code
    assert "gen_ai.response.time_to_first_chunk" in (exported.span.attributes or {})
    assert "plait" == getattr(exported.span.instrumentation_scope, "name", None)


@both_modes
def test_whole_call(mode: str) -> None:
    """A call that is not streamed says the same, but has no first chunk."""
    exported = Exported()
    assert "Good day" == generate(mode, mock(exported), "Good day").text
    assert {**MOCK, "gen_ai.request.stream": False} == exported.attributes
    assert "gen_ai.response.time_to_first_chunk" not in (exported.span.attributes or {})


def test_usage_in_full() -> None:
    """Cache reads and reasoning are told where the provider reports them, and what it left out is absent."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(streamed(*WHOLE))))
    usage = {name: value for name, value in exported.attributes.items() if name.startswith("gen_ai.usage.")}
    assert {
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 5,
    } == usage


def test_cache_writes() -> None:
    """Cache writes have two names, the older and the newer one; the input holds them, as it holds reads."""
    exported = Exported()
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x-1",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "max_tokens",
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 400,
        },
    }
    claude = model("sync", exported, answering(httpx.Response(200, json=body)), "anthropic/claude-x")
    generate("sync", claude, max_output_tokens=2)
    expected = {
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
        "gen_ai.response.model": "claude-x-1",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": ("length",),
        "gen_ai.usage.input_tokens": 431,
        "gen_ai.usage.cache_read.input_tokens": 30,
        "gen_ai.usage.cache_creation.input_tokens": 400,
        "gen_ai.usage.cache_write.input_tokens": 400,
        "server.address": "api.anthropic.com",
        "server.port": 443,
    }
    assert expected == {name: exported.attributes.get(name) for name in expected}


def test_request_options() -> None:
    """The options that the conventions know are told, typed; the others are not."""
    exported = Exported()
    generate(
        "sync",
        mock(exported, options={"temperature": 0, "seed": 7}),
        temperature=1,
        max_output_tokens=9,
        top_p=0.5,
        top_k=40,
        stop="END",
        presence_penalty=0.25,
        frequency_penalty=-0.5,
        reasoning="low",
        output="json",
        user="u-1",
        metadata={"a": "b"},
    )
    expected = {
        "gen_ai.request.model": "any",
        "gen_ai.request.stream": False,
        "gen_ai.request.temperature": 1.0,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.top_k": 40,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.request.seed": 7,
        "gen_ai.request.presence_penalty": 0.25,
        "gen_ai.request.frequency_penalty": -0.5,
        "gen_ai.request.reasoning.level": "low",
    }
    found = exported.attributes
    assert expected == {name: found[name] for name in found if name.startswith("gen_ai.request.")}
    assert "json" == found["gen_ai.output.type"]


@pytest.mark.parametrize(
    ("name", "provider", "span_name"),
    [
        ("openai/m", "openai", "chat m"),
        ("anthropic/m", "anthropic", "chat m"),
        ("gemini/m", "gcp.gemini", "generate_content m"),
        ("mistral/m", "mistral_ai", "chat m"),
        ("cohere/m", "cohere", "chat m"),
        ("deepseek/m", "deepseek", "chat m"),
        ("groq/m", "groq", "chat m"),
        ("perplexity/m", "perplexity", "chat m"),
        ("xai/m", "x_ai", "chat m"),
        ("openrouter/a/m", "openrouter", "chat a/m"),
        ("together/m", "together", "chat m"),
    ],
    ids=lambda value: str(value).replace("/", "-"),
)
def test_providers(name: str, provider: str, span_name: str) -> None:
    """A provider has its well-known name, or ours where there is none; so has Gemini's operation."""
    exported = Exported()
    _, error = ask("sync", model("sync", exported, answering(httpx.Response(400)), name), max_output_tokens=1)
    assert error is not None
    assert (provider, span_name) == (exported.attributes["gen_ai.provider.name"], exported.span.name)


@pytest.mark.parametrize(
    ("name", "settings", "provider", "address"),
    [
        ("azure/m", {"endpoint": "res"}, "azure.ai.openai", "res.openai.azure.com"),
        ("azure-classic/m", {"endpoint": "res"}, "azure.ai.openai", "res.openai.azure.com"),
        ("bedrock/m", {"region": "eu-west-1"}, "aws.bedrock", "bedrock-runtime.eu-west-1.amazonaws.com"),
        ("vertex/m", {"project": "p"}, "gcp.vertex_ai", "aiplatform.googleapis.com"),
    ],
    ids=["azure", "azure-classic", "bedrock", "vertex"],
)
def test_cloud_providers(name: str, settings: dict[str, str], provider: str, address: str) -> None:
    """The clouds have names of their own, and the address is that of the region or resource."""
    exported = Exported()
    signed = {"authorization": "Bearer test"}
    cloud = model("sync", exported, answering(httpx.Response(400)), name, headers=signed, **settings)
    assert ask("sync", cloud, max_output_tokens=1)[1] is not None
    found = exported.attributes
    assert (provider, address) == (found["gen_ai.provider.name"], found["server.address"])


@both_modes
def test_server_that_is_looked_up(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose address is found only after the call began is told all the same, in metrics too."""
    exported = Exported()
    row = Provider(
        "looked-up",
        wire="openai-chat",
        base_url="https://{region}.test/v1",
        settings={"region": Setting("the region", find=lambda *_: "north")},
    )
    monkeypatch.setattr("plait.providers._registered", {row.name: row})
    asked = model(mode, exported, answering(streamed(*WHOLE)), "looked-up/m")
    assert ask(mode, asked)[1] is None
    (point, _), *_ = exported.points("gen_ai.client.operation.time_to_first_chunk")
    assert ["north.test", 443, "north.test", 443] == [
        facts[name] for facts in (exported.attributes, point) for name in ("server.address", "server.port")
    ]


def test_well_known_providers_exist() -> None:
    """Each row of the table is about a provider of the catalogue."""
    assert set() == names.PROVIDERS.keys() - CATALOGUE.keys()


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("http://localhost:8000/v1", "localhost", 8000),
        ("https://gateway.test/v1", "gateway.test", 443),
        ("http://gateway.test/v1", "gateway.test", 80),
        ("https://user:secret-word@gateway.test/v1?key=secret-word", "gateway.test", 443),
        ("http://[::1]:8000/v1", "::1", 8000),
    ],
    ids=["port", "https", "http", "credentials", "IPv6"],
)
def test_server(url: str, address: str, port: int) -> None:
    """The server is the host and port of the URL, and nothing else of it."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(httpx.Response(400)), base_url=url))
    found = exported.attributes
    assert (address, port) == (found["server.address"], found["server.port"])
    assert "secret-word" not in exported.everything()


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_call"),
        ("anything new", "other"),
    ],
    ids=lambda value: str(value),
)
def test_finish_reasons(raw: str, told: str) -> None:
    """Finish reasons are the conventions' words, or ours, never the provider's own text."""
    exported = Exported()
    ask("sync", chat("sync", exported, answering(streamed(sse(delta(content="a"), finish(raw), "[DONE]")))))
    assert (told,) == exported.attributes["gen_ai.response.finish_reasons"]
