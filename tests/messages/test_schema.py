"""Stored data -> messages: the standard structure, and a metadata schema of the caller's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from plait import InvalidDataError
from plait.messages import (
    AssistantMessage,
    ContentOutput,
    ExecutionDenied,
    FilePart,
    ImagePart,
    JsonOutput,
    Message,
    ProviderPart,
    ReasoningContent,
    ReasoningPart,
    SystemMessage,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    create_message_schema,
    is_message,
    parse_message,
    parse_messages,
    safe_parse,
)

CALL = ToolCallPart(tool_call_id="i", call_id="c", tool_name="f", input={"a": None})
MESSAGES: list[Message] = [
    SystemMessage("Be brief."),
    UserMessage(["Look:", ImagePart.from_bytes(b"GIF89a"), FilePart.from_url("https://a.example/b.pdf")]),
    AssistantMessage(
        [
            ReasoningContent(id="r", details=[ReasoningPart("text", "hm", signature="s", format="f")]),
            "Hi",
            CALL,
            ProviderPart(format="f", data={"camelKey": None}),
        ],
        id="m",
        finish_reason="tool_calls",
        token_usage=TokenUsage(1, 2, cache_read_tokens=0),
    ),
    ToolMessage(
        [CALL.result(ContentOutput(["x"])), CALL.result(ExecutionDenied("no"))], metadata={"a": [None]}
    ),
]
each_message = pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.role)


class Ticket(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tenant_id: str = Field(min_length=1)
    ticket_id: str = Field(min_length=1)


TICKETS = create_message_schema(metadata_schema=Ticket)
TICKET = {"tenant_id": "demo", "ticket_id": "T-1"}


def stored(metadata: Any = None) -> dict[str, Any]:
    data: dict[str, Any] = {"role": "user", "content": "Check this ticket."}
    return data if metadata is None else {**data, "metadata": metadata}


@each_message
@pytest.mark.parametrize("camel", [False, True], ids=["snake", "camel"])
def test_round_trip(message: Message, camel: bool) -> None:
    """What is written as JSON, in either case, is read as an equal message."""
    assert message == parse_message(json.loads(json.dumps(message.to_dict(camel=camel))))


@each_message
def test_json_schema_describes_what_is_written(message: Message) -> None:
    """The JSON schema holds for `to_dict()`, whose keys are all it allows."""
    schema = create_message_schema().json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(message.to_dict(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**message.to_dict(), "colour": 1}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"content": "x"}, schema)


@pytest.mark.parametrize(
    "data",
    [
        {"role": "user", "content": "a string"},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "tool_call_id": "i",
                    "tool_name": "f",
                    "output": {"type": "execution-denied", "reason": "no"},
                }
            ],
        },
    ],
    ids=["string", "reasoning text", "reason"],
)
def test_json_schema_allows_shorthand(data: dict[str, Any]) -> None:
    """What else is read in stored data is allowed too."""
    assert is_message(data)
    jsonschema.validate(data, create_message_schema().json_schema())


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        ("expected a message (an object), got null", None),
        ("expected a message (an object), got str", "hi"),
        ("role: is missing", {"content": "x"}),
        ("role: expected one of 'system', 'user', 'assistant', 'tool', got 'robot'", {"role": "robot"}),
        ("content: is missing", {"role": "user"}),
        ("content: expected a list, got int", {"role": "user", "content": 1}),
        ("content[0].text: is missing", {"role": "user", "content": [{"type": "text"}]}),
        ("content[1].type: is missing", {"role": "user", "content": [{"type": "text", "text": "a"}, {}]}),
        ("content[0].toolCallId: expected a string, got int",
         {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": 1, "toolName": "f"}]}),
        ("content[0].tool_name: is missing",
         {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "i"}]}),
        ("content[0].image.url: is missing", {"role": "user",
                                               "content": [{"type": "image", "image": {"type": "url"}}]}),
        ("content[0].output.value[0].type: expected one of 'text', 'image', 'file', got 'tool-call'",
         {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "i", "toolName": "f",
                                       "output": {"type": "content", "value": [{"type": "tool-call"}]}}]}),
        ("content[0].output.value.a: NaN is not a JSON number",
         {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "i", "toolName": "f",
                                       "output": {"type": "error-json", "value": {"a": float("nan")}}}]}),
        ("metadata.a: set is not a JSON value; give a list", stored({"a": set()})),
        ("a: unknown key; b: unknown key; c: unknown key; d: unknown key; e: unknown key; and 2 more",
         {**stored(), **dict.fromkeys("abcdefg")}),
    ],
    ids=["null", "string", "no role", "role", "no content", "content", "text", "type", "camel", "missing",
         "image", "nested", "nested JSON", "metadata", "many"],
)  # fmt: skip
def test_refuses(reason: str, data: object) -> None:
    """Bad data is one error with paths as the author wrote them; the safe ways do not raise."""
    with pytest.raises(InvalidDataError) as caught:
        parse_message(data)
    assert reason == str(caught.value)
    result = safe_parse(data)
    assert (False, None, reason) == (result.success, result.message, str(result.error))
    assert not is_message(data)


@pytest.mark.parametrize(
    ("reason", "items"),
    [
        ("messages[1].role: is missing", [stored(), {}]),
        ("messages[1].metadata.a: set is not a JSON value; give a list", [stored(), stored({"a": set()})]),
        ("messages[0]: expected a message (an object), got int", [3]),
        ("messages: expected a list, got dict", stored()),
        ("messages: expected a list, got str", "hi"),
        ("messages: expected a list, got null", None),
    ],
    ids=["role", "metadata", "int", "one message", "string", "none"],
)
def test_messages_name_the_index(reason: str, items: Any) -> None:
    """The path of a fault begins with the place of its message."""
    with pytest.raises(InvalidDataError) as caught:
        parse_messages(items)
    assert reason == str(caught.value)


def test_messages_pass_through() -> None:
    """What is a message already is given back."""
    message = UserMessage("hi")
    assert [message] == parse_messages([message])
    assert message is parse_message(message)
    assert is_message(message)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.sampled_from(["user", "text", "image", "tool", "tool-result", "data:x", "url"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(max_size=3) | st.integers()
        | st.sampled_from(["role", "content", "type", "text", "image", "url", "data", "metadata", "output"]),
        inner, max_size=5),
    max_leaves=25,
))  # fmt: skip
def test_safe_parse_never_raises(data: Any) -> None:
    """Whatever is handed in, the answer is a message or an InvalidDataError with words."""
    for wrapped in (
        data,
        {"role": "user", "content": data},
        {"role": "tool", "content": [data]},
        stored(data),
    ):
        result = TICKETS.safe_parse(wrapped)
        assert result.success or str(result.error)


def test_content_within_itself() -> None:
    """A cycle outside of metadata is bad data too."""
    content: list[Any] = []
    content.append({"type": "text", "text": "a", "citations": content})
    assert not is_message({"role": "user", "content": content})


class TestMetadataSchema:
    """The caller's own type of metadata."""

    def test_parse(self) -> None:
        """Metadata is read into that type, stays optional, and is written as its JSON."""
        message = TICKETS.parse(stored(TICKET))
        assert Ticket(**TICKET) == message.metadata
        assert TICKET == message.to_dict()["metadata"]
        assert message == TICKETS.parse(message.to_dict())
        assert message == TICKETS.parse(message)
        assert None is TICKETS.parse(stored()).metadata
        assert type(message) is UserMessage
        assert is_message(message)

    @pytest.mark.parametrize(
        ("reason", "metadata"),
        [
            ("metadata.ticket_id: is missing", {"tenant_id": "demo"}),
            ("metadata.tenant_id: String should have at least 1 character", {**TICKET, "tenant_id": ""}),
            ("metadata.more: unknown key", {**TICKET, "more": 1}),
            ("metadata.tenant_id: NaN is not a JSON number", {**TICKET, "tenant_id": float("nan")}),
            ("metadata: expected an object, got int", 3),
        ],
        ids=["missing", "empty", "unknown", "not JSON", "no object"],
    )
    def test_refuses(self, reason: str, metadata: Any) -> None:
        """The standard structure takes other metadata, this schema does not."""
        result = TICKETS.safe_parse(stored(metadata))
        assert result.success is False
        assert str(result.error).startswith(reason)
        with pytest.raises(InvalidDataError, match="metadata"):
            TICKETS.parse(stored(metadata))

    def test_success_is_told(self) -> None:
        """A good message comes back with `success`."""
        result = TICKETS.safe_parse(stored(TICKET))
        assert (True, None) == (result.success, result.error)
        assert result.message == TICKETS.parse(stored(TICKET))

    def test_index(self) -> None:
        """Several messages: the path begins with the index."""
        assert 2 == len(TICKETS.parse_all([stored(TICKET), stored()]))
        with pytest.raises(InvalidDataError) as caught:
            TICKETS.parse_all([stored(TICKET), stored({"tenant_id": "a"})])
        assert "messages[1].metadata.ticket_id: is missing" == str(caught.value)

    def test_json_is_checked_before(self) -> None:
        """The metadata schema never sees what is not strict JSON."""
        seen: list[Any] = []
        schema = create_message_schema(metadata_schema=Annotated[Any, AfterValidator(seen.append)])
        assert not schema.safe_parse(stored({"a": (1, 2)})).success
        assert [] == seen

    @pytest.mark.parametrize(
        ("reason", "make"),
        [
            ("metadata.at: date is not a JSON value", lambda data: {"at": date(2025, 1, 1)}),
            ("metadata: set is not a JSON value", lambda data: {1}),
            ("metadata.n: NaN is not a JSON number", lambda data: {"n": float("nan")}),
            ("metadata: object is not a JSON value", lambda data: object()),
            ("metadata: the metadata schema raised KeyError: 'x'", lambda data: data["x"]),
        ],
        ids=["date", "set", "nan", "object", "raises"],
    )
    def test_json_is_checked_after(self, reason: str, make: Callable[[Any], Any]) -> None:
        """A validator that yields something else is refused, and one that breaks is told of."""
        schema = create_message_schema(metadata_schema=Annotated[Any, AfterValidator(make)])
        result = schema.safe_parse(stored({"a": 1}))
        assert str(result.error).startswith(reason)

    def test_model_with_a_date(self) -> None:
        """A model whose field is a date in Python is refused, though pydantic could write it."""

        class Dated(BaseModel):
            at: date

        schema = create_message_schema(metadata_schema=Dated)
        with pytest.raises(InvalidDataError, match=r"^metadata\.at: date is not a JSON value"):
            schema.parse(stored({"at": "2025-01-01"}))

    def test_other_types(self) -> None:
        """Any type that pydantic reads will do; aliases are written as they are read."""

        @dataclass
        class Point:
            x: int

        class Aliased(BaseModel):
            tenant_id: str = Field(alias="tenantId")

        point = create_message_schema(metadata_schema=Point).parse(stored({"x": 1}))
        assert Point(1) == point.metadata
        assert {"x": 1} == point.to_dict()["metadata"]
        mapping = create_message_schema(metadata_schema=dict[str, Ticket]).parse(stored({"a": TICKET}))
        assert {"a": TICKET} == mapping.to_dict()["metadata"]
        schema = create_message_schema(metadata_schema=Aliased)
        aliased = schema.parse(stored({"tenantId": "a"}))
        assert aliased == schema.parse(aliased.to_dict(camel=True))

    def test_made_in_python(self) -> None:
        """A message of that type of metadata can be written in Python."""
        message = UserMessage[Ticket]("hi", metadata=Ticket(**TICKET))
        assert message == TICKETS.parse(message.to_dict())

    def test_json_schema(self) -> None:
        """The JSON schema has the metadata's in it."""
        schema = TICKETS.json_schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(TICKETS.parse(stored(TICKET)).to_dict(), schema)
        jsonschema.validate(stored(), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(stored({"tenant_id": "demo"}), schema)


def test_standard_metadata_is_any_json() -> None:
    """Without a schema of its own, metadata is any strict JSON."""
    schema = create_message_schema()
    values: list[Any] = ["a", 1, 1.5, True, [None], {"a": {"b": []}}]
    for value in values:
        assert value == schema.parse(stored(value)).metadata


def test_json_output_keeps_keys() -> None:
    """Keys inside a tool's JSON are not ours to rename."""
    message = ToolMessage([CALL.result(JsonOutput({"totalCents": 4900, "a_b": None}))])
    value = message.to_dict(camel=True)["content"][0]["output"]["value"]
    assert {"totalCents": 4900, "a_b": None} == value


def test_text_part_instances_among_data() -> None:
    """Parts and dicts may stand side by side."""
    message = parse_message({"role": "user", "content": [TextPart("a"), {"type": "text", "text": "b"}]})
    assert UserMessage(["a", "b"]) == message
