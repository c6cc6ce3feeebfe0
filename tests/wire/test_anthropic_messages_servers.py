"""`anthropic-messages`: servers that do otherwise, errors, and the non-streaming body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic_documents import (
    END,
    STARTED,
    STOPPED,
    WIRE,
    Doc,
    args,
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
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait import (
    Event,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ResponseStarted,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
)
from plait.errors import ProtocolError
from plait.messages import ProviderPart, ReasoningContent, TextPart, ToolCallPart
from plait.wire.anthropic_messages.mapping import ERRORS


@pytest.mark.parametrize(
    ("documents", "expected", "unknown"),
    [
        ([start()], [], {"event:message_start again": 1}),
        ([{"type": "message_start", "message": None}], [], {}),
        ([{"type": "message_start"}], [], {}),
        (
            [{"type": "solar_flare", "index": 1}, {"type": 7}, {"nothing": 1}],
            [],
            {"event:solar_flare": 1, "type:type=number": 1, "type:type=null": 1},
        ),
        (
            [block(0, "text"), delta(0, "smell_delta", smell="x"), text(0, "A"), stop(0)],
            [TextDelta("A", 0)],
            {"delta:smell_delta": 1},
        ),
        (
            [
                block(0, "text"),
                {"type": "content_block_delta", "index": 0, "delta": None},
                text(0, "A"),
                stop(0),
            ],
            [TextDelta("A", 0)],
            {},
        ),
        ([text(0, "A"), stop(0)], [TextDelta("A", 0)], {"event:content_block_stop without its block": 1}),
        ([block(0, "text"), text(0, "A")], [TextDelta("A", 0)], {}),
        (
            [block(0, "text"), text(0, "A"), stop(0), stop(0)],
            [TextDelta("A", 0)],
            {"event:content_block_stop without its block": 1},
        ),
        (
            [
                block(0, "text"),
                stop(0),
                block(1, "text"),
                stop(1),
                block(4, "text"),
                text(4, "A"),
                stop(2),
                stop(4),
            ],
            [TextDelta("A", 0)],
            {"event:content_block_stop without its block": 1},
        ),
        (
            [block(0, "text", text="A"), stop(0), block(0, "text", text="B"), stop(0)],
            [TextDelta("A", 0), TextDelta("B", 1)],
            {},
        ),
        (
            [block(0, "text", text="A"), block(0, "text", text="A"), stop(0)],
            [TextDelta("A", 0)],
            {"event:content_block_start again": 1},
        ),
        (
            [block(0, "text", text="A"), block(0, "text", text="B"), text(0, "C"), stop(0)],
            [TextDelta("A", 0), TextDelta("B", 1), TextDelta("C", 1)],
            {},
        ),
        (
            [
                block(-1, "text"),
                text(-1, "A"),
                stop(-1),
                block(10**30, "text"),
                text(10**30, "B"),
                stop(10**30),
            ],
            [TextDelta("A", 0), TextDelta("B", 1)],
            {},
        ),
        ([block("0", "text"), text("0", "A"), stop("0")], [TextDelta("A", 0)], {"type:index=string": 3}),
        (
            [
                block(None, "text"),
                text(None, "A"),
                stop(None),
                block(None, "text"),
                text(None, "B"),
                stop(None),
            ],
            [TextDelta("A", 0), TextDelta("B", 1)],
            {},
        ),
        (
            [block([], "text"), text({}, "A"), stop(1.5)],
            [TextDelta("A", 0)],
            {"type:index=array": 1, "type:index=object": 1, "type:index=number": 1},
        ),
        (
            [args(0, "{}"), text(0, "A"), args(0, "{}")],
            [TextDelta("A", 0)],
            {"delta:input_json_delta without its block": 2},
        ),
        (
            [
                block(0, "text", text="A"),
                args(0, "{}"),
                delta(0, "signature_delta", signature="S"),
                delta(0, "compaction_delta", content="x"),
                stop(0),
            ],
            [TextDelta("A", 0)],
            {
                "delta:input_json_delta without its block": 1,
                "delta:signature_delta without its block": 1,
                "delta:compaction_delta without its block": 1,
            },
        ),
        (
            [{"type": "content_block_start", "index": 0, "content_block": "text"}, text(0, "A")],
            [TextDelta("A", 0)],
            {"block:string": 1},
        ),
    ],
    ids=[
        "message_start again",
        "null message",
        "no message",
        "unknown events",
        "unknown delta",
        "null delta",
        "no block start",
        "no block stop",
        "stopped twice",
        "gaps, stray stop",
        "index used again",
        "start twice",
        "other start at an open index",
        "negative and huge index",
        "index as text",
        "no index",
        "odd index",
        "input without a call",
        "deltas of another block",
        "block is text",
    ],
)
def test_irregular_streams(documents: list[Doc], expected: list[Event], unknown: dict[str, int]) -> None:
    """What can be read is read, what cannot is counted, nothing is lost and nothing raises."""
    deltas = [event for event in expected if isinstance(event, TextDelta)]
    text = "".join(event.content for event in deltas)
    done: list[Event] = [TextDone(text, len({event.index for event in deltas}) - 1)] if deltas else []
    check(documents, [*expected, *done, STOPPED], unknown)


def test_calls_at_the_same_index() -> None:
    """A server that numbers every block 0, or none, does not lose or mix calls."""
    for index in (0, None):
        parser = plait.parser(WIRE)
        documents = [
            doc
            for number in (1, 2)
            for doc in (
                block(index, "tool_use", id=f"t{number}", name="f"),
                args(index, f"[{number}]"),
                stop(index),
            )
        ]
        events = parser.feed(sse(start(), *documents, finish("tool_use"), END))
        assert [("t1", "[1]", True), ("t2", "[2]", True)] == [
            (event.call_id, event.arguments, event.complete)
            for event in events
            if isinstance(event, ToolCallDone)
        ]


def test_text_on_an_open_call() -> None:
    """Text that a server sends on a call's index is text; the call goes on."""
    check(
        [
            block(1, "tool_use", id="t1", name="f", input={}),
            args(1, '{"a"'),
            text(1, "x"),
            args(1, ":1}"),
            stop(1),
        ],
        [
            ToolCallDelta("t1", "f", "", 0),
            ToolCallDelta("t1", None, '{"a"', 0),
            TextDelta("x", 1),
            ToolCallDelta("t1", None, ":1}", 0),
            ToolCallDone("t1", "t1", "f", '{"a":1}', True, 0),
            TextDone("x", 1),
            FinishReasonDone("tool_calls", "end_turn"),
        ],
    )


def test_thinking_without_a_block() -> None:
    """Thinking whose block never started is read, and closed by the block's stop."""
    check(
        [
            delta(0, "thinking_delta", thinking="a"),
            delta(0, "signature_delta", signature="S"),
            stop(0),
            text(1, "b"),
        ],
        [ReasoningDelta("a", 0), ReasoningDone(thought("a", "S"), 0), TextDelta("b", 1), TextDone("b", 1)],
        {"event:content_block_stop without its block": 1},
    )


def test_content_before_message_start() -> None:
    """Content before `message_start` is read; the name of the response comes too late for its event."""
    parser = check_parse(
        WIRE,
        sse(block(0, "text"), text(0, "A"), stop(0), start(), finish(), END),
        [TextDelta("A", 0), TextDone("A", 0), STOPPED],
    )
    assert ("m1", "c") == (parser.message.id, parser.message.model)


def test_two_responses_in_one_body() -> None:
    """A `message_start` with another id means that a proxy mixed two streams: a fault, not an answer."""
    parser = check_parse(
        WIRE,
        sse(start(), text(0, "A"), start(id="m" * 999), text(0, "B"), END),
        [STARTED, TextDelta("A", 0)],
        error=ProtocolError,
    )
    assert "two streams are mixed" in str(parser.error)
    assert len(str(parser.error)) < 400


def test_event_name_in_place_of_type() -> None:
    """A document without its type is told by the SSE event's name."""
    documents = [start(), block(0, "text"), text(0, "A"), stop(0), finish(), dict(END)]
    body = "".join(
        f"event: {document.pop('type')}\ndata: {json.dumps(document)}\n\n" for document in documents
    )
    check_parse(WIRE, body.encode(), [STARTED, TextDelta("A", 0), TextDone("A", 0), STOPPED])


def test_gateway() -> None:
    """A gateway's extra fields and its `[DONE]` change nothing; its `provider` is told."""
    body = (
        sse(start(provider="Prov", usage=usage(0, 0, None, None)), block(0, "text"), text(0, "A"), stop(0))
        + sse(
            {
                **finish(usage=usage(7, 2, 0, 0, cost=0.1, is_byok=False)),
                "context_management": {"applied_edits": []},
            }
        )
        + sse({**END, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 7}})
        + b"event: data\ndata: [DONE]\n\n"
    )
    check_parse(
        WIRE,
        body,
        [
            ResponseStarted("m1", "c", "Prov"),
            TextDelta("A", 0),
            TextDone("A", 0),
            TokenUsageDone(TokenUsage(7, 2, 0, 0)),
            STOPPED,
        ],
    )


@pytest.mark.parametrize("dialect", [None, "anthropic", "vertex", "bedrock"])
def test_dialects(dialect: str | None) -> None:
    """All dialects read the same."""
    check_parse(WIRE, sse(start(), finish(), END), [STARTED, STOPPED], dialect=dialect)


def test_count_fields() -> None:
    """With `count_fields` every field that nothing reads is counted, inside blocks too."""
    parser = plait.parser(WIRE, count_fields=True)
    parser.feed(
        sse(
            start(moon=1),
            block(0, "text", text="", sun=1),
            {**text(0, "A"), "extra": {"deep": 1}},
            stop(0),
            finish(),
            END,
        )
    )
    assert {"field:message.moon": 1, "field:content_block.sun": 1, "field:extra": 1} == {
        key: count for key, count in parser.unknown.items() if key != "field:message.role"
    }


@pytest.mark.parametrize(("type_", "expected"), ERRORS.items(), ids=ERRORS)
@pytest.mark.parametrize("before", [[], [start(), text(0, "A")]], ids=["first", "after content"])
def test_errors(type_: str, expected: type[plait.ProviderError], before: list[Doc]) -> None:
    """An error event is the typed error, with its facts; what came before it is delivered."""
    document = {
        "type": "error",
        "error": {"type": type_, "message": "no", "details": None},
        "request_id": "req_1",
    }
    events: list[Event] = [STARTED, TextDelta("A", 0)] if before else []
    parser = check_parse(WIRE, sse(*before, document), events, error=expected)
    error = parser.error
    assert isinstance(error, plait.ProviderError)
    assert ("no", "anthropic", type_, "req_1", document) == (
        error.message,
        error.provider,
        error.code,
        error.request_id,
        error.raw,
    )


@pytest.mark.parametrize(
    ("expected", "error"),
    [
        (
            plait.ContextWindowExceededError,
            {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
        ),
        (
            plait.ContextWindowExceededError,
            {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 9",
            },
        ),
        (plait.ProviderError, {"type": "future_error", "message": "no"}),
        (plait.ProviderError, {"message": ["no"]}),
        (plait.ProviderError, "no"),
        (plait.ProviderError, None),
        (plait.ProviderError, 5),
    ],
    ids=["prompt too long", "context limit", "unknown type", "odd message", "text", "null", "number"],
)
def test_odd_errors(expected: type[plait.ProviderError], error: Any) -> None:
    """An error of any shape is a provider's error, the plain one when nothing tells more."""
    parser = check_parse(WIRE, sse({"type": "error", "error": error}), [], error=expected)
    assert "anthropic: " in str(parser.error)


texts = st.text(max_size=6)
opaque = st.dictionaries(texts, st.none() | st.integers() | texts, max_size=2)
blocks = st.lists(
    st.one_of(
        st.builds(
            lambda t, c: {"type": "text", "text": t, "citations": c},
            texts,
            st.lists(st.builds(lambda q: {"type": "char_location", "cited_text": q}, texts), max_size=2),
        ),
        st.builds(lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, texts, texts),
        st.builds(lambda d: {"type": "redacted_thinking", "data": d}, texts),
        st.builds(lambda i, v: {"type": "tool_use", "id": i, "name": "f", "input": v}, texts, opaque),
        st.builds(
            lambda i, v: {"type": "server_tool_use", "id": i, "name": "web_fetch", "input": v}, texts, opaque
        ),
        st.builds(
            lambda i, v: {"type": "web_fetch_tool_result", "tool_use_id": i, "content": v}, texts, opaque
        ),
        st.builds(lambda v: {"type": "hologram", **v}, opaque.map(lambda v: {"data": v})),
    ),
    max_size=4,
)


def streamed(index: int, content: Doc) -> list[Doc]:
    """How the provider streams a block."""
    kind = content["type"]
    if kind == "text":
        cited = [delta(index, "citations_delta", citation=item) for item in content["citations"]]
        return [block(index, "text", text=""), *cited, text(index, content["text"]), stop(index)]
    if kind == "thinking":
        middle = [delta(index, "thinking_delta", thinking=piece) for piece in content["thinking"]]
        return [
            block(index, kind, thinking="", signature=""),
            *middle,
            delta(index, "signature_delta", signature=content["signature"]),
            stop(index),
        ]
    if kind in ("tool_use", "server_tool_use"):
        # The provider sends one empty piece when there are no arguments.
        whole = json.dumps(content["input"], separators=(",", ":"), ensure_ascii=False)
        pieces = [args(index, piece) for piece in (whole if content["input"] else [""])]
        return [
            block(index, kind, **{**{k: v for k, v in content.items() if k != "type"}, "input": {}}),
            *pieces,
            stop(index),
        ]
    return [{"type": "content_block_start", "index": index, "content_block": content}, stop(index)]


@given(blocks, st.sampled_from(["end_turn", "tool_use", "max_tokens", "odd", None]))
def test_stream_and_body_agree(content: list[Doc], reason: str | None) -> None:
    """The stream and the non-streaming body of the same response give equal messages, and equal to_dict."""
    counts = usage(5, 7, 1, 0)
    whole = {
        "id": "m1",
        "type": "message",
        "model": "c",
        "content": content,
        "stop_reason": reason or "end_turn",
        "usage": counts,
    }
    documents = [doc for index, item in enumerate(content) for doc in streamed(index, item)]
    parser = plait.parser(WIRE)
    parser.feed(sse(start(usage=usage(5, 1)), *documents, finish(reason or "end_turn", counts), END))
    parser.close()
    message = plait.read_response(WIRE, whole)
    assert parser.message == message
    assert message == plait.AssistantMessage.model_validate(json.loads(json.dumps(message.to_dict())))
    kinds = [TextPart, ReasoningContent, ToolCallPart, ProviderPart]
    assert all(type(part) in kinds for part in message.content)
