"""Answers as bytes: what each wire sends, what it has no place for, and what it refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

import plait
from plait.conformance.encoding import ENCODERS, Answer, Reasoning, Text, ToolCall
from plait.events import TokenUsage

ANSWER = Answer(
    parts=(
        Reasoning(("Look ", "outside."), "c2ln"),
        Text(("Il gèle", "")),
        ToolCall("t1", "weather", ('{"city": ', '"Oslo"}')),
        Text((" ici",)),
    ),
    token_usage=TokenUsage(12, 7, 4, 2, 5),
    id="r1",
    model="tiny",
)


def test_chat_stream_is_what_a_server_sends() -> None:
    """One chunk for each piece, the finish reason, the usage, and `[DONE]`."""
    said = Answer(parts=(Text(("Hi",)),), token_usage=TokenUsage(3, 1), id="r1", model="tiny")
    head = b'data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"tiny","choices":['
    assert b"".join(
        (
            head,
            b'{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
            head,
            b'{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n',
            head,
            b'{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
            head,
            b'],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\n',
            b"data: [DONE]\n\n",
        )
    ) == ENCODERS["openai-chat"].stream(said)


@pytest.mark.parametrize("wire", ENCODERS)
def test_parts_keep_their_order_in_a_stream(wire: str) -> None:
    """A call in the middle of the text stays there, and makes the response end in `tool_calls`."""
    message = _read(wire, ENCODERS[wire].stream(ANSWER))
    assert ["reasoning", "text", "tool-call", "text"] == [part.type for part in message.content]
    assert ("Il gèle ici", "tool_calls") == (message.text, message.finish_reason)


@pytest.mark.parametrize(
    ("wire", "kinds"),
    [
        ("anthropic-messages", ["reasoning", "text", "tool-call", "text"]),
        ("mistral-chat", ["reasoning", "text", "tool-call"]),
        ("openai-chat", ["reasoning", "text", "tool-call"]),
        ("cohere-chat", ["reasoning", "text", "text", "tool-call"]),
    ],
)
def test_whole_body_has_the_order_of_its_wire(wire: str, kinds: list[str]) -> None:
    """Where a body has one place for all calls they come last, and texts without anything between are one."""
    message = plait.read_response(wire, ENCODERS[wire].whole(ANSWER))
    assert kinds == [part.type for part in message.content]


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        ("anthropic-messages", TokenUsage(12, 7, 4, 2, 5)),
        ("bedrock-converse", TokenUsage(12, 7, 4, 2)),
        ("gemini", TokenUsage(12, 7, 4, None, 5)),
        ("ollama-chat", TokenUsage(12, 7)),
    ],
)
def test_usage_is_what_the_wire_counts(wire: str, usage: TokenUsage) -> None:
    """Counts that a wire has no field for are left out, and `carried` says so."""
    assert usage == ENCODERS[wire].carried(ANSWER).token_usage
    assert usage == _read(wire, ENCODERS[wire].stream(ANSWER)).token_usage


@pytest.mark.parametrize(
    ("wire", "framing"), [(wire, way) for wire, each in ENCODERS.items() for way in each.framings]
)
def test_every_framing_is_the_same_answer(wire: str, framing: str) -> None:
    """A wire's streams say the same in each of its framings."""
    encoder = ENCODERS[wire]
    (way,) = (each for each in encoder.framings if each == framing)
    body = encoder.join(encoder.frames(encoder.stream_documents(ANSWER), way), way)
    assert _read(wire, encoder.stream(ANSWER)) == _read(wire, body)


def test_a_reason_without_a_word_is_refused() -> None:
    """An answer that a wire cannot end is an error, not one that ends in something else."""
    with pytest.raises(ValueError, match="ollama-chat has no word for the finish reason 'content_filter'"):
        ENCODERS["ollama-chat"].stream(Answer(parts=(), finish_reason="content_filter"))


def test_arguments_that_are_no_json_are_refused_where_the_wire_has_an_object() -> None:
    """Cut arguments can be sent as text only."""
    cut = Answer(parts=(ToolCall("t1", "weather", ('{"city": ',)),), finish_reason="length")
    with pytest.raises(ValueError, match="truncated"):
        ENCODERS["gemini"].stream(cut)
    (call,) = _read("openai-chat", ENCODERS["openai-chat"].stream(cut)).tool_calls
    assert ('{"city": ', False) == (call.arguments, call.complete)


def test_encoding_needs_no_test_library() -> None:
    """A server can use the encoders where hypothesis is not installed; the strategies say what they miss."""
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import plait.conformance.encoding, plait.conformance.mutations\n"
        "try: import plait.conformance.strategies\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "plait.conformance.strategies needs hypothesis" in done.stdout


def _read(wire: str, body: bytes) -> plait.AssistantMessage:
    parser = plait.parser(wire)
    parser.feed(body)
    parser.close()
    return parser.message
