"""Chat Completions: token counts, errors, and formats of reasoning."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from chat_bodies import WIRE, chunk, read, response, stream

import plait
from plait import errors
from plait.events import ReasoningPart, TokenUsage
from plait.wire.errors import error_facts, typed_error
from plait.wire.openai_chat import mapping, wire


def usage(data: dict[str, Any]) -> TokenUsage | None:
    """What a `usage` object means."""
    return mapping.token_usage(msgspec.convert(data, wire.Usage))


def counts(prompt: int, completion: int, total: int | None = None, **fields: Any) -> dict[str, Any]:
    """A `usage` object; `cached`, `audio` and `reasoning` go into their details."""
    details = {"cached_tokens": fields.pop("cached", None), "audio_tokens": fields.pop("audio", None)}
    made = {"reasoning_tokens": fields.pop("reasoning", None)}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        **({} if total is None else {"total_tokens": total}),
        "prompt_tokens_details": details,
        "completion_tokens_details": made,
        **fields,
    }


class TestUsage:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (counts(10, 5, 15), TokenUsage(10, 5)),
            (counts(10, 5, 15, cached=4, reasoning=2), TokenUsage(10, 5, 4, None, 2)),
            ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": None}, TokenUsage(10, 5)),
            (
                {
                    **counts(40, 5, 45),
                    "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 39},
                },
                TokenUsage(40, 5, 0, 39),
            ),
            (counts(10, 5, 15, prompt_cache_hit_tokens=4), TokenUsage(10, 5, 4)),
            (counts(10, 5, 15, cached_tokens=4), TokenUsage(10, 5, 4)),
            (counts(10, 5, 15, num_cached_tokens=4), TokenUsage(10, 5, 4)),
            (counts(10, 5, 15, reasoning_tokens=3), TokenUsage(10, 5, reasoning_tokens=3)),
            (counts(12, 2, 354, reasoning=340), TokenUsage(12, 342, reasoning_tokens=340)),
            (counts(12, 2, reasoning=340), TokenUsage(12, 342, reasoning_tokens=340)),
            (counts(12, 20, 32, reasoning=30), TokenUsage(12, 20, reasoning_tokens=20)),
            (counts(35, 12, 109), TokenUsage(35, 74)),
            (counts(7, 2, 9, cached=161), TokenUsage(168, 2, 161)),
            (counts(7, 2, 170, cached=161), TokenUsage(168, 2, 161)),
            (counts(11, 15, 401, audio=375), TokenUsage(386, 15)),
            (counts(10, 5, 15, audio=4), TokenUsage(10, 5)),
            ({"prompt_tokens": 10, "total_tokens": 15}, TokenUsage(10, 5)),
            ({"completion_tokens": 5, "total_tokens": 15}, TokenUsage(10, 5)),
            ({"prompt_tokens": 10}, TokenUsage(10, 0)),
            ({}, None),
            ({"prompt_tokens": None, "completion_tokens": -1}, None),
        ],
        ids=[
            "openai",
            "details",
            "null details",
            "cache write",
            "DeepSeek",
            "Moonshot",
            "Mistral",
            "Perplexity",
            "xAI",
            "xAI without total",
            "more reasoning than output",
            "hidden reasoning",
            "Foundry",
            "Foundry with a full total",
            "audio beside the prompt",
            "audio in the prompt",
            "no completion",
            "no prompt",
            "only prompt",
            "empty",
            "nonsense",
        ],
    )
    def test_counts(self, data: dict[str, Any], expected: TokenUsage | None) -> None:
        """Input and output are all tokens, whatever the server's counts include."""
        assert expected == usage(data)

    @pytest.mark.parametrize(
        "documents",
        [
            [{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}],
            [chunk({}, "stop", usage={"prompt_tokens": 3, "completion_tokens": 2})],
            [{**chunk(), "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}}],
            [{**chunk(), "usage": {"prompt_tokens": 3, "completion_tokens": n}} for n in (0, 1, 2)],
            [
                {**chunk(), "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
                {**chunk(), "usage": None},
                {**chunk(), "usage": {}},
                {**chunk(), "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}},
            ],
        ],
        ids=["last chunk", "in the choice", "x_groq", "on every chunk", "then nothing"],
    )
    def test_places(self, documents: list[dict[str, Any]]) -> None:
        """Usage is cumulative wherever it comes: the last that says anything is taken, none is added."""
        body = stream(chunk({"content": "a"}, "stop"), *documents)
        assert TokenUsage(3, 2) == read(body).token_usage

    def test_unreported(self) -> None:
        """Usage that nobody reports is absent, not zero."""
        assert read(stream(chunk({"content": "a"}, "stop"))).token_usage is None


class TestReasoningFormat:
    @pytest.mark.parametrize(
        "entry",
        [
            {"type": "reasoning.text", "text": "a", "signature": "S", "format": "x#y:z", "index": 12},
            {"type": "reasoning.summary", "summary": "", "id": "i", "index": 0},
            {"type": "reasoning.encrypted", "data": "E", "format": "f"},
            {"type": "reasoning.text", "text": "a"},
        ],
        ids=["text", "summary", "encrypted", "bare"],
    )
    def test_round_trip(self, entry: dict[str, Any]) -> None:
        """A part holds all that its entry said."""
        data = {**entry, **({"signature": "S"} if entry.get("summary") == "" else {})}
        message = plait.read_response(WIRE, response({"content": "x", "reasoning_details": [data]}))
        assert [data] == [mapping.reasoning_detail(part) for part in message.reasoning]

    @pytest.mark.parametrize("format", [None, "reasoning_content", "anthropic-claude-v1", "openrouter:x"])
    def test_foreign(self, format: str | None) -> None:
        """Parts that were not made of an entry make none."""
        assert mapping.reasoning_detail(ReasoningPart("text", "a", format=format)) is None


class TestErrors:
    @pytest.mark.parametrize(
        ("document", "status", "expected"),
        [
            ({"error": {"message": "x", "type": "invalid_request_error"}}, 401, errors.AuthenticationError),
            ({"error": {"message": "x", "type": "invalid_request_error"}}, 400, errors.BadRequestError),
            ({"error": {"message": "x", "code": "401"}}, None, errors.AuthenticationError),
            (
                {"code": "invalid-argument", "error": "Incorrect API key provided."},
                400,
                errors.AuthenticationError,
            ),
            ({"code": "invalid-argument", "error": "Model not found: m"}, 400, errors.NotFoundError),
            ({"object": "error", "message": "x", "type": "invalid_model"}, 400, errors.NotFoundError),
            ({"error": {"message": "x", "code": "insufficient_quota"}}, 429, errors.RateLimitError),
            ({"error": {"message": "Insufficient credits", "code": 402}}, 402, errors.RateLimitError),
            (
                {"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}},
                402,
                errors.RateLimitError,
            ),
            ({"error": {"message": "x", "code": "1113"}}, 429, errors.RateLimitError),
            ({"error": {"message": "x", "code": "1261"}}, 400, errors.ContextWindowExceededError),
            ({"error": {"message": "x", "code": "1301"}}, 400, errors.ContentFilterError),
            ({"error": {"message": "x", "type": "engine_overloaded_error"}}, 429, errors.OverloadedError),
            ({"error": {"message": "x", "code": 500, "type": "y"}}, None, errors.ServerError),
            (
                {"error": {"message": "This model's maximum context length is 8 tokens", "code": None}},
                400,
                errors.ContextWindowExceededError,
            ),
            (
                {"error": {"message": "Request too large for model m", "code": "rate_limit_exceeded"}},
                413,
                errors.BadRequestError,
            ),
            (
                {"error": {"message": "x", "code": 403, "metadata": {"flagged_input": "y"}}},
                403,
                errors.ContentFilterError,
            ),
            (
                {"error": {"message": "filtered", "code": "content_filter", "status": 400}},
                400,
                errors.ContentFilterError,
            ),
            ({"error": {"message": "x", "code": 451}}, None, errors.ContentFilterError),
        ],
        ids=[
            "no key",
            "bad request",
            "Azure",
            "xAI key",
            "xAI model",
            "Mistral model",
            "quota",
            "OpenRouter quota",
            "DeepSeek quota",
            "Z.ai arrears",
            "Z.ai length",
            "Z.ai filter",
            "Moonshot capacity",
            "llama.cpp",
            "length in words",
            "larger than the limit",
            "flagged",
            "Azure filter",
            "number",
        ],
    )
    def test_class(self, document: Any, status: int | None, expected: type[errors.ProviderError]) -> None:
        """Code and type decide first, then words, then the status."""
        error = typed_error(error_facts(document), mapping.ERRORS, provider="any", status=status)
        assert expected is type(error)

    def test_quota_has_no_delay(self) -> None:
        """Waiting does not refill an account."""
        with pytest.raises(errors.RateLimitError) as raised:
            plait.read_response(WIRE, {"error": {"message": "no money", "code": "insufficient_quota"}})
        assert raised.value.retry_after is None

    def test_delay_in_words(self) -> None:
        """A delay that only the message says is read."""
        with pytest.raises(errors.RateLimitError) as raised:
            plait.read_response(
                WIRE, {"error": {"message": "Please try again in 6.5s.", "code": "rate_limit_exceeded"}}
            )
        assert raised.value.retry_after == 6.5
