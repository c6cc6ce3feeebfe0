"""Events and messages as text for people. Nothing a provider sent reaches the terminal as a control."""

from __future__ import annotations

import json
import os
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from plait.events import Event, TokenUsage

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

PIPED_WIDTH = 120
"""Columns where there is no terminal to ask and COLUMNS is not set."""

TEXT_SHOWN = 2000
"""Characters of a text that a summary shows."""

_JOINERS = frozenset("\u200d\ufe0f")
_WITHOUT_KEY = frozenset({"content", "arguments_delta"})
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"})


class Terminal(Console):
    """A rich console for standard output: colours only on a terminal and without NO_COLOR."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=True)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = PIPED_WIDTH

    def on_broken_pipe(self) -> None:
        """Leave it to the command, which ends quietly."""
        raise BrokenPipeError


def printable(text: str, keep: str = "") -> str:
    """`text` with controls, separators and direction marks as escapes, except the characters in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char in keep or char in _JOINERS or unicodedata.category(char) not in _INVISIBLE
        else char.encode("unicode_escape").decode()
        for char in text
    )


def fitted(text: str, width: int) -> str:
    """`text` cut to `width` columns, with an ellipsis when something is missing."""
    text = text[: 4 * width + 4]  # a column holds a character and few joiners
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)) + "…"


def fitted_both_ends(text: str, width: int) -> str:
    """`text` cut to `width` columns in its middle: what is new in a payload is often near its end."""
    if len(text) <= 4 * width and cell_len(text) <= width:
        return text
    head = set_cell_size(text[:width], width // 3)
    tail = text[-width:]
    while tail and cell_len(tail) > width - width // 3 - 1:
        tail = tail[1:]
    return f"{head}…{tail}"


def compact_json(value: Any) -> str:
    """JSON in one line, as short as may be, safe to print."""
    return printable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def details(event: Event) -> str:
    """What an event says beside its type, in one line; ids last."""
    known = event.to_dict()
    names = [name for name in known if name not in ("type", "role", "index")]
    fields = {name: known[name] for name in sorted(names, key=lambda name: name.endswith("_id"))}
    return " ".join(
        compact_json(value) if name in _WITHOUT_KEY else f"{name}={compact_json(value)}"
        for name, value in fields.items()
    )


def shortened(text: str) -> str:
    """A text for a summary: whole, or its start and how long it is."""
    if len(text) <= TEXT_SHOWN:
        return printable(text, keep="\n\t")
    return f"{printable(text[:TEXT_SHOWN], keep=chr(10))}… ({len(text):,} characters)"


def usage_words(usage: TokenUsage) -> str:
    """The counts that are known, in words."""
    parts = (
        ("cache read", usage.cache_read_tokens),
        ("cache write", usage.cache_write_tokens),
    )
    cached = ", ".join(f"{name} {count:,}" for name, count in parts if count is not None)
    reasoning = f" (reasoning {usage.reasoning_tokens:,})" if usage.reasoning_tokens is not None else ""
    return (
        f"input {usage.input_tokens:,}{f' ({cached})' if cached else ''}, "
        f"output {usage.output_tokens:,}{reasoning}, total {usage.total_tokens:,}"
    )


def summary(message: AssistantMessage, unknown: Counter[str]) -> list[tuple[str, str]]:
    """What a response came to: label and text of each thing there is to say."""
    rows: list[tuple[str, str]] = []
    if message.reasoning_text:
        rows.append(("reasoning", shortened(message.reasoning_text)))
    if message.text:
        rows.append(("text", shortened(message.text)))
    for call in message.tool_calls:
        cut = "" if call.complete else "  INCOMPLETE: never run"
        rows.append(("tool call", f"{printable(call.tool_name)} {shortened(call.arguments)}{cut}"))
    rows.append(("usage", usage_words(message.token_usage) if message.token_usage else "not reported"))
    rows.append(("finish", finish_words(message.finish_reason, message.raw_finish_reason)))
    counts = [f"{printable(name)} ({count})" for name, count in unknown.most_common()]
    rows.append(("unknown", ", ".join(counts) or "nothing"))
    return rows


def finish_words(reason: str | None, raw: str | None) -> str:
    """The finish reason, and the provider's own word where that differs."""
    if reason is None:
        return "none: the response has not ended"
    return f"{reason} ({printable(raw)})" if raw and raw != reason else reason
