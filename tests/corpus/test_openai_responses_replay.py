"""Responses: what a recording holds goes back as it came, item by item, in the next request (law 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import plait
from plait.messages import AssistantMessage, Message, TextOutput, ToolMessage, ToolResultPart, UserMessage
from recordings import Recording, recordings

STREAMS = recordings("openai-responses", "stream")
BODIES = recordings("openai-responses", "json")


def message(recording: Recording) -> AssistantMessage:
    """The message that Plait reads."""
    if recording.kind == "json":
        return plait.read_response("openai-responses", recording.body())
    parser = plait.parser("openai-responses")
    parser.feed(recording.body())
    return parser.message


def output(recording: Recording) -> list[dict[str, Any]]:
    """The items of the raw recording, in output order."""
    text = recording.body().decode()
    if recording.kind == "json":
        return [item for item in json.loads(text).get("output") or [] if item]
    added: list[Any] = []
    done: dict[Any, Any] = {}
    final: list[Any] = []
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            event = json.loads(line[5:])
            if event["type"] == "response.output_item.added":
                added.append(event["output_index"])
            elif event["type"] == "response.output_item.done":
                done[event["output_index"]] = event["item"]
            elif event["type"] in ("response.completed", "response.incomplete"):
                final = event["response"].get("output") or []
    for index, item in enumerate(final):
        done.setdefault(index, item)
    order = [*dict.fromkeys(added), *(index for index in done if index not in added)]
    return [done[index] for index in order if index in done]


def kept(item: dict[str, Any], *, stored: bool) -> tuple[Any, ...] | None:
    """What of an item must go back; None when nothing can."""
    kind = item.get("type", "message")
    own = (item.get("id"),) if stored else ()
    match kind:
        case "reasoning":
            known = item.get("encrypted_content") or item.get("content") or (stored and item.get("id"))
            parts = [[part["text"] for part in item.get(name) or []] for name in ("summary", "content")]
            return (kind, own, *parts, item.get("encrypted_content")) if known else None
        case "message":
            content = item["content"]
            text = "".join(part.get("text") or part.get("refusal") or "" for part in content)
            return (kind, own, text, item.get("phase")) if text else None
        case "function_call":
            arguments = item["arguments"] or "{}"
            return kind, item["call_id"], item["name"], arguments, item.get("namespace")
        case "custom_tool_call":
            return kind, item["call_id"], item["name"], item["input"]
    return kind, json.dumps(item, sort_keys=True)


def expected(recording: Recording, *, stored: bool) -> list[tuple[Any, ...]]:
    found = (kept(item, stored=stored) for item in output(recording))
    return [item for item in found if item is not None]


def sent(recording: Recording, **options: Any) -> list[tuple[Any, ...]]:
    """What of the answer's items the next request holds."""
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
    body = plait.build_request("openai-responses", [*history, UserMessage(content="And now?")], **options)
    items = body["input"][1:-1]
    ours = items[: len(items) - len(results)]
    assert [item["call_id"] for item in items[len(ours) :]] == [call.call_id for call in answer.tool_calls]
    stored = options.get("store") is not False
    return [again for item in ours if (again := kept(_listed(item), stored=stored)) is not None]


def _listed(item: dict[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    return {**item, "content": [{"text": content}]} if isinstance(content, str) else item


@pytest.mark.parametrize("recording", [*STREAMS, *BODIES], ids=lambda recording: recording.id)
def test_stored(recording: Recording) -> None:
    """A provider that keeps responses gets every item back, under its own id."""
    assert sent(recording) == expected(recording, stored=True)


@pytest.mark.parametrize("recording", [*STREAMS, *BODIES], ids=lambda recording: recording.id)
def test_not_stored(recording: Recording) -> None:
    """One that keeps none gets reasoning by its content alone: ids would name nothing."""
    assert sent(recording, store=False) == expected(recording, stored=False)
