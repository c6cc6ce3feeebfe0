"""Turns -> Anthropic's messages. Thinking, server tools and citations go back as they came, in order.

Source: https://platform.claude.com/docs/en/api/messages and the types of the `anthropic` SDK 2.14 (2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.messages import (
    ContentOutput,
    FilePart,
    ImagePart,
    ProviderPart,
    ReasoningContent,
    TextCitation,
    TextPart,
)
from plait.wire.anthropic_messages.mapping import SERVER_CALL_BLOCKS
from plait.wire.history import Call, Item, Result, Turn
from plait.wire.media import Media, media
from plait.wire.plan import Notes
from plait.wire.server_tools import halves

_THINKING_DOCS = (
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks"
)
_VISION_DOCS = "https://platform.claude.com/docs/en/build-with-claude/vision"
_TOOL_DOCS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"
_SERVER_TOOL_DOCS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools"

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TAKES = "PNG, JPEG, GIF and WebP images, PDF and text files"
_CACHED = frozenset({"text", "image", "document", "tool_use", "tool_result"})


class Blocks:
    """The messages of one request.

    Args:
        urls: whether content by URL is taken
        server_tools: whether blocks of server tools are taken
        advisor: whether the advisor tool is among the tools
    """

    def __init__(self, notes: Notes, *, urls: bool, server_tools: bool, advisor: bool) -> None:
        self._notes = notes
        self._urls = urls
        self._server_tools = server_tools
        self._advisor = advisor
        self._dropped: set[str] = set()  # provider parts, by path
        self._uncited = False

    def system(self, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """The leading system text, a block per message."""
        return [
            {"type": "text", "text": item.text}
            for turn in turns
            if turn.role == "system"
            for item in turn.items
            if isinstance(item, TextPart)
        ]

    def messages(self, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """The conversation; content is always a list, and roles alternate."""
        turns = [turn for turn in turns if turn.role != "system"]
        self._drop_halves(turns)
        made: list[dict[str, Any]] = []
        for turn in turns:
            role = "assistant" if turn.role == "assistant" else "user"
            self._uncited = any(path in self._dropped for path in turn.paths)
            content = [
                block
                for item, path in zip(turn.items, turn.paths, strict=True)
                for block in self._blocks(item, path, role)
            ]
            if content and made and made[-1]["role"] == role:
                made[-1]["content"] += content
            elif content:
                made.append({"role": role, "content": content})
        return made

    def _blocks(self, item: Item, path: str, role: str) -> list[dict[str, Any]]:
        match item:
            case TextPart():
                return [self._text(item, path, role)] if item.text.strip() else []
            case ReasoningContent():
                return self._thinking(item, path)
            case ProviderPart():
                return [] if path in self._dropped else [_provider(item)]
            case Call():
                called = {"type": "tool_use", "id": item.id, "name": item.name, "input": item.input}
                return [{**called, **item.extra}]
            case Result():
                return [self._result(item)]
            case ImagePart() | FilePart():
                if role == "assistant":
                    why = "an assistant message holds no images or files here"
                    self._notes.add("dropped", path, why, _VISION_DOCS)
                    return []
                return [self._media(item, path)]

    # Text and thinking

    def _text(self, part: TextPart, path: str, role: str) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "text", "text": part.text}
        if part.citations and role == "assistant":
            kept = [one.data for one in part.citations if self._is_citable(one)]
            if len(kept) < len(part.citations):
                self._notes.add("dropped", f"{path}.citations", "what they cite is not sent")
            if kept:
                block["citations"] = kept
        return block

    def _is_citable(self, citation: TextCitation) -> bool:
        data = citation.data
        if not isinstance(data, dict):
            return False
        return not (self._uncited and data.get("type") == "web_search_result_location")

    def _thinking(self, item: ReasoningContent, path: str) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        for number, detail in enumerate(item.details):
            if detail.data:
                blocks.append({"type": "redacted_thinking", "data": detail.data})
            elif detail.signature:
                blocks.append(
                    {"type": "thinking", "thinking": detail.text or "", "signature": detail.signature}
                )
            else:
                why = "thinking without a signature is refused"
                self._notes.add("dropped", f"{path}.details[{number}]", why, _THINKING_DOCS)
        return blocks

    # Server tools

    def _drop_halves(self, turns: Sequence[Turn]) -> None:
        """Mark what cannot be sent of the server tools: halves of pairs, and what the target does not run."""
        faults = dict(halves(turns, _calls, _answers))
        for turn in turns:
            for item, path in zip(turn.items, turn.paths, strict=True):
                why = self._refused(item) if isinstance(item, ProviderPart) else None
                why = why or faults.get(path)
                if why is not None:
                    self._dropped.add(path)
                    self._notes.add("dropped", path, why, _SERVER_TOOL_DOCS)

    def _refused(self, part: ProviderPart) -> str | None:
        if not isinstance(part.data, dict):
            return "not a block"
        if not _calls(part) and not _answers(part):
            return None
        if not self._server_tools:
            return "this target runs no server tools"
        advice = _field(part, "name") == "advisor" or _field(part, "type") == "advisor_tool_result"
        return "taken only while the advisor is one of the tools" if advice and not self._advisor else None

    # Tool results, images, files

    def _result(self, result: Result) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call.id}
        if isinstance(result.output, ContentOutput):
            parts = [
                (number, part)
                for number, part in enumerate(result.output.value)
                if not isinstance(part, TextPart) or part.text.strip()
            ]
            content: Any = [
                {"type": "text", "text": part.text}
                if isinstance(part, TextPart)
                else self._media(part, f"{result.path}.output.value[{number}]")
                for number, part in parts
            ]
            if len(content) == 1 and content[0]["type"] == "text":
                content = content[0]["text"]
        else:
            content = result.text if result.text.strip() else None
        if not content and result.is_error:
            content = "The tool failed."
            self._notes.add("added", result.path, f"an error needs content: {content!r}", _TOOL_DOCS)
        if content:
            block["content"] = content
        if result.is_error:
            block["is_error"] = True
        return block

    def _media(self, part: ImagePart | FilePart, path: str) -> dict[str, Any]:
        content = media(part, path)
        if isinstance(part, ImagePart) and part.detail in ("low", "high"):
            self._notes.add("dropped", f"{path}.detail", "how closely to look cannot be said", _VISION_DOCS)
        if content.url is not None:
            return self._by_url(content, isinstance(part, ImagePart))
        if content.media_type in _IMAGES:
            source = {"type": "base64", "media_type": content.media_type, "data": content.data}
            return {"type": "image", "source": source}
        if content.media_type == "application/pdf":
            source = {"type": "base64", "media_type": content.media_type, "data": content.data}
        elif content.is_text:
            if content.media_type != "text/plain":
                self._notes.add("demoted", path, f"{content.media_type} is sent as plain text", _VISION_DOCS)
            source = {"type": "text", "media_type": "text/plain", "data": content.text()}
        else:
            raise content.refused(_TAKES, "convert it to one of these")
        document: dict[str, Any] = {"type": "document", "source": source}
        return {**document, "title": content.filename} if content.filename else document

    def _by_url(self, content: Media, is_image: bool) -> dict[str, Any]:
        remedy = "fetch it with part.resolve(), or pass resolve=True"
        if not self._urls:
            raise content.refused(_TAKES + " as data", remedy)
        source = {"type": "url", "url": content.url}
        if not (content.url or "").lower().startswith(("https:", "http:")):
            raise content.refused("http and https URLs", remedy)
        if is_image or content.media_type in _IMAGES:
            return {"type": "image", "source": source}
        if content.media_type in (None, "application/pdf"):
            document: dict[str, Any] = {"type": "document", "source": source}
            return {**document, "title": content.filename} if content.filename else document
        raise content.refused("images and PDF files by URL, and text files as data", remedy)


def cache(blocks: list[dict[str, Any]], control: dict[str, Any]) -> bool:
    """Cache up to the last of these blocks that can be marked; False when there is none."""
    for at in reversed(range(len(blocks))):
        if blocks[at].get("type") in _CACHED:
            blocks[at] = {**blocks[at], "cache_control": control}
            return True
    return False


def shortened(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Content that is one text and nothing else as a bare string."""
    for message in messages:
        content = message["content"]
        if len(content) == 1 and content[0].keys() == {"type", "text"}:
            message["content"] = content[0]["text"]
    return messages


def _provider(part: ProviderPart) -> dict[str, Any]:
    data: Any = part.data
    if data.get("type") == "compaction" and data.get("content") == "":
        return {**data, "content": None}  # an empty string is refused, null is not
    return dict(data)


def _field(part: ProviderPart, name: str) -> str | None:
    value = part.data.get(name) if isinstance(part.data, dict) else None
    return value if isinstance(value, str) else None


def _calls(part: ProviderPart) -> str | None:
    return _field(part, "id") if _field(part, "type") in SERVER_CALL_BLOCKS else None


def _answers(part: ProviderPart) -> str | None:
    kind = _field(part, "type") or ""
    return _field(part, "tool_use_id") if kind.endswith("_tool_result") else None
