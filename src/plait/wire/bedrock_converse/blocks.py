"""Bedrock's content blocks -> moves: whole, as a non-streaming body has them, or piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import msgspec

from plait.events import Source
from plait.wire.assembler import Assembler
from plait.wire.bedrock_converse import mapping, wire
from plait.wire.reading import NotAnObject, Reader

Kind = Literal["tool", "server tool", "tool result", "media"]


class Block:
    """A content block, from its start or its first piece to its stop; it is the key of its part."""

    __slots__ = (
        "citations",
        "data",
        "has_text",
        "kind",
        "media",
        "pieces",
        "raw",
        "redacted",
        "start",
        "url",
    )

    def __init__(self) -> None:
        self.kind: Kind | None = None
        self.start: Any = None
        self.data: dict[str, Any] = {}
        self.has_text = False
        self.pieces: list[Any] = []
        self.redacted: list[str] = []
        self.citations: list[tuple[wire.Citation, Any]] = []
        self.media = "image"
        self.url: str | None = None


class _Search:
    def __init__(self, block: Block, query: str) -> None:
        self.block = block
        self.query = query
        self.sources: list[Source] = []


class Blocks:
    """What all blocks of one response say, and what one says about another: citations, tool results."""

    def __init__(self, assembler: Assembler, unknown: Counter[str], *, count_fields: bool) -> None:
        self.assembler = assembler
        self.unknown = unknown
        self._reader = Reader(wire.Block, unknown, count_fields=count_fields, path="content")
        self._citation_reader = Reader(wire.Citation, unknown, count_fields=count_fields, path="citation")
        self._last_text: Block | None = None
        self._loose: list[tuple[wire.Citation, Any]] = []
        self._tool_names: dict[str, str] = {}
        self._search: _Search | None = None
        self._on_start: dict[str, Callable[[Block, Any], None]] = {
            "text": self.text,
            "tool_use": self._start_tool,
            "tool_result": self._start_result,
            "reasoning_content": self._whole_reasoning,
            "citations_content": self._whole_citations,
            "image": partial(self._start_media, "image"),
            "audio": partial(self._start_media, "audio"),
            "video": partial(self._start_media, "video"),
        }
        self._on_stop: dict[Kind | None, Callable[[Block], None]] = {
            "tool": self._stop_tool,
            "server tool": self._stop_server_tool,
            "tool result": self._stop_result,
            "media": self._stop_media,
        }

    def whole(self, data: Any) -> None:
        """A block of a non-streaming body. One of a type that nobody knows is kept for replay."""
        block = Block()
        self.start(block, data)
        if block.data and block.start is None:
            self.assembler.provider_block(block, mapping.FORMAT, block.data)
        self.stop(block)

    def start(self, block: Block, data: Any) -> None:
        """What a block begins with, or all of it. An empty object says nothing of its type."""
        try:
            read: wire.Block = self._reader.convert(data)
        except NotAnObject as problem:
            self.unknown[f"block:{problem}"] += 1
            return
        block.data = data
        for field, start in self._on_start.items():
            value = getattr(read, field)
            if value is not None:
                block.start = value
                start(block, value)
                return
        self.unknown.update(f"block:{name[:100]}" for name in block.data)

    def stop(self, block: Block) -> None:
        """The block is whole."""
        moves = self.assembler
        if len(block.redacted) > 1:
            self._redact(block, mapping.join_base64(block.redacted))
        moves.reasoning_done(block)
        if block.citations:  # with no text of its own: they belong to the text before it
            if self._last_text is None:
                self._loose += block.citations
            for citation, data in block.citations if self._last_text else ():
                self._cite(self._last_text, citation, data)
        if block.kind is not None:
            self._on_stop[block.kind](block)

    def end(self) -> None:
        """The answer is whole."""
        for citation, data in self._loose:
            self._cite(None, citation, data)
        self._loose = []
        self._end_search()

    # Text

    def text(self, block: Block, text: str) -> None:
        """A piece of text; the first one takes the citations that came before it."""
        if not text:
            return
        self.assembler.text(text, block)
        if not block.has_text:
            block.has_text = True
            self._last_text = block
            for citation, data in (*self._loose, *block.citations):
                self._cite(block, citation, data)
            self._loose, block.citations = [], []

    def cite(self, block: Block, data: Any) -> None:
        """A citation: of this block's text, which may still come, or of the text before it."""
        try:
            citation: wire.Citation = self._citation_reader.convert(data)
        except NotAnObject as problem:
            self.unknown[f"citation:{problem}"] += 1
            return
        if block.has_text:
            self._cite(block, citation, data)
        else:
            block.citations.append((citation, data))

    def _cite(self, text: Block | None, citation: wire.Citation, data: Any) -> None:
        location = citation.location or wire.Location()
        spans = (
            location.document_char, location.document_page, location.document_chunk,
            location.search_result_location,
        )  # fmt: skip
        span = next((span for span in spans if span is not None), wire.Span())
        web = location.web or wire.WebLocation()
        source = citation.source if citation.source and "://" in citation.source else None
        url = web.url or source
        words = [piece.text for piece in citation.source_content or () if piece.text]
        self.assembler.cite(
            text,
            url=url,
            title=citation.title,
            cited_text="".join(words) or None,
            start=span.start,
            end=span.end,
            format=mapping.FORMAT,
            data=data,
        )
        if self._search is not None and web.url:
            found = {"title": citation.title or web.domain or "", "url": web.url}
            if found not in self._search.sources:
                self._search.sources.append(found)

    def _whole_citations(self, block: Block, content: wire.CitationsContent) -> None:
        for data in content.citations or ():
            self.cite(block, data)
        self.text(block, "".join(piece.text or "" for piece in content.content or ()))

    # Reasoning

    def reasoning(self, block: Block, piece: wire.ReasoningPiece) -> bool:
        """Text, a signature or redacted content; False when it was none of them.

        Only what is signed or redacted is taken back, so text has no format until its signature comes.
        """
        moves = self.assembler
        if piece.text is not None:
            moves.reasoning(piece.text, block, "text")
        if piece.signature:
            moves.reasoning("", block, "text", signature=piece.signature, format=mapping.FORMAT)
        if piece.redacted_content is not None:
            block.redacted.append(piece.redacted_content)
            moves.quiet += 1
            if len(block.redacted) == 1:
                self._redact(block, piece.redacted_content)
        return not (piece.text is None and piece.signature is None and piece.redacted_content is None)

    def _redact(self, block: Block, data: str) -> None:
        self.assembler.reasoning(None, block, "redacted", type="redacted", data=data, format=mapping.FORMAT)

    def _whole_reasoning(self, block: Block, reasoning: wire.Reasoning) -> None:
        said = reasoning.reasoning_text or wire.ReasoningText()
        if not self.reasoning(
            block, wire.ReasoningPiece(said.text, said.signature, reasoning.redacted_content)
        ):
            self.unknown["block:reasoningContent without content"] += 1

    # Tools

    def tool_input(self, block: Block, text: str) -> None:
        """A piece of the input of a call that the provider runs."""
        if block.kind == "server tool":
            block.pieces.append(text)
            self.assembler.quiet += 1
        else:
            self.unknown["delta:toolUse without its block"] += 1

    def tool_results(self, block: Block, results: list[Any]) -> None:
        """More of what a tool that the provider ran gave."""
        if block.kind == "tool result":
            block.pieces += results
            self.assembler.quiet += 1
        else:
            self.unknown["delta:toolResult without its block"] += 1

    def _start_tool(self, block: Block, tool: wire.ToolUse) -> None:
        if tool.type == mapping.SERVER_TOOL:
            block.kind = "server tool"
            self._tool_names[tool.tool_use_id or ""] = tool.name or ""
            self.assembler.provider_block(block, mapping.FORMAT, block.data)
            if tool.name == mapping.SEARCH_TOOL:
                self.assembler.web_search_status(block, "in_progress")
            return
        if tool.type not in (None, "tool_use"):
            self.unknown[f"tool_type:{tool.type[:100]}"] += 1
        block.kind = "tool"
        self.assembler.tool_call_started(block, name=tool.name or "", call_id=tool.tool_use_id)

    def _stop_tool(self, block: Block) -> None:
        input_ = block.start.input
        if input_ not in (None, {}) and not self.assembler.tool_call_length(block):
            text = input_ if isinstance(input_, str) else msgspec.json.encode(input_).decode()
            self.assembler.tool_call_arguments(block, text)
        self.assembler.tool_call_done(block)

    def _stop_server_tool(self, block: Block) -> None:
        tool: wire.ToolUse = block.start
        data = block.data["toolUse"]
        input_ = data.get("input", {})
        if block.pieces:
            try:
                input_ = self._reader.generic("".join(block.pieces))
            except NotAnObject:
                self.unknown["text:input of a server tool that is not JSON"] += 1
        self.assembler.provider_block(block, mapping.FORMAT, {"toolUse": {**data, "input": input_}})
        if tool.name == mapping.SEARCH_TOOL:
            query = input_.get("query") if isinstance(input_, dict) else None
            self._end_search()
            self._search = _Search(block, query if isinstance(query, str) else "")
            self.assembler.web_search_status(block, "searching", query=self._search.query or None)
        else:
            self.assembler.server_tool_call(block, tool.tool_use_id or "", tool.name or "", input_)

    def _start_result(self, block: Block, result: wire.ToolResult) -> None:
        block.kind = "tool result"
        block.pieces += result.content or ()
        self.assembler.provider_block(block, mapping.FORMAT, block.data)

    def _stop_result(self, block: Block) -> None:
        result: wire.ToolResult = block.start
        data = {"toolResult": {**block.data["toolResult"], "content": block.pieces}}
        self.assembler.provider_block(block, mapping.FORMAT, data)
        id_ = result.tool_use_id or ""
        name = self._tool_names.get(id_) or (result.type or "").removesuffix("_result")
        if name == mapping.SEARCH_TOOL:
            # What was found is hidden; the sources are those that the answer cites.
            query = self._search.query if self._search else None
            self.assembler.web_search_status(block, "completed", query=query or None)
        else:
            self.assembler.server_tool_result(block, id_, name, block.pieces)

    def _end_search(self) -> None:
        if self._search is not None:
            search, self._search = self._search, None
            self.assembler.web_search_done(search.block, search.query, search.sources)

    # Images, sound, films

    def media(self, block: Block, media: wire.Media) -> None:
        """A piece of a file, or where it lies."""
        if block.kind is None:
            block.kind, block.start = "media", media
        if media.error is not None:
            self.unknown[f"block:{block.media} with an error"] += 1
        if media.source is not None and media.source.bytes:
            block.pieces.append(media.source.bytes)
            self.assembler.quiet += 1
        if media.source is not None and media.source.s3_location is not None:
            block.url = media.source.s3_location.uri

    def _start_media(self, kind: str, block: Block, media: wire.Media) -> None:
        block.kind, block.media = "media", kind
        self.media(block, media)

    def _stop_media(self, block: Block) -> None:
        type_ = mapping.media_type(block.media, block.start.format)
        if block.pieces:
            self.assembler.file(type_, data=mapping.join_base64(block.pieces))
        elif block.url:
            self.assembler.file(type_, url=block.url)
