"""URLs: settings by argument and environment, models' ids in paths, and what cannot lead elsewhere."""

from __future__ import annotations

from typing import Any

import asked
import pytest
from asked import credentials, sent, url
from ollama._client import _parse_host

import plait
from plait.errors import ConfigurationError
from plait.providers import Endpoint, Paths, Provider, Setting, find_provider
from plait.providers.hosts import ollama_host

clean = asked.clean

OLLAMA_HOSTS = [
    "1.2.3.4",
    ":56789",
    "1.2.3.4:56789",
    "http://1.2.3.4",
    "https://1.2.3.4",
    "https://1.2.3.4:56789",
    "example.com",
    "example.com/",
    "example.com:56789/path/",
    "https://example.com:56789/path",
    "[0001:002:003:0004::1]",
    "[0001:002:003:0004::1]:56789/path",
    "http://[0001:002:003:0004::1]",
]


def _with_port(address: str) -> str:
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    if ":" not in host.rpartition("]")[2]:
        host += {"http": ":80", "https": ":443"}[scheme]
    return f"{scheme}://{host}{slash}{path}"


@pytest.mark.parametrize("host", OLLAMA_HOSTS)
def test_ollama_host_is_read_as_its_sdk_reads_it(host: str) -> None:
    """The SDK writes the port of the scheme, too."""
    assert _parse_host(host) == _with_port(ollama_host(host))


@pytest.mark.parametrize(
    ("expected", "host"),
    [
        pytest.param("http://127.0.0.1:11434/api/chat", "0.0.0.0", id="all addresses"),
        pytest.param("http://127.0.0.1:8000/api/chat", "0.0.0.0:8000", id="all addresses, port"),
        pytest.param("http://[::1]:11434/api/chat", "::", id="all IPv6 addresses"),
        pytest.param("http://[::1]:11434/api/chat", "::1", id="IPv6 without brackets"),
        pytest.param("http://[::1]:8000/api/chat", "[::]:8000", id="all IPv6 addresses, port"),
        pytest.param("http://box:11434/api/chat", ' "box" ', id="quotes"),
        pytest.param("https://ollama.com/api/chat", "https://ollama.com", id="cloud"),
    ],
)
def test_ollama_host(expected: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server is called at its address; one that listens on all of them at this machine's own."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert expected == url("ollama/m")


@pytest.mark.parametrize("host", ["box:99999", "ftp://box", "box:port", "a b", "[::1", "box\\@evil"])
def test_ollama_host_that_is_none(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no address is said to be none, already when the model is made."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(ConfigurationError, match="ollama: host: expected"):
        plait.Model("ollama/m")


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://unit.openai.azure.com",
        "https://unit.openai.azure.com/",
        "https://unit.openai.azure.com/openai/v1/",
        "https://unit.openai.azure.com/openai/v1/chat/completions",
        "https://unit.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        "https://unit.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        "https://unit.openai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
        "unit",
    ],
)
def test_azure_endpoint(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The portal shows the resource's URL with different ends, and its name."""
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", endpoint)
    assert "https://unit.openai.azure.com/openai/v1/chat/completions" == url("azure/m", api_key="KEY-KEY-KEY")


@pytest.mark.parametrize(
    ("expected", "endpoint"),
    [
        pytest.param(
            "https://unit.services.ai.azure.com/openai/v1/chat/completions",
            "https://unit.services.ai.azure.com/",
            id="AI services",
        ),
        pytest.param(
            "https://openai.example/gateway/openai/v1/chat/completions",
            "https://openai.example/gateway",
            id="a gateway",
        ),
        pytest.param(
            "https://openai/openai/v1/chat/completions", "https://openai", id="a host with the path's name"
        ),
    ],
)
def test_azure_endpoint_of_another_host(expected: str, endpoint: str) -> None:
    """A host of any name is kept."""
    assert expected == url("azure/m", api_key="KEY-KEY-KEY", endpoint=endpoint)


def test_azure_classic(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deployment stands in the path, the version in the query."""
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-01-01-preview")
    expected = "https://unit.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version="
    assert expected + "2025-01-01-preview" == url(
        "azure-classic/my gpt", api_key="KEY-KEY-KEY", endpoint="unit"
    )
    assert expected + "2" == url(
        "azure-classic/my gpt", api_key="KEY-KEY-KEY", endpoint="unit", api_version="2"
    )


@pytest.mark.parametrize(
    ("expected", "model"),
    [
        pytest.param("anthropic.claude-v1%3A0", "anthropic.claude-v1:0", id="a version"),
        pytest.param(
            "arn%3Aaws%3Abedrock%3Aus-east-1%3A111122223333%3Ainference-profile%2Fus.vendor.m-v1%3A0",
            "arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.vendor.m-v1:0",
            id="an ARN",
        ),
        pytest.param("a%3Fb%23c%25d", "a?b#c%d", id="what a URL reserves"),
    ],
)
def test_bedrock_model(expected: str, model: str) -> None:
    """A model's id is one segment of the path, whatever is in it."""
    options = {"api_key": "KEY-KEY-KEY", "region": "eu-west-1"}
    start = "https://bedrock-runtime.eu-west-1.amazonaws.com/model"
    assert f"{start}/{expected}/converse-stream" == url(f"bedrock/{model}", **options)
    assert f"{start}/{expected}/converse" == url(f"bedrock/{model}", whole=True, **options)


@pytest.mark.parametrize(
    ("expected", "model"),
    [
        pytest.param("models/gemini-x", "gemini-x", id="name"),
        pytest.param("models/gemini-x", "models/gemini-x", id="models"),
        pytest.param("tunedModels/mine-1", "tunedModels/mine-1", id="tuned"),
        pytest.param("models/g%3Fkey%3Dx", "g?key=x", id="a query in it"),
    ],
)
def test_gemini_model(expected: str, model: str) -> None:
    """A model that is a path already stays one."""
    start = "https://generativelanguage.googleapis.com/v1beta"
    assert f"{start}/{expected}:streamGenerateContent?alt=sse" == url(
        f"gemini/{model}", api_key="KEY-KEY-KEY"
    )


@pytest.mark.parametrize(
    ("expected", "location"),
    [
        pytest.param("aiplatform.googleapis.com", "global", id="global"),
        pytest.param("aiplatform.eu.rep.googleapis.com", "eu", id="eu"),
        pytest.param("aiplatform.us.rep.googleapis.com", "us", id="us"),
        pytest.param("us-central1-aiplatform.googleapis.com", "us-central1", id="a region"),
    ],
)
def test_vertex_location(expected: str, location: str) -> None:
    """Each kind of location has its own host."""
    asked_url = url("vertex/gemini-x", api_key="ya29.KEY-KEY", project="unit", location=location)
    model = "publishers/google/models/gemini-x:streamGenerateContent?alt=sse"
    assert f"https://{expected}/v1beta1/projects/unit/locations/{location}/{model}" == asked_url


@pytest.mark.parametrize(
    ("expected", "model"),
    [
        pytest.param("v1beta1/P/publishers/google/models/gemini-x", "gemini-x", id="name"),
        pytest.param("v1beta1/P/publishers/meta/models/llama-x", "meta/llama-x", id="publisher"),
        pytest.param(
            "v1beta1/P/publishers/google/models/gemini-x", "publishers/google/models/gemini-x", id="path"
        ),
        pytest.param("v1beta1/P/models/17", "models/17", id="own model"),
        pytest.param(
            "v1beta1/projects/p2/locations/l2/endpoints/3",
            "projects/p2/locations/l2/endpoints/3",
            id="endpoint",
        ),
        pytest.param("v1/P/publishers/anthropic/models/claude-x@20261101", "claude-x@20261101", id="Claude"),
        pytest.param(
            "v1/P/publishers/anthropic/models/claude-x", "anthropic/claude-x", id="Claude, publisher"
        ),
    ],
)
def test_vertex_model(expected: str, model: str) -> None:
    """A model may be named with its publisher, or by its full name; Claude is asked in its own format."""
    path = url(f"vertex/{model}", api_key="ya29.KEY-KEY", project="unit").removeprefix(
        "https://aiplatform.googleapis.com/"
    )
    assert expected.replace("P", "projects/unit/locations/global") == path.rpartition(":")[0]


@pytest.mark.parametrize("key", ["AIzaKEY-KEY-KEY", "AQ.KEY-KEY-KEY"])
def test_vertex_express(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API key says which project it is: there is none in the URL, though the environment names one."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "other")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
    request = sent("vertex/gemini-x", api_key=key)
    assert (
        "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-x:streamGenerateContent?alt=sse"
        == str(request.url)
    )
    assert {"x-goog-api-key": key} == credentials(request)


def test_vertex_express_with_its_wire_format() -> None:
    """Naming the wire format changes nothing; a callable may give tokens, so it needs the project."""
    assert "/projects/" not in url("vertex/gemini-x", api_key="AQ.KEY-KEY-KEY", wire="gemini")
    with pytest.raises(ConfigurationError, match="expected the Google Cloud project"):
        url("vertex/gemini-x", api_key=lambda: "AQ.KEY-KEY-KEY")


def test_vertex_key_with_a_project() -> None:
    """Who names the project is asked there, with the key in its header."""
    request = sent("vertex/gemini-x", api_key="AIzaKEY-KEY-KEY", project="unit")
    assert "/projects/unit/" in request.url.path
    assert {"x-goog-api-key": "AIzaKEY-KEY-KEY"} == credentials(request)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("bedrock/m", {"region": "evil.com/x"}, id="region with a path"),
        pytest.param("bedrock/m", {"region": "evil.com#"}, id="region with a fragment"),
        pytest.param("bedrock/m", {"region": "x@evil.com"}, id="region with a user"),
        pytest.param("bedrock/m", {"region": "evil.com:443/?"}, id="region with a port"),
        pytest.param("bedrock/m", {"region": "evil.com\\"}, id="region with a backslash"),
        pytest.param("bedrock/m", {"region": "eu-west-1\n"}, id="region with a line end"),
        pytest.param("bedrock/m", {"region": "{endpoint}"}, id="region with a name"),
        pytest.param("bedrock/m", {"region": "."}, id="region of a dot"),
        pytest.param("vertex/m", {"location": "evil.com/"}, id="location"),
        pytest.param("vertex/m", {"location": ".."}, id="location of dots"),
        pytest.param("vertex/m", {"project": "../../x"}, id="project with dots"),
        pytest.param("vertex/m", {"project": ".."}, id="project of dots"),
        pytest.param("vertex/m", {"project": "p?x=1"}, id="project with a query"),
        pytest.param("vertex/m", {"project": "p%2f.."}, id="project with an escape"),
        pytest.param("vertex/m", {"host": "evil.com"}, id="a derived setting"),
        pytest.param("azure-classic/m", {"endpoint": "unit", "api_version": "1&x=2#"}, id="api_version"),
        pytest.param("azure/m", {"endpoint": "unit.openai.azure.com/x"}, id="endpoint without a scheme"),
        pytest.param("azure/m", {"endpoint": "file:///etc/passwd"}, id="endpoint of another scheme"),
        pytest.param("openai/m", {"endpoint": "https://"}, id="endpoint without a host"),
        pytest.param("openai/m", {"endpoint": "https://host/v1#"}, id="endpoint with a fragment"),
        pytest.param("openai/m", {"endpoint": "https://ho st/v1"}, id="endpoint with a space"),
        pytest.param("openai/m", {"region": "eu"}, id="no such setting"),
        pytest.param("openai/m", {"base_url": "localhost:8000/v1"}, id="base_url without a scheme"),
        pytest.param("openai/m", {"base_url": "https://[::1/v1"}, id="base_url that is broken"),
    ],
)
def test_settings_cannot_lead_elsewhere(name: str, options: dict[str, Any]) -> None:
    """A setting that does not fit where it stands in the URL is refused, before anything is sent."""
    whole = {"project": "unit"} if name.startswith("vertex") else {}
    with pytest.raises(ConfigurationError):
        sent(name, api_key="KEY-KEY-KEY", **{**whole, **options})


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        pytest.param("AWS_REGION", "bedrock/m", id="region"),
        pytest.param("GOOGLE_CLOUD_LOCATION", "vertex/m", id="location"),
        pytest.param("GOOGLE_CLOUD_PROJECT", "vertex/m", id="project"),
        pytest.param("OPENAI_BASE_URL", "openai/m", id="base URL"),
    ],
)
def test_settings_of_the_environment_are_checked(
    variable: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the environment are held to the same, when the model is made."""
    monkeypatch.setenv(variable, "evil.com/x?")
    with pytest.raises(ConfigurationError, match="expected"):
        plait.Model(name)


@pytest.mark.parametrize("model", ["..", "../../files", "models/../../x", "tunedModels/..", "."])
@pytest.mark.parametrize("provider", ["gemini", "bedrock", "azure-classic"])
def test_models_cannot_lead_elsewhere(provider: str, model: str) -> None:
    """No model's id steps out of its place in the path."""
    settings = {"bedrock": {"region": "eu-west-1"}, "azure-classic": {"endpoint": "unit"}}.get(provider, {})
    with pytest.raises(ConfigurationError, match="expected the name of a model"):
        url(f"{provider}/{model}", api_key="KEY-KEY-KEY", **settings)


def test_base_url() -> None:
    """A base URL takes the place of the provider's; its query stays, at the end, and braces are braces."""
    key = {"api_key": "KEY-KEY-KEY"}
    assert "https://h.example/v1/responses" == url("openai/m", base_url="https://h.example/v1/", **key)
    assert "https://h.example/v1/responses?a=1" == url("openai/m", base_url="https://h.example/v1?a=1", **key)
    gemini = url("gemini/m", base_url="https://h.example/g?a=1", **key)
    assert "https://h.example/g/models/m:streamGenerateContent?alt=sse&a=1" == gemini
    vertex = url("vertex/m", base_url="https://h.example/{project}", project="unit", **key)
    assert vertex.startswith("https://h.example/%7Bproject%7D/projects/unit/")


def test_base_url_of_an_unknown_server() -> None:
    """A row without a URL needs one."""
    with pytest.raises(ConfigurationError, match="expected base_url="):
        sent("openai-compatible/m")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("bedrock/m", "pass region=, or set AWS_REGION or AWS_DEFAULT_REGION", id="region"),
        pytest.param("azure/m", "pass endpoint=, or set AZURE_OPENAI_ENDPOINT", id="endpoint"),
        pytest.param("vertex/m", "pass project=, or set GOOGLE_CLOUD_PROJECT", id="project"),
    ],
)
def test_missing_setting(name: str, words: str) -> None:
    """The error says how to give it."""
    with pytest.raises(ConfigurationError, match=words):
        sent(name, api_key="KEY-KEY-KEY")


@pytest.mark.parametrize(
    ("words", "row"),
    [
        pytest.param("is no setting", {"base_url": "https://{region}.example"}, id="an unknown name"),
        pytest.param(
            "is no setting",
            {"base_url": "https://h.example", "paths": Paths("/{x}", "/{x}")},
            id="in a path",
        ),
        pytest.param(
            "is no setting",
            {"also": (Endpoint("gemini", base_url="https://{x}.example"),)},
            id="in another endpoint",
        ),
        pytest.param("expected a URL", {"base_url": "h.example/v1"}, id="no scheme"),
        pytest.param(
            "expected a URL",
            {"base_url": "{endpoint}.example", "settings": {"endpoint": Setting("it")}},
            id="a setting with something behind it",
        ),
    ],
)
def test_rows_are_checked(words: str, row: dict[str, Any]) -> None:
    """A row whose URL cannot be filled is refused when it is made."""
    with pytest.raises(ConfigurationError, match=words):
        Provider("acme", "openai-chat", **row)


def test_setting_of_another_type() -> None:
    """A setting is text."""
    with pytest.raises(ConfigurationError, match="bedrock: region: expected text, got int"):
        plait.Model("bedrock/m", region=7)  # type: ignore[arg-type]


def test_a_password_in_a_url_is_not_shown() -> None:
    """Neither is one in a URL that is refused."""
    with pytest.raises(ConfigurationError) as caught:
        plait.Model("openai/m", endpoint="ftp://me:hunter2-hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        pytest.param("https://api.openai.com/v1/responses", "openai", id="default"),
        pytest.param(
            "https://bedrock-runtime.{region}.amazonaws.com/model/{model}/converse-stream",
            "bedrock",
            id="made",
        ),
        pytest.param("{endpoint}/openai/v1/chat/completions", "azure", id="no default"),
        pytest.param("{base_url}/chat/completions", "openai-compatible", id="no URL"),
    ],
)
def test_address_for_people(expected: str, name: str) -> None:
    """Defaults are filled in; what must be said stands in braces."""
    row = find_provider(name)
    at = row.endpoints[0]
    assert at.paths is not None
    assert expected == row.address(at, at.paths.stream)
