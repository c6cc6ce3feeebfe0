"""Text, images and files: the parts that people, models and tools alike can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, JsonValue

from plait.messages.media import FilePart, ImagePart
from plait.messages.model import Model


class TextCitation(Model):
    """What a piece of answer text rests on. `data` is the annotation as the wire had it, for replay."""

    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    start: int | None = None
    end: int | None = None
    format: str | None = None
    data: JsonValue = None


class TextPart(Model):
    """Text. `signature` is opaque, where a provider signs text; `extra` is what else is sent back."""

    _positional: ClassVar = "text"

    type: Literal["text"] = "text"
    text: str
    signature: str | None = None
    refusal: bool | None = None
    """True where the provider marks the text as its refusal to answer."""
    citations: list[TextCitation] | None = None
    extra: dict[str, JsonValue] | None = None
    format: str | None = None
    """Names the wire that `signature` and `extra` are of: no other adapter sends them."""

    if TYPE_CHECKING:

        def __init__(
            self,
            text: str,
            *,
            signature: str | None = None,
            refusal: bool | None = None,
            citations: list[TextCitation] | None = None,
            extra: dict[str, JsonValue] | None = None,
            format: str | None = None,
            type: Literal["text"] = "text",
        ) -> None: ...


UserPart: TypeAlias = Annotated[TextPart | ImagePart | FilePart, Field(discriminator="type")]
UserContent: TypeAlias = str | TextPart | ImagePart | FilePart
"""What may be written for a part: a string is text."""


def parts_of(content: Any) -> Any:
    """What Python code may give as content -> a list of parts: one part alone, and strings, are taken."""
    if isinstance(content, str | Model):
        content = [content]
    if isinstance(content, Sequence):
        return [TextPart(item) if isinstance(item, str) else item for item in content]
    return content
