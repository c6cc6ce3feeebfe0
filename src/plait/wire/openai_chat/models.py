"""What single models refuse, where it is documented: warnings, because only the provider can know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

_OPENAI = frozenset({None, "openai", "azure"})
_SAMPLING = ("temperature", "top_p")
_UNSUPPORTED = "400 'Unsupported parameter', recorded"
_TOOLS = "this model takes function tools here only with reasoning effort 'none'; use openai-responses"
_TOOLS_SOURCE = "https://github.com/BerriAI/litellm/issues/34569"


@dataclass(frozen=True, slots=True)
class ModelRule:
    """Models that refuse something.

    Attributes:
        dialects: whose models
        models: pattern of the model's name, without its vendor
        what: options, or `system` text, or `forced_choice` of a tool
        why, source: for the note
        reasoning: always, only when reasoning is `asked` for, or unless it is turned `off`
        streamed: only in streams (True), or only outside of them (False)
        taken: a value that is taken nevertheless
    """

    dialects: frozenset[str | None]
    models: str
    what: tuple[str, ...]
    why: str
    source: str
    reasoning: Literal["always", "asked", "unless off"] = "always"
    streamed: bool | None = None
    taken: Any = None


RULES: tuple[ModelRule, ...] = (
    ModelRule(
        _OPENAI, r"o\d.*|gpt-5(?!\.\d|.*chat).*", _SAMPLING, "reasoning models do not take it", _UNSUPPORTED
    ),
    ModelRule(
        _OPENAI, r"gpt-5\.[1-5](?!\d).*", _SAMPLING, "this model does not take it while it reasons",
        _UNSUPPORTED, "asked",
    ),
    ModelRule(
        _OPENAI, r"gpt-(5\.([6-9]|\d\d)|[6-9]).*", _SAMPLING, "this model does not take it while it reasons",
        _UNSUPPORTED, "unless off",
    ),
    ModelRule(_OPENAI, r"gpt-5\.[45](?!\d).*", ("tools",), _TOOLS, _TOOLS_SOURCE, "asked"),
    ModelRule(_OPENAI, r"gpt-(5\.([6-9]|\d\d)|[6-9]).*", ("tools",), _TOOLS, _TOOLS_SOURCE, "unless off"),
    ModelRule(
        _OPENAI, r"(?!.*search).+", ("web_search",), "only the search models take it",
        "400 on `web_search_options`, recorded",
    ),
    ModelRule(
        _OPENAI, r"o1-(mini|preview).*", ("system",), "this model takes no system text",
        "400 unsupported_value on `messages[0].role`, recorded",
    ),
    ModelRule(
        frozenset({"xai"}), r"grok-(3-mini|4)(?!.*non-reasoning).*",
        ("stop", "presence_penalty", "frequency_penalty"), "reasoning models do not take it",
        "https://docs.x.ai/docs/guides/reasoning",
    ),
    ModelRule(
        frozenset({"xai"}), r"(?!grok-3-mini).+", ("reasoning",), "only grok-3-mini takes an effort here",
        "https://docs.x.ai/docs/guides/reasoning",
    ),
    ModelRule(
        frozenset({"xai"}), r".+", ("web_search",), "search is being shut off here; use openai-responses",
        "https://docs.x.ai/docs/guides/live-search",
    ),
    ModelRule(
        frozenset({"moonshot"}), r".*thinking.*|kimi-k2\.[5-9].*", ("temperature",),
        "400 'invalid temperature: only 1 is allowed'", "https://platform.kimi.ai/docs/api/chat", taken=1,
    ),
    ModelRule(
        frozenset({"deepseek", "moonshot"}), r".+", ("forced_choice",),
        "while it thinks, the model cannot be made to call a tool", "400, recorded", "asked",
    ),
    ModelRule(
        frozenset({"deepseek", "moonshot"}), r".*(thinking|reasoner).*", ("forced_choice",),
        "while it thinks, the model cannot be made to call a tool", "400, recorded", "unless off",
    ),
    ModelRule(
        frozenset({"alibaba"}), r"qwen3-\d+(\.\d+)?b.*", ("model",),
        "thinking needs a stream: pass reasoning=False", "400 invalid_parameter_error", "unless off", False,
    ),
    ModelRule(
        frozenset({"groq"}), r"(?!.*compound).+", ("web_search",), "only the compound models search",
        "https://console.groq.com/docs/agentic-tooling",
    ),
)  # fmt: skip


def refused(
    dialect: str | None, model: str | None, asked: dict[str, Any], reasoning: bool | None, streamed: bool
) -> Iterator[tuple[str, str, str]]:
    """What the model will refuse of what is `asked` for: the thing, why, and the source.

    Args:
        reasoning: asked for (True), turned off (False), or neither
    """
    if model is None:
        return
    name = model.rpartition("/")[2]
    for rule in RULES:
        if dialect not in rule.dialects or not re.fullmatch(rule.models, name):
            continue
        if rule.reasoning == "asked" and not reasoning:
            continue
        if rule.reasoning == "unless off" and reasoning is False:
            continue
        if rule.streamed is not None and rule.streamed != streamed:
            continue
        for what in rule.what:
            if what in asked and (rule.taken is None or asked[what] != rule.taken):
                yield what, rule.why, rule.source
