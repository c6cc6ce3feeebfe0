"""AWS's own parser and service model read the same recordings, and must make of them what we make."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import botocore.parsers
import botocore.session
import pytest

import plait
from plait.messages import ProviderPart, ReasoningContent
from plait.wire.bedrock_converse.mapping import FORMAT
from recordings import Recording, recordings

WIRE = "bedrock-converse"
STREAMS = recordings(WIRE, "stream")
BODIES = recordings(WIRE, "json")

DIFFERENCES: dict[tuple[str, str], str] = {}
"""(recording, field) in which AWS's parser differs from us, and why we are right.

An entry whose readings agree after all makes its test fail, so the table cannot outlive its reasons.
"""


@dataclass
class Reading:
    """What both sides must agree on. The input of a call whose JSON is cut is None."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    server_calls: list[tuple[str, str, Any]] = field(default_factory=list)
    server_results: list[tuple[str, Any]] = field(default_factory=list)
    reasoning: list[tuple[str, str | None]] = field(default_factory=list)
    redacted: list[bytes] = field(default_factory=list)
    stop_reason: str | None = None
    usage: tuple[int, int, int | None, int | None] | None = None


def ours(message: plait.AssistantMessage) -> Reading:
    usage = message.token_usage
    counts = usage and (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )
    reading = Reading(
        text=message.text or "",
        calls=[
            (call.call_id or "", call.tool_name, call.input if call.complete else None)
            for call in message.tool_calls
        ],
        stop_reason=message.raw_finish_reason,
        usage=counts or None,
    )
    for part in message.content:
        if isinstance(part, ReasoningContent):
            for detail in part.details:
                if detail.type == "redacted":
                    reading.redacted.append(b64decode(detail.data or ""))
                else:
                    reading.reasoning.append((detail.text or "", detail.signature))
        elif isinstance(part, ProviderPart) and part.format == FORMAT:
            add_server_block(reading, part.data)
    return reading


def add_server_block(reading: Reading, block: Any) -> None:
    if "toolUse" in block:
        tool = block["toolUse"]
        reading.server_calls.append((tool["toolUseId"], tool["name"], tool["input"]))
    elif "toolResult" in block:
        result = block["toolResult"]
        reading.server_results.append((result["toolUseId"], result["content"]))


def theirs(content: list[Any], stop_reason: str | None, usage: Any) -> Reading:
    """Content blocks as botocore gives them for `Converse`, and the rest of the response."""
    reading = Reading(stop_reason=stop_reason)
    for block in content:
        reading.text += block.get("text", "")
        tool, reasoning = block.get("toolUse"), block.get("reasoningContent", {})
        if tool and tool.get("type") == "server_tool_use":
            add_server_block(reading, block)
        elif tool:
            reading.calls.append((tool["toolUseId"], tool["name"], tool["input"]))
        if "toolResult" in block:
            add_server_block(reading, block)
        if "reasoningText" in reasoning:
            said = reasoning["reasoningText"]
            reading.reasoning.append((said["text"], said.get("signature")))
        if "redactedContent" in reasoning:
            reading.redacted.append(reasoning["redactedContent"])
    if usage:
        read, write = usage.get("cacheReadInputTokens"), usage.get("cacheWriteInputTokens")
        reading.usage = (
            usage["inputTokens"] + (read or 0) + (write or 0),
            usage["outputTokens"],
            read,
            write,
        )
    return reading


def joined(events: Iterator[dict[str, Any]]) -> Reading:
    """The events of `ConverseStream` as one response: pieces joined by their block's index."""
    blocks: dict[int, dict[str, Any]] = {}
    stop_reason, usage = None, None
    for event in events:
        ((name, body),) = event.items()
        block = blocks.setdefault(body["contentBlockIndex"], {}) if "contentBlockIndex" in body else {}
        if name == "contentBlockStart":
            block.update(body["start"])
        elif name == "contentBlockDelta":
            add(block, body["delta"])
        elif name == "messageStop":
            stop_reason = body["stopReason"]
        elif name == "metadata":
            usage = body["usage"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = decoded(block["toolUse"].get("input") or "{}")
    return theirs([blocks[index] for index in sorted(blocks)], stop_reason, usage)


def add(block: dict[str, Any], piece: dict[str, Any]) -> None:
    if "text" in piece:
        block["text"] = block.get("text", "") + piece["text"]
    elif "toolUse" in piece:
        block["toolUse"]["input"] = block["toolUse"].get("input", "") + piece["toolUse"]["input"]
    elif "toolResult" in piece:
        block["toolResult"].setdefault("content", []).extend(piece["toolResult"])
    elif "reasoningContent" in piece:
        reasoning, new = block.setdefault("reasoningContent", {}), piece["reasoningContent"]
        if "redactedContent" in new:
            reasoning["redactedContent"] = reasoning.get("redactedContent", b"") + new["redactedContent"]
        else:
            said = reasoning.setdefault("reasoningText", {"text": ""})
            said["text"] += new.get("text", "")
            said.update({"signature": new["signature"]} if "signature" in new else {})


def decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


class Body:
    """A response's body as botocore takes it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield from (self._body[at : at + 1000] for at in range(0, len(self._body), 1000))

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(scope="module")
def model() -> Any:
    """The service model of `bedrock-runtime`."""
    return botocore.session.get_session().get_service_model("bedrock-runtime")


def parsed(model: Any, operation: str, body: Any) -> dict[str, Any]:
    response = {"status_code": 200, "headers": {}, "body": body, "context": {"operation_name": operation}}
    parser = botocore.parsers.create_parser("rest-json")
    result: dict[str, Any] = parser.parse(response, model.operation_model(operation).output_shape)
    return result


def compare(recording: Recording, expected: Reading, got: Reading) -> None:
    """Both readings agree, in all but the fields listed for this recording."""
    listed = {name for id_, name in DIFFERENCES if id_ == recording.id}
    differs = {
        item.name: (getattr(expected, item.name), getattr(got, item.name))
        for item in fields(Reading)
        if getattr(expected, item.name) != getattr(got, item.name)
    }
    assert {} == {name: values for name, values in differs.items() if name not in listed}, "(botocore, ours)"
    assert listed == differs.keys(), "listed as different, but they agree"


@pytest.mark.parametrize("recording", STREAMS, ids=lambda recording: recording.id)
def test_stream(recording: Recording, model: Any) -> None:
    """The events that botocore gives, joined, read as we read the stream."""
    events = parsed(model, "ConverseStream", Body(recording.body()))["stream"]
    parser = plait.parser(WIRE)
    parser.feed(recording.body())
    parser.close()
    compare(recording, joined(iter(events)), ours(parser.message))
    assert {} == parser.unknown


@pytest.mark.parametrize("recording", BODIES, ids=lambda recording: recording.id)
def test_json_body(recording: Recording, model: Any) -> None:
    """A body that is not streamed reads as botocore reads it."""
    response = parsed(model, "Converse", recording.body())
    message = response["output"]["message"]["content"]
    expected = theirs(message, response.get("stopReason"), response.get("usage"))
    compare(recording, expected, ours(plait.read_response(WIRE, recording.body())))


def test_listed_recordings_exist() -> None:
    """The table of differences names recordings of the corpus."""
    assert {id_ for id_, _ in DIFFERENCES} <= {recording.id for recording in (*STREAMS, *BODIES)}
