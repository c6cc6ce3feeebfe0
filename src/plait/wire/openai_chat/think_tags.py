"""Reasoning that a server leaves in the answer text, between tags such as `<think>` and `</think>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


class ThinkTags:
    """Splits text, cut anywhere, into answer and reasoning. The tags themselves are dropped.

    Only a tail that may be the beginning of a tag is held back, and only that is looked at again, so the
    cost grows with the text. A closing tag without its opening one is answer text: where the prompt's
    template opened the block, nothing on the wire says so.

    Args:
        names: the tags' names, such as `["think"]`
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._opening = {f"<{name}>": f"</{name}>" for name in names}
        self._opens = re.compile("|".join(map(re.escape, sorted(self._opening, key=len, reverse=True))))
        self._closing: str | None = None
        self._held = ""

    def feed(self, text: str) -> Iterator[tuple[bool, str]]:
        """The pieces that are certain now, as (is reasoning, text). Empty ones are left out."""
        text = self._held + text
        self._held = ""
        position = 0
        while True:
            start, end = self._next_tag(text, position)
            if start < 0:
                break
            if start > position:
                yield self._closing is not None, text[position:start]
            self._closing = self._opening[text[start:end]] if self._closing is None else None
            position = end
        tags = self._opening if self._closing is None else (self._closing,)
        cut = _tail_start(text, position, tags)
        self._held = text[cut:]
        if cut > position:
            yield self._closing is not None, text[position:cut]

    def close(self) -> Iterator[tuple[bool, str]]:
        """What was held back turned out not to be a tag."""
        held, self._held = self._held, ""
        if held:
            yield self._closing is not None, held

    def _next_tag(self, text: str, position: int) -> tuple[int, int]:
        if self._closing is not None:
            start = text.find(self._closing, position)
            return start, start + len(self._closing)
        found = self._opens.search(text, position)
        return found.span() if found else (-1, -1)


def _tail_start(text: str, position: int, tags: Sequence[str] | dict[str, str]) -> int:
    """Where the longest end of `text` begins that is the beginning of a tag; its length if there is none."""
    start = max(position, len(text) - max(map(len, tags)) + 1)
    while (start := text.find("<", start)) >= 0:
        if any(tag.startswith(text[start:]) for tag in tags):
            return start
        start += 1
    return len(text)
