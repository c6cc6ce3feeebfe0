"""The parts of a message while they are being built: what each has said so far, and as message content."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, TypeAlias

from plait.events import ReasoningPart, ReasoningType


class Text:
    """Answer text, and what is attached to it."""

    __slots__ = (
        "citations", "cited", "extra", "index", "key", "measured", "pieces", "refusal", "signature",
    )  # fmt: skip

    def __init__(self, key: Hashable, index: int) -> None:
        self.key = key
        self.index = index
        self.pieces: list[str] = []
        self.measured = (0, 0)  # so many pieces have so many characters
        self.signature: str | None = None
        self.refusal: bool | None = None
        self.citations: list[dict[str, Any]] = []
        self.cited: set[str] = set()
        self.extra: dict[str, Any] | None = None

    def length(self) -> int:
        """How many characters the text has so far."""
        pieces, characters = self.measured
        self.measured = (len(self.pieces), characters + sum(map(len, self.pieces[pieces:])))
        return self.measured[1]

    def content(self) -> dict[str, Any]:
        """The part as message content."""
        return {
            "type": "text",
            "text": "".join(self.pieces),
            "signature": self.signature,
            "refusal": self.refusal,
            "citations": list(self.citations) or None,
            "extra": self.extra,
        }


class Reasoning:
    """One wire item of reasoning: the details that are done, and the one that is open."""

    __slots__ = ("details", "id", "index", "open")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self.details: list[ReasoningPart] = []
        self.open: Detail | None = None

    def content(self) -> dict[str, Any]:
        """The part as message content."""
        details = [*self.details, self.open.part()] if self.open else list(self.details)
        return {"type": "reasoning", "id": self.id, "details": details}


class Detail:
    """One part of a reasoning item while it is open. `pieces` None: it has no text, not even an empty one."""

    __slots__ = ("data", "format", "id", "key", "pieces", "signature", "type")

    def __init__(self, key: Hashable, type_: ReasoningType, format_: str | None) -> None:
        self.key = key
        self.type: ReasoningType = type_
        self.format = format_
        self.pieces: list[str] | None = None
        self.data: str | None = None
        self.signature: str | None = None
        self.id: str | None = None

    def part(self) -> ReasoningPart:
        """The part as it stands."""
        text = None if self.pieces is None else "".join(self.pieces)
        return ReasoningPart(self.type, text, self.data, self.signature, self.id, self.format)


class ToolCall:
    """A call of a client tool. `closing`: the wire calls it whole, but it has no argument text yet."""

    __slots__ = (
        "call_id", "complete", "extra", "index", "item_id", "kind", "name", "pieces", "provider_id",
        "signature", "state",
    )  # fmt: skip

    def __init__(self, index: int, item_id: str, call_id: str, provider_id: str | None, name: str) -> None:
        self.index = index
        self.item_id = item_id
        self.call_id = call_id
        self.provider_id = provider_id
        self.name = name
        self.kind: Literal["function", "custom"] = "function"
        self.pieces: list[str] = []
        self.complete = True
        self.state: Literal["open", "closing", "done"] = "open"
        self.signature: str | None = None
        self.extra: dict[str, Any] | None = None

    def arguments(self) -> str:
        """The argument text; none at all is an empty object."""
        return "".join(self.pieces) or "{}"

    def content(self) -> dict[str, Any]:
        """The part as message content."""
        return {
            "type": "tool-call",
            "tool_call_id": self.item_id,
            "call_id": self.provider_id,
            "tool_name": self.name,
            "arguments": self.arguments(),
            "complete": self.complete and self.state == "done",
            "kind": self.kind,
            "signature": self.signature,
            "extra": self.extra,
        }


class Provider:
    """A block that is kept as the wire had it."""

    __slots__ = ("data", "format", "index")

    def __init__(self, index: int, format_: str, data: Any) -> None:
        self.index = index
        self.format = format_
        self.data = data

    def content(self) -> dict[str, Any]:
        """The part as message content."""
        return {"type": "provider", "format": self.format, "data": self.data}


class File:
    """A generated image, audio or file."""

    __slots__ = ("data", "index", "media_type", "signature", "url")

    def __init__(
        self, index: int, media_type: str, data: str | None, url: str | None, signature: str | None
    ) -> None:
        self.index = index
        self.media_type = media_type
        self.data = data
        self.url = url
        self.signature = signature

    def content(self) -> dict[str, Any]:
        """The part as message content."""
        source = (
            {"type": "url", "url": self.url}
            if self.url is not None
            else {"type": "data", "data": self.data or "", "media_type": self.media_type}
        )
        if self.media_type.startswith("image/"):
            return {"type": "image", "image": source, "signature": self.signature}
        return {
            "type": "file", "data": source, "media_type": self.media_type, "signature": self.signature
        }  # fmt: skip


Part: TypeAlias = Text | Reasoning | ToolCall | Provider | File
