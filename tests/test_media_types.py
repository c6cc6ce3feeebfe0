"""Media types: by name, by content, and by both."""

from __future__ import annotations

import pytest

from plait import media_types

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 24


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        ("application/pdf", "report.pdf"),
        ("image/jpeg", "PHOTO.JPG"),
        ("text/markdown", "notes.v2.md"),
        ("image/png", "https://a.example/x/y.png"),
        (None, "https://a.example/"),
        (None, "README"),
        (None, "a.pdf/b"),
        (None, "odd.ending"),
        (None, ""),
    ],
)
def test_by_name(expected: str | None, name: str) -> None:
    """The ending of the last part of the name decides, in either case; what is not listed is not guessed."""
    assert expected == media_types.by_name(name)


@pytest.mark.parametrize(
    ("expected", "start"),
    [
        ("image/png", PNG),
        ("image/jpeg", b"\xff\xd8\xff\xe0"),
        ("image/gif", b"GIF89a"),
        ("image/webp", b"RIFF\0\0\0\0WEBP"),
        ("image/tiff", b"II*\0"),
        ("image/bmp", b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"),
        ("image/heic", b"\0\0\0\x18ftypheic"),
        ("application/pdf", b"%PDF-1.7"),
        ("audio/mpeg", b"ID3\x04"),
        ("audio/ogg", b"OggS"),
        ("audio/flac", b"fLaC"),
        ("audio/wav", b"RIFF\0\0\0\0WAVE"),
        ("video/mp4", b"\0\0\0\x18ftypisom"),
        ("audio/mp4", b"\0\0\0\x18ftypM4A "),
        (None, b"RIFF\0\0\0\0ODD "),
        (None, b"BM is how this text begins"),
        (None, b"\0\1\0\1"),
        (None, b""),
    ],
)
def test_by_content(expected: str | None, start: bytes) -> None:
    """A file's first bytes show what it is; raw samples and text show nothing."""
    assert expected == media_types.by_content(start)


@pytest.mark.parametrize(
    ("expected", "name", "data"),
    [
        ("application/pdf", "a.pdf", b"not really"),
        ("image/png", "a.jpg", PNG),
        ("text/plain", "a.txt", PNG),
        ("image/png", "a", PNG),
        ("text/plain", "Makefile", "héllo".encode()),
        (None, "a.bin", b"\xff\xfe\0\1"),
        (None, "a.bin", b"a\0b"),
        (None, "a", b""),
    ],
    ids=["name", "another image", "name of no image", "content", "text", "binary", "nul", "empty"],
)
def test_of_file(expected: str | None, name: str, data: bytes) -> None:
    """The name decides, but not which kind of image the bytes are; then content; then whether it is text."""
    assert expected == media_types.of_file(name, data)
