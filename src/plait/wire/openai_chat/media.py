"""Sound and images in an answer -> moves."""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from collections import Counter

from plait import media_types
from plait.wire.assembler import Assembler
from plait.wire.openai_chat import wire

_DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,", re.IGNORECASE)
_SEGMENT = re.compile("[^=]+=*")


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
        shown = media_types.by_content(sound[:32]) or ""
        type_ = shown if shown.startswith("audio/") else "audio/pcm"
        assembler.file(type_, data=base64.b64encode(sound).decode())


def image(assembler: Assembler, url: str) -> None:
    """An image, given as a `data:` or other URL."""
    inline = _DATA_URL.match(url)
    if inline is None:
        guessed = media_types.by_name(url.partition("?")[0])
        assembler.file(guessed if guessed and media_types.is_image(guessed) else "image/*", url=url)
        return
    data = url[inline.end() :]
    try:
        start = base64.b64decode(data[:32])
    except ValueError:  # not base64, or not even ASCII
        start = b""
    assembler.file(inline[1].strip() or media_types.by_content(start) or "image/*", data=data)
