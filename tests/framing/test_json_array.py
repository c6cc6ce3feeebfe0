"""A streamed JSON array."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from chunked import check_decode, cuts, outcome, split
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.errors import ProtocolError
from plait.framing import JSONArrayDecoder

GEMINI = '[{\n  "a": [1, {"b": "]}"}]\n}\n,\r\n{"c": "\\"}\\\\"}\r\n]\r\n'


@pytest.mark.parametrize(
    ("body", "expected", "closed"),
    [
        pytest.param(GEMINI, ['{\n  "a": [1, {"b": "]}"}]\n}', '{"c": "\\"}\\\\"}'], True, id="as Gemini"),
        pytest.param("[]", [], True, id="empty array"),
        pytest.param(" \r\n[ \n] \n", [], True, id="empty array with whitespace"),
        pytest.param("\ufeff[{}]", ["{}"], True, id="bom"),
        pytest.param("[{},{}", ["{}", "{}"], False, id="not closed"),
        pytest.param("[{},", ["{}"], False, id="cut after a comma"),
        pytest.param('[{},{"a":"', ["{}"], False, id="cut inside a string"),
        pytest.param("[12", [], False, id="cut number may go on"),
        pytest.param("", [], False, id="empty body"),
        pytest.param(" \n", [], False, id="only whitespace"),
        pytest.param("[1, true ,null,-1e5 ]", ["1", "true", "null", "-1e5"], True, id="scalars"),
        pytest.param('["a,]\\"", "" ,"\\\\"]', ['"a,]\\""', '""', '"\\\\"'], True, id="strings"),
        pytest.param('[[[],["]"]],{}]', ['[[],["]"]]', "{}"], True, id="arrays"),
        pytest.param('["é🌍\u2028"]', ['"é🌍\u2028"'], True, id="multibyte"),
        pytest.param('{"error": {"code": 503}}\n', ['{"error": {"code": 503}}'], True, id="one object"),
        pytest.param('{"error": {', [], False, id="one object, cut"),
    ],
)
def test_elements(body: str, expected: list[str], closed: bool) -> None:
    """Each element comes out as it stands; `closed` says whether the closing bracket was seen."""
    check_decode(JSONArrayDecoder, body.encode(), expected)
    decoder = JSONArrayDecoder()
    decoder.feed(body.encode())
    decoder.close()
    assert decoder.closed is closed


def test_element_comes_with_its_last_byte() -> None:
    """An element is returned as soon as it is whole, before the comma."""
    decoder = JSONArrayDecoder()
    assert decoder.feed(b'[{"a":"}') == []
    assert decoder.feed(b'"}') == ['{"a":"}"}']
    assert decoder.feed(b",7") == []
    assert decoder.feed(b"8 ") == []
    assert decoder.feed(b"]") == ["78"]
    assert decoder.closed


HTML = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


@pytest.mark.parametrize(
    ("body", "expected", "error"),
    [
        pytest.param(
            "data: x", [], '"[" or "{" at the start of the body, got \'data: x\' at byte 0', id="sse"
        ),
        pytest.param(
            "\n" + HTML, [], f'"[" or "{{" at the start of the body, got {HTML[:64]!r} at byte 1', id="html"
        ),
        pytest.param(
            "[{}] x", ["{}"], "nothing after the end of the body's JSON, got 'x' at byte 5", id="after"
        ),
        pytest.param(
            "{}{", ["{}"], "nothing after the end of the body's JSON, got '{' at byte 2", id="object"
        ),
        pytest.param("[{} {}]", ["{}"], '"," or "]" after an element, got \'{}]\' at byte 4', id="no comma"),
        pytest.param("[,]", [], "a JSON value, got ',]' at byte 1", id="comma first"),
        pytest.param("[1,]", ["1"], "a JSON value, got ']' at byte 3", id="comma last"),
    ],
)
def test_stray_bytes(body: str, expected: list[str], error: str) -> None:
    """What stands where it should not is a fault that shows up to 64 bytes of it."""
    check_decode(JSONArrayDecoder, body.encode(), expected, f"JSON array: expected {error}")


def test_stray_bytes_after_the_end_leave_the_array_closed() -> None:
    """`closed` stays true when something follows the closing bracket."""
    decoder = JSONArrayDecoder()
    assert decoder.feed(b"[1]x") == ["1"]
    assert decoder.closed
    with pytest.raises(ProtocolError, match="nothing after the end"):
        decoder.close()
    assert decoder.closed


def test_not_utf8() -> None:
    """An element that is not UTF-8 is a fault at its byte, after the elements before."""
    message = "JSON array: element at byte 4 is not UTF-8: byte 0xff at byte 5"
    check_decode(JSONArrayDecoder, b'[{},"\xff",{}]', ["{}"], message)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\,[]{}\n\u2028é', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('k"]', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(st.lists(values, max_size=5), cuts, st.booleans(), st.sampled_from([None, 1]))
def test_any_array_round_trips(
    array: list[Any], places: list[int], ascii_only: bool, indent: int | None
) -> None:
    """Whatever JSON the elements are, and wherever it is cut, they come out as they went in."""
    body = json.dumps(array, ensure_ascii=ascii_only, indent=indent).encode()
    for chunks in ([body], split(body, places), [body[i : i + 1] for i in range(len(body))]):
        frames, error = outcome(JSONArrayDecoder(), chunks)
        assert error is None
        assert [json.loads(frame) for frame in frames] == array


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.sampled_from([b"[", b"]", b"{", b"}", b",", b'"', b"\\", b" ", b"1", b"\xff", b"\xc3\xa9"])
    ).map(b"".join),
    st.sampled_from([b"", b"[", b"[{", b'["', b"{"]),
    cuts,
    st.integers(1, 12),
)
def test_any_bytes_in_any_chunks(body: bytes, start: bytes, places: list[int], limit: int) -> None:
    """Frames and fault, to the letter, do not depend on the chunks, also near the limit."""
    body = start + body
    make = partial(JSONArrayDecoder, max_frame=limit)
    expected = outcome(make(), [body])
    assert outcome(make(), split(body, places)) == expected
    assert outcome(make(), [body[i : i + 1] for i in range(len(body))]) == expected
