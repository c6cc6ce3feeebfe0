"""The vocabulary: every event a provider's bytes, or the agent loop, can turn into.

An event is frozen, value-equal and final; the ones made per token cost tens of nanoseconds (msgspec
structs; figures in docs/performance.md). `to_dict()` gives JSON data without what is absent, and
`event_from_dict` is its inverse.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import msgspec

from plait.errors import InvalidDataError, quote

if TYPE_CHECKING:
    from typing import Self

Role: TypeAlias = Literal["assistant", "system"]
FinishReason: TypeAlias = Literal[
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "context_window",
    "malformed_output",
    "error",
    "other",
]
ReasoningType: TypeAlias = Literal["text", "summary", "encrypted", "redacted"]
SearchStatus: TypeAlias = Literal["in_progress", "searching", "completed", "open_page"]
GuardrailPhase: TypeAlias = Literal["before", "after"]
Source: TypeAlias = dict[str, str]


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Value(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base of Plait's immutable values. Works as a pydantic field type; pydantic is not imported here."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the fields in order, without those that have their default (absent) value."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """The inverse of `to_dict`.

        Raises:
            InvalidDataError: `data` does not have this type's fields; the message names the path.
        """
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise InvalidDataError(f"not a {cls.__name__}: {error}") from None

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON schema of what `to_dict` gives, without references."""
        (schema,), defs = msgspec.json.schema_components([cls])
        inlined: dict[str, Any] = _inline(schema, defs)
        return inlined

    @classmethod
    def _validate(cls, value: Any) -> Self:
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):  # messages are also accepted in camelCase
            value = {_snake_case(key) if isinstance(key, str) else key: item for key, item in value.items()}
        return cls.from_dict(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.to_dict()),
            metadata={"pydantic_js_functions": [lambda _schema, _handler: cls.json_schema()]},
        )


class TokenUsage(Value, frozen=True, gc=False):
    """Tokens of one response, or a sum of several (`a + b`). None means the provider did not say.

    Attributes:
        input_tokens: all that entered the context, cache reads and writes included
        output_tokens: all that was generated, reasoning included
        cache_read_tokens: the part of the input that was read from a cache
        cache_write_tokens: the part of the input that was written to a cache
        reasoning_tokens: the part of the output that was reasoning
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: TokenUsage) -> TokenUsage:
        if not isinstance(other, TokenUsage):
            return NotImplemented
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _add(self.cache_read_tokens, other.cache_read_tokens),
            _add(self.cache_write_tokens, other.cache_write_tokens),
            _add(self.reasoning_tokens, other.reasoning_tokens),
        )


def _add(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


class ReasoningPart(Value, frozen=True, gc=False):
    """One piece of a model's reasoning, as the provider gave it.

    Attributes:
        type: `text`, `summary`, `encrypted` (state the provider encrypted) or `redacted` (withheld)
        text: what may be shown
        data: opaque state, sent back as it came
        signature: the provider's signature over exactly this text
        id: the provider's id of the part or of the item it came in
        format: names the wire shape that made the part. An adapter sends back only formats it knows;
            without a format the part is kept for display and never sent
    """

    type: ReasoningType
    text: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None


class Event(Value, frozen=True, gc=False, tag_field="type", tag=_snake_case):
    """Base of all events. `to_dict()` begins with `type` (the class name in snake_case) and `role`."""

    role: ClassVar[Role] = "assistant"

    @property
    def type(self) -> str:
        """The event's name in snake_case, such as `text_delta`."""
        tag = self.__struct_config__.tag
        assert isinstance(tag, str)
        return tag

    def to_dict(self) -> dict[str, Any]:
        """JSON data: `type`, `role`, then the fields that are present."""
        data = msgspec.to_builtins(self)
        return {"type": data.pop("type"), "role": self.role, **data}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """The event that `to_dict` described; `data` must name its `type`.

        Raises:
            InvalidDataError: not an event, or not of this class; the message names the path.
        """
        event = event_from_dict(data)
        if not isinstance(event, cls):
            raise InvalidDataError(f"expected a {cls.__name__}, got a {type(event).__name__}")
        return event

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON schema of what `to_dict` gives; for `Event` itself, that of any event."""
        if cls is not Event:
            return _with_role(super().json_schema(), cls)
        whole = event_json_schema()
        return {"oneOf": _inline(whole["oneOf"], whole["$defs"])}


class TextDelta(Event, frozen=True, gc=False):
    """A piece of answer text."""

    content: str
    index: int | None = None


class TextDone(Event, frozen=True, gc=False):
    """The whole answer text: once per response that has text, after its last `TextDelta`.

    `index` is that of the last text part.
    """

    content: str
    index: int | None = None


class ToolCallDelta(Event, frozen=True, gc=False):
    """A piece of a tool call's arguments (JSON text). `name` may be only in the call's first."""

    item_id: str
    name: str | None = None
    arguments_delta: str = ""
    index: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As for every event; an empty `arguments_delta` (the call has only begun) is there too."""
        data = super().to_dict()
        return data if self.arguments_delta else {**data, "arguments_delta": ""}


class ToolCallDone(Event, frozen=True, gc=False):
    """A whole tool call. Unless `complete`, its arguments are not one JSON value and it must not be run."""

    item_id: str
    call_id: str
    name: str
    arguments: str
    complete: bool = True
    index: int | None = None


class ReasoningDelta(Event, frozen=True, gc=False):
    """A piece of reasoning that may be shown."""

    content: str
    index: int | None = None


class ReasoningDone(Event, frozen=True):
    """A whole reasoning part; its text equals the deltas since the previous one of its `index`."""

    part: ReasoningPart
    index: int | None = None


class WebSearchStatus(Event, frozen=True, gc=False):
    """Progress of a search that the provider runs."""

    status: SearchStatus
    query: str | None = None
    url: str | None = None
    index: int | None = None


class WebSearchDone(Event, frozen=True):
    """A search that the provider ran has finished. `query` is empty where the wire does not say it."""

    query: str
    sources: list[Source]
    index: int | None = None


class GuardrailTripwire(Event, frozen=True, gc=False):
    """A guardrail blocked the run."""

    guardrail_id: str
    reason: str
    phase: GuardrailPhase


class GuardrailModification(Event, frozen=True):
    """A guardrail changed the messages at these positions."""

    guardrail_id: str
    phase: GuardrailPhase
    message_indices: list[int]


class SkillActivation(Event, frozen=True, gc=False):
    """The model activated a skill."""

    role: ClassVar[Role] = "system"
    name: str


class Interrupt(Event, frozen=True, gc=False):
    """The agent loop stopped early: a callback's reason, `max_steps`, or None."""

    role: ClassVar[Role] = "system"
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As for every event, with `interrupt: true` beside the role."""
        data = super().to_dict()
        return {"type": data.pop("type"), "role": data.pop("role"), "interrupt": True, **data}


class TokenUsageDone(Event, frozen=True):
    """The response's token usage: once, when the provider reports it."""

    token_usage: TokenUsage


class FinishReasonDone(Event, frozen=True, gc=False):
    """Why the response ended: once per response, its last event. `raw_finish_reason` is the wire's word."""

    finish_reason: FinishReason
    raw_finish_reason: str | None = None


class ResponseStarted(Event, frozen=True, gc=False):
    """The provider's id of the response, and the model that answers, when the wire says them."""

    response_id: str | None = None
    model: str | None = None
    provider: str | None = None


class Citation(Event, frozen=True, gc=False):
    """An annotation on the answer text: what it rests on, and where (`start`, `end` as the wire counts)."""

    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    start: int | None = None
    end: int | None = None
    index: int | None = None


class ServerToolCall(Event, frozen=True):
    """The provider runs a tool of its own, other than web search. Never to be run by the client."""

    id: str
    name: str
    input: Any = None
    index: int | None = None


class ServerToolResult(Event, frozen=True):
    """What a tool that the provider ran gave back."""

    id: str
    name: str
    output: Any = None
    index: int | None = None


class FileDone(Event, frozen=True, gc=False):
    """A generated image, audio or file: base64 `data` or a `url`."""

    media_type: str
    data: str | None = None
    url: str | None = None
    index: int | None = None


EVENT_TYPES: dict[str, type[Event]] = {
    _snake_case(cls.__name__): cls
    for cls in (
        ResponseStarted,
        TextDelta,
        TextDone,
        ToolCallDelta,
        ToolCallDone,
        ReasoningDelta,
        ReasoningDone,
        WebSearchStatus,
        WebSearchDone,
        ServerToolCall,
        ServerToolResult,
        Citation,
        FileDone,
        GuardrailTripwire,
        GuardrailModification,
        SkillActivation,
        Interrupt,
        TokenUsageDone,
        FinishReasonDone,
    )
}
"""Every event class by its `type`."""

CONTENT_EVENTS: tuple[type[Event], ...] = tuple(
    cls for cls in EVENT_TYPES.values() if "index" in cls.__struct_fields__
)
"""The events that carry `index`, the position in the assistant message of the part they belong to."""


def event_from_dict(data: Any) -> Event:
    """The event that `to_dict` (or a line of `plait events`) described.

    Raises:
        InvalidDataError: not a dict, an unknown `type`, or a field that is missing or of the wrong type.
    """
    if not isinstance(data, dict):
        raise InvalidDataError(f"an event is a JSON object with a `type`, got {type(data).__name__}")
    name = data.get("type")
    if not isinstance(name, str):
        raise InvalidDataError(f"an event's `type` is a string, got {type(name).__name__}")
    cls = EVENT_TYPES.get(name)
    if cls is None:
        raise InvalidDataError(f"unknown event type {quote(name)}; the types are {', '.join(EVENT_TYPES)}")
    try:
        return msgspec.convert(data, cls)
    except msgspec.ValidationError as error:
        raise InvalidDataError(f"not a {name} event: {error}") from None


def event_json_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of any event's `to_dict()`: one of the types, told apart by `type`."""
    refs, defs = msgspec.json.schema_components(list(EVENT_TYPES.values()))
    for cls in EVENT_TYPES.values():
        _with_role(defs[cls.__name__], cls)
    mapping = {name: f"#/$defs/{cls.__name__}" for name, cls in EVENT_TYPES.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "PlaitEvent",
        "oneOf": list(refs),
        "discriminator": {"propertyName": "type", "mapping": mapping},
        "$defs": defs,
    }


def _inline(node: Any, defs: dict[str, Any]) -> Any:
    # pydantic takes a foreign type's schema only without references of its own.
    if isinstance(node, dict):
        if "$ref" in node:
            return _inline(defs[node["$ref"].rpartition("/")[2]], defs)
        return {key: _inline(value, defs) for key, value in node.items()}
    return [_inline(item, defs) for item in node] if isinstance(node, list) else node


def _with_role(schema: dict[str, Any], cls: type[Event]) -> dict[str, Any]:
    extra: dict[str, Any] = {"role": {"const": cls.role}}
    if cls is Interrupt:
        extra["interrupt"] = {"const": True}
    properties = schema["properties"]
    schema["properties"] = {"type": properties.pop("type"), **extra, **properties}
    schema["required"] = ["type", *extra, *(name for name in schema["required"] if name != "type")]
    return schema
