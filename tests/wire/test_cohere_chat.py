"""Cohere's stream: blocks, plans, calls, citations, the end, and what servers in between make of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from checking import check_parse, events_of, sse

import plait
from plait.errors import IncompleteStreamError, PlaitError
from plait.events import (
    Citation,
    Event,
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
)
from plait.messages import AssistantMessage
from plait.wire.cohere_chat import mapping
from plait.wire.http_errors import http_error

WIRE = "cohere-chat"
STOP = FinishReasonDone("stop", "COMPLETE")
CALLED = FinishReasonDone("tool_calls", "TOOL_CALL")
START = {
    "type": "message-start",
    "id": "r1",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}},
}


def event(type_: str, index: int | None = 0, **message: Any) -> dict[str, Any]:
    """One event that adds to the message."""
    place = {} if index is None else {"index": index}
    return {"type": type_, **place, **({"delta": {"message": message}} if message else {})}


def text(content: str, index: int = 0) -> dict[str, Any]:
    """A piece of text."""
    return event("content-delta", index, content={"text": content})


def end(finish: str | None = "COMPLETE", **delta: Any) -> dict[str, Any]:
    """The terminal event."""
    return {"type": "message-end", "delta": {"finish_reason": finish, **delta}}


def call(name: str, *pieces: str, index: int = 0, id: str | None = "c1") -> list[dict[str, Any]]:
    """A whole tool call."""
    function = {"name": name, "arguments": ""}
    return [
        event("tool-call-start", index, tool_calls={"id": id, "type": "function", "function": function}),
        *(event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}}) for piece in pieces),
        event("tool-call-end", index),
    ]


def answer(*documents: Mapping[str, Any] | str, finish: str = "COMPLETE") -> bytes:
    """A stream with these events in it, from start to `[DONE]`."""
    return sse(START, *documents, end(finish), "[DONE]")


def read(body: bytes) -> AssistantMessage:
    """The message that a complete stream builds."""
    parser = plait.parser(WIRE)
    parser.feed(body)
    parser.close()
    return parser.message


# Content


def test_text() -> None:
    """A block of text is announced, comes in pieces and ends; the id is said at the start only."""
    start = event("content-start", content={"type": "text", "text": ""})
    body = answer(start, text("Il gèle "), text("❄"), event("content-end"))
    expected = [
        ResponseStarted("r1"),
        TextDelta("Il gèle ", 0),
        TextDelta("❄", 0),
        TextDone("Il gèle ❄", 0),
        STOP,
    ]
    assert {} == check_parse(WIRE, body, expected).unknown


def test_thinking_then_text() -> None:
    """A block of thinking is reasoning, apart from the text after it."""
    body = answer(
        event("content-start", 0, content={"type": "thinking", "thinking": ""}),
        event("content-delta", 0, content={"thinking": "Let me"}),
        event("content-delta", 0, content={"thinking": " see"}),
        event("content-end", 0),
        event("content-start", 1, content={"type": "text", "text": ""}),
        text("4", 1),
        event("content-end", 1),
    )
    part = ReasoningPart("text", "Let me see", format="cohere-chat-v2")
    expected: list[Event] = [
        ResponseStarted("r1"),
        ReasoningDelta("Let me", 0),
        ReasoningDelta(" see", 0),
        ReasoningDone(part, 0),
        TextDelta("4", 1),
        TextDone("4", 1),
        STOP,
    ]
    check_parse(WIRE, body, expected)


def test_delta_without_its_start() -> None:
    """A block that was never announced is what its pieces say."""
    body = answer(event("content-delta", 0, content={"thinking": "hm"}), text("a", 1))
    assert ["reasoning", "text"] == [part.type for part in read(body).content]


def test_blocks_that_share_an_index() -> None:
    """A block that starts under a taken index is another block."""
    start = event("content-start", 0, content={"type": "text", "text": ""})
    message = read(answer(start, text("a"), event("content-end"), start, text("b"), event("content-end")))
    assert ["a", "b"] == [part.text for part in message.content if part.type == "text"]


def test_delta_without_an_index() -> None:
    """A piece that does not say its block belongs to the newest."""
    start = event("content-start", 3, content={"type": "text", "text": ""})
    message = read(answer(start, event("content-delta", None, content={"text": "a"}), text("b", 3)))
    assert ["ab"] == [part.text for part in message.content if part.type == "text"]


def test_unknown_kinds_are_counted() -> None:
    """An event and a block type that nobody knows cost nothing but themselves."""
    body = answer(event("audio-delta"), event("content-start", 0, content={"type": "audio"}), text("a", 1))
    parser = check_parse(WIRE, body, [ResponseStarted("r1"), TextDelta("a", 0), TextDone("a", 0), STOP])
    assert {"event:audio-delta": 1, "content:audio": 1} == parser.unknown


def test_type_only_in_the_event_line() -> None:
    """A document without `type` is told by the name of its SSE event."""
    delta = json.dumps({"index": 0, "delta": {"message": {"content": {"text": "a"}}}})
    body = f"event: content-delta\ndata: {delta}\n\n".encode() + sse(end())
    check_parse(WIRE, body, [TextDelta("a", 0), TextDone("a", 0), STOP])


# Tool plan and calls


def test_plan_and_calls() -> None:
    """A plan is reasoning of its own format and ends where a call begins; calls are numbered apart."""
    body = answer(
        event("tool-plan-delta", None, tool_plan="I look"),
        event("tool-plan-delta", None, tool_plan=" outside."),
        *call("weather", '{"city":', ' "Oslo"}'),
        *call("clock", index=1, id="c2"),
        finish="TOOL_CALL",
    )
    part = ReasoningPart("text", "I look outside.", format="cohere-tool-plan")
    expected = [
        ResponseStarted("r1"),
        ReasoningDelta("I look", 0),
        ReasoningDelta(" outside.", 0),
        ReasoningDone(part, 0),
        ToolCallDelta("c1", "weather", "", 1),
        ToolCallDelta("c1", None, '{"city":', 1),
        ToolCallDelta("c1", None, ' "Oslo"}', 1),
        ToolCallDone("c1", "c1", "weather", '{"city": "Oslo"}', True, 1),
        ToolCallDelta("c2", "clock", "", 2),
        ToolCallDone("c2", "c2", "clock", "{}", True, 2),
        CALLED,
    ]
    check_parse(WIRE, body, expected)


def test_thinking_and_call_with_the_same_index() -> None:
    """Block 0 and call 0 are two things."""
    body = answer(
        event("content-start", 0, content={"type": "thinking", "thinking": "hm"}),
        event("content-end", 0),
        *call("f", '{"a":1}'),
        finish="TOOL_CALL",
    )
    assert ["reasoning", "tool-call"] == [part.type for part in read(body).content]


def test_calls_that_share_an_index() -> None:
    """Two calls under one index, with ids of their own, never mix."""
    body = answer(*call("f", '{"a":1}'), *call("f", '{"a":2}', id="c2"), finish="TOOL_CALL")
    calls = [(part.call_id, part.arguments) for part in read(body).tool_calls]
    assert [("c1", '{"a":1}'), ("c2", '{"a":2}')] == calls


@pytest.mark.parametrize("pieces", [("null",), ("nu", "ll"), ("",), ()], ids=repr)
def test_null_is_no_arguments(pieces: tuple[str, ...]) -> None:
    """A tool without arguments gets `null`, or nothing: an empty object for us."""
    (part,) = read(answer(*call("f", *pieces), finish="TOOL_CALL")).tool_calls
    assert ("{}", True) == (part.arguments, part.complete)


def test_arguments_that_begin_like_null() -> None:
    """What only begins like `null` is kept."""
    (part,) = read(answer(*call("f", "n", "o"), finish="TOOL_CALL")).tool_calls
    assert ("no", False) == (part.arguments, part.complete)


def test_arguments_that_came_decoded() -> None:
    """An object where JSON text is usual is written as text."""
    start = event(
        "tool-call-start", tool_calls={"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}
    )
    (part,) = read(answer(start, event("tool-call-end"), finish="TOOL_CALL")).tool_calls
    assert '{"a":1}' == part.arguments


def test_list_where_an_object_is_usual() -> None:
    """A stream's event may hold a list of one call, as a whole message does."""
    entry = {"id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}}
    (part,) = read(answer(event("tool-call-start", tool_calls=[entry]), finish="TOOL_CALL")).tool_calls
    assert '{"a":1}' == part.arguments


def test_call_cut_by_the_token_limit() -> None:
    """A call whose end never came is incomplete."""
    body = answer(*call("f", '{"a":')[:-1], finish="MAX_TOKENS")
    message = read(body)
    assert ("length", False) == (message.finish_reason, message.tool_calls[0].complete)


def test_call_without_a_name() -> None:
    """What has no name cannot be run: it is kept, as incomplete."""
    (part,) = read(answer(*call("", "{}"), finish="TOOL_CALL")).tool_calls
    assert part.complete is False


# Citations


def test_citation_between_pieces_of_text() -> None:
    """A citation belongs to the text of its content block, and its own data is kept for replay."""
    data = {
        "start": 0,
        "end": 5,
        "text": "15 °C",
        "type": "TEXT_CONTENT",
        "content_index": 1,
        "sources": [
            {"type": "tool", "id": "c1:0", "tool_output": {"degrees": 15}},
            {"type": "document", "id": "d1", "document": {"url": "https://w.example", "title": "Weather"}},
        ],
    }
    body = answer(
        event("content-start", 0, content={"type": "thinking", "thinking": "hm"}),
        event("content-end", 0),
        event("content-start", 1, content={"type": "text", "text": ""}),
        text("15 °C", 1),
        event("citation-start", 0, citations=data),
        event("citation-end", 0),
        text(" now", 1),
    )
    citation = Citation("https://w.example", "Weather", "15 °C", 0, 5, 1)
    events = events_of(WIRE, body)
    assert [TextDelta("15 °C", 1), citation, TextDelta(" now", 1)] == events[3:6]
    part = read(body).content[1]
    assert part.type == "text"
    assert part.citations is not None
    assert ("cohere-chat-v2", data) == (part.citations[0].format, part.citations[0].data)


def test_citation_without_a_content_index() -> None:
    """It means block 0; where that is no text, the text there is."""
    citation = event("citation-start", 0, citations={"start": 0, "end": 1, "text": "a", "sources": []})
    thinking = event("content-delta", 0, content={"thinking": "hm"})
    assert [0] == [e.index for e in events_of(WIRE, answer(text("a"), citation)) if e.type == "citation"]  # type: ignore[attr-defined]
    events = events_of(WIRE, answer(thinking, text("a", 1), citation))
    assert [1] == [e.index for e in events if isinstance(e, Citation)]


def test_citation_of_a_plan() -> None:
    """What is cited in a plan or a thought is not cited in the answer: it is counted."""
    citation = event("citation-start", 0, citations={"type": "PLAN", "text": "a"})
    parser = plait.parser(WIRE)
    assert not [e for e in parser.feed(answer(text("a"), citation)) if isinstance(e, Citation)]
    assert {"citation:PLAN": 1} == parser.unknown


# The end


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("COMPLETE", "stop"),
        ("complete", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("ERROR", "error"),
        ("TIMEOUT", "error"),
        ("ERROR_TOXIC", "content_filter"),
        ("ERROR_LIMIT", "context_window"),
        ("USER_CANCEL", "other"),
        ("BORED", "other"),
    ],
)
def test_finish_reasons(raw: str, reason: str) -> None:
    """Each word has its meaning, in any case; the raw one is kept."""
    assert FinishReasonDone(reason, raw) == events_of(WIRE, answer(text("a"), finish=raw))[-1]  # type: ignore[arg-type]


def test_unknown_finish_reason_is_counted() -> None:
    """A word that nobody mapped shows up."""
    parser = plait.parser(WIRE)
    parser.feed(answer(finish="BORED"))
    assert {"finish_reason:BORED": 1} == parser.unknown


@pytest.mark.parametrize(
    ("said", "reason"), [(True, "stop"), (False, "malformed_output")], ids=["text", "nothing"]
)
def test_tool_call_without_a_call(said: bool, reason: str) -> None:
    """`TOOL_CALL` without any call is not an order to run tools."""
    assert reason == read(answer(*([text("a")] if said else []), finish="TOOL_CALL")).finish_reason


def test_usage_is_of_the_real_tokens() -> None:
    """Not what is billed; images stand beside the input; numbers may be floats."""
    usage = {
        "billed_units": {"input_tokens": 8, "output_tokens": 7},
        "tokens": {"input_tokens": 507.0, "output_tokens": 10, "image_tokens": 3, "reasoning_tokens": 4},
        "cached_tokens": 448,
    }
    events = events_of(WIRE, sse(START, text("a"), end(usage=usage)))
    assert TokenUsageDone(TokenUsage(510, 10, 448, None, 4)) == events[-2]


def test_usage_falls_back_to_billed_units() -> None:
    """Without token counts the billed ones say something; what was cached is part of the input."""
    usage = {"billed_units": {"input_tokens": 8, "output_tokens": 7}, "cached_tokens": 12}
    events = events_of(WIRE, sse(START, text("a"), end(usage=usage)))
    assert TokenUsageDone(TokenUsage(12, 7, 12)) == events[-2]


def test_no_usage() -> None:
    """What was not reported is not zero."""
    assert None is read(sse(START, text("a"), end(usage={"billed_units": {}}))).token_usage


@pytest.mark.parametrize("tail", [(), ("[DONE]",)], ids=["cut", "done only"])
def test_without_message_end_it_is_incomplete(tail: tuple[str, ...]) -> None:
    """`[DONE]` alone does not make half an answer whole."""
    body = sse(START, text("a"), *tail)
    check_parse(WIRE, body, [ResponseStarted("r1"), TextDelta("a", 0)], error=IncompleteStreamError)


# Errors


@pytest.mark.parametrize(
    ("document", "error"),
    [
        (end("ERROR", error="the model crashed"), plait.ServerError),
        ({"message": "internal server error"}, plait.ServerError),
        ({"error": {"message": "invalid api token"}}, plait.AuthenticationError),
        ({"type": "error", "message": "too many tokens: size limit"}, plait.ContextWindowExceededError),
    ],
    ids=["message-end", "bare message", "gateway", "typed"],
)  # fmt: skip
def test_error_in_mid_stream(document: dict[str, Any], error: type[PlaitError]) -> None:
    """An error after some text is raised after that text, however it is written."""
    body = sse(START, text("a"), document, event_names=False)
    check_parse(WIRE, body, [ResponseStarted("r1"), TextDelta("a", 0)], error=error)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"id": "x", "message": "Incorrect API key provided: ****."}, plait.AuthenticationError),
        ({"id": "x", "message": "model 'x' not found, make sure it is right"}, plait.NotFoundError),
        ({"message": "long", "error_type": "TOO_MANY_TOKENS"}, plait.ContextWindowExceededError),
    ],
    ids=["key", "model", "tokens"],
)
def test_error_body(document: dict[str, Any], error: type[PlaitError]) -> None:
    """An error where a stream was asked for, and where it was not."""
    check_parse(WIRE, json.dumps(document).encode(), [], error=error)
    with pytest.raises(error):
        plait.read_response(WIRE, document)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (498, "blocked by our usage guidelines", plait.ContentFilterError),
        (498, "invalid api token", plait.AuthenticationError),
        (402, "please add a payment method", plait.PermissionDeniedError),
        (429, "You are using a trial key", plait.RateLimitError),
        (503, "try again", plait.OverloadedError),
    ],
)
def test_http_status(status: int, message: str, error: type[PlaitError]) -> None:
    """Cohere's own meaning of a status counts before the usual one, and words before both."""
    headers = {"x-debug-trace-id": "t1"}
    found = http_error("cohere", mapping.ERRORS, status, headers, json.dumps({"message": message}))
    assert (error, "t1") == (type(found), found.request_id)


# Whole bodies


def test_whole_body_is_the_same_message() -> None:
    """A body that is not streamed gives the message that a stream of it gives."""
    citation = {"start": 0, "end": 1, "text": "4", "sources": [], "content_index": 1}
    body = {
        "id": "r1",
        "message": {
            "role": "assistant",
            "tool_plan": "I add.",
            "content": [{"type": "thinking", "thinking": "2+2"}, {"type": "text", "text": "4"}],
            "citations": [citation],
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "null"}},
            ],
        },
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {"input_tokens": 9, "output_tokens": 5}},
    }
    stream = sse(
        START,
        event("tool-plan-delta", None, tool_plan="I add."),
        event("content-delta", 0, content={"thinking": "2+2"}),
        event("content-start", 1, content={"type": "text", "text": "4"}),
        event("citation-start", 0, citations=citation),
        *call("f", '{"a":1}'),
        *call("g", index=1, id="c2"),
        end("TOOL_CALL", usage=body["usage"]),
    )
    assert plait.read_response(WIRE, body) == read(stream)


def test_content_that_is_text() -> None:
    """A message's content may be text alone, and may be missing."""
    body: dict[str, Any] = {"id": "r1", "message": {"content": "Hi"}, "finish_reason": "COMPLETE"}
    assert "Hi" == plait.read_response(WIRE, body).text
    assert [] == plait.read_response(WIRE, {**body, "message": {}}).content
