"""Cohere: what a recording holds goes back as it came in the next request (law 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import plait
from plait.messages import AssistantMessage, ToolMessage, UserMessage
from recordings import Recording, recordings
from request_oracles import check_cohere

RECORDINGS = [*recordings("cohere-chat", "stream"), *recordings("cohere-chat", "json")]


def message(recording: Recording) -> AssistantMessage:
    """The message that Plait reads."""
    if recording.kind == "json":
        return plait.read_response("cohere-chat", recording.body())
    parser = plait.parser("cohere-chat")
    parser.feed(recording.body())
    parser.close()
    return parser.message


def raw(recording: Recording) -> dict[str, Any]:
    """The recorded message as a request holds it, put together here without our parsers."""
    if recording.kind == "json":
        return request_message(json.loads(recording.body())["message"])
    content: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    plan = ""
    for line in recording.body().decode().splitlines():
        if not line.startswith("data:") or line[5:].strip() == "[DONE]":
            continue
        event = json.loads(line[5:])
        index, said = event.get("index"), (event.get("delta") or {}).get("message") or {}
        match event["type"]:
            case "content-start":
                content[index] = dict(said["content"])
            case "content-delta":
                for key, piece in said["content"].items():
                    content[index][key] += piece
            case "tool-plan-delta":
                plan += said["tool_plan"]
            case "tool-call-start":
                calls[index] = said["tool_calls"]
            case "tool-call-delta":
                calls[index]["function"]["arguments"] += said["tool_calls"]["function"]["arguments"]
    return request_message(
        {"content": list(content.values()), "tool_plan": plan, "tool_calls": list(calls.values())}
    )


def request_message(said: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty, and without citations; calls without arguments have none, written `{}`."""
    content = [part for part in said.get("content") or [] if part.get("text") or part.get("thinking")]
    calls = [
        {**call, "function": {**call["function"], "arguments": arguments(call["function"]["arguments"])}}
        for call in said.get("tool_calls") or []
    ]
    made = {"content": content, "tool_plan": said.get("tool_plan"), "tool_calls": calls}
    return {name: value for name, value in made.items() if value}


def arguments(text: str) -> str:
    return "{}" if text in ("", "null") else text


def sent(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The assistant's messages of a request, each without its role and with its content as a list."""
    found = [dict(one) for one in body["messages"] if one["role"] == "assistant"]
    for one in found:
        del one["role"]
        if isinstance(one.get("content"), str):
            one["content"] = [{"type": "text", "text": one["content"]}]
    return found


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.id)
def test_replay(recording: Recording) -> None:
    """Thinking, plan, text, ids and arguments go back as they came, and each call has its result."""
    answer = message(recording)
    results = [call.result("done") for call in answer.tool_calls]
    answers = [ToolMessage(results)] if results else []
    body = plait.build_request("cohere-chat", [UserMessage("Hi"), answer, *answers, UserMessage("And now?")])
    check_cohere(body)
    expected = raw(recording)
    assert ([expected] if expected else []) == sent(body)
    ids = [call["id"] for call in expected.get("tool_calls", [])]
    assert ids == [one["tool_call_id"] for one in body["messages"] if one["role"] == "tool"]
