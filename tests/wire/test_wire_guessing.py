"""A recording of anyone's says by its URL, or else by its body, which wire format it is in."""

from __future__ import annotations

import pytest

from plait.cassettes import guess_wire


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai-chat"),
        ("https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.openai.com/v1/responses/resp_1?stream=true", "openai-responses"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic-messages"),
        (
            "https://eu-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
            "anthropic-messages",
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/eu.anthropic.claude-v1%3A0/invoke-with-response-stream",
            "anthropic-messages",
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v1:0/invoke",
            "anthropic-messages",
        ),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/meta.llama/invoke", None),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn:aws:bedrock:us-east-1:1:profile/p/converse",
            "bedrock-converse",
        ),
        (
            "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict",
            "mistral-chat",
        ),
        (
            "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
            "gemini",
        ),
        ("https://l-aiplatform.googleapis.com/v1/p/endpoints/openapi/chat/completions", "openai-chat"),
        ("https://openrouter.ai/api/v1/responses", "openai-responses"),
        ("https://x.services.ai.azure.com/anthropic/v1/messages", "anthropic-messages"),
        ("https://codestral.mistral.ai/v1/fim/completions", "mistral-chat"),
        ("https://api.mistral.ai/v1/agents/completions", "mistral-chat"),
        ("https://api.mistral.ai/v1/chat/completions", "mistral-chat"),
        ("https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream", "bedrock-converse"),
        ("https://api.cohere.com/v2/chat", "cohere-chat"),
        ("http://localhost:11434/api/chat", "ollama-chat"),
        ("https://api.openai.com/v1/models", None),
        ("https://api.anthropic.com/v1/messages/count_tokens", None),
        ("https://api.openai.com/v1/responses/input_tokens", None),
        ("https://generativelanguage.googleapis.com/v1beta/models/m:countTokens", None),
    ],
)
def test_by_url(uri: str, expected: str | None) -> None:
    """The end of the path decides; query and host seldom matter."""
    assert expected == guess_wire(uri, b"")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'data: {"type": "message_start"}\n\n', "anthropic-messages", id="anthropic stream"),
        pytest.param(b'{"id": "m", "type": "message"}', "anthropic-messages", id="anthropic body"),
        pytest.param(b'data: {"type":"response.created"}\n\n', "openai-responses", id="responses stream"),
        pytest.param(b'{"object":"response"}', "openai-responses", id="responses body"),
        pytest.param(b'data: {"object":"chat.completion.chunk"}\n\n', "openai-chat", id="chat stream"),
        pytest.param(b'{"object":"chat.completion"}', "openai-chat", id="chat body"),
        pytest.param(b'{"candidates": [', "gemini", id="gemini"),
        pytest.param(b'{"message":{"content":"a"},"done":false}\n', "ollama-chat", id="ollama"),
        pytest.param(
            b'{"model":"mistral-small","id":"0123456789abcdef0123456789abcdef","object":"chat.completion"}',
            "mistral-chat",
            id="mistral body",
        ),
        pytest.param(
            b'{"id":"0123456789abcdef0123456789abcdef","object":"chat.completion","model":"mistralai/m"}',
            "openai-chat",
            id="mistral elsewhere",
        ),
        pytest.param(
            b'{"object":"response","output":[{"type":"message"}]}', "openai-responses", id="responses message"
        ),
        pytest.param(b'data: {"type":"message-start"}\n\n', "cohere-chat", id="cohere stream"),
        pytest.param(
            b'{"message":{"content":"' + b"a" * 9000 + b'"},"usage":{"billed_units":{}}}',
            "cohere-chat",
            id="said at the end",
        ),
        pytest.param(b'{"output":{"message":{}},"stopReason":"end_turn"}', "bedrock-converse", id="converse"),
        pytest.param(
            b'{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCIsIm0iOjF9"}', "anthropic-messages", id="invoke stream"
        ),
        pytest.param(b"<html>", None, id="page"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_by_body(body: bytes, expected: str | None) -> None:
    """The first frame decides where the URL says nothing."""
    assert expected == guess_wire("https://gateway.example/llm", body)
    assert expected == guess_wire(None, body)


@pytest.mark.parametrize("path", ["embeddings", "models", "batches/b1/results", "files/f1/content"])
def test_other_endpoints(path: str) -> None:
    """What is served beside answers is none, even when it holds some."""
    body = b'{"response": {"object": "chat.completion"}}'
    assert "openai-chat" == guess_wire("https://llm.example/v1/answers", body)
    assert guess_wire(f"https://llm.example/v1/{path}", body) is None
