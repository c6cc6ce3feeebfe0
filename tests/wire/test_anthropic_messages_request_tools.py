"""Tools, tool choice and web search -> the fields of Anthropic's body."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_requests import WIRE, planned
from histories import assistant, call, results, user

from plait.errors import InvalidDataError
from plait.wire.requests import plan_request

ASK = [user("Hi")]
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
TOOL = {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}
SENT = {"name": "find", "description": "Finds.", "input_schema": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"tool_choice": "auto"}, {"type": "auto"}, id="auto"),
        pytest.param({"tool_choice": "none"}, {"type": "none"}, id="none"),
        pytest.param({"tool_choice": "required"}, {"type": "any"}, id="required"),
        pytest.param({"tool_choice": "find"}, {"type": "tool", "name": "find"}, id="named"),
        pytest.param({"parallel_tool_calls": True}, None, id="parallel"),
        pytest.param(
            {"parallel_tool_calls": False},
            {"type": "auto", "disable_parallel_tool_use": True},
            id="one at a time",
        ),
        pytest.param(
            {"parallel_tool_calls": False, "tool_choice": "required"},
            {"type": "any", "disable_parallel_tool_use": True},
            id="exactly one",
        ),
        pytest.param({"parallel_tool_calls": False, "tool_choice": "none"}, {"type": "none"}, id="not one"),
    ],
)
def test_tool_choice(options: dict[str, Any], expected: Any) -> None:
    """The choice, with the switch of parallel calls inside."""
    body, notes = planned(ASK, tools=[TOOL], **options)
    assert (body["tools"], body.get("tool_choice"), notes) == ([SENT], expected, [])


def test_an_empty_description_is_sent() -> None:
    """It is taken, and what the caller gave is not changed."""
    body, notes = planned(ASK, tools=[{**TOOL, "description": ""}])
    assert (body["tools"], notes) == ([{**SENT, "description": ""}], [])


def test_without_tools_there_is_no_choice() -> None:
    """A choice between no tools is refused: it is dropped with a note."""
    expected = [("dropped", "tool_choice"), ("dropped", "parallel_tool_calls")]
    body, notes = planned(ASK, tool_choice="auto", parallel_tool_calls=False)
    assert ("tool_choice" in body, notes) == (False, expected)


def test_tools_in_extra_may_be_chosen_between() -> None:
    """Tools that only this provider knows are tools."""
    body = plan_request(WIRE, ASK, model="m", tool_choice="required", extra={"tools": [SENT]}).body
    assert (body["tools"], body["tool_choice"]) == ([SENT], {"type": "any"})


@pytest.mark.parametrize(
    ("reasoning", "expected", "notes"),
    [
        pytest.param({"budget_tokens": 2000}, {"type": "auto"}, [("demoted", "tool_choice")], id="budget"),
        pytest.param("low", {"type": "any"}, [], id="adaptive"),
    ],
)
def test_a_forced_choice_and_a_budget(reasoning: Any, expected: Any, notes: list[Any]) -> None:
    """A forced choice is refused with a budget for thinking, and taken with adaptive thinking."""
    body, found = planned(ASK, tools=[TOOL], tool_choice="required", reasoning=reasoning)
    assert (body["tool_choice"], found) == (expected, notes)


def test_bedrock_has_no_switch_of_parallel_calls() -> None:
    """It is dropped with a note."""
    body, notes = planned(ASK, dialect="bedrock", tools=[TOOL], parallel_tool_calls=False)
    assert ("tool_choice" in body, notes) == (False, [("dropped", "parallel_tool_calls")])


@pytest.mark.parametrize(
    ("tool", "schema", "notes"),
    [
        pytest.param({}, {"type": "object", "properties": {}}, [], id="no parameters"),
        pytest.param({"parameters": {}}, {"type": "object"}, [], id="empty schema"),
        pytest.param(
            {"parameters": {"anyOf": []}},
            {"type": "object", "anyOf": []},
            [("added", "tools.find.parameters")],
            id="no type",
        ),
        pytest.param(
            {"kind": "custom", "format": {"type": "text"}},
            {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
            [("demoted", "tools.find"), ("dropped", "tools.find.format")],
            id="free text",
        ),
    ],
)
def test_input_is_an_object(tool: dict[str, Any], schema: dict[str, Any], notes: list[Any]) -> None:
    """Each tool's schema is one of an object."""
    body, found = planned(ASK, tools=[{"name": "find", **tool}])
    assert (body["tools"][0]["input_schema"], found) == (schema, notes)


def test_a_strict_tool_has_a_schema_that_is_kept_to() -> None:
    """`strict` closes the objects of the schema."""
    tool = {"name": "find", "strict": True, "parameters": {"type": "object", "properties": {}}}
    body, _ = planned(ASK, tools=[tool])
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    assert body["tools"] == [{"name": "find", "input_schema": schema, "strict": True}]


def test_a_name_that_is_not_taken_is_replaced_wherever_it_stands() -> None:
    """Definition, choice and calls have the same name."""
    history = [*ASK, assistant(call("c1", "web.find")), results(c1="x")]
    body, notes = planned(history, tools=[{"name": "web.find"}], tool_choice="web.find")
    names = (
        body["tools"][0]["name"],
        body["tool_choice"]["name"],
        body["messages"][1]["content"][0]["name"],
    )
    assert names == ("web_find", "web_find", "web_find")
    assert notes == [("renamed", "messages[1].content[0].tool_name"), ("renamed", "tools.web.find")]


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        pytest.param([{"name": "a.b"}, {"name": "a_b"}], "two tools are sent as 'a_b'", id="same name"),
        pytest.param([{"name": "a", "parameters": {"type": "array"}}], "tools.a.parameters", id="list"),
    ],
)
def test_tools_that_cannot_be_sent(tools: list[Any], message: str) -> None:
    """The error names the tool."""
    with pytest.raises(InvalidDataError, match=message):
        planned(ASK, tools=tools)


@pytest.mark.parametrize(
    ("search", "expected", "notes"),
    [
        pytest.param(True, SEARCH, [], id="plain"),
        pytest.param(
            {
                "max_uses": 2,
                "allowed_domains": ["x.org"],
                "blocked_domains": ["y.org"],
                "user_location": {"city": "Oslo"},
                "context_size": "low",
            },
            {
                **SEARCH,
                "max_uses": 2,
                "allowed_domains": ["x.org"],
                "user_location": {"type": "approximate", "city": "Oslo"},
            },
            [("dropped", "web_search.blocked_domains"), ("dropped", "web_search.context_size")],
            id="all",
        ),
        pytest.param(
            {"blocked_domains": ["y.org"]}, {**SEARCH, "blocked_domains": ["y.org"]}, [], id="blocked"
        ),
    ],
)
def test_web_search(search: Any, expected: dict[str, Any], notes: list[Any]) -> None:
    """Web search is a server tool; domains are either allowed or blocked."""
    body, found = planned(ASK, web_search=search)
    assert (body["tools"], found) == ([expected], notes)
