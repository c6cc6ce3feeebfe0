"""What was said: nothing of it anywhere by default, and all of it in the conventions' form when asked for."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
from checking import sse
from exported import (
    KEY,
    USAGE,
    Exported,
    answering,
    ask,
    both_modes,
    chat,
    delta,
    finish,
    generate,
    streamed,
)

import plait
from plait import AssistantMessage, PlaitError, ToolCallPart
from plait.telemetry.content import MAX_BLOB, request_content, response_content

MARK = "zebra"
"""A word of everything that is content, and of nothing else."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": f"{MARK} system"},
    {"role": "user", "content": [{"type": "text", "text": f"{MARK} user"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": f"{MARK} answer"},
            {
                "type": "tool-call",
                "toolCallId": "t1",
                "toolName": f"{MARK}_tool",
                "arguments": json.dumps({"a": MARK}),
            },
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "tool_call_id": "t1",
                "tool_name": f"{MARK}_tool",
                "output": {"type": "text", "value": f"{MARK} result"},
            }
        ],
    },
]
OPTIONS: dict[str, Any] = {
    "tools": [{"name": f"{MARK}_tool", "description": MARK, "parameters": {"type": "object", "title": MARK}}],
    "metadata": {"a": MARK},
    "user": MARK,
    "extra": {"note": MARK},
}
CALL = {
    "index": 0,
    "id": "c",
    "type": "function",
    "function": {"name": MARK, "arguments": f'{{"{MARK}": 1}}'},
}
SAID = (
    sse(delta(reasoning_content=f"{MARK} thought")),
    sse(delta(content=f"{MARK} text")),
    sse(delta(tool_calls=[CALL])),
)
WHOLE = streamed, (*SAID, sse(finish("tool_calls"), USAGE, "[DONE]"))

ANSWERS: dict[str, Any] = {
    "complete": lambda: streamed(*SAID, sse(finish(f"{MARK} reason"), USAGE, "[DONE]")),
    "a key repeated": lambda: streamed(
        sse({**delta(content=f"{MARK} {KEY}"), "id": KEY, "model": KEY}, finish(KEY), "[DONE]")
    ),
    "cut": lambda: streamed(*SAID),
    "broken": lambda: streamed(*SAID, break_off=True),
    "not JSON": lambda: streamed(*SAID, f"data: {MARK}\n\n".encode()),
    "error in the stream": lambda: streamed(
        *SAID, sse({"error": {"message": f"{MARK} {KEY}", "code": MARK}})
    ),
    "refused": lambda: httpx.Response(400, json={"error": {"message": f"{MARK} {KEY}", "code": MARK}}),
    "retried": lambda: httpx.Response(503, text=f"{MARK} {KEY}", headers={"x-request-id": MARK}),
    "no server": lambda: httpx.ConnectError(f"{MARK} {KEY}"),
}


@both_modes
@pytest.mark.parametrize("answer", ANSWERS)
def test_nothing_by_default(mode: str, answer: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever happens to a call, no attribute, event, status, metric or warning holds content or a key."""
    caplog.set_level(logging.WARNING)
    exported = Exported()
    made = [ANSWERS[answer]() for _ in range(3)]
    ask(mode, chat(mode, exported, answering(*made)), CONVERSATION, **OPTIONS)
    text = exported.everything() + caplog.text
    assert "gen_ai.provider.name" in text
    assert MARK not in text
    assert KEY not in text


@both_modes
@pytest.mark.parametrize("answer", ANSWERS)
def test_no_key_in_content(mode: str, answer: str) -> None:
    """With content, the conversation is there, but a key never is: not even one that a server repeats."""
    exported = Exported(content=True)
    made = [ANSWERS[answer]() for _ in range(3)]
    ask(mode, chat(mode, exported, answering(*made)), CONVERSATION, **OPTIONS)
    assert f"{MARK} user" in exported.attributes["gen_ai.input.messages"]
    assert KEY not in exported.everything()


@both_modes
def test_content(mode: str) -> None:
    """The conversation, its first instructions, the tools and the answer: an attribute of JSON text each."""
    exported = Exported(content=True)
    make, chunks = WHOLE
    ask(mode, chat(mode, exported, answering(make(*chunks))), CONVERSATION, **OPTIONS)
    found = {
        name: json.loads(exported.attributes[f"gen_ai.{name}"])
        for name in ("system_instructions", "input.messages", "output.messages", "tool.definitions")
    }
    assert [{"type": "text", "content": "zebra system"}] == found["system_instructions"]
    assert [
        {"role": "user", "parts": [{"type": "text", "content": "zebra user"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "zebra answer"},
                {"type": "tool_call", "id": "t1", "name": "zebra_tool", "arguments": {"a": "zebra"}},
            ],
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "t1", "response": "zebra result"}],
        },
    ] == found["input.messages"]
    assert [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "zebra thought"},
                {"type": "text", "content": "zebra text"},
                {"type": "tool_call", "id": "c", "name": "zebra", "arguments": {"zebra": 1}},
            ],
            "finish_reason": "tool_call",
        }
    ] == found["output.messages"]
    assert [
        {
            "type": "function",
            "name": "zebra_tool",
            "description": "zebra",
            "parameters": {"type": "object", "title": "zebra"},
        }
    ] == found["tool.definitions"]


def test_whole_call() -> None:
    """A call that is not streamed, and whose conversation is one string, has its content as well."""
    exported = Exported(content=True)
    generate("sync", plait.Model("mock/any", observer=exported.observer), "Good day")
    said = [{"type": "text", "content": "Good day"}]
    found = exported.attributes
    assert [{"role": "user", "parts": said}] == json.loads(found["gen_ai.input.messages"])
    assert [{"role": "assistant", "parts": said, "finish_reason": "stop"}] == json.loads(
        found["gen_ai.output.messages"]
    )
    assert "gen_ai.system_instructions" not in found
    assert "gen_ai.tool.definitions" not in found


def test_partial_answer() -> None:
    """Of an answer that broke, what came is there, and the error's own words are the status."""
    exported = Exported(content=True)
    _, error = ask("sync", chat("sync", exported, answering(streamed(SAID[1]))))
    (answer,) = json.loads(exported.attributes["gen_ai.output.messages"])
    assert ([{"type": "text", "content": "zebra text"}], "error") == (
        answer["parts"],
        answer["finish_reason"],
    )
    assert str(error) == exported.span.status.description


def parts(*content: dict[str, Any], role: str = "user") -> list[dict[str, Any]]:
    """The parts that a message's content becomes."""
    found = request_content([{"role": role, "content": list(content)}], {})
    (message,) = json.loads(found["gen_ai.input.messages"])
    assert role == message["role"]
    return list(message["parts"])


IMAGE = {"type": "data", "data": PIXEL, "media_type": "image/png"}
MEDIA: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "image data",
        {"type": "image", "image": IMAGE},
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": PIXEL},
    ),
    (
        "image URL",
        {"type": "image", "image": {"type": "url", "url": "https://a.test/b.png"}},
        {"type": "uri", "mime_type": None, "modality": "image", "uri": "https://a.test/b.png"},
    ),
    (
        "audio",
        {"type": "file", "data": {"type": "data", "data": "AAAA"}, "media_type": "audio/wav"},
        {"type": "blob", "mime_type": "audio/wav", "modality": "audio", "content": "AAAA"},
    ),
    (
        "document URL",
        {
            "type": "file",
            "data": {"type": "url", "url": "https://a.test/b.pdf"},
            "media_type": "application/pdf",
        },
        {
            "type": "uri",
            "mime_type": "application/pdf",
            "modality": "document",
            "uri": "https://a.test/b.pdf",
        },
    ),
    (
        "too much data",
        {
            "type": "file",
            "data": {"type": "data", "data": "AAAA" * (MAX_BLOB // 4 + 1)},
            "media_type": "video/mp4",
        },
        {
            "type": "plait.omitted",
            "mime_type": "video/mp4",
            "modality": "video",
            "base64_length": MAX_BLOB + 4,
        },
    ),
]


@pytest.mark.parametrize(("content", "expected"), [pytest.param(*case, id=name) for name, *case in MEDIA])
def test_media(content: dict[str, Any], expected: dict[str, Any]) -> None:
    """Data is a blob and a URL a uri, with media type and modality; of too much only the size is told."""
    assert [expected] == parts(content)


OUTPUTS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "text", "value": "a"}, "a"),
    ({"type": "json", "value": {"a": [1, None]}}, {"a": [1, None]}),
    ({"type": "content", "value": [{"type": "text", "text": "a"}]}, [{"type": "text", "content": "a"}]),
    ({"type": "error-text", "value": "a"}, {"type": "error-text", "value": "a"}),
    ({"type": "error-json", "value": [1]}, {"type": "error-json", "value": [1]}),
    ({"type": "execution-denied", "value": "no"}, {"type": "execution-denied", "value": "no"}),
]


@pytest.mark.parametrize(("output", "expected"), OUTPUTS, ids=lambda value: str(value)[:24])
def test_tool_results(output: dict[str, Any], expected: Any) -> None:
    """A result is its plain value; a failure or a refusal says that it is one."""
    result = {"type": "tool-result", "tool_call_id": "t", "tool_name": "f", "output": output}
    assert [{"type": "tool_call_response", "id": "t", "response": expected}] == parts(result, role="tool")


def test_assistant_parts() -> None:
    """Reasoning is what may be shown of it; a provider's own block is there with its format."""
    opaque = {"type": "reasoning", "details": [{"type": "encrypted", "data": "gAAA", "format": "f-v1"}]}
    shown = {"type": "reasoning", "text": "a thought"}
    block = {"type": "provider", "format": "f-v1", "data": {"type": "server_tool_use", "name": "search"}}
    assert [
        {"type": "reasoning", "content": ""},
        {"type": "reasoning", "content": "a thought"},
        {"type": "provider", "format": "f-v1", "data": {"type": "server_tool_use", "name": "search"}},
    ] == parts(opaque, shown, block, role="assistant")


@pytest.mark.parametrize("arguments", ['{"a": ', "", "NaN"], ids=["cut", "empty", "no JSON"])
def test_arguments_that_are_not_json(arguments: str) -> None:
    """Arguments that are not JSON stay the text they are."""
    call = ToolCallPart(tool_call_id="t", tool_name="f", arguments=arguments, complete=False)
    ((_, text),) = response_content(AssistantMessage([call]), PlaitError("cut")).items()
    ((message,),) = (json.loads(text),)
    assert [{"type": "tool_call", "id": "t", "name": "f", "arguments": arguments}] == message["parts"]


def test_later_instructions_stay() -> None:
    """Only the system messages that begin a conversation are its instructions."""
    found = request_content(
        [
            {"role": "system", "content": "a"},
            {"role": "system", "content": "b"},
            {"role": "user", "content": "c"},
            {"role": "system", "content": "d"},
        ],
        {},
    )
    roles = [message["role"] for message in json.loads(found["gen_ai.input.messages"])]
    instructions = [part["content"] for part in json.loads(found["gen_ai.system_instructions"])]
    assert (["a", "b"], ["user", "system"]) == (instructions, roles)


def test_no_answer_no_attribute() -> None:
    """Where nothing came there is no output."""
    assert {} == response_content(AssistantMessage([]), None)
