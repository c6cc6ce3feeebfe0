"""`bedrock-converse`: every event, block and delta type, and how a stream ends."""

from __future__ import annotations

from typing import Any

import pytest
from checking import check_parse, run

import plait
from bedrock_frames import BEGIN, delta, end, event, start, stop
from plait import (
    Citation,
    Event,
    FileDone,
    FinishReasonDone,
    GuardrailTripwire,
    IncompleteStreamError,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.framing import HeaderValue, encode_event_stream_message
from plait.messages import ImagePart, ProviderPart, ReasoningContent, TextPart, ToolCallPart
from plait.wire.bedrock_converse.mapping import FINISH_REASONS, FORMAT, TRACE_FORMAT

WIRE = "bedrock-converse"
USAGE = TokenUsageDone(TokenUsage(7, 3))
STOP = FinishReasonDone("stop", "end_turn")
TOOL_CALLS = FinishReasonDone("tool_calls", "tool_use")


def signed(text: str) -> ReasoningPart:
    return ReasoningPart("text", text, signature="s1", format=FORMAT)


def test_text() -> None:
    """Text blocks have no start; each is a part, and one `TextDone` joins them."""
    body = BEGIN + delta(0, text="Oslo") + delta(0, text=" is héé 🌍") + stop(0)
    body += delta(1, text="{}}") + stop(1) + end()
    expected = [
        TextDelta("Oslo", 0),
        TextDelta(" is héé 🌍", 0),
        TextDelta("{}}", 1),
        TextDone("Oslo is héé 🌍{}}", 1),
        USAGE,
        STOP,
    ]
    parser = check_parse(WIRE, body, expected)
    assert [TextPart(text="Oslo is héé 🌍"), TextPart(text="{}}")] == parser.message.content
    assert {} == parser.unknown


def test_no_message_start() -> None:
    """Proxies leave out `messageStart`, and begin a block with an empty object."""
    body = start(0) + delta(0, text="a") + stop(0) + end()
    check_parse(WIRE, body, [TextDelta("a", 0), TextDone("a", 0), USAGE, STOP])


def test_empty_text() -> None:
    """Empty pieces of text say nothing, and open no part."""
    body = BEGIN + delta(0, text="") + stop(0) + delta(1, text="a") + delta(1, text="") + stop(1) + end()
    parser = check_parse(WIRE, body, [TextDelta("a", 0), TextDone("a", 0), USAGE, STOP])
    assert [TextPart(text="a")] == parser.message.content


def test_reasoning() -> None:
    """Text, then its signature; only then is the part one that may be sent back."""
    body = BEGIN + delta(0, reasoningContent={"text": "Look"}) + delta(0, reasoningContent={"text": " up"})
    body += delta(0, reasoningContent={"text": ""}) + delta(0, reasoningContent={"signature": "s1"}) + stop(0)
    body += delta(1, text="a") + stop(1) + end()
    part = signed("Look up")
    expected = [
        ReasoningDelta("Look", 0),
        ReasoningDelta(" up", 0),
        ReasoningDone(part, 0),
        TextDelta("a", 1),
        TextDone("a", 1),
        USAGE,
        STOP,
    ]
    parser = check_parse(WIRE, body, expected)
    assert ReasoningContent(details=[part]) == parser.message.content[0]


def test_unsigned_reasoning() -> None:
    """Models that do not sign refuse their reasoning back: the part has no format."""
    body = BEGIN + delta(0, reasoningContent={"text": "Hm"}) + stop(0) + end()
    part = ReasoningPart("text", "Hm")
    check_parse(WIRE, body, [ReasoningDelta("Hm", 0), ReasoningDone(part, 0), USAGE, STOP])


def test_signature_alone() -> None:
    """A signature without text is kept, with a text that is empty rather than absent."""
    body = BEGIN + delta(0, reasoningContent={"signature": "s1"}) + stop(0)
    body += start(1, toolUse={"toolUseId": "t1", "name": "f"}) + stop(1) + end("tool_use")
    expected = [
        ReasoningDone(signed(""), 0),
        ToolCallDelta("t1", "f", "", 1),
        ToolCallDone("t1", "t1", "f", "{}", True, 1),
        USAGE,
        TOOL_CALLS,
    ]
    check_parse(WIRE, body, expected)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(["aGk="], "aGk=", id="one piece"),
        pytest.param(["YUdrPQ=="], "YUdrPQ==", id="base64 of base64 is not decoded"),
        pytest.param(["aGk=", "aG8="], "aGlobw==", id="two pieces"),
        pytest.param(["a", "b"], "ab", id="no base64"),
    ],
)
def test_redacted_reasoning(pieces: list[str], expected: str) -> None:
    """What was withheld is kept as it came; several pieces of base64 become one."""
    body = BEGIN + b"".join(delta(0, reasoningContent={"redactedContent": piece}) for piece in pieces)
    part = ReasoningPart("redacted", data=expected, format=FORMAT)
    check_parse(WIRE, body + stop(0) + end(), [ReasoningDone(part, 0), USAGE, STOP])


def test_tool_calls() -> None:
    """Input comes as JSON text; a call without any is `{}`; `type: tool_use` says nothing."""
    body = BEGIN + start(0, toolUse={"toolUseId": "t1", "name": "w", "type": "tool_use"})
    body += (
        delta(0, toolUse={"input": ""})
        + delta(0, toolUse={"input": '{"a":'})
        + delta(0, toolUse={"input": "1}"})
    )
    body += stop(0) + start(1, toolUse={"toolUseId": "t2", "name": "n"}) + delta(1, toolUse={"input": ""})
    body += stop(1) + end("tool_use")
    expected = [
        ToolCallDelta("t1", "w", "", 0),
        ToolCallDelta("t1", None, '{"a":', 0),
        ToolCallDelta("t1", None, "1}", 0),
        ToolCallDone("t1", "t1", "w", '{"a":1}', True, 0),
        ToolCallDelta("t2", "n", "", 1),
        ToolCallDone("t2", "t2", "n", "{}", True, 1),
        USAGE,
        TOOL_CALLS,
    ]
    parser = check_parse(WIRE, body, expected)
    assert {} == parser.unknown
    assert [
        ToolCallPart(tool_call_id="t1", call_id="t1", tool_name="w", arguments='{"a":1}'),
        ToolCallPart(tool_call_id="t2", call_id="t2", tool_name="n"),
    ] == parser.message.content


def test_interleaved_calls() -> None:
    """Pieces go to the block of their index, though blocks overlap."""
    body = (
        BEGIN
        + start(0, toolUse={"toolUseId": "t1", "name": "a"})
        + start(1, toolUse={"toolUseId": "t2", "name": "b"})
    )
    body += delta(1, toolUse={"input": "[2]"}) + delta(0, toolUse={"input": "[1]"}) + end("tool_use")
    message = check_parse(WIRE, body, plait_events(body)).message
    assert ["[1]", "[2]"] == [call.arguments for call in message.tool_calls]


def plait_events(body: bytes) -> list[Event]:
    return list(plait.parse(body, WIRE))


def test_cut_call() -> None:
    """A call that the token limit cut is closed, and not complete."""
    body = BEGIN + start(0, toolUse={"toolUseId": "t1", "name": "w"}) + delta(0, toolUse={"input": '{"a'})
    expected = [
        ToolCallDelta("t1", "w", "", 0),
        ToolCallDelta("t1", None, '{"a', 0),
        ToolCallDone("t1", "t1", "w", '{"a', False, 0),
        USAGE,
        FinishReasonDone("length", "max_tokens"),
    ]
    check_parse(WIRE, body + stop(0) + end("max_tokens"), expected)


def test_index_used_again() -> None:
    """A server that gives every block the same index does not mix them."""
    body = (
        BEGIN
        + start(0, toolUse={"toolUseId": "t1", "name": "a"})
        + delta(0, toolUse={"input": "[1]"})
        + stop(0)
    )
    body += start(0, toolUse={"toolUseId": "t2", "name": "b"}) + delta(0, toolUse={"input": "[2]"})
    body += start(0, toolUse={"toolUseId": "t3", "name": "c"}) + stop(0) + end("tool_use")
    message = check_parse(WIRE, body, plait_events(body)).message
    assert [("a", "[1]"), ("b", "[2]"), ("c", "{}")] == [
        (c.tool_name, c.arguments) for c in message.tool_calls
    ]


def test_start_twice() -> None:
    """The same start again is no second call."""
    one = start(0, toolUse={"toolUseId": "t1", "name": "a"})
    body = (
        BEGIN + BEGIN + one + one + delta(0, toolUse={"input": "[1]"}) + stop(0) + stop(0) + end("tool_use")
    )
    parser = check_parse(WIRE, body, plait_events(body))
    assert ["[1]"] == [call.arguments for call in parser.message.tool_calls]
    assert {
        "event:messageStart again": 1,
        "event:contentBlockStart again": 1,
        "event:contentBlockStop without its block": 1,
    } == parser.unknown


def test_no_index() -> None:
    """Without an index, pieces belong to the block opened last."""

    def bare(name: str, **fields: Any) -> bytes:
        return event(name, fields)

    body = BEGIN + bare("contentBlockStart", start={"toolUse": {"toolUseId": "t1", "name": "a"}})
    body += bare("contentBlockDelta", delta={"toolUse": {"input": "[1]"}}) + bare("contentBlockStop")
    body += bare("contentBlockDelta", delta={"text": "x"}) + bare("contentBlockDelta", delta={"text": "y"})
    message = check_parse(WIRE, body + end(), plait_events(body + end())).message
    assert ["[1]"] == [call.arguments for call in message.tool_calls]
    assert "xy" == message.text


CITED = {
    "title": "Doc",
    "source": "notes.txt",
    "sourceContent": [{"text": "fjord"}, {"text": " city"}],
    "location": {"documentChar": {"documentIndex": 0, "start": 4, "end": 9}},
}


def test_citation_before_its_text() -> None:
    """A citation precedes the text of its block; its data is kept for replay."""
    body = BEGIN + delta(0, citation=CITED) + delta(0, text="Oslo") + delta(0, text="!") + stop(0) + end()
    expected = [
        TextDelta("Oslo", 0),
        Citation(None, "Doc", "fjord city", 4, 9, 0),
        TextDelta("!", 0),
        TextDone("Oslo!", 0),
        USAGE,
        STOP,
    ]
    (part,) = check_parse(WIRE, body, expected).message.content
    assert isinstance(part, TextPart)
    assert part.citations is not None
    assert (FORMAT, CITED) == (part.citations[0].format, part.citations[0].data)


@pytest.mark.parametrize("place", ["documentPage", "documentChunk", "searchResultLocation"])
def test_citation_places(place: str) -> None:
    """Each kind of place has its start and end; a source that is a URL is the citation's."""
    citation = {"source": "https://a.example/x", "location": {place: {"start": 1, "end": 2}}}
    body = BEGIN + delta(0, text="a") + delta(0, citation=citation) + stop(0) + end()
    assert Citation("https://a.example/x", None, None, 1, 2, 0) in plait_events(body)


def test_web_search() -> None:
    """Nova's grounding: what was found is hidden, so the sources are those that the answer cites."""
    page = {"location": {"web": {"url": "https://a.example/1", "domain": "a.example"}}}
    call = {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}
    result = {"toolUseId": "t1", "type": "nova_grounding_result", "status": "success"}
    body = BEGIN + start(0, toolUse=call) + delta(0, toolUse={"input": '{"query":"oslo"}'}) + stop(0)
    body += start(1, toolResult=result) + delta(1, toolResult=[{"text": "[HIDDEN]"}]) + stop(1)
    body += delta(2, text="Rain.") + stop(2) + delta(3, citation=page) + stop(3) + end()
    expected = [
        WebSearchStatus("in_progress", index=0),
        WebSearchStatus("searching", "oslo", index=0),
        WebSearchStatus("completed", "oslo", index=1),
        TextDelta("Rain.", 2),
        Citation("https://a.example/1", None, None, None, None, 2),
        WebSearchDone("oslo", [{"title": "a.example", "url": "https://a.example/1"}], 0),
        TextDone("Rain.", 2),
        USAGE,
        STOP,
    ]
    message = check_parse(WIRE, body, expected).message
    assert [
        ProviderPart(format=FORMAT, data={"toolUse": {**call, "input": {"query": "oslo"}}}),
        ProviderPart(format=FORMAT, data={"toolResult": {**result, "content": [{"text": "[HIDDEN]"}]}}),
    ] == message.content[:2]


def test_two_web_searches() -> None:
    """A source belongs to the search before it; one cited before any text waits for the text."""

    def search(index: int, query: str) -> bytes:
        call = {"toolUseId": query, "name": "nova_grounding", "type": "server_tool_use"}
        return (
            start(index, toolUse=call)
            + delta(index, toolUse={"input": f'{{"query":"{query}"}}'})
            + stop(index)
        )

    def cite(index: int, url: str) -> bytes:
        return delta(index, citation={"title": "T", "location": {"web": {"url": url}}}) + stop(index)

    body = BEGIN + search(0, "a") + cite(1, "https://a.example") + delta(2, text="A") + stop(2)
    body += search(3, "b") + cite(4, "https://b.example") + end()
    done = [item for item in plait_events(body) if isinstance(item, WebSearchDone | Citation)]
    assert [
        Citation("https://a.example", "T", index=1),
        WebSearchDone("a", [{"title": "T", "url": "https://a.example"}], 0),
        Citation("https://b.example", "T", index=1),
        WebSearchDone("b", [{"title": "T", "url": "https://b.example"}], 2),
    ] == done


def test_server_tool() -> None:
    """Any other tool of the provider's is reported, and never a call for the client."""
    call = {"toolUseId": "t1", "name": "nova_code_interpreter", "type": "server_tool_use"}
    result = {"toolUseId": "t1", "type": "nova_code_interpreter_result", "status": "success"}
    body = (
        BEGIN
        + start(0, toolUse=call)
        + delta(0, toolUse={"input": '{"snip'})
        + delta(0, toolUse={"input": 'pet":"1"}'})
    )
    body += stop(0) + start(1, toolResult=result) + delta(1, toolResult=[{"json": {"out": 1}}])
    body += delta(1, toolResult=[{"text": "x"}]) + stop(1) + end()
    output: list[Any] = [{"json": {"out": 1}}, {"text": "x"}]
    expected = [
        ServerToolCall("t1", "nova_code_interpreter", {"snippet": "1"}, 0),
        ServerToolResult("t1", "nova_code_interpreter", output, 1),
        USAGE,
        STOP,
    ]
    parser = check_parse(WIRE, body, expected)
    assert (
        ProviderPart(format=FORMAT, data={"toolResult": {**result, "content": output}})
        == parser.message.content[1]
    )
    assert [] == parser.message.tool_calls


def test_image() -> None:
    """A generated image, in pieces of base64, is one file."""
    body = BEGIN + start(0, image={"format": "png"}) + delta(0, image={"source": {"bytes": "aGk="}})
    body += delta(0, image={"source": {"bytes": "aG8="}}) + stop(0) + end()
    message = check_parse(WIRE, body, [FileDone("image/png", "aGlobw==", index=0), USAGE, STOP]).message
    assert isinstance(message.content[0], ImagePart)


@pytest.mark.parametrize(("raw", "reason"), FINISH_REASONS.items())
def test_finish_reasons(raw: str, reason: str) -> None:
    """Every stop reason of the service has its place."""
    parser = check_parse(WIRE, BEGIN + end(raw), [USAGE, FinishReasonDone(reason, raw)])  # type: ignore[arg-type]
    assert {} == parser.unknown


def test_unknown_finish_reason() -> None:
    """A new stop reason is `other`, and counted; calls are delivered all the same."""
    body = BEGIN + delta(0, text="a") + stop(0)
    parser = check_parse(
        WIRE, body + end("new"), [*plait_events(body + end())[:-1], FinishReasonDone("other", "new")]
    )
    assert {"finish_reason:new": 1} == parser.unknown
    calls = BEGIN + start(0, toolUse={"toolUseId": "t1", "name": "f"}) + stop(0) + end("new")
    assert FinishReasonDone("tool_calls", "new") == plait_events(calls)[-1]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(
            {"inputTokens": 1, "cacheReadInputTokens": 8, "cacheWriteInputTokens": 2, "outputTokens": 3},
            TokenUsage(11, 3, 8, 2),
            id="cached input is beside the rest",
        ),
        pytest.param({"inputTokens": 1, "outputTokens": 0}, TokenUsage(1, 0), id="no cache keys"),
        pytest.param(
            {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 0},
            TokenUsage(1, 2, 0),
            id="zero is not absent",
        ),
        pytest.param({"outputTokens": 2}, TokenUsage(0, 2), id="no input"),
    ],
)
def test_usage(usage: dict[str, int], expected: TokenUsage) -> None:
    """All that entered the context is input, and absent counts stay absent."""
    check_parse(WIRE, BEGIN + end(usage=usage), [TokenUsageDone(expected), STOP])


def test_metadata_before_the_stop() -> None:
    """Usage that came early counts; a later one replaces it, one without usage does not."""
    early = event("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1}})
    bare = event("metadata", {"metrics": {"latencyMs": 1}})
    last = event("messageStop", {"stopReason": "end_turn"})
    check_parse(WIRE, BEGIN + early + bare + last, [TokenUsageDone(TokenUsage(1, 1)), STOP])
    check_parse(WIRE, BEGIN + early + end(), [USAGE, STOP])
    check_parse(WIRE, BEGIN + bare + last + bare + end()[-len(end()) + len(last) :], [USAGE, STOP])


def test_no_metadata() -> None:
    """`messageStop` makes the answer complete; its usage is then unknown."""
    body = BEGIN + delta(0, text="a") + event("messageStop", {"stopReason": "end_turn"})
    check_parse(WIRE, body, [TextDelta("a", 0), TextDone("a", 0), STOP])


def test_done_after_the_usage() -> None:
    """The parser is done when the usage has come: it does not wait for the connection to close."""
    parser = plait.parser(WIRE)
    parser.feed(BEGIN + event("messageStop", {"stopReason": "end_turn"}))
    assert not parser.done
    parser.feed(event("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1}}))
    assert parser.done


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing at all"),
        pytest.param(BEGIN, id="only the start"),
        pytest.param(BEGIN + delta(0, text="a") + stop(0), id="after a block"),
        pytest.param(
            BEGIN + event("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1}}), id="only usage"
        ),
        pytest.param(BEGIN + delta(0, text="a") + stop(0) + end()[:-1], id="inside the last frame"),
    ],
)
def test_incomplete(body: bytes) -> None:
    """Without `messageStop`, or with a frame that is cut, the answer is incomplete."""
    outcome = run(plait.parser(WIRE), [body])
    assert outcome.fault is not None
    assert IncompleteStreamError.__name__ == outcome.fault[0]
    check_parse(WIRE, body, outcome.events, error=IncompleteStreamError)


TRACE: dict[str, Any] = {
    "guardrail": {
        "actionReason": "Guardrail blocked.",
        "inputAssessment": {
            "gr1": {
                "topicPolicy": {"topics": [{"name": "Loans", "type": "DENY", "action": "BLOCKED"}]},
                "wordPolicy": {"customWords": [{"match": "secret", "action": "BLOCKED"}]},
                "contentPolicy": {"filters": [{"type": "HATE", "action": "NONE"}]},
            }
        },
        "outputAssessments": {
            "gr2": [{"contentPolicy": {"filters": [{"type": "INSULTS", "action": "BLOCKED"}]}}]
        },
    }
}


def test_guardrail() -> None:
    """What a guardrail blocked: an event for each, the trace kept, and never what was matched."""
    body = BEGIN + delta(0, text="No.") + stop(0) + end("guardrail_intervened", trace=TRACE)
    expected = [
        TextDelta("No.", 0),
        GuardrailTripwire("gr1", "topicPolicy Loans, wordPolicy: Guardrail blocked.", "before"),
        GuardrailTripwire("gr2", "contentPolicy INSULTS: Guardrail blocked.", "after"),
        TextDone("No.", 0),
        USAGE,
        FinishReasonDone("content_filter", "guardrail_intervened"),
    ]
    message = check_parse(WIRE, body, expected).message
    assert ProviderPart(format=TRACE_FORMAT, data=TRACE) == message.content[1]


def test_guardrail_without_text() -> None:
    """An empty answer says why it is empty."""
    body = BEGIN + end("guardrail_intervened", trace={"guardrail": {"inputAssessment": {"g": {}}}})
    parser = check_parse(WIRE, body, [USAGE, FinishReasonDone("content_filter", "guardrail_intervened")])
    assert [TRACE_FORMAT] == [
        part.format for part in parser.message.content if isinstance(part, ProviderPart)
    ]


def test_guardrail_that_let_pass() -> None:
    """A trace of a guardrail that did nothing is no tripwire."""
    body = BEGIN + delta(0, text="a") + stop(0) + end(trace=TRACE)
    assert [] == [item for item in plait_events(body) if isinstance(item, GuardrailTripwire)]


def test_prompt_router() -> None:
    """The model that a prompt router chose is the message's."""
    body = BEGIN + delta(0, text="a") + end(trace={"promptRouter": {"invokedModelId": "m1"}})
    assert "m1" == check_parse(WIRE, body, plait_events(body)).message.model


def test_unknown_things() -> None:
    """New events, starts, pieces and fields are skipped and counted; what is around them is read."""
    body = BEGIN + event("newEvent", {"a": 1}) + event("otherEvent", "no JSON") + start(0, newBlock={"a": 1})
    body += delta(0, newPiece={"a": 1}) + stop(0) + delta(1, text="a") + delta(1, reasoningContent={"new": 1})
    body += delta(2, toolUse={"input": "{}"}) + delta(3, toolResult=[{"text": "x"}]) + stop(1)
    body += start(4, toolUse={"toolUseId": "t1", "name": "f", "type": "new_use"}) + stop(4)
    body += encode_event_stream_message({":message-type": "newKind"}, b"{}") + end("tool_use")
    parser = check_parse(WIRE, body, plait_events(body))
    assert {
        "event:newEvent": 1,
        "event:otherEvent": 1,
        "block:newBlock": 1,
        "delta:newPiece": 1,
        "delta:reasoningContent": 1,
        "delta:toolUse without its block": 1,
        "delta:toolResult without its block": 1,
        "tool_type:new_use": 1,
        "message:newKind": 1,
    } == parser.unknown
    assert "a" == parser.message.text


@pytest.mark.parametrize(
    ("document", "unknown"),
    [
        pytest.param(
            '{"contentBlockIndex":"0","delta":{"text":"a"}}',
            {"type:contentBlockDelta.contentBlockIndex=string": 1},
            id="index",
        ),
        pytest.param(
            '{"contentBlockIndex":0,"delta":{"text":7}}',
            {"type:contentBlockDelta.delta.text=number": 1},
            id="text",
        ),
        pytest.param('{"contentBlockIndex":0,"delta":null}', {"delta:empty": 1}, id="null"),
        pytest.param(
            '{"contentBlockIndex":0,"delta":[1]}',
            {"type:contentBlockDelta.delta=array": 1, "delta:empty": 1},
            id="list",
        ),
        pytest.param(
            '{"contentBlockIndex":0,"delta":{"citation":[1]}}', {"citation:array": 1}, id="citation"
        ),
    ],
)
def test_unexpected_types(document: str, unknown: dict[str, int]) -> None:
    """A known field of another type costs only itself."""
    body = BEGIN + delta(0, text="x") + event("contentBlockDelta", document) + stop(0) + end()
    parser = check_parse(WIRE, body, plait_events(body))
    assert unknown == parser.unknown
    assert parser.message.text is not None
    assert parser.message.text.startswith("x")


def test_split_surrogates() -> None:
    """An escaped pair that is cut over two documents is one character; a half alone is counted as lost."""
    high, low = (
        event("contentBlockDelta", f'{{"contentBlockIndex":0,"delta":{{"text":"{half}"}}}}')
        for half in ("a\\ud83d", "\\ude00b")
    )
    parser = check_parse(
        WIRE, BEGIN + high + low + stop(0) + end(), plait_events(BEGIN + high + low + stop(0) + end())
    )
    assert "a😀b" == parser.message.text
    lost = check_parse(WIRE, BEGIN + high + stop(0) + end(), plait_events(BEGIN + high + stop(0) + end()))
    assert {"text:lone surrogate": 1} == lost.unknown


def test_headers_of_every_type() -> None:
    """Headers before `:event-type`, of any type, change nothing."""
    headers: dict[str, HeaderValue] = {
        "a": True,
        "b": False,
        "c": 5,
        "d": 2**40,
        "e": b"x",
        ":message-type": "event",
        ":event-type": "messageStop",
    }
    body = BEGIN + encode_event_stream_message(headers, b'{"stopReason":"end_turn"}')
    check_parse(WIRE, body, [STOP])


def test_no_message_type() -> None:
    """A message that only says its event type is that event."""
    body = encode_event_stream_message({":event-type": "messageStop"}, b'{"stopReason":"end_turn"}')
    check_parse(WIRE, body, [STOP])
