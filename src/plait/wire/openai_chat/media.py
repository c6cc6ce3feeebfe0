"""Sound and images in an answer -> moves."""

from __future__ import annotations

import base64
import re
from collections import Counter

from plait import inline_data, media_types
from plait.wire.assembler import Assembler
from plait.wire.openai_chat import wire

_DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,", re.IGNORECASE)


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
        data = inline_data.repair("".join(self._pieces))
        if data is None:
            unknown["audio:not base64"] += 1
            return
        shown = media_types.by_content(inline_data.decode(data[:64])) or ""
        assembler.file(shown if shown.startswith("audio/") else "audio/pcm", data=data)


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
