"""Providers: a name -> the wire format and dialect it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from plait.errors import UnknownWireError


class Target(NamedTuple):
    """Where a request goes: a wire format, its dialect, and the model's id there."""

    wire: str
    dialect: str | None
    model: str


_SPEAKS: Mapping[str, tuple[str, str]] = {
    "openai": ("openai-responses", "openai"),
    "azure": ("openai-chat", "azure"),
    "anthropic": ("anthropic-messages", "anthropic"),
    "bedrock": ("bedrock-converse", "bedrock"),
    "gemini": ("gemini", "google"),
    "vertex": ("gemini", "vertex"),
    "mistral": ("mistral-chat", "mistral"),
    "cohere": ("cohere-chat", "cohere"),
    "ollama": ("ollama-chat", "ollama"),
    **{
        name: ("openai-chat", name)
        for name in (
            "openrouter", "deepseek", "groq", "xai", "together", "fireworks", "perplexity", "cerebras",
            "huggingface", "moonshot", "alibaba", "zai", "vllm", "llamacpp", "lmstudio",
        )
    },
}  # fmt: skip

PROVIDERS: tuple[str, ...] = tuple(_SPEAKS)
"""The names of the providers that are known."""


def target(name: str) -> Target:
    """What `PROVIDER/MODEL` means, such as `anthropic/claude-sonnet-4-5`.

    Raises:
        UnknownWireError: not of that form, or no such provider; the message lists those there are
    """
    provider, slash, model = name.partition("/")
    if not (slash and model):
        raise UnknownWireError(f"expected PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5, got {name!r}")
    if provider not in _SPEAKS:
        raise UnknownWireError(f"unknown provider {provider!r}; the providers are {', '.join(PROVIDERS)}")
    wire, dialect = _SPEAKS[provider]
    return Target(wire, dialect, model)
