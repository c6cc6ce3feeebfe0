"""What recordings hold that no parser reads: counted by path, with an example that gives nothing away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bodies import CLOSING, OPENING, STREAM, TEXT, WIRE, frame

from plait.conformance.drift import Drift, Row, drift, kind_of, read_baseline, redacted, unexplained
from plait.errors import InvalidDataError


def rows(body: str | bytes, wire: str = WIRE) -> list[tuple[str, str, int, str | None]]:
    """Kind, key, count and example of each row, without the fields that every message has."""
    found = drift(wire, body if isinstance(body, bytes) else body.encode())
    return [(row.kind, row.key, row.count, row.example) for row in found.rows(wire)]


def test_nothing_unread() -> None:
    """A stream of which all is read has no drift."""
    assert [] == rows(STREAM)
    assert not drift(WIRE, STREAM)


def test_what_is_not_read() -> None:
    """Events, blocks, values, types and fields, in this order; the paths are whole."""
    opening = frame(
        type="message_start",
        message={"id": "m1", "model": "test", "usage": {"input_tokens": "3", "seconds": 0.5}},
    )
    tea = frame(type="content_block_start", index=0, content_block={"type": "tea", "sugar": [1, 2]})
    leaf = frame(type="content_block_delta", index=0, delta={"type": "leaf_delta", "leaf": "Assam, in full"})
    stop = frame(type="content_block_stop", index=0)
    ending = frame(type="message_delta", delta={"stop_reason": "bored"}) + frame(type="message_stop")
    pulse = frame(type="pulse", rate=60)
    assert [
        ("event", "event:pulse", 2, "{type, rate}"),
        ("block", "block:tea", 1, None),
        ("block", "delta:leaf_delta", 1, None),
        ("value", "finish_reason:bored", 1, None),
        ("type", "type:message.usage.input_tokens=string", 1, '"3"'),
        ("field", "field:content_block.sugar", 1, "list of 2"),
        ("field", "field:delta.leaf", 1, "text of 14 characters"),
        ("field", "field:message.usage.seconds", 1, "0.5"),
    ] == rows(opening + pulse + tea + leaf + stop + pulse + ending)


def test_more_often_first() -> None:
    """Within a kind the commonest comes first, and the example is the first value that came."""
    one = frame(type="content_block_delta", index=1, delta={"type": "text_delta", "text": "a", "rare": True})
    two = frame(
        type="content_block_delta", index=1, delta={"type": "text_delta", "text": "b", "mood": "calm"}
    )
    body = OPENING + one + two + two + frame(type="message_delta", delta={"stop_reason": "end_turn"})
    assert [
        ("field", "field:delta.mood", 2, '"calm"'),
        ("field", "field:delta.rare", 1, "true"),
    ] == rows(body)


def test_whole_body() -> None:
    """A body that was not streamed is read in the same way."""
    message = {"content": "Oui", "mood": None}
    body = {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "tired"}]}
    assert [
        ("value", "finish_reason:tired", 1, None),
        ("field", "field:choices[].message.mood", 1, "null"),
    ] == rows(json.dumps(body), "openai-chat")


def test_broken_stream() -> None:
    """Of a stream that ends in a fault, what came before it counts."""
    body = OPENING + frame(type="pulse") + TEXT + "data: <html>\n\n" + frame(type="pulse") + CLOSING
    assert [("event", "event:pulse", 1, "{type}")] == rows(body)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true", id="boolean"),
        pytest.param(1767225600, "1767225600", id="number"),
        pytest.param(0.25, "0.25", id="fraction"),
        pytest.param("", '""', id="empty"),
        pytest.param("end_turn", '"end_turn"', id="word"),
        pytest.param("gpt-4o.mini", '"gpt-4o.mini"', id="word with digits"),
        pytest.param("ON_DEMAND", '"ON_DEMAND"', id="word in capitals"),
        pytest.param("Hello", "text of 5 characters", id="mixed case"),
        pytest.param("see you", "text of 7 characters", id="with a space"),
        pytest.param("jürgen", "text of 6 characters", id="not ASCII"),
        pytest.param("fp_0ba0d124f1", "text of 13 characters", id="hexadecimal id"),
        pytest.param("req_011cyk5mje9hkut", "text of 19 characters", id="id"),
        pytest.param("20260131", "text of 8 characters", id="digits"),
        pytest.param("word\n", "text of 5 characters", id="line end"),
        pytest.param("a" * 25, "text of 25 characters", id="long word"),
        pytest.param([{"a": 1}, "x"], "list of 2", id="list"),
        pytest.param({"name": "Jo", "age": 4}, "{name, age}", id="object"),
        pytest.param({"user 7": 1, "k1234567": 2}, "{…, …}", id="keys that are data"),
        pytest.param(dict.fromkeys("abcdefghij", 1), "{a, b, c, d, e, f, g, h, …}", id="many keys"),
    ],
)
def test_redacted(value: Any, expected: str) -> None:
    """Words of a list of words, numbers and shapes are shown; text, ids and data are not."""
    assert expected == redacted(value)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("event:pulse", "event"),
        ("event:message_start again", "oddity"),
        ("block:tea", "block"),
        ("part:tea", "block"),
        ("delta:role=tool", "oddity"),
        ("finish_reason:tired of it", "value"),
        ("status:asleep", "value"),
        ("type:usage=string", "type"),
        ("field:a.b", "field"),
        ("choice:1", "oddity"),
        ("keep-alive", "oddity"),
    ],
)
def test_kind(key: str, expected: str) -> None:
    """What a parser counts is of a kind, told by what stands before the colon."""
    assert expected == kind_of(key)


def test_added() -> None:
    """Counts of several recordings add up; the first example stays."""
    whole = Drift()
    for mood in ("calm", "wild"):
        body = OPENING + frame(type="message_delta", delta={"mood": mood})
        whole.add(drift(WIRE, body.encode()))
    whole.add(drift("ollama-chat", b'{"mood": 1}\n'))
    assert ["anthropic-messages", "ollama-chat"] == whole.wires
    assert [Row("field", "field:delta.mood", 2, '"calm"')] == whole.rows(WIRE)
    assert whole == Drift.from_dict(json.loads(json.dumps(whole.to_dict())))


def test_baseline() -> None:
    """What a baseline lists is not new; a new baseline keeps the reasons that are known."""
    found = drift(WIRE, (OPENING + frame(type="pulse", rate=1) + frame(type="echo")).encode())
    known = {WIRE: {"event:pulse": "a heartbeat"}, "gemini": {"event:echo": "another wire"}}
    assert [Row("event", "event:echo", 1, "{type}")] == found.without(known).rows(WIRE)
    written = found.baseline(known)
    assert {WIRE: {"event:echo": "", "event:pulse": "a heartbeat"}} == written
    assert not found.without(written)
    assert [f"{WIRE} event:echo"] == unexplained(written)
    assert [] == unexplained({WIRE: {"field:mood": ""}})


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"gemini": ["field:a"]}', b'{"gemini": {"field:a": 1}}', b"\xff"]
)
def test_broken_baseline(data: bytes) -> None:
    """A file that is no baseline is refused, with words on what one is."""
    with pytest.raises(InvalidDataError, match="expected a baseline"):
        read_baseline(data)


def test_broken_report() -> None:
    """So is a report that is none."""
    with pytest.raises(InvalidDataError, match="expected a drift"):
        Drift.from_dict({"gemini": [{"kind": "colour"}]})
