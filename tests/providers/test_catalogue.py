"""Every row of the catalogue: where it is asked, streaming and not, and how and from where the key goes."""

from __future__ import annotations

import re
from typing import Any

import asked
import pytest
from asked import credentials, sent, url

from plait.errors import ConfigurationError
from plait.providers import CATALOGUE, find_provider
from plait.wire import check_dialect

clean = asked.clean

CHAT, RESPONSES, MESSAGES = "openai-chat", "openai-responses", "anthropic-messages"
AZURE: dict[str, Any] = {"endpoint": "https://unit.openai.azure.com"}
BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
VERTEX = {"project": "unit", "location": "europe-west4"}
VERTEX_URL = "https://europe-west4-aiplatform.googleapis.com"
VERTEX_PLACE = "projects/unit/locations/europe-west4"
BEARER = {"authorization": "Bearer KEY-KEY-KEY"}
X_KEY = {"x-api-key": "KEY-KEY-KEY"}

# By provider and wire format: settings, URL of a stream, that of a whole answer (where it differs), headers.
ENDPOINTS: dict[tuple[str, str], tuple[dict[str, str], str, str | None, dict[str, str]]] = {
    ("openai", RESPONSES): ({}, "https://api.openai.com/v1/responses", None, BEARER),
    ("openai", CHAT): ({}, "https://api.openai.com/v1/chat/completions", None, BEARER),
    ("azure", CHAT): (
        AZURE,
        "https://unit.openai.azure.com/openai/v1/chat/completions",
        None,
        {"api-key": "KEY-KEY-KEY"},
    ),
    ("azure", RESPONSES): (
        AZURE,
        "https://unit.openai.azure.com/openai/v1/responses",
        None,
        {"api-key": "KEY-KEY-KEY"},
    ),
    ("azure-classic", CHAT): (
        AZURE,
        "https://unit.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        None,
        {"api-key": "KEY-KEY-KEY"},
    ),
    ("azure-classic", RESPONSES): (
        {**AZURE, "api_version": "2025-04-01-preview"},
        "https://unit.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        None,
        {"api-key": "KEY-KEY-KEY"},
    ),
    ("anthropic", MESSAGES): ({}, "https://api.anthropic.com/v1/messages", None, X_KEY),
    ("bedrock", "bedrock-converse"): (
        {"region": "eu-west-1"},
        f"{BEDROCK}/model/m/converse-stream",
        f"{BEDROCK}/model/m/converse",
        BEARER,
    ),
    ("bedrock", MESSAGES): (
        {"region": "eu-west-1"},
        f"{BEDROCK}/model/m/invoke-with-response-stream",
        f"{BEDROCK}/model/m/invoke",
        BEARER,
    ),
    ("bedrock", RESPONSES): (
        {"region": "eu-west-1"},
        "https://bedrock-mantle.eu-west-1.api.aws/v1/responses",
        None,
        BEARER,
    ),
    ("gemini", "gemini"): (
        {},
        f"{GOOGLE}/models/m:streamGenerateContent?alt=sse",
        f"{GOOGLE}/models/m:generateContent",
        {"x-goog-api-key": "KEY-KEY-KEY"},
    ),
    ("gemini", CHAT): ({}, f"{GOOGLE}/openai/chat/completions", None, BEARER),
    ("vertex", "gemini"): (
        VERTEX,
        f"{VERTEX_URL}/v1beta1/{VERTEX_PLACE}/publishers/google/models/m:streamGenerateContent?alt=sse",
        f"{VERTEX_URL}/v1beta1/{VERTEX_PLACE}/publishers/google/models/m:generateContent",
        BEARER,
    ),
    ("vertex", MESSAGES): (
        VERTEX,
        f"{VERTEX_URL}/v1/{VERTEX_PLACE}/publishers/anthropic/models/m:streamRawPredict",
        f"{VERTEX_URL}/v1/{VERTEX_PLACE}/publishers/anthropic/models/m:rawPredict",
        BEARER,
    ),
    ("vertex", CHAT): (
        VERTEX,
        f"{VERTEX_URL}/v1/{VERTEX_PLACE}/endpoints/openapi/chat/completions",
        None,
        BEARER,
    ),
    ("mistral", "mistral-chat"): ({}, "https://api.mistral.ai/v1/chat/completions", None, BEARER),
    ("cohere", "cohere-chat"): ({}, "https://api.cohere.com/v2/chat", None, BEARER),
    ("openrouter", CHAT): ({}, "https://openrouter.ai/api/v1/chat/completions", None, BEARER),
    ("openrouter", RESPONSES): ({}, "https://openrouter.ai/api/v1/responses", None, BEARER),
    ("deepseek", CHAT): ({}, "https://api.deepseek.com/chat/completions", None, BEARER),
    ("deepseek", RESPONSES): ({}, "https://api.deepseek.com/responses", None, BEARER),
    ("deepseek", MESSAGES): ({}, "https://api.deepseek.com/anthropic/v1/messages", None, X_KEY),
    ("groq", CHAT): ({}, "https://api.groq.com/openai/v1/chat/completions", None, BEARER),
    ("xai", CHAT): ({}, "https://api.x.ai/v1/chat/completions", None, BEARER),
    ("xai", RESPONSES): ({}, "https://api.x.ai/v1/responses", None, BEARER),
    ("together", CHAT): ({}, "https://api.together.xyz/v1/chat/completions", None, BEARER),
    ("fireworks", CHAT): ({}, "https://api.fireworks.ai/inference/v1/chat/completions", None, BEARER),
    ("perplexity", CHAT): ({}, "https://api.perplexity.ai/chat/completions", None, BEARER),
    ("cerebras", CHAT): ({}, "https://api.cerebras.ai/v1/chat/completions", None, BEARER),
    ("huggingface", CHAT): ({}, "https://router.huggingface.co/v1/chat/completions", None, BEARER),
    ("moonshot", CHAT): ({}, "https://api.moonshot.ai/v1/chat/completions", None, BEARER),
    ("alibaba", CHAT): (
        {},
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
        None,
        BEARER,
    ),
    ("zai", CHAT): ({}, "https://api.z.ai/api/paas/v4/chat/completions", None, BEARER),
    ("ollama", "ollama-chat"): ({}, "http://127.0.0.1:11434/api/chat", None, BEARER),
    ("ollama", CHAT): ({}, "http://127.0.0.1:11434/v1/chat/completions", None, BEARER),
    ("vllm", CHAT): ({}, "http://localhost:8000/v1/chat/completions", None, BEARER),
    ("vllm", RESPONSES): ({}, "http://localhost:8000/v1/responses", None, BEARER),
    ("llamacpp", CHAT): ({}, "http://localhost:8080/v1/chat/completions", None, BEARER),
    ("lmstudio", CHAT): ({}, "http://localhost:1234/v1/chat/completions", None, BEARER),
    ("lmstudio", RESPONSES): ({}, "http://localhost:1234/v1/responses", None, BEARER),
    ("openai-compatible", CHAT): (
        {"base_url": "https://llm.example/v1"},
        "https://llm.example/v1/chat/completions",
        None,
        BEARER,
    ),
    ("openai-compatible", RESPONSES): (
        {"base_url": "https://llm.example/v1"},
        "https://llm.example/v1/responses",
        None,
        BEARER,
    ),
    ("mock", CHAT): ({}, "http://mock.invalid/v1/chat/completions", None, BEARER),
}

CASES = [
    pytest.param(name, wire, *expected, id=f"{name}-{wire}") for (name, wire), expected in ENDPOINTS.items()
]


def test_every_endpoint_is_tested() -> None:
    """The table here has every endpoint of the catalogue, and no other."""
    assert set(ENDPOINTS) == {(row.name, at.wire) for row in CATALOGUE.values() for at in row.endpoints}


@pytest.mark.parametrize(("name", "wire", "options", "stream", "whole", "headers"), CASES)
def test_endpoint(
    name: str, wire: str, options: dict[str, Any], stream: str, whole: str | None, headers: dict[str, str]
) -> None:
    """A call goes to the provider's URL, with the key in the provider's header and nowhere else."""
    options = {"wire": wire, "api_key": "KEY-KEY-KEY", **options}
    assert stream == url(f"{name}/m", **options)
    assert (whole or stream) == url(f"{name}/m", whole=True, **options)
    request = sent(f"{name}/m", **options)
    assert headers == credentials(request)
    assert "KEY-KEY-KEY" not in str(request.url)
    assert b"KEY-KEY-KEY" not in request.content


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        pytest.param(row.name, variable, id=variable)
        for row in CATALOGUE.values()
        for variable in row.key_names
        if row.transport is None
    ],
)
def test_key_of_the_environment(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is found in each of the provider's variables; an argument comes before it."""
    rows: dict[str, Any] = {"azure": AZURE, "azure-classic": AZURE, "bedrock": {"region": "eu-west-1"}}
    settings = rows.get(name, {})
    monkeypatch.setenv(variable, " KEY-OF-ENV\n")
    found = credentials(sent(f"{name}/m", **settings))
    assert ["KEY-OF-ENV"] == [value.removeprefix("Bearer ") for value in found.values()]
    given = credentials(sent(f"{name}/m", api_key="KEY-GIVEN", **settings))
    assert ["KEY-GIVEN"] == [value.removeprefix("Bearer ") for value in given.values()]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        pytest.param("gemini", "GOOGLE_API_KEY", "GEMINI_API_KEY", id="gemini"),
        pytest.param("azure", "AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY", id="azure"),
        pytest.param("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", id="anthropic"),
        pytest.param("cohere", "CO_API_KEY", "COHERE_API_KEY", id="cohere"),
    ],
)
def test_order_of_variables(name: str, first: str, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two variables the one counts that the vendor's SDK takes."""
    monkeypatch.setenv(first, "KEY-FIRST")
    monkeypatch.setenv(second, "KEY-SECOND")
    settings = AZURE if name == "azure" else {}
    (value,) = credentials(sent(f"{name}/m", **settings)).values()
    assert "KEY-FIRST" == value.removeprefix("Bearer ")


@pytest.mark.parametrize(
    "name",
    [
        row.name
        for row in CATALOGUE.values()
        if row.key_names and not row.auth.blocking and row.auth.words[-1] != ")"
    ],
)
def test_missing_key(name: str) -> None:
    """Without a key nothing is sent, and the error says where one is looked for."""
    settings = AZURE if name.startswith("azure") else {}
    with pytest.raises(ConfigurationError, match="expected an API key: pass api_key=") as caught:
        sent(f"{name}/m", **settings)
    for variable in find_provider(name).key_names:
        assert variable in str(caught.value)


@pytest.mark.parametrize("name", ["ollama", "vllm", "llamacpp", "lmstudio"])
def test_local_servers_need_no_key(name: str) -> None:
    """Without a key a local server is asked without one."""
    assert {} == credentials(sent(f"{name}/m"))


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_row(row: Any) -> None:
    """A row has a documentation link, the month it was checked, and dialects that exist."""
    assert re.match(r"https://|docs/", row.docs)
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.checked)
    for at in row.endpoints:
        check_dialect(at.wire, at.dialect)


@pytest.mark.parametrize("name", ["anthropic", "deepseek"])
def test_anthropic_version(name: str) -> None:
    """Anthropic's wire format is asked for with its version."""
    request = sent(f"{name}/m", wire=MESSAGES, api_key="KEY-KEY-KEY")
    assert "2023-06-01" == request.headers["anthropic-version"]
