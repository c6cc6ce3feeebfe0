"""A message read from any wire can be sent to any other: always a valid request, with notes for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from chat_requests import as_mistral_sees, as_openai_sees

import plait
from plait.conformance.encoding import ENCODERS, Answer, Reasoning, Text, ToolCall
from plait.messages import AssistantMessage
from plait.wire import WIRES
from request_oracles import (
    check_anthropic,
    check_cohere,
    check_converse,
    check_gemini,
    check_ollama,
    check_responses,
)

CHECKS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "openai-chat": as_openai_sees,
    "openai-responses": check_responses,
    "anthropic-messages": check_anthropic,
    "bedrock-converse": check_converse,
    "gemini": check_gemini,
    "cohere-chat": check_cohere,
    "mistral-chat": as_mistral_sees,
    "ollama-chat": check_ollama,
}

ANSWER = Answer(
    parts=(
        Reasoning(("Two cities ", "to ask about."), "c2lnbmVk"),
        Text(("I will ", "look.")),
        ToolCall("call00001", "weather", ('{"city":', '"Oslo"}')),
        ToolCall("call00002", "weather", ('{"city":"Rome"}',)),
    ),
    finish_reason="tool_calls",
)
TOOLS = [{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]


def read(wire: str) -> AssistantMessage:
    """The answer as this wire's parser reads it."""
    parser = plait.parser(wire)
    parser.feed(ENCODERS[wire].stream(ANSWER))
    parser.close()
    return parser.message


def conversation(message: AssistantMessage) -> list[dict[str, Any]]:
    """The answer with its calls answered, between two things the user says."""
    results = [
        {
            "type": "tool-result",
            "tool_call_id": call.tool_call_id,
            "tool_name": call.tool_name,
            "output": {"type": "json", "value": {"sky": "clear", "at": call.input["city"]}},
        }
        for call in message.tool_calls
    ]
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Oslo and Rome?"},
        message.to_dict(),
        {"role": "tool", "content": results},
        {"role": "user", "content": "And tomorrow?"},
    ]


def strings(value: Any) -> list[str]:
    """All text in JSON data."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("target", WIRES)
@pytest.mark.parametrize("source", WIRES)
def test_any_wire_to_any_other(source: str, target: str) -> None:
    """The request is valid, says all that is plain, and accounts for the reasoning: sent, or noted."""
    message = read(source)
    plan = plait.plan_request(target, conversation(message), model="some-model", tools=TOOLS)
    CHECKS[target](plan.body)
    said = strings(plan.body)
    everything = json.dumps(plan.body, ensure_ascii=False)
    for plain in ("Weather in Oslo and Rome?", "I will look.", "And tomorrow?"):
        assert plain in said
    assert any("Be brief." in text for text in said)
    assert everything.count("Oslo") >= 3  # the question, the call, the result
    assert everything.count("clear") == 2
    noted = [note for note in plan.notes if note.what.startswith("messages[2].content[0]")]
    assert ("Two cities to ask about." in said) or noted


@pytest.mark.parametrize("wire", WIRES)
def test_home_again(wire: str) -> None:
    """A wire takes back its own answer: nothing of it is renamed, moved or demoted."""
    plan = plait.plan_request(wire, conversation(read(wire)), model="some-model", tools=TOOLS)
    changed = {note.kind for note in plan.notes if note.what.startswith("messages[2]")}
    assert changed <= {"dropped", "added"}
