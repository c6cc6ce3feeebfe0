"""Capabilities claim what the request adapters do: each claim is compared with real plans."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

import plait
from plait.errors import InvalidDataError
from plait.providers import CATALOGUE
from plait.providers.capabilities import Capabilities, capabilities_of
from plait.wire import WIRES, dialects

DATA = base64.b64encode(b"invented bytes").decode()
MEDIA = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "file": "application/pdf"}
TOOL = {
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
MODELS = {
    "openai-chat": ["some-model", "gpt-4o-search-preview", "groq/compound"],
    "openai-responses": ["gpt-5.2"],
    "anthropic-messages": ["claude-sonnet-4-5", "claude-opus-4-8"],
    "bedrock-converse": ["us.anthropic.claude-sonnet-4-5-v1:0", "us.amazon.nova-2-lite-v1:0"],
    "gemini": ["gemini-2.5-flash", "gemini-3-pro-preview"],
    "cohere-chat": ["command-a-reasoning-08-2025"],
    "mistral-chat": ["magistral-medium-2509", "mistral-medium-3.5"],
    "ollama-chat": ["qwen3"],
}
"""Between them the models of a wire do all that its servers have."""

TARGETS = [(wire, dialect) for wire in WIRES for dialect in dialects(wire)]
PLAIN: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Look at this."}]}
LOSSES = {"dropped", "demoted", "will_be_refused"}


def _taken(wire: str, dialect: str, what: str, *parts: Any, **options: Any) -> bool:
    """Whether one of the wire's models takes it without losing it."""
    return any(_by(model, wire, dialect, what, *parts, **options) for model in MODELS[wire])


def _by(model: str, wire: str, dialect: str, what: str, *parts: Any, **options: Any) -> bool:
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [*PLAIN["content"], *parts]},
    ]
    try:
        plan = plait.plan_request(wire, messages, dialect=dialect, model=model, **options)
    except InvalidDataError:
        return False
    bare = plait.plan_request(wire, [*messages[:1], PLAIN], dialect=dialect, model=model)
    said = plan.body != bare.body
    return said and not any(note.what.startswith(what) and note.kind in LOSSES for note in plan.notes)


def _file(kind: str, *, url: bool) -> dict[str, Any]:
    data = {"type": "url", "url": "https://files.example/it"} if url else {"type": "data", "data": DATA}
    return {"type": "file", "mediaType": MEDIA[kind], "data": data}


def _probed(wire: str, dialect: str) -> Capabilities:
    def taken(what: str, *parts: Any, **options: Any) -> bool:
        return _taken(wire, dialect, what, *parts, **options)

    forms = {"json_schema": SCHEMA, "json_object": "json"}
    controls = {
        "effort": ("reasoning.effort", {"effort": "low"}),
        "budget": ("reasoning.budget_tokens", {"budget_tokens": 2048}),
        "switch": ("reasoning", {"enabled": False}),
    }
    return Capabilities(
        tools=taken("tools", tools=[TOOL]),
        forced_tools=taken("tool", tools=[TOOL], tool_choice="required"),
        output=tuple(name for name, form in forms.items() if taken("output", output=form)),
        media=tuple(
            kind
            for kind in MEDIA
            if any(taken("messages[1].content[1]", _file(kind, url=url)) for url in (False, True))
        ),
        reasoning=tuple(name for name, (what, asked) in controls.items() if taken(what, reasoning=asked)),
        # Perplexity always searches: only how is asked for.
        web_search=any(taken("web_search", web_search=asked) for asked in (True, {"context_size": "low"})),
    )


@pytest.mark.parametrize(("wire", "dialect"), TARGETS, ids=[f"{wire}-{name}" for wire, name in TARGETS])
def test_claims_are_what_plans_do(wire: str, dialect: str) -> None:
    """What is claimed is sent, and what is not claimed is dropped or refused with a note."""
    probed = _probed(wire, dialect)
    if (wire, dialect) == ("openai-responses", "deepseek"):
        probed = replace(probed, media=())  # the format has images; its models read text alone
    assert capabilities_of(wire, dialect) == probed


@pytest.mark.parametrize(
    ("expected", "capabilities"),
    [
        pytest.param(
            ("tools", "forced tools", "JSON schema", "JSON object", "image", "reasoning (effort, switch)"),
            Capabilities(),
            id="most",
        ),
        pytest.param(
            (),
            Capabilities(tools=False, forced_tools=False, output=(), media=(), reasoning=()),
            id="nothing but text",
        ),
        pytest.param(
            ("file", "web search"),
            Capabilities(False, False, (), ("file",), (), web_search=True),
            id="search",
        ),
    ],
)
def test_words(expected: tuple[str, ...], capabilities: Capabilities) -> None:
    """What a table shows."""
    assert expected == capabilities.words


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_claimed_of_an_unknown_server(wire: str) -> None:
    """Without a dialect the server could be any."""
    assert capabilities_of(wire, None) is None


def test_every_endpoint_tells() -> None:
    """The endpoints of the catalogue have them at hand."""
    rows = {row.name: row for row in CATALOGUE.values()}
    groq = rows["groq"].endpoints[0].capabilities
    assert groq is not None
    assert ("image",) == groq.media
    assert rows["openai-compatible"].endpoints[0].capabilities is None
    assert {"tools": True, "forced_tools": False} == {
        name: value
        for name, value in Capabilities(forced_tools=False).to_dict().items()
        if name in ("tools", "forced_tools")
    }
