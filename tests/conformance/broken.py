"""Parsers with one fault each, to show that the law it breaks says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bodies import WIRE

import plait
from plait.errors import PlaitError
from plait.events import Event

Change = Callable[[list[Event]], list[Event]]


class Parser:
    """Plait's parser; subclasses break something. Events pass through `change`, one at a time."""

    def __init__(self) -> None:
        self.inner = plait.parser(WIRE)

    def change(self, event: Event) -> list[Event]:
        return [event]

    def _changed(self, events: list[Event]) -> list[Event]:
        return [new for event in events for new in self.change(event)]

    def feed(self, data: bytes) -> list[Event]:
        return self._changed(self.inner.feed(data))

    def close(self) -> list[Event]:
        try:
            return self._changed(self.inner.close())
        except PlaitError as error:
            error.undelivered = tuple(self._changed(list(error.undelivered)))
            raise

    @property
    def error(self) -> PlaitError | None:
        return self.inner.error

    @property
    def message(self) -> Any:
        return self.inner.message

    @property
    def unknown(self) -> Mapping[str, int]:
        return Counter(self.inner.unknown)


def changing(change: Callable[[Event], list[Event]]) -> Callable[[], Parser]:
    """Makes parsers whose events pass through `change`."""

    class Changing(Parser):
        def change(self, event: Event) -> list[Event]:
            return change(event)

    return Changing
