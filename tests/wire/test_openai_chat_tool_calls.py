"""Chat Completions: which piece belongs to which tool call, and when name and id are known."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_bodies import STARTED, TOOL_CALLS, WIRE, chunk, deltas, read, response, stream, text
from checking import check_parse

import plait
from plait.events import Event, FinishReasonDone, ToolCallDelta, ToolCallDone


def call(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """An entry of `tool_calls`; what is None is not sent."""
    function = {"name": name, "arguments": arguments}
    present = {key: value for key, value in function.items() if value is not None}
    return {**fields, **({"function": present} if present else {})}


def calls(*deltas_: list[dict[str, Any]], finish: str = "tool_calls") -> bytes:
    """A stream with one delta for each list of entries."""
    return deltas(*({"tool_calls": entries} for entries in deltas_), finish=finish)


def found(body: bytes) -> list[tuple[str, str, str, bool]]:
    """Id, name, arguments and completeness of the calls in a stream, which is read in all partitions."""
    events = plait.parser(WIRE).feed(body)
    parser = check_parse(WIRE, body, events)
    return [
        (part.tool_call_id, part.tool_name, part.arguments, part.complete)
        for part in parser.message.tool_calls
    ]


def started(id: str, name: str, index: int = 0) -> Event:
    return ToolCallDelta(id, name, "", index)


def test_openai() -> None:
    """Id and name first, then the arguments in pieces."""
    body = calls(
        [call("f", "", index=0, id="a", type="function")],
        [call(None, '{"x"', index=0)],
        [call(None, ":1}", index=0)],
    )
    expected = [
        STARTED,
        started("a", "f"),
        ToolCallDelta("a", None, '{"x"', 0),
        ToolCallDelta("a", None, ":1}", 0),
        ToolCallDone("a", "a", "f", '{"x":1}', index=0),
        TOOL_CALLS,
    ]
    check_parse(WIRE, body, expected)


def test_interleaved() -> None:
    """Pieces of parallel calls follow their index; none is closed before the end."""
    body = calls(
        [call("f", "", index=0, id="a")],
        [call("g", "", index=1, id="b")],
        [call(None, "[1", index=0)],
        [call(None, "[2", index=1)],
        [call(None, "]", index=0), call(None, "]", index=1)],
    )
    assert found(body) == [("a", "f", "[1]", True), ("b", "g", "[2]", True)]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(
            [[call("f", "{", index=1, id="a")], [call(None, "}", index=1)]],
            [("a", "f", "{}", True)],
            id="first index is 1",
        ),
        pytest.param(
            [[call("f", "", index=0, id="a")], [call("", "{}", index=0, id="", type="function")]],
            [("a", "f", "{}", True)],
            id="empty strings go on",
        ),
        pytest.param(
            [
                [call("f", "", index=0, id="a")],
                [{"index": 0, "id": None, "function": {"name": None, "arguments": "{}"}}],
            ],
            [("a", "f", "{}", True)],
            id="nulls go on",
        ),
        pytest.param(
            [
                [call("f", "", index=0, id="a")],
                [call("f", "{", index=0, id="a")],
                [call("f", "}", index=0, id="a")],
            ],
            [("a", "f", "{}", True)],
            id="id and name each time",
        ),
        pytest.param(
            [
                [call("f", "", index=0, id="a")],
                [call("", "[", index=0, id="b")],
                [call("", "]", index=0, id="c")],
            ],
            [("a", "f", "[]", True)],
            id="a new id each time",
        ),
        pytest.param(
            [[call("ls", '{"p"', index=0, id="a", type="FUNCTION")], [call("null", ":1}", index=0, id="")]],
            [("a", "ls", '{"p":1}', True)],
            id="the word null as name",
        ),
        pytest.param(
            [
                [call("find_", "", index=0, id="a")],
                [call("items", index=0)],
                [call("find_items", "[]", index=0)],
            ],
            [("a", "find_items", "[]", True)],
            id="a name in pieces",
        ),
        pytest.param(
            [[{"index": 0}], [call("f", index=0, id="a")], [call(None, "[]", index=0)]],
            [("a", "f", "[]", True)],
            id="id and name late",
        ),
        pytest.param(
            [[call(None, "[", index=0, id="a")], [call("f", "]", index=0)]],
            [("a", "f", "[]", True)],
            id="name after arguments",
        ),
        pytest.param(
            [[call("f", "[1]", index=0, id="a")], [call("f", "[2]", index=0, id="b")]],
            [("a", "f", "[1]", True), ("b", "f", "[2]", True)],
            id="one index for two calls",
        ),
        pytest.param(
            [
                [call("f", "[1]", index=0, id="")],
                [call("f", "[2]", index=0, id="")],
                [call("g", "[]", index=0, id="")],
            ],
            [
                ("call_r1_0", "f", "[1]", True),
                ("call_r1_1", "f", "[2]", True),
                ("call_r1_2", "g", "[]", True),
            ],
            id="one index and no ids",
        ),
        pytest.param(
            [[call("f", "[1]", id="a"), call("f", "[2]", id="b")]],
            [("a", "f", "[1]", True), ("b", "f", "[2]", True)],
            id="no index",
        ),
        pytest.param(
            [
                [call("f", "", id="a")],
                [call(None, "[")],
                [call(None, "]")],
                [call("g", "", id="b")],
                [call(None, "{}")],
            ],
            [("a", "f", "[]", True), ("b", "g", "{}", True)],
            id="no index, in pieces",
        ),
        pytest.param(
            [[call("f", "[]"), call("f", "[]")], [call("g", "{}")]],
            [("call_r1_0", "f", "[]", True), ("call_r1_1", "f", "[]", True), ("call_r1_2", "g", "{}", True)],
            id="neither index nor id",
        ),
        pytest.param(
            [
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}],
                [call(None, '{"a":1}', index=0)],
            ],
            [("a", "f", '{"a":1}', True)],
            id="null arguments first",
        ),
        pytest.param([[call("f", index=0, id="a")]], [("a", "f", "{}", True)], id="no arguments"),
        pytest.param(
            [[call("f", {"a": [1, "é"]}, index=0, id="a")]],
            [("a", "f", '{"a":[1,"é"]}', True)],
            id="arguments as an object",
        ),
        pytest.param(
            [[call("f", "[]", index=0, id="a"), call("g", "[]", index=1, id="a")]],
            [("a", "f", "[]", True), ("a_1", "g", "[]", True)],
            id="one id for two calls",
        ),
        pytest.param(
            [[call(None, "[]", index=0, id="a")]],
            [("a", "", "[]", False)],
            id="never a name",
        ),
        pytest.param(
            [[call("f", '{"n":NaN}', index=0, id="a")]],
            [("a", "f", '{"n":NaN}', False)],
            id="not JSON",
        ),
    ],
)
def test_pieces(entries: list[list[dict[str, Any]]], expected: list[tuple[str, str, str, bool]]) -> None:
    """Whatever servers leave out, repeat or cut: each call is there once, with its own arguments."""
    assert expected == found(calls(*entries))


def test_nothing_of_a_call() -> None:
    """An entry that never says anything is counted, and is no call."""
    parser = plait.parser(WIRE)
    parser.feed(calls([{"index": 0}]))
    assert parser.message.tool_calls == []
    assert dict(parser.unknown) == {"tool_call:empty": 1}


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "tool_calls"), ("weird", "tool_calls"), ("length", "length"), ("error", "error")],
)
def test_finish_reason(finish: str, reason: Any) -> None:
    """A response with calls ends in `tool_calls`, unless it was cut or failed."""
    body = calls([call("f", '{"a": ', index=0, id="a")], finish=finish)
    message = read(body)
    assert (reason, finish) == (message.finish_reason, message.raw_finish_reason)
    assert [part.complete for part in message.tool_calls] == [False]


def test_cut_before_arguments() -> None:
    """A call that the token limit cut before its first argument is not one without arguments."""
    assert found(calls([call("f", "", index=0, id="a")], finish="length")) == [("a", "f", "{}", False)]


def test_order_with_text() -> None:
    """Text before, between and after calls keeps its place, even where a call's arguments come later."""
    body = deltas(
        {"content": "x"},
        {"tool_calls": [call("f", "", index=0, id="a")]},
        {"content": "y"},
        {"tool_calls": [call(None, "[]", index=0)]},
        {"content": "z"},
        finish="tool_calls",
    )
    message = read(body)
    assert [part.type for part in message.content] == ["text", "tool-call", "text"]
    assert (message.text, message.tool_calls[0].arguments) == ("xyz", "[]")


def test_custom_tool() -> None:
    """A custom tool's input is free text, kept as one JSON string."""
    body = calls(
        [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": 'ls "'}}],
        [{"index": 0, "custom": {"input": "x\n"}}],
    )
    assert found(body) == [("a", "sh", '"ls \\"x\\n"', True)]
    assert [part.kind for part in read(body).tool_calls] == ["custom"]


def test_both_kinds_in_one_entry() -> None:
    """A server that writes all fields of its struct leaves the unused kind empty."""
    entry = {**call("f", "[]", id="a", type="function"), "custom": {"name": "", "input": ""}}
    assert found(calls([entry])) == [("a", "f", "[]", True)]


def test_function_call() -> None:
    """The shape before `tool_calls`: one call, without an id."""
    body = deltas(
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"a":1}'}},
        finish="function_call",
    )
    assert found(body) == [("call_r1_0", "f", '{"a":1}', True)]
    expected = [STARTED, *text("a"), FinishReasonDone("stop", "stop")]
    check_parse(WIRE, deltas({"content": "a", "function_call": {"name": "", "arguments": ""}}), expected)


def test_extra_content() -> None:
    """Google signs a call beside its function: the signature is kept for replay, also when it comes late."""
    signed = {"google": {"thought_signature": "S"}}
    early = calls([call("f", "[]", index=0, id="a", extra_content=signed)])
    late = calls([call("f", "[]", index=0, id="a")], [{"index": 0, "extra_content": signed}])
    for body in (early, late):
        assert [{"extra_content": signed}] == [part.extra for part in read(body).tool_calls]


def test_long_ids() -> None:
    """Ids are opaque: none is shortened."""
    id_ = "call_" + "x" * 700
    assert [(id_, "f", "{}", True)] == found(calls([call("f", "{}", index=0, id=id_)]))


@pytest.mark.parametrize("names", [None, "f"], ids=["as usual", "with the name each time"])
def test_many_pieces(names: str | None) -> None:
    """Arguments in many pieces cost time in proportion: a list, one join, one check at the end."""
    pieces = ["[", *("1," for _ in range(20_000)), "1]"]
    first = chunk({"tool_calls": [call("f", "", index=0, id="a")]})
    rest = [chunk({"tool_calls": [call(names, piece, index=0)]}) for piece in pieces]
    message = read(stream(first, *rest, chunk(finish="tool_calls")))
    assert ["".join(pieces)] == [part.arguments for part in message.tool_calls]


def test_whole_body() -> None:
    """A non-streaming body gives the same message as its stream."""
    entries = [call("f", '{"a": 1}', id="a", type="function"), call("g", id="b", type="function")]
    whole = plait.read_response(WIRE, response({"content": None, "tool_calls": entries}, "tool_calls"))
    assert whole == read(calls([{**entry, "index": place} for place, entry in enumerate(entries)]))
    assert [part.arguments for part in whole.tool_calls] == ['{"a": 1}', "{}"]
    assert json.loads(whole.tool_calls[0].arguments) == {"a": 1}
