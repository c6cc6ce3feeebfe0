"""Strict JSON: what is let through, and the path and words for what is not."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait import InvalidDataError
from plait.messages import MAX_DEPTH, SystemMessage, check_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Colour(Enum):
    RED = "red"


class Size(StrEnum):
    BIG = "big"


@given(JSON)
def test_takes_json(value: Any) -> None:
    """All JSON is taken, and comes out as it went in."""
    assert value == check_json(value)
    assert json.dumps(value) == json.dumps(check_json(value))


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("metadata.labels[2]: NaN is not a JSON number", {"labels": [1, 2, float("nan")]}),
        ("metadata: Infinity is not a JSON number", float("inf")),
        ("metadata.a: -Infinity is not a JSON number", {"a": float("-inf")}),
        ("metadata[0]: date is not a JSON value; give text, such as `.isoformat()`", [date(2025, 1, 2)]),
        (
            "metadata.at: datetime is not a JSON value; give text, such as `.isoformat()`",
            {"at": datetime(2025, 1, 2, tzinfo=UTC)},
        ),
        ("metadata.a: bytes is not a JSON value; give base64 text", {"a": b"x"}),
        ("metadata.a: set is not a JSON value; give a list", {"a": {1}}),
        ("metadata.a: tuple is not a JSON value; give a list", {"a": (1,)}),
        ("metadata.a: Decimal is not a JSON value", {"a": Decimal(1)}),
        ("metadata.a: complex is not a JSON value", {"a": 1j}),
        ("metadata.a: Colour is not a JSON value", {"a": Colour.RED}),
        ("metadata.a: object is not a JSON value", {"a": object()}),
        ("metadata.a: function is not a JSON value", {"a": lambda: 1}),
        ("metadata.a: a key of a JSON object is a string, got int 3", {"a": {3: 1}}),
        ("metadata: a key of a JSON object is a string, got NoneType None", {None: 1}),
        ('metadata["a b"]["\\u00e9"].c: set is not a JSON value; give a list', {"a b": {"é": {"c": set()}}}),
        ("metadata.n: an integer of more than 4,300 digits cannot be written", {"n": 10**4300}),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
)
def test_refuses(message: str, value: Any) -> None:
    """The message is the path and the reason, and nothing else."""
    with pytest.raises(InvalidDataError) as caught:
        check_json(value, "metadata")
    assert message == str(caught.value)


def test_cycle() -> None:
    """A container inside of itself is named, both ends; the same one twice side by side is no cycle."""
    shared = [1]
    assert {"a": [1], "b": [1]} == check_json({"a": shared, "b": shared})
    inner: dict[str, Any] = {}
    inner["up"] = [inner]
    with pytest.raises(InvalidDataError) as caught:
        check_json({"a": inner}, "metadata")
    assert "metadata.a.up[0]: refers back to metadata.a: a cycle is not JSON" == str(caught.value)


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}], ids=["lists", "dicts"])
def test_depth(wrap: Any) -> None:
    """Nesting is bounded, and the path of what is too deep is shown short."""
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = wrap(value)
    assert value == check_json(value)
    with pytest.raises(
        InvalidDataError, match=rf"\.\.\.: nested more than {MAX_DEPTH} levels deep"
    ) as caught:
        check_json(wrap(value), "metadata")
    assert len(str(caught.value)) < 200


def test_copies() -> None:
    """What is checked is a copy in plain types: a later change of the caller's does not get into it."""
    labels = ["a"]
    given_ = OrderedDict(labels=labels, size=Size.BIG, yes=True)
    message = SystemMessage("x", metadata=given_)
    labels.append("b")
    assert {"labels": ["a"], "size": "big", "yes": True} == message.metadata
    assert [dict, str, bool] == [
        type(message.metadata), type(message.metadata["size"]), type(message.metadata["yes"])
    ]  # fmt: skip
