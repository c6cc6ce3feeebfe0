"""Web searches and other tools that the server runs -> moves.

Chat Completions says what was found, hardly ever that a search goes on, and in four places: annotations
on the text, `citations` and `search_results` of the whole response, and tools the server says it ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from plait import json_text
from plait.events import Source
from plait.json_text import given
from plait.wire.assembler import Assembler
from plait.wire.openai_chat import wire
from plait.wire.reading import NotAnObject, Reader


class _Run:
    __slots__ = ("done", "query", "search", "sources")

    def __init__(self, search: bool, query: str) -> None:
        self.search = search
        self.query = query
        self.sources: list[Source] = []
        self.done = False


class ServerTools:
    """The searches of one response, and the other tools the server ran."""

    def __init__(self, assembler: Assembler, unknown: Counter[str]) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._runs: dict[Hashable, _Run] = {}
        self._cited: dict[str, Source] = {}
        self._citations: msgspec.Raw | None = None
        self._results: msgspec.Raw | None = None

    def read(self, tools: Sequence[wire.ExecutedTool]) -> None:
        """Groq's `executed_tools`."""
        for number, tool in enumerate(tools):
            index = number if tool.index is None else tool.index
            found = tool.search_results.results if tool.search_results else None
            pages = [{"url": page.url, "title": page.title} for page in found or ()]
            key = ("executed_tools", index)
            self.ran(key, f"executed_tool_{index}", tool.type or "", tool.arguments, tool.output, pages)

    def ran(
        self, key: Hashable, id: str, name: str, arguments: Any, output: Any, pages: Sequence[Any] = ()
    ) -> None:
        """The server ran a tool; it may say so again when there is output."""
        moves = self._assembler
        input_ = _decoded(arguments)
        run = self._runs.get(key)
        if run is None:
            query = input_.get("query") if isinstance(input_, dict) else None
            run = self._runs[key] = _Run("search" in name, query if isinstance(query, str) else "")
            if run.search:
                moves.web_search_status(key, "searching", query=run.query or None)
            else:
                moves.server_tool_call(key, id, name, input_)
        if run.done or (output is None and not pages):
            return
        run.done = True
        if run.search:
            run.sources = sources(pages or _decoded(output))
            moves.web_search_status(key, "completed", query=run.query or None)
        else:
            moves.server_tool_result(key, id, name, output)

    def cited(self, url: str, title: str | None) -> None:
        """An annotation named this page."""
        self._cited.setdefault(url, {"title": title or "", "url": url})

    def listed(self, citations: msgspec.Raw, results: msgspec.Raw) -> None:
        """The response's own lists; each chunk may repeat them, grown."""
        self._citations = given(citations) or self._citations
        self._results = given(results) or self._results

    def end(self) -> None:
        """Say what the searches found: each one the server named, or one for all that it did not."""
        searches = [(key, run) for key, run in self._runs.items() if run.search]
        found = self._listed(self._results) or self._listed(self._citations) or list(self._cited.values())
        if not searches and found:
            self._assembler.web_search_done(None, "", found)
        for key, run in searches:
            pages = found if len(searches) == 1 and not run.sources else run.sources
            self._assembler.web_search_done(key, run.query, pages)

    def _listed(self, raw: msgspec.Raw | None) -> list[Source]:
        try:
            return [] if raw is None else sources(Reader(None, self._unknown).opaque(raw))
        except NotAnObject:  # nested deeper than any list of pages
            return []


class Citations:
    """The annotations on the answer's text. Some servers send them before its first word: those wait."""

    def __init__(self, assembler: Assembler, unknown: Counter[str], tools: ServerTools) -> None:
        self._assembler = assembler
        self._unknown = unknown
        self._tools = tools
        self._waiting: list[wire.UrlCitation] = []

    def read(self, annotations: Sequence[wire.Annotation]) -> None:
        """The `annotations` of a delta or message."""
        for note in annotations:
            if note.type not in ("url_citation", None):
                self._unknown[f"annotation:{note.type}"] += 1
                continue
            citation = note.url_citation or wire.UrlCitation(
                note.url, note.title, None, note.start_index, note.end_index
            )
            if citation.url:
                self._tools.cited(citation.url, citation.title)
                self._waiting.append(citation)

    def place(self, key: Hashable) -> None:
        """Cite what has come on this text part."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for citation in waiting:
                self._assembler.cite(
                    key,
                    url=citation.url,
                    title=citation.title or None,
                    cited_text=citation.content or None,
                    start=citation.start_index,
                    end=citation.end_index,
                )


def sources(pages: Any) -> list[Source]:
    """Title and URL of pages given as objects or as bare URLs; anything else has none."""
    if isinstance(pages, dict):
        pages = pages.get("results")
    found: list[Source] = []
    for page in pages if isinstance(pages, list) else ():
        url = page.get("url") if isinstance(page, dict) else page
        if isinstance(url, str) and url:
            title = page.get("title") if isinstance(page, dict) else None
            found.append({"title": title if isinstance(title, str) else "", "url": url})
    return found


def _decoded(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json_text.loads(value)
        except ValueError:
            return value
    return value
