"""What all encoders share: an answer -> documents -> frames -> the bytes of a response's body."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from plait.conformance.encoding.answer import Answer, Limits, carried
from plait.events import FinishReason
from plait.framing import encode_event_stream_message
from plait.wire.bodies import FramingName

Document: TypeAlias = dict[str, Any] | str
"""One document of a stream. Text is a payload that is no JSON: `[DONE]`.

Where a wire names its documents only in a header (bedrock-converse), a document has one member, of that name.
"""

Dump: TypeAlias = Callable[[Any], bytes]
"""Writes JSON data."""


class Encoder(msgspec.Struct, frozen=True, kw_only=True):
    """One wire format's writing: what a server of it sends.

    Attributes:
        wire: the format's name
        documents: an answer as the documents of a stream, the last one being the terminal event or what
            follows it
        body: an answer as the non-streaming body
        finish_reasons: the wire's word for each finish reason that it has one for
        limits: what of an answer the wire can say
        framings: the ways its streams are cut into frames, the usual one first
        named: whether the events of a stream are named by their `type`
    """

    wire: str
    documents: Callable[[Answer], list[Document]]
    body: Callable[[Answer], dict[str, Any]]
    finish_reasons: Mapping[FinishReason, str]
    limits: Limits = Limits()
    framings: tuple[FramingName, ...] = ("sse",)
    named: bool = False

    def carried(self, answer: Answer, *, streamed: bool = True) -> Answer:
        """What arrives of this answer: without what the wire has no place for (see `Limits`)."""
        return carried(answer, self.limits, streamed=streamed)

    def stream(self, answer: Answer) -> bytes:
        """The body of a streamed response.

        Raises:
            ValueError: the wire has no word for the finish reason, or a call's arguments are no JSON object
                where the wire has an object
        """
        return self.join(self.frames(self.stream_documents(answer)))

    def whole(self, answer: Answer) -> bytes:
        """The body of a response that is not streamed; raises as `stream`."""
        return msgspec.json.encode(self.body(self._sayable(answer, streamed=False)))

    def stream_documents(self, answer: Answer) -> list[Document]:
        """The documents of a streamed response; raises as `stream`."""
        return self.documents(self._sayable(answer, streamed=True))

    def frames(
        self,
        documents: Iterable[Document],
        framing: FramingName | None = None,
        *,
        dump: Dump = msgspec.json.encode,
    ) -> list[bytes]:
        """Each document as a frame; `framing` is one of `framings`, None the usual one."""
        return [self.frame(document, framing, dump=dump) for document in documents]

    def frame(
        self, document: Document, framing: FramingName | None = None, *, dump: Dump = msgspec.json.encode
    ) -> bytes:
        """One document as a frame."""
        match framing or self.framings[0]:
            case "sse":
                return _sse(document, dump, named=self.named)
            case "event-stream":
                return _message(document, dump, wrapped=self.named)
        return _payload(document, dump) + b"\n"

    def join(self, frames: Iterable[bytes], framing: FramingName | None = None) -> bytes:
        """Frames as a body."""
        if (framing or self.framings[0]) == "json-array":
            return b"[" + b",\r\n".join(frames) + b"]"
        return b"".join(frames)

    def _sayable(self, answer: Answer, *, streamed: bool) -> Answer:
        said = self.carried(answer, streamed=streamed)
        if said.finish_reason not in self.finish_reasons:
            raise ValueError(
                f"{self.wire} has no word for the finish reason {said.finish_reason!r}, only for "
                f"{', '.join(self.finish_reasons)}"
            )
        return said


def _payload(document: Document, dump: Dump) -> bytes:
    return document.encode() if isinstance(document, str) else dump(document)


def _sse(document: Document, dump: Dump, *, named: bool) -> bytes:
    name = document.get("type") if named and isinstance(document, dict) else None
    head = f"event: {name}\n".encode() if isinstance(name, str) and name.isprintable() else b""
    return head + b"data: " + _payload(document, dump) + b"\n\n"


def _message(document: Document, dump: Dump, *, wrapped: bool) -> bytes:
    """A message named by its document's one member; or, `wrapped`, a `chunk` around a whole document."""
    if wrapped or not isinstance(document, dict) or len(document) != 1:
        name, payload = "chunk", dump({"bytes": b64encode(_payload(document, dump)).decode()})
    else:
        ((name, value),) = document.items()
        payload = dump(value)
    headers = {":event-type": name[:1000], ":content-type": "application/json", ":message-type": "event"}
    return encode_event_stream_message(headers, payload)


def without_none(data: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in data.items() if value is not None}
