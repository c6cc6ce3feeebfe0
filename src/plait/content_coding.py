"""Content codings of HTTP bodies undone, a bounded piece at a time.

`gzip` (RFC 1952, of several members as well) and `deflate` (RFC 1950, or the raw RFC 1951 that some servers
send) come with Python. `br` needs `brotli` or `brotlicffi` of version 1.2, the first that can bound what it
gives; `zstd` needs Python 3.14, `backports.zstd` or `zstandard`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from typing import Any, Protocol, TypeAlias

PIECE = 64 * 1024
"""At most about so many bytes are decoded at a time, so that a bomb is never held whole."""

_ZSTD_INPUT = 16
"""Bytes that `zstandard`, which cannot bound its output, takes at a time. A block has at least 4 bytes and
gives at most 128 KiB (RFC 8878, 3.1.1.2): these give half a megabyte."""

Pieces: TypeAlias = Generator[bytes, None, bytes]
"""What a decompressor makes of some bytes; it returns those behind its end."""


class UnsupportedCodingError(Exception):
    """A content coding that cannot be undone here. The message says which, and what it needs."""


class UnknownCodingError(UnsupportedCodingError):
    """A content coding that nobody knows: it may be none at all."""


class Decoder(Protocol):
    """Undoes one content coding of one body."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes give, in pieces.

        Raises:
            Exception: the bytes are not of this coding; the class is the package's own
        """


def decoders(header: str) -> list[Decoder]:
    """Fresh decoders for a `Content-Encoding`, in the order they are to be applied; none for `identity`.

    Raises:
        UnsupportedCodingError: one of the codings is unknown, or its package is missing
    """
    names = [name for part in header.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    return [_decoder(name) for name in reversed(names)]


def decode(undone: Sequence[Decoder], data: bytes) -> Iterable[bytes]:
    """`data` through all decoders, lazily: no piece is made before the one before it was taken."""
    pieces: Iterable[bytes] = (data,)
    for decoder in undone:
        pieces = chain.from_iterable(map(decoder.decode, pieces))
    return pieces


def _decoder(name: str) -> Decoder:
    make = _CODINGS.get(name)
    if make is None:
        raise UnknownCodingError(f"the content coding {name[:40]!r} is unknown")
    return make()


class _Members:
    """A body of one or more members (gzip) or frames (zstd), each with a decompressor of its own.

    What follows a member and does not begin another one is ignored, as padding is.
    """

    def __init__(self, make: Callable[[], Any], pieces: Callable[[Any, bytes], Pieces]) -> None:
        self._make = make
        self._pieces = pieces
        self._decompressor = make()
        self._begun = True

    def decode(self, data: bytes) -> Iterator[bytes]:
        while data and self._decompressor is not None:
            if self._decompressor.eof:
                self._decompressor = self._make()
                self._begun = False
            try:
                data = yield from self._member(data)
            except Exception:
                if self._begun:
                    raise
                self._decompressor = None

    def _member(self, data: bytes) -> Pieces:
        pieces = self._pieces(self._decompressor, data)
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                rest: bytes = end.value
                return rest
            self._begun = True
            yield piece


def _inflated(decompressor: Any, data: bytes) -> Pieces:
    while True:
        before = decompressor.copy()
        try:
            piece = decompressor.decompress(data, PIECE)
        except zlib.error:
            yield from _salvaged(before, data)
            raise
        data = decompressor.unconsumed_tail
        if piece:
            yield piece
        if decompressor.eof or (not data and len(piece) < PIECE):
            return bytes(decompressor.unused_data)


def _salvaged(decompressor: Any, data: bytes) -> Iterator[bytes]:
    """What comes before the fault in these bytes: the call that finds a fault gives nothing of it."""
    with suppress(zlib.error):
        for place in range(len(data)):
            piece = decompressor.decompress(data[place : place + 1])
            if piece:
                yield piece


class _Deflate:
    """`deflate`, with the header that it should have, or without."""

    def __init__(self) -> None:
        self._start = b""
        self._decompressor: Any = None

    def decode(self, data: bytes) -> Iterator[bytes]:
        if self._decompressor is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            # RFC 1950, 2.2: the method is 8, and the first two bytes are a multiple of 31.
            headed = data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._decompressor = zlib.decompressobj(zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)
        if not self._decompressor.eof:
            yield from _inflated(self._decompressor, data)


class _Brotli:
    def __init__(self, process: Callable[..., bytes]) -> None:
        self._process = process

    def decode(self, data: bytes) -> Iterator[bytes]:
        while piece := self._process(data, output_buffer_limit=PIECE):
            yield piece
            data = b""


def _gzip() -> Decoder:
    return _Members(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), _inflated)


def _brotli() -> Decoder:
    module = _installed("brotli", "brotlicffi")
    if module is not None:
        decompressor = module.Decompressor()
        process = getattr(decompressor, "process", None) or decompressor.decompress
        try:
            process(b"", output_buffer_limit=PIECE)
        except TypeError:  # an older version
            module = None
    if module is None:
        raise UnsupportedCodingError("the content coding 'br' needs the package brotli or brotlicffi >= 1.2")
    return _Brotli(process)


def _zstd() -> Decoder:
    module = _installed("compression.zstd", "backports.zstd")
    if module is not None:
        return _Members(module.ZstdDecompressor, _zstd_bounded)
    module = _installed("zstandard")
    if module is not None:
        return _Members(lambda: module.ZstdDecompressor().decompressobj(), _zstd_sliced)
    raise UnsupportedCodingError("the content coding 'zstd' needs the package backports.zstd or zstandard")


def _zstd_bounded(decompressor: Any, data: bytes) -> Pieces:
    while True:
        piece = decompressor.decompress(data, PIECE)
        data = b""
        if piece:
            yield piece
        if decompressor.eof or decompressor.needs_input:
            return bytes(decompressor.unused_data)


def _zstd_sliced(decompressor: Any, data: bytes) -> Pieces:
    for end in range(_ZSTD_INPUT, len(data) + _ZSTD_INPUT, _ZSTD_INPUT):
        piece = decompressor.decompress(data[end - _ZSTD_INPUT : end])
        if piece:
            yield piece
        if decompressor.eof:
            return bytes(decompressor.unused_data) + data[end:]
    return b""


def _installed(*names: str) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


_CODINGS: Mapping[str, Callable[[], Decoder]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,  # RFC 9110, 8.4.1.3
    "deflate": _Deflate,
    "br": _brotli,
    "zstd": _zstd,
}
"""How each content coding is undone: those that httpx asks for."""
