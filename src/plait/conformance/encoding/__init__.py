"""Answers as bytes: what a server of each wire format sends, streamed or not.

    from plait.conformance.encoding import ENCODERS, Answer, Text

    body = ENCODERS["openai-chat"].stream(Answer(parts=(Text(("Bon", "jour")),)))

An `Answer` holds text, reasoning, tool calls, usage and a finish reason: what every wire can say, more or
less. What a wire cannot say of it is left out; `Encoder.carried` tells what arrives.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.conformance.encoding import (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini,
    mistral_chat,
    ollama_chat,
    openai_chat,
    openai_responses,
)
from plait.conformance.encoding.answer import Answer, Limits, Part, Reasoning, Text, ToolCall
from plait.conformance.encoding.encoder import Document, Dump, Encoder

__all__ = [
    "ENCODERS",
    "Answer",
    "Document",
    "Dump",
    "Encoder",
    "Limits",
    "Part",
    "Reasoning",
    "Text",
    "ToolCall",
]

ENCODERS: Mapping[str, Encoder] = {
    module.ENCODER.wire: module.ENCODER
    for module in (
        openai_chat,
        openai_responses,
        anthropic_messages,
        bedrock_converse,
        gemini,
        cohere_chat,
        mistral_chat,
        ollama_chat,
    )
}
"""How each wire format is written."""
