"""Base64, strict and as providers write it, and `data:` URLs."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait import inline_data


@given(st.binary(max_size=200))
def test_round_trip(data: bytes) -> None:
    """What is encoded is read back; it is the standard library's base64."""
    text = inline_data.encode(data)
    assert base64.b64encode(data).decode() == text
    assert data == inline_data.decode(text)
    assert text == inline_data.repair(text)
    assert inline_data.Inline(data, "a/b") == inline_data.read_data_url(f"data:a/b;base64,{text}")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("URL-safe alphabet", "_-8="),
        ("white space or line breaks", "QUJD\nQUJD"),
        ("is cut, or its padding is missing", "QUJDREU"),
        ("'%' at 2 is not in its alphabet", "QU%D"),
        ("`data:` URL", "data:image/png;base64,QUJD"),
        ("excess data after padding", "QQ==QQ=="),
        ("ascii", "é"),
    ],
    ids=["url-safe", "lines", "no padding", "strange", "data URL", "joined", "not ASCII"],
)
def test_refuses(reason: str, text: str) -> None:
    """Strict reading says what is wrong, in words that help."""
    with pytest.raises(ValueError, match="not base64: ") as caught:
        inline_data.decode(text)
    assert reason in str(caught.value).replace("'é' at 0 is not in its alphabet", "ascii")


@pytest.mark.parametrize(
    "text",
    ["QUJDREU=", "QUI=Q0RF", "QUJDREU", "QQ==Qg==Q0RF", "QUJD\nREU=", "QUJD REU"],
    ids=["whole", "each by itself", "not padded", "each padded", "lines", "space"],
)
def test_repair(text: str) -> None:
    """Sloppy base64 is written well."""
    assert "QUJDREU=" == inline_data.repair(text)


def test_repair_url_safe() -> None:
    """The URL-safe alphabet is put into the standard one."""
    assert "+/8=" == inline_data.repair("-_8")


@pytest.mark.parametrize(
    "text", ["%%%", "Q", "é", "=QQ="], ids=["strange", "one", "not ASCII", "padding first"]
)
def test_repair_gives_up(text: str) -> None:
    """What is no base64 at all is not made into some."""
    assert None is inline_data.repair(text)


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        ((b"ABC", "image/png"), "data:image/png;base64,QUJD"),
        ((b"ABC", "image/png"), "DATA:Image/PNG;charset=x;BASE64,QUJD"),
        ((b"AB", "image/png"), "data:image/png;base64,QUI%3D"),
        ((b"ABC", None), "data:;base64,QUJD"),
        ((b"a b,c", "text/plain"), "data:,a%20b,c"),
        ((b"<svg/>", "image/svg+xml"), "data:image/svg+xml;utf8,%3Csvg/%3E"),
    ],
    ids=["base64", "case and parameters", "escaped padding", "no type", "text", "svg"],
)
def test_data_url(expected: tuple[bytes, str | None], url: str) -> None:
    """RFC 2397: a type, parameters, and base64 or escaped bytes."""
    assert expected == inline_data.read_data_url(url)


@pytest.mark.parametrize(
    ("reason", "url"),
    [
        ("no comma", "data:image/png;base64"),
        ("not a media type", "data:png;base64,QUJD"),
        ("not base64: ", "data:image/png;base64,QU"),
        ("not ASCII", "data:text/plain,é"),
    ],
    ids=["no comma", "type", "base64", "not ASCII"],
)
def test_malformed_data_url(reason: str, url: str) -> None:
    """What is malformed is said."""
    with pytest.raises(ValueError, match="malformed `data:` URL: ") as caught:
        inline_data.read_data_url(url)
    assert reason in str(caught.value)
