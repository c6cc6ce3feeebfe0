"""The raw frames of a body, for a hook that wants to see them. Parsers have decoders of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from plait.errors import ProtocolError
from plait.framing import Decoder, EventStreamMessage, ServerSentEvent
from plait.wire import translator_class
from plait.wire.bodies import FRAMINGS

Frame: TypeAlias = ServerSentEvent | EventStreamMessage | str | bytes
"""One frame: an SSE event, a message of an AWS event stream, a line or element of JSON, or a body's bytes."""

OnFrame: TypeAlias = Callable[[Frame], None]

_LOOKED_AT = 1024


class FrameTap:
    """Cuts a body into frames and hands each to a hook. A body that is no stream is handed over in pieces."""

    def __init__(self, wire: str, on_frame: OnFrame) -> None:
        self._framings = [FRAMINGS[name] for name in translator_class(wire).framings]
        self._on_frame = on_frame
        self._decoder: Decoder[Any] | None = None
        self._start: bytes | None = b""

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the body."""
        if self._start is not None:
            self._start += chunk
            answers = [(framing, framing.starts(self._start)) for framing in self._framings]
            for framing, answer in answers:
                if answer:
                    self._decoder = framing.decoder()
                    break
            undecided = self._decoder is None and any(answer is None for _, answer in answers)
            if undecided and len(self._start) < _LOOKED_AT:
                return
            chunk, self._start = self._start, None
        self._hand_over(chunk)

    def close(self) -> None:
        """The body is over."""
        if self._start:
            chunk, self._start = self._start, None
            self._hand_over(chunk)
        if self._decoder is not None:
            try:
                frames = self._decoder.close()
            except ProtocolError:
                return  # the parser reports it
            for frame in frames:
                self._on_frame(frame)

    def _hand_over(self, chunk: bytes) -> None:
        if self._decoder is None:
            if chunk:
                self._on_frame(chunk)
            return
        try:
            frames = self._decoder.feed(chunk)
        except ProtocolError:
            return
        for frame in frames:
            self._on_frame(frame)
