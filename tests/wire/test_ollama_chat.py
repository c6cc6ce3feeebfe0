"""Ollama's lines: text, thinking, whole calls, images, the end, errors, and bodies that are no lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import ollama
import pytest
from checking import check_parse, events_of

import plait
from plait import conformance
from plait.errors import IncompleteStreamError, PlaitError, ProtocolError
from plait.events import (
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
)
from plait.messages import AssistantMessage

WIRE = "ollama-chat"
CREATED = "2026-03-04T05:06:07.12345Z"
SEED = "20260304T05060712345Z"
STARTED = ResponseStarted(None, "m")
STOP = FinishReasonDone("stop", "stop")
USAGE: dict[str, Any] = {"prompt_eval_count": 7, "eval_count": 9}
COUNTED = TokenUsageDone(TokenUsage(7, 9))


def line(content: str | None = "", *, done: bool | None = False, **more: Any) -> dict[str, Any]:
    """One line; `thinking`, `tool_calls` and `images` go into its message."""
    inner: dict[str, Any] = {
        key: more.pop(key) for key in ("thinking", "tool_calls", "images") if key in more
    }
    message = {"role": "assistant", "content": content, **inner}
    return {"model": "m", "created_at": CREATED, "message": message, "done": done, **more}


def end(reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    """The last line."""
    return line(done=True, done_reason=reason, total_duration=5_000_000, **USAGE, **more)


def lines(*documents: Mapping[str, Any]) -> bytes:
    """An NDJSON body."""
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents).encode()


def call(name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    """An entry of `tool_calls`."""
    return {"function": {"name": name, "arguments": arguments}, **more}


def read(body: bytes) -> AssistantMessage:
    """The message that a complete stream builds."""
    parser = plait.parser(WIRE)
    parser.feed(body)
    parser.close()
    return parser.message


# Content


def test_text() -> None:
    """Content comes in pieces; U+2028 ends no line, and an empty piece says nothing."""
    expected = [
        STARTED,
        TextDelta("Il\u2028", 0),
        TextDelta("gèle ❄", 0),
        TextDone("Il\u2028gèle ❄", 0),
        COUNTED,
        STOP,
    ]
    assert {} == check_parse(WIRE, lines(line("Il\u2028"), line(""), line("gèle ❄"), end()), expected).unknown


def test_thinking_then_text() -> None:
    """Thinking is reasoning that may go back; it ends where the answer begins."""
    part = ReasoningPart("text", "Let me", format="ollama-thinking")
    expected = [
        STARTED,
        ReasoningDelta("Let ", 0),
        ReasoningDelta("me", 0),
        ReasoningDone(part, 0),
        TextDelta("4", 1),
        TextDone("4", 1),
        COUNTED,
        STOP,
    ]
    check_parse(WIRE, lines(line(thinking="Let "), line(thinking="me"), line("4"), end()), expected)


def test_thinking_only() -> None:
    """A turn may be all thought, up to the token limit: there is no text then."""
    message = read(lines(line(thinking="hm"), line(thinking="hm"), end("length")))
    assert ("", "length") == (message.text, message.finish_reason)
    assert ["hmhm"] == [part.text for part in message.reasoning]


def test_all_in_one_line() -> None:
    """Thinking comes before text, text before calls; the line that ends may hold them, too."""
    message = read(lines({**line("b", thinking="a", tool_calls=[call("f", {})]), "done": True}))
    assert ["reasoning", "text", "tool-call"] == [part.type for part in message.content]


def test_image() -> None:
    """An image has no media type: its first bytes tell. What is not base64 is none, and counted."""
    parser = plait.parser(WIRE)
    events = parser.feed(lines(line(images=["iVBORw0KGgo=", "\u00e9", "QUJD"]), end())) + parser.close()
    assert [FileDone("image/png", "iVBORw0KGgo=", index=0), FileDone("image/*", "QUJD", index=1)] == [
        event for event in events if isinstance(event, FileDone)
    ]
    assert {"file:not base64": 1} == dict(parser.unknown)


# Tool calls


def test_calls() -> None:
    """Calls come whole, with arguments decoded; several on one line, or one on each."""
    body = lines(
        line("Look"),
        line(tool_calls=[call("f", {"y": 3, "x": 2}, id="c1"), call("g", {}, id="c2")]),
        line(tool_calls=[call("f", {"x": [1.50]}, id="c3")]),
        end(),
    )
    expected = [
        STARTED,
        TextDelta("Look", 0),
        ToolCallDelta("c1", "f", "", 1),
        ToolCallDelta("c1", None, '{"y":3,"x":2}', 1),
        ToolCallDone("c1", "c1", "f", '{"y":3,"x":2}', True, 1),
        ToolCallDelta("c2", "g", "", 2),
        ToolCallDelta("c2", None, "{}", 2),
        ToolCallDone("c2", "c2", "g", "{}", True, 2),
        ToolCallDelta("c3", "f", "", 3),
        ToolCallDelta("c3", None, '{"x":[1.5]}', 3),
        ToolCallDone("c3", "c3", "f", '{"x":[1.5]}', True, 3),
        TextDone("Look", 0),
        COUNTED,
        FinishReasonDone("tool_calls", "stop"),
    ]
    check_parse(WIRE, body, expected)


def test_calls_without_ids() -> None:
    """Older servers give no ids: each call gets one, even when the same is called twice in the same way.

    The ids of two responses differ, though neither has an id of its own.
    """
    body = lines(line(tool_calls=[call("f", {}), call("f", {})]), end())
    first, second = read(body).tool_calls, read(body.replace(b"12345Z", b"12346Z")).tool_calls
    assert [f"call_{SEED}_0", f"call_{SEED}_1"] == [part.tool_call_id for part in first]
    assert [None, None] == [part.call_id for part in first]
    assert not {part.tool_call_id for part in first} & {part.tool_call_id for part in second}


@pytest.mark.parametrize(
    ("arguments", "expected", "complete"),
    [
        ({"a": 12345678901234567890123}, '{"a":12345678901234567890123}', True),
        ('{"a": 1}', '{"a": 1}', True),
        ("", "{}", True),
        (None, "{}", True),
        ("go north", "go north", False),
    ],
    ids=["object", "text", "no text", "null", "no JSON"],
)
def test_arguments(arguments: Any, expected: str, complete: bool) -> None:
    """An object is written as text as it came; text is the text; nothing is an empty object."""
    (part,) = read(lines(line(tool_calls=[call("f", arguments)]), end())).tool_calls
    assert (expected, complete) == (part.arguments, part.complete)


def test_call_without_a_name() -> None:
    """What has no name cannot be run: it is kept, as incomplete."""
    (part,) = read(lines(line(tool_calls=[call(None, {})]), end())).tool_calls
    assert part.complete is False


# The end


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("load", "other"),
        ("weird", "other"),
        ("", "stop"),
        (None, "stop"),
    ],
)
def test_done_reasons(reason: str | None, expected: str) -> None:
    """Each word has its meaning; older servers say none."""
    assert expected == read(lines(line("a"), end(reason))).finish_reason


def test_unknown_done_reason_is_counted() -> None:
    """A word that nobody mapped shows up."""
    parser = plait.parser(WIRE)
    parser.feed(lines(line("a"), end("weird")))
    assert {"finish_reason:weird": 1} == parser.unknown


def test_reason_without_done() -> None:
    """A reason is enough, though the record does not say `done`."""
    body = b'{"message":{"content":"a"},"done_reason":"stop"}\n'
    check_parse(WIRE, body, [TextDelta("a", 0), TextDone("a", 0), STOP])


def test_load() -> None:
    """The answer to a request without messages has no message."""
    body = lines({"model": "m", "created_at": CREATED, "done": True, "done_reason": "load"})
    check_parse(WIRE, body, [STARTED, FinishReasonDone("other", "load")])


def test_without_done_it_is_incomplete() -> None:
    """The body ends and nobody said that the answer does."""
    check_parse(WIRE, lines(line("a")), [STARTED, TextDelta("a", 0)], error=IncompleteStreamError)


def test_last_line_without_its_end() -> None:
    """The last line counts without its LF, if it is whole."""
    body = lines(line("a"), end()).rstrip()
    assert STOP == events_of(WIRE, body)[-1]
    check_parse(WIRE, body[:-1], [STARTED, TextDelta("a", 0)], error=IncompleteStreamError)


def test_nothing_is_read_after_the_end() -> None:
    """What follows the last line is not of this answer."""
    assert "a" == read(lines(line("a"), end()) + b"nonsense\n").text


@pytest.mark.parametrize(
    ("counts", "expected"),
    [(USAGE, TokenUsage(7, 9)), ({"eval_count": 9}, TokenUsage(0, 9)), ({}, None)],
    ids=["both", "cached prompt", "none"],
)
def test_usage(counts: dict[str, Any], expected: TokenUsage | None) -> None:
    """Two counts; older servers leave out that of a cached prompt."""
    assert expected == read(lines(line("a"), {**line(done=True), **counts})).token_usage


# Errors, and bodies that are no lines


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"error": "an error was encountered while running the model: unexpected EOF"}, plait.ServerError),
        ({"error": "the input length exceeds the context length"}, plait.ContextWindowExceededError),
        ({"error": "model 'x' not found"}, plait.NotFoundError),
        ({"error": {"message": "invalid api key"}}, plait.AuthenticationError),
        ({"message": "Forbidden"}, plait.ServerError),
        ({"detail": "Not Found"}, plait.ServerError),
    ],
    ids=["crash", "context", "model", "object", "gateway", "framework"],
)
def test_errors(document: dict[str, Any], error: type[PlaitError]) -> None:
    """An error in mid-stream, as a line alone, spread over lines, and as a body."""
    check_parse(WIRE, lines(line("a"), document), [STARTED, TextDelta("a", 0)], error=error)
    check_parse(WIRE, lines(document), [], error=error)
    check_parse(WIRE, json.dumps(document, indent=2).encode(), [], error=error)
    with pytest.raises(error):
        plait.read_response(WIRE, document)


def test_whole_body_where_lines_were_expected() -> None:
    """A body in one line, or written for people to read, is the same answer."""
    document = {**line("4", thinking="hm", tool_calls=[call("f", {"a": 1})], **USAGE), "done": True}
    expected = plait.read_response(WIRE, document)
    assert "tool_calls" == expected.finish_reason
    for indent in (None, 2, "\t"):
        body = json.dumps(document, indent=indent).encode()
        assert expected == read(body)
        assert [] == conformance.check(WIRE, body)
    check_parse(WIRE, json.dumps(document, indent=2).encode()[:-2], [], error=IncompleteStreamError)


@pytest.mark.parametrize(
    "body", [b"404 page not found", b"<html><h1>Bad gateway</h1></html>"], ids=["text", "HTML"]
)
def test_no_ollama(body: bytes) -> None:
    """What is not JSON at all is not this wire format."""
    check_parse(WIRE, body, [], error=ProtocolError)


def test_line_that_is_not_json() -> None:
    """A line in the middle that is broken breaks the stream, after what came before it."""
    body = lines(line("a")) + b'{"message":\n' + lines(end())
    check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=ProtocolError)


STREAMS: dict[str, bytes] = {
    "text": lines(line("Il "), line("gèle"), end()),
    "CR LF": lines(line("Il "), line("gèle"), end()).replace(b"\n", b"\r\n"),
    "thinking": lines(line(thinking="so"), line(thinking=" it"), line("4"), end()),
    "calls": lines(line("a"), line(tool_calls=[call("f", {"x": 2}), call("f", {"x": 2}, id="c1")]), end()),
    "call cut": lines(line(tool_calls=[call("f", '{"a":')]), end("length")),
    "image": lines(line(images=["iVBORw0KGgo="]), end()),
    "no counts": lines(line("a"), {"model": "m", "done": True}),
    "error": lines(line("a"), {"error": "crash"}),
    "cut": lines(line("a"), line("b")),
}


@pytest.mark.parametrize("law", conformance.LAWS)
@pytest.mark.parametrize("body", STREAMS.values(), ids=list(STREAMS))
def test_laws_hold(law: str, body: bytes) -> None:
    """Every law, on streams of every kind."""
    assert [] == conformance.LAWS[law](WIRE, body)


@pytest.mark.parametrize("name", ["text", "CR LF", "thinking", "calls", "no counts"])
def test_as_the_sdk_reads_it(name: str) -> None:
    """The official SDK's types say the same of each stream."""
    parts = [json.loads(text) for text in STREAMS[name].decode().splitlines()]
    theirs = [
        ollama.ChatResponse.model_validate({"message": {"role": "assistant"}, **part}) for part in parts
    ]
    ours = read(STREAMS[name])
    calls = [call.function for part in theirs for call in part.message.tool_calls or ()]
    assert "".join(part.message.content or "" for part in theirs) == ours.text
    assert "".join(part.message.thinking or "" for part in theirs) == "".join(
        p.text or "" for p in ours.reasoning
    )
    assert [(f.name, f.arguments) for f in calls] == [
        (part.tool_name, part.input) for part in ours.tool_calls
    ]
    assert (theirs[-1].model, theirs[-1].done_reason) == (ours.model, ours.raw_finish_reason)
    usage = ours.token_usage or TokenUsage(0, 0)
    counts = (theirs[-1].prompt_eval_count or 0, theirs[-1].eval_count or 0)
    assert counts == (usage.input_tokens, usage.output_tokens)
