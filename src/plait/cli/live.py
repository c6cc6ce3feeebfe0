"""An answer as it comes, on a terminal: for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rich.cells import cell_len
from rich.text import Text

from plait.cli.show import Terminal, compact_json, finish_words, printable, usage_words
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

RESULT_SHOWN = 300
"""Characters of a provider's tool result that are shown."""


class Live:
    """Prints one answer's events; `_open` is what its last line holds: `text`, `reasoning` or a call's id."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
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

    def show(self, events: Iterable[Event]) -> None:
        """Print what these events say."""
        for event in events:
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(event)

    def line(self, text: str, style: str) -> None:
        """Print a line of its own."""
        self._break()
        self.terminal.print(Text(text, style), soft_wrap=not self.terminal.is_terminal)

    def end(self, error: PlaitError | None, seconds: float | None) -> None:
        """Print how the answer ended: sources, the error, finish reason, usage, and how long it took."""
        self._break()
        urls = dict.fromkeys(
            (source.url or source.title or "", source.title or "") for source in self._sources
        )
        for number, (url, title) in enumerate(urls, 1):
            self.line(f"[{number}] {printable(title)} {printable(url)}".rstrip(), "dim")
        if error is not None:
            self.line(f"✗ {type(error).__name__}: {printable(str(error))}", "red")
        took = f"{seconds:.1f} s" if seconds is not None else ""
        self.terminal.print()
        self.line(" · ".join(fact for fact in (self._finish, self._usage, took) if fact), "dim")

    # Events

    def _started(self, event: ResponseStarted) -> None:
        if event.model:
            self.line(printable(event.model), "cyan")

    def _text(self, event: TextDelta) -> None:
        self._stream("text", event.content)

    def _reasoning(self, event: ReasoningDelta) -> None:
        self._stream("reasoning", event.content, "dim italic")

    def _reasoning_done(self, event: ReasoningDone) -> None:
        if self._open == "reasoning":
            self._break()
        if event.part.type in ("encrypted", "redacted"):
            size = len(event.part.data or "")
            self.line(f"({event.part.type} reasoning, {size:,} characters)", "dim italic")

    def _call(self, event: ToolCallDelta) -> None:
        if self._open != event.item_id:
            self._break()
            self._write(f"→ {printable(event.name or 'the call goes on')} ", "yellow")
            self._open = event.item_id
        self._write(printable(event.arguments_delta))

    def _call_done(self, event: ToolCallDone) -> None:
        if not event.complete:
            self._break()
            self.line(f"  {printable(event.name)} was cut: not to be run", "red")
        elif self._open == event.item_id:
            self._break()

    def _search(self, event: WebSearchStatus) -> None:
        if event.status in ("searching", "open_page"):
            what = event.query or event.url or ""
            self.line(f"⌕ {event.status.replace('_', ' ')} {printable(what)}".rstrip(), "magenta")
            self._query = event.query

    def _found(self, event: WebSearchDone) -> None:
        if event.query and event.query != self._query:
            self.line(f"⌕ found for {printable(event.query)}", "magenta")
        for source in event.sources:
            known = [source[name] for name in ("title", "url") if source.get(name)]
            self.line(f"  {printable(' '.join(known))}", "dim")

    def _server_call(self, event: ServerToolCall) -> None:
        self.line(f"→ {printable(event.name)} {compact_json(event.input)} (run by the provider)", "magenta")

    def _server_result(self, event: ServerToolResult) -> None:
        self.line(f"← {printable(event.name)} {compact_json(event.output)[:RESULT_SHOWN]}", "dim")

    def _file(self, event: FileDone) -> None:
        where = printable(event.url) if event.url else f"{len(event.data or '') * 3 // 4:,} bytes"
        self.line(f"▣ {printable(event.media_type)} {where}", "magenta")

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

    def _break(self) -> None:
        if self._column or self._open is not None:
            self.terminal.print()
        self._column, self._open = 0, None
