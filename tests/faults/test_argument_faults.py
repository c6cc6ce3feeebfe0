"""Faults of tool calls' arguments: empty, cut, in the wrong place or of the wrong type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic_documents import END, args, block, finish, start, stop
from checking import sse
from gemini_bodies import call as gemini_call
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import stream as gemini_stream
from responses_documents import added, arguments, call, done, event
from said import chat, lines, piece, responses, said

import bedrock_frames as bedrock


def anthropic(reason: str, input_: Any, *deltas: str, name: str = "f") -> bytes:
    """A stream with one call."""
    pieces = [args(0, text) for text in deltas]
    call_ = block(0, "tool_use", id="t", name=name, input=input_)
    return sse(start(), call_, *pieces, stop(0), finish(reason), END)


CUT: dict[str, Any] = {"incomplete_details": {"reason": "max_output_tokens"}}
HALF = '{"cmd":"ls'


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param(
            [("f", "{}", True)],
            "anthropic-messages",
            anthropic("tool_use", {}, ""),
            id="anthropic: empty piece",
        ),
        pytest.param(
            [("f", '{"file":"q"}', True)],
            "anthropic-messages",
            anthropic("tool_use", {}, '{"fi', 'le":"q"}'),
            id="anthropic: empty start",
        ),
        pytest.param(
            [("f", '{"a":1}', True)],
            "anthropic-messages",
            anthropic("tool_use", '{"a":1}'),
            id="anthropic: input as text",
        ),
        pytest.param(
            [("", "{}", False)],
            "anthropic-messages",
            anthropic("tool_use", {}, "{}", name=""),
            id="anthropic: no name",
        ),
        pytest.param(
            [("f", HALF, False)], "anthropic-messages", anthropic("max_tokens", {}, HALF), id="anthropic: cut"
        ),
        pytest.param(
            [("f", '{"n":Infinity}', False)],
            "anthropic-messages",
            anthropic("tool_use", {}, '{"n":Infinity}'),
            id="anthropic: Infinity",
        ),
        pytest.param(
            [("f", HALF, False)],
            "openai-chat",
            chat([piece("f", HALF, index=0, id="c")], finish="length"),
            id="chat: cut",
        ),
        pytest.param(
            [("f", HALF, False)],
            "openai-chat",
            chat([piece("f", HALF, index=0, id="c")], finish="stop"),
            id="chat: cut, and called whole",
        ),
        pytest.param(
            [("f", HALF, False)],
            "mistral-chat",
            chat([piece("f", HALF, id="c")], finish="model_length"),
            id="mistral: cut",
        ),
        pytest.param(
            [("f", HALF, False)],
            "openai-responses",
            responses(added(0, call("")), arguments(HALF), status="incomplete", **CUT),
            id="responses: cut",
        ),
        pytest.param(
            [("f", '{"n":4}', True)],
            "openai-responses",
            responses(
                added(0, call("")),
                event("function_call_arguments.done", id="fc", arguments='{"n":4}'),
                done(0, call('{"n":4}')),
            ),
            id="responses: no deltas",
        ),
        pytest.param(
            [("f", '{"n":4}', True)],
            "openai-responses",
            responses(
                added(0, call("")),
                arguments(""),
                arguments('{"n"'),
                arguments(""),
                arguments(":4}"),
                done(0, call('{"n":4}')),
            ),
            id="responses: empty deltas",
        ),
        pytest.param(
            [("f", HALF, False)],
            "bedrock-converse",
            bedrock.BEGIN
            + bedrock.start(0, toolUse={"toolUseId": "t", "name": "f"})
            + bedrock.delta(0, toolUse={"input": HALF})
            + bedrock.stop(0)
            + bedrock.end("max_tokens"),
            id="bedrock: cut",
        ),
        pytest.param(
            [("", "{}", False)],
            "bedrock-converse",
            bedrock.BEGIN
            + bedrock.start(0, toolUse={"toolUseId": "t"})
            + bedrock.delta(0, toolUse={"input": "{}"})
            + bedrock.stop(0)
            + bedrock.end("tool_use"),
            id="bedrock: no name",
        ),
        pytest.param(
            [("f", '{"a":1}', True)],
            "bedrock-converse",
            json.dumps(
                {
                    "output": {
                        "message": {
                            "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": '{"a":1}'}}]
                        }
                    },
                    "stopReason": "tool_use",
                }
            ).encode(),
            id="bedrock: input as text",
        ),
        pytest.param(
            [("f", '{"a":1}', True)],
            "gemini",
            gemini_stream(gemini_chunk(gemini_call("f", args='{"a":1}'), finish="STOP")),
            id="gemini: arguments as text",
        ),
        pytest.param(
            [("", '{"a":1}', False)],
            "gemini",
            gemini_stream(gemini_chunk(gemini_call(args={"a": 1}), finish="STOP")),
            id="gemini: no name",
        ),
        pytest.param(
            [("f", "{}", True)],
            "gemini",
            gemini_stream(gemini_chunk(gemini_call("f", args=None), finish="STOP")),
            id="gemini: null",
        ),
        pytest.param(
            [("f", "{}", True)],
            "gemini",
            gemini_stream(gemini_chunk(gemini_call("f")), gemini_chunk(finish="STOP")),
            id="gemini: the reason comes later",
        ),
        pytest.param(
            [("f", HALF, False)],
            "ollama-chat",
            lines(
                {"message": {"tool_calls": [{"function": {"name": "f", "arguments": HALF}}]}},
                {"done": True, "done_reason": "length"},
            ),
            id="ollama: cut",
        ),
    ],
)
def test_arguments(expected: list[tuple[str, str, bool]], wire: str, body: bytes) -> None:
    """Arguments are what came, joined, or `{}`; what is no JSON value, or has no name, is never whole."""
    found = said(wire, body)
    assert expected == found["calls"]
    reasons = (
        ("length", "context_window")
        if "length" in found["finish"] or "max" in found["finish"]
        else ("tool_calls",)
    )
    assert found["finish"].split(":")[0] in reasons
