"""Every Mistral recording, read by Plait and by the official SDK: what both can say is the same.

The SDK is fed the recorded bytes through its own HTTP client; its typed chunks, for which it has no
accumulator, are joined here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest
from mistralai.client import Mistral
from mistralai.client.errors import SDKError

import plait
from plait.messages import AssistantMessage
from recordings import Recording, recordings

Facts = dict[str, Any]


def client(recording: Recording) -> Mistral:
    """The SDK's client; whatever it asks for, it gets the recording."""

    def answer(_request: httpx.Request) -> httpx.Response:
        kind = "application/json" if recording.kind != "stream" else "text/event-stream"
        return httpx.Response(recording.status, content=recording.body(), headers={"content-type": kind})

    transport: Any = httpx.Client(transport=httpx.MockTransport(answer))
    return Mistral(api_key="none", client=transport)


def parts(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of the SDK's content, text or list, by the type of the part they are in."""
    if isinstance(content, str):
        yield "text", content
    for part in content if isinstance(content, list) else ():
        if part.type == "thinking":
            yield "thinking", "".join(item.text for item in part.thinking)
        else:
            yield part.type, part.text


def facts(documents: list[Any], messages: Iterable[Any]) -> Facts:
    """What the SDK's documents, and the messages in them, say all together."""
    texts: dict[str, str] = {"text": "", "thinking": ""}
    calls: list[list[str]] = []
    for message in messages:
        for kind, text in parts(message.content):
            texts[kind] += text
        for call in message.tool_calls or ():
            if call.function.name:
                calls.append([call.id, call.function.name, ""])
            calls[-1][2] += call.function.arguments
    usage = documents[-1].usage
    details = usage.additional_properties.get("prompt_tokens_details") or {}
    cached = (details.get("cached_tokens"), usage.additional_properties.get("num_cached_tokens"))
    return {
        **texts,
        "calls": [tuple(call) for call in calls],
        "finish": documents[-1].choices[0].finish_reason,
        "usage": (usage.prompt_tokens, usage.completion_tokens),
        "cached": next((count for count in cached if count is not None), None),
        "model": documents[-1].model,
        "id": documents[0].id,
    }


def our_facts(message: AssistantMessage) -> Facts:
    """What our message says of the same."""
    usage = message.token_usage or plait.TokenUsage(0, 0)
    return {
        "text": message.text,
        "thinking": "".join(part.text or "" for part in message.reasoning),
        "calls": [(call.call_id, call.tool_name, call.arguments) for call in message.tool_calls],
        "finish": message.raw_finish_reason,
        "usage": (usage.input_tokens, usage.output_tokens),
        "cached": usage.cache_read_tokens,
        "model": message.model,
        "id": message.id,
    }


@pytest.mark.parametrize("recording", recordings("mistral-chat", "stream"), ids=lambda r: r.id)
def test_stream(recording: Recording) -> None:
    """The same message, usage and finish reason from a stream."""
    stream = client(recording).chat.stream(model="any", messages=[])
    chunks = [event.data for event in stream]
    parser = plait.parser("mistral-chat")
    parser.feed(recording.body())
    parser.close()
    assert facts(chunks, (c.choices[0].delta for c in chunks)) == our_facts(parser.message)
    assert dict(parser.unknown) == {}


@pytest.mark.parametrize("recording", recordings("mistral-chat", "json"), ids=lambda r: r.id)
def test_response(recording: Recording) -> None:
    """The same from a whole body."""
    response = client(recording).chat.complete(model="any", messages=[])
    theirs = facts([response], [response.choices[0].message])
    assert theirs == our_facts(plait.read_response("mistral-chat", recording.body()))


@pytest.mark.parametrize("recording", recordings("mistral-chat", "error"), ids=lambda r: r.id)
def test_error(recording: Recording) -> None:
    """What is an error for the SDK is one for us, with words that are in the body."""
    with pytest.raises(SDKError) as theirs:
        client(recording).chat.complete(model="any", messages=[])
    with pytest.raises(plait.ProviderError) as ours:
        plait.read_response("mistral-chat", recording.body())
    assert ours.value.message in theirs.value.body
