"""What a law is: a name, its words, and a check that tells in words what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from plait.conformance.reading import MakeParser, Subject

MAX_BREACHES = 10
"""As many breaches of one law are reported: a broken parser breaks it at every byte, in the same way."""


class Breach(msgspec.Struct, frozen=True):
    """A law that does not hold: its name, and in words what is broken, and at which cut or chunking."""

    law: str
    message: str

    def __str__(self) -> str:
        return f"{self.law}: {self.message}"


Check: TypeAlias = Callable[[Subject], Iterator[str]]


class Law:
    """One law of DESIGN.md. Calling it checks a body.

    Attributes:
        name: its name in `LAWS`
        number: its number in DESIGN.md, None for what is said there outside the list
        slow: whether `check` leaves it out unless it is asked for by name
    """

    def __init__(self, name: str, number: int | None, check: Check, *, slow: bool = False) -> None:
        self.name = name
        self.number = number
        self.slow = slow
        self.__doc__ = check.__doc__
        self._check = check

    def __repr__(self) -> str:
        return f"<law {self.name}>"

    def __call__(
        self,
        wire: str,
        body: bytes,
        *,
        dialect: str | None = None,
        make_parser: MakeParser | None = None,
        **options: Any,
    ) -> list[Breach]:
        """What is broken when this body is read; an empty list when the law holds.

        A body that is an error or that is legitimately incomplete is no breach: the law holds for what
        came, and the fault must be the right one.

        Args:
            wire: the wire format: of `plait.WIRES`, or with `make_parser` a row of `TERMINALS`
            body: a response's bytes as they came
            dialect: as for `plait.parser`
            make_parser: makes a fresh parser, to check one that `plait.parser` does not know
            options: reading options, as for `plait.parser`

        Raises:
            UnknownWireError: no such wire format, dialect or option
            KeyError: the wire has no row in `TERMINALS`
        """
        return self.breaches(Subject(wire, body, dialect=dialect, make_parser=make_parser, **options))

    def breaches(self, subject: Subject) -> list[Breach]:
        """As a call, for a body that several laws are checked on."""
        if subject.whole.crash is not None:
            return [Breach(self.name, f"read whole: {subject.whole.crash}")]
        return [Breach(self.name, words) for words in islice(self._check(subject), MAX_BREACHES)]


def law(name: str, number: int | None, *, slow: bool = False) -> Callable[[Check], Law]:
    """Make a check a law."""
    return lambda check: Law(name, number, check, slow=slow)
