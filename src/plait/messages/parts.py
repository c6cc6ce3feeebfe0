"""Content parts, told apart by `type`: those that only a model says, and the unions of all.

JSON is accepted with snake_case and camelCase keys. Parts are frozen; `model_copy(update=...)` makes a
changed one.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec
from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator

from plait import json_text
from plait.errors import InvalidDataError, quote
from plait.events import ReasoningPart
from plait.messages.content import TextPart
from plait.messages.json_value import NotJson, copied
from plait.messages.media import FilePart, ImagePart
from plait.messages.model import Model
from plait.messages.results import ToolOutput, ToolResultPart


def _text_too(schema: dict[str, Any]) -> None:
    schema["properties"]["text"] = {"type": "string"}


class ReasoningContent(Model):
    """A model's reasoning: one wire item with its details in order. Opaque details stay opaque.

    A plain `{"type": "reasoning", "text": ...}` is accepted as one `text` detail without format.
    """

    model_config = ConfigDict(json_schema_extra=_text_too)

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


def _input_too(schema: dict[str, Any]) -> None:
    schema["properties"]["input"] = {"description": "The arguments as JSON data."}


class ToolCallPart(Model):
    """A tool call the model asks for. `arguments` is the JSON text as it came: what is replayed.

    A call may be made of its `input` in place of `arguments`.
    """

    model_config = ConfigDict(json_schema_extra=_input_too)

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

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            tool_call_id: str,
            tool_name: str,
            arguments: str = "{}",
            input: Any = ...,
            call_id: str | None = None,
            complete: bool = True,
            kind: Literal["function", "custom"] = "function",
            signature: str | None = None,
            extra: dict[str, JsonValue] | None = None,
            format: str | None = None,
            type: Literal["tool-call"] = "tool-call",
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _from_input(cls, data: Any) -> Any:
        if isinstance(data, dict) and "input" in data:
            data = dict(data)
            value = data.pop("input")
            if "arguments" not in data:
                try:
                    data["arguments"] = json.dumps(copied(value, "input"), ensure_ascii=False)
                except NotJson as error:
                    error.path = ("input", *error.path)
                    raise
        return data

    def to_dict(self, *, camel: bool = False) -> dict[str, Any]:
        """As for every part; `input` stands beside `arguments` where any JSON reader can read it."""
        data = super().to_dict(camel=camel)
        if self.complete:
            with suppress(InvalidDataError):
                value = self.input
                if json_text.is_portable(value):
                    data["input"] = value
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

    def result(self, output: str | ToolOutput) -> ToolResultPart:
        """The part that answers this call: its ids and name are those of the call. A string is text."""
        return ToolResultPart(
            tool_call_id=self.tool_call_id, call_id=self.call_id, tool_name=self.tool_name, output=output
        )


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
