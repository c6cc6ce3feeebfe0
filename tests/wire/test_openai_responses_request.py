"""Options -> the body of a Responses request."""

from __future__ import annotations

from typing import Any

import pytest
from histories import user
from responses_requests import planned

from plait.errors import InvalidDataError, UnknownWireError

HI = {"role": "user", "content": "Hi"}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
}
STRICT = {**SCHEMA, "additionalProperties": False, "required": ["a", "b"]}


def asked(
    dialect: str | None = None, *, known: bool = True, **options: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body without its input, and the notes."""
    body, notes = planned([user("Hi")], dialect=dialect, known=known, **options)
    assert body.pop("input") == [HI]
    return body, notes


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"max_output_tokens": 100}, {"max_output_tokens": 100}, id="limit"),
        pytest.param({"temperature": 0.0, "top_p": 1.0}, {"temperature": 0.0, "top_p": 1.0}, id="sampling"),
        pytest.param({"parallel_tool_calls": False}, {"parallel_tool_calls": False}, id="parallel calls"),
        pytest.param({"metadata": {"a": "b"}}, {"metadata": {"a": "b"}}, id="metadata"),
        pytest.param({"user": "u1"}, {"safety_identifier": "u1"}, id="user"),
        pytest.param({"service_tier": "flex"}, {"service_tier": "flex"}, id="service tier"),
        pytest.param({"store": True}, {"store": True}, id="stored"),
        pytest.param({"store": False}, {"store": False}, id="not stored"),
        pytest.param({"previous_response_id": "resp_1"}, {"previous_response_id": "resp_1"}, id="continued"),
        pytest.param({"verbosity": "low"}, {"text": {"verbosity": "low"}}, id="verbosity"),
        pytest.param({"output": "json"}, {"text": {"format": {"type": "json_object"}}}, id="any JSON"),
        pytest.param({"reasoning": "low"}, {"reasoning": {"effort": "low"}}, id="effort"),
        pytest.param(
            {"reasoning": {"effort": "high", "summary": "auto"}},
            {"reasoning": {"effort": "high", "summary": "auto"}},
            id="summary",
        ),
        pytest.param({"reasoning": {"summary": "none"}}, {}, id="no summary is the default"),
        pytest.param(
            {"stream": True, "include_usage": True}, {"stream": True}, id="usage need not be asked for"
        ),
        pytest.param({"prompt_cache": True}, {}, id="the cache works by itself"),
        pytest.param({"prompt_cache": {"key": "k"}}, {"prompt_cache_key": "k"}, id="cache key"),
        pytest.param(
            {"prompt_cache": {"ttl": "30m"}}, {"prompt_cache_options": {"ttl": "30m"}}, id="30 minutes"
        ),
        pytest.param({"prompt_cache": {"ttl": "24h"}}, {"prompt_cache_retention": "24h"}, id="a day"),
        pytest.param({"extra": {"truncation": "auto"}}, {"truncation": "auto"}, id="extra"),
        pytest.param({"web_search": True}, {"tools": [{"type": "web_search"}]}, id="search"),
        pytest.param(
            {
                "web_search": {
                    "context_size": "low",
                    "allowed_domains": ["example.com"],
                    "user_location": {"country": "NO", "city": "Oslo"},
                }
            },
            {
                "tools": [
                    {
                        "type": "web_search",
                        "filters": {"allowed_domains": ["example.com"]},
                        "search_context_size": "low",
                        "user_location": {"type": "approximate", "city": "Oslo", "country": "NO"},
                    }
                ]
            },
            id="search with its options",
        ),
    ],
)
def test_options(options: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each under the API's own name, without a note."""
    assert asked(**options) == (expected, [])


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param(
            {"stop": ["."], "seed": 1, "top_k": 5, "presence_penalty": 1.0, "frequency_penalty": 1.0},
            {},
            [
                ("dropped", name)
                for name in ("stop", "seed", "presence_penalty", "frequency_penalty", "top_k")
            ],
            id="what only chat has",
        ),
        pytest.param(
            {"reasoning": {"budget_tokens": 99}}, {}, [("dropped", "reasoning.budget_tokens")], id="budget"
        ),
        pytest.param(
            {"reasoning": False}, {"reasoning": {"effort": "none"}}, [("added", "reasoning.effort")], id="off"
        ),
        pytest.param(
            {"reasoning": True}, {"reasoning": {"effort": "medium"}}, [("added", "reasoning.effort")], id="on"
        ),
        pytest.param(
            {"prompt_cache": {"ttl": "1h"}}, {}, [("dropped", "prompt_cache.ttl")], id="an hour of cache"
        ),
        pytest.param({"include_usage": False}, {}, [("dropped", "include_usage")], id="usage comes anyway"),
        pytest.param(
            {"max_output_tokens": 5},
            {"max_output_tokens": 5},
            [("will_be_refused", "max_output_tokens")],
            id="few",
        ),
        pytest.param(
            {"model": "gpt-5-mini", "temperature": 0.5},
            {"model": "gpt-5-mini", "temperature": 0.5},
            [("will_be_refused", "temperature")],
            id="sampling on a model that reasons",
        ),
        pytest.param(
            {"tool_choice": "required"},
            {"tool_choice": "required"},
            [("will_be_refused", "tool_choice")],
            id="no tools",
        ),
        pytest.param(
            {"web_search": {"blocked_domains": ["a.com"], "max_uses": 2}},
            {"tools": [{"type": "web_search"}], "max_tool_calls": 2},
            [("dropped", "web_search.blocked_domains"), ("renamed", "web_search.max_uses")],
            id="search options that are not there",
        ),
    ],
)
def test_options_that_are_said_otherwise(
    options: dict[str, Any], expected: dict[str, Any], notes: list[tuple[str, str]]
) -> None:
    """What has no place is dropped, what is refused is sent all the same: each with a note."""
    assert asked(**options) == (expected, notes)


@pytest.mark.parametrize(
    ("options", "included"),
    [
        pytest.param({"store": False}, False, id="a model of unknown kind"),
        pytest.param({"store": False, "model": "gpt-5"}, True, id="a model that reasons"),
        pytest.param({"store": False, "model": "gpt-4.1"}, False, id="a model that does not"),
        pytest.param({"store": False, "reasoning": "low"}, True, id="asked to reason"),
        pytest.param({"store": False, "model": "gpt-5.1", "reasoning": "none"}, False, id="asked not to"),
        pytest.param({"model": "gpt-5", "reasoning": "low"}, False, id="the provider keeps it"),
    ],
)
def test_encrypted_reasoning_is_asked_for_where_it_must_be_sent_back(
    options: dict[str, Any], included: bool
) -> None:
    """Models that do not reason refuse to be asked."""
    body, _ = asked(**options)
    assert (body.get("include") == ["reasoning.encrypted_content"]) == included


# Tools


def test_tools_are_flat_and_say_whether_they_are_strict() -> None:
    """Left out, `strict` would be true, and the schema rewritten."""
    body, notes = asked(
        tools=[
            {"name": "find", "description": "Finds.", "parameters": SCHEMA},
            {"name": "calc", "kind": "custom", "format": {"type": "text"}},
        ]
    )
    tools = [
        {"type": "function", "name": "find", "description": "Finds.", "parameters": SCHEMA, "strict": False},
        {"type": "custom", "name": "calc", "format": {"type": "text"}},
    ]
    assert (body, notes) == ({"tools": tools}, [])


def test_a_strict_tool_has_a_strict_schema() -> None:
    """All properties required, no others allowed; what that changes is noted."""
    body, notes = asked(tools=[{"name": "find", "parameters": SCHEMA, "strict": True}])
    assert body["tools"] == [{"type": "function", "name": "find", "parameters": STRICT, "strict": True}]
    assert notes == [("added", "tools[0].parameters.properties.b")]


def test_a_tool_that_cannot_be_strict_is_not() -> None:
    """A free-form object: the schema stays as it is."""
    free = {"type": "object", "additionalProperties": True}
    body, notes = asked(tools=[{"name": "find", "parameters": free, "strict": True}])
    assert body["tools"] == [{"type": "function", "name": "find", "parameters": free, "strict": False}]
    assert notes == [("demoted", "tools[0].parameters")]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("find", {"type": "function", "name": "find"}),
        ("calc", {"type": "custom", "name": "calc"}),
    ],
)
def test_tool_choice(choice: str, expected: Any) -> None:
    """A name is that of a function or of a custom tool."""
    body, notes = asked(tools=[{"name": "find"}, {"name": "calc", "kind": "custom"}], tool_choice=choice)
    assert (body["tool_choice"], notes) == (expected, [])


def test_a_choice_of_no_tool_is_an_error() -> None:
    """It is named."""
    with pytest.raises(InvalidDataError, match="tool_choice: there is no tool 'found'"):
        asked(tools=[{"name": "find"}], tool_choice="found")


def test_tool_names_that_are_refused_are_replaced() -> None:
    """In the definition and in the choice alike."""
    body, notes = asked(tools=[{"name": "crm.find"}], tool_choice="crm.find")
    assert (body["tools"][0]["name"], body["tool_choice"]["name"]) == ("crm_find", "crm_find")
    assert notes == [("renamed", "tools[0].name")]


# Structured output


def test_structured_output_is_flat() -> None:
    """Under `text.format`, with the strict schema."""
    body, notes = asked(output={"json_schema": STRICT, "name": "answer", "description": "An answer."})
    format_ = {
        "type": "json_schema", "name": "answer", "description": "An answer.", "schema": STRICT, "strict": True
    }  # fmt: skip
    assert (body, notes) == ({"text": {"format": format_}}, [])


def test_structured_output_that_is_not_strict() -> None:
    """The schema as it is."""
    body, notes = asked(output={"json_schema": SCHEMA, "strict": False})
    format_ = {"type": "json_schema", "name": "output", "schema": SCHEMA, "strict": False}
    assert (body, notes) == ({"text": {"format": format_}}, [])


# Dialects


@pytest.mark.parametrize(
    ("dialect", "options", "expected", "notes"),
    [
        pytest.param(
            "azure",
            {"web_search": True},
            {"tools": [{"type": "web_search_preview"}]},
            [],
            id="azure: older search",
        ),
        pytest.param(
            "xai",
            {"web_search": {"blocked_domains": ["a.com"]}, "model": "o5", "temperature": 0.5, "user": "u"},
            {
                "model": "o5",
                "temperature": 0.5,
                "tools": [{"type": "web_search", "filters": {"excluded_domains": ["a.com"]}}],
                "user": "u",
            },
            [],
            id="xai: its own filter",
        ),
        pytest.param(
            "openrouter",
            {"previous_response_id": "r", "store": True},
            {},
            [("dropped", "previous_response_id"), ("dropped", "store")],
            id="openrouter keeps nothing",
        ),
        pytest.param("deepseek", {"store": False}, {"store": False}, [], id="deepseek keeps nothing"),
        pytest.param(
            "deepseek",
            {"reasoning": "high"},
            {"reasoning": {"effort": "high"}},
            [],
            id="deepseek encrypts nothing: its reasoning is sent back in the clear",
        ),
        pytest.param(
            "codex",
            {"temperature": 0.5, "reasoning": "low", "stream": True, "store": False},
            {
                "reasoning": {"effort": "low"},
                "include": ["reasoning.encrypted_content"],
                "store": False,
                "stream": True,
            },
            [("dropped", "temperature"), ("will_be_refused", "messages")],
            id="codex takes few options, and demands instructions",
        ),
        pytest.param(
            "codex",
            {},
            {"store": False, "stream": True},
            [("will_be_refused", "messages"), ("added", "store"), ("added", "stream")],
            id="codex demands a stream",
        ),
    ],
)
def test_dialects(
    dialect: str, options: dict[str, Any], expected: dict[str, Any], notes: list[tuple[str, str]]
) -> None:
    """What servers take otherwise."""
    assert asked(dialect, known=False, **options) == (expected, notes)


def test_an_unknown_dialect_is_refused() -> None:
    """The error lists those there are."""
    with pytest.raises(UnknownWireError, match=r"its dialects are .*azure"):
        asked("groq")
