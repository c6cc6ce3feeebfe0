"""HTTP error responses become typed errors, whatever their body is."""

from __future__ import annotations

import json

import pytest

import plait
from plait.wire.http_errors import retry_after

TOO_LONG = '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 > 2"}}'
OVERLOADED = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
THROTTLED = {"x-amzn-errortype": "ThrottlingException:http://a/"}
DENIED = {"X-Amzn-ErrorType": "AccessDeniedException"}
PAGE = "<html><title>Bad gateway</title></html>"


@pytest.mark.parametrize(
    ("expected", "wire", "status", "headers", "body"),
    [
        (plait.RateLimitError, "openai-chat", 429, {}, '{"error":{"message":"slow"}}'),
        (plait.AuthenticationError, "openai-chat", 400, {}, '{"code":"x","error":"Incorrect API key"}'),
        (plait.ContextWindowExceededError, "anthropic-messages", 400, {}, TOO_LONG),
        (plait.OverloadedError, "anthropic-messages", 529, {}, OVERLOADED),
        (plait.RateLimitError, "bedrock-converse", 400, THROTTLED, '{"message":"Too many"}'),
        (plait.PermissionDeniedError, "anthropic-messages", 403, DENIED, '{"message":"no"}'),
        (plait.ServerError, "gemini", 502, {}, PAGE),
        (plait.ServerError, "gemini", 500, {}, b"\xff\xfe"),
        (plait.BadRequestError, "gemini", 418, {}, ""),
        (plait.NotFoundError, "gemini", 404, {}, '[{"error":{"code":404,"message":"x"}}]'),
    ],
    ids=[
        "status", "words", "words of a known type", "type", "AWS header", "AWS before another wire", "HTML",
        "no text", "empty", "array",
    ],
)  # fmt: skip
def test_class(
    expected: type[plait.ProviderError], wire: str, status: int, headers: dict[str, str], body: bytes | str
) -> None:
    """The class comes from the code, the words or the status; the status stays a fact of the error."""
    error = plait.read_error(wire, status, headers, body)
    assert type(error) is expected
    assert error.status == status
    assert error.message


def _refusal(message: str, kind: str = "invalid_request_error") -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}})


@pytest.mark.parametrize(
    ("expected", "wire", "status", "body"),
    [
        (
            plait.ContentFilterError, "anthropic-messages", 400,
            _refusal("Output blocked by content filtering policy"),
        ),
        (
            plait.ContentFilterError, "openai-chat", 400,
            _refusal("The prompt was filtered due to our content management policy."),
        ),
        (
            plait.ContentFilterError, "openai-responses", 400,
            _refusal("It was rejected as a result of our safety system."),
        ),
        (plait.ContentFilterError, "openai-chat", 400, _refusal("Flagged as violating our usage policy.")),
        (plait.BadRequestError, "openai-chat", 400, _refusal("content_filter: expected a boolean")),
        (plait.PermissionDeniedError, "openai-chat", 403, _refusal("Ended: it violated our usage policy")),
        (
            plait.ContextWindowExceededError, "cohere-chat", 400,
            '{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}',
        ),
        (plait.RateLimitError, "bedrock-converse", 429, '{"message":"Too many tokens, please wait."}'),
        (plait.PermissionDeniedError, "anthropic-messages", 400, _refusal("Your credit balance is too low.")),
        (plait.OverloadedError, "openai-chat", 503, _refusal("The engine is overloaded.", "server_error")),
        (plait.OverloadedError, "openai-responses", 500, _refusal("We are overloaded.", "server_error")),
        (plait.OverloadedError, "anthropic-messages", 500, _refusal("Overloaded", "api_error")),
        (plait.OverloadedError, "mistral-chat", 500, '{"message":"This model is in high demand."}'),
        (plait.OverloadedError, "openai-chat", 429, '{"error":{"message":"The engine is overloaded"}}'),
        (plait.ServerError, "openai-chat", 503, _refusal("Something broke.", "server_error")),
        (plait.BadRequestError, "openai-chat", 400, _refusal("the function f is overloaded")),
    ],
    ids=[
        "blocked", "filtered", "rejected", "flagged", "of a filter, but no refusal", "of an account",
        "too many tokens", "a rate of tokens", "no credit", "overloaded", "overloaded, another wire",
        "overloaded, another type", "high demand", "overloaded, as a rate limit", "a server error",
        "overloaded, but a request",
    ],
)  # fmt: skip
def test_words(expected: type[plait.ProviderError], wire: str, status: int, body: str) -> None:
    """Where type and status say no more than that it failed, the words tell what the matter is."""
    assert type(plait.read_error(wire, status, {}, body)) is expected


MONEY = [
    '{"error":{"message":"Insufficient credits","code":402}}',
    '{"message":"Insufficient Balance"}',
    "{}",
    "",
]


@pytest.mark.parametrize("body", MONEY, ids=["with a code", "in words", "an empty document", "no body"])
@pytest.mark.parametrize(
    ("expected", "wire"),
    [
        (plait.RateLimitError, "openai-chat"),
        (plait.RateLimitError, "openai-responses"),
        (plait.PermissionDeniedError, "anthropic-messages"),
        (plait.PermissionDeniedError, "cohere-chat"),
        (plait.PermissionDeniedError, "ollama-chat"),
    ],
)
def test_no_money(expected: type[plait.ProviderError], wire: str, body: str) -> None:
    """HTTP 402 is one class with each wire, whatever stands in its body: a quota, or a matter of billing."""
    assert type(plait.read_error(wire, 402, {}, body)) is expected


def test_facts() -> None:
    """Code, request id and time to wait are attributes; headers are read in any case."""
    error = plait.read_error(
        "openai-chat",
        429,
        {"X-Request-Id": "req_1", "Retry-After": "3"},
        '{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
        provider="groq",
    )
    assert ("groq", "rate_limit_exceeded", "req_1", 3.0) == (
        error.provider, error.code, error.request_id, error.retry_after,
    )  # fmt: skip
    assert str(error).startswith("groq: slow down")


def test_an_html_page_is_named_by_its_title() -> None:
    """A page from a proxy is not quoted whole."""
    error = plait.read_error("gemini", 502, {}, "<html><title> Bad gateway </title>" + "x" * 9999)
    assert error.message == "HTTP 502 with an HTML page: Bad gateway"


@pytest.mark.parametrize(
    ("expected", "headers"),
    [
        (None, {}),
        (1.5, {"retry-after": "1.5"}),
        (0.25, {"retry-after-ms": "250"}),
        (1.0, {"retry-after-ms": "0", "retry-after": "1"}),
        (2.0, {"retry-after-ms": "500", "retry-after": "2"}),
        (30.0, {"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}),
        (None, {"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT"}),
        (None, {"retry-after": "Mon, 02 Nov 2026 09:00:00 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}),
        (None, {"retry-after": "soon"}),
        (None, {"retry-after": "-1"}),
        (360.0, {"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "12ms"}),
        (1.0, {"retry-after": "1", "x-ratelimit-reset-requests": "6m0s"}),
        (None, {"x-ratelimit-reset": "1762000000000"}),
    ],
)
def test_retry_after(expected: float | None, headers: dict[str, str]) -> None:
    """The longest valid wait; a date counts from the response's own, and zero says nothing."""
    assert retry_after(headers) == expected


def test_an_unknown_wire_is_named() -> None:
    """As everywhere."""
    with pytest.raises(plait.UnknownWireError, match="nope"):
        plait.read_error("nope", 400, {}, "")
