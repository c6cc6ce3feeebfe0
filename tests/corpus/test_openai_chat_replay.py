"""Law 8 on every Chat Completions recording: what a server wants back, it gets back byte for byte."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from replays import answers, asked_again, calls, deltas, is_json, read

from plait.wire.openai_chat.dialects import DIALECTS
from recordings import Recording

HOSTS = {
    "api.openai.com": "openai",
    "api.groq.com": "groq",
    "openrouter.ai": "openrouter",
    "api.deepseek.com": "deepseek",
    "api.cerebras.ai": "cerebras",
    "router.huggingface.co": "huggingface",
    "api.z.ai": "zai",
    "ollama.com": "ollama",
    "generativelanguage.googleapis.com": "google",
    "account.snowflakecomputing.com": "snowflake",
    "api.inference.crusoecloud.com": "vllm",
}
EVERY = answers("openai-chat")


def opaque(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """The reasoning of an answer, by field: joined text, or the entries of `reasoning_details`."""
    entries: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for piece in pieces:
        details = [entry for entry in piece.get("reasoning_details") or () if isinstance(entry, dict)]
        for entry in details:
            join(entries, {name: value for name, value in entry.items() if value is not None})
        if not any(entry.get("text") or entry.get("summary") for entry in details):
            for field in ("reasoning_content", "reasoning"):
                if piece.get(field):
                    fields[field] = fields.get(field, "") + piece[field]
                    break
    entries = [
        entry
        for entry in entries
        if any(entry.get(name) for name in ("text", "summary", "data", "signature"))
    ]
    return {**fields, **({"reasoning_details": entries} if entries else {})}


def join(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Pieces of one entry have its type and index."""
    same = [one for one in entries if (one["type"], one.get("index")) == (entry["type"], entry.get("index"))]
    if not same or (same[-1].get("signature") and (entry.get("text") or entry.get("data"))):
        entries.append(dict(entry))
        return
    for name, value in entry.items():
        grows = name in ("text", "summary", "data") and name in same[-1]
        same[-1][name] = same[-1][name] + value if grows else value


@pytest.mark.parametrize("recording", EVERY, ids=lambda recording: recording.id)
def test_replay(recording: Recording) -> None:
    """To a server that is not named, all of its reasoning goes back, and ids and arguments as they came."""
    pieces = deltas(recording)
    made = asked_again(read(recording), "openai-chat")[1]
    if made["role"] != "assistant":
        assert not opaque(pieces)
        assert not calls(pieces)
        return
    names = ("reasoning", "reasoning_content", "reasoning_details")
    assert opaque(pieces) == {name: made[name] for name in names if name in made}
    expected = calls(pieces)
    assert len(expected) == len(made.get("tool_calls", ()))
    for call, sent in zip(expected, made.get("tool_calls", ()), strict=True):
        assert call["name"] == sent["function"]["name"]
        assert call["id"] in ("", sent["id"])
        if is_json(call["arguments"] or "{}"):
            assert (call["arguments"] or "{}") == sent["function"]["arguments"]


@pytest.mark.parametrize(
    "recording",
    [recording for recording in EVERY if urlsplit(recording.url).netloc in HOSTS],
    ids=lambda recording: recording.id,
)
def test_replay_to_the_server_it_came_from(recording: Recording) -> None:
    """To the named server, what its row says that it takes back; nothing else of the reasoning."""
    dialect = HOSTS[urlsplit(recording.url).netloc]
    takes = {"openrouter": "reasoning_details"}
    row = DIALECTS[dialect]
    names = {takes.get(name, name) for name in row.replays}
    expected = {name: value for name, value in opaque(deltas(recording)).items() if name in names}
    made = asked_again(read(recording), "openai-chat", dialect=dialect)[1]
    if row.needs_reasoning and made.get("tool_calls"):
        expected.setdefault(row.needs_reasoning, "")
    fields = ("reasoning", "reasoning_content", "reasoning_details")
    assert expected == {name: made[name] for name in fields if name in made}
