"""Laws 2 to 5, and that of the index: what the events say, they say once, whole, and in order.

Each is also a plain function of a reading, so that other laws can ask it about a body they have changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from plait import json_text
from plait.conformance.law import law
from plait.conformance.reading import Reading, Subject, shorten
from plait.events import (
    CONTENT_EVENTS,
    Citation,
    Event,
    FileDone,
    FinishReasonDone,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ResponseStarted,
    ServerToolCall,
    ServerToolResult,
    TextDelta,
    TextDone,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
)


@law("text", 2)
def text(subject: Subject) -> Iterator[str]:
    """`TextDone` comes once iff text came, equals the joined deltas, and follows the last of them."""
    yield from text_breaches(subject.whole)


@law("tool_calls", 3)
def tool_calls(subject: Subject) -> Iterator[str]:
    """Each call ends in one `ToolCallDone` that equals its deltas; ids are unique, calls never mix."""
    yield from tool_call_breaches(subject.whole)


@law("reasoning", 4)
def reasoning(subject: Subject) -> Iterator[str]:
    """Each `ReasoningDone` has the text of the deltas since the previous one of its part."""
    yield from reasoning_breaches(subject.whole)


@law("ending", 5)
def ending(subject: Subject) -> Iterator[str]:
    """One `FinishReasonDone`, last; at most one `TokenUsageDone` before it; no content after them."""
    yield from ending_breaches(subject.whole)


@law("index", None)
def index(subject: Subject) -> Iterator[str]:
    """Every content event's `index` is the place of its part in the message, so the parts can be rebuilt."""
    yield from index_breaches(subject.whole)


def content_breaches(reading: Reading) -> Iterator[str]:
    """All of this module's laws on one reading; each breach begins with the law's name."""
    for name, check in _CHECKS.items():
        for words in check(reading):
            yield f"{name}: {words}"


def text_breaches(reading: Reading) -> Iterator[str]:
    """What is broken of law 2."""
    deltas = [event for event in reading.events if isinstance(event, TextDelta)]
    dones = [(at, event) for at, event in enumerate(reading.events) if isinstance(event, TextDone)]
    whole = "".join(event.content for event in deltas)
    if reading.error is None and len(dones) != bool(deltas):
        yield f"{len(deltas)} TextDelta but {len(dones)} TextDone"
    elif len(dones) > 1:
        yield f"{len(dones)} TextDone"
    for at, done in dones:
        if done.content != whole:
            yield f"TextDone is {shorten(done.content)!r}, but its deltas joined are {shorten(whole)!r}"
        if any(isinstance(event, TextDelta) for event in reading.events[at:]):
            yield "a TextDelta comes after the TextDone"
    in_message = reading.message.text
    by_part = text_by_part(reading)
    if in_message != by_part:
        yield f"the message's text is {shorten(in_message)!r}, but the deltas are {shorten(by_part)!r}"


def text_by_part(reading: Reading) -> str:
    """The text that the events told, part by part: parts may have been written by turns."""
    deltas = [event for event in reading.events if isinstance(event, TextDelta)]
    return "".join(event.content for event in sorted(deltas, key=lambda event: event.index or 0))


def tool_call_breaches(reading: Reading) -> Iterator[str]:
    """What is broken of law 3."""
    pieces: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    places: dict[str, int | None] = {}
    done: dict[str, ToolCallDone] = {}
    for event in reading.events:
        if not isinstance(event, ToolCallDelta | ToolCallDone):
            continue
        item_id = event.item_id
        if not item_id:
            yield f"a call without an id: {shorten(event)}"
        if item_id in done:
            yield f"after the ToolCallDone of {item_id!r}: {shorten(event)}"
        if places.setdefault(item_id, event.index) != event.index:
            yield f"{item_id!r} is at index {places[item_id]}, and at {event.index}: {shorten(event)}"
        if isinstance(event, ToolCallDelta):
            pieces.setdefault(item_id, []).append(event.arguments_delta)
            if event.name is not None and names.setdefault(item_id, event.name) != event.name:
                yield f"{item_id!r} is called {names[item_id]!r}, and then {event.name!r}"
            continue
        done[item_id] = event
        yield from _done_breaches(event, "".join(pieces.get(item_id, ())), names.get(item_id, event.name))
    for name, ids in (
        ("call_id", [call.call_id for call in done.values()]),
        ("index", list(places.values())),
    ):
        for value in (value for value, count in Counter(ids).items() if count > 1):
            yield f"several calls have the {name} {value!r}"
    if reading.error is None:
        for item_id in pieces.keys() - done.keys():
            yield f"{item_id!r} was started and has no ToolCallDone"
    yield from _message_call_breaches(reading, pieces, done)


def _done_breaches(call: ToolCallDone, joined: str, name: str) -> Iterator[str]:
    if call.arguments != (joined or "{}"):
        yield (
            f"the arguments of {call.item_id!r} are {shorten(call.arguments)!r}, "
            f"but its deltas joined are {shorten(joined)!r}"
        )
    if not call.call_id:
        yield f"{call.item_id!r} has no call_id"
    if call.name != name:
        yield f"{call.item_id!r} was started as {name!r}, and is done as {call.name!r}"
    if call.complete and not json_text.is_json(call.arguments):
        yield f"{call.item_id!r} is complete, but its arguments are not JSON: {shorten(call.arguments)!r}"


def _message_call_breaches(
    reading: Reading, pieces: dict[str, list[str]], done: dict[str, ToolCallDone]
) -> Iterator[str]:
    parts = {part.tool_call_id: part for part in reading.message.tool_calls}
    for item_id in (pieces.keys() | done.keys()) ^ parts.keys():
        yield f"{item_id!r} is in the {'message' if item_id in parts else 'events'} only"
    for item_id, part in parts.items():
        call = done.get(item_id)
        if call is None and part.complete:
            yield f"{item_id!r} has no ToolCallDone, but is complete in the message"
        elif call is not None and (call.name, call.arguments, call.complete) != (
            part.tool_name, part.arguments, part.complete,
        ):  # fmt: skip
            yield f"{item_id!r} is {shorten(part)} in the message, and {shorten(call)} in the events"


def reasoning_breaches(reading: Reading) -> Iterator[str]:
    """What is broken of law 4."""
    pieces: defaultdict[int | None, list[str]] = defaultdict(list)
    parts: list[tuple[int, ReasoningPart]] = []
    for event in reading.events:
        if isinstance(event, ReasoningDelta):
            pieces[event.index].append(event.content)
        elif isinstance(event, ReasoningDone):
            joined = "".join(pieces.pop(event.index, ()))
            parts.append((-1 if event.index is None else event.index, event.part))
            if (event.part.text or "") != joined:
                yield (
                    f"a ReasoningDone at index {event.index} has {shorten(event.part.text or '')!r}, "
                    f"but its deltas joined are {shorten(joined)!r}"
                )
    if reading.error is not None:
        return
    for at in pieces:
        yield f"reasoning at index {at} was started and has no ReasoningDone"
    in_order = [part for _, part in sorted(parts, key=lambda pair: pair[0])]
    in_message = reading.message.reasoning
    if in_message != in_order:
        yield f"the message's reasoning is {shorten(in_message)}, the events' {shorten(in_order)}"


def ending_breaches(reading: Reading) -> Iterator[str]:
    """What is broken of law 5."""
    events, message = reading.events, reading.message
    finishes = [event for event in events if isinstance(event, FinishReasonDone)]
    usages = [event for event in events if isinstance(event, TokenUsageDone)]
    starts = [at for at, event in enumerate(events) if isinstance(event, ResponseStarted)]
    if len(usages) > 1:
        yield f"{len(usages)} TokenUsageDone"
    if starts and starts != [0]:
        yield f"ResponseStarted is event {', '.join(str(at + 1) for at in starts)}: it comes once, and first"
    if reading.error is not None:
        if finishes or usages:
            yield f"ended in {type(reading.error).__name__}, but after {shorten([*usages, *finishes])}"
        if message.finish_reason is not None:
            yield f"ended in {type(reading.error).__name__}, but the message has {message.finish_reason!r}"
        return
    if len(finishes) != 1:
        yield f"{len(finishes)} FinishReasonDone in a complete response"
        return
    (finish,) = finishes
    if events[-(1 + len(usages)) :] != [*usages, finish]:
        yield f"the last events are {shorten(events[-(1 + len(usages)) :])}, not usage and finish reason"
    told = (finish.finish_reason, finish.raw_finish_reason, usages[0].token_usage if usages else None)
    kept = (message.finish_reason, message.raw_finish_reason, message.token_usage)
    if told != kept:
        yield f"the events end with {told}, the message with {kept}"
    if finish.finish_reason == "stop" and any(isinstance(event, ToolCallDone) for event in events):
        yield "the response calls tools, but its finish reason is stop"


_KINDS: dict[type[Event], tuple[str, ...]] = {
    TextDelta: ("text",),
    TextDone: ("text",),
    Citation: ("text",),
    ToolCallDelta: ("tool-call",),
    ToolCallDone: ("tool-call",),
    ReasoningDelta: ("reasoning",),
    ReasoningDone: ("reasoning",),
    FileDone: ("image", "file"),
    WebSearchStatus: ("provider", "text"),
    WebSearchDone: ("provider", "text"),
    ServerToolCall: ("provider", "text"),
    ServerToolResult: ("provider", "text"),
}
"""The type of the part that each event's `index` may point at."""

_PLACELESS = (WebSearchStatus, WebSearchDone, ServerToolCall, ServerToolResult)
"""Events that need no part: a search may be reported beside the answer, before any text."""


def index_breaches(reading: Reading) -> Iterator[str]:
    """What is broken of the law of the index."""
    content = reading.message.content
    texts: defaultdict[int, list[str]] = defaultdict(list)
    shown: defaultdict[int, list[str]] = defaultdict(list)
    for event in reading.events:
        if not isinstance(event, CONTENT_EVENTS):
            continue
        at: int | None = event.index  # type: ignore[attr-defined]
        if at is None:
            if not isinstance(event, _PLACELESS):
                yield f"no index: {shorten(event)}"
            continue
        if not 0 <= at < len(content):
            yield f"the message has {len(content)} parts: {shorten(event)}"
            continue
        if content[at].type not in _KINDS.get(type(event), (content[at].type,)):
            yield f"part {at} of the message is a {content[at].type} part: {shorten(event)}"
        if isinstance(event, TextDelta):
            texts[at].append(event.content)
        elif isinstance(event, ReasoningDelta):
            shown[at].append(event.content)
    for at, part in enumerate(content):
        yield from _rebuilt_breaches(at, part, "".join(texts[at]), "".join(shown[at]))


def _rebuilt_breaches(at: int, part: Any, said: str, thought: str) -> Iterator[str]:
    if part.type == "text" and part.text != said:
        yield f"part {at} has the text {shorten(part.text)!r}, its deltas are {shorten(said)!r}"
    if part.type == "reasoning":
        whole = "".join(detail.text or "" for detail in part.details)
        if whole != thought:
            yield f"part {at} has the reasoning {shorten(whole)!r}, its deltas are {shorten(thought)!r}"


_CHECKS = {
    "text": text_breaches,
    "tool_calls": tool_call_breaches,
    "reasoning": reasoning_breaches,
    "ending": ending_breaches,
    "index": index_breaches,
}
