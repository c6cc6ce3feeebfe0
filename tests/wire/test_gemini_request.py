"""Options -> the body of a Gemini request."""

from __future__ import annotations

from typing import Any

import pytest
from gemini_requests import content, planned
from histories import user

from plait.errors import InvalidDataError, UnknownWireError

SCHEMA = {"type": "object", "properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]}
OLD_SCHEMA = {"type": "object", "properties": {"q": {"nullable": True, "type": "string"}}, "required": ["q"]}
TOOL = {"name": "find", "description": "Finds.", "parameters": SCHEMA}
DECLARED = {"name": "find", "description": "Finds.", "parametersJsonSchema": SCHEMA}
NEW = "gemini-3-pro"
MIDDLE = "gemini-2.5-flash"
OLD = "gemini-1.5-flash"


def asked(dialect: str | None = None, **options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body without its contents, and the notes."""
    body, notes = planned([user("Hi")], dialect=dialect, **options)
    assert body.pop("contents") == [content("user", "Hi")]
    return body, notes


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"max_output_tokens": 9}, {"maxOutputTokens": 9}, id="limit"),
        pytest.param(
            {"temperature": 0.0, "top_p": 0.9, "top_k": 5},
            {"temperature": 0.0, "topP": 0.9, "topK": 5},
            id="sampling",
        ),
        pytest.param(
            {"presence_penalty": 0.1, "frequency_penalty": 0.2, "seed": 7},
            {"presencePenalty": 0.1, "frequencyPenalty": 0.2, "seed": 7},
            id="penalties and seed",
        ),
        pytest.param({"stop": ["."]}, {"stopSequences": ["."]}, id="stop"),
        pytest.param({"output": "json"}, {"responseMimeType": "application/json"}, id="any JSON"),
        pytest.param(
            {"output": {"json_schema": SCHEMA}},
            {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
            id="a schema",
        ),
        pytest.param(
            {"output": {"json_schema": SCHEMA}, "model": OLD},
            {"responseMimeType": "application/json", "responseSchema": OLD_SCHEMA},
            id="a schema for an older model",
        ),
        pytest.param({"reasoning": "high"}, {"thinkingConfig": {"thinkingLevel": "HIGH"}}, id="level"),
        pytest.param(
            {"reasoning": {"effort": "low", "summary": "auto"}, "model": NEW},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}},
            id="level and thoughts",
        ),
        pytest.param(
            {"reasoning": {"budget_tokens": 500}, "model": MIDDLE},
            {"thinkingConfig": {"thinkingBudget": 500}},
            id="budget",
        ),
        pytest.param(
            {"reasoning": True, "model": MIDDLE},
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}},
            id="as much as it sees fit",
        ),
        pytest.param(
            {"reasoning": False, "model": MIDDLE}, {"thinkingConfig": {"thinkingBudget": 0}}, id="off"
        ),
    ],
)
def test_generation_config(options: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each under Google's own name, without a note."""
    assert asked(**options) == ({"generationConfig": expected}, [])


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param({"stream": True, "include_usage": True}, {}, [], id="usage need not be asked for"),
        pytest.param({"store": False}, {"store": False}, [], id="store"),
        pytest.param({"service_tier": "flex"}, {"serviceTier": "flex"}, [], id="service tier"),
        pytest.param(
            {"extra": {"cachedContent": "cachedContents/c1"}},
            {"cachedContent": "cachedContents/c1"},
            [],
            id="extra",
        ),
        pytest.param(
            {
                "parallel_tool_calls": False,
                "user": "u",
                "verbosity": "low",
                "prompt_cache": {"key": "k"},
                "previous_response_id": "r",
                "metadata": {"a": "b"},
            },
            {},
            [
                ("dropped", name)
                for name in (
                    "parallel_tool_calls",
                    "user",
                    "verbosity",
                    "prompt_cache",
                    "previous_response_id",
                    "metadata",
                )
            ],
            id="what Google does not have",
        ),
        pytest.param(
            {"stop": list("abcdef")},
            {"generationConfig": {"stopSequences": list("abcde")}},
            [("clamped", "stop")],
            id="at most five stops",
        ),
        pytest.param(
            {"reasoning": "max"},
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "XHIGH"}}},
            [("clamped", "reasoning.effort")],
            id="the highest level",
        ),
        pytest.param(
            {"reasoning": {"effort": "low", "budget_tokens": 9}},
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}},
            [("dropped", "reasoning.budget_tokens")],
            id="level or budget",
        ),
        pytest.param(
            {"reasoning": "medium", "model": MIDDLE},
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192}}},
            [("renamed", "reasoning.effort")],
            id="effort as a budget",
        ),
        pytest.param(
            {"reasoning": False, "model": "gemini-2.5-pro"},
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
            [("will_be_refused", "reasoning")],
            id="a model that always thinks",
        ),
        pytest.param(
            {"reasoning": "low", "model": OLD}, {}, [("dropped", "reasoning")], id="a model that does not"
        ),
        pytest.param(
            {"web_search": {"blocked_domains": ["a.com"], "max_uses": 1}},
            {"tools": [{"googleSearch": {}}]},
            [("dropped", "web_search.blocked_domains"), ("dropped", "web_search.max_uses")],
            id="search options that are not there",
        ),
    ],
)
def test_options(options: dict[str, Any], expected: dict[str, Any], notes: list[tuple[str, str]]) -> None:
    """What has no place is dropped, what is refused is sent all the same: each with a note."""
    body, found = asked(**options)
    assert (body, sorted(found)) == (expected, sorted(notes))


def test_vertex_has_tags_and_leaves_domains_out() -> None:
    """What only Vertex AI takes."""
    body, notes = asked("vertex", metadata={"team": "a"}, web_search={"blocked_domains": ["a.com"]})
    tools = [{"googleSearch": {"excludeDomains": ["a.com"]}}]
    assert (body, notes) == ({"labels": {"team": "a"}, "tools": tools}, [])


# Tools


@pytest.mark.parametrize(
    ("model", "declared"),
    [
        (None, DECLARED),
        (NEW, DECLARED),
        ("gemini-2.0-flash", DECLARED),
        (OLD, {"name": "find", "description": "Finds.", "parameters": OLD_SCHEMA}),
    ],
)
def test_functions(model: str | None, declared: dict[str, Any]) -> None:
    """One tool holds all; older models take another kind of schema."""
    body, notes = asked(tools=[TOOL, {"name": "now"}], model=model)
    assert (body, notes) == ({"tools": [{"functionDeclarations": [declared, {"name": "now"}]}]}, [])


def test_a_custom_tool_is_a_function_of_a_text() -> None:
    """The text is its only parameter; the grammar has no place."""
    body, notes = asked(tools=[{"name": "calc", "kind": "custom"}])
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    assert body["tools"] == [{"functionDeclarations": [{"name": "calc", "parametersJsonSchema": schema}]}]
    assert notes == [("demoted", "tools[0]")]


def test_names_and_strictness() -> None:
    """A name that is refused is replaced, and functions are not strict."""
    body, notes = asked(tools=[{**TOOL, "name": "find it", "strict": True}], tool_choice="find it")
    assert body["tools"] == [{"functionDeclarations": [{**DECLARED, "name": "find_it"}]}]
    assert body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == ["find_it"]
    assert notes == [("renamed", "tools[0].name"), ("dropped", "tools[0].strict")]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("find", {"mode": "ANY", "allowedFunctionNames": ["find"]}),
    ],
)
def test_tool_choice(choice: str, expected: dict[str, Any]) -> None:
    """A named tool is the only one that is allowed."""
    body, notes = asked(tools=[TOOL], tool_choice=choice)
    assert (body["toolConfig"], notes) == ({"functionCallingConfig": expected}, [])


def test_a_choice_of_no_tool_is_an_error() -> None:
    """It is named."""
    with pytest.raises(InvalidDataError, match="tool_choice: there is no tool 'found'"):
        asked(tools=[TOOL], tool_choice="found")


@pytest.mark.parametrize(
    ("model", "config", "notes"),
    [
        pytest.param(
            NEW,
            {"includeServerSideToolInvocations": True},
            [("added", "toolConfig.includeServerSideToolInvocations")],
            id="Gemini 3",
        ),
        pytest.param(MIDDLE, None, [("will_be_refused", "web_search")], id="before"),
    ],
)
def test_functions_beside_a_search(
    model: str, config: dict[str, Any] | None, notes: list[tuple[str, str]]
) -> None:
    """Gemini 3 must be told; older models refuse it."""
    body, found = asked(tools=[TOOL], web_search=True, model=model)
    assert body["tools"] == [{"functionDeclarations": [DECLARED]}, {"googleSearch": {}}]
    assert (body.get("toolConfig"), found) == (config, notes)


def test_functions_beside_json_output() -> None:
    """Models before Gemini 3 refuse it."""
    _, notes = asked(tools=[TOOL], output="json", model=MIDDLE)
    assert notes == [("will_be_refused", "output")]


def test_an_unknown_dialect_is_refused() -> None:
    """The error lists those there are."""
    with pytest.raises(UnknownWireError, match="its dialects are google, vertex"):
        asked("studio")
