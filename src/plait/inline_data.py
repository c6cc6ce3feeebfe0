"""Bytes inside JSON: base64 (RFC 4648, section 4) and `data:` URLs (RFC 2397)."""

from __future__ import annotations

import binascii
import re
from typing import NamedTuple

MAX_BYTES = 50 * 2**20
"""The most bytes that are read from a file or URL unless the caller says otherwise: 50 MiB. The largest file
that a provider takes inside a request is 50 MB (OpenAI's PDF input, 2025-11)."""

_SEGMENT = re.compile("[^=]+=*")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_DATA_URL = re.compile(r"data:([^,;]*)((?:;[^,]*)?),(.*)", re.IGNORECASE | re.DOTALL)
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")


class Inline(NamedTuple):
    """What a `data:` URL holds; `media_type` is None where it names none."""

    data: bytes
    media_type: str | None


def encode(data: bytes) -> str:
    """The base64 of these bytes."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode(text: str) -> bytes:
    """The bytes of base64 text, read strictly: the standard alphabet, padded, and nothing else.

    Raises:
        ValueError: not base64; the message says why
    """
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:
        raise ValueError(f"not base64: {_reason(text, error)}") from None


def _reason(text: str, error: ValueError) -> str:
    if re.search(r"\s", text):
        return "it holds white space or line breaks"
    if text.startswith("data:"):
        return "it is a `data:` URL; give that as a URL"
    if re.fullmatch(r"[\w-]*={0,2}", text, re.ASCII) and re.search(r"[-_]", text):
        return "it is in the URL-safe alphabet (`-` and `_`), not the standard one (`+` and `/`)"
    if len(text) % 4 and re.fullmatch(r"[A-Za-z0-9+/]*", text):
        return f"its length, {len(text):,}, is not a multiple of four: it is cut, or its padding is missing"
    strange = re.search(r"[^A-Za-z0-9+/=]", text)
    if strange:
        return f"{strange[0]!r} at {strange.start():,} is not in its alphabet"
    return str(error).lower()


def repair(text: str) -> str | None:
    """The same bytes as well-formed base64; None when `text` is no kind of base64.

    Providers write what `decode` refuses: line breaks, the URL-safe alphabet, no padding, and pieces that
    were encoded each for itself.
    """
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        plain = re.sub(r"\s+", "", text).translate({ord("-"): "+", ord("_"): "/"})
        if plain.startswith("="):
            return None
        try:
            segments = [segment.rstrip("=") for segment in _SEGMENT.findall(plain)]
            pieces = [decode(segment + "=" * (-len(segment) % 4)) for segment in segments]
        except ValueError:
            return None
        return encode(b"".join(pieces))
    return text


def is_data_url(url: str) -> bool:
    """Whether the URL holds its content itself."""
    return url[:5].lower() == "data:"


def read_data_url(url: str) -> Inline:
    """What a `data:` URL holds.

    Raises:
        ValueError: malformed; the message says why
    """
    found = _DATA_URL.fullmatch(url)
    if found is None:
        raise ValueError("malformed `data:` URL: there is no comma before its data")
    media_type, parameters, text = found[1].strip().lower(), found[2], found[3]
    if media_type and not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"malformed `data:` URL: {media_type[:80]!r} is not a media type")
    if not text.isascii():
        raise ValueError("malformed `data:` URL: its data is not ASCII")
    raw = _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), text.encode("ascii"))
    if parameters.rpartition(";")[2].strip().lower() != "base64":
        return Inline(raw, media_type or "text/plain")
    try:
        return Inline(decode(raw.decode("latin-1")), media_type or None)
    except ValueError as error:
        raise ValueError(f"malformed `data:` URL: {error}") from None
