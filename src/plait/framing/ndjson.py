"""Newline-delimited JSON: one JSON document on each line, as Ollama streams.

Source: https://github.com/ndjson/ndjson-spec. Lines end in LF only: U+2028 and U+0085 may stand unescaped
inside a JSON string.
"""

from __future__ import annotations

from plait.framing._decoder import MAX_FRAME, Decoder

_WHITESPACE = " \t\r"


class NDJSONDecoder(Decoder[str]):
    """Bytes of an NDJSON body to the text of each line, not decoded as JSON.

    Blank lines are dropped, as are a BOM at the start and whitespace around a document (the CR of a CR LF
    too). A line that is not UTF-8 is a fault at its byte. Whether a line is JSON is for its reader to say.
    """

    def __init__(self, *, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            max_frame: the most bytes one line may have, without its LF. 64 MiB, because one line may hold
                a base64 image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        super().__init__(max_frame=max_frame)
        self._pending = bytearray()  # the bytes of a line without its LF
        self._offset = 0  # where `_pending` starts in the body

    def close(self) -> list[str]:
        """The last line when it has no LF, whole or not; nothing when it ends inside a character.

        Raises:
            ProtocolError: the fault of an earlier call
        """
        return super().close()

    def _read(self, data: bytes) -> list[str]:
        frames: list[str] = []
        end = data.rfind(b"\n") + 1
        if end:
            lines = b"".join((self._pending, data[:end])) if self._pending else data[:end]
            self._pending = bytearray(data[end:])
            frames = self._read_lines(lines)
            self._offset += len(lines)
        else:
            self._pending += data
        if self.error is None and len(self._pending) > self._max:
            self._fail_too_long("NDJSON: line", self._offset)
        if self.error is not None:
            self._pending = bytearray()
        return frames

    def _end(self) -> list[str]:
        try:
            text = self._pending.decode()
        except UnicodeDecodeError:
            return []
        finally:
            self._pending = bytearray()
        return self._documents(text, self._offset)

    def _read_lines(self, data: bytes) -> list[str]:
        if len(data) <= self._max:
            try:
                return self._documents(data.decode(), self._offset)
            except UnicodeDecodeError:
                pass
        # Somewhere in here is a fault, or too many lines to rule out an overlong one: line by line.
        frames: list[str] = []
        start = 0
        while start < len(data):
            end = data.index(b"\n", start)
            if end - start > self._max:
                self._fail_too_long("NDJSON: line", self._offset + start)
                break
            try:
                text = data[start:end].decode()
            except UnicodeDecodeError as fault:
                self._fail_not_utf8("NDJSON: line", self._offset + start, fault)
                break
            frames += self._documents(text, self._offset + start)
            start = end + 1
        return frames

    def _documents(self, text: str, offset: int) -> list[str]:
        if offset == 0:
            text = text.removeprefix("\ufeff")
        return [document for line in text.split("\n") if (document := line.strip(_WHITESPACE))]
