"""Sound and images in an answer -> moves."""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from collections import Counter
from mimetypes import guess_type

from plait.wire.assembler import Assembler
from plait.wire.openai_chat import wire

_DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,", re.IGNORECASE)
_SEGMENT = re.compile("[^=]+=*")

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_RIFF_TYPES = {b"WAVE": "audio/wav", b"WEBP": "image/webp"}


def media_type(start: bytes, default: str) -> str:
    """The media type that a file's first bytes show.

    Source: the formats' own specifications, as listed in https://www.iana.org/assignments/media-types.
    """
    if start[:4] == b"RIFF":
        return _RIFF_TYPES.get(start[8:12], default)
    return next((type_ for signature, type_ in _SIGNATURES if start.startswith(signature)), default)


def join_base64(pieces: list[str]) -> bytes:
    """The bytes of base64 text that was cut anywhere, or of pieces that were encoded each for itself.

    Raises:
        ValueError: not base64
    """
    text = re.sub(r"\s+", "", "".join(pieces))
    try:
        return b"".join(
            base64.b64decode(segment.rstrip("=") + "=" * (-len(segment.rstrip("=")) % 4), validate=True)
            for segment in _SEGMENT.findall(text)
        )
    except NotBase64 as error:
        raise ValueError(f"not base64: {error}") from None


class Sound:
    """The spoken answer of one choice, in pieces."""

    def __init__(self) -> None:
        self.id: str | None = None
        self._pieces: list[str] = []

    @property
    def seen(self) -> bool:
        """Whether any sound has come."""
        return bool(self._pieces)

    def read(self, audio: wire.Audio) -> None:
        """A piece of `audio`, without its transcript."""
        self.id = audio.id or self.id
        if audio.data:
            self._pieces.append(audio.data)

    def end(self, assembler: Assembler, unknown: Counter[str]) -> None:
        """The sound is whole. Raw samples have no mark of their own: what shows none is `audio/pcm`."""
        if not self._pieces:
            return
        try:
            sound = join_base64(self._pieces)
        except ValueError:
            unknown["audio:not base64"] += 1
            return
        assembler.file(media_type(sound, "audio/pcm"), data=base64.b64encode(sound).decode())


def image(assembler: Assembler, url: str) -> None:
    """An image, given as a `data:` or other URL."""
    inline = _DATA_URL.match(url)
    if inline is None:
        guessed = guess_type(url.partition("?")[0])[0] or ""
        assembler.file(guessed if guessed.startswith("image/") else "image/*", url=url)
        return
    data = url[inline.end() :]
    try:
        start = base64.b64decode(data[:32])
    except ValueError:  # not base64, or not even ASCII
        start = b""
    assembler.file(inline[1].strip() or media_type(start, "image/*"), data=data)
