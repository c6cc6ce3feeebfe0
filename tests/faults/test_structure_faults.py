"""Faults of structure: events that are unknown, missing, out of order; what the provider does by itself."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_documents import END, args, block, delta, finish, start, stop
from anthropic_documents import text as anthropic_text
from checking import sse
from gemini_bodies import array
from gemini_bodies import chunk as gemini_chunk
from gemini_bodies import text as gemini_text
from responses_documents import added, created, done, ended, event, message, text
from said import SSE, frame, hello, read, responses, said

import bedrock_frames as bedrock
from plait.events import Citation, ServerToolCall, ServerToolResult, WebSearchDone, WebSearchStatus

TYPED = ["openai-responses", "anthropic-messages", "cohere-chat"]


@pytest.mark.parametrize("wire", SSE)
@pytest.mark.parametrize(
    "document",
    [
        {"type": "keepalive", "sequence_number": 8},
        {"type": "ping"},
        {"type": "response.future.thing", "delta": {"text": "x"}},
        {"type": 7},
        {"object": "future.chunk"},
        {},
    ],
    ids=["keepalive", "ping", "future", "number as type", "no type", "empty"],
)
def test_documents_nobody_knows(wire: str, document: dict[str, Any]) -> None:
    """They never end a stream, and say nothing of the answer."""
    frames = hello(wire, "a", "b")
    body = frames[0] + frame(wire, document) + frame(wire, document).join(frames[1:])
    found = said(wire, body)
    assert "ab" == found["text"]
    assert found["finish"].startswith("stop:")


@pytest.mark.parametrize("wire", TYPED)
def test_type_is_in_the_data(wire: str) -> None:
    """The event's name is not needed; where the data has no type, it is what names the event."""
    body = b"".join(hello(wire, "a"))
    plain = b"\n".join(line for line in body.split(b"\n") if not line.startswith(b"event:"))
    assert said(wire, body) == said(wire, plain)
    assert said(wire, body) == said(wire, plain.replace(b"data:", b"event: message\ndata:"))
    untyped = b"event: message_stop\ndata: {}\n\n"
    assert "stop:end_turn" == said("anthropic-messages", sse(start(), finish()) + untyped)["finish"]


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param("Hi", "openai-responses", sse(text("Hi"), ended()), id="responses: delta first"),
        pytest.param("Hi", "openai-responses", responses(done(0, message("Hi"))), id="responses: done only"),
        pytest.param(
            "Hi", "openai-responses", responses(output=[message("Hi")]), id="responses: at the end only"
        ),
        pytest.param(
            "ab",
            "openai-responses",
            responses(text("a", 0, "m"), text("b", 0, "n"), done(0, message("b", id="n"))),
            id="responses: one index for two",
        ),
        pytest.param(
            "ab",
            "openai-responses",
            responses(text("a", 0, "A"), text("b", 0, "B"), done(0, message("ab", id="C"))),
            id="responses: ids that change",
        ),
        pytest.param(
            "ab", "openai-responses", responses(text("a", 0), text("b", 7, "n")), id="responses: gap"
        ),
        pytest.param(
            "a", "openai-responses", sse(created(), text("a"), ended(), ended()), id="responses: ended twice"
        ),
        pytest.param(
            "ab",
            "anthropic-messages",
            sse(
                start(),
                block(0, "text"),
                anthropic_text(0, "a"),
                block(4, "text"),
                anthropic_text(4, "b"),
                stop(2),
                finish(),
                END,
            ),
            id="anthropic: gap, stray stop",
        ),
        pytest.param(
            "x",
            "anthropic-messages",
            sse(
                start(),
                block(1, "tool_use", id="t", name="f", input={}),
                anthropic_text(1, "x"),
                args(1, "{}"),
                stop(1),
                finish(),
                END,
            ),
            id="anthropic: text on a call",
        ),
        pytest.param(
            "a",
            "anthropic-messages",
            sse({"type": "message_start", "message": {"id": "m"}}, anthropic_text(0, "a"), finish(), END),
            id="anthropic: no block start",
        ),
        pytest.param(
            "ab",
            "bedrock-converse",
            bedrock.delta(0, text="a") + bedrock.stop(2) + bedrock.delta(4, text="b") + bedrock.end(),
            id="bedrock: gap, stray stop, no start",
        ),
        pytest.param(
            "ab",
            "cohere-chat",
            b"".join(hello("cohere-chat", "a", "b")).replace(b'"index":0', b'"index":3'),
            id="cohere: first index 3",
        ),
        pytest.param(
            "a",
            "cohere-chat",
            b"".join(
                each
                for each in hello("cohere-chat", "a")
                if b"content-start" not in each and b"content-end" not in each
            ),
            id="cohere: no start, no end",
        ),
        pytest.param(
            "a}]b[",
            "gemini",
            array(gemini_chunk(gemini_text("a}]")), gemini_chunk(gemini_text("b["), finish="STOP")),
            id="gemini: array with brackets in text",
        ),
        pytest.param(
            "a}b",
            "bedrock-converse",
            bedrock.BEGIN + bedrock.delta(0, text="a}") + bedrock.delta(0, text="b") + bedrock.end(),
            id="bedrock: brace in text",
        ),
    ],
)
def test_text_is_complete(expected: str, wire: str, body: bytes) -> None:
    """Parts open where they must, nothing comes twice, and what is out of place is left out."""
    found = said(wire, body)
    assert expected == found["text"]
    assert "error" not in found


def test_ids_that_change_with_every_event() -> None:
    """An item is known by its place: its reasoning is one, though three ids name it."""
    body = responses(
        added(0, {"type": "reasoning", "id": "A", "summary": []}),
        event("reasoning_summary_text.delta", id="B", summary_index=0, delta="Hm"),
        done(0, {"type": "reasoning", "id": "C", "summary": [{"type": "summary_text", "text": "Hm"}]}),
    )
    parser, _ = read("openai-responses", body)
    assert "Hm" == parser.message.reasoning_text
    assert 1 == len(parser.message.content)


FOUND = [{"type": "web_search_result", "url": "https://a.example", "title": "A"}]
SEARCH = [
    block(0, "server_tool_use", id="srvtoolu_x", name="web_search", input={}),
    args(0, '{"query":"q"}'),
    stop(0),
    block(1, "web_search_tool_result", tool_use_id="srvtoolu_x", content=FOUND),
    stop(1),
]


def test_anthropic_search_is_no_call_of_the_client() -> None:
    """Status and result of the search, and one call to run; both blocks are kept, in order."""
    client = [block(2, "tool_use", id="t", name="f", input={}), stop(2)]
    body = sse(start(), *SEARCH, *client, finish("tool_use"), END)
    found = said("anthropic-messages", body)
    assert [("f", "{}", True)] == found["calls"]
    assert [
        WebSearchStatus("in_progress", index=0),
        WebSearchStatus("searching", "q", index=0),
        WebSearchStatus("completed", "q", index=1),
        WebSearchDone("q", [{"title": "A", "url": "https://a.example"}], 1),
    ] == found["search"]
    kept: list[Any] = [
        part.data for part in read("anthropic-messages", body)[0].message.content if part.type == "provider"
    ]
    assert ["server_tool_use", "web_search_tool_result"] == [data["type"] for data in kept]
    assert {"query": "q"} == kept[0]["input"]


def test_anthropic_tools_within_tools() -> None:
    """Code execution that fetches a page: blocks of every kind are kept for replay, also unknown ones."""
    documents = [
        block(0, "server_tool_use", id="s1", name="code_execution", input={"code": "1"}),
        stop(0),
        block(1, "server_tool_use", id="s2", name="web_fetch", input={"url": "u"}, caller={"tool_id": "s1"}),
        stop(1),
        block(2, "web_fetch_tool_result", tool_use_id="s2", content={"type": "web_fetch_result"}),
        stop(2),
        block(3, "code_execution_tool_result", tool_use_id="s1", content={"stdout": "1"}),
        stop(3),
        block(4, "future_tool_result", tool_use_id="s3", content=[1]),
        stop(4),
    ]
    parser, events = read("anthropic-messages", sse(start(), *documents, finish(), END))
    assert [document["content_block"] for document in documents if "content_block" in document] == [
        part.data for part in parser.message.content if part.type == "provider"
    ]
    assert ["s1", "s2"] == [each.id for each in events if isinstance(each, ServerToolCall)]
    assert ["s2", "s1", "s3"] == [each.id for each in events if isinstance(each, ServerToolResult)]
    assert [] == parser.message.tool_calls


def test_responses_search_shows_its_progress() -> None:
    """A long search is no silence."""
    item = {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    progress = (
        event(f"web_search_call.{name}", id="ws") for name in ("in_progress", "searching", "completed")
    )
    found = said("openai-responses", responses(*progress, done(0, item), text("Hi", 1)))
    assert ["in_progress", "searching", "completed"] == [
        each.status for each in found["search"] if isinstance(each, WebSearchStatus)
    ]
    assert "q" == next(each.query for each in found["search"] if isinstance(each, WebSearchDone))


PAGE: dict[str, Any] = {
    "type": "web_search_result_location",
    "url": "https://a.example",
    "title": "A",
    "cited_text": "x",
}
SPAN: dict[str, Any] = {
    "start": 0,
    "end": 2,
    "text": "Hi",
    "type": "TEXT_CONTENT",
    "sources": [{"type": "document", "document": {"title": "A"}}],
}
COHERE = hello("cohere-chat", "Hi", " you")


@pytest.mark.parametrize(
    ("expected", "wire", "body"),
    [
        pytest.param(
            Citation("https://a.example", "A", "x", index=0),
            "anthropic-messages",
            sse(
                start(),
                block(0, "text"),
                anthropic_text(0, "Hi you"),
                delta(0, "citations_delta", citation=PAGE),
                stop(0),
                finish(),
                END,
            ),
            id="anthropic",
        ),
        pytest.param(
            Citation("https://a.example", "A", index=0),
            "bedrock-converse",
            bedrock.BEGIN
            + bedrock.delta(0, text="Hi you")
            + bedrock.delta(0, citation={"title": "A", "location": {"web": {"url": "https://a.example"}}})
            + bedrock.stop(0)
            + bedrock.end(),
            id="bedrock",
        ),
        pytest.param(
            Citation(None, "A", "Hi", 0, 2, 0),
            "cohere-chat",
            b"".join(COHERE[:3])
            + frame(
                "cohere-chat",
                {"type": "citation-start", "index": 0, "delta": {"message": {"citations": SPAN}}},
            )
            + frame("cohere-chat", {"type": "citation-end", "index": 0})
            + b"".join(COHERE[3:]),
            id="cohere, between the deltas",
        ),
    ],
)
def test_citations(expected: Citation, wire: str, body: bytes) -> None:
    """A citation is kept with the text it is about, and as it came, to be sent back."""
    found = said(wire, body)
    assert [expected] == found["citations"]
    assert "Hi you" == found["text"]
    (part,) = read(wire, body)[0].message.content
    assert part.type == "text"
    assert 1 == len(part.citations or ())


def test_guardrail_without_text() -> None:
    """An answer that a guardrail stopped is filtered, and the trace says why."""
    trace = {
        "guardrail": {
            "inputAssessment": {"g1": {"topicPolicy": {"topics": [{"name": "T", "action": "BLOCKED"}]}}}
        }
    }
    parser, _ = read("bedrock-converse", bedrock.BEGIN + bedrock.end("guardrail_intervened", trace=trace))
    assert "content_filter" == parser.message.finish_reason
    assert [trace] == [part.data for part in parser.message.content if part.type == "provider"]
