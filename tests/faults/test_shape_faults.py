"""Faults of shape: what the chunks of Chat Completions and its dialects leave out, repeat or add."""

from __future__ import annotations

from typing import Any

import pytest
from chat_bodies import chunk, deltas, stream
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import stream as gemini_stream
from gemini_bodies import text as gemini_text
from said import hello, lines, said

from plait.conformance.encoding import ENCODERS
from plait.errors import IncompleteStreamError
from plait.events import TokenUsage

CHAT = ["openai-chat", "mistral-chat"]
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
FILTERED = {"content_filter_offsets": {"start_offset": 1, "end_offset": 9}, "content_filter_results": {}}
NOT_RUN: dict[str, Any] = {
    "content_filter_result": {"error": {"code": "content_filter_error", "message": "not run"}}
}


@pytest.mark.parametrize("wire", CHAT)
@pytest.mark.parametrize(
    ("expected", "body"),
    [
        pytest.param(
            {"text": "a", "finish": "stop:stop"},
            stream(
                {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
                {"id": "r1", "model": "m", "choices": [{"delta": None}]},
                chunk({"content": "a"}, "stop"),
            ),
            id="filter results, then delta null",
        ),
        pytest.param(
            {"text": "ab", "finish": "stop:stop"},
            stream(
                chunk({"content": "a"}),
                {"choices": [{"index": 0, "finish_reason": None, **FILTERED}]},
                {"choices": [{"index": 0, "delta": None, "finish_reason": None, **FILTERED}]},
                chunk({"content": "b"}, "stop"),
            ),
            id="filter offsets in mid-stream",
        ),
        pytest.param(
            {"text": "a", "finish": "stop:stop"},
            stream(chunk({"content": "a"}, **NOT_RUN), chunk({}, "stop", **NOT_RUN)),
            id="filter that did not run",
        ),
        pytest.param(
            {"error": IncompleteStreamError}, stream({"id": "x", "choices": None}), id="choices null"
        ),
        pytest.param(
            {"usage": TokenUsage(3, 2), "error": IncompleteStreamError},
            stream({"id": "x", "choices": [], "usage": USAGE}, done=False),
            id="usage and nothing else",
        ),
        pytest.param(
            {"text": "a", "finish": "stop:stop", "usage": TokenUsage(3, 2)},
            stream(chunk({"content": "a"}, "stop"), {"choices": [], "usage": USAGE}),
            id="trailing usage, no choices",
        ),
        pytest.param(
            {"text": "a", "finish": "stop:stop", "usage": TokenUsage(3, 2)},
            stream(chunk({"content": "a"}, "stop"), {"choices": None, "usage": USAGE}, done=False),
            id="trailing usage, choices null, no [DONE]",
        ),
        pytest.param(
            {"text": "a", "finish": "stop:stop", "usage": TokenUsage(3, 2)},
            stream(chunk({"content": "a"}), {**chunk({}, "stop"), "usage": USAGE}),
            id="usage with the finish reason",
        ),
        pytest.param(
            {"text": "a", "finish": "length:length"},
            stream(chunk({"content": "a"}), chunk({"content": ""}, "length")),
            id="empty text with the reason",
        ),
        pytest.param(
            {"text": "a end.", "finish": "length:length"},
            stream(chunk({"content": "a"}), chunk({"content": " end."}, "length")),
            id="last text with the reason",
        ),
        pytest.param(
            {"text": "aa", "finish": "stop:stop"},
            deltas(*[{"content": "a", "tool_calls": []}] * 2),
            id="no calls beside each text",
        ),
        pytest.param(
            {"text": "aa", "finish": "stop:stop"},
            deltas(*[{"content": "a", "tool_calls": None, "role": "assistant"}] * 2),
            id="nulls and role beside each text",
        ),
        pytest.param(
            {"text": "ab", "finish": "stop:stop"},
            stream(
                chunk({"content": "a"}, logprobs={"content": [{"token": "a"}]}),
                chunk({"content": "b"}, "stop"),
            ),
            id="log probabilities",
        ),
        pytest.param(
            {"text": "ab", "finish": "stop:stop"},
            stream(
                chunk({"content": "a"}),
                chunk({"content": "x"}, "length", index=1),
                chunk({"content": "b"}),
                chunk({"content": "y"}, index=1),
                chunk({}, "stop"),
            ),
            id="two choices by turns",
        ),
        pytest.param(
            {"text": "<tool_call>{}", "finish": "stop:stop"},
            deltas({"content": "<tool_"}, {"content": "call>{}"}),
            id="leaked markup is text",
        ),
        pytest.param(
            {"text": "GoGo toGo to bed", "finish": "stop:stop"},
            deltas({"content": "Go"}, {"content": "Go to"}, {"content": "Go to bed"}),
            id="nothing is compared unasked",
        ),
    ],
)
def test_chunks(expected: dict[str, Any], wire: str, body: bytes) -> None:
    """What a chunk lacks or adds changes nothing of the answer."""
    assert expected == said(wire, body)


@pytest.mark.parametrize(
    ("expected", "fields"),
    [
        ("stop:stop", {}),
        ("stop:stop", {"native_finish_reason": None}),
        ("length:stop", {"native_finish_reason": "MAX_TOKENS"}),
        ("content_filter:stop", {"native_finish_reason": "refusal"}),
        ("content_filter:stop", {"native_finish_reason": "SAFETY"}),
        ("stop:stop", {"native_finish_reason": "end_turn"}),
    ],
    ids=repr,
)
def test_native_reason(expected: str, fields: dict[str, Any]) -> None:
    """The upstream's own word tells a limit and a refusal from an answer; without it all is as usual."""
    assert {"finish": expected} == said("openai-chat", stream(chunk({"content": ""}, "stop", **fields)))


def test_native_refusal_named_by_both() -> None:
    """An answer without content that a filter ended is no empty answer."""
    body = stream(chunk({"content": ""}, "content_filter", native_finish_reason="refusal"))
    assert {"finish": "content_filter:content_filter"} == said("openai-chat", body)


REFUSED = [
    ("openai-chat", deltas({"refusal": "I will ", "content": None}, {"refusal": "not.", "content": None})),
    (
        "openai-responses",
        ENCODERS["openai-responses"].join(
            ENCODERS["openai-responses"].frames(
                [
                    {"type": "response.refusal.delta", "output_index": 0, "item_id": "m", "delta": "I will "},
                    {"type": "response.refusal.delta", "output_index": 0, "item_id": "m", "delta": "not."},
                    {"type": "response.completed", "response": {"status": "completed"}},
                ]
            )
        ),
    ),
]


@pytest.mark.parametrize(("wire", "body"), REFUSED, ids=[wire for wire, _ in REFUSED])
def test_refusal_is_text(wire: str, body: bytes) -> None:
    """A refusal is something to show, and the answer counts as filtered."""
    found = said(wire, body)
    assert ("I will not.", "content_filter") == (found["text"], found["finish"].split(":")[0])


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        (
            {"text": "a", "finish": "stop:STOP"},
            "gemini",
            gemini_stream(
                {"candidates": None}, {"candidates": []}, gemini_chunk(gemini_text("a"), finish="STOP")
            ),
        ),
        (
            {"text": "AABABC", "finish": "stop:STOP"},
            "gemini",
            gemini_stream(
                *(gemini_chunk(gemini_text(each)) for each in ("A", "AB", "ABC")), gemini_chunk(finish="STOP")
            ),
        ),
        (
            {"text": "a", "finish": "stop:stop"},
            "ollama-chat",
            lines(
                {"message": None},
                {"message": {"content": "a"}},
                {"message": {}, "done": True, "done_reason": "stop"},
            ),
        ),
        (
            {"text": "a", "finish": "stop:COMPLETE"},
            "cohere-chat",
            b"".join(hello("cohere-chat", "a")).replace(
                b'"delta":{"message":{"content":{"type":"text","text":""}}}', b'"delta":null'
            ),
        ),
    ],
    ids=[
        "gemini: no candidates",
        "gemini: whole text each time",
        "ollama: null message",
        "cohere: null delta",
    ],
)
def test_siblings(expected: dict[str, Any], wire: str, body: bytes) -> None:
    """Other wires have chunks that say nothing, too."""
    assert expected == said(wire, body)
