"""FILE arguments: a response's raw body or a cassette, a path or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from plait.cassettes import (
    MAX_CASSETTE,
    Cassette,
    Interaction,
    guess_wire,
    is_cassette_start,
    load,
    loads,
)
from plait.cli.status import BadArgumentsError
from plait.wire import WIRES

READ_BYTES = 64 * 1024
STDIN_NAME = "standard input"
CASSETTE_SUFFIXES = frozenset({".yaml", ".yml"})


@dataclass(frozen=True)
class Source:
    """One response's body, and how to read it. `size` is its length in bytes, when known."""

    wire: str
    dialect: str | None
    chunks: Iterable[bytes]
    size: int | None = None


def sources(
    file: str, wire: str | None, dialect: str | None, *, chunk: int | None, number: int | None
) -> list[Source]:
    """The responses that FILE holds: one of a raw body, one for each interaction of a cassette.

    Args:
        file: a path, or `-` for standard input
        wire: the wire format; needed for a raw body, overrides what a cassette says
        dialect: as `wire`
        chunk: cut the body into chunks of so many bytes, instead of as it comes
        number: only this interaction of the cassette, counted from 1

    Raises:
        BadArgumentsError: there is no such file, or no way to know its wire format
        CassetteError: a cassette that cannot be read
    """
    if wire is not None:
        check_wire(wire)
    cassette, body, size = _open(file)
    file = STDIN_NAME if file == "-" else file
    if cassette is not None:
        found = _of_cassette(file, cassette, wire, dialect, number)
    else:
        if number is not None:
            raise BadArgumentsError(f"--interaction is for cassettes, and {file} is a raw body: leave it out")
        found = [_of_body(file, body, wire, dialect, size)]
    if chunk is None:
        return found
    return [Source(item.wire, item.dialect, _cut(item.chunks, chunk), item.size) for item in found]


def read_cassette(file: str) -> Cassette:
    """The cassette in a file or on standard input; raises as `sources`."""
    cassette, body, _size = _open(file)
    return cassette if cassette is not None else loads(b"".join(body), name=file)


def check_wire(wire: str) -> None:
    """Raises: BadArgumentsError: there is no such wire format."""
    if wire not in WIRES:
        close = get_close_matches(wire.lower().replace("_", "-"), WIRES, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise BadArgumentsError(f"--wire: expected one of {', '.join(WIRES)}, got {wire!r}{hint}")


def _open(file: str) -> tuple[Cassette | None, Iterator[bytes], int | None]:
    """The cassette, or else the bytes of the body as they come and their number when known."""
    if file == "-":
        return _sniff(sys.stdin.buffer, STDIN_NAME, None)
    path = Path(file)
    try:
        if path.is_dir():
            raise BadArgumentsError(
                f"{file} is a directory; expected the file of a response's body or of a cassette"
            )
        if path.suffix.lower() in CASSETTE_SUFFIXES:
            return load(path), iter(()), None
        return _sniff(path.open("rb"), file, path.stat().st_size)
    except OSError as error:
        raise BadArgumentsError(
            f"cannot read {file!r}: {error.strerror or error}; expected the file of a response's body or of "
            "a cassette, or - for standard input"
        ) from None


def _sniff(
    stream: BinaryIO, name: str, size: int | None
) -> tuple[Cassette | None, Iterator[bytes], int | None]:
    pieces = _pieces(stream)
    start = b""
    while (is_cassette := is_cassette_start(start)) is None and (piece := next(pieces, b"")):
        start += piece
    if is_cassette:
        return loads(_whole(start, pieces), name=name), iter(()), None
    return None, _joined(start, pieces), size


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    """What is there, as soon as it is there: a body may be piped in while it is being made."""
    with stream:
        read = getattr(stream, "read1", stream.read)
        while piece := read(READ_BYTES):
            yield piece


def _whole(start: bytes, pieces: Iterator[bytes]) -> bytes:
    parts, size = [start], len(start)
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size > MAX_CASSETTE:  # `loads` says so
            break
    return b"".join(parts)


def _joined(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    if start:
        yield start
    yield from pieces


def _cut(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        whole = len(data) - len(data) % size
        for start in range(0, whole, size):
            yield data[start : start + size]
        rest = data[whole:]
    if rest:
        yield rest


def _of_body(
    file: str, body: Iterator[bytes], wire: str | None, dialect: str | None, size: int | None
) -> Source:
    if wire is None:
        start = next(body, b"")
        guess = guess_wire(None, start)
        hint = f"; it looks like --wire {guess}" if guess in WIRES else ""
        raise BadArgumentsError(
            f"{file} is a raw body: expected --wire with one of {', '.join(WIRES)}, got none{hint}"
        )
    return Source(wire, dialect, body, size)


def _of_cassette(
    file: str, cassette: Cassette, wire: str | None, dialect: str | None, number: int | None
) -> list[Source]:
    chosen = cassette.interactions
    if number is not None:
        if not 1 <= number <= len(chosen):
            raise BadArgumentsError(f"--interaction: expected 1 to {len(chosen)} for {file}, got {number}")
        chosen = [chosen[number - 1]]
    readable = [item for item in chosen if wire is not None or item.wire in WIRES]
    if not readable:
        raise BadArgumentsError(_no_wire(file, chosen))
    return [
        Source(
            wire or item.wire or "",
            dialect if dialect is not None or wire is not None else item.dialect,
            item.body_chunks(),
            len(item.response.body),
        )
        for item in readable
    ]


def _no_wire(file: str, interactions: list[Interaction]) -> str:
    first = interactions[0]
    uri = first.request.uri.partition("?")[0]
    what = f"{first.wire}, which cannot be read" if first.wire else f"a response of {uri}"
    return (
        f"{file}: expected a response in one of the wire formats {', '.join(WIRES)}, got {what}; say --wire"
    )
