"""`plait events --format table`: each frame of the wire beside the events it caused."""

from __future__ import annotations

from typing import Any

from rich.text import Text

import plait
from plait import json_text
from plait.cli.frames import Frame, frames
from plait.cli.show import Terminal, compact_json, details, fitted, fitted_both_ends, printable, summary
from plait.cli.source import Source
from plait.cli.status import Status, status_of
from plait.errors import PlaitError
from plait.events import Event
from plait.wire.parser import Parser

NUMBER_WIDTH, BYTE_WIDTH = 4, 8
FRAME_SHARE = 0.45
"""How much of what is left of the line after the numbers belongs to the frame."""


def print_table(sources: list[Source]) -> Status:
    """Print each response's frames and events, as they come, and what they came to.

    Returns how the first response that was not complete ended.
    """
    terminal = Terminal()
    statuses = [_Table(terminal, source).print() for source in sources]
    return next((status for status in statuses if status), Status.COMPLETE)


GIST_LENGTH = 100_000
"""Characters of a payload that is looked into; of a longer one (an image) the ends are shown as they are."""


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


class _Table:
    def __init__(self, terminal: Terminal, source: Source) -> None:
        self.terminal = terminal
        self.source = source
        rest = max(terminal.width - NUMBER_WIDTH - BYTE_WIDTH - 5, 24)
        self.frame_width = int(rest * FRAME_SHARE)
        self.event_width = rest - self.frame_width
        self._said: dict[str, Any] = {}

    def print(self) -> Status:
        parser = plait.parser(self.source.wire, dialect=self.source.dialect)
        self._row("#", "byte", Text("frame"), Text("events"), style="bold")
        shown = events_shown = 0
        for frame in frames(self.source.chunks):
            events = parser.feed(frame.raw)
            if frame.open_ended:
                events += parser.finish()[0]
            shown += 1
            events_shown += len(events)
            self._frame(frame, events)
            if parser.done:
                break
        events, error = parser.finish()
        events_shown += len(events)
        if events:
            self._rows("", "", Text("end of the body", "dim"), events)
        self._summary(
            parser, error, f"{shown:,} frames, {parser.bytes_read:,} bytes, {events_shown:,} events"
        )
        return status_of(error)

    def _frame(self, frame: Frame, events: list[Event]) -> None:
        name = printable(frame.name())
        left = Text().append(fitted_both_ends(name, self.frame_width // 2), "cyan")
        room = self.frame_width - left.cell_len - 1
        if room > 0:
            gist = fitted_both_ends(printable(self._gist(frame.payload(), name)), room)
            left.append((" " if name else "") + gist, "dim")
        self._rows(str(frame.number), f"{frame.offset:,}", left, events)

    def _gist(self, payload: str, name: str) -> str:
        """The payload without nulls, and without what the frame's name or the frame before said as well."""
        try:
            document = json_text.loads(payload) if len(payload) <= GIST_LENGTH else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            return payload
        said, self._said = {**self._said, "type": name}, document
        new = {
            key: value
            for key, value in document.items()
            if isinstance(value, dict | list) or said.get(key) != value
        }
        text = compact_json(_without_nulls(new))
        return text if len(new) == len(document) else text.replace("{", "{…", 1)

    def _rows(self, number: str, byte: str, left: Text, events: list[Event]) -> None:
        lines = [self._event(event) for event in events] or [Text()]
        self._row(number, byte, left, lines[0])
        for line in lines[1:]:
            self._row("", "", Text(), line)

    def _event(self, event: Event) -> Text:
        line = Text().append(event.type, "green")
        room = self.event_width - line.cell_len - 1
        if room > 0:
            line.append(" " + fitted(details(event), room))
        return line

    def _row(self, number: str, byte: str, left: Text, right: Text, style: str = "") -> None:
        left.truncate(self.frame_width, overflow="ellipsis", pad=True)
        right.truncate(self.event_width, overflow="ellipsis")
        line = Text().append(f"{number:>{NUMBER_WIDTH}} {byte:>{BYTE_WIDTH}} ", style or "dim")
        line.append_text(left).append(" │ ", "dim").append_text(right)
        line.rstrip()
        self.terminal.print(line)

    def _summary(self, parser: Parser, error: PlaitError | None, size: str) -> None:
        self.terminal.print()
        rows = [*summary(parser.message, parser.unknown), ("read", size)]
        if error is not None:
            rows.append(("error", f"{type(error).__name__}: {printable(str(error))}"))
        for label, text in rows:
            style = "red" if label == "error" else ""
            for number, line in enumerate(text.split("\n")):
                head = Text(f"{label if number == 0 else '':>{NUMBER_WIDTH + BYTE_WIDTH + 1}} ", "bold")
                self.terminal.print(head.append(line, style or "not bold"), soft_wrap=True)
        self.terminal.print()
