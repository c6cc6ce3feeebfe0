"""Responses: tool calls, the provider's own tools, web search, files."""

from __future__ import annotations

from typing import Any

import pytest
from responses_documents import (
    CALLED,
    STARTED,
    STOP,
    Document,
    added,
    arguments,
    call,
    check,
    created,
    done,
    ended,
    event,
    message,
    text,
)

from plait.events import (
    Event,
    FileDone,
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
from plait.messages import ProviderPart, ToolCallPart

MALFORMED = FinishReasonDone("malformed_output", "completed")


def called(*deltas: str, complete: bool = True, end: Event = CALLED) -> list[Event]:
    """The events of an answer that is one call."""
    return [
        STARTED,
        ToolCallDelta("fc", "f", "", 0),
        *(ToolCallDelta("fc", None, delta, 0) for delta in deltas),
        ToolCallDone("fc", "call", "f", "".join(deltas) or "{}", complete, 0),
        end,
    ]


@pytest.mark.parametrize(
    ("documents", "deltas"),
    [
        (
            [
                added(0, call("")),
                arguments('{"n":'),
                arguments(""),
                arguments("4}"),
                done(0, call('{"n":4}')),
            ],
            ['{"n":', "4}"],
        ),
        (
            [
                added(0, call("")),
                event("function_call_arguments.done", id="fc", arguments='{"n":4}'),
                done(0, call('{"n":4}')),
            ],
            ['{"n":4}'],
        ),
        ([added(0, call("")), done(0, call('{"n":4}'))], ['{"n":4}']),
        ([added(0, call('{"n":')), arguments("4}"), done(0, call('{"n":4}'))], ['{"n":', "4}"]),
        ([added(0, call("")), arguments('{"n":4}'), done(0, call(""))], ['{"n":4}']),
        ([added(0, call("")), arguments('{"n":'), arguments("4}")], ['{"n":', "4}"]),
        ([added(0, call("")), done(0, call({"n": 4}))], ['{"n":4}']),  # type: ignore[arg-type]
        ([added(0, call("")), done(0, call(""))], []),
        ([added(0, call("")), arguments("{}"), done(0, call("{}"))], ["{}"]),
        (
            [added(0, call("", name="")), arguments('{"n":'), arguments("4}"), done(0, call('{"n":4}'))],
            ['{"n":', "4}"],
        ),
    ],
    ids=[
        "the usual stream",
        "no deltas",
        "only on the item",
        "first piece announced",
        "not on the item",
        "never finished",
        "an object",
        "no arguments",
        "empty object",
        "name only at the end",
    ],
)
def test_function_call(documents: list[Document | str], deltas: list[str]) -> None:
    """Wherever the arguments are said they come once, and the call is done with its item."""
    check([created(), *documents, ended()], called(*deltas))


def test_what_is_sent_back_with_a_call() -> None:
    """Namespace, caller and both ids are kept; `in_progress` is no cut where the response is whole."""
    extra: Any = {"namespace": "crm", "caller": {"type": "program", "caller_id": "p"}}
    parser = check(
        [created(), added(0, call("", **extra)), done(0, call("{}", status="in_progress", **extra)), ended()],
        called("{}"),
    )
    assert parser.message.content == [
        ToolCallPart(tool_call_id="fc", call_id="call", tool_name="f", arguments="{}", extra=extra)
    ]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"id": "fc", "call_id": "call"}, ("fc", "call")),
        ({"call_id": "call"}, ("call", "call")),
        ({"id": "fc"}, ("fc", "fc")),
        ({}, ("call_r1_0", "call_r1_0")),
    ],
    ids=["both", "no id", "no call_id", "none"],
)
def test_ids_that_are_missing(ids: Document, expected: tuple[str, str]) -> None:
    """The ids of a call stand in for each other."""
    item_id, call_id = expected
    check(
        [created(), done(0, {"type": "function_call", "name": "f", "arguments": "{}", **ids}), ended()],
        [
            STARTED,
            ToolCallDelta(item_id, "f", "", 0),
            ToolCallDelta(item_id, None, "{}", 0),
            ToolCallDone(item_id, call_id, "f", "{}", True, 0),
            CALLED,
        ],
    )


def test_parallel_calls_do_not_mix() -> None:
    """Pieces go to the call their index names, whatever comes between."""
    check(
        [
            created(),
            added(0, call("", id="a", call_id="ca")),
            added(1, call("", id="b", call_id="cb", name="g")),
            arguments("[1", 0, "a"),
            arguments("[2", 1, "b"),
            arguments("]", 0, "a"),
            arguments("]", 1, "b"),
            done(1, call("[2]", id="b", call_id="cb", name="g")),
            done(0, call("[1]", id="a", call_id="ca")),
            ended(),
        ],
        [
            STARTED,
            ToolCallDelta("a", "f", "", 0),
            ToolCallDelta("b", "g", "", 1),
            ToolCallDelta("a", None, "[1", 0),
            ToolCallDelta("b", None, "[2", 1),
            ToolCallDelta("a", None, "]", 0),
            ToolCallDelta("b", None, "]", 1),
            ToolCallDone("b", "cb", "g", "[2]", True, 1),
            ToolCallDone("a", "ca", "f", "[1]", True, 0),
            CALLED,
        ],
    )


LENGTH = FinishReasonDone("length", "max_output_tokens")
CUT: Any = {"incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    ("documents", "deltas", "end"),
    [
        ([done(0, call("[4", status="incomplete")), ended("incomplete", **CUT)], ["[4"], LENGTH),
        ([done(0, call("[4]", status="incomplete")), ended("incomplete", **CUT)], ["[4]"], LENGTH),
        ([arguments("4"), ended("incomplete", **CUT)], ["4"], LENGTH),
        ([arguments("4"), ended("incomplete", [call("4", status="in_progress")], **CUT)], ["4"], LENGTH),
        ([done(0, call("")), ended("incomplete", **CUT)], [], LENGTH),
        ([ended("incomplete")], [], FinishReasonDone("tool_calls", "incomplete")),
        ([done(0, call("[4")), ended()], ["[4"], MALFORMED),
        ([done(0, call("[4]", status="incomplete")), ended()], ["[4]"], MALFORMED),
    ],
    ids=[
        "cut",
        "cut where JSON is whole",
        "never finished",
        "in progress",
        "no arguments yet",
        "no reason",
        "not JSON",
        "cut in a whole response",
    ],
)
def test_calls_that_must_not_run(documents: list[Document | str], deltas: list[str], end: Event) -> None:
    """A call is complete only if nobody says it was cut and its arguments are JSON."""
    check([created(), added(0, call("")), *documents], called(*deltas, complete=False, end=end))


def test_arguments_that_contradict_their_deltas() -> None:
    """As for text: counted, and what was delivered stays."""
    parser = check(
        [created(), added(0, call("")), arguments("[1]"), done(0, call("[2]")), ended()], called("[1]")
    )
    assert parser.unknown == {"arguments:done differs from deltas": 1}


CUSTOM: Document = {"type": "custom_tool_call", "id": "ct", "call_id": "call", "name": "sql"}


@pytest.mark.parametrize(
    "documents",
    [
        [added(0, {**CUSTOM, "input": ""}), event("custom_tool_call_input.delta", id="ct", delta='say "hi"')],
        [added(0, CUSTOM), event("custom_tool_call_input.done", id="ct", input='say "hi"')],
        [],
    ],
    ids=["delta", "done", "only the item"],
)
def test_custom_tool_call(documents: list[Document | str]) -> None:
    """Free text is one JSON string, so that every call's arguments are JSON."""
    parser = check(
        [created(), *documents, done(0, {**CUSTOM, "input": 'say "hi"'}), ended()],
        [
            STARTED,
            ToolCallDelta("ct", "sql", '"', 0),
            ToolCallDelta("ct", None, 'say \\"hi\\"', 0),
            ToolCallDelta("ct", None, '"', 0),
            ToolCallDone("ct", "call", "sql", '"say \\"hi\\""', True, 0),
            CALLED,
        ],
    )
    assert [tool_call.kind for tool_call in parser.message.tool_calls] == ["custom"]


@pytest.mark.parametrize("input_", ['{"query":"x"}', None], ids=["whole", "only streamed"])
@pytest.mark.parametrize(
    "names",
    [{"name": "x_keyword_search", "call_id": "c"}, {"name": "new_tool", "call_id": "xs_call_1"}],
    ids=["by name", "by call_id"],
)
def test_xai_server_tools_look_like_custom_calls(names: Document, input_: str | None) -> None:
    """They are never offered to the client, and are sent back as they came."""
    item = {"type": "custom_tool_call", "id": "ct", **names}
    parser = check(
        [
            created(),
            added(0, item),
            event("custom_tool_call_input.delta", id="ct", delta='{"query":'),
            event("custom_tool_call_input.delta", id="ct", delta='"x"}'),
            done(0, {**item, "input": input_} if input_ else item),
            text("Hi", 1),
            ended(),
        ],
        [
            STARTED,
            ServerToolCall(names["call_id"], names["name"], {"query": "x"}, 0),
            TextDelta("Hi", 1),
            TextDone("Hi", 1),
            STOP,
        ],
    )
    kept = ProviderPart(format="openai-responses-v1", data={**item, "input": '{"query":"x"}'})
    assert parser.message.content[0] == kept


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {"type": "code_interpreter_call", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
            [
                ServerToolCall("x", "code_interpreter", {"code": "1+1"}, 0),
                ServerToolResult("x", "code_interpreter", [{"type": "logs", "logs": "2"}], 0),
            ],
        ),
        (
            {"type": "file_search_call", "queries": ["q"], "results": None},
            [
                ServerToolCall("x", "file_search", {"queries": ["q"]}, 0),
                ServerToolResult("x", "file_search", None, 0),
            ],
        ),
        (
            {"type": "mcp_call", "name": "ask", "arguments": '{"q":1}', "output": "yes", "error": None},
            [ServerToolCall("x", "ask", {"q": 1}, 0), ServerToolResult("x", "ask", "yes", 0)],
        ),
        (
            {"type": "mcp_call", "name": "ask", "arguments": "oops", "error": "down", "status": "failed"},
            [ServerToolCall("x", "ask", "oops", 0), ServerToolResult("x", "ask", {"error": "down"}, 0)],
        ),
        (
            {"type": "image_generation_call", "result": "iVBORw0KGgo=", "revised_prompt": "a cat"},
            [
                ServerToolCall("x", "image_generation", {"prompt": "a cat"}, 0),
                FileDone("image/png", "iVBORw0KGgo=", None, 1),
                ServerToolResult("x", "image_generation", None, 0),
            ],
        ),
        (
            {"type": "image_generation_call", "result": "/9j/", "output_format": "webp"},
            [
                ServerToolCall("x", "image_generation", None, 0),
                FileDone("image/webp", "/9j/", None, 1),
                ServerToolResult("x", "image_generation", None, 0),
            ],
        ),
        (
            {
                "type": "shell_call",
                "call_id": "c",
                "action": {"commands": ["ls"]},
                "environment": {"type": "container_reference"},
            },
            [ServerToolCall("c", "shell", {"commands": ["ls"]}, 0)],
        ),
        (
            {"type": "shell_call_output", "call_id": "c", "output": ["a"]},
            [ServerToolResult("c", "shell", ["a"], 0)],
        ),
        (
            {"type": "tool_search_call", "execution": "server", "arguments": {"paths": ["a"]}},
            [ServerToolCall("x", "tool_search", {"paths": ["a"]}, 0)],
        ),
        (
            {"type": "program", "call_id": "c", "code": "f()"},
            [ServerToolCall("c", "program", {"code": "f()"}, 0)],
        ),
        (
            {"type": "program_output", "call_id": "c", "result": "1"},
            [ServerToolResult("c", "program", "1", 0)],
        ),
        ({"type": "mcp_list_tools", "tools": []}, []),
        ({"type": "compaction", "encrypted_content": "E"}, []),
        (
            {"type": "code_interpreter_call", "status": "in_progress"},
            [ServerToolCall("x", "code_interpreter", {"code": None}, 0)],
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("where", ["done", "terminal event"])
def test_what_the_provider_runs(item: Document, expected: list[Event], where: str) -> None:
    """The provider's own tools are reported when they are whole, and their items kept for replay."""
    whole = {"id": "x", **item}
    last = [done(0, whole), ended()] if where == "done" else [ended(output=[whole])]
    start = added(0, {"id": "x", "type": item["type"], "status": "in_progress"})
    parser = check([created(), start, *last], [STARTED, *expected, STOP])
    assert parser.message.content[0] == ProviderPart(format="openai-responses-v1", data=whole)
    assert parser.unknown == {}


def test_results_of_a_tool_search_name_their_call() -> None:
    """The items of a search on the server share no id; the result follows its call."""
    check(
        [
            created(),
            done(0, {"type": "tool_search_call", "id": "a", "call_id": None, "execution": "server"}),
            done(1, {"type": "tool_search_output", "id": "b", "call_id": None, "tools": []}),
            ended(),
        ],
        [
            STARTED,
            ServerToolCall("a", "tool_search", None, 0),
            ServerToolResult("a", "tool_search", [], 1),
            STOP,
        ],
    )


@pytest.mark.parametrize(
    "item",
    [
        {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
        {"type": "local_shell_call", "call_id": "c"},
        {"type": "apply_patch_call", "call_id": "c"},
        {"type": "mcp_approval_request", "id": "mcpr"},
        {"type": "shell_call", "call_id": "c", "environment": {"type": "local"}},
        {"type": "shell_call", "call_id": "c", "environment": None},
        {"type": "tool_search_call", "call_id": "c", "execution": "client"},
    ],
    ids=lambda item: item["type"],
)
def test_items_that_wait_for_the_client(item: Document) -> None:
    """The client has to act: the turn ends in tool calls, and the item is kept."""
    parser = check([created(), done(0, item), ended()], [STARTED, CALLED])
    assert parser.message.content == [ProviderPart(format="openai-responses-v1", data=item)]


def test_a_shell_call_that_the_provider_answered() -> None:
    """With its output in the same response nobody waits for the client."""
    check(
        [
            created(),
            done(0, {"type": "shell_call", "call_id": "c"}),
            done(1, {"type": "shell_call_output", "call_id": "c", "output": []}),
            ended(),
        ],
        [STARTED, ServerToolResult("c", "shell", [], 1), STOP],
    )


def test_unknown_items_are_kept_and_counted() -> None:
    """An item of a type nobody knows is sent back as it came."""
    item: Document = {"type": "hologram", "id": "h", "depth": [1, None]}
    parser = check(
        [created(), added(0, {"type": "hologram", "id": "h"}), done(0, item), ended()], [STARTED, STOP]
    )
    assert parser.message.content == [ProviderPart(format="openai-responses-v1", data=item)]
    assert parser.unknown == {"block:hologram": 1}


SEARCH: Document = {"type": "web_search_call", "id": "ws"}


def progress(name: str) -> Document:
    """A web search's progress."""
    return event(f"web_search_call.{name}", id="ws")


@pytest.mark.parametrize(
    ("action", "query", "sources", "page"),
    [
        ({"type": "search", "query": "cats"}, "cats", [], []),
        ({"type": "search", "query": "", "queries": ["cats", "dogs"]}, "cats, dogs", [], []),
        ({"type": "search"}, "", [], []),
        (
            {
                "type": "search",
                "query": "q",
                "sources": [{"type": "url", "url": "u"}, {"type": "api", "name": "a"}, 1],
            },
            "q",
            [{"title": "", "url": "u"}],
            [],
        ),
        ({"type": "open_page", "url": "u"}, "", [], [WebSearchStatus("open_page", None, "u", 0)]),
        ({"type": "open_page", "url": None}, "", [], [WebSearchStatus("open_page", index=0)]),
        ({"type": "find_in_page", "url": "u", "pattern": "p"}, "", [], []),
        (None, "", [], []),
    ],
    ids=[
        "query",
        "queries",
        "neither",
        "sources",
        "open page",
        "page without URL",
        "find in page",
        "no action",
    ],
)
def test_web_search(
    action: Document | None, query: str, sources: list[dict[str, str]], page: list[Event]
) -> None:
    """Progress is said once each, and the item says what was searched for and found."""
    whole = {**SEARCH, "status": "completed", "action": action}
    parser = check(
        [
            created(),
            added(0, {**SEARCH, "status": "in_progress"}),
            progress("in_progress"),
            progress("searching"),
            progress("searching"),
            progress("completed"),
            done(0, whole),
            ended(output=[whole]),
        ],
        [
            STARTED,
            WebSearchStatus("in_progress", index=0),
            WebSearchStatus("searching", index=0),
            WebSearchStatus("completed", index=0),
            *page,
            WebSearchDone(query, sources, 0),
            STOP,
        ],
    )
    assert parser.message.content == [ProviderPart(format="openai-responses-v1", data=whole)]


def test_web_search_without_progress() -> None:
    """Azure leaves out `completed`, older xAI all of it, and the query stands in arguments."""
    item = {**SEARCH, "call_id": "", "name": "web_search", "arguments": '{"query":"cats"}'}
    check(
        [created(), done(0, item), text("Hi", 1), done(1, message("Hi")), ended()],
        [
            STARTED,
            WebSearchStatus("completed", index=0),
            WebSearchDone("cats", [], 0),
            TextDelta("Hi", 1),
            TextDone("Hi", 1),
            STOP,
        ],
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [("failed", [WebSearchDone("", [], 0)]), ("searching", [])],
    ids=["failed", "cut"],
)
def test_web_search_that_found_nothing(status: str, expected: list[Event]) -> None:
    """A search that failed has finished, but not completed; one that was cut has not finished."""
    check([created(), ended(output=[{**SEARCH, "status": status}])], [STARTED, *expected, STOP])
