"""What a model sends: the request as it reaches the HTTP transport; no network, no keys of this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

import plait
from plait.errors import BadRequestError
from plait.providers import CATALOGUE

REFUSAL = {"error": {"message": "no such thing", "type": "invalid_request_error"}}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, setting or credential of this machine."""
    known = {name for row in CATALOGUE.values() for name in row.key_names}
    known |= {name for row in CATALOGUE.values() for setting in row.settings.values() for name in setting.env}
    for name in os.environ:
        if name in known or name.startswith(("AWS_", "GOOGLE_", "CLOUDSDK_")):
            monkeypatch.delenv(name)
    nowhere = tmp_path / "home"
    nowhere.mkdir()
    monkeypatch.setenv("HOME", str(nowhere))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(nowhere))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def client(*seen: list[httpx.Request]) -> httpx.Client:
    """A client whose server refuses everything with HTTP 400; what came is put into the list."""

    def answer(request: httpx.Request) -> httpx.Response:
        for requests in seen:
            requests.append(request)
        return httpx.Response(400, json=REFUSAL)

    return httpx.Client(transport=httpx.MockTransport(answer))


def sent(name: str, *, whole: bool = False, **options: Any) -> httpx.Request:
    """The request of a call: a streaming one, or one that is answered at once."""
    seen: list[httpx.Request] = []
    model = plait.Model(name, http_client=client(seen), **options)
    with pytest.raises(BadRequestError):
        model.generate("Hi") if whole else list(model.stream("Hi"))
    (request,) = seen
    return request


def url(name: str, **options: Any) -> str:
    """The URL of a call, as it goes over the network."""
    asked = sent(name, **options).url
    return f"{asked.scheme}://{asked.netloc.decode()}{asked.raw_path.decode()}"


def credentials(request: httpx.Request) -> dict[str, str]:
    """The headers that say who asks."""
    names = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "x-goog-user-project", "x-amz-date")
    return {name: request.headers[name] for name in names if name in request.headers}
