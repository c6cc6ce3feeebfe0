"""The vocabulary: immutable values that survive JSON, work in `match` and as pydantic field types."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import plait
from plait.errors import InvalidDataError
from plait.events import CONTENT_EVENTS, EVENT_TYPES, Event, ReasoningPart, TokenUsage

FULL: dict[str, Event] = {
    "text_delta": plait.TextDelta("Hé 🌍", 0),
    "text_done": plait.TextDone("Hé 🌍", 0),
    "tool_call_delta": plait.ToolCallDelta("i1", "find", '{"a"', 1),
    "tool_call_done": plait.ToolCallDone("i1", "c1", "find", '{"a":', False, 1),
    "reasoning_delta": plait.ReasoningDelta("hm", 2),
    "reasoning_done": plait.ReasoningDone(ReasoningPart("text", "hm", "d", "s", "r1", "f-v1"), 2),
    "web_search_status": plait.WebSearchStatus("searching", "q", "https://a.example", 3),
    "web_search_done": plait.WebSearchDone("q", [{"title": "A", "url": "https://a.example"}], 3),
    "server_tool_call": plait.ServerToolCall("s1", "run", {"code": None, "n": [1.5, True]}, 4),
    "server_tool_result": plait.ServerToolResult("s1", "run", [{"out": None}], 5),
    "citation": plait.Citation("https://a.example", "A", "said", 0, 4, 0),
    "file_done": plait.FileDone("image/png", "aGk=", "https://a.example/i.png", 6),
    "guardrail_tripwire": plait.GuardrailTripwire("g", "no", "before"),
    "guardrail_modification": plait.GuardrailModification("g", "after", [0, 2]),
    "skill_activation": plait.SkillActivation("cooking"),
    "interrupt": plait.Interrupt("max_steps"),
    "token_usage_done": plait.TokenUsageDone(TokenUsage(10, 5, 4, 0, 2)),
    "finish_reason_done": plait.FinishReasonDone("stop", "end_turn"),
    "response_started": plait.ResponseStarted("m1", "model-x", "prov"),
}
BARE: list[Event] = [
    plait.ToolCallDelta("i1"),
    plait.ReasoningDone(ReasoningPart("redacted")),
    plait.WebSearchDone("", []),
    plait.ServerToolCall("", "run"),
    plait.Citation(),
    plait.Interrupt(),
    plait.TokenUsageDone(TokenUsage(0, 0)),
    plait.ResponseStarted(),
]
ALL = [*FULL.values(), *BARE]
each_event = pytest.mark.parametrize("event", ALL, ids=lambda event: event.type)


def test_samples_cover_the_vocabulary() -> None:
    """Each event class has a sample here, under the name of its `type`."""
    assert {name: cls.__name__ for name, cls in EVENT_TYPES.items()} == {
        name: type(event).__name__ for name, event in FULL.items()
    }


@each_event
def test_survives_json(event: Event) -> None:
    """`to_dict` is JSON data that begins with type and role; `event_from_dict` is its inverse."""
    data = event.to_dict()
    assert ["type", "role"] == list(data)[:2]
    assert (event.type, event.role) == (data["type"], data["role"])
    assert event == plait.event_from_dict(json.loads(json.dumps(data)))
    assert event == type(event).from_dict(data)


@each_event
def test_leaves_out_what_is_absent(event: Event) -> None:
    """No field of `to_dict` is null."""
    assert None not in event.to_dict().values()


@each_event
def test_matches_its_schema(event: Event) -> None:
    """`to_dict` fits the event's own schema, that of `Event`, and the published one."""
    for schema in (type(event).json_schema(), Event.json_schema(), plait.event_json_schema()):
        jsonschema.Draft202012Validator(schema).validate(event.to_dict())


@pytest.mark.parametrize(
    "data",
    [
        {"type": "text_delta", "role": "assistant"},
        {"type": "text_delta", "role": "system", "content": "x"},
        {"type": "interrupt", "role": "system"},
        {"type": "nothing", "role": "assistant"},
    ],
    ids=["field missing", "wrong role", "no interrupt", "unknown type"],
)
def test_schema_refuses(data: dict[str, Any]) -> None:
    """The schema tells what is not an event."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(plait.event_json_schema()).validate(data)


@each_event
def test_immutable(event: Event) -> None:
    """No field can be set."""
    for name in event.__struct_fields__ or ("anything",):
        with pytest.raises(AttributeError):
            setattr(event, name, None)


@each_event
def test_equal_by_value(event: Event) -> None:
    """Copies, also through pickle, are equal; events of other classes or values are not."""
    assert event == copy.deepcopy(event)
    assert event == pickle.loads(pickle.dumps(event))
    assert [event] == [other for other in ALL if other == event]


def test_hash() -> None:
    """Events of plain values can be kept in sets."""
    assert {plait.TextDelta("a", 0), plait.ReasoningDone(ReasoningPart("text"))} == {
        plait.TextDelta("a", 0),
        plait.TextDelta("a", 0),
        plait.ReasoningDone(ReasoningPart("text")),
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "an event is a JSON object with a `type`, got NoneType"),
        ([1], "an event is a JSON object with a `type`, got list"),
        ({}, "an event's `type` is a string, got NoneType"),
        ({"type": ["text_delta"]}, "an event's `type` is a string, got list"),
        ({"type": "TextDelta"}, "unknown event type 'TextDelta'; the types are response_started, text_delta"),
        ({"type": "text_delta"}, "not a text_delta event: Object missing required field `content`"),
        ({"type": "text_delta", "content": 1}, r"not a text_delta event: .*\$.content"),
        ({"type": "text_delta", "content": "a", 1: 2}, "not a text_delta event"),
        ({"type": "web_search_done", "query": "", "sources": [{"url": 1}]}, r"\$.sources\[0\]"),
        ({"type": "finish_reason_done", "finish_reason": "tired"}, "Invalid enum value 'tired'"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:40],
)
def test_not_an_event(data: Any, message: str) -> None:
    """`event_from_dict` says what is wrong and where."""
    with pytest.raises(InvalidDataError, match=message):
        plait.event_from_dict(data)


def test_unknown_type_is_quoted_short() -> None:
    """A huge `type` does not end up in the error message as a whole."""
    with pytest.raises(InvalidDataError) as caught:
        plait.event_from_dict({"type": "x" * 10_000})
    assert len(str(caught.value)) < 1000


def test_from_dict_of_another_class() -> None:
    """`from_dict` gives its own class only."""
    with pytest.raises(InvalidDataError, match="expected a TextDone, got a TextDelta"):
        plait.TextDone.from_dict(plait.TextDelta("a").to_dict())


def test_match_statement() -> None:
    """Events work in `match`, by position and by keyword."""
    seen = []
    for event in (plait.TextDelta("a", 3), plait.ToolCallDone("i", "c", "f", "{}"), plait.Interrupt()):
        match event:
            case plait.TextDelta(content, index=index):
                seen.append((content, index))
            case plait.ToolCallDone(name=name, complete=True):
                seen.append((name, None))
            case plait.Event():
                seen.append((event.role, None))
    assert [("a", 3), ("f", None), ("system", None)] == seen


def test_content_events_carry_index() -> None:
    """Exactly the events about content have an `index`."""
    without = {cls.__name__ for cls in EVENT_TYPES.values()} - {cls.__name__ for cls in CONTENT_EVENTS}
    assert {
        "ResponseStarted",
        "GuardrailTripwire",
        "GuardrailModification",
        "SkillActivation",
        "Interrupt",
        "TokenUsageDone",
        "FinishReasonDone",
    } == without


class Reply(BaseModel):
    """A web framework's response model."""

    event: Event
    usage: TokenUsage | None = None
    last: plait.FinishReasonDone | plait.TextDelta | None = None


@each_event
def test_pydantic_field(event: Event) -> None:
    """A field of type `Event` takes an event or its data, and gives back the same data in both modes."""
    reply = Reply(event=event)
    assert event is reply.event
    assert event.to_dict() == reply.model_dump()["event"]
    assert reply == Reply.model_validate_json(reply.model_dump_json())
    assert event == TypeAdapter(type(event)).validate_python(event.to_dict())


def test_pydantic_field_accepts_camel_case() -> None:
    """Data in camelCase is accepted where messages are validated."""
    reply = Reply.model_validate(
        {"event": {"type": "text_delta", "content": "a"}, "usage": {"inputTokens": 1, "outputTokens": 2}}
    )
    assert Reply(event=plait.TextDelta("a"), usage=TokenUsage(1, 2)) == reply


@pytest.mark.parametrize(
    "event",
    [{"type": "text_delta"}, "text", None, {"type": "x"}],
    ids=["field missing", "str", "None", "type"],
)
def test_pydantic_field_refuses(event: Any) -> None:
    """What is not an event is a ValidationError of the model, not an error of ours."""
    with pytest.raises(ValidationError):
        Reply.model_validate({"event": event})


def test_pydantic_schema() -> None:
    """A model's JSON schema describes the events in it, for validation and for serialization."""
    for mode in ("validation", "serialization"):
        schema = Reply.model_json_schema(mode=mode)
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(
            Reply(event=plait.Interrupt(), usage=TokenUsage(1, 2)).model_dump(exclude_none=True)
        )
        assert not validator.is_valid({"event": {"type": "text_delta"}})


class TestTokenUsage:
    """Counts of one response, and sums."""

    def test_total(self) -> None:
        """The total is input and output; subsets are not added again."""
        assert 15 == TokenUsage(10, 5, cache_read_tokens=4, reasoning_tokens=2).total_tokens

    @pytest.mark.parametrize(
        ("expected", "a", "b"),
        [
            (TokenUsage(3, 7), TokenUsage(1, 3), TokenUsage(2, 4)),
            (TokenUsage(3, 7, 5, 0, 1), TokenUsage(1, 3, 5), TokenUsage(2, 4, None, 0, 1)),
            (TokenUsage(3, 7, 5, 1, 4), TokenUsage(1, 3, 5, 1, 2), TokenUsage(2, 4, 0, 0, 2)),
        ],
        ids=["unreported stays None", "reported once", "reported twice"],
    )
    def test_adds(self, expected: TokenUsage, a: TokenUsage, b: TokenUsage) -> None:
        """Usages add field by field; None only where neither knows."""
        assert expected == a + b == b + a

    def test_adds_only_usages(self) -> None:
        """Adding a number is a TypeError."""
        with pytest.raises(TypeError):
            TokenUsage(1, 2) + 3  # type: ignore[operator]

    def test_from_dict_names_the_path(self) -> None:
        """Bad data is refused with its path."""
        with pytest.raises(InvalidDataError, match=r"not a TokenUsage: .*\$.input_tokens"):
            TokenUsage.from_dict({"input_tokens": "3", "output_tokens": 1})
