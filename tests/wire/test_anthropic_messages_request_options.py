"""Options -> the fields of Anthropic's body."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_requests import FORMAT, WIRE, planned
from histories import assistant, call, results, user

from plait.wire.requests import plan_request

ASK = [user("Hi")]
TOOL = {"name": "find", "parameters": {"type": "object", "properties": {}}}


def fields(**options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What an option adds to the smallest body, and its notes."""
    body, notes = planned(ASK, **options)
    plain, _ = planned(ASK)
    return {key: value for key, value in body.items() if plain.get(key) != value}, notes


# Hosts


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        pytest.param("anthropic", {"model": "m", "stream": True}, id="anthropic"),
        pytest.param("vertex", {"anthropic_version": "vertex-2023-10-16", "stream": True}, id="vertex"),
        pytest.param("bedrock", {"anthropic_version": "bedrock-2023-05-31"}, id="bedrock"),
    ],
)
def test_model_version_and_stream_stand_where_the_host_wants_them(
    dialect: str, expected: dict[str, Any]
) -> None:
    """Vertex AI and Bedrock name the model in the URL, Bedrock the stream too."""
    body, notes = planned(ASK, dialect=dialect, model="m", stream=True)
    rest = {"max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}]}
    assert (body, notes) == ({**expected, **rest}, [])


def test_a_body_without_a_model_is_noted() -> None:
    """Where the body names the model, there is none by default."""
    assert ("will_be_refused", "model") in planned(ASK, model=None)[1]


def test_the_limit_is_required() -> None:
    """What is put in for it is noted; what was asked for is not."""
    added = [note for note in plan_request(WIRE, ASK, model="m").notes if note.kind == "added"]
    assert [(note.what, "4096" in note.why) for note in added] == [("max_output_tokens", True)]
    plan = plan_request(WIRE, ASK, model="m", max_output_tokens=9)
    assert (plan.body["max_tokens"], plan.notes) == (9, [])


# Plain fields


@pytest.mark.parametrize(
    ("options", "expected", "notes"),
    [
        pytest.param({"temperature": 0.5}, {"temperature": 0.5}, [], id="temperature"),
        pytest.param({"temperature": 2}, {"temperature": 1.0}, [("clamped", "temperature")], id="too hot"),
        pytest.param({"temperature": 0}, {"temperature": 0.0}, [], id="cold"),
        pytest.param({"top_p": 0.5, "top_k": 5}, {"top_p": 0.5, "top_k": 5}, [], id="nucleus"),
        pytest.param({"stop": ["END", " "]}, {"stop_sequences": ["END"]}, [("dropped", "stop")], id="stop"),
        pytest.param({"user": "u1"}, {"metadata": {"user_id": "u1"}}, [], id="user"),
        pytest.param(
            {"metadata": {"user_id": "u1", "tag": "x"}},
            {"metadata": {"user_id": "u1"}},
            [("dropped", "metadata.tag")],
            id="metadata",
        ),
        pytest.param({"service_tier": "auto"}, {"service_tier": "auto"}, [], id="tier"),
        pytest.param({"service_tier": "flex"}, {}, [("dropped", "service_tier")], id="unknown tier"),
        pytest.param({"seed": 1}, {}, [("dropped", "seed")], id="no such option"),
        pytest.param({"stream": True, "include_usage": True}, {"stream": True}, [], id="stream"),
        pytest.param({"extra": {"container": "c1"}}, {"container": "c1"}, [], id="extra"),
        pytest.param({"output": "json"}, {}, [("dropped", "output")], id="JSON mode"),
    ],
)
def test_each_plain_option(options: dict[str, Any], expected: dict[str, Any], notes: list[Any]) -> None:
    """An option under the name that the API wants, within its limits; else a note."""
    assert fields(**options) == (expected, notes)


def test_extra_is_put_beside_what_was_built() -> None:
    """An object in `extra` does not hide what options put into the same object."""
    extra = {"output_config": {"task_budget": {"type": "tokens", "total": 20000}}}
    body = plan_request(WIRE, ASK, model="m", reasoning="low", extra=extra).body
    assert body["output_config"] == {"effort": "low", **extra["output_config"]}


# Reasoning


@pytest.mark.parametrize(
    ("model", "reasoning", "expected", "notes"),
    [
        pytest.param("m", "high", ({"type": "adaptive"}, "high"), [], id="effort"),
        pytest.param("m", "minimal", ({"type": "adaptive"}, "low"), ["clamped"], id="least effort"),
        pytest.param("m", "none", ({"type": "disabled"}, None), [], id="no effort"),
        pytest.param("m", False, ({"type": "disabled"}, None), [], id="off"),
        pytest.param("m", True, ({"type": "adaptive"}, None), [], id="on"),
        pytest.param("m", {"budget_tokens": 0}, ({"type": "disabled"}, None), [], id="budget 0"),
        pytest.param(
            "m",
            {"budget_tokens": 2000},
            ({"type": "enabled", "budget_tokens": 2000}, None),
            [],
            id="budget",
        ),
        pytest.param(
            "m",
            {"budget_tokens": 9},
            ({"type": "enabled", "budget_tokens": 1024}, None),
            ["clamped"],
            id="small budget",
        ),
        pytest.param(
            "claude-opus-4-6",
            {"budget_tokens": 2000, "effort": "low"},
            ({"type": "enabled", "budget_tokens": 2000}, "low"),
            [],
            id="both",
        ),
        pytest.param(
            "claude-sonnet-4-5-20250929",
            "low",
            ({"type": "enabled", "budget_tokens": 2048}, None),
            ["demoted"],
            id="effort on a model with budgets",
        ),
        pytest.param(
            "claude-3-7-sonnet-20250219",
            True,
            ({"type": "enabled", "budget_tokens": 8192}, None),
            ["added"],
            id="on, on a model with budgets",
        ),
        pytest.param(
            "claude-opus-4-8",
            {"budget_tokens": 2000},
            ({"type": "adaptive"}, None),
            ["dropped"],
            id="budget on a model without",
        ),
        pytest.param(
            "m",
            {"effort": "low", "summary": "auto"},
            ({"type": "adaptive", "display": "summarized"}, "low"),
            [],
            id="shown",
        ),
        pytest.param(
            "m",
            {"effort": "low", "summary": "none"},
            ({"type": "adaptive", "display": "omitted"}, "low"),
            [],
            id="hidden",
        ),
        pytest.param("m", {"summary": "auto"}, (None, None), ["dropped"], id="a summary of nothing"),
    ],
)
def test_reasoning(model: str, reasoning: Any, expected: tuple[Any, Any], notes: list[str]) -> None:
    """Effort, budgets and off, by what the model's version takes."""
    body, found = planned(ASK, model=model, reasoning=reasoning)
    effort = body.get("output_config", {}).get("effort")
    assert ((body.get("thinking"), effort), [kind for kind, _ in found]) == (expected, notes)


@pytest.mark.parametrize(
    ("limit", "budget", "expected", "notes"),
    [
        pytest.param(None, 8000, (12096, 8000), [], id="no limit: room is added"),
        pytest.param(9000, 8000, (9000, 8000), [], id="within"),
        pytest.param(8000, 8000, (8000, 7999), [("clamped", "reasoning.budget_tokens")], id="cut"),
        pytest.param(1024, 8000, (1024, None), [("dropped", "reasoning")], id="no room"),
    ],
)
def test_a_budget_stays_below_the_limit(
    limit: int | None, budget: int, expected: tuple[int, int | None], notes: list[Any]
) -> None:
    """A budget must be less than the limit of output."""
    body, found = planned(ASK, max_output_tokens=limit, reasoning={"budget_tokens": budget})
    assert (body["max_tokens"], body.get("thinking", {}).get("budget_tokens")) == expected
    assert found == notes


def test_sampling_cannot_be_set_while_the_model_thinks() -> None:
    """It would be refused: it is dropped, with notes."""
    body, notes = planned(ASK, reasoning="low", temperature=0, top_p=0.5, top_k=3)
    assert not body.keys() & {"temperature", "top_p", "top_k"}
    assert notes == [("dropped", "temperature"), ("dropped", "top_p"), ("dropped", "top_k")]


def test_sampling_that_a_model_refuses_is_sent_with_a_note() -> None:
    """From version 4.7 on sampling cannot be set; only the provider can know of each model."""
    body, notes = planned(ASK, model="claude-opus-5", temperature=0)
    assert (body["temperature"], notes) == (0, [("will_be_refused", "temperature")])


@pytest.mark.parametrize(
    ("thought", "expected"),
    [
        pytest.param(True, {"type": "enabled", "budget_tokens": 2000}, id="signed thinking"),
        pytest.param(False, None, id="no thinking"),
    ],
)
def test_a_budget_needs_thinking_before_the_calls_that_are_answered(thought: bool, expected: Any) -> None:
    """Claude cannot start to think in the middle of a turn that another model began."""
    detail = {"type": "text", "text": "Hm", "signature": "S", "format": FORMAT}
    before = [{"type": "reasoning", "details": [detail]}] if thought else []
    history = [*ASK, assistant(*before, call("c1")), results(c1="x")]
    body, notes = planned(history, reasoning={"budget_tokens": 2000})
    assert body.get("thinking") == expected
    assert notes == ([] if thought else [("dropped", "reasoning")])


# Output and cache


def test_structured_output_has_a_schema_and_no_name() -> None:
    """The schema is fitted; the description moves into it."""
    output = {"json_schema": {"type": "object", "properties": {}}, "description": "An answer"}
    expected = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
        "description": "An answer",
    }
    found = fields(output=output)
    config = {"format": {"type": "json_schema", "schema": expected}}
    assert found == ({"output_config": config}, [("moved", "output.description")])


@pytest.mark.parametrize(
    ("wanted", "control", "notes"),
    [
        pytest.param(True, {"type": "ephemeral"}, [], id="default"),
        pytest.param({"ttl": "1h"}, {"type": "ephemeral", "ttl": "1h"}, [], id="an hour"),
        pytest.param(
            {"ttl": "24h", "key": "k"},
            {"type": "ephemeral", "ttl": "1h"},
            [("clamped", "prompt_cache.ttl"), ("dropped", "prompt_cache.key")],
            id="a day",
        ),
    ],
)
def test_prompt_cache_marks_tools_system_text_and_history(
    wanted: Any, control: dict[str, Any], notes: list[Any]
) -> None:
    """Three breakpoints: after the last tool, the system text, and the last block of the history."""
    history = [{"role": "system", "content": "Be brief."}, *ASK]
    body, found = planned(history, tools=[TOOL, {**TOOL, "name": "get"}], prompt_cache=wanted)
    marked = [*body["tools"], *body["system"], *body["messages"][0]["content"]]
    assert [each.get("cache_control") for each in marked] == [None, control, control, control]
    assert found == notes


def test_thinking_is_never_marked() -> None:
    """A breakpoint stands on the last block that can have one."""
    detail = {"type": "text", "text": "Hm", "signature": "S", "format": FORMAT}
    body, _ = planned([*ASK, assistant({"type": "reasoning", "details": [detail]})], prompt_cache=True)
    assert "cache_control" in body["messages"][0]["content"][0]
    assert body["messages"][1]["content"] == [{"type": "thinking", "thinking": "Hm", "signature": "S"}]
