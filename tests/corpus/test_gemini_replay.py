"""Gemini: what a recording holds goes back part by part, each with its own signature (law 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import plait
from plait.messages import AssistantMessage, Message, TextOutput, ToolMessage, ToolResultPart, UserMessage
from recordings import Recording, recordings

STREAMS = recordings("gemini", "stream")
BODIES = recordings("gemini", "json")


def message(recording: Recording) -> AssistantMessage:
    """The message that Plait reads."""
    if recording.kind == "json":
        return plait.read_response("gemini", recording.body())
    parser = plait.parser("gemini")
    parser.feed(recording.body())
    return parser.message


def chunks(recording: Recording) -> list[dict[str, Any]]:
    """The documents of the raw recording."""
    text = recording.body().decode()
    if recording.kind == "json" or text.lstrip().startswith("["):
        data = json.loads(text)
        return data if isinstance(data, list) else [data]
    return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")]


def parts(recording: Recording) -> list[dict[str, Any]]:
    """The parts of the raw recording. Pieces of one text are one part, unless a signature stands between."""
    found: list[dict[str, Any]] = []
    for chunk in chunks(recording):
        candidates = [one for one in chunk.get("candidates") or [] if not one.get("index")]
        for part in [part for one in candidates for part in (one.get("content") or {}).get("parts") or []]:
            last = found[-1] if found else {}
            if part.get("text") == "" and "thoughtSignature" not in part:
                continue
            if "functionCall" in part and "name" not in part["functionCall"]:
                continue  # a piece of the arguments of the call before it
            same = part.keys() == last.keys() and part.get("thought") == last.get("thought")
            if "text" in part and same and "thoughtSignature" not in part:
                found[-1] = {**last, "text": last["text"] + part["text"]}
            else:
                found.append(part)
    return [kept(part) for part in found]


def kept(part: dict[str, Any]) -> dict[str, Any]:
    """What of a part must go back. Arguments that streamed in pieces are tested with the parser."""
    call = part.get("functionCall")
    if call is None:
        return part
    streamed = call.get("willContinue") or "partialArgs" in call
    fixed = {"name": call["name"], "args": None if streamed else call.get("args") or {}}
    known = {"id": call["id"]} if call.get("id") else {}
    return {**part, "functionCall": {**known, **fixed}}


def comparable(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Our parts, without the arguments of those calls whose arguments streamed in pieces."""
    made = []
    for part, other in zip(ours, theirs, strict=True):
        if "functionCall" in part and other.get("functionCall", {}).get("args", {}) is None:
            part = {**part, "functionCall": {**part["functionCall"], "args": None}}
        made.append(part)
    return made


@pytest.mark.parametrize("recording", [*STREAMS, *BODIES], ids=lambda recording: recording.id)
def test_replay(recording: Recording) -> None:
    """Every part goes back as it came."""
    answer = message(recording)
    results = [
        ToolResultPart(
            tool_call_id=call.tool_call_id,
            call_id=call.call_id,
            tool_name=call.tool_name,
            output=TextOutput(value="done"),
        )
        for call in answer.tool_calls
    ]
    history: list[Message] = [
        UserMessage(content="Hi"),
        answer,
        *([ToolMessage(content=results)] if results else []),
    ]
    body = plait.build_request("gemini", [*history, UserMessage(content="And now?")])
    ours = [part for one in body["contents"] if one["role"] == "model" for part in one["parts"]]
    raw = parts(recording)
    assert comparable(ours, raw) == raw
    responses = [part for one in body["contents"][2:-1] for part in one["parts"]]
    assert [part["functionResponse"]["name"] for part in responses if results] == [
        call.tool_name for call in answer.tool_calls
    ]
