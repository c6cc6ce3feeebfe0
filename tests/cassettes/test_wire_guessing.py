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
        ("https://api.mistral.ai/v1/chat/completions", "mistral-chat"),
        ("https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream", "bedrock-converse"),
        ("https://api.cohere.com/v2/chat", "cohere-chat"),
        ("http://localhost:11434/api/chat", "ollama-chat"),
        ("https://api.openai.com/v1/models", None),
        ("https://api.anthropic.com/v1/messages/count_tokens", None),
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
        pytest.param(b"<html>", None, id="page"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_by_body(body: bytes, expected: str | None) -> None:
    """The first frame decides where the URL says nothing."""
    assert expected == guess_wire("https://gateway.example/llm", body)
    assert expected == guess_wire(None, body)
