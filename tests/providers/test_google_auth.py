"""Google's application-default credentials: found and renewed by google-auth, with a token server of ours."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import asked
import google.auth
import httpx
import pytest
from asked import credentials, sent
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import _helpers

import plait
from plait.errors import AuthenticationError, ConfigurationError, ProviderError, TransportError
from plait.providers import GoogleDefault, find_provider

clean = asked.clean


class TokenServer(HTTPServer):
    """Gives out numbered tokens; with `status` it refuses."""

    given = 0
    status = 200
    seconds = 3600


class _Tokens(BaseHTTPRequestHandler):
    server: TokenServer

    def do_POST(self) -> None:
        """OAuth's token endpoint."""
        self.rfile.read(int(self.headers["content-length"]))
        self.server.given += 1
        token = f"ya29.token-{self.server.given}"
        answer: dict[str, Any] = {
            "access_token": token,
            "expires_in": self.server.seconds,
            "token_type": "Bearer",
        }
        if self.server.status != 200:
            answer = {"error": "invalid_grant", "error_description": "SECRET-MARKER was revoked"}
        body = json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No credentials that an earlier test found."""
    auth = find_provider("vertex").auth
    assert isinstance(auth, GoogleDefault)
    auth._found.clear()
    yield
    auth._found.clear()


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A token server on this machine."""
    with TokenServer(("127.0.0.1", 0), _Tokens) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def account(server: TokenServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A service account's file, named by the environment."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "account.json"
    path.write_text(
        json.dumps(
            {
                "type": "service_account",
                "project_id": "unit-of-file",
                "private_key_id": "1",
                "private_key": text.decode(),
                "client_email": "unit@unit-of-file.iam.example",
                "token_uri": f"http://127.0.0.1:{server.server_port}/token",
                "universe_domain": "googleapis.com",
            }
        )
    )
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    return path


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("model", ["gemini-x", "claude-x"])
def test_service_account(model: str) -> None:
    """The file's project is asked, with a token of its server; argument and environment come before it."""
    request = sent(f"vertex/{model}")
    assert {"authorization": "Bearer ya29.token-1"} == credentials(request)
    assert "/projects/unit-of-file/locations/global/" in request.url.path
    assert "/projects/mine/" in sent(f"vertex/{model}", project="mine").url.path


@pytest.mark.usefixtures("account")
def test_token_is_kept_until_it_expires(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One token serves all calls of all models; a new one is asked for when it is about to expire."""
    for _ in range(3):
        assert {"authorization": "Bearer ya29.token-1"} == credentials(sent("vertex/gemini-x"))
    assert 1 == server.given
    now: datetime.datetime = _helpers.utcnow()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(_helpers, "utcnow", lambda: now + datetime.timedelta(seconds=3590))
    for _ in range(3):
        assert {"authorization": "Bearer ya29.token-2"} == credentials(sent("vertex/gemini-x"))
    assert 2 == server.given


@pytest.mark.usefixtures("account")
def test_many_threads_ask_for_one_token(server: TokenServer) -> None:
    """Calls that begin at once wait for the same token."""
    found: list[dict[str, str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(credentials(sent("vertex/gemini-x", project="p"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [{"authorization": "Bearer ya29.token-1"}] * 8 == found
    assert 1 == server.given


@pytest.mark.usefixtures("account")
def test_asynchronous_calls_ask_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the project nor the token is looked for in the event loop's thread."""
    threads: list[threading.Thread] = []
    default = google.auth.default

    def where(*arguments: Any, **options: Any) -> Any:
        threads.append(threading.current_thread())
        return default(*arguments, **options)

    monkeypatch.setattr(google.auth, "default", where)
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(400, json=asked.REFUSAL)

    async def ask() -> None:
        client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        with pytest.raises(ProviderError):
            await plait.Model("vertex/gemini-x", http_client=client).agenerate("Hi")

    asyncio.run(ask())
    assert "/projects/unit-of-file/" in seen[0].url.path
    assert {"authorization": "Bearer ya29.token-1"} == credentials(seen[0])
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.usefixtures("account")
def test_changed_environment(tmp_path: Path, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other credentials in the environment are other credentials."""
    sent("vertex/gemini-x")
    other = tmp_path / "other.json"
    other.write_text(account.read_text().replace("unit-of-file", "another"))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other))
    request = sent("vertex/gemini-x")
    assert {"authorization": "Bearer ya29.token-2"} == credentials(request)
    assert "/projects/another/" in request.url.path


@pytest.mark.usefixtures("account")
def test_refused_renewal(server: TokenServer) -> None:
    """Credentials that are no longer taken are an authentication error, without what the server said."""
    server.status = 400
    with pytest.raises(AuthenticationError, match="could not be renewed: RefreshError") as caught:
        sent("vertex/gemini-x", project="p")
    assert "SECRET-MARKER" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.usefixtures("account")
def test_token_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is no answer, not a wrong key."""
    from google.auth.exceptions import TransportError as NoAnswer
    from google.oauth2.service_account import Credentials

    def refresh(self: Any, request: Any) -> None:
        raise NoAnswer("connection refused")  # type: ignore[no-untyped-call]

    monkeypatch.setattr(Credentials, "refresh", refresh)
    with pytest.raises(TransportError, match="no answer from the server of Google's tokens"):
        sent("vertex/gemini-x", project="p")


def test_quota_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's credentials may name the project that is billed: it goes with their tokens only."""

    class User:
        valid, token, quota_project_id = True, "ya29.user", "billed"

    monkeypatch.setattr(google.auth, "default", lambda **_: (User(), None))
    expected = {"authorization": "Bearer ya29.user", "x-goog-user-project": "billed"}
    assert expected == credentials(sent("vertex/gemini-x", project="p"))
    given = credentials(sent("vertex/gemini-x", project="p", api_key="ya29.mine"))
    assert {"authorization": "Bearer ya29.mine"} == given


def test_no_credentials() -> None:
    """The error says how to get some."""
    with pytest.raises(ConfigurationError, match="gcloud auth application-default login"):
        sent("vertex/gemini-x", project="p")


def test_no_project() -> None:
    """Without credentials there is no project to be found, either."""
    with pytest.raises(ConfigurationError, match="expected the Google Cloud project: pass project="):
        sent("vertex/gemini-x", api_key="ya29.token")


def test_without_google_auth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; a token needs none."""
    for name in [name for name in sys.modules if name.startswith("google.auth")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError, match=r"install plait\[vertex\]"):
        sent("vertex/gemini-x", project="p")
    assert {"authorization": "Bearer ya29.t"} == credentials(sent("vertex/m", project="p", api_key="ya29.t"))
