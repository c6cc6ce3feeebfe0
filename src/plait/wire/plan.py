"""What a target will make of a request, before a token is paid for: the body, and notes on what changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

NoteKind: TypeAlias = Literal["dropped", "clamped", "renamed", "demoted", "moved", "added", "will_be_refused"]


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that the request does not say as it was asked.

    Attributes:
        kind: `dropped` (not sent), `clamped` (a number or list cut to a limit), `renamed` (an id or name the
            target does not take), `demoted` (sent as plain text or in a weaker form), `moved` (sent
            elsewhere), `added` (put in because the target demands it), `will_be_refused` (sent, and the
            target says no)
        what: the thing: an option's name, or a part such as `messages[3].content[0]`
        why: the target's rule, in words
        source: where the rule is written, when it is the provider's
    """

    kind: NoteKind
    what: str
    why: str
    source: str | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.kind.replace('_', ' ')}: {self.why}"


class Notes(list[Note]):
    """The notes of one plan, in the order they arose; the same note is kept once."""

    def add(self, kind: NoteKind, what: str, why: str, source: str | None = None) -> None:
        """Take a note."""
        note = Note(kind, what, why, source)
        if note not in self:
            self.append(note)


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """A request's JSON body, and what of the conversation and options it does not say as asked."""

    wire: str
    body: dict[str, Any]
    notes: list[Note] = field(default_factory=list)
