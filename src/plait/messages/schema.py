"""Stored data -> messages, with the caller's own schema of metadata or without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeGuard, overload

from pydantic import Field, TypeAdapter, ValidationError

from plait.errors import InvalidDataError
from plait.messages.invalid import invalid, kind, line
from plait.messages.json_value import NotJson, Path, copied
from plait.messages.roles import (
    AssistantMessage,
    BaseMessage,
    M,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    plain,
)

AnyMessage: TypeAlias = SystemMessage[M] | UserMessage[M] | AssistantMessage[M] | ToolMessage[M]

_STANDARD: TypeAdapter[Message] = TypeAdapter(Message)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Parsed(Generic[M]):
    """What `safe_parse` gives for good data."""

    message: AnyMessage[M]
    success: Literal[True] = True
    error: None = None


@dataclass(frozen=True, slots=True)
class NotParsed:
    """What `safe_parse` gives for bad data: the error that `parse` would raise."""

    error: InvalidDataError
    success: Literal[False] = False
    message: None = None


class MessageSchema(Generic[M]):
    """The standard structure of messages, with one type of metadata. Made by `create_message_schema`."""

    def __init__(self, metadata_schema: Any = Any) -> None:
        self._type = metadata_schema
        self._metadata: TypeAdapter[M] | None = (
            None if metadata_schema is Any else TypeAdapter(metadata_schema)
        )

    def parse(self, data: object) -> AnyMessage[M]:
        """The message that `data` describes: a dict in snake_case or camelCase, or a message.

        Raises:
            InvalidDataError: it does not; the message names the path and the reason
        """
        return self._parse(data, ())

    def parse_all(self, items: Iterable[object]) -> list[AnyMessage[M]]:
        """Several messages, in order.

        Raises:
            InvalidDataError: one of them is none; the path begins with its index, as in `messages[2].role`
        """
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            raise InvalidDataError(f"messages: expected a list, got {kind(items)}")
        return [self._parse(item, ("messages", at)) for at, item in enumerate(items)]

    def safe_parse(self, data: object) -> Parsed[M] | NotParsed:
        """As `parse`, but tells of bad data in place of raising: `.success`, `.message`, `.error`."""
        try:
            return Parsed(self.parse(data))
        except InvalidDataError as error:
            return NotParsed(error)

    def json_schema(self) -> dict[str, Any]:
        """JSON schema (2020-12) of a stored message, as `to_dict()` writes it (snake_case)."""
        adapter: TypeAdapter[Any] = _STANDARD
        if self._metadata is not None:
            roles = tuple(
                cls[self._type] for cls in (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
            )
            whole = roles[0] | roles[1] | roles[2] | roles[3]
            union: Any = Annotated[whole, Field(discriminator="role")]
            adapter = TypeAdapter(union)
        return {"$schema": _DIALECT, **adapter.json_schema(by_alias=False)}

    def _parse(self, data: object, path: Path) -> AnyMessage[M]:
        message = _standard(data, path)
        if self._metadata is None or message.metadata is None:
            return message
        return message.model_copy(update={"metadata": self._read_metadata(message.metadata, path)})

    def _read_metadata(self, metadata: Any, path: Path) -> M:
        assert self._metadata is not None
        path = (*path, "metadata")
        try:
            # A message that was read with another schema has metadata of that one's type.
            given = copied(plain(metadata), "metadata")
            read = self._metadata.validate_python(given)
            copied(plain(read), "metadata")
        except ValidationError as error:
            raise invalid(error, metadata, path=path, ours=False) from None
        except NotJson as error:
            raise InvalidDataError(line((*path, *error.path), error.reason)) from None
        except Exception as error:
            # A validator of the caller's did not expect this data: `safe_parse` does not raise for that.
            raise InvalidDataError(
                line(path, f"the metadata schema raised {type(error).__name__}: {error}")
            ) from error
        return read


def _standard(data: object, path: Path) -> Message:
    if isinstance(data, BaseMessage):
        return data  # type: ignore[return-value]
    if not isinstance(data, dict):
        raise InvalidDataError(line(path, f"expected a message (an object), got {kind(data)}"))
    try:
        return _STANDARD.validate_python(data)
    except ValidationError as error:
        raise invalid(error, data, path=path, tagged=True) from None
    except RecursionError:
        raise InvalidDataError(line(path, "nested too deeply")) from None


@overload
def create_message_schema() -> MessageSchema[Any]: ...
@overload
def create_message_schema(*, metadata_schema: type[M]) -> MessageSchema[M]: ...
@overload
def create_message_schema(*, metadata_schema: Any) -> MessageSchema[Any]: ...
def create_message_schema(*, metadata_schema: Any = Any) -> MessageSchema[Any]:
    """A schema of messages whose metadata, where there is any, is what `metadata_schema` says.

    Strict JSON is checked before that schema runs, and again on what it returns. Structure only: whether
    results stand by their calls is `check_transcript`'s business.

    Args:
        metadata_schema: a pydantic model, or any type that pydantic reads (a TypedDict, a dataclass, an
            annotated type); by default any strict JSON
    """
    return MessageSchema(metadata_schema)


STANDARD: MessageSchema[Any] = MessageSchema()


def parse_message(data: object) -> Message:
    """The message that `data` describes, its metadata any strict JSON. A message is given back as it is.

    Raises:
        InvalidDataError: it describes none; the message names the path and the reason
    """
    return STANDARD.parse(data)


def parse_messages(items: Iterable[object]) -> list[Message]:
    """Several messages, in order.

    Raises:
        InvalidDataError: one of them is none; the path begins with its index, as in `messages[2].role`
    """
    return STANDARD.parse_all(items)


def safe_parse(data: object) -> Parsed[Any] | NotParsed:
    """As `parse_message`, but tells of bad data in place of raising: `.success`, `.message`, `.error`."""
    return STANDARD.safe_parse(data)


def is_message(data: object) -> TypeGuard[Message | dict[str, Any]]:
    """Whether `data` is a message, or a dict that `parse_message` takes."""
    return STANDARD.safe_parse(data).success
