"""Every Cohere recording, read by Plait and by the official SDK: what both can say is the same.

The SDK is fed the recorded bytes through its own HTTP client; its typed events, for which it has no
accumulator, are joined here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import cohere
import httpx
import pytest

import plait
from plait.messages import AssistantMessage
from recordings import Recording, recordings

Facts = dict[str, Any]


def client(recording: Recording) -> cohere.ClientV2:
    """The SDK's client; whatever it asks for, it gets the recording."""

    def answer(_request: httpx.Request) -> httpx.Response:
        kind = "application/json" if recording.kind != "stream" else "text/event-stream"
        return httpx.Response(recording.status, content=recording.body(), headers={"content-type": kind})

    return cohere.ClientV2("none", httpx_client=httpx.Client(transport=httpx.MockTransport(answer)))


def facts(content: Iterable[Any], plan: str, calls: Iterable[Any], citations: Iterable[Any]) -> Facts:
    """What the SDK's objects of a message say."""
    content = list(content)
    return {
        "text": "".join(getattr(block, "text", None) or "" for block in content),
        "thinking": "".join(getattr(block, "thinking", None) or "" for block in content),
        "plan": plan,
        "calls": [(call.id, call.function.name, call.function.arguments) for call in calls],
        "citations": [(citation.start, citation.end, citation.text) for citation in citations],
    }


def ending(usage: Any, finish: str | None, id: str | None) -> Facts:
    """What the SDK says beside the message."""
    return {
        "finish": finish,
        "usage": (int(usage.tokens.input_tokens), int(usage.tokens.output_tokens)),
        "cached": None if usage.cached_tokens is None else int(usage.cached_tokens),
        "id": id,
    }


def response_facts(response: Any) -> Facts:
    """What the SDK says of a whole body. A call without arguments has `null` there."""
    message = response.message
    said = facts(
        message.content or (), message.tool_plan or "", message.tool_calls or (), message.citations or ()
    )
    said["calls"] = [(id_, name, "{}" if text == "null" else text) for id_, name, text in said["calls"]]
    return {**said, **ending(response.usage, response.finish_reason, response.id)}


def stream_facts(events: Iterable[Any]) -> Facts:
    """What the SDK's events say, all together."""
    by_type = defaultdict(list)
    for event in events:
        by_type[event.type].append(event)

    def messages(type_: str) -> list[Any]:
        return [event.delta.message for event in by_type[type_]]

    calls = {event.index: event.delta.message.tool_calls for event in by_type["tool-call-start"]}
    for event in by_type["tool-call-delta"]:
        calls[event.index].function.arguments += event.delta.message.tool_calls.function.arguments
    for call in calls.values():
        call.function.arguments = call.function.arguments or "{}"
    (end,) = by_type["message-end"]
    said = facts(
        [message.content for message in messages("content-start") + messages("content-delta")],
        "".join(message.tool_plan for message in messages("tool-plan-delta")),
        calls.values(),
        [message.citations for message in messages("citation-start")],
    )
    return {**said, **ending(end.delta.usage, end.delta.finish_reason, by_type["message-start"][0].id)}


def our_facts(message: AssistantMessage) -> Facts:
    """What our message says of the same."""
    usage = message.token_usage or plait.TokenUsage(0, 0)
    citations = [
        citation for part in message.content if part.type == "text" for citation in part.citations or ()
    ]
    return {
        "text": message.text,
        "thinking": "".join(p.text or "" for p in message.reasoning if p.format == "cohere-chat-v2"),
        "plan": "".join(p.text or "" for p in message.reasoning if p.format == "cohere-tool-plan"),
        "calls": [(call.call_id, call.tool_name, call.arguments) for call in message.tool_calls],
        "citations": [(citation.start, citation.end, citation.cited_text) for citation in citations],
        "finish": message.raw_finish_reason,
        "usage": (usage.input_tokens, usage.output_tokens),
        "cached": usage.cache_read_tokens,
        "id": message.id,
    }


@pytest.mark.parametrize("recording", recordings("cohere-chat", "stream"), ids=lambda r: r.id)
def test_stream(recording: Recording) -> None:
    """The same message, usage and finish reason from a stream."""
    parser = plait.parser("cohere-chat")
    parser.feed(recording.body())
    parser.close()
    theirs = stream_facts(client(recording).chat_stream(model="any", messages=[]))
    assert theirs == our_facts(parser.message)
    assert dict(parser.unknown) == {}


@pytest.mark.parametrize("recording", recordings("cohere-chat", "json"), ids=lambda r: r.id)
def test_response(recording: Recording) -> None:
    """The same from a whole body."""
    theirs = response_facts(client(recording).chat(model="any", messages=[]))
    assert theirs == our_facts(plait.read_response("cohere-chat", recording.body()))
