"""Options -> the fields of Converse's body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from converse_requests import CLAUDE, FORMAT, LLAMA, NOVA, planned
from histories import assistant, call, results, user

from plait.errors import InvalidDataError
from plait.wire.bedrock_converse.families import family

ASK = [user("Hi")]
GPT = "openai.gpt-oss-120b-1:0"
QWEN = "qwen.qwen3-32b-v1:0"
TOOL = {"name": "find", "description": "Finds."}
SPEC = {
    "toolSpec": {
        "name": "find",
        "description": "Finds.",
        "inputSchema": {"json": {"type": "object", "properties": {}}},
    }
}


def fields(**options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What an option adds to the smallest body, and its notes."""
    body, notes = planned(ASK, **options)
    return {key: value for key, value in body.items() if key != "messages"}, notes


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param(
            {"max_output_tokens": 9, "temperature": 0, "top_p": 0.5, "stop": ["END", ""]},
            {"inferenceConfig": {"maxTokens": 9, "temperature": 0, "topP": 0.5, "stopSequences": ["END"]}},
            [("dropped", "stop")],
            id="inference",
        ),
        pytest.param(
            {"temperature": 2},
            {"inferenceConfig": {"temperature": 1.0}},
            [("clamped", "temperature")],
            id="too hot",
        ),
        pytest.param(
            {"top_k": 5, "model": "anthropic.claude-x"},
            {"additionalModelRequestFields": {"top_k": 5}},
            [],
            id="top_k of Claude",
        ),
        pytest.param(
            {"top_k": 5, "model": NOVA},
            {"additionalModelRequestFields": {"inferenceConfig": {"topK": 5}}},
            [],
            id="top_k of Nova",
        ),
        pytest.param({"top_k": 5, "model": LLAMA}, {}, [("dropped", "top_k")], id="no top_k"),
        pytest.param({"metadata": {"a": "b"}}, {"requestMetadata": {"a": "b"}}, [], id="metadata"),
        pytest.param({"service_tier": "flex"}, {"serviceTier": {"type": "flex"}}, [], id="tier"),
        pytest.param({"service_tier": "auto"}, {}, [("dropped", "service_tier")], id="unknown tier"),
        pytest.param(
            {"seed": 1, "user": "u"}, {}, [("dropped", "seed"), ("dropped", "user")], id="none such"
        ),
        pytest.param({"output": "json"}, {}, [("dropped", "output")], id="JSON mode"),
        pytest.param(
            {"extra": {"guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1"}}},
            {"guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1"}},
            [],
            id="extra",
        ),
    ],
)
def test_each_plain_option(options: dict[str, Any], expected: dict[str, Any], notes: list[Any]) -> None:
    """An option where Converse has it, within its limits; else a note."""
    assert fields(**options) == (expected, notes)


def test_metadata_has_at_most_sixteen_tags() -> None:
    """What is beyond the limit is dropped, each with a note."""
    body, notes = fields(metadata={f"k{number}": "v" for number in range(17)})
    assert (len(body["requestMetadata"]), notes) == (16, [("dropped", "metadata.k16")])


@pytest.mark.parametrize(
    ("model", "reasoning", "expected", "notes"),
    [
        pytest.param(
            CLAUDE,
            "high",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
            [],
            id="claude",
        ),
        pytest.param(CLAUDE, False, {"thinking": {"type": "disabled"}}, [], id="claude off"),
        pytest.param(
            CLAUDE,
            {"budget_tokens": 2000},
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            [],
            id="claude with a budget",
        ),
        pytest.param(
            "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
            "low",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            [],
            id="hidden family",
        ),
        pytest.param(
            NOVA,
            "low",
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}},
            [],
            id="nova",
        ),
        pytest.param(NOVA, "none", {"reasoningConfig": {"type": "disabled"}}, [], id="nova off"),
        pytest.param(
            NOVA,
            {"budget_tokens": 9},
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
            [("dropped", "reasoning.budget_tokens"), ("added", "reasoning.effort")],
            id="nova with a budget",
        ),
        pytest.param("amazon.nova-pro-v1:0", "low", None, [("dropped", "reasoning")], id="nova 1"),
        pytest.param(GPT, "xhigh", {"reasoning_effort": "high"}, [("clamped", "reasoning.effort")], id="gpt"),
        pytest.param(GPT, "none", None, [("dropped", "reasoning")], id="gpt off"),
        pytest.param(
            QWEN, "medium", {"reasoning_config": "high"}, [("clamped", "reasoning.effort")], id="qwen"
        ),
        pytest.param("us.deepseek.r1-v1:0", "low", None, [("dropped", "reasoning")], id="deepseek"),
    ],
)
def test_reasoning(model: str, reasoning: Any, expected: Any, notes: list[Any]) -> None:
    """Each family has a field of its own, or none."""
    body, found = planned(ASK, model=model, reasoning=reasoning)
    assert (body.get("additionalModelRequestFields"), found) == (expected, notes)


def test_a_budget_needs_no_limit() -> None:
    """Without one the model's own applies, which is above any budget."""
    body, notes = planned(ASK, model=CLAUDE, reasoning={"budget_tokens": 2000})
    assert ("inferenceConfig" in body, notes) == (False, [])


def test_nova_with_high_effort_takes_no_limits() -> None:
    """They are dropped, with notes."""
    body, notes = fields(model=NOVA, reasoning="high", temperature=0, max_output_tokens=9)
    fields_ = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}
    assert body == {"additionalModelRequestFields": fields_}
    assert notes == [("dropped", "temperature"), ("dropped", "max_output_tokens")]


@pytest.mark.parametrize("thought", [pytest.param(True, id="thought"), pytest.param(False, id="unthought")])
def test_a_budget_needs_thinking_before_the_calls_that_are_answered(thought: bool) -> None:
    """Claude cannot start to think in the middle of a turn that another model began."""
    detail = {"type": "text", "text": "Hm", "signature": "S", "format": FORMAT}
    before = [{"type": "reasoning", "details": [detail]}] if thought else []
    history = [*ASK, assistant(*before, call("c1")), results(c1="x")]
    body, notes = planned(history, model=CLAUDE, reasoning={"budget_tokens": 2000}, max_output_tokens=4000)
    assert ("additionalModelRequestFields" in body, ("dropped", "reasoning") in notes) == (
        thought,
        not thought,
    )


# Tools


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param({}, {"tools": [SPEC]}, [], id="tools"),
        pytest.param({"tool_choice": "auto"}, {"tools": [SPEC], "toolChoice": {"auto": {}}}, [], id="auto"),
        pytest.param({"tool_choice": "required"}, {"tools": [SPEC], "toolChoice": {"any": {}}}, [], id="any"),
        pytest.param(
            {"tool_choice": "find"},
            {"tools": [SPEC], "toolChoice": {"tool": {"name": "find"}}},
            [],
            id="named",
        ),
        pytest.param(
            {"tool_choice": "find", "model": LLAMA},
            {"tools": [SPEC], "toolChoice": {"tool": {"name": "find"}}},
            [("will_be_refused", "tool_choice")],
            id="named, to another family",
        ),
        pytest.param({"tool_choice": "none"}, None, [("dropped", "tools")], id="none"),
        pytest.param(
            {"parallel_tool_calls": False},
            {"tools": [SPEC]},
            [("dropped", "parallel_tool_calls")],
            id="one at a time",
        ),
        pytest.param(
            {"tool_choice": "required", "model": CLAUDE, "reasoning": {"budget_tokens": 2000}},
            {"tools": [SPEC], "toolChoice": {"auto": {}}},
            [("demoted", "tool_choice")],
            id="any, while Claude thinks",
        ),
    ],
)
def test_tools_and_choice(options: dict[str, Any], expected: Any, notes: list[Any]) -> None:
    """The tools, and the choice where there is such a one."""
    body, found = planned(ASK, tools=[TOOL], **options)
    assert (body.get("toolConfig"), found) == (expected, notes)


CALLS = [*ASK, assistant(call("c1")), results(c1="x"), user("Thanks")]
STUB = {"toolSpec": {"name": "find", "inputSchema": {"json": {"type": "object", "properties": {}}}}}


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param({}, [STUB], [("added", "tools")], id="no tools"),
        pytest.param({"tools": []}, [STUB], [("added", "tools")], id="empty"),
        pytest.param({"tool_choice": "none"}, [STUB], [("dropped", "tool_choice")], id="none"),
        pytest.param({"tools": [TOOL]}, [SPEC], [], id="tools"),
        pytest.param(
            {"tools": [TOOL], "tool_choice": "none"}, [SPEC], [("dropped", "tool_choice")], id="not now"
        ),
    ],
)
def test_a_history_with_calls_needs_tools(
    options: dict[str, Any], expected: list[Any], notes: list[Any]
) -> None:
    """Without `toolConfig` tool blocks are refused: it is made of the history's own calls."""
    body, found = planned(CALLS, **options)
    assert (body["toolConfig"], found) == ({"tools": expected}, notes)


def test_without_tools_nothing_is_sent() -> None:
    """Neither an empty `toolConfig` nor a choice between no tools."""
    assert fields(tools=[], tool_choice="auto") == ({}, [("dropped", "tool_choice")])


def test_names_are_replaced_and_must_differ() -> None:
    """A name that is not taken is replaced, with a note; two of one name are an error."""
    body, notes = planned(ASK, tools=[{"name": "a.b", "strict": True}])
    spec = body["toolConfig"]["tools"][0]["toolSpec"]
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    assert spec == {"name": "a_b", "inputSchema": {"json": schema}, "strict": True}
    assert notes == [("renamed", "tools.a.b")]
    with pytest.raises(InvalidDataError, match="two tools are sent as 'a_b'"):
        planned(ASK, tools=[{"name": "a.b"}, {"name": "a_b"}])


def test_only_nova_searches_the_web() -> None:
    """Web search is a system tool of Nova's, without settings."""
    body, notes = fields(model=NOVA, web_search={"max_uses": 1})
    assert body == {"toolConfig": {"tools": [{"systemTool": {"name": "nova_grounding"}}]}}
    assert notes == [("dropped", "web_search.max_uses")]
    assert fields(model=CLAUDE, web_search=True) == ({}, [("dropped", "web_search")])


# Output and cache


def test_the_schema_of_structured_output_is_a_string() -> None:
    """JSON inside JSON, with a name and a description."""
    output = {"json_schema": {"type": "object", "properties": {}}, "name": "A", "description": "B"}
    body, notes = fields(output=output)
    made = body["outputConfig"]["textFormat"]
    schema = made["structure"]["jsonSchema"]
    assert (made["type"], schema["name"], schema["description"], notes) == ("json_schema", "A", "B", [])
    assert json.loads(schema["schema"]) == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("model", "where"),
    [
        pytest.param(CLAUDE, ["tools", "system", "messages"], id="claude"),
        pytest.param(NOVA, ["system", "messages"], id="nova"),
        pytest.param(LLAMA, [], id="no cache"),
    ],
)
def test_cache_points_stand_where_the_family_takes_them(model: str, where: list[str]) -> None:
    """After the tools, the system text and the history; a family without a cache gets a note."""
    history = [{"role": "system", "content": "Be brief."}, *ASK]
    body, notes = planned(history, model=model, tools=[TOOL], prompt_cache={"ttl": "5m"})
    places = {
        "tools": body["toolConfig"]["tools"],
        "system": body["system"],
        "messages": body["messages"][-1]["content"],
    }
    point = {"cachePoint": {"type": "default", "ttl": "5m"}}
    assert [name for name, blocks in places.items() if blocks[-1] == point] == where
    assert notes == ([] if where else [("dropped", "prompt_cache")])


def test_no_cache_point_follows_reasoning() -> None:
    """It stands after the last block that it may follow."""
    detail = {"type": "text", "text": "Hm", "signature": "S", "format": FORMAT}
    history = [*ASK, assistant("So:", {"type": "reasoning", "details": [detail]})]
    body, notes = planned(history, prompt_cache={"ttl": "24h", "key": "k"})
    kinds = [next(iter(block)) for block in body["messages"][1]["content"]]
    assert kinds == ["text", "cachePoint", "reasoningContent"]
    assert notes == [("clamped", "prompt_cache.ttl"), ("dropped", "prompt_cache.key")]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param("us.anthropic.claude-opus-4-6-v1", "anthropic", id="region"),
        pytest.param("amazon.nova-pro-v1:0", "nova", id="nova"),
        pytest.param("amazon.titan-text-lite-v1", "amazon", id="titan"),
        pytest.param(
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama3-v1:0", "meta", id="profile"
        ),
        pytest.param("arn:aws:bedrock:us-east-1:1:application-inference-profile/x", None, id="hidden"),
        pytest.param(None, None, id="no model"),
    ],
)
def test_the_family_of_a_model(model: str | None, expected: str | None) -> None:
    """The vendor is in the id, behind the region and the ARN."""
    assert family(model).name == expected
