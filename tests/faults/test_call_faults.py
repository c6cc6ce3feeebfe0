"""Faults of tool calls: which piece belongs to which call, names, ids and arguments that come oddly."""

from __future__ import annotations

import pytest
from responses_documents import added, call
from said import chat, ids, lines, piece, read, responses, said

import bedrock_frames as bedrock
from plait.conformance.encoding import ENCODERS, Answer, Reasoning, Text, ToolCall

CHAT = ["openai-chat", "mistral-chat"]


ONE = [("f", '{"a":1}', True)]
TWO = [("f", "{}", True), ("g", "[]", True)]


@pytest.mark.parametrize("wire", CHAT)
@pytest.mark.parametrize(
    ("expected", "body"),
    [
        pytest.param(ONE, chat([piece("f", '{"a":1}', id="c")]), id="no index, whole"),
        pytest.param(TWO, chat([piece("f", "{}", id="c"), piece("g", "[]", id="d")]), id="no index, two"),
        pytest.param(TWO, chat([piece("f", "{}"), piece("g", "[]")]), id="no index, no ids, two"),
        pytest.param(ONE, chat([piece("f", '{"a"', id="c")], [piece(None, ":1}")]), id="no index, goes on"),
        pytest.param(
            TWO,
            chat(
                [piece("f", "", id="c"), piece("g", "", id="d")],
                [piece(None, "{"), piece(None, "[")],
                [piece(None, "}"), piece(None, "]")],
            ),
            id="no index, no ids, two go on side by side",
        ),
        pytest.param(
            TWO,
            chat([piece("f", "{", id="c")], [piece(None, "}"), piece("g", "[", id="d")], [piece(None, "]")]),
            id="no index, one goes on beside a new one",
        ),
        pytest.param(
            TWO,
            chat(
                [piece("f", "", index=0, id="c")],
                [piece("g", "", index=1, id="d")],
                *([piece(None, text, index=number % 2)] for number, text in enumerate("{[}]")),
            ),
            id="by turns, without ids",
        ),
        pytest.param(
            [("find_items", "{}", True)],
            chat(
                [piece("find_", None, index=0, id="c")],
                [piece("items", None, index=0)],
                [piece(None, "{}", index=0)],
            ),
            id="name in pieces",
        ),
        pytest.param(
            ONE,
            chat(*([piece("f", text, index=0, id="c", type="function")] for text in ('{"a"', ":1", "}"))),
            id="all of it each time",
        ),
        pytest.param(
            ONE,
            chat(
                [piece("f", '{"a"', index=0, id="c", type="FUNCTION")],
                [piece("null", ":1}", index=0, id="", type="FUNCTION")],
            ),
            id="the word null",
        ),
        pytest.param(
            ONE,
            chat([piece("f", '{"a"', id="c")], [piece("null", ":1}", id="", type="FUNCTION")]),
            id="the word null, no index",
        ),
        pytest.param(
            ONE,
            chat(
                [piece("f", "", index=0, id="c")],
                *([piece("", text, index=0, id=f"x{text}")] for text in '{"a":1}'),
            ),
            id="an id for each character",
        ),
        pytest.param(
            ONE,
            chat([piece("f", "", id="c")], *([piece("", text, id=f"x{text}")] for text in '{"a":1}')),
            id="an id for each character, no index",
        ),
        pytest.param(ONE, chat([piece("f", '{"a":1}', index=0, id="")]), id="empty id"),
        pytest.param(
            ONE,
            chat([{"index": 0}], [piece("f", None, index=0, id="c")], [piece(None, '{"a":1}', index=0)]),
            id="id late",
        ),
        pytest.param(
            ONE, chat([piece("f", '{"a"', index=0, id="c")], [piece(None, ":1}", index=0)]), id="id once"
        ),
        pytest.param(
            ONE,
            chat(
                [{"index": 0, "id": "c", "function": {"name": "f", "arguments": None}}],
                [piece(None, '{"a":1}', index=0)],
            ),
            id="arguments null first",
        ),
        pytest.param(
            [("f", "{}", True)],
            chat([{"index": 0, "id": "c", "function": {"name": "f", "arguments": None}}]),
            id="null only",
        ),
        pytest.param([("f", "{}", True)], chat([piece("f", "", index=0, id="c")]), id="empty only"),
        pytest.param(ONE, chat(*[[piece("f", '{"a":1}', index=0, id="c")]] * 2), id="whole call said again"),
        pytest.param(ONE, chat(*[[piece("f", {"a": 1}, index=0, id="c")]] * 2), id="decoded, said again"),
        pytest.param(
            ONE,
            chat([piece("f", '{"a"', index="0", id="c")], [piece(None, ":1}", index="0")]),
            id="index as text",
        ),
        pytest.param([("f", '{"n":NaN}', False)], chat([piece("f", '{"n":NaN}', index=0, id="c")]), id="NaN"),
        pytest.param(
            [("f", "{}{}", False)],
            chat([piece("f", "{", index=0, id="c")], [piece(None, "}{}", index=0)]),
            id="two values",
        ),
        pytest.param([("", "{}", False)], chat([piece(None, "{}", index=0, id="c")]), id="never a name"),
    ],
)
def test_pieces_of_calls(expected: list[tuple[str, str, bool]], wire: str, body: bytes) -> None:
    """Each piece goes to its call, however little it says; nothing is lost, mixed or made whole."""
    assert {"calls": expected, "finish": "tool_calls:tool_calls"} == said(wire, body)
    assert len(expected) == len(set(ids(wire, body)))


OTHER_IDS = ("bedrock-converse", "ollama-chat", "openai-responses")
"""Wires whose ids cannot simply be taken out of the bytes, or that have none."""


def whole(wire: str, *arguments: str, id: bool = True) -> bytes:
    """A stream with one call of `f` for each text of arguments, with or without ids."""
    parts = tuple(ToolCall(f"c{number}", "f", (text,)) for number, text in enumerate(arguments))
    body = ENCODERS[wire].stream(Answer(parts=parts))
    for number in range(len(arguments)):
        if not id:
            assert f'"c{number}"'.encode() in body
            body = body.replace(f'"c{number}"'.encode(), b'""')
    return body


@pytest.mark.parametrize("wire", [wire for wire in ENCODERS if wire not in OTHER_IDS])
@pytest.mark.parametrize("same", [True, False], ids=["same arguments", "other arguments"])
def test_parallel_calls_of_one_function(wire: str, same: bool) -> None:
    """Calls of one function are told apart though neither has an id; ids that are there are kept."""
    texts = ['{"c":1}', '{"c":1}' if same else '{"c":2}']
    for with_ids in (True, False):
        body = whole(wire, *texts, id=with_ids)
        assert [("f", text, True) for text in texts] == said(wire, body)["calls"]
        assert ["c0", "c1"] == ids(wire, body) if with_ids else 2 == len(set(ids(wire, body)))


def test_parallel_calls_without_ids_elsewhere() -> None:
    """Bedrock's calls without ids, Ollama's, which never have any, and those of the Responses API."""
    block_of = b"".join(bedrock.start(n, toolUse={"name": "f"}) + bedrock.stop(n) for n in (0, 1))
    assert 2 == len(set(ids("bedrock-converse", bedrock.BEGIN + block_of + bedrock.end("tool_use"))))
    items = (added(n, call('{"c":1}', id="", call_id="")) for n in (0, 1))
    assert 2 == len(set(ids("openai-responses", responses(*items))))
    entry = {"function": {"name": "f", "arguments": {"c": 1}}}
    line = {"model": "m", "message": {"tool_calls": [entry, entry]}}
    assert 4 == len(set(ids("ollama-chat", lines(line, line, {"done": True, "done_reason": "stop"}))))


LONG = "call_" + "A" * 600


@pytest.mark.parametrize("wire", [wire for wire in ENCODERS if wire != "ollama-chat"])
def test_long_ids_are_kept(wire: str) -> None:
    """A gateway may keep its own data in an id: every byte counts."""
    body = ENCODERS[wire].stream(Answer(parts=(ToolCall(LONG, "f", ("{}",)),)))
    parser, _ = read(wire, body)
    assert [LONG] == [call.call_id for call in parser.message.tool_calls]


def test_id_is_the_same_in_all_events() -> None:
    """A real id that comes after the first piece is waited for."""
    body = chat([{"index": 0}], [piece("f", None, index=0, id="c77")], [piece(None, "{}", index=0)])
    _, events = read("openai-chat", body)
    assert {"c77"} == {event.item_id for event in events if hasattr(event, "item_id")}


@pytest.mark.parametrize("wire", CHAT)
@pytest.mark.parametrize("finish", ["weird", "stop", "eos"])
def test_reason_nobody_knows_with_calls(wire: str, finish: str) -> None:
    """Calls were made, so the loop goes on; the word is kept."""
    body = chat([piece("f", "{}", index=0, id="c")], finish=finish)
    assert {"calls": [("f", "{}", True)], "finish": f"tool_calls:{finish}"} == said(wire, body)


@pytest.mark.parametrize("wire", ENCODERS)
def test_stream_and_body_are_one_reading(wire: str) -> None:
    """Reasoning, text and calls in one answer: what a stream gives, its body gives."""
    answer = Answer(
        parts=(Reasoning(("hm",), "c2ln"), Text(("Il ", "gèle")), ToolCall("t1", "f", ('{"a":', "1}")))
    )
    streamed, whole_ = said(wire, ENCODERS[wire].stream(answer)), said(wire, ENCODERS[wire].whole(answer))
    assert streamed == whole_
    assert ("hm", "Il gèle", [("f", '{"a":1}', True)]) == tuple(
        streamed[name] for name in ("reasoning", "text", "calls")
    )
