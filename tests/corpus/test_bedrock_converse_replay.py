"""Law 8 on every recording: an answer that is read and sent back has what Converse demands, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer

import plait
from plait.messages import AssistantMessage, ToolMessage, ToolResultPart, UserMessage
from plait.wire.requests import plan_request
from recordings import Recording, recordings
from request_oracles import check_converse

WIRE = "bedrock-converse"
RECORDINGS = [*recordings(WIRE, "stream"), *recordings(WIRE, "json")]


def message_of(recording: Recording) -> AssistantMessage | None:
    """The answer; None where it is a fault or has no end."""
    if recording.kind == "json":
        return plait.read_response(WIRE, recording.body())
    parser = plait.parser(WIRE)
    parser.feed(recording.body())
    try:
        parser.close()
    except plait.PlaitError:
        return None
    return parser.message


def next_request(message: AssistantMessage) -> dict[str, Any]:
    """The request that answers the message's tool calls, and goes on."""
    results = [
        ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, output="done")
        for call in message.tool_calls
    ]
    messages: list[Any] = [UserMessage("Begin."), message, *([ToolMessage(results)] if results else [])]
    return plan_request(WIRE, [*messages, UserMessage("Go on.")]).body


def blocks_of(recording: Recording) -> list[dict[str, Any]]:
    """The content blocks as they were recorded, put together here without our parsers."""
    if recording.kind == "json":
        content: list[dict[str, Any]] = json.loads(recording.body())["output"]["message"]["content"]
        return content
    buffer = EventStreamBuffer()
    buffer.add_data(recording.body())
    blocks: dict[int, dict[str, Any]] = {}
    for event in buffer:
        payload = json.loads(event.payload)
        index = payload.get("contentBlockIndex")
        if event.headers[":event-type"] == "contentBlockStart":
            blocks[index] = json.loads(json.dumps(payload.get("start") or {}))
        elif event.headers[":event-type"] == "contentBlockDelta":
            _add(blocks.setdefault(index, {}), payload["delta"])
    for block in blocks.values():
        if isinstance(block.get("toolUse"), dict):
            block["toolUse"]["input"] = json.loads(block["toolUse"].get("input") or "{}")
    return list(blocks.values())


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    if "toolUse" in delta:
        tool = block["toolUse"]
        tool["input"] = tool.get("input", "") + delta["toolUse"]["input"]
    elif "toolResult" in delta:
        result = block["toolResult"]
        result["content"] = [*result.get("content", []), *delta["toolResult"]]
    elif "reasoningContent" in delta:
        reasoning = block.setdefault("reasoningContent", {})
        for key, value in delta["reasoningContent"].items():
            if key == "redactedContent":
                reasoning[key] = value
            else:
                said = reasoning.setdefault("reasoningText", {})
                said[key] = said.get(key, "") + value


def opaque(block: dict[str, Any]) -> Any:
    """What must not change in a block; None of text and of reasoning that nobody signed."""
    match block:
        case {"toolUse": call}:
            return {key: value for key, value in call.items() if (key, value) != ("type", "tool_use")}
        case {"toolResult": result}:
            return result
        case {"reasoningContent": {"redactedContent": data}}:
            return data
        case {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}:
            return text, signature
        case {"reasoningContent": {"reasoningText": {"signature": signature}}}:
            return "", signature
    return None


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.id)
def test_what_is_opaque_goes_back_as_it_came(recording: Recording) -> None:
    """Signed reasoning, redacted data, ids, inputs and server blocks come back in order."""
    message = message_of(recording)
    if message is None:
        assert recording.kind == "stream"
        return
    body = next_request(message)
    check_converse(body)
    sent = [block for turn in body["messages"] if turn["role"] == "assistant" for block in turn["content"]]
    expected = [opaque(block) for block in blocks_of(recording) if opaque(block) is not None]
    assert expected == [opaque(block) for block in sent if opaque(block) is not None]
