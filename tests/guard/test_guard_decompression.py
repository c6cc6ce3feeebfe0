"""The parser sees through content codings; the client gets the bytes as they were sent."""

from __future__ import annotations

import gzip
import logging
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import brotli  # type: ignore[import-untyped]
import httpx2
import pytest
import zstandard
from guarded_bodies import CHAT, url
from guarded_clients import GET, LIBRARY, Get, Inner, get

from plait.content_coding import PIECE, UnsupportedCodingError, decode, decoders
from plait.errors import IncompleteStreamError
from plait.guard import GuardTransport
from plait.wire.parser import Parser

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

Compress = Callable[[Sequence[bytes]], list[bytes]]


def _flushed(make: Callable[[], Any], flush: int) -> Compress:
    """Compresses frame by frame, flushing after each, as a server of a stream does."""

    def compress(frames: Sequence[bytes]) -> list[bytes]:
        compressor = make()
        chunks = [compressor.compress(frame) + compressor.flush(flush) for frame in frames]
        return [*chunks, compressor.flush()]

    return compress


def _brotli(frames: Sequence[bytes]) -> list[bytes]:
    compressor = brotli.Compressor()
    return [*(compressor.process(frame) + compressor.flush() for frame in frames), compressor.finish()]


def _zstd(frames: Sequence[bytes]) -> list[bytes]:
    compressor = zstd.ZstdCompressor()
    chunks = [compressor.compress(frame, zstd.ZstdCompressor.FLUSH_BLOCK) for frame in frames]
    return [*chunks, compressor.flush()]


def _each(compress: Callable[[bytes], bytes]) -> Compress:
    """A member of its own for each frame."""
    return lambda frames: [compress(frame) for frame in frames]


def _gzip_deflate(frames: Sequence[bytes]) -> list[bytes]:
    return [gzip.compress(zlib.compress(b"".join(frames)))]


_GZIP = _flushed(lambda: zlib.compressobj(wbits=31), zlib.Z_SYNC_FLUSH)
CODINGS: dict[str, tuple[str, Compress]] = {
    "gzip": ("gzip", _GZIP),
    "gzip, written otherwise": (" GZip ", _GZIP),
    "gzip of several members": ("gzip", _each(gzip.compress)),
    "gzip with padding": ("gzip", lambda frames: [*_GZIP(frames), b"\0" * 512]),
    "deflate": ("deflate", _flushed(lambda: zlib.compressobj(wbits=15), zlib.Z_SYNC_FLUSH)),
    "raw deflate": ("deflate", _flushed(lambda: zlib.compressobj(wbits=-15), zlib.Z_SYNC_FLUSH)),
    "br": ("br", _brotli),
    "zstd": ("zstd", _zstd),
    "zstd of several frames": ("zstd", _each(zstd.compress)),
    "two codings": ("deflate, gzip", _gzip_deflate),
    "identity": ("identity", list),
}
CODING = pytest.mark.parametrize(
    ("header", "compress"), [pytest.param(*coding, id=name) for name, coding in CODINGS.items()]
)


def coded(library: Any, header: str, chunks: Sequence[bytes]) -> Inner:
    return Inner(library, chunks, {"content-type": "text/event-stream", "content-encoding": header})


def undone(header: str, chunks: Iterable[bytes]) -> bytes:
    found = decoders(header)
    return b"".join(piece for chunk in chunks for piece in decode(found, chunk))


@LIBRARY
@GET
@CODING
def test_raw_bytes_pass(library: Any, get_body: Get, header: str, compress: Compress) -> None:
    """A complete stream arrives in the bytes and chunks that were sent, and ends."""
    chunks = compress(CHAT.frames)
    outcome = get_body(coded(library, header, chunks), url(CHAT))
    assert outcome.error is None
    assert chunks == outcome.chunks


@LIBRARY
@GET
@CODING
def test_cut_stream_raises(library: Any, get_body: Get, header: str, compress: Compress) -> None:
    """An answer that was cut before it was compressed raises; `bytes_read` counts what it says decoded."""
    chunks = compress(CHAT.frames[: CHAT.cut])
    outcome = get_body(coded(library, header, chunks), url(CHAT))
    assert chunks == outcome.chunks
    assert len(CHAT.half) == outcome.incomplete.bytes_read


@LIBRARY
@pytest.mark.parametrize("name", ["gzip", "deflate", "raw deflate", "br", "zstd"])
def test_compressed_bytes_that_are_cut(library: Any, name: str) -> None:
    """So does one whose compressed bytes were cut; what came of it is in the partial message."""
    header, compress = CODINGS[name]
    chunks = compress(CHAT.frames)[:2]
    error = get(coded(library, header, chunks), url(CHAT)).incomplete
    assert error.partial_message is not None
    assert "Half of it" == error.partial_message.text


@LIBRARY
def test_client_decodes_as_before(library: Any) -> None:
    """A client that reads decoded bytes gets them, and then the error."""
    header, compress = CODINGS["gzip"]
    transport: Any = GuardTransport(coded(library, header, compress(CHAT.frames[:2])))  # type: ignore[arg-type]
    with library.Client(transport=transport) as client, client.stream("POST", url(CHAT)) as response:
        chunks = response.iter_bytes()
        assert CHAT.half == next(chunks) + next(chunks)
        with pytest.raises(IncompleteStreamError):
            next(chunks)


@CODING
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_any_chunking(header: str, compress: Compress, size: int) -> None:
    """However the compressed bytes are cut, they decode to the same."""
    body = b"".join(compress(CHAT.frames))
    assert CHAT.whole == undone(header, [body[at : at + size] for at in range(0, len(body), size)])


@CODING
def test_long_body(header: str, compress: Compress) -> None:
    """A body longer than a piece, of bytes that hardly compress and of such that do, decodes whole."""
    noise = random.Random(1).randbytes(3 * PIECE + 5)
    body = noise + b"a" * (5 * PIECE + 1) + noise
    assert body == undone(header, compress([body]))


@pytest.mark.parametrize("chunking", [1, 5, 10_000])
def test_zstandard_package(monkeypatch: pytest.MonkeyPatch, chunking: int) -> None:
    """`zstandard`, which httpx asks for, does as well as `backports.zstd`, also with several frames."""
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    body = b"".join(map(zstandard.compress, CHAT.frames))
    assert CHAT.whole == undone("zstd", [body[at : at + chunking] for at in range(0, len(body), chunking)])


@pytest.mark.parametrize(
    ("header", "bomb"),
    [
        pytest.param("gzip", gzip.compress(bytes(100_000_000)), id="gzip"),
        pytest.param("deflate", zlib.compress(bytes(100_000_000)), id="deflate"),
        pytest.param("br", brotli.compress(bytes(100_000_000)), id="br"),
        pytest.param("zstd", zstd.compress(bytes(100_000_000)), id="zstd"),
        pytest.param("gzip, gzip", gzip.compress(gzip.compress(bytes(100_000_000))), id="gzip in gzip"),
    ],
)
def test_bomb_is_decoded_in_pieces(header: str, bomb: bytes) -> None:
    """A body that decodes to a hundred megabytes is never held whole, nor is more decoded than is taken."""
    found = decoders(header)
    tracemalloc.start()
    try:
        size = largest = 0
        for piece in decode(found, bomb):
            size += len(piece)
            largest = max(largest, len(piece))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 100_000_000 == size
    assert largest <= 2 * PIECE
    assert peak < 5_000_000


def test_bomb_for_the_zstandard_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for the package that cannot bound what it gives."""
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    bomb = zstandard.compress(bytes(50_000_000))
    sizes = [len(piece) for piece in decode(decoders("zstd"), bomb)]
    assert 50_000_000 == sum(sizes)
    assert max(sizes) <= 1_000_000


@LIBRARY
def test_nothing_is_decoded_after_the_end(library: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Behind the terminal event nothing is decoded any more: what comes there does not matter."""
    header, compress = CODINGS["gzip"]
    chunks = [*compress(CHAT.frames)[:-1], b"not gzip at all", b"nor this"]
    outcome = get(coded(library, header, chunks), url(CHAT))
    assert outcome.error is None
    assert chunks == outcome.chunks
    assert "" == caplog.text


def test_bomb_behind_the_end_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is what comes in the same chunk: of a bomb there, at most one piece is decoded."""
    fed: list[int] = []
    feed = Parser.feed

    def noted(self: Parser, data: Any) -> Any:
        fed.append(len(data))
        return feed(self, data)

    monkeypatch.setattr(Parser, "feed", noted)
    bomb = gzip.compress(CHAT.whole + bytes(10_000_000))
    assert get(coded(httpx2, "gzip", [bomb]), url(CHAT)).error is None
    assert [PIECE] == fed


@pytest.mark.parametrize("wbits", [15, -15], ids=["deflate", "raw deflate"])
def test_last_bytes_of_a_full_piece(wbits: int) -> None:
    """Nothing is left in the decompressor where a piece is full and all of the input is used up."""
    for size in range(PIECE, PIECE + 600):
        compressor = zlib.compressobj(wbits=wbits)
        body = compressor.compress(b"a" * size) + compressor.flush()
        assert size == len(undone("deflate", [body])), size


def test_second_member_that_breaks(caplog: pytest.LogCaptureFixture) -> None:
    """A member that has begun well and then breaks is no padding: the body is not watched any more."""
    second = CODINGS["gzip"][1](CHAT.frames[1:2])[0]
    chunks = [gzip.compress(CHAT.frames[0]), second, b"\xff" * 50]
    outcome = get(coded(httpx2, "gzip", chunks), url(CHAT))
    assert outcome.error is None
    assert chunks == outcome.chunks
    assert "not watched any more" in caplog.text


@LIBRARY
@GET
@pytest.mark.parametrize("header", ["gzip", "deflate", "br", "zstd"])
def test_broken_coding_is_the_clients(
    library: Any, get_body: Get, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Bytes that are not of their coding pass: the client that decodes them sees it. The log says so."""
    chunks = [b"\x00data: this is not compressed\n\n", b"data: at all\n\n"]
    outcome = get_body(coded(library, header, chunks), url(CHAT))
    assert outcome.error is None
    assert chunks == outcome.chunks
    assert ["a response of openai-chat is not watched any more"] == [
        record.getMessage() for record in caplog.records
    ]


@LIBRARY
def test_unknown_coding_is_not_watched(library: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A coding that is unknown is not watched: the response is untouched, and one warning is logged."""
    inner = coded(library, "gzip, x-odd", CHAT.frames[:1])
    guard: Any = GuardTransport(inner)  # type: ignore[arg-type]
    for _ in range(3):
        response = guard.handle_request(library.Request("POST", url(CHAT)))
        assert inner.response is response
        assert [CHAT.frames[0]] == list(response.stream)
    assert [(logging.WARNING, "plait.guard")] == [(record.levelno, record.name) for record in caplog.records]
    assert "'x-odd' is unknown" in caplog.text


class _OldDecompressor:
    """As before version 1.2: what one call gives has no bound."""

    def process(self, data: bytes) -> bytes:
        return data


@pytest.mark.parametrize(
    ("header", "modules"),
    [
        pytest.param("br", {"brotli": None, "brotlicffi": None}, id="br"),
        pytest.param(
            "br", {"brotli": type("old", (), {"Decompressor": _OldDecompressor})}, id="br, old version"
        ),
        pytest.param(
            "zstd", {"compression.zstd": None, "backports.zstd": None, "zstandard": None}, id="zstd"
        ),
    ],
)
def test_missing_package(
    header: str, modules: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its package a coding is not watched; the message says which package it needs."""
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(UnsupportedCodingError, match=f"'{header}' needs the package"):
        decoders(header)
    assert get(coded(httpx2, header, [b"anything"]), url(CHAT)).error is None
    assert "responses of openai-chat are not watched" in caplog.text


def test_no_coding() -> None:
    """No header, an empty one and `identity` need no decoder."""
    assert [] == decoders("") == decoders("identity") == decoders(" , identity")
