"""The official SDK reads the same recordings: what it makes of them is compared with what we make."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import anthropic
import pytest

import plait
from plait.messages import TextPart
from recordings import Recording, recordings

WIRE = "anthropic-messages"
STREAMS = recordings(WIRE, "stream")
BODIES = recordings(WIRE, "json")

DIFFERENCES: dict[tuple[str, str, str], str] = {
    ("anthropic-sdk-python/anthropic-messages/incomplete_partial_json_response.0", "accumulated", "calls"): (
        "the token limit cut the arguments: the SDK completes the JSON by itself, we mark the call incomplete"
    ),
}
"""(recording, reader, field) in which the SDK differs from us, and why we are right.

An entry whose readings agree after all makes its test fail, so the table cannot outlive its reasons.
"""


@dataclass
class Reading:
    """What both sides must agree on. The input of a call whose arguments are cut is None."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    thinking: list[tuple[str, str | None]] = field(default_factory=list)
    redacted: list[str] = field(default_factory=list)
    citations: int = 0
    stop_reason: str | None = None
    usage: tuple[int, int, int, int] | None = None
    id: str | None = None
    model: str | None = None


def ours(message: plait.AssistantMessage) -> Reading:
    usage = message.token_usage
    counts = usage and (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens or 0,
        usage.cache_write_tokens or 0,
    )
    return Reading(
        text=message.text,
        calls=[
            (call.call_id or "", call.tool_name, call.input if call.complete else None)
            for call in message.tool_calls
        ],
        thinking=[(part.text or "", part.signature) for part in message.reasoning if part.type == "text"],
        redacted=[part.data or "" for part in message.reasoning if part.type == "redacted"],
        citations=sum(len(part.citations or ()) for part in message.content if isinstance(part, TextPart)),
        stop_reason=message.raw_finish_reason,
        usage=counts or None,
        id=message.id,
        model=message.model,
    )


def theirs(message: Any) -> Reading:
    """The reading of an SDK `Message` or `BetaMessage`."""
    reading = Reading(stop_reason=message.stop_reason, id=message.id, model=message.model)
    for block in message.content:
        if block.type == "text":
            reading.text += block.text
            reading.citations += len(block.citations or ())
        elif block.type == "tool_use":
            reading.calls.append((block.id, block.name, block.input))
        elif block.type == "thinking":
            reading.thinking.append((block.thinking, getattr(block, "signature", None) or None))
        elif block.type == "redacted_thinking":
            reading.redacted.append(block.data)
    count = message.usage
    read, write = count.cache_read_input_tokens or 0, count.cache_creation_input_tokens or 0
    reading.usage = (count.input_tokens + read + write, count.output_tokens, read, write)
    return reading


_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def theirs_raw(events: Iterable[Any]) -> Reading:
    """The reading of the SDK's raw stream, joined by the rules of the provider's documentation."""
    reading = Reading()
    blocks: dict[int, tuple[Any, list[str], list[str]]] = {}
    counts: dict[str, int] = {}
    for event in events:
        if event.type == "message_start":
            reading.id, reading.model = event.message.id, event.message.model
            reading.stop_reason = event.message.stop_reason
            _count(counts, event.message.usage)
            for number, block in enumerate(event.message.content):
                blocks[-1 - number] = (block, [], [])
        elif event.type == "content_block_start":
            blocks[event.index] = (event.content_block, [], [])
        elif event.type == "content_block_delta":
            _, pieces, signatures = blocks[event.index]
            delta = event.delta
            if delta.type == "citations_delta":
                reading.citations += 1
            elif delta.type == "signature_delta":
                signatures[:] = [delta.signature]
            else:
                pieces.append(getattr(delta, _PIECES.get(delta.type, ""), ""))
        elif event.type == "message_delta":
            reading.stop_reason = event.delta.stop_reason or reading.stop_reason
            _count(counts, event.usage)
    for block, pieces, signatures in blocks.values():
        joined = "".join(pieces)
        if block.type == "text":
            reading.text += block.text + joined
        elif block.type == "tool_use":
            reading.calls.append((block.id, block.name, _input(joined) if joined else block.input))
        elif block.type == "thinking":
            reading.thinking.append((block.thinking + joined, signatures[0] if signatures else None))
        elif block.type == "redacted_thinking":
            reading.redacted.append(block.data)
    read, write = counts.get("cache_read_input_tokens", 0), counts.get("cache_creation_input_tokens", 0)
    reading.usage = (counts["input_tokens"] + read + write, counts["output_tokens"], read, write)
    return reading


def _input(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _count(counts: dict[str, int], usage: Any) -> None:
    for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
        value = getattr(usage, name, None)
        if value is not None:
            counts[name] = value


@pytest.fixture(scope="module")
def sdk() -> Iterator[anthropic.Anthropic]:
    """An SDK client that gets the recording which its request names as model."""
    base = anthropic.DefaultHttpxClient.__mro__[1]
    httpx = importlib.import_module(base.__module__.split(".")[0])  # which of httpx's versions it uses

    def answer(request: Any) -> Any:
        recording = BY_ID[json.loads(request.content)["model"]]
        kind = "text/event-stream" if recording.kind == "stream" else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=recording.body())

    http_client = anthropic.DefaultHttpxClient(transport=httpx.MockTransport(answer))
    with anthropic.Anthropic(api_key="none", max_retries=0, http_client=http_client) as client:
        yield client


BY_ID = {recording.id: recording for recording in (*STREAMS, *BODIES)}


def asked(recording: Recording) -> dict[str, Any]:
    return {"model": recording.id, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}


def compare(recording: Recording, reader: str, expected: Reading, got: Reading) -> None:
    """Both readings agree, in all but the fields listed for this recording."""
    listed = {name for id_, by, name in DIFFERENCES if (id_, by) == (recording.id, reader)}
    differs = {
        item.name: (getattr(expected, item.name), getattr(got, item.name))
        for item in fields(Reading)
        if getattr(expected, item.name) != getattr(got, item.name)
    }
    unlisted = {name: values for name, values in differs.items() if name not in listed}
    assert {} == unlisted, f"{reader} (SDK, ours)"
    assert listed == differs.keys(), f"{reader}: listed as different, but they agree"


def read_stream(recording: Recording) -> Reading:
    parser = plait.parser(WIRE)
    parser.feed(recording.body())
    parser.close()
    return ours(parser.message)


@pytest.mark.parametrize("recording", STREAMS, ids=lambda recording: recording.id)
def test_raw_stream(recording: Recording, sdk: anthropic.Anthropic) -> None:
    """The SDK's `Stream` of raw events, joined, reads as we do."""
    with sdk.beta.messages.create(**asked(recording), stream=True) as events:
        compare(recording, "raw", theirs_raw(events), read_stream(recording))


@pytest.mark.parametrize("recording", STREAMS, ids=lambda recording: recording.id)
def test_accumulated_stream(recording: Recording, sdk: anthropic.Anthropic) -> None:
    """The SDK's accumulating stream reads as we do."""
    with sdk.beta.messages.stream(**asked(recording)) as stream:
        compare(recording, "accumulated", theirs(stream.get_final_message()), read_stream(recording))


@pytest.mark.parametrize("recording", BODIES, ids=lambda recording: recording.id)
def test_body(recording: Recording, sdk: anthropic.Anthropic) -> None:
    """A non-streaming body reads as the SDK's message."""
    expected = theirs(sdk.beta.messages.create(**asked(recording)))
    compare(recording, "body", expected, ours(plait.read_response(WIRE, recording.body())))


def test_differences_are_about_recordings() -> None:
    """Each listed difference names a recording that exists."""
    assert set() == {recording for recording, _, _ in DIFFERENCES} - BY_ID.keys()
