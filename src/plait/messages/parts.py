"""Content parts: what a message is made of, told apart by `type`.

JSON is accepted with snake_case and camelCase keys. Parts are frozen; `model_copy(update=...)` makes a
changed one.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator
from pydantic.alias_generators import to_camel

from plait import json_text
from plait.errors import InvalidDataError, quote
from plait.events import ReasoningPart, Value


class Model(BaseModel):
    """Base of parts and messages: frozen, closed (no unknown keys), snake_case or camelCase in."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    def to_dict(self, *, camel: bool = False) -> dict[str, Any]:
        """JSON data without what is absent, in snake_case or, with `camel`, in camelCase."""
        # Not `model_dump(exclude_none=True)`: that drops nulls inside opaque JSON too, which is replayed.
        return {
            to_camel(name) if camel else name: _to_json(value, camel)
            for name, value in self
            if value is not None
        }


def _to_json(value: Any, camel: bool) -> Any:
    if isinstance(value, Model):
        return value.to_dict(camel=camel)
    if isinstance(value, Value):
        data = value.to_dict()
        return {to_camel(key): item for key, item in data.items()} if camel else data
    if isinstance(value, list):
        return [_to_json(item, camel) for item in value]
    return value


class UrlSource(Model):
    """Content that lives at a URL. Plait never fetches it unless asked."""

    type: Literal["url"] = "url"
    url: str


class DataSource(Model):
    """Content as base64."""

    type: Literal["data"] = "data"
    data: str
    media_type: str | None = None


Content: TypeAlias = Annotated[UrlSource | DataSource, Field(discriminator="type")]


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

    type: Literal["text"] = "text"
    text: str
    signature: str | None = None
    refusal: bool | None = None
    """True where the provider marks the text as its refusal to answer."""
    citations: list[TextCitation] | None = None
    extra: dict[str, JsonValue] | None = None
    format: str | None = None
    """Names the wire that `signature` and `extra` are of: no other adapter sends them."""


class ImagePart(Model):
    """An image, by URL or as data."""

    type: Literal["image"] = "image"
    image: Content
    detail: Literal["auto", "low", "high"] | None = None
    signature: str | None = None
    """The provider's, over an image that it made."""
    format: str | None = None
    """Names the wire that `signature` is of."""


class FilePart(Model):
    """A file, by URL or as data."""

    type: Literal["file"] = "file"
    data: Content
    media_type: str | None = None
    filename: str | None = None
    sha256: str | None = None
    signature: str | None = None
    """The provider's, over a file that it made."""
    format: str | None = None
    """Names the wire that `signature` is of."""


class ReasoningContent(Model):
    """A model's reasoning: one wire item with its details in order. Opaque details stay opaque.

    A plain `{"type": "reasoning", "text": ...}` is accepted as one `text` detail without format.
    """

    type: Literal["reasoning"] = "reasoning"
    id: str | None = None
    details: list[ReasoningPart] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        if isinstance(data, dict) and "text" in data:
            data = dict(data)
            text = data.pop("text")
            if not data.get("details"):
                data["details"] = [{"type": "text", "text": text}]
        return data

    @property
    def text(self) -> str | None:
        """The `text` and `summary` details joined by blank lines; None when there is nothing to show."""
        shown = [part.text for part in self.details if part.type in ("text", "summary") and part.text]
        return "\n\n".join(shown) if shown else None


class ToolCallPart(Model):
    """A tool call the model asks for. `arguments` is the JSON text as it came: what is replayed."""

    type: Literal["tool-call"] = "tool-call"
    tool_call_id: str
    call_id: str | None = None
    """The provider's own id, when it gave one: what a result is matched by on the wire."""
    tool_name: str
    arguments: str = "{}"
    complete: bool = True
    """False when the call was cut or its `arguments` are not one JSON value: such a call is never run."""
    kind: Literal["function", "custom"] = "function"
    """A `custom` call's arguments are one JSON string: the free text the model wrote."""
    signature: str | None = None
    extra: dict[str, JsonValue] | None = None
    format: str | None = None
    """Names the wire that `signature` and `extra` are of: no other adapter sends them."""

    @model_validator(mode="before")
    @classmethod
    def _from_input(cls, data: Any) -> Any:
        if isinstance(data, dict) and "input" in data:
            data = dict(data)
            value = data.pop("input")
            if "arguments" not in data:
                try:
                    data["arguments"] = json.dumps(value, ensure_ascii=False, allow_nan=False)
                except (TypeError, RecursionError) as error:
                    raise ValueError(f"`input` is not JSON data: {error}") from None
        return data

    def to_dict(self, *, camel: bool = False) -> dict[str, Any]:
        """As for every part; `input` stands beside `arguments` where these are JSON."""
        data = super().to_dict(camel=camel)
        if self.complete:
            with suppress(InvalidDataError):
                data["input"] = self.input
        return data

    @property
    def input(self) -> Any:
        """The arguments as JSON data.

        Raises:
            InvalidDataError: they are not JSON; the text is in `arguments`.
        """
        try:
            return json_text.loads(self.arguments)
        except ValueError as error:
            raise InvalidDataError(
                f"the arguments of tool call {self.tool_call_id!r} ({self.tool_name}) are not JSON: {error}; "
                f"got {quote(self.arguments)}"
            ) from None


class ProviderPart(Model):
    """A block that only its own provider understands (server tool calls and results, compaction, ...).

    `data` is the block as the wire had it. The adapter that knows `format` sends it back in place;
    every other one leaves it out.
    """

    type: Literal["provider"] = "provider"
    format: str
    data: JsonValue

    @field_validator("data", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


AssistantPart: TypeAlias = Annotated[
    TextPart | ImagePart | FilePart | ReasoningContent | ToolCallPart | ProviderPart,
    Field(discriminator="type"),
]
UserPart: TypeAlias = Annotated[TextPart | ImagePart | FilePart, Field(discriminator="type")]


class TextOutput(Model):
    """A tool's answer as text."""

    type: Literal["text"] = "text"
    value: str


class JsonOutput(Model):
    """A tool's answer as JSON."""

    type: Literal["json"] = "json"
    value: JsonValue


class ContentOutput(Model):
    """A tool's answer as text, image and file parts."""

    type: Literal["content"] = "content"
    value: list[UserPart]


class ExecutionDenied(Model):
    """The call was not allowed to run; `value` is the reason."""

    type: Literal["execution-denied"] = "execution-denied"
    value: str | None = None


class ErrorText(Model):
    """The tool failed, in words."""

    type: Literal["error-text"] = "error-text"
    value: str


class ErrorJson(Model):
    """The tool failed, as JSON."""

    type: Literal["error-json"] = "error-json"
    value: JsonValue


ToolOutput: TypeAlias = Annotated[
    TextOutput | JsonOutput | ContentOutput | ExecutionDenied | ErrorText | ErrorJson,
    Field(discriminator="type"),
]


class ToolResultPart(Model):
    """What a tool call gave back."""

    type: Literal["tool-result"] = "tool-result"
    tool_call_id: str
    call_id: str | None = None
    tool_name: str
    output: ToolOutput
