"""Gemini: function calls, whole and with arguments that come as JSON paths."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import check_parse
from gemini_bodies import CALLS, WIRE, call, chunk, events_of, message_of, of_parts, stream, text
from hypothesis import given
from hypothesis import strategies as st

from plait.events import FinishReasonDone, TextDelta, TextDone, ToolCallDelta, ToolCallDone
from plait.wire.gemini.partial_args import MisplacedError, PartialArguments, parse_path
from plait.wire.gemini.wire import PartialArg


def found(body: bytes) -> list[tuple[str, str, bool]]:
    """Name, arguments and completeness of the calls in a stream, which is read in all partitions."""
    return [(part.tool_name, part.arguments, part.complete) for part in message_of(body).tool_calls]


def at(path: str, value: Any, *, more: bool = False) -> dict[str, Any]:
    """An entry of `partialArgs`."""
    key = {str: "stringValue", bool: "boolValue", int: "numberValue", float: "numberValue"}.get(type(value))
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    entry = {"jsonPath": path, **({key: value} if key else {"nullValue": "NULL_VALUE"})}
    return {**entry, "willContinue": True} if more else entry


def pieces(*args: dict[str, Any], more: bool = True) -> dict[str, Any]:
    """A function call part that continues the open call."""
    part = call(partialArgs=list(args))
    if more:
        part["functionCall"]["willContinue"] = True
    return part


def test_a_whole_call() -> None:
    """Name, id and arguments at once: the call is done at once, its signature with it."""
    body = of_parts(call("f", "S", id="k", args={"city": "Oslo", "n": 1.50}))
    expected = [
        ToolCallDelta("k", "f", "", 0),
        ToolCallDelta("k", None, '{"city":"Oslo","n":1.5}', 0),
        ToolCallDone("k", "k", "f", '{"city":"Oslo","n":1.5}', index=0),
        CALLS,
    ]
    (part,) = check_parse(WIRE, body, expected).message.tool_calls
    assert (part.call_id, part.signature) == ("k", "S")


@pytest.mark.parametrize("fields", [{}, {"args": {}}, {"args": None}], ids=["absent", "empty", "null"])
def test_a_call_without_arguments(fields: dict[str, Any]) -> None:
    """No arguments are `{}`, also when the response is cut after the call."""
    assert found(of_parts(call("f", **fields), finish="MAX_TOKENS")) == [("f", "{}", True)]


def test_arguments_keep_the_wires_numbers() -> None:
    """Only white space is taken out of the arguments' text."""
    body = 'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{ "n": 1.0, "m": '
    body += '12345678901234567890, "s": "\\u003c é" }}}]},"finishReason":"STOP"}]}\n\n'
    assert found(body.encode()) == [("f", '{"n":1.0,"m":12345678901234567890,"s":"\\u003c é"}', True)]


def test_calls_of_the_same_name_are_distinct() -> None:
    """Parallel calls without ids get ids of their own, and say that the provider gave none."""
    message = message_of(of_parts(call("w", args={"c": 1}), call("w", args={"c": 2})))
    first, second = message.tool_calls
    assert (first.arguments, second.arguments) == ('{"c":1}', '{"c":2}')
    assert first.tool_call_id != second.tool_call_id
    assert (first.call_id, second.call_id) == (None, None)


def test_the_providers_ids_are_used() -> None:
    """Ids that are there are kept, and one that comes twice is made unique."""
    message = message_of(of_parts(call("w", id="a", args={}), call("w", id="b"), call("w", id="b")))
    assert [part.call_id for part in message.tool_calls] == ["a", "b", "b"]
    assert len({part.tool_call_id for part in message.tool_calls}) == 3


def test_a_signature_stays_on_its_call() -> None:
    """Only the first of parallel calls is signed; text before and after keeps out of it."""
    body = of_parts(text("a", thoughtSignature="T"), call("f", "S", args={}), call("f", args={}), text("b"))
    message = message_of(body)
    assert [part.signature for part in message.tool_calls] == ["S", None]
    assert [part.type for part in message.content] == ["text", "tool-call", "tool-call", "text"]


def test_text_and_call_in_one_part() -> None:
    """A gateway puts both into one part: both are read, and the signature is the call's."""
    body = of_parts({**call("f", "S", args={}), "text": "a"})
    expected = [
        TextDelta("a", 0),
        ToolCallDelta("call_0", "f", "", 1),
        ToolCallDelta("call_0", None, "{}", 1),
        ToolCallDone("call_0", "call_0", "f", "{}", index=1),
        TextDone("a", 0),
        CALLS,
    ]
    (part,) = check_parse(WIRE, body, expected).message.tool_calls
    assert part.signature == "S"


def test_an_unexpected_call_is_shown() -> None:
    """A call of a tool that nobody declared: malformed output, and the call is there to see."""
    body = stream(chunk(call("ls", args={}), finish="UNEXPECTED_TOOL_CALL", finishMessage="undeclared"))
    assert events_of(body)[-1] == FinishReasonDone("malformed_output", "UNEXPECTED_TOOL_CALL")
    assert found(body) == [("ls", "{}", True)]


def test_a_call_without_a_name() -> None:
    """Nothing is open that it could continue: it is counted. One with arguments is kept, and never runs."""
    body = of_parts(call(), call(args={"a": 1}))
    expected = [
        ToolCallDelta("call_0", "", "", 0),
        ToolCallDelta("call_0", None, '{"a":1}', 0),
        ToolCallDone("call_0", "call_0", "", '{"a":1}', False, 0),
        CALLS,
    ]
    parser = check_parse(WIRE, body, expected)
    assert dict(parser.unknown) == {"part:functionCall without a name": 2}


# Arguments in pieces


def test_arguments_in_pieces() -> None:
    """Each piece is a delta; the call is done when it says so, and the signature came with its start."""
    body = of_parts(
        call("cook", "S", willContinue=True),
        pieces(at("$.dish.name", "Pas", more=True)),
        pieces(at("$.dish.name", 'ta "', more=True)),
        pieces(at("$.dish.name", "")),
        call(willContinue=True),
        pieces(at("$.dish.steps[0].do", "boil"), at("$.dish.steps[0].min", 8.0)),
        pieces(at("$.dish.steps[1].do", None), at("$.hot", True), at("$['a key']", 0.5)),
        call(),
    )
    joined = (
        '{"dish":{"name":"Pasta \\"","steps":[{"do":"boil","min":8},{"do":null}]},"hot":true,"a key":0.5}'
    )
    deltas = [
        '{"dish":{"name":"Pas',
        'ta \\"',
        '"',
        ',"steps":[{"do":"boil"',
        ',"min":8',
        '},{"do":null',
        '}]},"hot":true',
        ',"a key":0.5',
        "}",
    ]
    expected = [
        ToolCallDelta("call_0", "cook", "", 0),
        *(ToolCallDelta("call_0", None, delta, 0) for delta in deltas),
        ToolCallDone("call_0", "call_0", "cook", joined, index=0),
        CALLS,
    ]
    (part,) = check_parse(WIRE, body, expected).message.tool_calls
    assert part.signature == "S"
    assert json.loads(part.arguments)["dish"]["steps"] == [{"do": "boil", "min": 8}, {"do": None}]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([pieces(at("$.n", 1), more=False)], [("f", '{"n":1}', True)]),
        ([pieces(at("$.n", 1))], [("f", '{"n":1}', True)]),
        ([pieces(at("$.n", 1)), call("g", args={})], [("f", '{"n":1}', True), ("g", "{}", True)]),
        ([pieces(at("$.s", "x", more=True))], [("f", '{"s":"x', False)]),
        ([pieces(at("$.s", "x", more=True)), call("g")], [("f", '{"s":"x', False), ("g", "{}", True)]),
        ([], [("f", "{}", False)]),
        ([pieces(at("$[1]", "x"), more=False)], [("f", '[null,"x"]', True)]),
    ],
    ids=["falsy", "never closed", "next name", "open string", "open string, next name", "nothing", "a gap"],
)
def test_calls_that_are_not_closed(sent: list[Any], expected: list[Any]) -> None:
    """The next call or the end closes a call; one that stops inside a string, or before it began, is cut."""
    assert found(of_parts(call("f", willContinue=True), *sent)) == expected


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_a_call_that_was_cut(reason: str) -> None:
    """A call that promised more when the response was cut is not complete, whatever its arguments are."""
    body = of_parts(call("f", willContinue=True), pieces(at("$.path", "/"), at("$.n", 1)), finish=reason)
    assert found(body) == [("f", '{"path":"/","n":1', False)]


def test_a_name_that_is_repeated_with_its_id() -> None:
    """The same id again continues the call."""
    body = of_parts(
        call("f", id="a", willContinue=True),
        call("f", id="a", partialArgs=[at("$.n", 1)], willContinue=True),
        call("f", id="a"),
    )
    assert found(body) == [("f", '{"n":1}', True)]


@pytest.mark.parametrize(
    "late",
    [at(path, 2) for path in ("$.a", "$.o.y", "$[0]", "n", "$", "$.l[5000]", "$.l[0]")],
    ids=["again", "left", "another kind", "no path", "root", "a huge gap", "an earlier element"],
)
def test_a_value_that_comes_too_late(late: dict[str, Any]) -> None:
    """What cannot be written any more makes the call incomplete, and is counted: nothing is guessed."""
    body = of_parts(
        call("f", willContinue=True),
        pieces(at("$.a", 1), at("$.o.x", 1), at("$.l[0]", 1), at("$.l[1]", 1), late, more=False),
    )
    ((_, arguments, complete),) = found(body)
    assert not complete
    assert arguments.startswith('{"a":1,"o":{"x":1}')
    unknown = check_parse(WIRE, body, events_of(body)).unknown
    assert dict(unknown) == {"partialArgs:a path that cannot be written": 1}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$", ()),
        ("$.a", ("a",)),
        ("$.a[0].b_c", ("a", 0, "b_c")),
        ("$['a.b']", ("a.b",)),
        ("$['it\\'s']", ("it's",)),
        ('$["a]b"][2]', ("a]b", 2)),
        ("a", None),
        ("$a", None),
        ("$.a[", None),
        ("$.a[-1]", None),
        ("$..a", None),
    ],
)
def test_paths(path: str, steps: Any) -> None:
    """RFC 9535's names and indexes, without its wildcards."""
    assert parse_path(path) == steps


NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=6)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\"), min_size=1, max_size=4)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(NAMES, inner, min_size=1, max_size=3) | st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def leaves(value: Any, path: str = "$") -> list[tuple[str, Any]]:
    """Paths and values of the leaves, in the order in which they are written."""
    if isinstance(value, dict):
        quoted = {name: name.replace("'", "\\'") for name in value}
        return [leaf for name, item in value.items() for leaf in leaves(item, f"{path}['{quoted[name]}']")]
    if isinstance(value, list):
        return [leaf for number, item in enumerate(value) for leaf in leaves(item, f"{path}[{number}]")]
    return [(path, value)]


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.integers(1, 3))
def test_any_arguments_are_written(arguments: dict[str, Any], size: int) -> None:
    """Whatever the arguments are, and however their strings are cut, the text written is that JSON."""
    writer = PartialArguments()
    written = ""
    for path, value in leaves(arguments):
        if isinstance(value, str):
            cuts = [value[start : start + size] for start in range(0, len(value), size)]
            for piece in cuts:
                written += writer.write(PartialArg(json_path=path, string_value=piece, will_continue=True))
            written += writer.write(PartialArg(json_path=path, string_value=""))
        elif value is None:
            written += writer.write(PartialArg(json_path=path, null_value="NULL_VALUE"))
        elif isinstance(value, bool):
            written += writer.write(PartialArg(json_path=path, bool_value=value))
        else:
            written += writer.write(PartialArg(json_path=path, number_value=float(value)))
    assert json.loads(written + (writer.close() or "")) == arguments


@given(st.lists(st.tuples(st.sampled_from(["$.a", "$.a.b", "$[0]", "$.a[1]", "$.c['d']", "x"]), LEAVES)))
def test_any_order_gives_json_or_a_fault(entries: list[tuple[str, Any]]) -> None:
    """Paths in any order are written as JSON, or refused; never as something that only looks like it."""
    writer = PartialArguments()
    written = ""
    try:
        for path, value in entries:
            entry = at(path, value)
            written += writer.write(
                PartialArg(
                    json_path=path,
                    string_value=entry.get("stringValue"),
                    number_value=entry.get("numberValue"),
                    bool_value=entry.get("boolValue"),
                    null_value=entry.get("nullValue"),
                )
            )
    except MisplacedError:
        return
    end = writer.close()
    assert (end is None) == (not entries)
    assert isinstance(json.loads(written + end) if end is not None else {}, dict | list)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("3", "3"),
        ("3.0", "3"),
        ("-0.25", "-0.25"),
        ("1e300", "1e+300"),
        ("1e999", "null"),
        ("9" * 400, "null"),
        ('"NaN"', None),
    ],
    ids=["whole", "whole double", "fraction", "large", "infinite", "infinite integer", "not a number"],
)
def test_numbers(number: str, written: str | None) -> None:
    """Doubles: a whole one is an integer, one that JSON has no number for is null, text is no number."""
    body = of_parts(call("f", partialArgs=[{"jsonPath": "$.n", "numberValue": "N"}]))
    arguments = "{}" if written is None else f'{{"n":{written}}}'
    assert found(body.replace(b'"N"', number.encode())) == [("f", arguments, written is not None)]
