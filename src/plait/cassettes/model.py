"""What a cassette holds, whatever file format it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Chunk: TypeAlias = tuple[int, int]
"""Milliseconds since the response began, and how many bytes arrived then."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent. Header names are in lower case."""

    method: str
    uri: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. `body` has no content encoding any more; header names are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an interaction comes from.

    Attributes:
        kind: `recorded` from a live provider, or `synthesized`: written by hand after a specification
        source: the specification it follows, or what recorded it
        date: ISO 8601
        model: the model that answered, when recorded
    """

    kind: Literal["recorded", "synthesized"]
    source: str | None = None
    date: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Interaction:
    """One request with its response.

    Attributes:
        wire: the wire format of the response's body: said by the file, else guessed, else None
        dialect: the server's dialect of it, where that matters
        provenance: None where the file does not say
        expect: name of the error that ends the response, such as `OverloadedError`; None for a complete one
        chunks: the body as it arrived; empty where the file does not say
    """

    request: Request
    response: Response
    wire: str | None = None
    dialect: str | None = None
    provenance: Provenance | None = None
    expect: str | None = None
    chunks: tuple[Chunk, ...] = ()

    def body_chunks(self) -> Iterator[bytes]:
        """The response's body cut as it arrived; in one piece where the file does not say how."""
        body = self.response.body
        if not self.chunks:
            if body:
                yield body
            return
        start = 0
        for _milliseconds, size in self.chunks:
            yield body[start : start + size]
            start += size


@dataclass(frozen=True, slots=True)
class Cassette:
    """The interactions of one file, in the order they were made."""

    interactions: list[Interaction]
