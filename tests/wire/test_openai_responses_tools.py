"""Responses: calls of the client's tools, and how to tell them from the provider's."""

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
    text,
)

from plait.events import (
    Event,
    FinishReasonDone,
    ServerToolCall,
    TextDelta,
    TextDone,
    ToolCallDelta,
    ToolCallDone,
)
from plait.messages import ProviderPart, ToolCallPart


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
        ToolCallPart(
            tool_call_id="fc",
            call_id="call",
            tool_name="f",
            arguments="{}",
            extra=extra,
            format="openai-responses",
        )
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
        ([done(0, call("[4")), ended()], ["[4"], CALLED),
        ([done(0, call("[4]", status="incomplete")), ended()], ["[4]"], CALLED),
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
