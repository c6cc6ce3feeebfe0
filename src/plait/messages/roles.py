"""The messages of a conversation, one class per role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, field_validator
from pydantic_core import to_jsonable_python
from typing_extensions import TypeVar

from plait.events import FinishReason, ReasoningPart, TokenUsage
from plait.messages.content import TextPart, UserContent, UserPart, parts_of
from plait.messages.json_value import copied
from plait.messages.media import FilePart, ImagePart
from plait.messages.model import Model
from plait.messages.parts import AssistantPart, ProviderPart, ReasoningContent, ToolCallPart
from plait.messages.results import ToolResultPart

M = TypeVar("M", default=Any)
"""The type of a message's metadata: strict JSON, or what a metadata schema makes of it."""

AssistantContent: TypeAlias = (
    str | TextPart | ImagePart | FilePart | ReasoningContent | ToolCallPart | ProviderPart
)
"""What may be written for a part: a string is text."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def plain(value: object) -> Any:
    """A value of the user's (a model, a dataclass) as dicts, lists and scalars, dates still dates."""
    return _ANY.dump_python(value, by_alias=True, warnings=False)


def _text_as_part(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _text_too(schema: dict[str, Any]) -> None:
    parts = schema["properties"]["content"]
    schema["properties"]["content"] = {"anyOf": [{"type": "string"}, parts]}


class BaseMessage(Model, Generic[M]):
    """What messages of every role have: metadata, which adapters never send."""

    _positional: ClassVar = "content"

    @field_validator("metadata", mode="wrap", check_fields=False)
    @classmethod
    def _strict_json(cls, value: Any, read: Callable[[Any], Any]) -> Any:
        # Checked before a metadata schema runs, and again on what it returns.
        custom = bool(cls.__pydantic_generic_metadata__["args"])
        result = read(copied(plain(value) if custom else value, "metadata"))
        if custom:
            copied(plain(result), "metadata")
        return result

    def to_dict(self, *, camel: bool = False) -> dict[str, Any]:
        """As for every part; metadata of a metadata schema's type is written as its JSON."""
        data = super().to_dict(camel=camel)
        if "metadata" in data:
            data["metadata"] = to_jsonable_python(data["metadata"], by_alias=True)
        return data


class SystemMessage(BaseMessage[M]):
    """An instruction."""

    role: Literal["system"] = "system"
    content: str
    metadata: M | None = None

    if TYPE_CHECKING:

        def __init__(
            self, content: str, *, metadata: M | None = None, role: Literal["system"] = "system"
        ) -> None: ...


class UserMessage(BaseMessage[M]):
    """What the user says: text, images and files. A string becomes one text part."""

    model_config = ConfigDict(json_schema_extra=_text_too)

    role: Literal["user"] = "user"
    content: list[UserPart]
    metadata: M | None = None

    _normalize = field_validator("content", mode="before")(_text_as_part)

    if TYPE_CHECKING:

        def __init__(
            self,
            content: UserContent | Sequence[UserContent],
            *,
            metadata: M | None = None,
            role: Literal["user"] = "user",
        ) -> None: ...

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "content": parts_of(data["content"])} if "content" in data else data

    @property
    def text(self) -> str:
        """All text, joined; empty when there is none."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


class AssistantMessage(BaseMessage[M]):
    """What the model answered, its parts in the order they came. A string becomes one text part."""

    model_config = ConfigDict(json_schema_extra=_text_too)

    role: Literal["assistant"] = "assistant"
    content: list[AssistantPart]
    id: str | None = None
    """The provider's id of the message or response."""
    model: str | None = None
    provider: str | None = None
    finish_reason: FinishReason | None = None
    """None while the response has not ended."""
    raw_finish_reason: str | None = None
    token_usage: TokenUsage | None = None
    metadata: M | None = None

    _normalize = field_validator("content", mode="before")(_text_as_part)

    if TYPE_CHECKING:

        def __init__(
            self,
            content: AssistantContent | Sequence[AssistantContent],
            *,
            id: str | None = None,
            model: str | None = None,
            provider: str | None = None,
            finish_reason: FinishReason | None = None,
            raw_finish_reason: str | None = None,
            token_usage: TokenUsage | None = None,
            metadata: M | None = None,
            role: Literal["assistant"] = "assistant",
        ) -> None: ...

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "content": parts_of(data["content"])} if "content" in data else data

    @property
    def text(self) -> str:
        """All answer text, joined; empty when there is none."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The tool calls the client is asked to run, in order."""
        return [part for part in self.content if isinstance(part, ToolCallPart)]

    @property
    def reasoning(self) -> list[ReasoningPart]:
        """All reasoning details, in order."""
        blocks = [part for part in self.content if isinstance(part, ReasoningContent)]
        return [detail for block in blocks for detail in block.details]

    @property
    def reasoning_text(self) -> str | None:
        """The reasoning that may be shown, joined by blank lines; None when there is none."""
        shown = [part.text for part in self.content if isinstance(part, ReasoningContent) and part.text]
        return "\n\n".join(shown) if shown else None


class ToolMessage(BaseMessage[M]):
    """The results of tool calls; it follows the assistant message that asked for them."""

    role: Literal["tool"] = "tool"
    content: list[ToolResultPart] = Field(min_length=1)
    metadata: M | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            content: ToolResultPart | Sequence[ToolResultPart],
            *,
            metadata: M | None = None,
            role: Literal["tool"] = "tool",
        ) -> None: ...

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        content = data.get("content")
        return {**data, "content": [content]} if isinstance(content, ToolResultPart) else data


Message: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]
