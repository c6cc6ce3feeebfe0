"""`additionalModelRequestFields`: what only one family of models knows.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html and, for Nova 2,
https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html (2026-11).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plait.wire import claude
from plait.wire.bedrock_converse.families import Family
from plait.wire.options import Reasoning
from plait.wire.plan import Notes

if TYPE_CHECKING:
    from plait.wire.requests import Asked

_NOVA_DOCS = "https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html"
_FIELD_DOCS = "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html"

_THREE = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
_TWO = {**_THREE, "medium": "high"}


@dataclass(slots=True)
class Extras:
    """The fields; the limit of output that goes with them; whether Claude thinks with a budget."""

    values: dict[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    thinks: bool = False


def model_fields(asked: Asked, family: Family, messages: list[dict[str, Any]], notes: Notes) -> Extras:
    """The fields for reasoning and top_k that the family has; what it has not is dropped with a note."""
    made = Extras(max_tokens=asked.take("max_output_tokens"))
    if family.name in (None, "anthropic"):
        _claude(made, asked, messages, notes)
        return made
    if "reasoning" in asked:
        _OTHERS.get(family.name or "", _none)(made, asked, asked.options.reasoning or Reasoning(), notes)
    if "top_k" in asked and family.name == "nova":
        made.values["inferenceConfig"] = {"topK": asked.take("top_k")}
    asked.drop("top_k", "this model has no such field", _FIELD_DOCS)
    return made


def _claude(made: Extras, asked: Asked, messages: list[dict[str, Any]], notes: Notes) -> None:
    thinking = claude.thinking(asked.take("reasoning"), asked.options.model, made.max_tokens, notes)
    answered = any("toolResult" in block for block in messages[-1]["content"])
    unthought = len(messages) < 2 or "reasoningContent" not in messages[-2]["content"][0]
    thinking = claude.fit_history(thinking, answered and unthought, notes)
    claude.sampling(asked, thinking, notes)
    if thinking.config:
        made.values["thinking"] = thinking.config
    if thinking.effort:
        made.values["output_config"] = {"effort": thinking.effort}
    if "top_k" in asked:
        made.values["top_k"] = asked.take("top_k")
    made.thinks = thinking.mode == "enabled"


def _nova(made: Extras, asked: Asked, wanted: Reasoning, notes: Notes) -> None:
    off = wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0
    if "nova-2" not in (asked.options.model or "").lower():
        asked.drop("reasoning", "only Nova 2 reasons", _NOVA_DOCS)
        return
    asked.take("reasoning")
    _only_effort(wanted, notes)
    if off:
        made.values["reasoningConfig"] = {"type": "disabled"}
        return
    effort = _effort(wanted, _THREE, notes)
    made.values["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": effort}
    if effort != "high":
        return
    why = "it cannot be set together with high effort"
    for name in ("temperature", "top_p", "top_k"):
        asked.drop(name, why, _NOVA_DOCS)
    if made.max_tokens is not None:
        made.max_tokens = None
        notes.add("dropped", "max_output_tokens", why, _NOVA_DOCS)


def _openai(made: Extras, asked: Asked, wanted: Reasoning, notes: Notes) -> None:
    _named(made, asked, wanted, "reasoning_effort", _THREE, notes)


def _qwen(made: Extras, asked: Asked, wanted: Reasoning, notes: Notes) -> None:
    _named(made, asked, wanted, "reasoning_config", _TWO, notes)


def _named(
    made: Extras, asked: Asked, wanted: Reasoning, name: str, scale: dict[str, str], notes: Notes
) -> None:
    asked.take("reasoning")
    _only_effort(wanted, notes)
    if wanted.enabled is False or wanted.effort == "none" or wanted.budget_tokens == 0:
        notes.add("dropped", "reasoning", "reasoning cannot be turned off here", _FIELD_DOCS)
    elif wanted.effort is not None:
        made.values[name] = _effort(wanted, scale, notes)


def _none(_made: Extras, asked: Asked, _wanted: Reasoning, _notes: Notes) -> None:
    asked.drop("reasoning", "this model's reasoning cannot be chosen", _FIELD_DOCS)


def _effort(wanted: Reasoning, scale: dict[str, str], notes: Notes) -> str:
    asked = wanted.effort or "medium"
    effort = scale[asked]
    if wanted.effort is None:
        notes.add("added", "reasoning.effort", f"an effort is required: {effort}", _FIELD_DOCS)
    elif effort != asked:
        notes.add("clamped", "reasoning.effort", f"{asked} to {effort}", _FIELD_DOCS)
    return effort


def _only_effort(wanted: Reasoning, notes: Notes) -> None:
    for name in ("budget_tokens", "summary"):
        if getattr(wanted, name) not in (None, 0):
            notes.add("dropped", f"reasoning.{name}", "this model takes an effort only", _FIELD_DOCS)


_OTHERS = {"nova": _nova, "openai": _openai, "qwen": _qwen}
