"""What all decoders share: how a fault is reported, how a body ends, how much is buffered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeAlias, TypeVar

from plait.errors import ProtocolError

FrameT = TypeVar("FrameT")

BytesLike: TypeAlias = bytes | bytearray | memoryview

#: 64 MiB. One frame may hold a generated image in base64 (a 4K PNG is about 30 MB so encoded), and a
#: body that never ends its frame must not fill the memory. Bedrock's own limit is 24 MiB.
MAX_FRAME = 64 * 1024 * 1024

BOM = b"\xef\xbb\xbf"


class Decoder(ABC, Generic[FrameT]):
    """Bytes in, frames out, no I/O. The same bytes give the same frames, however they were cut.

    A fault in the bytes never swallows the frames before it. When `feed` has frames to return it returns
    them, `error` is set at once, and the next `feed` or `close` raises it. When it has none it raises. From
    then on every `feed` ignores its bytes and raises the same error, and so does `close`.

    Attributes:
        error: the fault as soon as it is known, else None
    """

    __slots__ = (
        "_ended", "_max", "error",
    )  # fmt: skip

    def __init__(self, *, max_frame: int = MAX_FRAME) -> None:
        """Start at byte 0 of a body.

        Args:
            max_frame: the most bytes one frame may have; a longer one is a `ProtocolError`, found before
                the rest of it is buffered. 64 MiB, because one frame may hold a base64 image.

        Raises:
            ValueError: `max_frame` is less than 1
        """
        if max_frame < 1:
            raise ValueError(f"max_frame must be at least 1 byte, got {max_frame}")
        self.error: ProtocolError | None = None
        self._max = max_frame
        self._ended = False

    def feed(self, data: BytesLike) -> list[FrameT]:
        """The frames that `data`, the next bytes of the body, completes.

        Raises:
            ProtocolError: a fault with no frames before it, or the fault of an earlier call
            TypeError: `data` is text, or anything else that is not bytes
            ValueError: the decoder was closed
        """
        if type(data) is not bytes:
            data = _to_bytes(data)
        if self.error is not None:
            raise self.error.with_traceback(None)
        if self._ended:
            raise ValueError("feed() after close(): use one decoder for each body")
        frames = self._read(data) if data else []
        if self.error is not None and not frames:
            raise self.error
        return frames

    def close(self) -> list[FrameT]:
        """The frames that the end of the body completes. Once closed, `close` again returns nothing.

        Raises:
            ProtocolError: the fault of an earlier call, or one that only the end of the body makes certain
        """
        if self.error is None and not self._ended:
            self._ended = True
            frames = self._end()
            if self.error is None:
                return frames
        if self.error is not None:
            raise self.error.with_traceback(None)
        return []

    @abstractmethod
    def _read(self, data: bytes) -> list[FrameT]:
        """Take `data`, which is not empty. A fault is reported by `_fail`, after which nothing is read."""

    @abstractmethod
    def _end(self) -> list[FrameT]:
        """Take the end of the body: return the last frames, or report a fault and return none."""

    def _fail(self, message: str) -> None:
        self.error = ProtocolError(message)

    def _fail_too_long(self, what: str, start: int) -> None:
        self._fail(f"{what} at byte {start:,} is longer than max_frame, {self._max:,} bytes")

    def _fail_not_utf8(self, what: str, start: int, fault: UnicodeDecodeError) -> None:
        value = fault.object[fault.start]
        self._fail(
            f"{what} at byte {start:,} is not UTF-8: byte 0x{value:02x} at byte {start + fault.start:,}"
        )


def _to_bytes(data: object) -> bytes:
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    hint = ": pass the body's bytes as they came, not decoded" if isinstance(data, str) else ""
    raise TypeError(f"feed() takes bytes, got {type(data).__name__}{hint}")
