"""Faults of endings: what is whole and what is cut, on every wire."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_documents import END, block, finish, start
from anthropic_documents import text as anthropic_text
from chat_bodies import chunk, stream
from checking import sse
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import stream as gemini_stream
from gemini_bodies import text as gemini_text
from responses_documents import created
from responses_documents import text as responses_text
from said import hello, lines, responses, said

import bedrock_frames as bedrock
import plait
from plait.errors import IncompleteStreamError
from plait.events import TokenUsage

USAGE = {"input_tokens": 1, "output_tokens": 2}


def anthropic(reason: Any, *documents: dict[str, Any]) -> bytes:
    """A stream with the text `a` that ends so."""
    return sse(start(), block(0, "text"), anthropic_text(0, "a"), *documents, finish(reason), END)


def converse(reason: str) -> bytes:
    """A stream with the text `a` that ends so."""
    return bedrock.BEGIN + bedrock.delta(0, text="a") + bedrock.end(reason, {})


def incomplete(reason: Any) -> bytes:
    """A stream with the text `a` that ends in `response.incomplete`."""
    return responses(responses_text("a"), status="incomplete", incomplete_details={"reason": reason})


CONTEXT = "model_context_window_exceeded"


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param("other:None", "openai-chat", stream(chunk({"content": "a"})), id="chat: only [DONE]"),
        pytest.param(
            "stop:stop",
            "openai-chat",
            stream(chunk({"content": "a"}, "stop"), done=False),
            id="chat: only a reason",
        ),
        pytest.param(
            "other:None",
            "openai-chat",
            stream(chunk({"content": "a"}), {"choices": []}),
            id="chat: no reason, no choices, [DONE]",
        ),
        pytest.param(
            "other:None",
            "mistral-chat",
            stream(chunk({"content": "a"}), {"choices": []}),
            id="mistral: only [DONE]",
        ),
        pytest.param(
            f"context_window:{CONTEXT}",
            "openai-chat",
            stream(chunk({"content": "a"}, CONTEXT)),
            id="chat: context",
        ),
        pytest.param(
            f"context_window:{CONTEXT}", "anthropic-messages", anthropic(CONTEXT), id="anthropic: context"
        ),
        pytest.param(
            f"context_window:{CONTEXT}", "bedrock-converse", converse(CONTEXT), id="bedrock: context"
        ),
        pytest.param(
            "error:error", "mistral-chat", stream(chunk({"content": "a"}, "error")), id="mistral: error"
        ),
        pytest.param(
            "context_window:model_length",
            "mistral-chat",
            stream(chunk({"content": "a"}, "model_length")),
            id="mistral: model length",
        ),
        pytest.param("stop:eos", "openai-chat", stream(chunk({"content": "a"}, "eos")), id="together: eos"),
        pytest.param(
            "other:brand_new", "anthropic-messages", anthropic("brand_new"), id="anthropic: unknown"
        ),
        pytest.param("other:brand_new", "bedrock-converse", converse("brand_new"), id="bedrock: unknown"),
        pytest.param(
            "other:BRAND_NEW",
            "gemini",
            gemini_stream(gemini_chunk(gemini_text("a"), finish="BRAND_NEW")),
            id="gemini: unknown",
        ),
        pytest.param(
            "other:max_tool_calls",
            "openai-responses",
            incomplete("max_tool_calls"),
            id="responses: tool limit",
        ),
        pytest.param("other:brand_new", "openai-responses", incomplete("brand_new"), id="responses: unknown"),
        pytest.param("other:incomplete", "openai-responses", incomplete(""), id="responses: empty"),
        pytest.param(
            "length:max_output_tokens",
            "openai-responses",
            incomplete("max_output_tokens"),
            id="responses: length",
        ),
        pytest.param(
            "stop:completed",
            "openai-responses",
            responses(responses_text("a"), incomplete_details={"reason": ""}),
            id="responses: completed, with an empty reason",
        ),
        pytest.param(
            "stop:stop",
            "ollama-chat",
            lines({"message": {"content": "a"}, "done_reason": "stop"}),
            id="ollama: never done",
        ),
        pytest.param(
            "stop:stop",
            "ollama-chat",
            lines({"message": {"content": "a"}, "done": False, "done_reason": "stop"}),
            id="ollama: done false",
        ),
        pytest.param(
            "stop:None",
            "ollama-chat",
            lines({"message": {"content": "a"}}, {"done": True}),
            id="ollama: no reason",
        ),
        pytest.param(
            "content_filter:guardrail_intervened",
            "bedrock-converse",
            converse("guardrail_intervened"),
            id="bedrock: guardrail",
        ),
    ],
)
def test_whole(expected: str, wire: str, body: bytes) -> None:
    """Any terminal signal is enough; no reason is made up, and none that is unknown breaks anything."""
    found = said(wire, body)
    assert {"text": "a", "finish": expected} == {name: found[name] for name in found if name != "usage"}


UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
BLOCKED_FOR_NOTHING = {
    **gemini_chunk(gemini_text("a")),
    "promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"},
}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        pytest.param("openai-chat", stream(chunk({"content": "a"}), done=False), id="chat"),
        pytest.param("openai-chat", stream(chunk({"content": "a"}, ""), done=False), id="chat: reason empty"),
        pytest.param(
            "openai-chat", stream(chunk({"content": "a"}, "null"), done=False), id="chat: the word null"
        ),
        pytest.param("mistral-chat", stream(chunk({"content": "a"}), done=False), id="mistral"),
        pytest.param(
            "openai-responses", sse(created(), responses_text("a"), "[DONE]"), id="responses: [DONE]"
        ),
        pytest.param(
            "anthropic-messages",
            anthropic("end_turn").split(b"event: message_stop")[0],
            id="anthropic: no stop",
        ),
        pytest.param(
            "anthropic-messages",
            anthropic("end_turn").split(b"event: message_stop")[0] + b"data: [DONE]\n\n",
            id="anthropic: [DONE]",
        ),
        pytest.param(
            "anthropic-messages",
            sse(start(stop_reason="end_turn", usage=USAGE), anthropic_text(0, "a")),
            id="anthropic: final message_start",
        ),
        pytest.param(
            "gemini",
            gemini_stream(gemini_chunk(gemini_text("a"), finish=UNSPECIFIED)),
            id="gemini: reason unspecified",
        ),
        pytest.param("gemini", gemini_stream(BLOCKED_FOR_NOTHING), id="gemini: block reason unspecified"),
        pytest.param(
            "gemini",
            gemini_stream(gemini_chunk(gemini_text("a"))) + b"data: [DONE]\r\n\r\n",
            id="gemini: [DONE]",
        ),
        pytest.param(
            "bedrock-converse", bedrock.BEGIN + bedrock.delta(0, text="a") + bedrock.stop(0), id="bedrock"
        ),
        pytest.param(
            "cohere-chat", b"".join(hello("cohere-chat", "a")[:-2]) + b"data: [DONE]\n\n", id="cohere: [DONE]"
        ),
        pytest.param(
            "ollama-chat", lines({"message": {"content": "a"}, "done": False, "done_reason": ""}), id="ollama"
        ),
    ],
)
def test_cut(wire: str, body: bytes) -> None:
    """Without the wire's own end there is none: the text is kept, and called half an answer."""
    found = said(wire, body)
    assert ("a", IncompleteStreamError) == (found["text"], found["error"])
    assert "finish" not in found


@pytest.mark.parametrize(
    ("expected", "candidate"),
    [
        ("malformed_output:MALFORMED_FUNCTION_CALL", {"finishReason": "MALFORMED_FUNCTION_CALL"}),
        ("malformed_output:UNEXPECTED_TOOL_CALL", {"content": {}, "finishReason": "UNEXPECTED_TOOL_CALL"}),
        (
            "malformed_output:MALFORMED_FUNCTION_CALL",
            {"content": {"parts": None}, "finishReason": "MALFORMED_FUNCTION_CALL"},
        ),
    ],
    ids=["no content", "empty content", "parts null"],
)
def test_gemini_ends_without_content(expected: str, candidate: dict[str, Any]) -> None:
    """A call that the model could not write is no empty success."""
    assert {"finish": expected} == said("gemini", gemini_stream({"candidates": [candidate]}))


def test_gemini_blocks_the_prompt() -> None:
    """No candidates, only why, and what it cost."""
    document = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    expected = {"finish": "content_filter:SAFETY", "usage": TokenUsage(4, 0)}
    assert expected == said("gemini", gemini_stream(document))


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_incomplete_response_keeps_its_usage(reason: str) -> None:
    """`response.incomplete` is an end like others."""
    details = {"incomplete_details": {"reason": reason}, "usage": USAGE}
    found = said("openai-responses", responses(responses_text("a"), status="incomplete", **details))
    assert ("a", TokenUsage(1, 2)) == (found["text"], found["usage"])


def test_empty_role_chunk_is_no_answer() -> None:
    """HTTP 200, a role, and the end: the server ran out of context, or died."""
    for body in (
        stream(chunk({"role": "assistant"}), done=False),
        stream(chunk({"role": "assistant", "content": ""})),
    ):
        with pytest.raises(IncompleteStreamError):
            list(plait.parse([body], "openai-chat"))
