"""`anthropic-messages`: text, reasoning, citations, usage, ending, errors."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_documents import (
    END,
    PING,
    STARTED,
    STOPPED,
    WIRE,
    Doc,
    block,
    check,
    delta,
    finish,
    start,
    stop,
    text,
    thought,
    usage,
)
from checking import check_parse, sse

import plait
from plait import (
    Citation,
    Event,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
)
from plait.errors import IncompleteStreamError
from plait.messages import TextPart
from plait.wire.anthropic_messages.mapping import FINISH_REASONS, FORMAT


def test_text() -> None:
    """Pieces in order, one `TextDone` over all blocks; pings anywhere change nothing."""
    message = check(
        [
            *(PING, block(0, "text", text=""), PING, text(0, "He"), PING, text(0, ""), text(0, "y"), stop(0)),
            block(1, "text", text=" "),
            stop(1),
            block(2, "text", text="", citations=None),
            text(2, "you"),
            stop(2),
        ],
        [
            TextDelta("He", 0),
            TextDelta("y", 0),
            TextDelta(" ", 1),
            TextDelta("you", 2),
            TextDone("Hey you", 2),
        ],
    )
    assert ["Hey", " ", "you"] == [part.text for part in message.content if isinstance(part, TextPart)]


@pytest.mark.parametrize(
    "documents",
    [[], [block(0, "text", text=""), stop(0)], [block(0, "text", text=""), text(0, ""), stop(0)]],
    ids=["no block", "empty block", "empty delta"],
)
def test_no_text(documents: list[Doc]) -> None:
    """A response may have no content: no text event, no part that could not be sent back."""
    assert [] == check(documents, [STOPPED]).content


@pytest.mark.parametrize(
    ("deltas", "part", "documents"),
    [
        (
            ["a", "b"],
            thought("ab", "S"),
            [
                block(0, "thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="a"),
                delta(0, "thinking_delta", thinking="b", estimated_tokens=3),
                delta(0, "signature_delta", signature="S"),
            ],
        ),
        (
            [],
            thought("", "S"),
            [
                block(0, "thinking", thinking=""),
                delta(0, "thinking_delta", thinking=""),
                delta(0, "signature_delta", signature="S"),
            ],
        ),
        (
            [],
            thought("", "S"),
            [block(0, "thinking", thinking=""), delta(0, "signature_delta", signature="S")],
        ),
        (["a"], thought("a"), [block(0, "thinking"), delta(0, "thinking_delta", thinking="a")]),
        (
            ["a", "b"],
            thought("ab", "S"),
            [block(0, "thinking", thinking="a", signature="S"), delta(0, "thinking_delta", thinking="b")],
        ),
        (
            ["a"],
            thought("a", "T"),
            [block(0, "thinking", thinking="a", signature="S"), delta(0, "signature_delta", signature="T")],
        ),
        (
            [],
            ReasoningPart("redacted", data="ENC", format=FORMAT),
            [block(0, "redacted_thinking", data="ENC")],
        ),
    ],
    ids=[
        "usual",
        "empty text",
        "only a signature",
        "no signature",
        "begun in the start",
        "replaced signature",
        "redacted",
    ],
)
def test_reasoning(deltas: list[str], part: ReasoningPart, documents: list[Doc]) -> None:
    """Each thinking block is one part with its signature; redacted ones keep their data."""
    message = check(
        [*documents, stop(0), block(1, "text", text=""), text(1, "A"), stop(1)],
        [
            *(ReasoningDelta(piece, 0) for piece in deltas),
            ReasoningDone(part, 0),
            TextDelta("A", 1),
            TextDone("A", 1),
        ],
    )
    assert [part] == message.reasoning


def test_reasoning_between_calls_keeps_its_place() -> None:
    """Thinking before, between and after calls, and redacted blocks in a row, stay in order."""
    message = check(
        [
            block(0, "redacted_thinking", data="A"),
            stop(0),
            block(1, "redacted_thinking", data="B"),
            stop(1),
            block(2, "tool_use", id="t1", name="f", input={}),
            stop(2),
            block(3, "thinking", thinking="x"),
            stop(3),
            block(4, "tool_use", id="t2", name="f", input={}),
            stop(4),
        ],
        [
            ReasoningDone(ReasoningPart("redacted", data="A", format=FORMAT), 0),
            ReasoningDone(ReasoningPart("redacted", data="B", format=FORMAT), 1),
            ToolCallDelta("t1", "f", "", 2),
            ToolCallDone("t1", "t1", "f", "{}", True, 2),
            ReasoningDelta("x", 3),
            ReasoningDone(thought("x"), 3),
            ToolCallDelta("t2", "f", "", 4),
            ToolCallDone("t2", "t2", "f", "{}", True, 4),
            FinishReasonDone("tool_calls", "end_turn"),
        ],
    )
    assert ["reasoning", "reasoning", "tool-call", "reasoning", "tool-call"] == [
        part.type for part in message.content
    ]


@pytest.mark.parametrize(
    ("expected", "citation"),
    [
        (
            Citation(None, "T", "said", 0, 9, 0),
            {
                "type": "char_location",
                "document_index": 0,
                "document_title": "T",
                "start_char_index": 0,
                "end_char_index": 9,
                "cited_text": "said",
            },
        ),
        (
            Citation(None, None, "said", 1, 2, 0),
            {
                "type": "page_location",
                "document_title": None,
                "start_page_number": 1,
                "end_page_number": 2,
                "cited_text": "said",
            },
        ),
        (
            Citation(None, None, "said", 3, 4, 0),
            {
                "type": "content_block_location",
                "start_block_index": 3,
                "end_block_index": 4,
                "cited_text": "said",
            },
        ),
        (
            Citation("https://a.example", "T", "said", index=0),
            {
                "type": "web_search_result_location",
                "url": "https://a.example",
                "title": "T",
                "cited_text": "said",
                "encrypted_index": "E",
            },
        ),
        (
            Citation("kb/1", "T", "said", 0, 1, 0),
            {
                "type": "search_result_location",
                "search_result_index": 0,
                "source": "kb/1",
                "title": "T",
                "start_block_index": 0,
                "end_block_index": 1,
                "cited_text": "said",
            },
        ),
        (Citation(index=0), {"type": "future_location", "galaxy": {"x": None}}),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("first", [True, False], ids=["before the text", "after the text"])
def test_citations(expected: Citation, citation: Doc, first: bool) -> None:
    """A citation of any type, before or after its text, is an event and is kept whole with the text."""
    cited = delta(0, "citations_delta", citation=citation)
    events: list[Event] = [expected, TextDelta("A", 0)]
    message = check(
        [
            block(0, "text", text="", citations=[]),
            *([cited, text(0, "A")] if first else [text(0, "A"), cited]),
            stop(0),
        ],
        [*(events if first else reversed(events)), TextDone("A", 0)],
    )
    part = message.content[0]
    assert isinstance(part, TextPart)
    assert [(FORMAT, citation)] == [(kept.format, kept.data) for kept in part.citations or ()]


def test_citations_in_the_start() -> None:
    """A block that starts with its citations has them, each once, though a delta repeats one."""
    citation = {"type": "char_location", "cited_text": "said"}
    message = check(
        [
            block(0, "text", text="A", citations=[citation, "odd", {**citation, "cited_text": "more"}]),
            delta(0, "citations_delta", citation=citation),
            stop(0),
        ],
        [
            Citation(cited_text="said", index=0),
            Citation(cited_text="more", index=0),
            TextDelta("A", 0),
            TextDone("A", 0),
        ],
        {"citation:string": 1},
    )
    assert 2 == len(message.to_dict()["content"][0]["citations"])


@pytest.mark.parametrize(("raw", "expected"), FINISH_REASONS.items(), ids=FINISH_REASONS)
def test_finish_reasons(raw: str, expected: plait.FinishReason) -> None:
    """Each of the provider's reasons has its meaning; the provider's word is kept."""
    parser = check_parse(WIRE, sse(start(), finish(raw), END), [STARTED, FinishReasonDone(expected, raw)])
    assert (expected, raw) == (parser.message.finish_reason, parser.message.raw_finish_reason)


@pytest.mark.parametrize(
    ("expected", "documents", "unknown"),
    [
        (FinishReasonDone("other", "tired"), [start(), finish("tired"), END], {"finish_reason:tired": 1}),
        (FinishReasonDone("other"), [start(), finish(None), END], {}),
        (FinishReasonDone("other"), [start(), finish(""), END], {}),
        (FinishReasonDone("other"), [start(), END], {}),
        (FinishReasonDone("other"), [start(), finish({"a": 1}), END], {"type:delta.stop_reason=object": 1}),
        (
            FinishReasonDone("length", "max_tokens"),
            [start(), finish("end_turn"), finish("max_tokens"), finish(None), END],
            {},
        ),
        (FinishReasonDone("stop", "end_turn"), [start(stop_reason="end_turn"), END], {}),
        (
            FinishReasonDone("length", "max_tokens"),
            [start(stop_reason="end_turn"), finish("max_tokens"), END],
            {},
        ),
    ],
    ids=[
        "unknown",
        "null",
        "empty",
        "no message_delta",
        "not text",
        "the last counts",
        "in the start",
        "start and delta",
    ],
)
def test_other_finishes(expected: FinishReasonDone, documents: list[Doc], unknown: dict[str, int]) -> None:
    """A reason nobody mapped is `other`, and counted; a reason in `message_start` does not end the stream."""
    parser = check_parse(WIRE, sse(*documents), [STARTED, expected])
    assert unknown == dict(parser.unknown)


@pytest.mark.parametrize(
    "documents",
    [[start()], [start(stop_reason="end_turn")], [start(), finish()]],
    ids=["start", "start with reason", "delta"],
)
def test_only_message_stop_ends(documents: list[Doc]) -> None:
    """Without `message_stop` the answer is incomplete, whatever reasons came."""
    parser = check_parse(WIRE, sse(*documents), [STARTED], error=IncompleteStreamError)
    assert parser.message.finish_reason is None


@pytest.mark.parametrize(
    ("expected", "first", "later"),
    [
        (TokenUsage(38, 12, 8), usage(30, 1, 8), [usage(30, 12, 8)]),
        (TokenUsage(30, 15), usage(30, 1), [usage("-", 5), usage("-", 9), usage("-", 15)]),
        (TokenUsage(5000, 300, 4980), usage(5000, 1), [usage(20, 300, 4980)]),
        (TokenUsage(61, 2), usage(43, 1), [usage(61, 2)]),
        (TokenUsage(10, 9, 0), usage(10, 1, 55_096), [usage("-", 9, 0)]),
        (TokenUsage(31, 9, 1, 20), usage(10, 1, 1, 20), [usage(None, 9, None, None)]),
        (
            TokenUsage(13, 9, 1, 2, 4),
            usage(10, 1, 1, 2),
            [usage("-", 9, output_tokens_details={"thinking_tokens": 4})],
        ),
        (TokenUsage(10, 9), usage(10, 1, None, None, output_tokens_details=None), [usage("-", 9)]),
        (TokenUsage(10, 9, None, None, 0), usage(10, 9, output_tokens_details={"thinking_tokens": 0}), []),
        (TokenUsage(10, 9), usage("10", 9.0, [], {}), [usage("x")]),
        (TokenUsage(0, 7), None, [usage("-", 7)]),
        (None, {}, [{}, None]),
        (None, usage(None, None, None, None), []),
        (None, None, []),
    ],
    ids=[
        "cumulative, not added",
        "several deltas",
        "the delta splits the cache",
        "input grows",
        "a cache read of 0",
        "null changes nothing",
        "thinking",
        "nulls",
        "no thinking",
        "odd types",
        "no start",
        "empty",
        "only nulls",
        "never",
    ],
)
def test_usage(expected: TokenUsage | None, first: Any, later: list[Any]) -> None:
    """Counts are totals so far: the last one of each counts, and what was not reported stays None."""
    body = sse(start(usage=first), *(finish(usage=counts) for counts in later), END)
    events: list[Event] = [] if expected is None else [TokenUsageDone(expected)]
    parser = check_parse(
        WIRE,
        body,
        [STARTED, *events, FinishReasonDone("stop", "end_turn") if later else FinishReasonDone("other")],
    )
    assert expected == parser.message.token_usage


def test_content_in_message_start() -> None:
    """A message that comes whole in `message_start` is read from there."""
    call = {"type": "tool_use", "id": "t1", "name": "roll", "input": {"p": "x"}, "caller": {"type": "direct"}}
    check_parse(
        WIRE,
        sse(
            start(
                content=[{"type": "text", "text": "Hi"}, call, 5], stop_reason="tool_use", usage=usage(0, 0)
            ),
            END,
        ),
        [
            STARTED,
            TextDelta("Hi", 0),
            ToolCallDelta("t1", "roll", "", 1),
            ToolCallDelta("t1", None, '{"p":"x"}', 1),
            ToolCallDone("t1", "t1", "roll", '{"p":"x"}', True, 1),
            TextDone("Hi", 0),
            TokenUsageDone(TokenUsage(0, 0)),
            FinishReasonDone("tool_calls", "tool_use"),
        ],
    )
