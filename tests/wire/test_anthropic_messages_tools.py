"""`anthropic-messages`: tool calls of the client, and tools that the provider runs."""

from __future__ import annotations

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
)
from checking import check_parse, sse

import plait
from plait import (
    FinishReasonDone,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.messages import ProviderPart
from plait.wire.anthropic_messages.mapping import FINISH_REASONS, FORMAT


@pytest.mark.parametrize(
    ("pieces", "complete", "input_", "deltas"),
    [
        (['{"ci', 'ty": "Os', 'lo"}'], True, {}, ['{"ci', 'ty": "Os', 'lo"}']),
        (["{}"], True, {}, []),
        (["{}"], True, {}, [""]),
        (["{}"], True, None, []),
        (['{"p":"é 1"}'], True, {"p": "é 1"}, []),
        (['{"p":"x"}'], True, {"p": "x"}, ["", ""]),
        (['{"fi', 'le":"q"}'], True, {"file": "ignored"}, ['{"fi', 'le":"q"}']),
        (['{"cmd":"ls'], False, {}, ['{"cmd":"ls']),
        (['{"n":NaN}'], False, {}, ['{"n":NaN}']),
        (["{} {}"], False, {}, ["{} {}"]),
        (['{"a":"\\ud83d', '\\ude00"}'], True, {}, ['{"a":"\\ud83d', '\\ude00"}']),
    ],
    ids=[
        "pieces",
        "no delta",
        "empty delta",
        "null input",
        "whole in the start",
        "whole, then empty deltas",
        "deltas win",
        "cut",
        "NaN",
        "two values",
        "cut in an escape",
    ],
)
def test_arguments(pieces: list[str], complete: bool, input_: Any, deltas: list[str]) -> None:
    """Arguments are the joined pieces, else the start's input, else `{}`; never parsed in between."""
    whole = "".join(pieces)
    told = [] if whole == "{}" else pieces
    message = check(
        [
            block(0, "tool_use", id="t1", name="f", input=input_),
            *(args(0, piece) for piece in deltas),
            stop(0),
        ],
        [
            ToolCallDelta("t1", "f", "", 0),
            *(ToolCallDelta("t1", None, piece, 0) for piece in told),
            ToolCallDone("t1", "t1", "f", whole, complete, 0),
            FinishReasonDone("tool_calls", "end_turn"),
        ],
    )
    assert [(whole, complete)] == [(call.arguments, call.complete) for call in message.tool_calls]


@pytest.mark.parametrize(
    ("complete", "reason", "deltas"),
    [
        (False, "max_tokens", []),
        (False, "max_tokens", ['{"a"']),
        (True, "max_tokens", ["{}"]),
        (True, "tool_use", []),
    ],
    ids=["cut before its arguments", "cut in its arguments", "whole all the same", "no arguments"],
)
@pytest.mark.parametrize("stopped", [True, False], ids=["block stopped", "block open"])
def test_token_limit_cuts_a_call(complete: bool, reason: str, deltas: list[str], stopped: bool) -> None:
    """The last call of a response that reached the limit is incomplete unless its arguments are whole."""
    documents = [block(0, "tool_use", id="t1", name="f", input={}), *(args(0, piece) for piece in deltas)]
    body = sse(start(), *documents, *([stop(0)] if stopped else []), finish(reason), END)
    parser = check_parse(
        WIRE,
        body,
        [
            STARTED,
            ToolCallDelta("t1", "f", "", 0),
            *(ToolCallDelta("t1", None, piece, 0) for piece in deltas),
            ToolCallDone("t1", "t1", "f", "".join(deltas) or "{}", complete, 0),
            FinishReasonDone(FINISH_REASONS[reason], reason),
        ],
    )
    assert complete == parser.message.tool_calls[0].complete


@pytest.mark.parametrize(
    ("ids", "sent"),
    [
        (["t1", "t2"], ["t1", "t2"]),
        (["t1", "t1_1"], ["t1", "t1"]),
        (["call_m1_0", "call_m1_1"], ["", None]),
        (["call_m1_0", "t2"], ["  \n", "t2"]),
        (["call_m1_1", "call_m1_1_1"], ["call_m1_1", ""]),
        (["7", "call_m1_1"], [7, {}]),
    ],
    ids=["distinct", "the same twice", "missing", "blank", "taken substitute", "not text"],
)
def test_call_ids(ids: list[str], sent: list[Any]) -> None:
    """Ids are unique and never blank; the message keeps the provider's own for the way back."""
    documents = [
        doc
        for number, id_ in enumerate(sent)
        for doc in (block(number, "tool_use", id=id_, name="f"), stop(number))
    ]
    parser = plait.parser(WIRE)
    events = parser.feed(sse(start(), *documents, finish("tool_use"), END))
    calls = [event for event in events if isinstance(event, ToolCallDone)]
    assert ids == [call.call_id for call in calls] == [call.item_id for call in calls]
    assert [str(id_) if id_ and str(id_).strip() else None for id_ in sent] == [
        call.call_id for call in parser.message.tool_calls
    ]


def test_caller_and_toolset_are_kept() -> None:
    """What a call says beside name and input is kept with it."""
    caller = {"type": "code_execution_20250825", "tool_id": "s1", "note": None}
    message = check(
        [block(0, "tool_use", id="t1", name="f", input={}, caller=caller, toolset_name="set"), stop(0)],
        [
            ToolCallDelta("t1", "f", "", 0),
            ToolCallDone("t1", "t1", "f", "{}", True, 0),
            FinishReasonDone("tool_calls", "end_turn"),
        ],
    )
    assert [{"caller": caller, "toolset_name": "set"}] == [call.extra for call in message.tool_calls]


def test_web_search() -> None:
    """Search progress is reported with its query, and is no call of the client's; both blocks are kept."""
    result = {
        "type": "web_search_result",
        "url": "https://a.example",
        "title": "A",
        "encrypted_content": "E",
        "page_age": None,
    }
    message = check(
        [
            block(0, "server_tool_use", id="s1", name="web_search", input={}),
            args(0, '{"query": '),
            args(0, '"tea"}'),
            stop(0),
            block(1, "web_search_tool_result", tool_use_id="s1", content=[result, {"type": "odd"}, 3]),
            stop(1),
        ],
        [
            WebSearchStatus("in_progress", index=0),
            WebSearchStatus("searching", "tea", index=0),
            WebSearchStatus("completed", "tea", index=1),
            WebSearchDone("tea", [{"title": "A", "url": "https://a.example"}], 1),
        ],
    )
    assert [] == message.tool_calls
    assert [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tea"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [result, {"type": "odd"}, 3]},
    ] == [part.data for part in message.content if isinstance(part, ProviderPart)]


@pytest.mark.parametrize(
    "content",
    [{"type": "web_search_tool_result_error", "error_code": "unavailable"}, [], None, "x"],
    ids=["error", "none", "null", "text"],
)
def test_web_search_without_results(content: Any) -> None:
    """A search that failed, or whose call came in an earlier response, is done without sources."""
    check(
        [block(0, "web_search_tool_result", tool_use_id="s0", content=content), stop(0)],
        [WebSearchStatus("completed", index=0), WebSearchDone("", [], 0)],
    )


@pytest.mark.parametrize(
    "output",
    [[{"type": "text", "text": "r"}], "text", {"type": "e", "x": None}],
    ids=["list", "text", "object"],
)
@pytest.mark.parametrize(
    ("call", "result", "name"),
    [
        ("server_tool_use", "web_fetch_tool_result", "web_fetch"),
        ("server_tool_use", "code_execution_tool_result", "code_execution"),
        ("server_tool_use", "bash_code_execution_tool_result", "bash_code_execution"),
        ("server_tool_use", "tool_search_tool_result", "tool_search_tool_bm25"),
        ("server_tool_use", "advisor_tool_result", "advisor"),
        ("mcp_tool_use", "mcp_tool_result", "web_search"),
        ("server_tool_use", "future_tool_result", "future"),
    ],
)
def test_server_tools(call: str, result: str, name: str, output: Any) -> None:
    """Other tools of the provider's, and any tool of an MCP server, are a call and a result with its name."""
    message = check(
        [
            block(0, call, id="s1", name=name, input={}, server_name="mine"),
            args(0, '{"a":null}'),
            stop(0),
            block(1, result, tool_use_id="s1", content=output, is_error=False),
            stop(1),
        ],
        [ServerToolCall("s1", name, {"a": None}, 0), ServerToolResult("s1", name, output, 1)],
    )
    assert [
        {"type": call, "id": "s1", "name": name, "input": {"a": None}, "server_name": "mine"},
        {"type": result, "tool_use_id": "s1", "content": output, "is_error": False},
    ] == [part.data for part in message.content if isinstance(part, ProviderPart)]


@pytest.mark.parametrize(
    ("expected", "sent", "deltas", "unknown"),
    [
        ({"url": "u"}, {"url": "u"}, [], {}),
        ({"url": "u"}, {"url": "u"}, [""], {}),
        ({}, {}, ['{"url":'], {"text:input of a server tool that is not JSON": 1}),
    ],
    ids=["whole in the start", "empty delta", "cut"],
)
def test_server_tool_input(expected: Any, sent: Any, deltas: list[str], unknown: dict[str, int]) -> None:
    """The input of a provider's tool is the start's unless deltas give another that is whole."""
    check(
        [
            block(0, "server_tool_use", id="s1", name="web_fetch", input=sent),
            *(args(0, d) for d in deltas),
            stop(0),
        ],
        [ServerToolCall("s1", "web_fetch", expected, 0), STOPPED],
        unknown,
    )


@pytest.mark.parametrize(
    ("fields", "unknown"),
    [
        ({"type": "container_upload", "file_id": "f1"}, {}),
        ({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}, {}),
        ({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [{"n": None}]}, {}),
        ({"type": "compaction", "content": None}, {}),
        ({"type": "hologram", "rays": [1.5, None, 12345678901234567890123]}, {"block:hologram": 1}),
        ({"no_type": 1}, {"block:": 1}),
    ],
    ids=["upload", "fallback", "listing", "compaction", "unknown", "no type"],
)
def test_blocks_without_events_are_kept(fields: Doc, unknown: dict[str, int]) -> None:
    """Blocks that say nothing in the vocabulary, and unknown ones, are kept as they are, in place."""
    message = check(
        [{"type": "content_block_start", "index": 0, "content_block": fields}, text(1, "A"), stop(0)],
        [TextDelta("A", 1), TextDone("A", 1)],
        unknown,
    )
    kept = message.content[0]
    assert isinstance(kept, ProviderPart)
    assert (FORMAT, fields) == (kept.format, kept.data)


def test_compaction_comes_in_one_delta() -> None:
    """The summary and its encrypted form end up in the block; null stays null."""
    message = check(
        [
            block(0, "compaction", content=None),
            delta(0, "compaction_delta", content="sum", encrypted_content="E"),
            stop(0),
            block(1, "compaction", content=None, signature="S"),
            delta(1, "compaction_delta", content=None),
            stop(1),
        ],
        [STOPPED],
    )
    assert [
        {"type": "compaction", "content": "sum", "encrypted_content": "E"},
        {"type": "compaction", "content": None, "signature": "S"},
    ] == [part.data for part in message.content if isinstance(part, ProviderPart)]
