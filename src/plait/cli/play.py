"""`plait play`: a recording as it looked live."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from rich.cells import cell_len
from rich.text import Text

import plait
from plait import json_text
from plait.cassettes import Cassette, Interaction
from plait.cli.show import Terminal, compact_json, finish_words, printable, usage_words
from plait.cli.status import BadArgumentsError, Status, status_of
from plait.errors import PlaitError
from plait.events import (
    Citation,
    Event,
    FileDone,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ResponseStarted,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.wire import WIRES

PROMPT_SHOWN = 300
"""Characters of the user's last message that are shown before the answer."""


def play(name: str, cassette: Cassette, *, speed: float = 1.0, delay: bool = True) -> Status:
    """Show each response of a cassette with its timing.

    Args:
        name: the cassette's, for the heading
        cassette: what to show; interactions in wire formats that cannot be read are left out
        speed: how many times faster than it was
        delay: whether to wait at all

    Returns how the first response that was not complete ended.
    """
    shown = [item for item in cassette.interactions if item.wire in WIRES]
    if not shown:
        raise BadArgumentsError(
            f"{name}: expected a response in one of the wire formats {', '.join(WIRES)}, got none"
        )
    terminal = Terminal()
    statuses = [_Player(terminal, item).play(name, speed if delay else None) for item in shown]
    return next((status for status in statuses if status), Status.COMPLETE)


def prompt(body: bytes) -> str | None:
    """What the user asked last, in a request's JSON body of any wire; None when it is not to be found."""
    try:
        document = json_text.loads(body.decode("utf-8", "replace"))
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    turns = document.get("messages") or document.get("input") or document.get("contents")
    for turn in reversed(turns) if isinstance(turns, list) else [{"content": turns}]:
        if isinstance(turn, dict) and turn.get("role", "user") == "user":
            content = turn.get("content") or turn.get("parts")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts = [
                part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
            ]
            if texts:
                return " ".join(" ".join(texts).split())
    return None


class _Player:
    """Prints one response; `_open` is what its last line holds: `text`, `reasoning` or a call's id."""

    def __init__(self, terminal: Terminal, interaction: Interaction) -> None:
        self.terminal = terminal
        self.interaction = interaction
        self._open: str | None = None
        self._column = 0
        self._sources: list[Citation] = []
        self._query: str | None = None
        self._usage = ""
        self._finish = ""
        self._handlers: Mapping[type[Event], Callable[..., None]] = {
            ResponseStarted: self._started,
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            ReasoningDone: self._reasoning_done,
            ToolCallDelta: self._call,
            ToolCallDone: self._call_done,
            WebSearchStatus: self._search,
            WebSearchDone: self._found,
            ServerToolCall: self._server_call,
            ServerToolResult: self._server_result,
            Citation: self._sources.append,
            FileDone: self._file,
            TokenUsageDone: self._count,
            FinishReasonDone: self._finished,
        }

    def play(self, name: str, speed: float | None) -> Status:
        self._heading(name)
        item = self.interaction
        parser = plait.parser(item.wire or "", dialect=item.dialect)
        times = [milliseconds for milliseconds, _size in item.chunks] or [0]
        start = time.monotonic()
        for milliseconds, chunk in zip(times, item.body_chunks(), strict=False):
            if speed is not None:
                time.sleep(max(start + milliseconds / 1000 / speed - time.monotonic(), 0))
            self._show(parser.feed(chunk))
            if parser.done:
                break
        events, error = parser.finish()
        self._show(events)
        self._ending(times[-1], error)
        return status_of(error)

    def _show(self, events: list[Event]) -> None:
        for event in events:
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(event)

    def _heading(self, name: str) -> None:
        item = self.interaction
        facts = [name, item.wire or ""]
        if item.provenance is not None:
            facts.append(item.provenance.kind)
        if not item.chunks:
            facts.append("no timing recorded")
        self._line(" · ".join(map(printable, facts)), "dim")
        asked = prompt(item.request.body)
        if asked:
            more = "…" if len(asked) > PROMPT_SHOWN else ""
            self._line(f"> {printable(asked[:PROMPT_SHOWN])}{more}", "bold")
        self.terminal.print()

    def _ending(self, milliseconds: int, error: PlaitError | None) -> None:
        self._break()
        urls = dict.fromkeys(
            (source.url or source.title or "", source.title or "") for source in self._sources
        )
        for number, (url, title) in enumerate(urls, 1):
            self._line(f"[{number}] {printable(title)} {printable(url)}".rstrip(), "dim")
        if error is not None:
            self._line(f"✗ {type(error).__name__}: {printable(str(error))}", "red")
        took = f"{milliseconds / 1000:.1f} s" if self.interaction.chunks else ""
        self.terminal.print()
        self._line(" · ".join(fact for fact in (self._finish, self._usage, took) if fact), "dim")

    # Events

    def _started(self, event: ResponseStarted) -> None:
        if event.model:
            self._line(printable(event.model), "cyan")

    def _text(self, event: TextDelta) -> None:
        self._stream("text", event.content)

    def _reasoning(self, event: ReasoningDelta) -> None:
        self._stream("reasoning", event.content, "dim italic")

    def _reasoning_done(self, event: ReasoningDone) -> None:
        if self._open == "reasoning":
            self._break()
        if event.part.type in ("encrypted", "redacted"):
            size = len(event.part.data or "")
            self._line(f"({event.part.type} reasoning, {size:,} characters)", "dim italic")

    def _call(self, event: ToolCallDelta) -> None:
        if self._open != event.item_id:
            self._break()
            self._write(f"→ {printable(event.name or 'the call goes on')} ", "yellow")
            self._open = event.item_id
        self._write(printable(event.arguments_delta))

    def _call_done(self, event: ToolCallDone) -> None:
        if not event.complete:
            self._break()
            self._line(f"  {printable(event.name)} was cut: not to be run", "red")
        elif self._open == event.item_id:
            self._break()

    def _search(self, event: WebSearchStatus) -> None:
        if event.status in ("searching", "open_page"):
            what = event.query or event.url or ""
            self._line(f"⌕ {event.status.replace('_', ' ')} {printable(what)}".rstrip(), "magenta")
            self._query = event.query

    def _found(self, event: WebSearchDone) -> None:
        if event.query and event.query != self._query:
            self._line(f"⌕ found for {printable(event.query)}", "magenta")
        for source in event.sources:
            known = [source[name] for name in ("title", "url") if source.get(name)]
            self._line(f"  {printable(' '.join(known))}", "dim")

    def _server_call(self, event: ServerToolCall) -> None:
        self._line(f"→ {printable(event.name)} {compact_json(event.input)} (run by the provider)", "magenta")

    def _server_result(self, event: ServerToolResult) -> None:
        self._line(f"← {printable(event.name)} {compact_json(event.output)[:PROMPT_SHOWN]}", "dim")

    def _file(self, event: FileDone) -> None:
        where = printable(event.url) if event.url else f"{len(event.data or '') * 3 // 4:,} bytes"
        self._line(f"▣ {printable(event.media_type)} {where}", "magenta")

    def _count(self, event: TokenUsageDone) -> None:
        self._usage = usage_words(event.token_usage)

    def _finished(self, event: FinishReasonDone) -> None:
        self._finish = finish_words(event.finish_reason, event.raw_finish_reason)

    # Printing

    def _stream(self, kind: str, content: str, style: str = "") -> None:
        if self._open != kind:
            self._break()
            if kind == "text":
                self.terminal.print()
            self._open = kind
        self._write(printable(content, keep="\n\t"), style)

    def _write(self, text: str, style: str = "") -> None:
        """Print a piece of a line; a word that does not fit begins the next one."""
        width = self.terminal.width if self.terminal.is_terminal else 0
        for number, line in enumerate(text.split("\n")):
            if number:
                self.terminal.print()
                self._column = 0
            for word in line.replace(" ", "\0 ").split("\0"):
                size = cell_len(word)
                if width and self._column and self._column + size > width:
                    self.terminal.print()
                    self._column, word = 0, word.lstrip(" ")
                    size = cell_len(word)
                self.terminal.print(Text(word, style), end="")
                self._column = (self._column + size) % width if width else self._column + size
        self.terminal.file.flush()

    def _line(self, text: str, style: str) -> None:
        self._break()
        self.terminal.print(Text(text, style), soft_wrap=not self.terminal.is_terminal)

    def _break(self) -> None:
        if self._column or self._open is not None:
            self.terminal.print()
        self._column, self._open = 0, None
