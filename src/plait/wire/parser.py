"""Bytes in, events out: the machinery every wire format shares.

A wire format is a `Translator`. All else happens here: framing, telling an error page or a whole JSON body
from a stream, decoding, faults, and the rule that a stream is complete only when its wire says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from plait import json_text
from plait.errors import QUOTE_LIMIT, IncompleteStreamError, PlaitError, ProtocolError, quote
from plait.events import Event
from plait.framing import (
    Block,
    BytesLike,
    Decoder,
    EventStreamMessage,
    ServerSentEvent,
    SSEBlockDecoder,
    SSEDecoder,
    event_of,
)
from plait.wire.assembler import Assembler
from plait.wire.bodies import FRAMINGS, Framing, FramingName
from plait.wire.reading import DONE, UNREAD, Counts, NotAnObject, Reader
from plait.wire.translation import Translator

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

MAX_BODY = 64 * 1024 * 1024
"""Bytes of a whole JSON body in place of a stream: as many as one frame may have."""

_SLICE = 64 * 1024
_DONE = DONE.encode()
_SPACES = re.compile(r"\s*+")
_BLANK = re.compile(rb"(?:[ \t\r\n]|\xef\xbb\xbf)*+")


class Parser:
    """Push bytes of one response in, take events out; no I/O.

    `feed` never raises for what a provider sent: a fault stops the parser (`error` is set, later bytes
    are ignored) and `close` raises it, after everything that came before it has been delivered.

    Attributes:
        wire: the wire format's name
        error: the fault, as soon as it is known
        unknown: what was seen and not understood, with counts (keys: see `plait.wire.reading`)
        bytes_read: how many bytes were fed
    """

    __slots__ = (
        "__weakref__", "_assembler", "_body", "_body_size", "_closed", "_count_fields", "_decoder",
        "_frames", "_framing", "_mode", "_read", "_read_frames", "_reader", "_translator", "bytes_read",
        "error", "unknown", "wire",
    )  # fmt: skip

    def __init__(
        self,
        translator: Callable[[Assembler, Counter[str]], Translator],
        *,
        count_fields: bool = False,
    ) -> None:
        self.error: PlaitError | None = None
        self.unknown: Counter[str] = Counts() if count_fields else Counter()
        self.bytes_read = 0
        self._assembler = Assembler()
        self._translator = translator(self._assembler, self.unknown)
        self.wire = self._translator.name
        self._reader = Reader(
            self._translator.types,
            self.unknown,
            ignored=self._translator.ignored,
            count_fields=count_fields,
            join_halves=True,
        )
        self._read = self._translator.read
        self._count_fields = count_fields
        self._use(FRAMINGS[self._translator.framings[0]])
        self._frames = 0
        self._mode: Literal["start", "stream", "body", "over"] = "start"
        self._body: list[bytes] = []
        self._body_size = 0
        self._closed = False

    @property
    def message(self) -> AssistantMessage:
        """What has been read so far; its `finish_reason` is None until the response has ended."""
        return self._assembler.message()

    @property
    def done(self) -> bool:
        """Whether nothing more is to be read: the terminal event came, or a fault."""
        return self._assembler.ended or self.error is not None

    @property
    def last_event(self) -> Event | None:
        """The last event that was handed out."""
        return self._assembler.last_event

    @property
    def quiet(self) -> int:
        """How many pieces came that have no event of their own: it grows while the answer goes on.

        Such are signatures, encrypted reasoning, sound, and the input of tools that the provider runs. What
        only keeps a connection alive does not count.
        """
        return self._assembler.quiet

    def feed(self, data: BytesLike) -> list[Event]:
        """The events that these bytes complete.

        Raises:
            TypeError: `data` is not bytes
            ValueError: the parser is closed
        """
        if type(data) is not bytes:
            if not isinstance(data, bytearray | memoryview):
                raise TypeError(f"feed takes bytes, got {type(data).__name__}")
            data = bytes(data)
        self.bytes_read += len(data)
        mode = self._mode
        if mode == "stream":
            self._stream(data)
        elif mode != "over":
            self._collect(data)
        elif self._closed:
            self.bytes_read -= len(data)
            raise ValueError("this parser is closed: make a new one for each response")
        else:
            return []
        return self._assembler.take()

    def close(self) -> list[Event]:
        """The body has ended: the last events. A second call gives none, or raises the same fault again.

        Raises:
            IncompleteStreamError: the wire's terminal event has not come
            ProviderError: the provider reported an error
            ProtocolError: the bytes are not this wire format
        """
        events, error = self.finish()
        if error is not None:
            error.undelivered = tuple(events)
            raise error
        return events

    def finish(self) -> tuple[list[Event], PlaitError | None]:
        """As `close`, but gives the fault beside the last events instead of raising it."""
        if not self._closed:
            self._closed = True
            if not self.done:
                self._end_of_body()
            self._mode = "over"
            self._reader.close()
            self._translator.close()
            if self.error is None and not self._assembler.ended:
                events = self._assembler.take()
                self._fail(self._incomplete())
                return events, self.error
        return self._assembler.take(), self.error

    # Reading

    def _stream(self, data: bytes) -> None:
        if len(data) > _SLICE:  # a little at a time: one list of a megabyte costs more than sixteen of 64 KiB
            for start in range(0, len(data), _SLICE):
                if self._mode == "stream":
                    self._stream(data[start : start + _SLICE])
            return
        try:
            frames = self._decoder.feed(data)
        except ProtocolError as error:
            self._fail(ProtocolError(f"{self.wire}: {error}"))
            return
        if frames:
            self._read_frames(self, frames)
            if self._assembler.ended:
                self._mode = "over"
            elif self._decoder.error is not None and self.error is None:
                self._fail(ProtocolError(f"{self.wire}: {self._decoder.error}"))

    def _read_blocks(self, blocks: list[Block]) -> None:
        reader, read, assembler = self._reader, self._read, self._assembler
        number = self._frames
        for block in blocks:
            data = block[1]
            if data and reader.fast:  # nearly all: no text is made but of the fields that are read
                try:
                    document = reader.decode(data)
                except UNREAD:
                    pass
                else:
                    number += 1
                    try:
                        if read(document):
                            self._look_for_error(data.decode())
                    except (NotAnObject, PlaitError, RecursionError) as problem:
                        self._stumble(problem, ServerSentEvent(data.decode()), number)
                        if self.error is not None:
                            return
                    if assembler.ended:
                        return
                    continue
            self._frames = number
            self._read_block(block)
            number = self._frames
            if assembler.ended or self.error is not None:
                return
        self._frames = number

    def _read_block(self, block: Block) -> None:
        """A block that is irregular, or whose data is not simply a document."""
        if block[1] == _DONE:
            self._frames += 1
            self._translator.done_marker()
            return
        frame = event_of(block, lenient=True, terminated=not self._closed)
        if frame is not None:
            self._read_event(frame)

    def _read_events(self, frames: list[ServerSentEvent]) -> None:
        for frame in frames:
            self._read_event(frame)
            if self.done:
                return

    def _read_event(self, frame: ServerSentEvent) -> None:
        self._frames += 1
        try:
            if frame.event == "error":
                self._read_error_event(frame)
            document = self._reader.read(frame.data, frame.event)
            if document is None or self._read(document):
                self._look_for_error(frame.data)
        except (NotAnObject, PlaitError, RecursionError) as problem:
            self._stumble(problem, frame, self._frames)

    def _look_for_error(self, text: str) -> None:
        """A document that no struct reads, or of a kind that says nothing, may still be an error."""
        if '"error"' in text or '"message"' in text:
            self._read_error(self._reader.generic(text))

    def _read_texts(self, frames: list[str]) -> None:
        """As `_read_events`, of frames without an event name: decoded all at once, if they can be."""
        documents = self._reader.read_run(iter(frames))
        if len(documents) < len(frames):
            terminated = not self._closed
            self._read_events([ServerSentEvent(text, terminated=terminated) for text in frames])
            return
        read = self._translator.read
        assembler = self._assembler
        number = self._frames
        for document in documents:
            number += 1
            try:
                read(document)
            except (NotAnObject, PlaitError, RecursionError) as problem:
                self._stumble(problem, ServerSentEvent(frames[number - self._frames - 1]), number)
            if assembler.ended or self.error is not None:
                return
        self._frames = number

    def _stumble(
        self, problem: NotAnObject | PlaitError | RecursionError, frame: ServerSentEvent, number: int
    ) -> None:
        if isinstance(problem, PlaitError):
            self._fail(problem)
        elif isinstance(problem, NotAnObject):
            self._not_an_object(frame, number, problem)
        else:
            self._not_an_object(frame, number, NotAnObject("JSON that is nested too deeply"))

    def _read_messages(self, frames: list[EventStreamMessage]) -> None:
        read = self._translator.read_message
        for number, message in enumerate(frames, self._frames + 1):
            try:
                read(message)
            except NotAnObject as problem:
                frame = ServerSentEvent(message.payload.decode("utf-8", "replace"))
                self._not_an_object(frame, number, problem)
            except PlaitError as error:
                self._fail(error)
            except RecursionError:
                self._fail(ProtocolError(f"{self.wire}: frame {number}: JSON that is nested too deeply"))
            if self._assembler.ended or self.error is not None:
                return
        self._frames += len(frames)

    def _read_error_event(self, frame: ServerSentEvent) -> None:
        """An SSE event named `error`: a document, or only words. A piece of answer in it is read first."""
        try:
            document = self._reader.generic(frame.data)
        except NotAnObject:
            if not frame.terminated or not frame.data.strip() or frame.data.startswith((DONE, "{")):
                raise
            document = frame.data
        self._read_error(
            document if isinstance(document, dict) else {"error": {"message": document}}, "error"
        )
        self._translator.read(self._reader.convert(document))
        self._read_error({"error": {"message": "the server named an event 'error' that says no more of it"}})

    def _read_error(self, document: dict[str, Any], event: str | None = None) -> None:
        error = self._translator.read_error(document, event)
        if error is not None:
            raise error

    def _not_an_object(self, frame: ServerSentEvent, number: int, problem: NotAnObject) -> None:
        text = frame.data.strip()
        if text.startswith(DONE):
            self._translator.done_marker()
        elif not text or text.startswith(":"):
            self.unknown["keep-alive"] += 1  # some gateways send the comment as data
        elif len(documents := _documents(text)) > 1:
            last = len(documents)
            before, self._frames = self._frames, number - 1
            self._read_events(
                [
                    ServerSentEvent(document, frame.event, terminated=frame.terminated or place < last)
                    for place, document in enumerate(documents, 1)
                ]
            )
            self._frames = before  # it was one frame, whatever was in it
        elif (error := self._wrapped_error(text)) is not None:
            self._fail(error)
        elif frame.terminated:
            self._fail(
                ProtocolError(
                    f"{self.wire}: frame {number}: expected a JSON object, got {problem}: {quote(text)}"
                )
            )

    def _wrapped_error(self, text: str) -> PlaitError | None:
        """Google's front ends wrap an error in an array, in a stream, too."""
        if not text.startswith("["):
            return None
        try:
            document = self._reader.generic(text)
        except NotAnObject:
            return None
        wrapped = isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict)
        return self._translator.read_error(document[0]) if wrapped else None

    def _use(self, framing: Framing) -> None:
        self._framing = framing
        # Of server-sent events only the blocks are asked for: JSON is decoded from their bytes.
        self._decoder: Decoder[Any] = SSEBlockDecoder() if framing.name == "sse" else framing.decoder()
        self._read_frames = self._READERS[framing.name]

    def _collect(self, data: bytes) -> None:
        """The start of the body: a stream, or something else that is read whole."""
        if self._mode == "start":
            # White space and byte order marks say nothing of what follows, nor does part of such a mark.
            start = b"".join((*self._body, data))
            data = start[_BLANK.match(start).end() :]  # type: ignore[union-attr]  # it matches anything
            self._body = [data] if data else []
            self._body_size = len(data)
            if data not in (b"", b"\xef", b"\xef\xbb"):
                self._recognize(data)
        else:
            self._body.append(data)
            self._body_size += len(data)
        if self._mode == "body":
            if self._body_size >= QUOTE_LIMIT and not self._body[0].startswith((b"{", b"[")):
                self._not_a_stream()
            elif self._body_size > MAX_BODY:
                self._fail(
                    ProtocolError(f"{self.wire}: a body that is no stream is longer than {MAX_BODY:,} bytes")
                )

    def _recognize(self, prefix: bytes) -> None:
        undecided = False
        for framing in self._framings():
            answer = framing.starts(prefix)
            if answer:
                if framing is not self._framing:
                    self._use(framing)
                self._mode, self._body = "stream", []
                self._stream(prefix)
                return
            undecided = undecided or answer is None
        if not undecided:
            self._mode = "body"

    def _framings(self) -> list[Framing]:
        return [FRAMINGS[name] for name in self._translator.framings]

    def _not_a_stream(self) -> None:
        start = b"".join(self._body)[:QUOTE_LIMIT]
        words = " or ".join(framing.words for framing in self._framings())
        self._fail(ProtocolError(f"{self.wire}: expected {words}, got {quote(start)}"))

    def _end_of_body(self) -> None:
        if self._mode == "body":
            self._read_body(b"".join(self._body))
            return
        if self._mode == "start":
            self._stream(b"".join(self._body))
        if self.done:
            return
        try:
            frames = self._decoder.close()
        except ProtocolError as error:
            self._fail(ProtocolError(f"{self.wire}: {error}"))
            return
        self._read_frames(self, frames)
        if not self.done and self._framing.whole(self._decoder):
            self._translator.end_of_body()

    def _read_body(self, body: bytes) -> None:
        """A body that is not a stream: an error, a whole answer, or an error page of something between."""
        if not body.startswith((b"{", b"[")):
            self._not_a_stream()
            return
        try:
            text = body.decode()
        except UnicodeDecodeError as problem:
            if problem.end < len(body) or problem.reason != "unexpected end of data":
                self._fail(
                    ProtocolError(f"{self.wire}: the JSON body is not UTF-8 at byte {problem.start:,}")
                )
            return
        try:
            read_whole(self._translator, text, self.unknown, count_fields=self._count_fields)
        except NotAnObject as problem:
            self._read_bare_lines(body, text, problem)
        except PlaitError as error:
            self._fail(error)

    def _read_bare_lines(self, body: bytes, text: str, problem: NotAnObject) -> None:
        """A stream whose first line is bare JSON without `data:`; else truncated or broken JSON."""
        frames: list[ServerSentEvent] = []
        if self._framing.name == "sse":
            try:
                decoder = SSEDecoder(lenient=True)
                frames = [*decoder.feed(body), *decoder.close()]
            except ProtocolError as error:
                self._fail(ProtocolError(f"{self.wire}: {error}"))
                return
        if len(frames) > 1 or (frames and "\ndata:" in text):
            self._read_events(frames)
            if not self.done:
                self._translator.end_of_body()
        elif not json_text.is_cut(text):
            self._fail(ProtocolError(f"{self.wire}: expected JSON, got {problem}: {quote(text)}"))

    # Faults

    def _fail(self, error: PlaitError) -> None:
        error.partial_message = self._assembler.message()
        self.error = error
        self._mode = "over"

    def _incomplete(self) -> IncompleteStreamError:
        last = self._assembler.last_event
        after = f"after {last.type}" if last is not None else "before any event"
        return IncompleteStreamError(
            f"{self.wire}: the body ended {after}, at byte {self.bytes_read:,}, without the terminal event "
            f"({self._translator.terminal}); what came is in partial_message",
            wire=self.wire,
            last_event=last,
            bytes_read=self.bytes_read,
        )

    _READERS: ClassVar[dict[FramingName, Callable[[Any, list[Any]], None]]] = {
        "sse": _read_blocks,
        "ndjson": _read_texts,
        "json-array": _read_texts,
        "event-stream": _read_messages,
    }


def read_whole(
    translator: Translator, document: Any, unknown: Counter[str], *, count_fields: bool = False
) -> None:
    """A whole JSON body (text, or decoded) -> moves.

    Raises:
        ProviderError: the body is an error
        NotAnObject: it is not a JSON object, or one without anything of a response
    """
    reader = Reader(translator.response_type, unknown, count_fields=count_fields)
    if isinstance(document, str):
        document = reader.generic(_without_done(document))
    else:
        document = reader.clean(document)
    if isinstance(document, list) and len(document) == 1:
        document = document[0]  # Google's front ends wrap an error in an array
    if isinstance(document, dict) and (error := translator.read_error(document)) is not None:
        raise error
    try:
        translator.read_response(reader.convert(document))
    except RecursionError:
        raise NotAnObject("JSON that is nested too deeply") from None
    if translator.assembler.empty:
        # Gateways say {"message": "Forbidden"} or {"detail": "Not Found"}, perhaps with HTTP 200.
        words = document.get("message") or document.get("detail")
        error = translator.read_error(document, "error") if isinstance(words, str) else None
        raise error or NotAnObject("an object that is no response")


def _documents(text: str) -> list[str]:
    """JSON documents without the blank line between them, each on new lines; the last one may be cut."""
    lines = text.split("\n")
    if all(line.startswith(("{", DONE)) for line in lines):
        return lines
    if "\n{" not in text:
        return [text]
    documents: list[str] = []
    at = 0
    while at < len(text):
        try:
            _, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)
        documents.append(text[at:end].strip())
        at = _SPACES.match(text, end).end()  # type: ignore[union-attr]  # it matches anything
    return documents


def _without_done(text: str) -> str:
    """A JSON body without the `data: [DONE]`, whole or cut, that some servers put after it."""
    head, brace, tail = text.rpartition("}")
    return head + brace if "data:[DONE]".startswith("".join(tail.split())) else text.strip()


def parse(parser: Parser, chunks: Iterable[bytes]) -> Iterator[Event]:
    """Events of a whole body; what came before a fault is delivered, then the fault is raised.

    Stops reading `chunks` as soon as the response has ended.
    """
    for chunk in chunks:
        yield from parser.feed(chunk)
        if parser.done:
            break
    events, error = parser.finish()
    yield from events
    if error is not None:
        raise error


async def aparse(parser: Parser, chunks: AsyncIterable[bytes]) -> AsyncIterator[Event]:
    """As `parse`, over an asynchronous source."""
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
        if parser.done:
            break
    events, error = parser.finish()
    for event in events:
        yield event
    if error is not None:
        raise error
