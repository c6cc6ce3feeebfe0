"""`bedrock-converse` without streaming: the JSON body gives the message that the stream gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

import plait
from bedrock_frames import BEGIN, delta, end, start, stop
from plait import IncompleteStreamError, ProtocolError, TokenUsage
from plait.messages import AssistantMessage, ProviderPart
from plait.wire.bedrock_converse.mapping import FORMAT

WIRE = "bedrock-converse"
CITATION = {"title": "T", "location": {"web": {"url": "https://a.example", "domain": "a.example"}}}
SEARCH = {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}
FOUND = {"toolUseId": "t1", "type": "nova_grounding_result", "status": "success"}
TRACE = {"guardrail": {"actionReason": "No action."}, "promptRouter": {"invokedModelId": "m1"}}


def answer(*content: Any, stop_reason: str | None = "end_turn", **fields: Any) -> bytes:
    usage = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
    document = {"output": {"message": {"role": "assistant", "content": content}}, "usage": usage, **fields}
    return json.dumps({**document, "stopReason": stop_reason}).encode()


def streamed(body: bytes) -> AssistantMessage:
    parser = plait.parser(WIRE)
    parser.feed(body)
    parser.close()
    return parser.message


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        pytest.param(
            [{"text": "a"}, {"text": "b"}],
            delta(0, text="a") + stop(0) + delta(1, text="b") + stop(1),
            id="text",
        ),
        pytest.param(
            [{"text": ""}, {"text": "b"}],
            delta(0, text="") + stop(0) + delta(1, text="b") + stop(1),
            id="empty text",
        ),
        pytest.param(
            [{"reasoningContent": {"reasoningText": {"text": "r", "signature": "s"}}}, {"text": "a"}],
            delta(0, reasoningContent={"text": "r"})
            + delta(0, reasoningContent={"signature": "s"})
            + stop(0)
            + delta(1, text="a"),
            id="signed reasoning",
        ),
        pytest.param(
            [{"reasoningContent": {"reasoningText": {"text": "", "signature": "s"}}}],
            delta(0, reasoningContent={"signature": "s"}) + stop(0),
            id="signature alone",
        ),
        pytest.param(
            [{"text": "a"}, {"reasoningContent": {"reasoningText": {"text": "r"}}}],
            delta(0, text="a") + stop(0) + delta(1, reasoningContent={"text": "r"}) + stop(1),
            id="reasoning after text",
        ),
        pytest.param(
            [{"reasoningContent": {"redactedContent": "aGk="}}],
            delta(0, reasoningContent={"redactedContent": "aGk="}) + stop(0),
            id="redacted reasoning",
        ),
        pytest.param(
            [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": [1, 2.5, None]}}}],
            start(0, toolUse={"toolUseId": "t1", "name": "f"})
            + delta(0, toolUse={"input": '{"a":[1,2.5,null]}'})
            + stop(0),
            id="tool call",
        ),
        pytest.param(
            [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}, "type": "tool_use"}}],
            start(0, toolUse={"toolUseId": "t1", "name": "f", "type": "tool_use"})
            + delta(0, toolUse={"input": ""})
            + stop(0),
            id="tool call without input",
        ),
        pytest.param(
            [{"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [CITATION]}}],
            delta(0, citation=CITATION) + delta(0, text="ab") + stop(0),
            id="citations",
        ),
        pytest.param(
            [
                {"toolUse": {**SEARCH, "input": {"query": "q"}}},
                {"toolResult": {**FOUND, "content": [{"text": "[HIDDEN]"}]}},
                {"text": "a"},
                {"citationsContent": {"citations": [CITATION]}},
            ],
            start(0, toolUse=SEARCH)
            + delta(0, toolUse={"input": '{"query":"q"}'})
            + stop(0)
            + start(1, toolResult=FOUND)
            + delta(1, toolResult=[{"text": "[HIDDEN]"}])
            + stop(1)
            + delta(2, text="a")
            + stop(2)
            + delta(3, citation=CITATION)
            + stop(3),
            id="web search",
        ),
        pytest.param(
            [{"image": {"format": "jpeg", "source": {"bytes": "aGk="}}}],
            start(0, image={"format": "jpeg"}) + delta(0, image={"source": {"bytes": "aGk="}}) + stop(0),
            id="image",
        ),
    ],
)
def test_same_as_the_stream(content: list[Any], blocks: bytes) -> None:
    """Each block reads the same whole and streamed, with usage, model and trace."""
    whole = plait.read_response(WIRE, answer(*content, trace=TRACE))
    assert whole == streamed(BEGIN + blocks + end(trace=TRACE))
    assert whole == streamed(answer(*content, trace=TRACE))
    assert TokenUsage(7, 3) == whole.token_usage
    assert ("m1", "end_turn") == (whole.model, whole.raw_finish_reason)


def test_media() -> None:
    """Sound and film are files; what lies in S3 is a URL."""
    message = plait.read_response(
        WIRE,
        answer(
            {"audio": {"format": "mp3", "source": {"bytes": "aGk="}}},
            {"video": {"format": "mov", "source": {"s3Location": {"uri": "s3://b/k"}}}},
        ),
    )
    assert [
        {
            "type": "file",
            "data": {"type": "data", "data": "aGk=", "media_type": "audio/mpeg"},
            "media_type": "audio/mpeg",
        },
        {"type": "file", "data": {"type": "url", "url": "s3://b/k"}, "media_type": "video/quicktime"},
    ] == [part.to_dict() for part in message.content]


def test_unknown_block() -> None:
    """A block of a type that nobody knows is kept for replay, and counted."""
    parser = plait.parser(WIRE)
    parser.feed(answer({"newBlock": {"a": 1}}, "no object", {"text": "a"}))
    parser.close()
    assert ProviderPart(format=FORMAT, data={"newBlock": {"a": 1}}) == parser.message.content[0]
    assert "a" == parser.message.text
    assert {"block:newBlock": 1, "block:string": 1} == parser.unknown


def test_without_stop_reason() -> None:
    """A body that does not say why the answer ended is not taken for a whole one."""
    body = answer({"text": "a"}, stop_reason=None)
    assert plait.read_response(WIRE, body).finish_reason is None
    with pytest.raises(IncompleteStreamError):
        list(plait.parse(body, WIRE))


@pytest.mark.parametrize("body", [b"{}", b'{"output":{}}', b"[]", b"7"])
def test_no_response(body: bytes) -> None:
    """JSON without anything of a response is none."""
    with pytest.raises(ProtocolError):
        plait.read_response(WIRE, body)
