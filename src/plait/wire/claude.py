"""What Claude models take by their version, on every wire that serves them.

Sources: https://platform.claude.com/docs/en/build-with-claude/extended-thinking,
https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and
https://platform.claude.com/docs/en/build-with-claude/effort, as of 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plait.wire.options import Effort, Reasoning
from plait.wire.plan import Notes

if TYPE_CHECKING:
    from plait.wire.requests import Asked

THINKING_DOCS = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
EFFORT_DOCS = "https://platform.claude.com/docs/en/build-with-claude/effort"
MIGRATION_DOCS = "https://platform.claude.com/docs/en/about-claude/models/migration-guide"

MIN_BUDGET = 1024
"""The least tokens that thinking may be given."""

LAST_WITHOUT_ADAPTIVE = (4, 5)
"""Up to this version thinking takes a budget only."""

FIRST_WITHOUT_BUDGET = (4, 7)
"""From this version on thinking is adaptive only, and sampling cannot be set."""

FIRST_WITHOUT_PREFILL = (4, 6)
"""From this version on a request may not end in the beginning of the answer."""

_BUDGETS: Mapping[Effort, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 24576,
    "max": 32000,
}
"""Our own scale: what an effort is worth where a model takes a budget only."""

_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?!\d)")


@dataclass(frozen=True, slots=True)
class Thinking:
    """`thinking` as it goes into the body, and the effort beside it; None: not sent."""

    config: dict[str, Any] | None = None
    effort: str | None = None

    @property
    def mode(self) -> str | None:
        """`enabled` (with a budget), `adaptive`, or None when the model is not asked to think."""
        mode: str | None = self.config["type"] if self.config else None
        return None if mode == "disabled" else mode

    @property
    def budget(self) -> int:
        """How many tokens the thinking may take; 0 when nothing says."""
        return self.config.get("budget_tokens", 0) if self.config else 0


def version(model: str | None) -> tuple[int, int] | None:
    """The version in a Claude model's id (`claude-opus-4-6`: (4, 6)); None when the id has none."""
    found = _VERSION.search(model or "")
    return (int(found[1]), int(found[2] or 0)) if found else None


def thinking(wanted: Reasoning | None, model: str | None, limit: int | None, notes: Notes) -> Thinking:
    """What is sent for the reasoning that was asked for.

    Args:
        wanted: None when nothing was asked
        model: the model's id
        limit: the output limit that was asked for; a budget must stay below it
        notes: where what was changed is noted
    """
    if wanted is None:
        return Thinking()
    made = version(model)
    effort, budget = wanted.effort, wanted.budget_tokens
    if wanted.enabled is False or effort == "none" or budget == 0:
        if wanted.summary is not None:
            notes.add("dropped", "reasoning.summary", "thinking is off", THINKING_DOCS)
        return Thinking({"type": "disabled"}, _effort(effort, made, notes) if effort != "none" else None)
    if not wanted.enabled and effort is None and budget is None:
        if wanted.summary is not None:
            notes.add("dropped", "reasoning.summary", "nothing asks the model to think", THINKING_DOCS)
        return Thinking()
    if budget is not None and made is not None and made >= FIRST_WITHOUT_BUDGET:
        notes.add(
            "dropped", "reasoning.budget_tokens", "this model thinks adaptively and takes no budget",
            THINKING_DOCS,
        )  # fmt: skip
        budget = None
    if budget is None and made is not None and made <= LAST_WITHOUT_ADAPTIVE:
        budget, effort = _budget_for(effort, limit, notes), None
    config: dict[str, Any] | None = {"type": "adaptive"}
    if budget is not None:
        config = _enabled(budget, limit, notes)
    if config is not None and wanted.summary is not None:
        config["display"] = "omitted" if wanted.summary == "none" else "summarized"
        if wanted.summary in ("concise", "detailed"):
            notes.add(
                "clamped", "reasoning.summary", "only summarized or omitted can be chosen", THINKING_DOCS
            )
    return Thinking(config, _effort(effort, made, notes))


def fit_history(thinking: Thinking, unthought: bool, notes: Notes) -> Thinking:
    """What can be sent after this history.

    With a budget, thinking is refused where the calls that are answered now came without it (`unthought`).
    """
    if thinking.mode != "enabled" or not unthought:
        return thinking
    why = (
        "the tool calls that are answered here came without signed thinking: Claude cannot start to think now"
    )
    notes.add("dropped", "reasoning", why, THINKING_DOCS)
    return Thinking(None, thinking.effort)


def _budget_for(effort: Effort | None, limit: int | None, notes: Notes) -> int:
    budget = _BUDGETS[effort or "medium"]
    if limit is not None:
        budget = max(min(budget, limit // 2), MIN_BUDGET)
    if effort is None:
        notes.add("added", "reasoning.budget_tokens", f"this model needs a budget: {budget}", THINKING_DOCS)
    else:
        notes.add(
            "demoted", "reasoning.effort", f"this model takes a budget instead: {budget} tokens", EFFORT_DOCS
        )
    return budget


def _enabled(budget: int, limit: int | None, notes: Notes) -> dict[str, Any] | None:
    what = "reasoning.budget_tokens"
    if limit is not None and limit <= MIN_BUDGET:
        why = f"max_output_tokens is {limit}, and thinking alone needs {MIN_BUDGET}"
        notes.add("dropped", "reasoning", why, THINKING_DOCS)
        return None
    if limit is not None and budget >= limit:
        notes.add(
            "clamped", what, f"{budget} to {limit - 1}: it must be less than max_output_tokens", THINKING_DOCS
        )
        budget = limit - 1
    if budget < MIN_BUDGET:
        notes.add("clamped", what, f"{budget} to {MIN_BUDGET}, the least there is", THINKING_DOCS)
        budget = MIN_BUDGET
    return {"type": "enabled", "budget_tokens": budget}


def _effort(effort: Effort | None, made: tuple[int, int] | None, notes: Notes) -> str | None:
    if effort is None:
        return None
    if made is not None and made <= LAST_WITHOUT_ADAPTIVE:
        notes.add("dropped", "reasoning.effort", "this model takes a budget only", EFFORT_DOCS)
        return None
    if effort not in _EFFORTS:
        notes.add("clamped", "reasoning.effort", f"{effort} to low, the least there is", EFFORT_DOCS)
        return "low"
    return effort


def sampling(asked: Asked, thinking: Thinking, notes: Notes) -> None:
    """Leave out what cannot be set while the model thinks, and say what a model will refuse."""
    made = version(asked.options.model)
    for name in ("temperature", "top_p", "top_k"):
        if name not in asked:
            continue
        if thinking.mode is not None:
            asked.drop(name, "it cannot be set while the model thinks", THINKING_DOCS)
        elif made is not None and made >= FIRST_WITHOUT_BUDGET:
            notes.add("will_be_refused", name, "this model's sampling cannot be set", MIGRATION_DOCS)
