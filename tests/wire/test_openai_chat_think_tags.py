"""Reasoning between tags, split off text that is cut anywhere."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.wire.openai_chat.think_tags import ThinkTags


def split(*pieces: str, names: Sequence[str] = ("think",)) -> list[tuple[bool, str]]:
    """What the pieces are split into, neighbours of one kind joined."""
    tags = ThinkTags(names)
    found = [item for piece in pieces for item in tags.feed(piece)] + list(tags.close())
    joined: list[tuple[bool, str]] = []
    for is_reasoning, text in found:
        assert text
        if joined and joined[-1][0] == is_reasoning:
            text = joined.pop()[1] + text
        joined.append((is_reasoning, text))
    return joined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", [(False, "plain")]),
        ("<think>a</think>b", [(True, "a"), (False, "b")]),
        ("x<think>a</think>b<think>c</think>", [(False, "x"), (True, "a"), (False, "b"), (True, "c")]),
        ("<think></think>b", [(False, "b")]),
        ("<think>a", [(True, "a")]),
        ("a</think>b", [(False, "a</think>b")]),
        ("x < y", [(False, "x < y")]),
        ("x <", [(False, "x <")]),
        ("x <thin", [(False, "x <thin")]),
        ("<think>a <b> </b></think>", [(True, "a <b> </b>")]),
        ("<think>a<think>b</think>c", [(True, "a<think>b"), (False, "c")]),
        ("<<think>a<</think>", [(False, "<"), (True, "a<")]),
        ("<thinking>a", [(False, "<thinking>a")]),
    ],
)
def test_every_cut(text: str, expected: list[tuple[bool, str]]) -> None:
    """The split is the same wherever the text is cut."""
    assert expected == split(text), "whole"
    assert expected == split(*text), "one character at a time"
    for cut in range(len(text)):
        assert expected == split(text[:cut], text[cut:]), f"cut at {cut}"


def test_several_names() -> None:
    """A block ends with its own tag only; one name may begin like another."""
    text = "<think>a</thinking></think>b<thinking>c</think></thinking>"
    expected = [(True, "a</thinking>"), (False, "b"), (True, "c</think>")]
    assert expected == split(text, names=["think", "thinking"])
    assert expected == split(*text, names=["think", "thinking"])


def test_holds_back_only_what_may_be_a_tag() -> None:
    """Text goes out at once, but for a tail that may begin a tag."""
    tags = ThinkTags(["think"])
    assert list(tags.feed("a < b")) == [(False, "a < b")]
    assert list(tags.feed("a <thi")) == [(False, "a ")]
    assert list(tags.feed("s")) == [(False, "<this")]
    assert list(tags.close()) == []


def test_many_pieces() -> None:
    """A long block in small pieces: no piece is looked at again."""
    pieces = ["<think>", *("x" for _ in range(100_000)), "</think>"]
    assert split(*pieces) == [(True, "x" * 100_000)]


@given(st.lists(st.text("<>/think x", max_size=9)))
def test_any_text(pieces: list[str]) -> None:
    """Any cut gives the same split, and text without an opening tag is as it was."""
    whole = "".join(pieces)
    assert split(whole) == split(*pieces)
    plain = whole.replace("<think>", "")
    if plain and "<think>" not in plain:
        assert split(plain) == [(False, plain)]
