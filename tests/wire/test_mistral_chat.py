"""Mistral's stream: text and lists of parts, thinking, references, whole calls, the end, errors."""

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

WIRE = "mistral-chat"
FORMAT = "mistral-chat-v1"
STARTED = ResponseStarted("r1", "m")
STOP = FinishReasonDone("stop", "stop")


def chunk(content: Any = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of response `r1`."""
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def stream(*documents: Mapping[str, Any] | str, done: bool = True) -> bytes:
    """An SSE body, ended by `[DONE]`."""
    return sse(*documents, *(["[DONE]"] if done else []), event_names=False)


def answer(*contents: Any, finish: str = "stop") -> bytes:
    """A stream of these contents, then a finish reason and `[DONE]`."""
    return stream(*map(chunk, contents), chunk("", finish))


def thinking(*texts: str, **more: Any) -> dict[str, Any]:
    """A `thinking` part."""
    return {"type": "thinking", "thinking": [{"type": "text", "text": text} for text in texts], **more}


def call(id: str | None, arguments: Any, name: str | None = "f", **more: Any) -> dict[str, Any]:
    """An entry of `tool_calls`."""
    entry = {"id": id, "function": {"name": name, "arguments": arguments}, **more}
    return {key: value for key, value in entry.items() if value is not None}


def read(body: bytes) -> AssistantMessage:
    """The message that a complete stream builds."""
    parser = plait.parser(WIRE)
    parser.feed(body)
    parser.close()
    return parser.message


def whole(message: Mapping[str, Any], finish: str | None = "stop", **body: Any) -> dict[str, Any]:
    """A non-streaming body."""
    return {"id": "r1", "model": "m", "choices": [{"message": message, "finish_reason": finish}], **body}


# Content


@pytest.mark.parametrize(
    "contents",
    [("Il gèle ", "❄"), ([{"type": "text", "text": "Il gèle "}], "❄"), (["Il gèle "], "❄")],
    ids=["text", "part", "text in a list"],
)
def test_text(contents: tuple[Any, ...]) -> None:
    """Content is text, or a list of parts; both continue each other."""
    expected = [
        STARTED,
        TextDelta("Il gèle ", 0),
        TextDelta("❄", 0),
        TextDone("Il gèle ❄", 0),
        STOP,
    ]
    assert {} == check_parse(WIRE, answer("", *contents), expected).unknown


def test_text_in_the_finish_chunk() -> None:
    """The last piece may stand beside the finish reason."""
    body = stream(chunk("Hi"), chunk("!", "stop"))
    assert "Hi!" == read(body).text


def test_thinking_ends_where_the_answer_begins() -> None:
    """`closed` stands on every piece but the first, so it does not end anything."""
    body = answer([thinking("so")], [thinking(" it", " is", closed=True)], [thinking()], "4")
    part = ReasoningPart("text", "so it is", format=FORMAT)
    expected = [
        STARTED,
        ReasoningDelta("so", 0),
        ReasoningDelta(" it", 0),
        ReasoningDelta(" is", 0),
        ReasoningDone(part, 0),
        TextDelta("4", 1),
        TextDone("4", 1),
        STOP,
    ]
    assert {} == check_parse(WIRE, body, expected).unknown


def test_thinking_and_text_in_one_delta() -> None:
    """One list may hold both, and thinking may come again."""
    body = answer([thinking("a"), {"type": "text", "text": "b"}], [thinking("c")], "d")
    message = read(body)
    assert ["reasoning", "text", "reasoning", "text"] == [part.type for part in message.content]
    assert ["a", "c"] == [part.text for part in message.reasoning]


def test_signature_closes_a_part() -> None:
    """A signature is over the text before it: what follows is another part."""
    body = answer([thinking("a")], [thinking("b", signature="s1")], [thinking("c")], "d")
    parts = [(part.text, part.signature) for part in read(body).reasoning]
    assert [("ab", "s1"), ("c", None)] == parts


def test_signature_that_comes_alone() -> None:
    """A signature without text belongs to the thinking before it."""
    (part,) = read(answer([thinking("a")], [thinking(signature="s1")], "b")).reasoning
    assert ("a", "s1") == (part.text, part.signature)


def test_reference_in_thinking_is_kept() -> None:
    """Items that are no text have no event; the whole list is kept for replay."""
    reference = {"type": "reference", "reference_ids": [1, "b"]}
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "a"}, reference]}
    (detail,) = read(answer([part], [thinking("b")], [thinking("c")], "d")).reasoning
    assert "abc" == detail.text
    items = [{"type": "text", "text": "a"}, reference, {"type": "text", "text": "bc"}]
    assert items == json.loads(detail.data or "")


def test_thinking_that_is_text() -> None:
    """Text where a list is usual is read as text."""
    (part,) = read(answer([{"type": "thinking", "thinking": "hm"}], "a")).reasoning
    assert "hm" == part.text


def test_reference_stands_behind_its_text() -> None:
    """A reference is a citation of the text before it, at the place where it stands; its ids are kept."""
    reference = {"type": "reference", "reference_ids": [3]}
    body = answer("Il gèle", [reference], ".", [reference])
    events = events_of(WIRE, body)
    assert [Citation(start=7, end=7, index=0), Citation(start=8, end=8, index=0)] == [
        event for event in events if isinstance(event, Citation)
    ]
    (part,) = read(body).content
    assert part.type == "text"
    assert [(FORMAT, reference)] * 2 == [(c.format, c.data) for c in part.citations or ()]


def test_tool_reference() -> None:
    """A page that a connector found has title and URL; the rest of it is kept."""
    reference = {
        "type": "tool_reference", "tool": "web_search", "title": "T", "url": "https://a.example",
    }  # fmt: skip
    body = answer("a", [reference])
    assert Citation("https://a.example", "T", None, 1, 1, 0) in events_of(WIRE, body)
    (part,) = read(body).content
    assert part.type == "text"
    assert [reference] == [citation.data for citation in part.citations or ()]


@pytest.mark.parametrize("url", ["https://a.example/b.png", {"url": "https://a.example/b.png"}], ids=repr)
def test_image(url: Any) -> None:
    """An image is a file."""
    events = events_of(WIRE, answer("a", [{"type": "image_url", "image_url": url}]))
    assert FileDone("image/png", url="https://a.example/b.png", index=1) in events


def test_other_parts_are_kept() -> None:
    """Parts without an event of ours stay in their place; unknown ones are counted, too."""
    file, strange = {"type": "file", "file_id": "f1"}, {"type": "smell", "of": [1]}
    parser = plait.parser(WIRE)
    parser.feed(answer("a", [file, strange], "b"))
    parts = parser.message.content
    assert ["text", "provider", "provider", "text"] == [part.type for part in parts]
    assert [file, strange] == [part.data for part in parts if part.type == "provider"]
    assert {"content:smell": 1} == parser.unknown


def test_a_tool_speaks() -> None:
    """What a tool of the provider's says is no answer text."""
    said = [chunk("a", role="assistant"), chunk("b", role="tool"), chunk("c"), chunk("d", role="assistant")]
    body = stream(*said, chunk("", "stop"))
    assert "ad" == read(body).text


def test_only_one_choice_is_read() -> None:
    """Choices never mix."""
    other = {"index": 1, "delta": {"content": "x"}, "finish_reason": None}
    parser = plait.parser(WIRE)
    parser.feed(stream(chunk("a"), {**chunk(), "choices": [other]}, chunk("b", "stop")))
    assert ("ab", {"choice:1": 1}) == (parser.message.text, dict(parser.unknown))


# Tool calls


def test_whole_call_beside_the_finish_reason() -> None:
    """A call comes whole, in the last chunk, together with the usage."""
    last = {**chunk(None, "tool_calls", tool_calls=[call("abc123def", '{"a": 1}')]), "usage": {}}
    expected = [
        STARTED,
        ToolCallDelta("abc123def", "f", "", 0),
        ToolCallDelta("abc123def", None, '{"a": 1}', 0),
        ToolCallDone("abc123def", "abc123def", "f", '{"a": 1}', True, 0),
        FinishReasonDone("tool_calls", "tool_calls"),
    ]
    check_parse(WIRE, stream(chunk(""), last), expected)


@pytest.mark.parametrize("place", [{}, {"index": 0}], ids=["no index", "index 0"])
def test_two_whole_calls_in_one_chunk(place: dict[str, Any]) -> None:
    """Calls without an index, or all with the same, are told apart by their ids."""
    calls = [call("abc123de1", "{}", **place), call("abc123de2", '{"a":1}', **place)]
    found = read(stream(chunk(None, "tool_calls", tool_calls=calls))).tool_calls
    assert [("abc123de1", "{}"), ("abc123de2", '{"a":1}')] == [(c.call_id, c.arguments) for c in found]


def test_call_in_pieces() -> None:
    """Models that Mistral hosts send pieces, with an empty name in the later ones."""
    body = stream(
        chunk("", tool_calls=[call("c1", "", index=0)]),
        chunk("", tool_calls=[call(None, '{"a":', "", index=0)]),
        chunk("", tool_calls=[call(None, "1}", "", index=0)]),
        chunk("", "tool_calls"),
    )
    (part,) = read(body).tool_calls
    assert ("c1", "f", '{"a":1}', True) == (part.call_id, part.tool_name, part.arguments, part.complete)


def test_arguments_that_came_decoded() -> None:
    """Arguments may be an object."""
    (part,) = read(stream(chunk(None, "tool_calls", tool_calls=[call("c1", {"a": 1})]))).tool_calls
    assert '{"a":1}' == part.arguments


def test_null_is_no_id() -> None:
    """`"null"` is what Mistral's own types say for a missing id: each call gets an id of its own."""
    calls = [call("null", '{"a":1}'), call("null", '{"a":2}')]
    found = read(stream(chunk(None, "tool_calls", tool_calls=calls))).tool_calls
    assert 2 == len({part.tool_call_id for part in found})
    assert [None, None] == [part.call_id for part in found]


def test_call_cut_by_the_token_limit() -> None:
    """Half a call is incomplete."""
    message = read(stream(chunk(None, "length", tool_calls=[call("c1", '{"a":')])))
    assert ("length", False) == (message.finish_reason, message.tool_calls[0].complete)


# The end


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("model_length", "context_window"),
        ("error", "error"),
        ("tool_calls", "tool_calls"),
        ("weird", "other"),
    ],
)
def test_finish_reasons(raw: str, reason: str) -> None:
    """Each word has its meaning; one that nobody mapped is no exception."""
    assert FinishReasonDone(reason, raw) == events_of(WIRE, answer("a", finish=raw))[-1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("documents", "complete"),
    [
        ([chunk("a"), chunk("", "stop")], True),
        ([chunk("a"), "[DONE]"], True),
        ([chunk("a")], False),
        ([chunk(""), "[DONE]"], False),
        (["[DONE]"], False),
    ],
    ids=["finish only", "done only", "neither", "done after nothing", "done alone"],
)
def test_what_ends_a_stream(documents: list[Any], complete: bool) -> None:
    """A finish reason, or `[DONE]` after something."""
    parser = plait.parser(WIRE)
    parser.feed(stream(*documents, done=False))
    _, error = parser.finish()
    assert complete is (error is None)
    assert complete or isinstance(error, IncompleteStreamError)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}, TokenUsage(10, 4)),
        (
            {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14, "num_cached_tokens": 8},
            TokenUsage(10, 4, 8),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 0}},
            TokenUsage(10, 4, 0),
        ),
        (
            {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 45, "prompt_audio_seconds": 3},
            TokenUsage(41, 4),
        ),
    ],
    ids=["plain", "cached", "details", "audio is in the total only"],
)
def test_usage(usage: dict[str, Any], expected: TokenUsage) -> None:
    """All that entered the context is input."""
    events = events_of(WIRE, stream(chunk("a"), {**chunk("", "stop"), "usage": usage}))
    assert TokenUsageDone(expected) == events[-2]


# Errors


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"object": "error", "message": "no", "type": "invalid_model", "code": "1500"}, plait.NotFoundError),
        ({"object": "error", "message": "slow down", "raw_status_code": 429}, plait.RateLimitError),
        ({"object": "error", "message": "x", "raw_status_code": 503}, plait.OverloadedError),
        ({"message": "Unauthorized", "request_id": "q1"}, plait.ProviderError),
        ({"detail": [{"loc": ["body"], "msg": "Field required"}]}, plait.ProviderError),
        ({"object": "error", "message": {"detail": [{"msg": "Field required"}]}}, plait.ProviderError),
        ({"error": {"message": "busy", "code": 500}}, plait.ServerError),
        (
            {"object": "error", "message": "too large for model with 32768 maximum context length"},
            plait.ContextWindowExceededError,
        ),
    ],
    ids=["model", "rate", "status", "bare", "detail", "detail in message", "nested", "context"],
)
def test_errors(document: dict[str, Any], error: type[PlaitError]) -> None:
    """An error of any shape: in mid-stream, after what came before it; and as a body."""
    body = stream(chunk("a"), document)
    parser = check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=error)
    words = str(parser.error)
    assert "without a message" not in words
    with pytest.raises(error, match=words.splitlines()[0].split("(")[0].strip()):
        plait.read_response(WIRE, document)


def test_error_facts() -> None:
    """Mistral's code and request id are kept."""
    document = {"object": "error", "message": "no", "type": "invalid_model", "code": "1500"}
    with pytest.raises(plait.NotFoundError) as caught:
        plait.read_response(WIRE, {**document, "request_id": "q1"})
    assert ("1500", "q1", "mistral") == (
        caught.value.code, caught.value.request_id, caught.value.provider,
    )  # fmt: skip


# Whole bodies


def test_whole_body_is_the_same_message() -> None:
    """A body that is not streamed gives the message that a stream of it gives."""
    parts = [thinking("so", closed=True, signature="s"), {"type": "text", "text": "4"}]
    calls = [call("abc123def", '{"a":1}')]
    body = whole({"role": "assistant", "content": parts, "tool_calls": calls}, "tool_calls")
    streamed = stream(chunk([parts[0]]), chunk("4"), chunk(None, "tool_calls", tool_calls=calls))
    assert plait.read_response(WIRE, body) == read(streamed)


def test_whole_body_with_several_messages() -> None:
    """Where a choice has a list of messages, what the assistant says in them is the answer."""
    said = [("assistant", "a"), ("tool", "x"), ("assistant", "b")]
    messages = [{"role": role, "content": content} for role, content in said]
    body = {"id": "r1", "model": "m", "choices": [{"messages": messages, "finish_reason": "stop"}]}
    assert "ab" == plait.read_response(WIRE, body).text
