"""Responses: tools that the provider runs, web search, and items that wait for the client."""

from __future__ import annotations

import pytest
from responses_documents import (
    CALLED,
    STARTED,
    STOP,
    Document,
    added,
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
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    WebSearchDone,
    WebSearchStatus,
)
from plait.messages import ProviderPart


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
