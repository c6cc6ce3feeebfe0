"""Gemini: text, thoughts, their signatures, usage, and how a response ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import check_parse
from gemini_bodies import CALLS, STOP, WIRE, array, call, chunk, events_of, message_of, of_parts, stream, text

import plait
from plait.errors import IncompleteStreamError
from plait.events import (
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ResponseStarted,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
)
from plait.messages import AssistantMessage
from plait.wire.gemini import mapping


def parts(message: AssistantMessage) -> list[tuple[str, str | None]]:
    """Text and signature of each text part."""
    return [(part.text, part.signature) for part in message.content if part.type == "text"]


def thought(content: str | None, signature: str | None = None) -> ReasoningPart:
    return ReasoningPart("summary", content, signature=signature, format=mapping.FORMAT)


def test_a_whole_stream() -> None:
    """Thoughts, text in pieces, cumulative usage, a finish reason with the last text, names everywhere."""
    names = {"modelVersion": "gemini-x", "responseId": "r1"}
    body = stream(
        {
            **chunk(text("**Plan**\n\n", thought=True), index=0),
            "usageMetadata": {"promptTokenCount": 40, "thoughtsTokenCount": 20, "totalTokenCount": 60},
            **names,
        },
        {**chunk(text("Grüße 🌍"), index=0), **names},
        {
            **chunk(text(", all"), finish="STOP", index=0),
            "usageMetadata": {
                "promptTokenCount": 41,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 21,
                "totalTokenCount": 67,
            },
            **names,
        },
    )
    expected = [
        ResponseStarted("r1", "gemini-x"),
        ReasoningDelta("**Plan**\n\n", 0),
        ReasoningDone(thought("**Plan**\n\n"), 0),
        TextDelta("Grüße 🌍", 1),
        TextDelta(", all", 1),
        TextDone("Grüße 🌍, all", 1),
        TokenUsageDone(TokenUsage(41, 26, None, None, 21)),
        STOP,
    ]
    parser = check_parse(WIRE, body, expected)
    assert parser.message.id == "r1"
    assert dict(parser.unknown) == {}


def test_line_feeds_do_as_well() -> None:
    """Proxies rewrite CR LF to LF."""
    body = of_parts(text("a"), text("b"))
    assert events_of(body) == events_of(body.replace(b"\r\n", b"\n"))


def test_stream_array_and_whole_body_agree() -> None:
    """Server-sent events, a JSON array, and the JSON of the same response give the same message."""
    documents = [
        chunk(text("a]}", thought=True)),
        chunk(text('b"[{\\')),
        chunk(call("f", args={"x": [1]}), finish="STOP"),
    ]
    whole = chunk(text("a]}", thought=True), text('b"[{\\'), call("f", args={"x": [1]}), finish="STOP")
    expected = plait.read_response(WIRE, json.dumps(whole))
    assert expected == message_of(stream(*documents))
    assert expected == message_of(array(*documents))
    assert expected == message_of(json.dumps(whole).encode())
    assert expected == message_of(json.dumps([whole]).encode())


def test_array_must_close() -> None:
    """Without its bracket an array is cut, even after a finish reason."""
    body = array(chunk(text("a"), finish="STOP")).rstrip()
    check_parse(WIRE, body[:-1], [TextDelta("a", 0)], error=IncompleteStreamError)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        stream(chunk(text("a"))),
        stream(chunk(text("a")), {"usageMetadata": {"promptTokenCount": 1}}),
        stream(chunk(call("f", args={}))),
        stream(chunk(text("a"), finish=""), chunk(text("b"), finishReason=None)),
        stream({"promptFeedback": {"safetyRatings": []}}),
        stream(chunk(text("a"), finish="STOP"))[:-12],
    ],
    ids=["nothing", "text", "usage only", "a call", "empty reasons", "feedback without a block", "cut"],
)
def test_without_a_finish_reason_it_is_incomplete(body: bytes) -> None:
    """The end of the body alone, even after usage or a whole tool call, is no end."""
    parser = plait.parser(WIRE)
    parser.feed(body)
    with pytest.raises(IncompleteStreamError):
        parser.close()


def test_text_after_a_finish_reason_is_read() -> None:
    """Code execution stamps STOP on a chunk in the middle: the last one counts, the body's end ends."""
    body = stream(chunk(text("a"), finish="STOP"), chunk(text("b")), chunk(text("c"), finish="MAX_TOKENS"))
    expected = [TextDelta("a", 0), TextDelta("b", 0), TextDelta("c", 0), TextDone("abc", 0)]
    check_parse(WIRE, body, [*expected, FinishReasonDone("length", "MAX_TOKENS")])


def test_pieces_are_never_taken_for_repetitions() -> None:
    """A piece that begins with what came before is a piece, not the whole text again."""
    assert message_of(of_parts(text("a"), text("ab"), text("abc"))).text == "aababc"


# Signatures


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([text("a"), text("b")], [("ab", None)]),
        ([text("a"), text(""), text("b")], [("ab", None)]),
        ([text("a", thoughtSignature="S")], [("a", "S")]),
        ([text("a"), text("", thoughtSignature="S")], [("a", None), ("", "S")]),
        ([text("a"), {"thoughtSignature": "S"}], [("a", None), ("", "S")]),
        ([text("a"), text("b", thoughtSignature="S")], [("a", None), ("b", "S")]),
        (
            [text("a", thoughtSignature="S"), text("b"), text("c", thoughtSignature="T")],
            [("a", "S"), ("b", None), ("c", "T")],
        ),
        (
            [text("a", thoughtSignature="S"), text("b", thoughtSignature="T")],
            [("a", "S"), ("b", "T")],
        ),
    ],
    ids=["none", "empty between", "one", "late and empty", "alone", "on the last piece", "around", "each"],
)
def test_a_signed_text_part_stays_by_itself(sent: list[Any], kept: list[Any]) -> None:
    """Signed and unsigned text is never joined, a signature never moves, and signed text is no thought."""
    message = message_of(of_parts(*sent))
    assert parts(message) == kept
    assert message.reasoning == []
    assert message.text == "".join(content for content, _ in kept)


def test_the_text_is_joined_for_display() -> None:
    """`TextDone` has the text of all parts; an empty signed part adds no event."""
    body = of_parts(text("a", thoughtSignature="S"), text("b"), text("", thoughtSignature="T"))
    assert events_of(body) == [TextDelta("a", 0), TextDelta("b", 1), TextDone("ab", 2), STOP]


def test_only_an_empty_signed_part() -> None:
    """A call, then an empty text with a signature: no text came, the signature is kept."""
    body = of_parts(call("f", args={}), text("", thoughtSignature="S"))
    message = message_of(body)
    assert parts(message) == [("", "S")]
    assert not any(event.type.startswith("text") for event in events_of(body))


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([text("a", thought=True), text("b\n", thought=True)], [thought("ab\n")]),
        ([text("a", thought=True), text("", thought=True)], [thought("a")]),
        (
            [text("a", thought=True, thoughtSignature="S"), text("b", thought=True)],
            [thought("a", "S"), thought("b")],
        ),
        (
            [text("a", thought=True), text("", thought=True, thoughtSignature="S")],
            [thought("a"), thought("", "S")],
        ),
        ([text("a", thought=True), text("x"), text("b", thought=True)], [thought("a"), thought("b")]),
    ],
    ids=["joined", "empty", "signed first", "signed last", "around text"],
)
def test_thoughts(sent: list[Any], kept: list[Any]) -> None:
    """Thoughts are summaries; consecutive ones are one part, a signed one is its own."""
    body = of_parts(*sent)
    assert message_of(body).reasoning == kept
    assert [event.part for event in events_of(body) if isinstance(event, ReasoningDone)] == kept


# Finish reasons


@pytest.mark.parametrize(("raw", "reason"), mapping.FINISH_REASONS.items(), ids=list(mapping.FINISH_REASONS))
def test_finish_reasons(raw: str, reason: str) -> None:
    """Every reason of the wire has its meaning, and is kept, also where there is no content."""
    assert [FinishReasonDone(reason, raw)] == events_of(stream(chunk(finish=raw, finishMessage="why")))  # type: ignore[arg-type]


def test_an_unknown_reason_is_counted() -> None:
    """A value that nobody mapped is `other`, and shows up."""
    parser = check_parse(WIRE, stream(chunk(finish="NEW")), [FinishReasonDone("other", "NEW")])
    assert dict(parser.unknown) == {"finish_reason:NEW": 1}


@pytest.mark.parametrize(
    "candidate",
    [{}, {"content": {}}, {"content": {"role": "model"}}, {"content": {"parts": []}}, {"content": None}],
    ids=["no content", "empty", "no parts", "empty parts", "null"],
)
def test_a_reason_without_content(candidate: dict[str, Any]) -> None:
    """Filters and malformed calls come without content, in every shape of nothing."""
    body = stream({"candidates": [{**candidate, "finishReason": "MALFORMED_FUNCTION_CALL"}]})
    check_parse(WIRE, body, [FinishReasonDone("malformed_output", "MALFORMED_FUNCTION_CALL")])


@pytest.mark.parametrize("reason", sorted(mapping.BLOCK_REASONS))
def test_a_blocked_prompt(reason: str) -> None:
    """No candidate at all: the prompt was refused, and the response is complete."""
    body = stream({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 4}})
    expected = [TokenUsageDone(TokenUsage(4, 0)), FinishReasonDone("content_filter", reason)]
    assert dict(check_parse(WIRE, body, expected).unknown) == {}


def test_an_unknown_block_reason_is_counted() -> None:
    """A new reason still refuses."""
    body = stream({"promptFeedback": {"blockReason": "NEW"}})
    parser = check_parse(WIRE, body, [FinishReasonDone("content_filter", "NEW")])
    assert dict(parser.unknown) == {"block_reason:NEW": 1}


def test_only_the_first_candidate_is_read() -> None:
    """Other candidates are counted, wherever they stand in the list; an absent index is 0."""
    documents = [
        {
            "candidates": [
                {"index": 1, **chunk(text("x"))["candidates"][0]},
                chunk(text("a"))["candidates"][0],
            ]
        },
        {"candidates": [{"index": 1, "finishReason": "STOP"}]},
    ]
    parser = check_parse(WIRE, stream(*documents), [TextDelta("a", 0)], error=IncompleteStreamError)
    assert dict(parser.unknown) == {"candidate:1": 2}


def test_a_call_in_an_earlier_chunk_than_the_reason() -> None:
    """STOP becomes `tool_calls` wherever the call was."""
    body = stream(chunk(call("f", args={"c": 1})), chunk(text(""), finish="STOP"))
    assert events_of(body)[-1] == CALLS


# Usage


def usage(*counts: dict[str, Any]) -> TokenUsage | None:
    """The usage of a stream with these counts on its chunks."""
    body = stream(*({"usageMetadata": each} for each in counts), chunk(finish="STOP"))
    return message_of(body).token_usage


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], None),
        ([{"trafficType": "ON_DEMAND"}], None),
        ([{"promptTokenCount": 4}], TokenUsage(4, 0)),
        ([{"promptTokenCount": 4, "thoughtsTokenCount": 2}], TokenUsage(4, 2, None, None, 2)),
        (
            [{"promptTokenCount": 4, "toolUsePromptTokenCount": 9, "candidatesTokenCount": 3}],
            TokenUsage(13, 3),
        ),
        ([{"promptTokenCount": 9, "cachedContentTokenCount": 5}], TokenUsage(9, 0, 5)),
        ([{"promptTokenCount": 169}, {"promptTokenCount": 79}], TokenUsage(79, 0)),
        (
            [{"promptTokenCount": 8, "cachedContentTokenCount": 5}, {"promptTokenCount": 9}],
            TokenUsage(9, 0, 5),
        ),
        ([{"promptTokenCount": 8}, {"trafficType": "ON_DEMAND"}], TokenUsage(8, 0)),
        (
            [
                {
                    "promptTokenCount": 8,
                    "candidatesTokenCount": 7,
                    "thoughtsTokenCount": 4,
                    "totalTokenCount": 15,
                }
            ],
            TokenUsage(8, 7, None, None, 4),
        ),
    ],
    ids=[
        "none",
        "no counts",
        "prompt",
        "thoughts",
        "tools",
        "cache",
        "down",
        "dropped",
        "all dropped",
        "counted twice",
    ],
)
def test_usage(counts: list[dict[str, Any]], expected: TokenUsage | None) -> None:
    """Cumulative counts: the last of each holds, and what was never reported is None."""
    assert usage(*counts) == expected


def test_usage_after_the_finish_reason() -> None:
    """A last chunk with no candidate, or an empty list of them, still counts."""
    last = {"candidates": [], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}}
    body = stream(chunk(text("a"), finish="STOP"), last)
    expected = [TextDelta("a", 0), TextDone("a", 0), TokenUsageDone(TokenUsage(3, 2)), STOP]
    check_parse(WIRE, body, expected)


def test_usage_is_in_the_partial_message() -> None:
    """A stream that is cut says what was counted until then."""
    parser = plait.parser(WIRE)
    parser.feed(stream({**chunk(text("a")), "usageMetadata": {"promptTokenCount": 3}}))
    assert parser.message.token_usage == TokenUsage(3, 0)


# What nobody expected


@pytest.mark.parametrize(
    "document",
    [
        {"candidates": "x"},
        {"candidates": [None, 7]},
        chunk(text("a"), finish="STOP") | {"usageMetadata": [], "promptFeedback": 1, "responseId": {}},
        {"candidates": [{"content": [], "groundingMetadata": 1, "index": "0", "citationMetadata": []}]},
        {"candidates": [{"content": {"parts": [None, [], {"text": {}, "functionCall": "f", "thought": 1}]}}]},
    ],
    ids=["candidates", "entries", "beside", "candidate", "parts"],
)
def test_unexpected_types_cost_nothing_but_themselves(document: dict[str, Any]) -> None:
    """What can be read is read, the rest is counted."""
    body = stream(document, chunk(text("b"), finish="STOP"))
    parser = check_parse(WIRE, body, events_of(body))
    assert parser.message.text.endswith("b")
    assert parser.unknown
