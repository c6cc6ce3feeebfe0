"""Images and files: from a path, bytes, base64 and URLs; media types, digests and bounds."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait import InvalidDataError
from plait.messages import DataSource, FilePart, ImagePart, UrlSource, UserMessage, parse_message

PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
PNG64 = base64.b64encode(PNG).decode()
PDF = b"%PDF-1.7 short"
PDF64 = base64.b64encode(PDF).decode()


class TestImagePart:
    def test_from_path(self, tmp_path: Path) -> None:
        """The bytes, and the media type by name."""
        path = tmp_path / "a.png"
        path.write_bytes(PNG)
        expected = ImagePart(image=DataSource(PNG64, media_type="image/png"), detail="low")
        assert expected == ImagePart.from_path(path, detail="low")
        assert expected == ImagePart.from_path(str(path), detail="low")
        assert PNG == DataSource(PNG64).to_bytes()

    @pytest.mark.parametrize(
        ("expected", "name", "data"),
        [
            ("image/svg+xml", "a.svg", b"<svg/>"),
            ("image/png", "a.jpg", PNG),
            ("image/png", "noname", PNG),
        ],
        ids=["name", "bytes show another", "bytes"],
    )
    def test_media_type(self, expected: str, name: str, data: bytes, tmp_path: Path) -> None:
        """By name, unless the bytes show another kind of image: providers refuse a wrong type."""
        (tmp_path / name).write_bytes(data)
        image = ImagePart.from_path(tmp_path / name).image
        assert isinstance(image, DataSource)
        assert expected == image.media_type

    @pytest.mark.parametrize(
        ("reason", "name", "data"),
        [
            ("a.pdf: not an image (application/pdf)", "a.pdf", PDF),
            ("a: not an image (neither its name nor its bytes say what it is)", "a", b"\0\1"),
            ("a.png: the file is empty", "a.png", b""),
            ("a.png: the file has more than 32 bytes (`max_bytes`)", "a.png", PNG + b"\0"),
        ],
        ids=["pdf", "unknown", "empty", "large"],
    )
    def test_refuses_files(self, reason: str, name: str, data: bytes, tmp_path: Path) -> None:
        """What is no image, empty or too large is refused by name, not by the provider."""
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InvalidDataError) as caught:
            ImagePart.from_path(tmp_path / name, max_bytes=32)
        assert str(caught.value).startswith(reason)

    def test_no_file(self, tmp_path: Path) -> None:
        """A file that is not there is the operating system's error."""
        with pytest.raises(FileNotFoundError):
            ImagePart.from_path(tmp_path / "none.png")

    def test_from_data(self) -> None:
        """Bytes, base64 and a `data:` URL give the same part; the bytes say what it is."""
        expected = ImagePart(image=DataSource(PNG64, media_type="image/png"))
        assert expected == ImagePart.from_bytes(PNG)
        assert expected == ImagePart.from_base64(PNG64)
        assert expected == ImagePart.from_url(f"data:image/png;base64,{PNG64}")
        assert expected == ImagePart.from_url(f"data:;base64,{PNG64}")
        assert expected == ImagePart(image=UrlSource(f"data:image/png;base64,{PNG64}"))
        assert expected == ImagePart(image=DataSource(PNG64))
        stored = {"type": "image", "image": {"type": "url", "url": f"data:image/png;base64,{PNG64}"}}
        assert [expected] == parse_message({"role": "user", "content": [stored]}).content

    def test_bytes_that_show_nothing(self) -> None:
        """Then the media type has to be given."""
        with pytest.raises(InvalidDataError, match="media_type: the bytes show no kind of image; give it"):
            ImagePart.from_bytes(b"abc")
        image = ImagePart.from_bytes(b"abc", media_type="image/x-odd").image
        assert DataSource("YWJj", media_type="image/x-odd") == image

    @pytest.mark.parametrize("url", ["", "a.png", "/etc/passwd", "https:", "https://a b"])
    def test_no_url(self, url: str) -> None:
        """What is no absolute URL is refused."""
        with pytest.raises(InvalidDataError, match=r"^url: .* is not an absolute URL$"):
            ImagePart.from_url(url)

    def test_urls_of_providers(self) -> None:
        """Any scheme may stand in a part; it is the provider's to fetch."""
        assert UrlSource("gs://bucket/a.png") == ImagePart.from_url("gs://bucket/a.png").image


class TestFilePart:
    def test_from_path(self, tmp_path: Path) -> None:
        """Content, name, media type, and the digest when it is given."""
        path = tmp_path / "report.pdf"
        path.write_bytes(PDF)
        digest = hashlib.sha256(PDF).hexdigest()
        expected = {
            "type": "file",
            "data": {"type": "data", "data": PDF64},
            "filename": "report.pdf",
            "media_type": "application/pdf",
            "sha256": digest,
        }
        assert expected == FilePart.from_path(path, sha256=digest.upper()).to_dict()
        assert "text/x-odd" == FilePart.from_path(path, media_type="text/x-odd").media_type

    def test_bytes_of_no_known_kind(self) -> None:
        """They are just bytes."""
        assert "application/octet-stream" == FilePart.from_bytes(b"\0\xff").media_type
        assert "text/plain" == FilePart.from_bytes(b"abc").media_type

    @pytest.mark.parametrize(
        ("expected", "url"),
        [
            ("application/pdf", "https://a.example/report.pdf?sig=a.png#p.txt"),
            (None, "https://a.example/download"),
            ("text/csv", "data:text/csv,a%2Cb"),
        ],
        ids=["path", "none", "data"],
    )
    def test_from_url(self, expected: str | None, url: str) -> None:
        """The media type is that of the URL's path, or the `data:` URL's own."""
        assert expected == FilePart.from_url(url).media_type

    def test_stored_without_a_type(self) -> None:
        """A stored file without a media type gets that of its name, or of its bytes."""
        data = {"type": "data", "data": PDF64}
        named = FilePart.model_validate({"data": data, "filename": "a.csv"})
        assert "text/csv" == named.media_type
        assert "application/pdf" == FilePart.model_validate({"data": data}).media_type
        assert None is FilePart.model_validate({"data": {"type": "url", "url": "file-1"}}).media_type

    @pytest.mark.parametrize(
        ("reason", "digest"),
        [
            ("sha256: the content has another digest: " + hashlib.sha256(PDF).hexdigest(), "0" * 64),
            ("sha256: a SHA-256 digest is 64 hexadecimal digits", "abc"),
        ],
        ids=["another", "malformed"],
    )
    def test_digest(self, reason: str, digest: str) -> None:
        """A digest that is given is checked, wherever the part comes from."""
        makers: list[Callable[[], Any]] = [
            lambda: FilePart.from_bytes(PDF, sha256=digest),
            lambda: FilePart.from_base64(PDF64, sha256=digest),
            lambda: FilePart(data=DataSource(PDF64), sha256=digest),
            lambda: FilePart.from_url(f"data:;base64,{PDF64}", sha256=digest),
        ]
        for make in makers:
            with pytest.raises(InvalidDataError) as caught:
                make()
            assert reason == str(caught.value)

    def test_path_of_a_fault(self) -> None:
        """In a message the path leads to the part."""
        part = {"type": "file", "data": {"type": "data", "data": "????"}}
        with pytest.raises(InvalidDataError) as caught:
            parse_message({"role": "user", "content": [part]})
        assert "content[0].data.data: not base64: '?' at 0 is not in its alphabet" == str(caught.value)


def test_in_a_message(tmp_path: Path) -> None:
    """The example of the docs: words and an image from a file."""
    (tmp_path / "a.png").write_bytes(PNG)
    message = UserMessage(["Explain:", ImagePart.from_path(tmp_path / "a.png")])
    assert ["text", "image"] == [part.type for part in message.content]
