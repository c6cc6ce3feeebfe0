"""Streams made from answers of any shape, on every wire: the parser gives back exactly what was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait import conformance
from plait.conformance import strategies
from plait.conformance.encoding import ENCODERS, Answer, Reasoning, Text, ToolCall
from plait.events import ReasoningDelta, TextDelta
from plait.messages import AssistantMessage

WIRES = [*ENCODERS]


def said(answer: Answer) -> list[tuple[Any, ...]]:
    """What an answer says, in plain data."""
    parts: list[tuple[Any, ...]] = []
    for part in answer.parts:
        match part:
            case Text():
                parts.append(("text", part.whole))
            case Reasoning():
                parts.append(("reasoning", part.whole, part.signature))
            case ToolCall():
                parts.append(("call", part.id, part.name, json.loads(part.whole or "{}"), True))
    return parts


def heard(message: AssistantMessage) -> list[tuple[Any, ...]]:
    """What a message says, in the same form."""
    parts: list[tuple[Any, ...]] = []
    for part in message.content:
        match part.type:
            case "text":
                parts.append(("text", part.text))
            case "reasoning":
                for detail in part.details:
                    if detail.type == "encrypted":  # of what came before it
                        parts[-1] = (*parts[-1][:2], detail.data)
                    else:
                        parts.append(("reasoning", detail.text, detail.signature))
            case "tool-call":
                parts.append(("call", part.call_id, part.tool_name, part.input, part.complete))
            case other:
                parts.append((other,))
    return parts


def check_message(answer: Answer, wire: str, message: AssistantMessage) -> None:
    """The message says what the answer said, and ends as it did."""
    assert said(answer) == heard(message)
    assert (answer.id, answer.model) == (message.id, message.model)
    assert answer.token_usage == message.token_usage
    assert answer.finish_reason == message.finish_reason
    assert ENCODERS[wire].finish_reasons[answer.finish_reason] == message.raw_finish_reason


def test_every_wire_has_an_encoder() -> None:
    """What can be read can be written."""
    assert set(plait.WIRES) == set(ENCODERS)


@pytest.mark.parametrize("wire", WIRES)
@fuzz(80)
@given(data=st.data())
def test_stream(wire: str, data: st.DataObject) -> None:
    """A stream of any framing, line ends and comments is the answer it was made of, piece by piece."""
    body = data.draw(strategies.bodies(wire))
    answer = body.answer
    assert answer is not None
    reading = conformance.read(lambda: plait.parser(wire), [body.data])
    assert (None, None, {}) == (reading.crash, reading.error, dict(reading.unknown))
    check_message(answer, wire, reading.message)
    for part, event in ((Text, TextDelta), (Reasoning, ReasoningDelta)):
        pieces = [piece for each in answer.parts if isinstance(each, part) for piece in each.pieces]
        assert [*filter(None, pieces)] == [e.content for e in reading.events if isinstance(e, event)]


@pytest.mark.parametrize("wire", WIRES)
@fuzz(30)
@given(data=st.data())
def test_arguments_are_kept_as_text(wire: str, data: st.DataObject) -> None:
    """The arguments of a call are the text that came: no white space, escape or number is rewritten."""
    answer = ENCODERS[wire].carried(data.draw(strategies.answers(wire)))
    message = conformance.read(lambda: plait.parser(wire), [ENCODERS[wire].stream(answer)]).message
    assert [part.whole or "{}" for part in answer.parts if isinstance(part, ToolCall)] == [
        call.arguments for call in message.tool_calls
    ]


@pytest.mark.parametrize("wire", WIRES)
@fuzz(6)
@given(data=st.data())
def test_laws(wire: str, data: st.DataObject) -> None:
    """A stream obeys every law, whole and cut, as it came and changed."""
    body = data.draw(strategies.bodies(wire, ENCODERS[wire].framings[0]))
    assert [] == conformance.check(wire, body.data)


@pytest.mark.parametrize("wire", WIRES)
@fuzz(60)
@given(data=st.data())
def test_one_reading(wire: str, data: st.DataObject) -> None:
    """The same answer, streamed or not, is the same message."""
    encoder = ENCODERS[wire]
    answer = encoder.carried(data.draw(strategies.answers(wire)), streamed=False)
    check_message(answer, wire, plait.read_response(wire, encoder.whole(answer)))
    assert [] == conformance.same_message(wire, encoder.stream(answer), encoder.whole(answer))
