"""Newline-delimited JSON."""

from __future__ import annotations

from functools import partial

import pytest
from chunked import check_decode, cuts, outcome, split
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.framing import NDJSONDecoder


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param('{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}'], id="two lines"),
        pytest.param('{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}'], id="no last newline"),
        pytest.param('{"a":1}\r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}'], id="crlf"),
        pytest.param('\n\r\n  \n{"a":1}\n\n\t\n', ['{"a":1}'], id="blank lines"),
        pytest.param('{"a":1}\r{"b":2}\n', ['{"a":1}\r{"b":2}'], id="cr alone ends no line"),
        pytest.param('{"a":"x\u2028y\x85z"}\n', ['{"a":"x\u2028y\x85z"}'], id="unicode separators are text"),
        pytest.param("\x0b\x0c\n", ["\x0b\x0c"], id="vt and ff are not JSON whitespace"),
        pytest.param('{"a":"é🌍"}\n', ['{"a":"é🌍"}'], id="multibyte"),
        pytest.param('\ufeff{"a":1}\n\ufeff\n', ['{"a":1}', "\ufeff"], id="bom at the start only"),
        pytest.param('{"a":1}\n{"b"', ['{"a":1}', '{"b"'], id="cut line as it is"),
    ],
)
def test_lines(body: str, expected: list[str]) -> None:
    """Each line that is not blank is one document; only LF ends a line."""
    check_decode(NDJSONDecoder, body.encode(), expected)


def test_body_cut_inside_a_character() -> None:
    """A last line that is not UTF-8 was cut inside a character, and is dropped."""
    check_decode(NDJSONDecoder, b'{"a":1}\n{"b":"\xe4', ['{"a":1}'])


def test_not_utf8() -> None:
    """An ended line that is not UTF-8 is a fault at its byte; the lines before it come first."""
    message = "NDJSON: line at byte 9 is not UTF-8: byte 0xff at byte 15"
    check_decode(NDJSONDecoder, b'{"a":1}\r\n{"b":"\xff"}\n{"c":1}\n', ['{"a":1}'], message)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.sampled_from([b"\n", b"\r\n", b" ", b"{}", b'"\xc3\xa9"', b"\xff", b"\xef\xbb\xbf"]), max_size=12
    ),
    cuts,
    st.integers(1, 12),
)
def test_any_bytes_in_any_chunks(parts: list[bytes], places: list[int], limit: int) -> None:
    """Frames and fault, to the letter, do not depend on the chunks, also near the limit."""
    body = b"".join(parts)
    make = partial(NDJSONDecoder, max_frame=limit)
    expected = outcome(make(), [body])
    assert outcome(make(), split(body, places)) == expected
    assert outcome(make(), [body[i : i + 1] for i in range(len(body))]) == expected
