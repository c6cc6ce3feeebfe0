"""What an answer rests on -> searches and citations, said once the whole answer is there.

Grounding comes with the last chunk, or grows from chunk to chunk; its offsets count the UTF-8 bytes of the
whole answer text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import accumulate

from plait.events import Source
from plait.wire.assembler import Assembler
from plait.wire.gemini import wire


class GroundingReader:
    """Collects grounding, and makes its moves at the end."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._queries: list[str] = []
        self._chunks: list[wire.GroundingChunk] = []
        self._supports: list[wire.GroundingSupport] = []
        self._recited: list[wire.RecitationSource] = []
        self._asked: list[str] = []
        self._search: Hashable = None
        self._completed = False
        self.fetched = False
        """Whether the answer rests on pages that were fetched: then sources alone are no sign of a search."""

    def add(self, grounding: wire.Grounding) -> None:
        """What one chunk says; it replaces what an earlier one said, unless it says nothing."""
        queries = [*(grounding.web_search_queries or ()), *(grounding.image_search_queries or ())]
        self._queries = [query for query in queries if query] or self._queries
        self._chunks = grounding.grounding_chunks or self._chunks
        self._supports = grounding.grounding_supports or self._supports

    def recite(self, recitation: wire.Recitation) -> None:
        """Sources that the answer recites, of this chunk."""
        self._recited += recitation.citations or recitation.citation_sources or ()

    def searching(self, key: Hashable, queries: list[str]) -> None:
        """The model asks for a search (the tool call part `key`)."""
        self._search, self._completed = key, False
        self._asked += queries
        self._assembler.web_search_status(key, "searching", query=_joined(queries) or None)

    def searched(self, key: Hashable) -> None:
        """A search has finished (the tool response part `key`)."""
        self._search, self._completed = key, True
        self._assembler.web_search_status(key, "completed", query=_joined(self._asked) or None)

    def end(self, texts: Sequence[Hashable]) -> None:
        """The answer is whole; `texts` are the keys of its text parts."""
        sources = [source for chunk in self._chunks if (source := _source(chunk))]
        if self._queries or self._search is not None or (sources and not self.fetched):
            query = _joined(self._queries or self._asked)
            if not self._completed:
                self._assembler.web_search_status(self._search, "completed", query=query or None)
            self._assembler.web_search_done(self._search, query, sources)
        if self._supports or self._recited:
            self._cite(texts)

    def _cite(self, texts: Sequence[Hashable]) -> None:
        ends = list(accumulate(len(self._assembler.text_so_far(key).encode()) for key in texts))
        if not ends or not ends[-1]:
            return

        def part(end: int | None) -> Hashable:
            """The text part that a segment with this end is in."""
            return texts[bisect_left(ends, min(max(end or 0, 1), ends[-1]))]

        for support in self._supports:
            segment = support.segment or wire.Segment()
            for number in support.grounding_chunk_indices or ():
                if 0 <= number < len(self._chunks):
                    url, title, cited_text = _cited(self._chunks[number])
                    self._assembler.cite(
                        part(segment.end_index),
                        url=url,
                        title=title,
                        cited_text=cited_text,
                        start=segment.start_index or 0,
                        end=segment.end_index,
                    )
        for source in self._recited:
            self._assembler.cite(
                part(source.end_index),
                url=source.uri,
                title=source.title,
                start=source.start_index or 0,
                end=source.end_index,
            )


def _joined(queries: list[str]) -> str:
    return "; ".join(dict.fromkeys(queries))


def _source(chunk: wire.GroundingChunk) -> Source | None:
    """Title and URL, of a chunk that a search of the web found."""
    url, title, _ = _cited(chunk)
    return {"title": title or "", "url": url} if url and (chunk.web or chunk.image) else None


def _cited(chunk: wire.GroundingChunk) -> tuple[str | None, str | None, str | None]:
    """URL, title and text of what a chunk is."""
    if chunk.web is not None:
        return chunk.web.uri, chunk.web.title, None
    if chunk.image is not None:
        return chunk.image.source_uri, chunk.image.title, None
    found = chunk.retrieved_context or chunk.maps
    return (found.uri, found.title, found.text) if found is not None else (None, None, None)
