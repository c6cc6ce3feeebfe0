"""Amazon's signature, with botocore's own client as the oracle; and where the credentials come from."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asked
import botocore.auth
import httpx
import pytest
from asked import credentials, sent
from botocore.awsrequest import AWSResponse
from botocore.session import Session

import plait
from plait import providers as layer
from plait.errors import ConfigurationError
from plait.providers import SigV4, Unsigned, find_provider

clean = asked.clean

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
ARN = "arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.vendor.m-v1:0"
MODELS = ["vendor.model-v1:0", ARN, "us.vendor.model"]
BODY = b'{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed time, and no credentials found by an earlier test."""
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: NOW)
    for at in find_provider("bedrock").endpoints:
        assert isinstance(at.auth, SigV4)
        at.auth._found.clear()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRETEXAMPLE")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "TOKENEXAMPLE")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


class _NoBody:
    def stream(self, *_: Any, **__: Any) -> Any:
        return iter([b""])

    def read(self, *_: Any) -> bytes:
        return b""

    def close(self) -> None:
        pass


def botocores(model: str, *, region: str = "us-east-1", endpoint: str | None = None) -> Any:
    """The request that botocore's client makes for the same call."""
    client = Session().create_client("bedrock-runtime", region_name=region, endpoint_url=endpoint)
    seen: list[Any] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        seen.append(request)
        return AWSResponse(request.url, 200, {}, _NoBody())

    client.meta.events.register("before-send.bedrock-runtime.*", answer)
    client.converse_stream(modelId=model, messages=[{"role": "user", "content": [{"text": "hi"}]}])
    return seen[0]


def signed(url: str, body: bytes, **settings: str | None) -> Mapping[str, str]:
    """Our signature of a request."""
    headers = {"content-type": "application/json", "user-agent": "plait", "accept": "*/*"}
    request = Unsigned("bedrock", "POST", url, headers, body, {"region": "us-east-1", **settings}, ())
    return SigV4("bedrock").sign(request, None)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("endpoint", [None, "http://localhost:4566", "https://vpce.example/prefix"])
@pytest.mark.parametrize("model", MODELS)
def test_signature_is_botocores(model: str, endpoint: str | None) -> None:
    """The same request is signed with the same headers, at any address."""
    expected = botocores(model, endpoint=endpoint)
    found = signed(expected.url, expected.body)
    for name in ("Authorization", "X-Amz-Date", "X-Amz-Security-Token", "Content-Type"):
        assert expected.headers[name].decode() == found[name.lower()]


def test_signature_is_the_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature that was computed by hand after Amazon's recipe."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRETEXAMPLE")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "TOKENEXAMPLE")
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/vendor.model-v1%3A0/converse-stream"
    found = signed(url, BODY)["authorization"]
    assert found.endswith("Signature=ae406db5d583214863d79bd555ff611b9314439cbd5b3bb835f3aac8e465377a")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", MODELS)
def test_call_is_botocores(model: str) -> None:
    """A model's call goes to botocore's URL, and what is sent is what was signed."""
    expected = botocores(model)
    request = sent(f"bedrock/{model}")
    url = f"{request.url.scheme}://{request.url.netloc.decode()}{request.url.raw_path.decode()}"
    assert expected.url == url
    assert signed(url, request.content)["authorization"] == request.headers["authorization"]
    assert "TOKENEXAMPLE" == request.headers["x-amz-security-token"]
    assert ["application/json"] == request.headers.get_list("content-type")


REGIONS = sorted(
    region
    for partition in Session().get_available_partitions()
    for region in Session().get_available_regions("bedrock-runtime", partition, allow_non_regional=False)
)


def test_hosts_are_botocores() -> None:
    """Every region that botocore knows, and one of each partition it knows of, has botocore's host."""
    session = Session()
    others = [
        "us-iso-east-1",
        "us-isob-east-1",
        "eu-isoe-west-1",
        "us-isof-south-1",
        "eusc-de-east-1",
        "cn-north-1",
    ]
    found = {}
    for region in {*REGIONS, *others, "us-gov-west-1"}:
        client = session.create_client(
            "bedrock-runtime", region_name=region, aws_access_key_id="AKID", aws_secret_access_key="SECRET"
        )
        found[client.meta.endpoint_url] = region
    row = find_provider("bedrock")
    for expected, region in found.items():
        values = row.values({"region": region})
        url = row.url(row.endpoints[0], "m", stream=False, settings=values)
        assert f"{expected}/model/m/converse" == url


@pytest.mark.usefixtures("keys")
def test_mantle_has_a_service_of_its_own() -> None:
    """The Responses API of Bedrock is signed for another service."""
    found = sent("bedrock/m", wire="openai-responses").headers["authorization"]
    assert "/us-east-1/bedrock-mantle/aws4_request" in found


@pytest.mark.usefixtures("keys")
def test_bearer_key_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Bedrock key is used instead of the credentials, as the SDKs do."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "KEY-KEY-KEY")
    request = sent("bedrock/m")
    assert {"authorization": "Bearer KEY-KEY-KEY"} == credentials(request)
    assert "x-amz-security-token" not in request.headers


def _files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "credentials").write_text(
        "[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = SECRET\n"
        "[team/work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = SECRET\n"
    )
    (folder / "config").write_text(
        "[default]\nregion = eu-west-1\n[profile team/work]\nregion = ap-south-1\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))


@pytest.mark.parametrize(
    ("expected", "region", "options", "environment"),
    [
        pytest.param("AKIDDEFAULT", "eu-west-1", {}, {}, id="default"),
        pytest.param("AKIDWORK", "ap-south-1", {"profile": "team/work"}, {}, id="profile"),
        pytest.param("AKIDWORK", "ap-south-1", {}, {"AWS_PROFILE": "team/work"}, id="AWS_PROFILE"),
        pytest.param(
            "AKIDWORK", "us-east-2", {"profile": "team/work", "region": "us-east-2"}, {}, id="region"
        ),
        pytest.param("AKIDDEFAULT", "us-west-2", {}, {"AWS_DEFAULT_REGION": "us-west-2"}, id="environment"),
    ],
)
def test_shared_files(
    expected: str,
    region: str,
    options: dict[str, Any],
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Credentials and region of a profile in the shared files; argument and environment come before."""
    _files(tmp_path, monkeypatch)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    request = sent("bedrock/m", **options)
    assert f"Credential={expected}/20260102/{region}/bedrock/" in request.headers["authorization"]
    assert f"bedrock-runtime.{region}.amazonaws.com" == request.url.host


def test_changed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are kept as long as the environment they were found in is the same."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
    for key in ("AKIDONE", "AKIDTWO"):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        assert f"Credential={key}/" in sent("bedrock/m").headers["authorization"]


def test_chain_is_asked_once(monkeypatch: pytest.MonkeyPatch, keys: None) -> None:
    """Not for each call: a role's credentials come over the network."""
    asked_for: list[None] = []
    chain = Session.get_credentials

    def count(self: Any) -> Any:
        asked_for.append(None)
        return chain(self)

    monkeypatch.setattr(Session, "get_credentials", count)
    for _ in range(3):
        sent("bedrock/m")
    assert [None] == asked_for


@pytest.mark.parametrize(
    ("words", "options"),
    [
        pytest.param("none in the environment", {}, id="none"),
        pytest.param("ProfileNotFound", {"profile": "nobody"}, id="no such profile"),
    ],
)
def test_no_credentials(words: str, options: dict[str, Any]) -> None:
    """The error says where they were looked for, and what else there is."""
    with pytest.raises(ConfigurationError, match=words) as caught:
        sent("bedrock/m", region="us-east-1", **options)
    assert "AWS_BEARER_TOKEN_BEDROCK" in str(caught.value)


def test_what_a_credential_program_says_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have a key in it."""
    program = f"{sys.executable} -c \"import sys; sys.exit('failed with SECRET-MARKER')\""
    (tmp_path / "config").write_text(f"[default]\ncredential_process = {program}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="CredentialRetrievalError") as caught:
        sent("bedrock/m", region="us-east-1")
    assert "SECRET-MARKER" not in str(caught.value)


def test_no_region_to_sign_for(keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of the caller's own still has to be signed for a region."""
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ConfigurationError, match="expected the region to sign for: pass region="):
        sent("bedrock/m", base_url="https://vpce.example")
    request = sent("bedrock/m", base_url="https://vpce.example", region="eu-west-1")
    assert "vpce.example" == request.url.host
    assert "/eu-west-1/bedrock/" in request.headers["authorization"]


def test_without_botocore(keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; a Bedrock key needs none."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "botocore"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError, match=r"install plait\[bedrock\].*AWS_BEARER_TOKEN_BEDROCK"):
        sent("bedrock/m")
    assert {"authorization": "Bearer KEY-KEY-KEY"} == credentials(sent("bedrock/m", api_key="KEY-KEY-KEY"))


def test_retry_is_signed_anew(keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature expires: the second attempt has a time of its own."""
    times = iter([NOW, NOW + datetime.timedelta(minutes=9)])
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: next(times))
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(503 if len(seen) == 1 else 400, json={})

    model = plait.Model(
        "bedrock/m",
        retries=plait.Retries(first_wait=0.001),
        http_client=httpx.Client(transport=httpx.MockTransport(answer)),
    )
    with pytest.raises(plait.BadRequestError):
        model.generate("Hi")
    assert ["20260102T030405Z", "20260102T031305Z"] == [request.headers["x-amz-date"] for request in seen]


def test_rows_hold_no_credentials(keys: None) -> None:
    """What was found for a call shows in no repr of the row."""
    sent("bedrock/m")
    row = layer.find_provider("bedrock")
    assert "AKIDEXAMPLE" not in repr(row)
    assert "EXAMPLE" not in repr([getattr(row, name) for name in row.__dataclass_fields__])
