"""Moves in, events and message out: the laws that every wire gets for free."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait import (
    Citation,
    Event,
    FileDone,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ResponseStarted,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
)
from plait.errors import ProtocolError
from plait.messages import DataSource, FilePart, ImagePart, ProviderPart, TextPart
from plait.wire.assembler import MAX_DEPTH, Assembler

Moves = Callable[[Assembler], object]


def run(*moves: Moves, reason: Any = "stop") -> tuple[list[Event], plait.AssistantMessage]:
    """The events before the last one, which is the finish reason, and the message."""
    assembler = Assembler()
    for move in moves:
        move(assembler)
    assembler.finished(reason, reason)
    assembler.end()
    events = assembler.take()
    assert isinstance(events[-1], FinishReasonDone)
    return events[:-1], assembler.message()


# Response, usage, ending


def test_started_once_before_content() -> None:
    """`ResponseStarted` says what the wire said first; later names only complete the message."""
    events, message = run(
        lambda a: a.started(),
        lambda a: a.started("r1", None, "p"),
        lambda a: a.started("r2", "c"),
        lambda a: a.text("x"),
    )
    assert ResponseStarted("r1", None, "p") == events[0]
    assert 1 == sum(isinstance(event, ResponseStarted) for event in events)
    assert ("r1", "c", "p") == (message.id, message.model, message.provider)


def test_started_after_content_has_no_event() -> None:
    """Nothing named comes after content."""
    events, message = run(lambda a: a.text("x"), lambda a: a.started("r1", "c"))
    assert [TextDelta("x", 0), TextDone("x", 0)] == events
    assert "r1" == message.id


def test_end() -> None:
    """Open parts are closed, then text, usage and finish reason; a second end is nothing."""
    assembler = Assembler()
    assembler.usage(TokenUsage(1, 1))
    assembler.text("x", "t")
    assembler.reasoning("r", "r")
    assembler.tool_call_started("c", name="f", call_id="i")
    assembler.usage(TokenUsage(2, 3))
    assembler.finished("stop", "end")
    assembler.finished("length", "max")
    assert not assembler.ended
    assembler.end()
    assembler.end()
    assert [
        TextDelta("x", 0),
        ReasoningDelta("r", 1),
        ToolCallDelta("i", "f", "", 2),
        ReasoningDone(ReasoningPart("text", "r"), 1),
        ToolCallDone("i", "i", "f", "{}", False, 2),
        TextDone("x", 0),
        TokenUsageDone(TokenUsage(2, 3)),
        FinishReasonDone("length", "max"),
    ] == assembler.take()
    assert [] == assembler.take()
    assert FinishReasonDone("length", "max") == assembler.last_event


@pytest.mark.parametrize(
    ("expected", "reason", "moves"),
    [
        ("stop", "stop", []),
        ("other", None, []),
        ("tool_calls", "stop", [lambda a: a.tool_call_started(0, name="f")]),
        ("tool_calls", "other", [lambda a: a.tool_call_started(0, name="f")]),
        ("tool_calls", None, [lambda a: a.tool_call_started(0, name="f")]),
        ("length", "length", [lambda a: a.tool_call_started(0, name="f")]),
        ("content_filter", "content_filter", [lambda a: a.tool_call_started(0, name="f")]),
        ("content_filter", "stop", [lambda a: a.refusal("no")]),
        ("length", "length", [lambda a: a.refusal("no")]),
        ("stop", "stop", [lambda a: a.refusal("")]),
    ],
    ids=[
        "plain",
        "none",
        "calls",
        "other and calls",
        "no reason and calls",
        "length and calls",
        "filter and calls",
        "refusal",
        "length and refusal",
        "empty refusal",
    ],
)
def test_final_reason(expected: str, reason: Any, moves: list[Moves]) -> None:
    """Calls make `tool_calls` of a healthy end, a refusal `content_filter`; nothing hides a cut."""
    assert expected == run(*moves, reason=reason)[1].finish_reason


def test_message_before_the_end() -> None:
    """A message that is not finished says so: no reason, open calls incomplete, open reasoning there."""
    assembler = Assembler()
    assert assembler.empty
    assembler.reasoning("r", 0)
    assembler.tool_call_started(1, name="f")
    assembler.tool_call_arguments(1, "{}")
    assembler.finished("stop", "end")
    message = assembler.message()
    assert (None, "end", "r", [False]) == (
        message.finish_reason,
        message.raw_finish_reason,
        message.reasoning_text,
        [call.complete for call in message.tool_calls],
    )
    assert not assembler.empty


# Text


def test_text_parts() -> None:
    """Each key is a part, in the order of its first content; one `TextDone` joins all deltas as they came."""
    events, message = run(
        lambda a: a.text("", "a"),
        lambda a: a.text("x", "b"),
        lambda a: a.text("y", "a"),
        lambda a: a.text("z", "b"),
    )
    assert [TextDelta("x", 0), TextDelta("y", 1), TextDelta("z", 0), TextDone("xyz", 1)] == events
    assert ["xz", "y"] == [part.text for part in message.content if isinstance(part, TextPart)]


def test_text_extras() -> None:
    """Signature, refusal, extra and citations stay with their part."""
    _, message = run(
        lambda a: a.refusal("no", 0),
        lambda a: a.text_signed("S", 0),
        lambda a: a.text_extra(0, a=None),
        lambda a: a.text_extra(0, b=[1]),
        lambda a: a.cite(0, url="u", format="f", data={"k": None}),
    )
    assert {
        "type": "text",
        "text": "no",
        "signature": "S",
        "refusal": True,
        "citations": [{"url": "u", "format": "f", "data": {"k": None}}],
        "extra": {"a": None, "b": [1]},
    } == message.content[0].to_dict()


def test_citations_count_once() -> None:
    """The same annotation again is nothing; on another part, or with other data, it is another."""
    events, _ = run(
        lambda a: a.cite(0, url="u"),
        lambda a: a.cite(0, url="u"),
        lambda a: a.cite(1, url="u"),
        lambda a: a.cite(0, url="u", data=1),
    )
    assert [Citation("u", index=0), Citation("u", index=1), Citation("u", index=0)] == events


# Reasoning


def test_reasoning_details() -> None:
    """One detail of an item is open at a time; another one, or the end, closes it."""
    events, message = run(
        lambda a: a.reasoning("a", 0, 1, type="summary", id="r1"),
        lambda a: a.reasoning("b", 0, 1),
        lambda a: a.reasoning("c", 0, 2, type="summary"),
        lambda a: a.reasoning(None, 0, 3, type="encrypted", data="E", format="f"),
        lambda a: a.reasoning_id(0, "item"),
        lambda a: a.reasoning_done(0),
        lambda a: a.reasoning_done(0),
        lambda a: a.reasoning_done("unknown"),
    )
    parts = [
        ReasoningPart("summary", "ab", id="r1"),
        ReasoningPart("summary", "c"),
        ReasoningPart("encrypted", None, "E", format="f"),
    ]
    assert [
        ReasoningDelta("a", 0),
        ReasoningDelta("b", 0),
        ReasoningDone(parts[0], 0),
        ReasoningDelta("c", 0),
        ReasoningDone(parts[1], 0),
        ReasoningDone(parts[2], 0),
    ] == events
    assert [{"type": "reasoning", "id": "item", "details": [part.to_dict() for part in parts]}] == [
        part.to_dict() for part in message.content
    ]


@pytest.mark.parametrize(("expected", "content"), [(None, None), ("", "")], ids=["no text", "empty text"])
def test_reasoning_without_deltas(expected: str | None, content: str | None) -> None:
    """A part without text, and one whose text is empty, are two things."""
    events, _ = run(lambda a: a.reasoning(content, 0, signature="S"))
    assert [ReasoningDone(ReasoningPart("text", expected, signature="S"), 0)] == events


# Tool calls


def test_calls_do_not_mix() -> None:
    """Interleaved calls keep their arguments; each is done once; what comes after its end is ignored."""
    events, message = run(
        lambda a: a.tool_call_started(0, name="f", call_id="a"),
        lambda a: a.tool_call_started(1, name="g", call_id="b", item_id="i"),
        lambda a: a.tool_call_started(0, name="again", call_id="c"),
        lambda a: a.tool_call_arguments(0, '{"x"'),
        lambda a: a.tool_call_arguments(1, "[1"),
        lambda a: a.tool_call_arguments(0, ":1}"),
        lambda a: a.tool_call_done(0),
        lambda a: a.tool_call_arguments(0, "late"),
        lambda a: a.tool_call_arguments("unknown", "x"),
        lambda a: a.tool_call_done(0),
        lambda a: a.tool_call_done("unknown"),
    )
    assert [
        ToolCallDelta("a", "f", "", 0),
        ToolCallDelta("i", "g", "", 1),
        ToolCallDelta("a", None, '{"x"', 0),
        ToolCallDelta("i", None, "[1", 1),
        ToolCallDelta("a", None, ":1}", 0),
        ToolCallDone("a", "a", "f", '{"x":1}', True, 0),
        ToolCallDone("i", "b", "g", "[1", False, 1),
    ] == events
    assert [("a", "a"), ("i", "b")] == [(call.tool_call_id, call.call_id) for call in message.tool_calls]


@pytest.mark.parametrize(
    ("complete", "reason", "later"),
    [
        (True, "stop", False),
        (True, "tool_calls", False),
        (False, "length", False),
        (False, "content_filter", False),
        (True, "length", True),
    ],
    ids=["stop", "tool_calls", "length", "filter", "length, but the model went on"],
)
def test_call_without_arguments(complete: bool, reason: str, later: bool) -> None:
    """A call that got no arguments has none, unless it is the last thing before the answer was cut."""
    moves: list[Moves] = [
        lambda a: a.tool_call_started(0, name="f", call_id="a"),
        lambda a: a.tool_call_done(0),
    ]
    if later:
        moves.append(lambda a: a.text("x"))
    events, _ = run(*moves, reason=reason)
    assert ToolCallDone("a", "a", "f", "{}", complete, 0) == events[1]


@pytest.mark.parametrize(
    ("arguments", "deltas", "cut", "complete"),
    [
        ('"a\\"b\\né"', ['a"b', "\né"], False, True),
        ('""', [], False, True),
        ('"a"', ["a"], True, False),
    ],
    ids=["text", "empty", "cut"],
)
def test_custom_call(arguments: str, deltas: list[str], cut: bool, complete: bool) -> None:
    """The free text of a custom tool is one JSON string, also as the sum of its deltas."""
    events, message = run(
        lambda a: a.tool_call_started(0, name="f", call_id="a", kind="custom"),
        *((lambda a, delta=delta: a.tool_call_arguments(0, delta)) for delta in deltas),
        lambda a: a.tool_call_done(0, cut=cut),
    )
    pieces = [event.arguments_delta for event in events if isinstance(event, ToolCallDelta)]
    assert arguments == "".join(pieces) == message.tool_calls[0].arguments
    assert ToolCallDone("a", "a", "f", arguments, complete, 0) == events[-1]
    assert ("custom", complete) == (message.tool_calls[0].kind, message.tool_calls[0].complete)


@given(
    st.lists(st.sampled_from([None, "", " ", "a", "a_1", "call_0", "call_1", "call_r_1"]), max_size=6),
    st.booleans(),
)
def test_ids_are_unique(ids: list[str | None], named: bool) -> None:
    """Whatever ids a wire gives, each call has its own, not blank, and keeps the wire's for the way back."""
    moves = [(lambda a, n=n, i=i: a.tool_call_started(n, name="f", call_id=i)) for n, i in enumerate(ids)]
    events, message = run(*([lambda a: a.started("r")] if named else []), *moves)
    done = [event for event in events if isinstance(event, ToolCallDone)]
    assert len(ids) == len({event.call_id for event in done}) == len({event.item_id for event in done})
    assert all(event.call_id.strip() for event in done)
    assert [id_ if id_ and id_.strip() else None for id_ in ids] == [
        call.call_id for call in message.tool_calls
    ]


# What the provider does, files, opaque data


def test_provider_blocks() -> None:
    """A block is a part of its own, in place; a second one under its key replaces its data."""
    events, message = run(
        lambda a: a.provider_block("s", "f", {"a": 1}),
        lambda a: a.text("x"),
        lambda a: a.provider_block("s", "f", {"a": None}),
        lambda a: a.web_search_done("s", "q", []),
        lambda a: a.web_search_done("elsewhere", "q", []),
    )
    assert [WebSearchDone("q", [], 0), WebSearchDone("q", [], 1)] == events[1:3]
    assert ProviderPart(format="f", data={"a": None}) == message.content[0]


def test_files() -> None:
    """Images and other files, as data or by URL."""
    events, message = run(
        lambda a: a.file("image/png", data="aGk="),
        lambda a: a.file("audio/wav", url="https://a.example/a.wav"),
    )
    assert [
        FileDone("image/png", "aGk=", index=0),
        FileDone("audio/wav", url="https://a.example/a.wav", index=1),
    ] == events
    assert [ImagePart, FilePart] == [type(part) for part in message.content]


def test_files_that_providers_write_badly() -> None:
    """Sloppy base64 and `data:` URLs are put right; what is no file at all is left out, and counted."""
    assembler = Assembler()
    for data in ("QUJD\nRA", "-_8", "%%%"):
        assembler.file("image/png", data=data)
    for url in ("data:image/png;base64,QUJD", "data:image/png"):
        assembler.file("image/png", url=url)
    expected = ["QUJDRA==", "+/8=", "QUJD"]
    assert expected == [event.data for event in assembler.take() if isinstance(event, FileDone)]
    sources = [part.image for part in assembler.message().content if isinstance(part, ImagePart)]
    assert expected == [source.data for source in sources if isinstance(source, DataSource)]
    assert {"file:not base64": 1, "file:malformed data URL": 1} == dict(assembler.unknown)


@pytest.mark.parametrize(
    "move",
    [
        lambda a, data: a.provider_block(0, "f", data),
        lambda a, data: a.cite(0, data=data),
        lambda a, data: a.text_extra(0, x=data),
        lambda a, data: (a.tool_call_started(0, name="f"), a.tool_call_extra(0, x=data)),
    ],
    ids=["block", "citation", "text", "call"],
)
def test_opaque_data_is_bounded(move: Callable[[Assembler, Any], object]) -> None:
    """Data nested too deeply to be validated or written as JSON is refused; a little less is kept."""
    assembler = Assembler()
    move(assembler, json.loads("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)))
    message = assembler.message()
    assert message == plait.AssistantMessage.model_validate_json(message.model_dump_json())
    with pytest.raises(ProtocolError, match=f"nested more than {MAX_DEPTH} levels"):
        move(Assembler(), json.loads("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)))


MOVES: list[Moves] = [
    lambda a: a.started("r", "m"),
    lambda a: a.text("x", 0),
    lambda a: a.text("y", 1),
    lambda a: a.text("", 2),
    lambda a: a.refusal("z", 0),
    lambda a: a.cite(1, url="u"),
    lambda a: a.reasoning("r", 0),
    lambda a: a.reasoning("s", 0, 1),
    lambda a: a.reasoning(None, 1, type="redacted", data="D"),
    lambda a: a.reasoning_done(0),
    lambda a: a.tool_call_started(0, name="f", call_id="a"),
    lambda a: a.tool_call_started(1, name="g", call_id="a"),
    lambda a: a.tool_call_started(2, name="h", kind="custom"),
    lambda a: a.tool_call_arguments(0, '{"k":'),
    lambda a: a.tool_call_arguments(0, "1}"),
    lambda a: a.tool_call_arguments(2, '"'),
    lambda a: a.tool_call_done(0),
    lambda a: a.tool_call_done(1),
    lambda a: a.tool_call_done(2, cut=True),
    lambda a: a.provider_block(9, "f", {"a": None}),
    lambda a: a.file("image/png", data="aGk="),
    lambda a: a.usage(TokenUsage(1, 2)),
    lambda a: a.finished("length", "l"),
]


@given(st.lists(st.sampled_from(MOVES), max_size=25))
def test_any_moves_keep_the_laws(moves: list[Moves]) -> None:
    """Whatever moves come, in whatever order: every delta has its done, and the ending is in order."""
    assembler = Assembler()
    for move in moves:
        move(assembler)
    assembler.end()
    events, message = assembler.take(), assembler.message()
    text = "".join(event.content for event in events if isinstance(event, TextDelta))
    assert [text] * bool(text) == [event.content for event in events if isinstance(event, TextDone)]
    assert sorted(text) == sorted(message.text)  # parts that are written by turns are not mixed
    calls: dict[str, list[str]] = {}
    thoughts: dict[int | None, str] = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            calls.setdefault(event.item_id, []).append(event.arguments_delta)
        elif isinstance(event, ToolCallDone):
            assert ("".join(calls.pop(event.item_id)) or "{}") == event.arguments
        elif isinstance(event, ReasoningDelta):
            thoughts[event.index] = thoughts.get(event.index, "") + event.content
        elif isinstance(event, ReasoningDone):
            assert thoughts.pop(event.index, "") == (event.part.text or "")
    assert not calls
    assert not thoughts
    endings = (TextDone, TokenUsageDone, FinishReasonDone)
    tail = [type(event) for event in events if isinstance(event, endings)]
    assert tail == [type(event) for event in events[len(events) - len(tail) :]]
    assert tail == sorted(set(tail), key=endings.index)
    assert FinishReasonDone is tail[-1]
    for event in events:
        index = getattr(event, "index", None)
        assert index is None or 0 <= index < len(message.content)


def test_linear() -> None:
    """Many pieces, parts, calls and citations cost time in proportion."""

    def seconds(size: int) -> float:
        best = 1e9
        for _ in range(3):
            assembler, start = Assembler(), time.process_time()
            for number in range(size):
                assembler.text("twenty characters ok")
                assembler.reasoning("r", 0)
                assembler.cite(0, cited_text="said", start=number)
                assembler.tool_call_started(number, name="f")
                assembler.tool_call_arguments(number, "{}")
                assembler.tool_call_done(number)
            assembler.end()
            best = min(best, time.process_time() - start)
        return best

    for _ in range(5):  # a busy machine may disturb one attempt, a quadratic cost disturbs all
        ratio = seconds(8_000) / seconds(2_000)
        if ratio < 10:
            return
    raise AssertionError(f"four times the moves took {ratio:.1f} times as long")
