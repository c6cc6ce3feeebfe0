"""Which wire format a response is in, by its URL or its first and last bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from re import Pattern

GUESSED_BYTES = 4096
"""How much of a body's start and end is looked at: a first frame, or the fields of a whole answer."""

URI_PATTERNS: Mapping[str, Pattern[str]] = {
    "mistral-chat": re.compile(
        r"//(?:api|codestral)\.mistral\.ai/.*/(?:chat|agents|fim)/completions$"
        r"|/publishers/mistralai/.*:(?:streamRawPredict|rawPredict)$"
    ),
    "openai-chat": re.compile(r"/chat/completions$"),
    "openai-responses": re.compile(r"/responses(?:/(?!input_tokens$|compact$)[^/]+)?$"),
    "anthropic-messages": re.compile(
        r"/v1/messages$"
        r"|/publishers/anthropic/.*:(?:streamRawPredict|rawPredict)$"
        r"|/model/[^?]*anthropic[^?]*/invoke(?:-with-response-stream)?$"
    ),
    "gemini": re.compile(r":(?:streamGenerateContent|generateContent)$"),
    "bedrock-converse": re.compile(r"/model/.+/converse(?:-stream)?$"),
    "cohere-chat": re.compile(r"/v2/chat$"),
    "ollama-chat": re.compile(r"/api/chat$"),
}
"""Wire formats by the end of a URL's path; the first that fits counts.

Gateways and clouds keep the path's end: Azure's `/openai/deployments/d/chat/completions`, Vertex's
`/publishers/google/models/m:generateContent`, OpenRouter's `/api/v1/responses`. Of Bedrock's two ways to call
a model, `converse` is a wire format of its own, and `invoke` speaks the model's.
"""

OTHER_URIS: Pattern[str] = re.compile(
    r"/models(?:/[^/:]+)?$"
    r"|/(?:embeddings|embed|files|uploads|batches|moderations|images|audio|rerank|tokenize|detokenize|count_tokens"
    r"|input_tokens|input_items|fine_tuning|vector_stores|conversations|threads|interactions)(?:/|$)"
    r"|:(?:countTokens|embedContent|batchEmbedContents)$"
)
"""Paths of what providers serve beside answers. Bodies of these may look like one, and hold several."""

BODY_PATTERNS: Mapping[str, Pattern[bytes]] = {
    "openai-responses": re.compile(rb'"type"\s*:\s*"response\.|"object"\s*:\s*"response"'),
    "anthropic-messages": re.compile(
        rb'"type"\s*:\s*"(?:message_start|message)"'
        rb"|eyJ0eXBlIjoibWVzc2FnZV9zdGFydCI"  # {"type":"message_start" in base64, as Bedrock sends it
    ),
    "mistral-chat": re.compile(  # its ids are bare hex, and its models' names have no maker before them
        rb'\A(?=.*"id"\s*:\s*"[0-9a-f]{32}")(?=.*"object"\s*:\s*"chat\.completion)'
        rb'(?=.*"model"\s*:\s*"(?:mistral|ministral|magistral|codestral|devstral|pixtral|voxtral)[^"/]*")',
        re.DOTALL,
    ),
    "openai-chat": re.compile(rb'"object"\s*:\s*"chat\.completion(?:\.chunk)?"'),
    "cohere-chat": re.compile(rb'"type"\s*:\s*"message-start"|"usage"\s*:\s*\{\s*"billed_units"'),
    "gemini": re.compile(rb'"candidates"\s*:\s*\[|"promptFeedback"\s*:|"usageMetadata"\s*:'),
    "bedrock-converse": re.compile(
        rb':event-type\x07..messageStart|"output"\s*:\s*\{\s*"message"|"stopReason"\s*:', re.DOTALL
    ),
    "ollama-chat": re.compile(rb'"done"\s*:\s*(?:true|false)'),
}
"""Wire formats by what the start or the end of a body says; the first that fits counts."""


def guess_wire(uri: str | None, body: bytes) -> str | None:
    """The wire format that a URL, or else a body, speaks of; None when neither does.

    None as well for a URL of what is no answer to a chat: embeddings, lists of models, token counts.
    """
    path = re.split(r"[?#]", uri or "", maxsplit=1)[0].rstrip("/")
    for wire, uri_pattern in URI_PATTERNS.items():
        if uri_pattern.search(path):
            return wire
    if OTHER_URIS.search(path):
        return None
    seen = body if len(body) <= 2 * GUESSED_BYTES else body[:GUESSED_BYTES] + b"\n" + body[-GUESSED_BYTES:]
    for wire, body_pattern in BODY_PATTERNS.items():
        if body_pattern.search(seen):
            return wire
    return None
