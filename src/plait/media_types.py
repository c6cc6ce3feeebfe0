"""Media types by a file's name and by its first bytes: the one place for both rules.

The tables are ours, not the operating system's, so that a file has the same type on every machine.
Sources: https://www.iana.org/assignments/media-types, https://mimesniff.spec.whatwg.org and the formats' own
specifications (2025-11).
"""

from __future__ import annotations

import re

_NAMES = {
    "aac": "audio/aac",
    "aif": "audio/aiff",
    "aiff": "audio/aiff",
    "avi": "video/x-msvideo",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "css": "text/css",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "flac": "audio/flac",
    "flv": "video/x-flv",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/vnd.microsoft.icon",
    "ipynb": "application/x-ipynb+json",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "m4a": "audio/mp4",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mpg": "video/mpeg",
    "odt": "application/vnd.oasis.opendocument.text",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python",
    "rtf": "application/rtf",
    "svg": "image/svg+xml",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "wmv": "video/x-ms-wmv",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)

_CONTAINERS: tuple[tuple[bytes, int, dict[bytes, str]], ...] = (
    (b"RIFF", 8, {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}),
    (b"FORM", 8, {b"AIFF": "audio/aiff", b"AIFC": "audio/aiff"}),
)
"""A mark at the start, and where the four bytes that say the kind stand."""

_BRANDS = {
    b"avif": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
}
"""ISO base media files (ISO/IEC 14496-12): `ftyp` at 4, the brand at 8; any other brand is a film."""

_BMP = re.compile(rb"BM.{4}\0{4}.{4}[\x0c\x28\x6c\x7c]\0\0\0", re.DOTALL)


def by_name(name: str) -> str | None:
    """The media type that the ending of a file's name, or of a URL's path, says; None when it says none."""
    ending = name.rpartition("/")[2].rpartition(".")
    return _NAMES.get(ending[2].lower()) if ending[1] else None


def by_content(start: bytes) -> str | None:
    """The media type that a file's first bytes (32 are enough) show; None when they show none."""
    for mark, at, kinds in _CONTAINERS:
        if start.startswith(mark):
            return kinds.get(start[at : at + 4])
    if start[4:8] == b"ftyp":
        return _BRANDS.get(start[8:12], "video/mp4")
    if _BMP.match(start):
        return "image/bmp"
    return next((type_ for mark, type_ in _SIGNATURES if start.startswith(mark)), None)


def of_file(name: str, data: bytes) -> str | None:
    """The media type of a whole file: by its name, else by its content, else text if it is UTF-8.

    An image whose bytes are another kind of image than its name says is what its bytes are: providers look.
    """
    named, shown = by_name(name), by_content(data[:32])
    if named and not (is_image(named) and is_image(shown)):
        return named
    if shown:
        return shown
    try:
        return "text/plain" if data and b"\0" not in data and data.decode("utf-8") else None
    except UnicodeDecodeError:
        return None


def is_image(media_type: str | None) -> bool:
    """Whether this is a type of images."""
    return media_type is not None and media_type.startswith("image/")
