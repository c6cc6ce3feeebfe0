"""Keys: text or a callable, for each attempt anew; which header they go into; never in the loop's way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import asked
import httpx
import pytest
from asked import credentials, sent

import plait
from plait.errors import ConfigurationError, ProviderError
from plait.providers import Provider, Unsigned

clean = asked.clean

AT_ONCE = plait.Retries(first_wait=0.001)
JWT = "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("expected", "name", "key"),
    [
        pytest.param({"x-api-key": "sk-ant-api03-K"}, "anthropic", "sk-ant-api03-K", id="anthropic key"),
        pytest.param(
            {"authorization": "Bearer sk-ant-oat01-K"}, "anthropic", "sk-ant-oat01-K", id="anthropic OAuth"
        ),
        pytest.param({"authorization": f"Bearer {JWT}"}, "anthropic", JWT, id="anthropic JWT"),
        pytest.param({"api-key": "0123456789abcdef"}, "azure", "0123456789abcdef", id="azure key"),
        pytest.param({"authorization": f"Bearer {JWT}"}, "azure", JWT, id="azure token"),
        pytest.param({"authorization": f"Bearer {JWT}"}, "azure-classic", JWT, id="azure classic token"),
        pytest.param({"x-goog-api-key": "AIzaK-K-K"}, "gemini", "AIzaK-K-K", id="gemini key"),
        pytest.param({"x-goog-api-key": "AQ.K-K-K"}, "gemini", "AQ.K-K-K", id="gemini new key"),
        pytest.param({"authorization": "Bearer ya29.K-K-K"}, "gemini", "ya29.K-K-K", id="gemini token"),
        pytest.param({"authorization": "Bearer ya29.K-K-K"}, "vertex", "ya29.K-K-K", id="vertex token"),
        pytest.param({"x-goog-api-key": "AQ.K-K-K"}, "vertex", "AQ.K-K-K", id="vertex key"),
        pytest.param({"authorization": "Bearer eyJ-is-no-token"}, "groq", "eyJ-is-no-token", id="bearer"),
        pytest.param({"x-api-key": "eyJ-is-no-token"}, "anthropic", "eyJ-is-no-token", id="looks like a JWT"),
    ],
)
def test_keys_and_tokens(expected: dict[str, str], name: str, key: str) -> None:
    """Where a provider takes both, a token goes as `Bearer`, a key into its own header: never both."""
    settings: dict[str, Any] = {"azure": {"endpoint": "unit"}, "azure-classic": {"endpoint": "unit"}}.get(
        name, {}
    )
    settings = settings or ({"project": "unit"} if name == "vertex" else {})
    assert expected == credentials(sent(f"{name}/m", api_key=key, **settings))


def test_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable for tokens holds a token, whatever it looks like."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-token\n")
    assert {"authorization": "Bearer gateway-token"} == credentials(sent("anthropic/m"))
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "opaque-token")
    assert {"authorization": "Bearer opaque-token"} == credentials(sent("azure/m", endpoint="unit"))


@pytest.mark.parametrize(
    ("expected", "headers"),
    [
        pytest.param("oauth-2025-04-20", {}, id="alone"),
        pytest.param("files-x,oauth-2025-04-20", {"Anthropic-Beta": "files-x"}, id="beside the caller's"),
    ],
)
def test_anthropic_oauth_needs_its_beta(expected: str, headers: dict[str, str]) -> None:
    """An OAuth token is only taken with the beta for it."""
    request = sent("anthropic/m", api_key="sk-ant-oat01-KEY", headers=headers)
    assert expected == request.headers["anthropic-beta"]


def test_own_authorization() -> None:
    """Who signs requests with a header of their own needs no key, and none is added."""
    request = sent("openai/m", headers={"Authorization": "Custom KEY-KEY"})
    assert {"authorization": "Custom KEY-KEY"} == credentials(request)
    assert {"api-key": "KEY-KEY"} == credentials(
        sent("azure/m", endpoint="unit", headers={"Api-Key": "KEY-KEY"})
    )
    assert {"authorization": "Bearer KEY"} == credentials(
        sent("vertex/m", project="unit", headers={"authorization": "Bearer KEY"})
    )


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("KEY\nx-evil: 1", id="line end inside"),
        pytest.param("KEY KEY", id="space inside"),
        pytest.param("KÉY-KÉY", id="not ASCII"),
        pytest.param("KEY\x00KEY", id="control"),
        pytest.param(b"KEY-KEY", id="bytes"),
        pytest.param(7, id="a number"),
    ],
)
def test_keys_that_cannot_be(key: Any) -> None:
    """What no header can hold is refused, and not shown."""
    with pytest.raises(ConfigurationError) as caught:
        sent("openai/m", api_key=key)
    assert "KEY" not in str(caught.value)


def test_key_of_a_file() -> None:
    """The line end that a file has behind the key is not part of it."""
    assert {"authorization": "Bearer KEY-KEY"} == credentials(sent("openai/m", api_key=" KEY-KEY\r\n"))


def _answers(statuses: list[int], seen: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(statuses[len(seen) - 1], json=asked.REFUSAL)

    return httpx.MockTransport(answer)


def test_callable_for_each_attempt() -> None:
    """A callable is asked anew for each attempt: a token may have expired meanwhile."""
    seen: list[httpx.Request] = []
    tokens = iter(["token-one", "token-two", "token-three"])
    model = plait.Model(
        "openai/m",
        api_key=lambda: next(tokens),
        retries=AT_ONCE,
        http_client=httpx.Client(transport=_answers([503, 503, 400], seen)),
    )
    with pytest.raises(ProviderError):
        model.generate("Hi")
    expected = ["Bearer token-one", "Bearer token-two", "Bearer token-three"]
    assert expected == [request.headers["authorization"] for request in seen]


def test_coroutine_function() -> None:
    """A coroutine function is awaited for each attempt, in the loop; synchronous calls refuse it."""
    seen: list[httpx.Request] = []
    numbers = iter(range(9))

    async def token() -> str:
        await asyncio.sleep(0)
        return f"token-number-{next(numbers)}"

    async def ask() -> None:
        model = plait.Model(
            "anthropic/m",
            api_key=token,
            retries=AT_ONCE,
            http_client=httpx.AsyncClient(transport=_answers([503, 400], seen)),
        )
        with pytest.raises(ProviderError):
            await model.agenerate("Hi")

    asyncio.run(ask())
    assert ["token-number-0", "token-number-1"] == [request.headers["x-api-key"] for request in seen]
    with pytest.raises(ConfigurationError, match="api_key is a coroutine function: use astream or agenerate"):
        sent("anthropic/m", api_key=token)


def test_callable_that_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the environment's key counts, and without one the error says what is missing."""
    with pytest.raises(ConfigurationError, match="expected an API key"):
        sent("openai/m", api_key=lambda: "")
    monkeypatch.setenv("OPENAI_API_KEY", "KEY-OF-ENV")
    assert {"authorization": "Bearer KEY-OF-ENV"} == credentials(sent("openai/m", api_key=lambda: ""))


class Slow:
    """A way to sign that reads something slow, such as a metadata server; it notes the thread it is in."""

    words = "slow"
    blocking = True

    def sign(self, request: Unsigned, key: str | None) -> Mapping[str, str]:
        """Note the thread."""
        THREADS.append(threading.current_thread())
        return {"authorization": f"Slow {key}"}


THREADS: list[threading.Thread] = []


def _slow_find(settings: Mapping[str, str | None]) -> str:
    THREADS.append(threading.current_thread())
    return "found"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(Provider("acme", "openai-chat", "https://acme.example", auth=Slow()), id="signing"),
        pytest.param(
            Provider(
                "acme",
                "openai-chat",
                "https://{zone}.acme.example",
                settings={"zone": plait.Setting("the zone", find=_slow_find)},
            ),
            id="looking for a setting",
        ),
    ],
)
@pytest.mark.parametrize("streaming", [True, False], ids=["astream", "agenerate"])
def test_the_loop_is_not_blocked(row: Provider, streaming: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asynchronous calls sign, and look for settings, in a thread."""
    from plait import providers as layer

    monkeypatch.setattr(layer, "_registered", {"acme": row})
    seen: list[httpx.Request] = []

    async def ask() -> None:
        client = httpx.AsyncClient(transport=_answers([400], seen))
        model = plait.Model("acme/m", api_key="KEY-KEY", http_client=client)
        with pytest.raises(ProviderError):
            await (anext(model.astream("Hi")) if streaming else model.agenerate("Hi"))

    THREADS.clear()
    asyncio.run(ask())
    assert THREADS
    assert threading.current_thread() not in THREADS
    assert seen[0].url.host in ("acme.example", "found.acme.example")


def test_settings_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a model looks for nothing; its first call does, the next ones remember."""
    from plait import providers as layer

    looked: list[None] = []

    def find(settings: Mapping[str, str | None]) -> str:
        looked.append(None)
        return "found"

    row = Provider(
        "acme",
        "openai-chat",
        "https://{zone}.acme.example",
        settings={"zone": plait.Setting("the zone", find=find), "other": plait.Setting("it", find=find)},
    )
    monkeypatch.setattr(layer, "_registered", {"acme": row})
    model = plait.Model("acme/m", api_key="KEY-KEY", http_client=asked.client())
    assert [] == looked
    for _ in range(3):
        with pytest.raises(ProviderError):
            model.generate("Hi")
    assert [None] == looked
