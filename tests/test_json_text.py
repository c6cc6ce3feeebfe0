"""JSON as models and providers write it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait import json_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"a": [1, None]}, ' {"a" : [1, null]}\n'),
        ("\ud83d", '"\\ud83d"'),
        ("\ud83d!", '"\ud83d!"'),
        (123456789012345678901234567890, "123456789012345678901234567890"),
        (float("inf"), "1e400"),
        (float("-inf"), "-" + "1" * 5000),
        ({"a": 2}, '{"a": 1, "a": 2}'),
    ],
    ids=["plain", "escaped half", "raw half", "big integer", "beyond double", "5000 digits", "duplicate key"],
)
def test_loads(expected: Any, text: str) -> None:
    """Whatever the grammar allows is read."""
    assert expected == json_text.loads(text)
    assert json_text.is_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        '{"a":1',
        "{} {}",
        "NaN",
        '{"a":-Infinity}',
        "{'a':1}",
        "tru",
        '"\n"',
        "\ufeff{}",
        "[" * 9999,
    ],
    ids=repr,
)
def test_loads_refuses(text: str) -> None:
    """Anything but one JSON value is a ValueError, never another exception."""
    with pytest.raises(ValueError, match=r"."):
        json_text.loads(text)
    assert not json_text.is_json(text)


@pytest.mark.parametrize(
    ("expected", "text"),
    [({"p": None, "q": [None, None]}, '{"p": NaN, "q": [Infinity, -Infinity]}'), ("NaN", '"NaN"')],
    ids=["numbers", "text"],
)
def test_loads_tolerant(expected: Any, text: str) -> None:
    """NaN and infinities are read as null."""
    assert expected == json_text.loads_tolerant(text)


@given(json_values)
def test_every_cut_of_a_document_is_cut(value: Any) -> None:
    """An object that lost its end, wherever, is cut; a whole one is not."""
    text = msgspec.json.encode({"a": value, "é": 1.5e-7}).decode()
    assert not json_text.is_cut(text)
    assert [] == [text[:end] for end in range(len(text)) if not json_text.is_cut(text[:end])]


@pytest.mark.parametrize(
    "text", ['{"a": NaN, "b": 1', '{"a": -Inf', '{"a": 1e400, "b', '{"a": "\\ud83d'], ids=repr
)
def test_tolerated_documents_can_be_cut(text: str) -> None:
    """What is read with tolerance counts as cut, not as broken."""
    assert json_text.is_cut(text)


@pytest.mark.parametrize("text", ["{]", "{} x", "<html>", "{'a': 1}", '{"a" 1}', "}"], ids=repr)
def test_broken_is_not_cut(text: str) -> None:
    """What no further text could mend is not cut."""
    assert not json_text.is_cut(text)


@pytest.mark.parametrize(
    ("expected", "text"),
    [('{"a":[1,"b  c"]}', ' { "a" : [ 1 , "b  c" ] } '), ('{"n":1.50}', '{ "n": 1.50 }'), ("{x", "{x")],
    ids=["spaces", "number as written", "not JSON"],
)
def test_compact(expected: str, text: str) -> None:
    """Only insignificant white space goes; what is not JSON stays as it is."""
    assert expected == json_text.compact(text) == json_text.compact(msgspec.Raw(text.encode()))


@pytest.mark.parametrize(
    ("expected", "value"),
    [(False, 1), (False, [[], {}]), (True, [[[]]]), (True, {"a": {"b": {"c": 1}}})],
    ids=["scalar", "two", "three arrays", "three objects"],
)
def test_is_deeper(expected: bool, value: Any) -> None:
    """Depth counts arrays and objects in each other."""
    assert expected == json_text.is_deeper(value, 2)
