"""What a provider's own tools left in a history: calls and results go back in pairs or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plait.messages import ProviderPart
from plait.wire.history import Turn


def halves(
    turns: Sequence[Turn],
    calls: Callable[[ProviderPart], str | None],
    answers: Callable[[ProviderPart], str | None],
) -> Iterator[tuple[str, str]]:
    """Path and fault of each call without its result, and of each result without its call before it.

    A call without its result is still open, and no fault, as long as nothing but results of client tools
    comes after its turn.

    Args:
        turns: without those of system text
        calls: the id of the call that a part is, else None
        answers: the id of the call that a part is the result of, else None
    """
    parts = [
        (at, item, path)
        for at, turn in enumerate(turns)
        for item, path in zip(turn.items, turn.paths, strict=True)
        if isinstance(item, ProviderPart)
    ]
    answered = {answers(part) for _, part, _ in parts}
    called: set[str] = set()
    for at, part, path in parts:
        call, answer = calls(part), answers(part)
        if call is not None:
            called.add(call)
            if call not in answered and any(turn.role != "tool" for turn in turns[at + 1 :]):
                yield path, "the call of a server tool without its result is refused"
        elif answer is not None and answer not in called:
            yield path, "the result of a server tool without its call is refused"
