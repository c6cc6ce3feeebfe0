"""Laws 7 and 10: the same response, read or written another way, is the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import plait
from plait.conformance.frames import framing
from plait.conformance.law import Breach, law
from plait.conformance.reading import MakeParser, Reading, Subject, shorten
from plait.errors import PlaitError
from plait.events import (
    Event,
    FinishReasonDone,
    ReasoningDone,
    ResponseStarted,
    TextDelta,
    TokenUsageDone,
    ToolCallDone,
    event_from_dict,
)

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

ReadWhole = Callable[[bytes], "AssistantMessage"]


@law("round_trip", 10)
def round_trip(subject: Subject) -> Iterator[str]:
    """Every event and the message survive JSON."""
    for number, event in enumerate(subject.whole.events, 1):
        try:
            back = event_from_dict(json.loads(_json(event.to_dict())))
        except (PlaitError, ValueError, TypeError) as error:
            yield f"event {number}: {shorten(event)} does not survive JSON: {shorten(error)}"
            continue
        if back != event or type(back) is not type(event):
            yield f"event {number}: {shorten(event)} came back from JSON as {shorten(back)}"
    yield from message_breaches(subject.whole.message)


def message_breaches(message: AssistantMessage) -> Iterator[str]:
    """What is broken of law 10 for a message: in snake_case, in camelCase, and as pydantic writes it."""
    ways: dict[str, Callable[[], bytes]] = {
        "to_dict()": lambda: _json(message.to_dict()),
        "to_dict(camel=True)": lambda: _json(message.to_dict(camel=True)),
        "model_dump_json()": lambda: message.model_dump_json().encode(),
    }
    for how, write in ways.items():
        try:
            back = type(message).model_validate_json(write())
        except (PlaitError, ValueError, TypeError) as error:
            yield f"the message written by {how} is not read back: {shorten(error)}"
            continue
        if back != message:
            yield f"the message came back from {how} as {shorten(back)}, not {shorten(message)}"


def _json(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


@law("one_reading", 7)
def one_reading(subject: Subject) -> Iterator[str]:
    """The events, replayed, make the message; and a body that is not a stream is read the same both ways.

    For a stream and the non-streaming body of the same response, see `same_message`.
    """
    yield from _replay_breaches(subject.whole)
    if subject.is_ours and framing(subject.wire, subject.body) == "json":
        yield from _whole_breaches(subject.whole, lambda: _read_response(subject, subject.body))


def same_message(
    wire: str,
    stream: bytes,
    whole: bytes,
    *,
    dialect: str | None = None,
    make_parser: MakeParser | None = None,
    read_response: ReadWhole | None = None,
    **options: Any,
) -> list[Breach]:
    """Law 7 for two bodies of the same response: the stream, and the JSON that is sent without streaming.

    Args:
        wire, dialect, make_parser, options: as for a law
        stream: the streamed body
        whole: the non-streaming body
        read_response: reads `whole`, where `plait.read_response` does not know the wire
    """
    subject = Subject(wire, stream, dialect=dialect, make_parser=make_parser, **options)
    read = read_response or (lambda body: _read_response(subject, body))
    breaches = list(_whole_breaches(subject.whole, lambda: read(whole)))
    if read_response is None:
        fed = subject.read([whole])
        breaches += [
            f"the JSON body fed to the stream's parser: {w}"
            for w in _whole_breaches(fed, lambda: read(whole))
        ]
    return [Breach("one_reading", words) for words in breaches]


def _read_response(subject: Subject, body: bytes) -> AssistantMessage:
    return plait.read_response(subject.wire, body, dialect=subject.dialect, **subject.options)


def _whole_breaches(reading: Reading, read: Callable[[], AssistantMessage]) -> Iterator[str]:
    if reading.crash is not None:
        yield reading.crash
        return
    error: PlaitError | None = None
    try:
        message = read()
    except PlaitError as fault:
        error, message = fault, fault.partial_message  # type: ignore[assignment]
    if error is None and message.finish_reason is None:
        error = reading.error  # it goes on in the background: whole as a body, incomplete as a stream
    if (type(error), str(error)) != (type(reading.error), str(reading.error)):
        yield f"read whole it ended in {error!r}, as a stream in {reading.error!r}"
    elif message != reading.message:
        for field in type(message).model_fields:
            one, other = getattr(message, field), getattr(reading.message, field)
            if one != other:
                yield f"{field} is {shorten(one)} when read whole, and {shorten(other)} from the stream"


def _replay_breaches(reading: Reading) -> Iterator[str]:
    events, message = reading.events, reading.message
    told = {type(event): event for event in events}
    started = told.get(ResponseStarted)
    if isinstance(started, ResponseStarted) and started.response_id != message.id:
        yield f"ResponseStarted says id {started.response_id!r}, the message {message.id!r}"
    if reading.error is not None:
        return
    replayed = [*_parts(events)]
    built = [part for part in map(_outline, message.content) if part is not None]
    if replayed != built:
        first = next(
            (pair for pair in zip(replayed, built, strict=False) if pair[0] != pair[1]), (replayed, built)
        )
        yield f"the events make {shorten(first[0])}, the message has {shorten(first[1])}"
    usage, finish = told.get(TokenUsageDone), told.get(FinishReasonDone)
    if (usage.token_usage if isinstance(usage, TokenUsageDone) else None) != message.token_usage:
        yield f"the events end with {usage}, the message has {message.token_usage}"
    if isinstance(finish, FinishReasonDone) and finish.finish_reason != message.finish_reason:
        yield f"the events end with {finish}, the message has {message.finish_reason!r}"


def _parts(events: list[Event]) -> Iterator[tuple[str, object]]:
    """The message's parts as the events tell them, in the order of their index."""
    texts: defaultdict[int, list[str]] = defaultdict(list)
    details: defaultdict[int, list[Any]] = defaultdict(list)
    calls: dict[int, tuple[str, object]] = {}
    for event in events:
        match event:
            case TextDelta(content=content, index=int(at)):
                texts[at].append(content)
            case ReasoningDone(part=part, index=int(at)):
                details[at].append(part)
            case ToolCallDone(index=int(at)):
                calls[at] = ("tool-call", (event.item_id, event.name, event.arguments, event.complete))
    rebuilt = {
        **{at: ("text", "".join(pieces)) for at, pieces in texts.items()},
        **{at: ("reasoning", parts) for at, parts in details.items()},
        **calls,
    }
    for at in sorted(rebuilt):
        yield rebuilt[at]


def _outline(part: Any) -> tuple[str, object] | None:
    """The same of a message's part; None for what is not told by events alone, or is empty."""
    match part.type:
        case "text" if part.text:
            return "text", part.text
        case "reasoning" if part.details:
            return "reasoning", part.details
        case "tool-call":
            return "tool-call", (part.tool_call_id, part.tool_name, part.arguments, part.complete)
    return None
