"""What tool calls gave back: six kinds of output, and the part that holds one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator

from plait.messages.content import UserContent, UserPart, parts_of
from plait.messages.json_value import copied
from plait.messages.model import Model


def _strict(value: Any) -> Any:
    return copied(value, "value")


class TextOutput(Model):
    """A tool's answer as text."""

    _positional: ClassVar = "value"

    type: Literal["text"] = "text"
    value: str

    if TYPE_CHECKING:

        def __init__(self, value: str, *, type: Literal["text"] = "text") -> None: ...


class JsonOutput(Model):
    """A tool's answer as strict JSON."""

    _positional: ClassVar = "value"

    type: Literal["json"] = "json"
    value: JsonValue

    _check = field_validator("value", mode="before")(_strict)

    if TYPE_CHECKING:

        def __init__(self, value: Any, *, type: Literal["json"] = "json") -> None: ...


class ContentOutput(Model):
    """A tool's answer as text, image and file parts."""

    _positional: ClassVar = "value"

    type: Literal["content"] = "content"
    value: list[UserPart]

    if TYPE_CHECKING:

        def __init__(
            self, value: UserContent | Sequence[UserContent], *, type: Literal["content"] = "content"
        ) -> None: ...

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "value": parts_of(data["value"])} if "value" in data else data


def _reason_too(schema: dict[str, Any]) -> None:
    schema["properties"]["reason"] = schema["properties"]["value"]


class ExecutionDenied(Model):
    """The call was not allowed to run; `value` is the reason (also read from the key `reason`)."""

    model_config = ConfigDict(json_schema_extra=_reason_too)
    _positional: ClassVar = "value"

    type: Literal["execution-denied"] = "execution-denied"
    value: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self, value: str | None = None, *, type: Literal["execution-denied"] = "execution-denied"
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _from_reason(cls, data: Any) -> Any:
        if isinstance(data, dict) and "reason" in data and "value" not in data:
            data = dict(data)
            data["value"] = data.pop("reason")
        return data

    @property
    def reason(self) -> str | None:
        """Why it was not allowed, when that was said."""
        return self.value


class ErrorText(Model):
    """The tool failed, in words."""

    _positional: ClassVar = "value"

    type: Literal["error-text"] = "error-text"
    value: str

    if TYPE_CHECKING:

        def __init__(self, value: str, *, type: Literal["error-text"] = "error-text") -> None: ...


class ErrorJson(Model):
    """The tool failed, as strict JSON."""

    _positional: ClassVar = "value"

    type: Literal["error-json"] = "error-json"
    value: JsonValue

    _check = field_validator("value", mode="before")(_strict)

    if TYPE_CHECKING:

        def __init__(self, value: Any, *, type: Literal["error-json"] = "error-json") -> None: ...


ToolOutput: TypeAlias = Annotated[
    TextOutput | JsonOutput | ContentOutput | ExecutionDenied | ErrorText | ErrorJson,
    Field(discriminator="type"),
]


class ToolResultPart(Model):
    """What a tool call gave back.

    In Python a string may stand for a `TextOutput`. JSON goes into a `JsonOutput`: a dict alone could be
    either the data or a stored output.
    """

    type: Literal["tool-result"] = "tool-result"
    tool_call_id: str
    call_id: str | None = None
    """The provider's own id of the call, when it gave one."""
    tool_name: str
    output: ToolOutput

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            tool_call_id: str,
            tool_name: str,
            output: str | ToolOutput,
            call_id: str | None = None,
            type: Literal["tool-result"] = "tool-result",
        ) -> None: ...

    @classmethod
    def _prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        output = data.get("output")
        return {**data, "output": TextOutput(output)} if isinstance(output, str) else data
