"""The messages of a conversation, one class per role."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, JsonValue, field_validator

from plait.events import FinishReason, ReasoningPart, TokenUsage
from plait.messages.parts import (
    AssistantPart,
    Model,
    ReasoningContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserPart,
)


def _parts(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class SystemMessage(Model):
    """An instruction."""

    role: Literal["system"] = "system"
    content: str
    metadata: JsonValue = None


class UserMessage(Model):
    """What the user says: text, images and files. A string becomes one text part."""

    role: Literal["user"] = "user"
    content: list[UserPart]
    metadata: JsonValue = None

    _normalize = field_validator("content", mode="before")(_parts)


class AssistantMessage(Model):
    """What the model answered, its parts in the order they came. A string becomes one text part."""

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
    metadata: JsonValue = None

    _normalize = field_validator("content", mode="before")(_parts)

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


class ToolMessage(Model):
    """The results of tool calls; it follows the assistant message that asked for them."""

    role: Literal["tool"] = "tool"
    content: list[ToolResultPart] = Field(min_length=1)
    metadata: JsonValue = None


Message: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]
