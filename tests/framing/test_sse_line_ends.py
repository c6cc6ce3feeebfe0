"""Server-sent events: the line ends LF, CR LF and CR mean the same, and bare JSON is an event."""

from __future__ import annotations

import re

import pytest
from chunked import check_linear
from hypothesis import example, given
from hypothesis import strategies as st

from plait.framing import ServerSentEvent, SSEDecoder

LINES = ["data: a", "data:b", "data: ", "data", "event: x", "event:", ": c", "id: 1", "", "{", "é\u2028"]
ENDS = ["\r\n", "\n", "\r"]


def events(body: bytes, size: int | None = None) -> list[ServerSentEvent]:
    """The events of a body in chunks of this size."""
    decoder = SSEDecoder()
    size = size or len(body) or 1
    found = [
        event for start in range(0, len(body), size) for event in decoder.feed(body[start : start + size])
    ]
    return found + decoder.close()


@given(st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS))), st.sampled_from([None, 1, 7]))
@example([("data: a", "\r\n"), ("", "\r\n"), ("data: a", "\n"), ("data: b", "\r\n"), ("", "\r\n")], None)
@example([("data: a", "\r\n"), (": c", "\n"), ("", "\n"), ("data: b", "\r\n"), ("", "\r\n")], None)
@example([("data: a", "\r"), ("data: b", "\r\n"), ("", "\r\n")], None)
def test_line_ends_mean_the_same(lines: list[tuple[str, str]], size: int | None) -> None:
    """Any mixture of line ends gives the events of the same lines with LF."""
    body = "".join(line + end for line, end in lines)
    plain = re.sub("\r\n?", "\n", body)
    assert events(plain.encode()) == events(body.encode(), size)


@given(st.lists(st.tuples(st.sampled_from(LINES), st.just("\r\n"))))
def test_only_cr_lf(lines: list[tuple[str, str]]) -> None:
    """As Google sends it, irregular blocks among the regular ones."""
    body = "".join(line + end for line, end in lines) + "data: z\r\n\r\n"
    assert events(body.replace("\r\n", "\n").encode()) == events(body.encode())


@pytest.mark.parametrize(
    "unit",
    [
        b"data: a\r\n\r\n",
        b": c\r\n",
        b"x\r",
        b"x\n",
        b"x\r\nx\r",
        b"data: a\r\n\n\r\n",
        b"event: e\r\ndata: a\r\nid: 1\r\n\r\n",
    ],
    ids=["events", "comments", "CR", "LF", "CR in CR LF", "mixed", "irregular"],
)
def test_cost_is_linear(unit: bytes) -> None:
    """Sixteen times the lines take about sixteen times as long, also with a lone CR at the end."""

    def run(size: int) -> None:
        SSEDecoder().feed(unit * size + b"x\rdata: z\r\n\r\n")

    check_linear(run, 4000)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', '{\r\n  "a": 1\r\n}', '[{\r\n  "a": 1\r\n}\r\n]', '[\r\n{\r\n  "a": 1\r\n}\r\n]'],
    ids=["line", "object", "array", "array of lines"],
)
def test_bare_json(text: str) -> None:
    """A front end prints JSON into the stream without `data:`: an event, unless read strictly."""
    body = b"data: a\r\n\r\n" + text.encode() + b"\r\n\r\n"
    lenient = SSEDecoder(lenient=True).feed(body)
    assert [ServerSentEvent("a"), ServerSentEvent(text.replace("\r\n", "\n"))] == lenient
    assert [ServerSentEvent("a")] == SSEDecoder().feed(body)
