"""Responses: every recording is read as the official SDK reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import openai
import pytest
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response

import plait
from plait.events import ReasoningPart, TextDelta
from plait.messages import AssistantMessage, ReasoningContent, TextPart
from recordings import Recording, recordings

_TESTS = "pydantic-ai/openai-responses/test_openai_responses--test_"
_EMPTY = "the message after the image is empty: a text without a character opens no part"

DIFFERENCES: dict[tuple[str, str], str] = {
    (f"{_TESTS}openai_responses_image_generation_jpeg.0", "messages"): _EMPTY,
    (f"{_TESTS}openai_responses_image_generation_tool_without_image_output.0", "messages"): _EMPTY,
    (f"{_TESTS}openai_responses_image_generation_tool_without_image_output.1", "messages"): _EMPTY,
    (f"{_TESTS}openai_responses_image_generation_with_tool_output.0", "messages"): _EMPTY,
    (f"{_TESTS}background_mode_streaming_starting_after_vcr.1", "accumulator"): (
        "a resumed stream begins with response.queued; the SDK's accumulator demands response.created"
    ),
}
"""(recording, what differs) -> why. An entry that no longer differs fails the test."""

TOOL_KINDS = ("function_call", "custom_tool_call")


def client(recording: Recording) -> openai.OpenAI:
    """The SDK, answered with the recording."""
    kind = "text/event-stream" if recording.kind == "stream" else "application/json"

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": kind}, content=recording.body())

    http: Any = httpx.Client(transport=httpx.MockTransport(answer))
    return openai.OpenAI(api_key="none", http_client=http)


def items(output: Iterable[Any]) -> dict[str, Any]:
    """What the SDK's output items say, in the terms of `ours`."""
    found = list(output)
    parts = [part for item in found if item.type == "message" for part in item.content]
    reasoning = [item for item in found if item.type == "reasoning"]
    return {
        "text": "".join(part.text for part in parts if part.type == "output_text"),
        "refusal": "".join(part.refusal for part in parts if part.type == "refusal"),
        "citations": [a.to_dict() for part in parts for a in getattr(part, "annotations", None) or []],
        "messages": [(item.id, getattr(item, "phase", None)) for item in found if item.type == "message"],
        "tool calls": [
            (item.id, item.call_id, item.name, getattr(item, "arguments", None) or "{}")
            for item in found
            if item.type in TOOL_KINDS
        ],
        "reasoning ids": [item.id for item in reasoning],
        "summaries": [part.text for item in reasoning for part in item.summary or []],
        "reasoning text": [part.text for item in reasoning for part in item.content or []],
        "encrypted": [
            (item.id, item.encrypted_content)
            for item in reasoning
            if getattr(item, "encrypted_content", None)
        ],
        "other items": [
            item.model_dump(mode="json", exclude_unset=True, warnings=False)
            for item in found
            if item.type not in ("message", "reasoning", *TOOL_KINDS)
        ],
    }


def outcome(response: Response) -> dict[str, Any]:
    """What the SDK's response says beside its output."""
    usage = response.usage
    details = usage.output_tokens_details if usage else None
    cached = usage.input_tokens_details if usage else None
    return {
        "id": response.id,
        "model": response.model,
        "usage": usage
        and (
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            cached.cached_tokens if cached else None,
            details.reasoning_tokens if details else None,
        ),
        "status": response.status,
    }


def ours(message: AssistantMessage) -> dict[str, Any]:
    """The same of our message."""
    texts = [part for part in message.content if isinstance(part, TextPart)]
    reasoning = [part for part in message.content if isinstance(part, ReasoningContent)]
    details: list[ReasoningPart] = [detail for part in reasoning for detail in part.details]
    usage = message.token_usage
    return {
        "text": "".join(part.text for part in texts if not part.refusal),
        "refusal": "".join(part.text for part in texts if part.refusal),
        "citations": [citation.data for part in texts for citation in part.citations or ()],
        "messages": [((part.extra or {}).get("id"), (part.extra or {}).get("phase")) for part in texts],
        "tool calls": [
            (call.tool_call_id, call.call_id, call.tool_name, call.arguments) for call in message.tool_calls
        ],
        "reasoning ids": [part.id for part in reasoning],
        "summaries": [detail.text for detail in details if detail.type == "summary"],
        "reasoning text": [detail.text for detail in details if detail.type == "text"],
        "encrypted": [(detail.id, detail.data) for detail in details if detail.type == "encrypted"],
        "other items": [part.data for part in message.content if part.type == "provider"],
        "id": message.id,
        "model": message.model,
        "usage": usage
        and (
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cache_read_tokens,
            usage.reasoning_tokens,
        ),
        "status": message.raw_finish_reason,
    }


def differences(recording: Recording, expected: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    """What differs and is not in the table, and what is in the table and does not differ."""
    for name, value in expected.items():
        listed = (recording.id, name) in DIFFERENCES
        if (value != got[name]) != listed:
            yield f"{name}: the SDK has {value!r}, we have {got[name]!r}" + (" (listed)" if listed else "")


@pytest.mark.parametrize("recording", recordings("openai-responses", "stream"), ids=lambda r: r.id)
def test_stream_reads_as_in_the_sdk(recording: Recording) -> None:
    """Deltas, whole items and the terminal event of each stream agree with the SDK's raw events."""
    parser = plait.parser("openai-responses")
    events = [*parser.feed(recording.body()), *parser.close()]
    with client(recording) as sdk:
        raw: list[Any] = list(sdk.responses.create(model="any", input="", stream=True))
    done = {event.output_index: event.item for event in raw if event.type == "response.output_item.done"}
    (last,) = (event.response for event in raw if event.type in ("response.completed", "response.incomplete"))
    unfinished = [item for index, item in enumerate(last.output) if index not in done]
    expected = {**items([done[index] for index in sorted(done)]), **outcome(last)}
    expected["other items"] = [*items(unfinished)["other items"], *expected["other items"]]
    got = ours(parser.message)
    for sides in (expected, got):
        sides["other items"] = sorted(sides["other items"], key=lambda item: str(item["id"]))
    deltas = "".join(event.delta for event in raw if event.type == "response.output_text.delta")
    assert deltas == "".join(event.content for event in events if isinstance(event, TextDelta))
    assert list(differences(recording, expected, got)) == []


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK on `sources` of type `api`
@pytest.mark.parametrize("recording", recordings("openai-responses", "stream"), ids=lambda r: r.id)
def test_stream_reads_as_in_the_sdks_accumulator(recording: Recording) -> None:
    """Where the SDK's accumulator takes a stream, its response has our text, calls, usage and status."""
    state = ResponseStreamState(input_tools=openai.omit, text_format=openai.omit)
    with client(recording) as sdk:
        raw: list[Any] = list(sdk.responses.create(model="any", input="", stream=True))
    refused = ""
    try:
        for event in raw:
            state.handle_event(event)
    except (RuntimeError, AssertionError, IndexError) as error:
        refused = str(error)
    assert bool(refused) == ((recording.id, "accumulator") in DIFFERENCES), refused
    if not refused:
        response = state._completed_response
        assert response is not None
        expected = {**items(response.output), **outcome(response)}
        parser = plait.parser("openai-responses")
        parser.feed(recording.body())
        got = ours(parser.message)
        for name in ("text", "refusal", "tool calls", "summaries", "reasoning text", "usage", "status"):
            assert expected[name] == got[name], name


@pytest.mark.parametrize("recording", recordings("openai-responses", "json"), ids=lambda r: r.id)
def test_body_reads_as_in_the_sdk(recording: Recording) -> None:
    """Each non-streaming body agrees with the SDK's response."""
    with client(recording) as sdk:
        response = sdk.responses.create(model="any", input="")
    expected = {**items(response.output), **outcome(response)}
    got = ours(plait.read_response("openai-responses", recording.body()))
    assert list(differences(recording, expected, got)) == []
