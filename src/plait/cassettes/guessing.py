"""Which wire format a recorded response is in, when its file does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from re import Pattern

GUESSED_BYTES = 4096
"""How much of a body is looked at: the first frame of every wire says what it is."""

URI_PATTERNS: Mapping[str, Pattern[str]] = {
    "mistral-chat": re.compile(r"//api\.mistral\.ai/.*/chat/completions$"),
    "openai-chat": re.compile(r"/chat/completions$"),
    "openai-responses": re.compile(r"/responses(/[^/]+)?$"),
    "anthropic-messages": re.compile(
        r"/v1/messages$|/publishers/anthropic/.*:(streamRawPredict|rawPredict)$"
    ),
    "gemini": re.compile(r":(streamGenerateContent|generateContent)$"),
    "bedrock-converse": re.compile(r"/model/[^/]+/converse(-stream)?$"),
    "cohere-chat": re.compile(r"/v2/chat$"),
    "ollama-chat": re.compile(r"/api/chat$"),
}
"""Wire formats by the end of a URL's path; the first that fits counts."""

BODY_PATTERNS: Mapping[str, Pattern[bytes]] = {
    "anthropic-messages": re.compile(rb'"type"\s*:\s*"(message_start|message)"'),
    "openai-responses": re.compile(rb'"type"\s*:\s*"response\.|"object"\s*:\s*"response"'),
    "openai-chat": re.compile(rb'"object"\s*:\s*"chat\.completion(\.chunk)?"'),
    "cohere-chat": re.compile(rb'"type"\s*:\s*"message-start"'),
    "gemini": re.compile(rb'"candidates"\s*:\s*\['),
    "bedrock-converse": re.compile(rb":event-type\x07..messageStart", re.DOTALL),
    "ollama-chat": re.compile(rb'"done"\s*:\s*(true|false)'),
}
"""Wire formats by what the first frame of a body says; the first that fits counts."""


def guess_wire(uri: str | None, body: bytes) -> str | None:
    """The wire format that a URL, or else the start of a body, speaks of; None when neither does."""
    path = re.split(r"[?#]", uri or "", maxsplit=1)[0].rstrip("/")
    for wire, uri_pattern in URI_PATTERNS.items():
        if uri_pattern.search(path):
            return wire
    start = body[:GUESSED_BYTES]
    for wire, body_pattern in BODY_PATTERNS.items():
        if body_pattern.search(start):
            return wire
    return None
