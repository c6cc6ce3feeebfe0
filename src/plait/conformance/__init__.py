"""The laws of the vocabulary as checks: of Plait's own wire formats, and of anyone's.

    from plait import conformance

    for breach in conformance.check("openai-chat", body):
        print(breach)

Every law takes a wire format's name and a response's bytes, reads them in many ways, and returns what is
broken, in words. It needs no test framework. docs/laws.md lists them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plait.conformance.chunking import chunking, partitions
from plait.conformance.content import ending, index, reasoning, text, tool_calls
from plait.conformance.cost import cost
from plait.conformance.frames import TERMINALS, Ending, Frame, Framing, Terminal, frames
from plait.conformance.incomplete import incomplete
from plait.conformance.law import Breach, Law
from plait.conformance.reading import MakeParser, ParserLike, Reading, Subject, read
from plait.conformance.round_trip import one_reading, round_trip, same_message
from plait.conformance.tolerance import SURPRISES, Surprise, tolerance

__all__ = [
    "LAWS",
    "SURPRISES",
    "TERMINALS",
    "Breach",
    "Ending",
    "Frame",
    "Framing",
    "Law",
    "MakeParser",
    "ParserLike",
    "Reading",
    "Surprise",
    "Terminal",
    "check",
    "chunking",
    "cost",
    "ending",
    "frames",
    "incomplete",
    "index",
    "one_reading",
    "partitions",
    "read",
    "reasoning",
    "round_trip",
    "same_message",
    "text",
    "tolerance",
    "tool_calls",
]

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        chunking, text, tool_calls, reasoning, ending, index, incomplete, one_reading, tolerance,
        round_trip, cost,
    )
}  # fmt: skip
"""Every law that reading must keep, by name. (Law 8 is about requests.)"""


def check(
    wire: str,
    body: bytes,
    laws: Iterable[str] | None = None,
    *,
    dialect: str | None = None,
    make_parser: MakeParser | None = None,
    **options: Any,
) -> list[Breach]:
    """What is broken of these laws when this body is read; an empty list when they all hold.

    Args:
        wire, body, dialect, make_parser, options: as for each law
        laws: names in `LAWS`; None means all but the slow ones

    Raises:
        KeyError: no such law, or the wire has no row in `TERMINALS`
        UnknownWireError: no such wire format, dialect or option
    """
    names = [name for name, law in LAWS.items() if not law.slow] if laws is None else list(laws)
    subject = Subject(wire, body, dialect=dialect, make_parser=make_parser, **options)
    return [breach for name in names for breach in LAWS[name].breaches(subject)]
