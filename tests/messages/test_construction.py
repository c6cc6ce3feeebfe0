"""Messages written in Python: short to write, and refused with the path and the reason."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel

import plait
from plait import InvalidDataError
from plait.messages import (
    AssistantMessage,
    ContentOutput,
    DataSource,
    ErrorJson,
    ErrorText,
    ExecutionDenied,
    ImagePart,
    JsonOutput,
    Message,
    ReasoningContent,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolOutput,
    ToolResultPart,
    UrlSource,
    UserMessage,
    parse_message,
)

IMAGE = ImagePart.from_url("https://a.example/b.png")
TEXT = {"type": "text", "text": "hi"}
URL = {"type": "image", "image": {"type": "url", "url": "https://a.example/b.png"}}
CALL = ToolCallPart(tool_call_id="i1", call_id="c1", tool_name="find", input={"q": "é"})
RESULT = {"type": "tool-result", "tool_call_id": "i1", "call_id": "c1", "tool_name": "find"}


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"role": "system", "content": "hi"}, SystemMessage("hi")),
        ({"role": "user", "content": [TEXT]}, UserMessage("hi")),
        ({"role": "user", "content": [TEXT]}, UserMessage(content="hi")),
        ({"role": "user", "content": [TEXT, URL]}, UserMessage(["hi", IMAGE])),
        ({"role": "user", "content": [TEXT, URL]}, UserMessage((TextPart("hi"), IMAGE))),
        ({"role": "user", "content": [URL]}, UserMessage(IMAGE)),
        ({"role": "user", "content": [TEXT], "metadata": {"a": None}},
         UserMessage("hi", metadata={"a": None})),
        ({"role": "assistant", "content": [TEXT], "id": "m"}, AssistantMessage("hi", id="m")),
        (
            {"role": "assistant", "content": [TEXT, CALL.to_dict()]},
            AssistantMessage(["hi", CALL]),
        ),
        ({"role": "tool", "content": [{**RESULT, "output": {"type": "text", "value": "ok"}}]},
         ToolMessage([CALL.result("ok")])),
        ({"role": "tool", "content": [{**RESULT, "output": {"type": "json", "value": [1]}}]},
         ToolMessage(CALL.result(JsonOutput([1])))),
    ],
    ids=["system", "user", "keyword", "parts", "tuple", "one part", "metadata", "assistant", "call", "result",
         "one result"],
)  # fmt: skip
def test_construction(expected: dict[str, Any], message: Message) -> None:
    """Content comes first, without its name; strings stand for text."""
    assert expected == message.to_dict()
    assert message == parse_message(expected)


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ({"type": "text", "value": "a"}, "a"),
        ({"type": "text", "value": "a"}, TextOutput("a")),
        ({"type": "json", "value": {"type": "text"}}, JsonOutput({"type": "text"})),
        ({"type": "json", "value": "a"}, JsonOutput("a")),
        ({"type": "json", "value": None}, JsonOutput(None)),
        ({"type": "content", "value": [TEXT, URL]}, ContentOutput(["hi", IMAGE])),
        ({"type": "execution-denied", "value": "no"}, ExecutionDenied("no")),
        ({"type": "execution-denied"}, ExecutionDenied()),
        ({"type": "error-text", "value": "a"}, ErrorText("a")),
        ({"type": "error-json", "value": {"a": 1}}, ErrorJson({"a": 1})),
    ],
    ids=["string", "text", "json", "json text", "json null", "content", "denied", "denied, no reason",
         "error", "error json"],
)  # fmt: skip
def test_outputs(expected: dict[str, Any], output: str | ToolOutput) -> None:
    """Six kinds, each with a type and a value; a string is text, and JSON always says that it is JSON."""
    part = ToolResultPart(tool_call_id="i", tool_name="f", output=output)
    written = part.to_dict()["output"]
    assert {"value": None, **expected} == {"value": None, **written}
    stored = {"role": "tool", "content": [part.to_dict()]}
    if expected != {"type": "json", "value": None}:
        assert part == ToolMessage.model_validate(stored).content[0]


def test_denied_reason() -> None:
    """The reason of a denied call is read under either name."""
    stored = {**RESULT, "output": {"type": "execution-denied", "reason": "not now"}}
    (part,) = ToolMessage.model_validate({"role": "tool", "content": [stored]}).content
    assert ExecutionDenied("not now") == part.output
    assert "not now" == part.output.reason


def test_call_by_input() -> None:
    """A call is made of its input; the result that answers it has its ids."""
    assert '{"q": "é"}' == CALL.arguments
    assert RESULT == {key: value for key, value in CALL.result("x").to_dict().items() if key != "output"}


class Thing(BaseModel):
    a: int


@pytest.mark.parametrize(
    ("reason", "make"),
    [
        ("metadata.labels[1]: NaN is not a JSON number",
         lambda: UserMessage("hi", metadata={"labels": ["a", float("nan")]})),
        ("metadata.at: date is not a JSON value; give text, such as `.isoformat()`",
         lambda: SystemMessage("hi", metadata={"at": date(2025, 1, 1)})),
        ("metadata: Thing is not a JSON value", lambda: UserMessage("hi", metadata=Thing(a=1))),
        ("text: expected a string, got int", lambda: TextPart(5)),  # type: ignore[arg-type]
        ("content: is missing", lambda: UserMessage()),  # type: ignore[call-arg]
        ("content: expected a list, got null", lambda: UserMessage(None)),  # type: ignore[arg-type]
        ("content[1]: expected an object, got int", lambda: UserMessage(["a", 5])),  # type: ignore[list-item]
        ("content: is empty", lambda: ToolMessage([])),
        ("role: expected 'user', got 'system'",
         lambda: UserMessage("a", role="system")),  # type: ignore[arg-type]
        ("colour: unknown key", lambda: UserMessage("a", colour=1)),  # type: ignore[call-arg]
        ("output.type: is missing",
         lambda: ToolResultPart(tool_call_id="i", tool_name="f", output={"a": 1})),  # type: ignore[arg-type]
        ("value.a[0]: set is not a JSON value; give a list", lambda: JsonOutput({"a": [set()]})),
        ("input.n: Infinity is not a JSON number",
         lambda: ToolCallPart(tool_call_id="i", tool_name="f", input={"n": float("inf")})),
        ("data: expected base64 text, got bytes; `from_bytes` makes a part of them",
         lambda: DataSource(b"QUJD")),  # type: ignore[arg-type]
        ("image.data: not base64: its length, 2, is not a multiple of four: it is cut, or its padding is "
         "missing",
         lambda: ImagePart(image={"type": "data", "data": "QU"})),  # type: ignore[arg-type]
    ],
    ids=["nan", "date", "model", "text", "no content", "none", "no part", "no result", "role", "unknown",
         "output", "json", "input", "bytes", "base64"],
)  # fmt: skip
def test_refused(reason: str, make: Callable[[], object]) -> None:
    """A wrong value is an InvalidDataError (and so a ValueError) that names the path and the reason."""
    with pytest.raises(InvalidDataError) as caught:
        make()
    assert reason == str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("reason", "make"),
    [
        ("UserMessage() takes one positional argument, `content`; 2 were given",
         lambda: UserMessage("a", "b")),  # type: ignore[call-arg]
        ("UserMessage() got `content` twice",
         lambda: UserMessage("a", content="b")),  # type: ignore[misc]
        ("ReasoningContent() takes keyword arguments only; 1 were given",
         lambda: ReasoningContent("a")),  # type: ignore[call-arg, arg-type]
    ],
    ids=["two", "twice", "none"],
)  # fmt: skip
def test_called_wrongly(reason: str, make: Callable[[], object]) -> None:
    """A call with the wrong arguments is a TypeError, as for any function."""
    with pytest.raises(TypeError) as caught:
        make()
    assert reason == str(caught.value)


def test_stored_content_has_no_bare_strings() -> None:
    """Strings among parts are Python's shorthand; stored data has parts."""
    with pytest.raises(InvalidDataError) as caught:
        parse_message({"role": "user", "content": ["hi"]})
    assert "content[0]: expected an object, got str" == str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        UserMessage(["hi", IMAGE], metadata={"a": [1]}),
        AssistantMessage([ReasoningContent(details=[ReasoningPart("text", "hm")]), CALL]),
        ToolMessage([CALL.result(ContentOutput("x"))]),
    ],
    ids=["user", "assistant", "tool"],
)
def test_copies_and_pickles(message: Message) -> None:
    """Messages survive a copy, and the way to another process."""
    assert message == copy.deepcopy(message)
    assert message == pickle.loads(pickle.dumps(message))


def test_text() -> None:
    """A user's text is joined, as a model's is."""
    assert "ab" == UserMessage(["a", IMAGE, "b"]).text


def test_top_level_names() -> None:
    """The names are also there on `plait` itself."""
    assert UserMessage is plait.UserMessage
    assert UrlSource is plait.UrlSource
    assert parse_message is plait.parse_message
