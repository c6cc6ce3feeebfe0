"""Content codings undone: what comes before a fault is never lost. More is in the guard's tests."""

from __future__ import annotations

import zlib

import pytest

from plait.content_coding import PIECE, UnknownCodingError, UnsupportedCodingError, decode, decoders

TEXT = b"".join(b"line %d of some text\n" % number for number in range(5000))


def _flushed(data: bytes, wbits: int) -> bytes:
    packer = zlib.compressobj(wbits=wbits)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(("coding", "wbits"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
@pytest.mark.parametrize("size", [1, 7, 100_000], ids=lambda size: f"{size} bytes at a time")
def test_what_comes_before_a_fault_is_given(coding: str, wbits: int, size: int) -> None:
    """Garbage behind good bytes raises after all that the good ones say, however they are cut."""
    body = _flushed(TEXT, wbits) + b"\xff" * 20
    undone = decoders(coding)
    found = bytearray()

    def read() -> None:
        for start in range(0, len(body), size):
            for piece in decode(undone, body[start : start + size]):
                assert len(piece) <= PIECE
                found.extend(piece)

    with pytest.raises(zlib.error):
        read()
    assert TEXT == found


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "X-GZIP", " gzip , identity", "identity,x-gzip"])
def test_names_of_gzip(name: str) -> None:
    """In any case, with its old name (RFC 9110, 8.4.1.3), and beside codings that are none."""
    assert TEXT == b"".join(decode(decoders(name), _flushed(TEXT, 31)))


@pytest.mark.parametrize("name", ["utf-8", "none", "snappy", "gzip, utf-8"])
def test_what_may_be_no_coding_at_all(name: str) -> None:
    """A name that nobody knows has an error of its own: whoever reads the body may take it as plain."""
    with pytest.raises(UnknownCodingError):
        decoders(name)


def test_an_unknown_coding_is_refused() -> None:
    """The error names it."""
    with pytest.raises(UnsupportedCodingError, match="'snappy' is unknown"):
        decoders("gzip, snappy")


def test_identity_is_nothing() -> None:
    """A body without a coding has no decoders."""
    assert [] == decoders("") == decoders("identity")
