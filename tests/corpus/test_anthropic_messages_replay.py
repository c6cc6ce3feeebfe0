"""Law 8 on every recording: an answer that is read and sent back has all that Anthropic demands."""

from __future__ import annotations

import json
from typing import Any

import pytest

import plait
from plait.messages import AssistantMessage, ToolMessage, ToolResultPart, UserMessage
from plait.wire.requests import plan_request
from recordings import Recording, recordings
from request_oracles import check_anthropic

WIRE = "anthropic-messages"
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
    extra = {"tools": [{"type": "advisor_20260301", "name": "advisor", "model": "m"}]}
    return plan_request(WIRE, [*messages, UserMessage("Go on.")], model="m", extra=extra).body


def events_of(recording: Recording) -> list[dict[str, Any]]:
    """The stream's documents, read here without our parsers."""
    text = recording.body().decode("utf-8-sig").replace("\r\n", "\n")
    found = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    return [json.loads(document) for document in found if document.startswith("{")]


def blocks_of(recording: Recording) -> list[dict[str, Any]]:
    """The content blocks as they were recorded, put together here without our parsers."""
    if recording.kind == "json":
        content: list[dict[str, Any]] = json.loads(recording.body()).get("content") or []
        return content
    blocks: dict[Any, dict[str, Any]] = {}
    inputs: dict[Any, str] = {}
    began = False
    for event in events_of(recording):
        index, delta = event.get("index"), event.get("delta") or {}
        if event["type"] == "message_start" and not began:
            began = True
            blocks.update({("whole", n): block for n, block in enumerate(event["message"]["content"])})
        elif event["type"] == "content_block_start":
            blocks[index] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            match delta["type"]:
                case "thinking_delta":
                    block["thinking"] += delta["thinking"]
                case "signature_delta":
                    block["signature"] = delta["signature"]
                case "input_json_delta":
                    inputs[index] = inputs.get(index, "") + delta["partial_json"]
                case "compaction_delta":
                    block |= {key: value for key, value in delta.items() if key != "type"}
    for index, text in inputs.items():
        if text:
            blocks[index]["input"] = _json_or_raw(text)
    return list(blocks.values())


def _json_or_raw(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"raw": text}


def opaque(block: dict[str, Any]) -> Any:
    """What must not change in a block; None of text and of thinking that nobody signed."""
    match block["type"]:
        case "text":
            return None
        case "thinking":
            signature = block.get("signature")
            return ("thinking", block["thinking"], signature) if signature else None
        case "tool_use":
            return {key: value for key, value in block.items() if value is not None}
    return block


def demanded(blocks: list[dict[str, Any]]) -> list[Any]:
    """What must come back, in order. Halves of pairs of server tools are refused, and stay away."""
    calls = {block["id"] for block in blocks if block["type"] in ("server_tool_use", "mcp_tool_use")}
    results = {block["tool_use_id"] for block in blocks if block["type"].endswith("_tool_result")}
    return [
        opaque(block)
        for block in blocks
        if opaque(block) is not None
        and not (block["type"].endswith("_tool_result") and block["tool_use_id"] not in calls)
        and not (block["type"] in ("server_tool_use", "mcp_tool_use") and block["id"] not in results)
    ]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.id)
def test_what_is_opaque_goes_back_as_it_came(recording: Recording) -> None:
    """Thinking, signatures, redacted data, ids, inputs and server blocks come back in order, unchanged."""
    message = message_of(recording)
    if message is None:
        assert recording.kind == "stream"
        return
    body = next_request(message)
    check_anthropic(body, known=False)
    sent = [block for turn in body["messages"] if turn["role"] == "assistant" for block in turn["content"]]
    if any(isinstance(block, str) for block in sent):  # one text and nothing else
        sent = []
    assert demanded(blocks_of(recording)) == [opaque(block) for block in sent if opaque(block) is not None]
