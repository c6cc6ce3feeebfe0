"""What Ollama's names mean in the vocabulary. Sources: the server's `llm.DoneReason` and `api.StatusError`
(https://github.com/ollama/ollama), https://docs.ollama.com/api/errors and the `ollama` SDK 0.6.3 types, as of
2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.errors import ProviderError
from plait.events import FinishReason, TokenUsage
from plait.wire.ollama_chat import wire

FORMAT = "ollama-thinking"
"""Format of what came as `thinking`, which may go back in that field."""

FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "load": "other",  # an empty request, which only loads the model
    "unload": "other",
}

ERRORS: Mapping[str, type[ProviderError]] = {}
"""Ollama's errors have no code: their HTTP status and words tell them apart."""


def token_usage(line: wire.Line) -> TokenUsage | None:
    """The counts; None without any. The output's includes thinking, and tool calls.

    Older servers leave out the prompt's count when the whole prompt was cached.
    """
    prompt, output = _count(line.prompt_eval_count), _count(line.eval_count)
    return None if prompt is output is None else TokenUsage(prompt or 0, output or 0)


def _count(value: int | None) -> int | None:
    return None if value is None or value < 0 else value
