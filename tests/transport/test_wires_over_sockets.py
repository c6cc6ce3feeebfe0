"""Every wire format over a real socket, in both modes: the events are those of the recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asking import ONCE, Answered, ask, both_modes, generate

import plait
from local_server import Answer, LocalServer, pieces
from plait import Model
from plait.cassettes import Interaction, load

ROOT = Path(__file__).parents[2] / "cassettes"
CASSETTES = sorted(ROOT.rglob("*.yaml"))

PROVIDERS: dict[str, dict[str, Any]] = {
    "anthropic": {"name": "anthropic/m"},
    "azure": {"name": "azure/m", "endpoint": "res"},
    "bedrock": {"name": "bedrock/m", "region": "us-east-1"},
    "cohere": {"name": "cohere/m"},
    "deepseek": {"name": "deepseek/m"},
    "gemini": {"name": "gemini/m"},
    "mistral": {"name": "mistral/m"},
    "ollama": {"name": "ollama/m"},
    "openai": {"name": "openai/m", "wire": "openai-chat"},
    "openai-responses": {"name": "openai/m"},
    "openrouter": {"name": "openrouter/m"},
}


def model(folder: str, url: str) -> Model:
    settings = dict(PROVIDERS[folder])
    return Model(settings.pop("name"), base_url=url, api_key="key-for-tests", retries=ONCE, **settings)


def interaction(path: Path) -> Interaction:
    (found,) = load(path).interactions
    return found


def recorded(found: Interaction) -> tuple[list[plait.Event], plait.PlaitError | None]:
    events: list[plait.Event] = []
    assert found.wire is not None
    try:
        events.extend(plait.parse(found.response.body, found.wire, dialect=found.dialect))
    except plait.PlaitError as error:
        return events, error
    return events, None


def play(path: Path, mode: str, **how: Any) -> tuple[Answered, LocalServer]:
    found = interaction(path)
    kind = found.response.headers.get("content-type", "application/json")
    chunks = how.pop("chunks", None) or tuple(found.body_chunks())
    answer = Answer(chunks, status=found.response.status, headers={"content-type": kind}, **how)
    with LocalServer(answer) as server:
        return ask(mode, model(path.parent.name, server.url)), server


def test_every_wire_has_a_cassette() -> None:
    """No wire format is left out below."""
    assert set(plait.WIRES) == {interaction(path).wire for path in CASSETTES}


@both_modes
@pytest.mark.parametrize("framing", ["chunked", "close", "length", "gzip"])
@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_events_are_the_recordings(path: Path, framing: str, mode: str) -> None:
    """A recording served in its chunks gives its events, then its error, however HTTP frames the body."""
    found = interaction(path)
    how: dict[str, Any] = {"framing": framing}
    if framing == "gzip":
        how = {"framing": "close", "encoding": "gzip", "chunks": (found.response.body,)}
    answered, server = play(path, mode, **how)
    events, error = recorded(found)
    assert events == answered.events
    assert type(error) is type(answered.error)
    assert 1 == len(server.requests) == answered.attempts
    assert server.requests[0].line.startswith("POST /")


@both_modes
@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_cut_stream_is_incomplete(path: Path, mode: str) -> None:
    """A body that ends early, cleanly, raises IncompleteStreamError after the events that came."""
    found = interaction(path)
    body = found.response.body
    cut = body[: len(body) // 3]
    answered, _ = play(path, mode, chunks=pieces(cut, 97))
    events, error = recorded(
        Interaction(found.request, plait_response(found, cut), found.wire, found.dialect)
    )
    assert events == answered.events
    assert type(error) is type(answered.error)
    assert isinstance(answered.error, plait.IncompleteStreamError | plait.ProviderError)
    assert answered.message.finish_reason is None


def plait_response(found: Interaction, body: bytes) -> Any:
    return type(found.response)(found.response.status, body, found.response.headers)


@both_modes
def test_whole_answers(mode: str) -> None:
    """`generate` asks for no stream, and gives the message of the JSON body."""
    bodies: dict[str, dict[str, Any]] = {
        "anthropic/m": {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "Hello"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
        "gemini/m": {
            "candidates": [
                {"content": {"parts": [{"text": "Hello"}], "role": "model"}, "finishReason": "STOP"}
            ]
        },
        "ollama/m": {
            "model": "m",
            "message": {"role": "assistant", "content": "Hello"},
            "done": True,
            "done_reason": "stop",
        },
    }
    for name, body in bodies.items():
        with LocalServer(
            Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})
        ) as server:
            message = generate(mode, Model(name, base_url=server.url, api_key="key-for-tests", retries=ONCE))
        assert ("Hello", "stop") == (message.text, message.finish_reason), name
        assert b'"stream":true' not in server.requests[0].body
