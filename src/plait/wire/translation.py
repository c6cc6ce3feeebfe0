"""What a wire format is to the parser: decoded documents in, moves on the assembler out."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from plait.errors import PlaitError
from plait.framing import EventStreamMessage
from plait.wire.assembler import Assembler
from plait.wire.bodies import FramingName


class Translator:
    """One wire format's reading: documents -> moves. Subclasses live in `wire/<format>/parser.py`.

    Attributes:
        name: the format's name
        types: struct, or tagged union of structs, of a stream's documents
        response_type: struct of a non-streaming body
        terminal: what ends a stream, in words for an error message
        framings: the ways its streams are cut into frames, the usual one first
        ignored: tags of documents that are known and say nothing
    """

    name: ClassVar[str]
    types: ClassVar[Any]
    response_type: ClassVar[Any]
    terminal: ClassVar[str]
    framings: ClassVar[tuple[FramingName, ...]] = ("sse",)
    ignored: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, assembler: Assembler, unknown: Counter[str]) -> None:
        self.assembler = assembler
        self.unknown = unknown
        assembler.format = self.name
        assembler.unknown = unknown

    def read(self, document: Any) -> bool | None:
        """Make the moves for one document. Returns True for one that is `Ignored`: there are none.

        Raises:
            ProviderError: the document says that the provider failed
            ProtocolError: the document contradicts what came before
        """
        raise NotImplementedError

    def read_message(self, message: EventStreamMessage) -> None:
        """Make the moves for one message of an AWS event stream; raises as `read`, and `NotAnObject`."""
        raise NotImplementedError

    def read_response(self, body: Any) -> None:
        """Make the moves for a whole non-streaming body, the last one being `end()`; raises as `read`."""
        raise NotImplementedError

    def read_error(self, document: dict[str, Any], event: str | None = None) -> PlaitError | None:
        """The error that a JSON document is, when it is one. `event` is the SSE event's name."""
        raise NotImplementedError

    def done_marker(self) -> None:
        """The stream said `[DONE]`."""

    def end_of_body(self) -> None:
        """The body ended cleanly: call `assembler.end()` if the wire has said enough for that."""

    def close(self) -> None:
        """The body has ended, whole or not: nothing more will be read."""
