"""Faults of usage: counts that are cumulative, late, in another place, or with another meaning of input."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_documents import END, finish, start, usage
from anthropic_documents import text as anthropic_text
from chat_bodies import chunk, stream
from checking import sse
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import stream as gemini_stream
from gemini_bodies import text as gemini_text
from responses_documents import text as responses_text
from said import lines, responses, said

import bedrock_frames as bedrock
from plait.events import TokenUsage


def anthropic(first: Any, *later: Any) -> bytes:
    """A stream whose `message_start` and `message_delta`s have this usage."""
    return sse(start(usage=first), anthropic_text(0, "a"), *(finish(usage=each) for each in later), END)


def chat(*usages: Any) -> bytes:
    """A stream with usage on each chunk."""
    return stream(*({**chunk({"content": "a"}), "usage": each} for each in usages), chunk({}, "stop"))


def counts(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    """Usage of Chat Completions."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


def gemini(*usages: Any) -> bytes:
    """A stream with this usage on its chunks, the last one without candidates."""
    *first, last = usages
    chunks = [{**gemini_chunk(gemini_text("a")), "usageMetadata": each} for each in first]
    return gemini_stream(*chunks, gemini_chunk(finish="STOP"), {"candidates": [], "usageMetadata": last})


def cohere(*usages: Any) -> bytes:
    """A stream whose `message-end` has this usage."""
    end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usages[-1]}}
    return sse({"type": "message-start", "id": "i"}, end)


FULL = {
    "promptTokenCount": 9,
    "candidatesTokenCount": 3,
    "thoughtsTokenCount": 4,
    "cachedContentTokenCount": 8,
    "totalTokenCount": 16,
}
CONVERSE = {"inputTokens": 1, "cacheReadInputTokens": 8, "cacheWriteInputTokens": 2, "outputTokens": 3}


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param(
            TokenUsage(38, 12, 8),
            "anthropic-messages",
            anthropic(usage(30, 1, 8), usage(30, 12, 8)),
            id="anthropic: said twice",
        ),
        pytest.param(
            TokenUsage(7, 15),
            "anthropic-messages",
            anthropic(usage(7, 1), *(usage("-", n) for n in (5, 9, 15))),
            id="anthropic: several deltas",
        ),
        pytest.param(
            TokenUsage(5000, 300, 4980),
            "anthropic-messages",
            anthropic(usage(5000, 0), usage(20, 300, 4980)),
            id="anthropic: split late",
        ),
        pytest.param(
            TokenUsage(100, 5, 90),
            "anthropic-messages",
            anthropic(usage(10, 1, 90), usage("-", 5)),
            id="anthropic: cached beside input",
        ),
        pytest.param(
            TokenUsage(3, 40),
            "anthropic-messages",
            anthropic(usage(3, 40), None),
            id="anthropic: final in the start",
        ),
        pytest.param(
            TokenUsage(0, 9),
            "anthropic-messages",
            anthropic(None, usage("-", 9)),
            id="anthropic: output only",
        ),
        pytest.param(
            TokenUsage(100, 5, 90),
            "openai-chat",
            chat(counts(100, 5, prompt_tokens_details={"cached_tokens": 90})),
            id="chat: cached within input",
        ),
        pytest.param(
            TokenUsage(4, 3),
            "openai-chat",
            chat(*(counts(4, n) for n in (1, 2, 3))),
            id="chat: on every chunk",
        ),
        pytest.param(
            TokenUsage(4, 3),
            "mistral-chat",
            chat(*(counts(4, n) for n in (1, 2, 3))),
            id="mistral: on every chunk",
        ),
        pytest.param(TokenUsage(4, 3), "openai-chat", chat(counts(4, 3), None), id="chat: null after it"),
        pytest.param(
            TokenUsage(4, 3),
            "openai-chat",
            stream({**chunk({"content": "a"}, "stop"), "usage": counts(4, 3)}),
            id="chat: with the reason",
        ),
        pytest.param(
            TokenUsage(4, 3),
            "openai-chat",
            stream({**chunk({"content": "a"}, "stop"), "usage": counts(4, 3)}, done=False),
            id="chat: with the reason, no [DONE]",
        ),
        pytest.param(
            TokenUsage(11, 3, 8, 2),
            "bedrock-converse",
            bedrock.BEGIN + bedrock.end(usage=CONVERSE),
            id="bedrock: cached beside input",
        ),
        pytest.param(
            TokenUsage(9, 7, 8, None, 4),
            "gemini",
            gemini({"promptTokenCount": 9}, FULL),
            id="gemini: prompt only, then all",
        ),
        pytest.param(
            TokenUsage(9, 7, 8, None, 4),
            "gemini",
            gemini({"promptTokenCount": 9, "candidatesTokenCount": 1}, FULL, FULL),
            id="gemini: cumulative",
        ),
        pytest.param(
            TokenUsage(4, 3),
            "ollama-chat",
            lines(
                {"message": {"content": "a"}, "eval_count": 1},
                {"done": True, "eval_count": 3, "prompt_eval_count": 4},
            ),
            id="ollama",
        ),
        pytest.param(
            TokenUsage(4, 3),
            "cohere-chat",
            cohere(
                {
                    "tokens": {"input_tokens": 4, "output_tokens": 3},
                    "billed_units": {"input_tokens": 1, "output_tokens": 3},
                }
            ),
            id="cohere: not what is billed",
        ),
        pytest.param(
            TokenUsage(1, 2),
            "openai-responses",
            responses(responses_text("a"), usage={"input_tokens": 1, "output_tokens": 2}),
            id="responses",
        ),
        pytest.param(None, "openai-chat", chat(None), id="chat: none"),
        pytest.param(None, "openai-chat", chat({}), id="chat: empty"),
    ],
)
def test_usage(expected: TokenUsage | None, wire: str, body: bytes) -> None:
    """Input is all that went in, output all that came out; a later count replaces an earlier one."""
    found = said(wire, body)
    assert expected == found.get("usage")
    assert "error" not in found
