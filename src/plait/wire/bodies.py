"""The ways a body is cut into frames, and how its first bytes tell which way it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from plait.framing import (
    Decoder,
    EventStreamDecoder,
    JSONArrayDecoder,
    NDJSONDecoder,
    SSEDecoder,
    is_sse_start,
)

FramingName: TypeAlias = Literal["sse", "ndjson", "json-array", "event-stream"]

_BOM = b"\xef\xbb\xbf"


class Framing(NamedTuple):
    """One way to cut a body into frames.

    Attributes:
        name: its key in `FRAMINGS`
        words: what such a body is, for error messages
        starts: whether a body that starts with these bytes is one; None when they are too few to tell
        decoder: a fresh decoder
        whole: whether the decoder, closed, is at a frame's end, so that the body may be complete
    """

    name: FramingName
    words: str
    starts: Callable[[bytes], bool | None]
    decoder: Callable[[], Decoder[Any]]
    whole: Callable[[Any], bool] = lambda decoder: True


def starts_with(opening: bytes, prefix: bytes) -> bool | None:
    """Whether the first byte that is not white space is one of `opening`; None while there is none."""
    first = prefix[:64].removeprefix(_BOM).lstrip()[:1]
    return first in opening if first else None


def starts_json_lines(prefix: bytes) -> bool | None:
    """Whether a body is JSON lines: an object begins, and not one that is spread over several lines."""
    start = prefix[:64].removeprefix(_BOM).lstrip()
    if start[:1] != b"{":
        return False if start else None
    rest = start[1:].lstrip(b" \t\r")
    return rest[:1] != b"\n" if rest or len(prefix) > 64 else None


FRAMINGS: Mapping[FramingName, Framing] = {
    framing.name: framing
    for framing in (
        Framing(
            "sse",
            "a stream of server-sent events",
            partial(is_sse_start, lenient=True),
            partial(SSEDecoder, lenient=True),
        ),
        Framing("ndjson", "JSON lines", starts_json_lines, NDJSONDecoder),
        Framing(
            "json-array",
            "a JSON array",
            partial(starts_with, b"["),
            JSONArrayDecoder,
            lambda decoder: bool(decoder.closed),
        ),
        Framing(
            "event-stream",
            "an AWS event stream",
            # A message's length comes first, as four bytes: the first is 0 up to 16 MiB, 1 up to 32.
            partial(starts_with, b"\x00\x01"),
            EventStreamDecoder,
            lambda decoder: not decoder.pending,
        ),
    )
}
