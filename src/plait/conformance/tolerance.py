"""Law 9: what nobody expected costs nothing but itself.

The recorded frames are changed, one thing at a time, as providers do without notice: a new field, a new
event, a new value, a field that suddenly has another type. Which change is made where is the same on every
run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from plait import json_text
from plait.conformance.content import content_breaches
from plait.conformance.event_stream import event, with_payload
from plait.conformance.frames import Frame, ending, framing, is_broken
from plait.conformance.law import law
from plait.conformance.reading import Reading, Subject, event_difference, shorten
from plait.errors import IncompleteStreamError, ProtocolError, ProviderError

MARK = "plait_unknown"
"""The field, event type and value that no provider has."""

WORK = 1_000_000
"""Changed bodies are read until this many bytes have been read again; which ones, a seeded shuffle says."""

RUN = 8_000
"""What it costs to make a changed body, a parser and a message, in bytes that could be read instead."""

FEWEST = 25
"""So many values are changed in a body of any length."""


class Surprise(msgspec.Struct, frozen=True):
    """What a wire's parser must count.

    Attributes:
        event: a document of a kind that nobody knows, to be put between the frames
        counted_event: whether such a document is told from the known ones, and so counted in `unknown`
        counted: paths of values (`[]` for any list item) of which an unknown one is counted; with
            `<type>:` before it, only in documents of that type
        framed: the event's bytes; `{}` stands for the document
    """

    event: Mapping[str, Any]
    counted_event: bool
    counted: frozenset[str] = frozenset()
    framed: str = "data: {}\n\n"


SURPRISES: dict[str, Surprise] = {
    "openai-chat": Surprise(
        {"object": MARK, MARK: {"value": 1}}, False, frozenset({"choices[].finish_reason"})
    ),
    "openai-responses": Surprise(
        {"type": f"response.{MARK}", "sequence_number": 1, "item_id": MARK, "output_index": 0, "delta": MARK},
        True,
        frozenset({"type", "response.output_item.done:item.type"}),
    ),
    "anthropic-messages": Surprise(
        {"type": MARK, "index": 0, "delta": {"type": "text_delta", "text": MARK}},
        True,
        frozenset({"type", "content_block.type", "delta.type", "delta.stop_reason"}),
    ),
    "bedrock-converse": Surprise({MARK: {"value": 1}}, True, frozenset({"stopReason", "start.toolUse.type"})),
    "gemini": Surprise(
        {"modelStatus": MARK, MARK: {"value": 1}}, False, frozenset({"candidates[].finishReason"})
    ),
    "cohere-chat": Surprise(
        {"type": MARK, "index": 0, "delta": {"message": {"content": {"text": MARK}}}},
        True,
        frozenset({"type", "content-start:delta.message.content.type", "message-end:delta.finish_reason"}),
    ),
    "mistral-chat": Surprise(
        {"object": MARK, MARK: {"value": 1}},
        False,
        frozenset({"choices[].finish_reason", "choices[].delta.content[].type"}),
    ),
    "ollama-chat": Surprise({MARK: {"value": 1}}, False, frozenset({"done_reason"}), "{}\n"),
}
"""Per wire. A wire without a row is checked for fields, types and broken payloads, not for its events."""

ENUMS = frozenset({"type", "role", "status", "object", "finish_reason", "stop_reason", "reason", "phase"})
"""Fields whose string is one of a list, whatever the wire."""

NOT_CHANGED = frozenset({"error", "errors"})
"""Fields whose mere presence means that the provider failed."""

Path: TypeAlias = tuple[str | int, ...]


@law("tolerance", 9)
def tolerance(subject: Subject) -> Iterator[str]:
    """Unknown fields, events, block types and values, and known fields of another type, never raise.

    They are counted, and what they do not touch is read as before. A payload that is no JSON object is a
    `ProtocolError`, after what came before it.
    """
    yield from _unknown_fields(subject)
    yield from _unknown_events(subject)
    yield from _broken_payloads(subject)
    yield from _changed_values(subject)
    yield from _noise(subject)


def _objects(subject: Subject) -> list[Frame]:
    """The frames that can be changed in place: before the end, with an object on one line as payload."""
    end = _end(subject)
    return [
        frame
        for frame in subject.frames
        if isinstance(frame.payload, dict) and frame.one_line and (end is None or frame.payload_end <= end)
    ]


def _end(subject: Subject) -> int | None:
    """Where the response is over, failed or broken; None where it never is."""
    try:
        end = ending(subject.wire, subject.body)
    except KeyError:
        return None
    return min((mark for mark in (end.over, end.failed, end.broken) if mark is not None), default=None)


def _with_payload(body: bytes, frame: Frame, payload: Any) -> bytes:
    text = (
        payload
        if isinstance(payload, str)
        else json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    )
    raw = text.encode("utf-8", "surrogatepass")
    if frame.binary:
        return body[: frame.start] + with_payload(body[frame.start : frame.end], raw) + body[frame.end :]
    return body[: frame.payload_start] + raw + body[frame.payload_end :]


# New fields and events: nothing else changes


def _unknown_fields(subject: Subject) -> Iterator[str]:
    body = subject.body
    plain = subject.body
    for frame in reversed(_objects(subject)):
        body = _with_payload(body, frame, _with_field(frame.payload))
        plain = _with_payload(plain, frame, frame.payload)
    expected, got = subject.read([plain]), subject.read([body])
    if got.crash is not None:
        yield f"an unknown field in every object: {got.crash}"
        return
    if type(got.error) is not type(expected.error):
        yield f"an unknown field in every object: ended in {got.error!r}, not in {expected.error!r}"
        return
    with_field = [_without_field(event.to_dict()) for event in got.events]
    without = [_without_field(event.to_dict()) for event in expected.events]
    for number, (one, other) in enumerate(zip(with_field, without, strict=False), 1):
        if one != other:
            yield f"an unknown field in every object: event {number} is {shorten(one)}, not {shorten(other)}"
            return
    if len(with_field) != len(without):
        yield f"an unknown field in every object: {len(with_field)} events, not {len(without)}"


def _with_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_field(item) for item in value]
    if not isinstance(value, dict) or not value:  # `{}` means "nothing" in places: an input that will come
        return value
    changed = {key: item if key in NOT_CHANGED else _with_field(item) for key, item in value.items()}
    return {**changed, MARK: {"nested": [1, None]}}


def _without_field(value: Any) -> Any:
    """Opaque data (a server tool's input, a block that is kept) keeps the field: ignore it there."""
    if isinstance(value, dict):
        return {key: _without_field(item) for key, item in value.items() if key != MARK}
    if isinstance(value, list):
        return [_without_field(item) for item in value]
    if isinstance(value, str) and value[:1] in ("{", "["):  # arguments that came as an object
        try:
            return json.dumps(_without_field(json_text.loads(value)))
        except ValueError:
            return value
    return value


def _unknown_events(subject: Subject) -> Iterator[str]:
    surprise = SURPRISES.get(subject.wire)
    if surprise is None or framing(subject.wire, subject.body) == "json":
        return
    if subject.frames and is_broken(subject.frames[0].payload):  # no stream at all: an HTML page, perhaps
        return
    document = json.dumps(surprise.event)
    strange = surprise.framed.replace("{}", document).encode()
    if framing(subject.wire, subject.body) == "event-stream":
        strange = event(MARK, document.encode())
    end = _end(subject)
    before = [frame.start for frame in subject.frames if end is None or frame.payload_end <= end]
    pieces = [subject.body[start:stop] for start, stop in zip([0, *before], [*before, None], strict=True)]
    got = subject.read([strange.join(pieces)])
    whole = subject.whole
    problem = got.crash
    if problem is None and type(got.error) is not type(whole.error):
        problem = f"ended in {got.error!r}, not in {whole.error!r}"
    if problem is None and got.events != whole.events:
        problem = event_difference(whole.events, got.events)
    if problem is not None:
        yield f"an unknown event before every frame: {problem}"
    elif surprise.counted_event and sum(got.unknown.values()) - sum(whole.unknown.values()) != len(before):
        yield f"{len(before)} unknown events were added, and unknown is {shorten(dict(got.unknown))}"


# Payloads that are not what the wire has


def _broken_payloads(subject: Subject) -> Iterator[str]:
    # An event named `error`, or after an exception, is the provider's error, in whatever words.
    frames = [
        frame
        for frame in _objects(subject)
        if (frame.end > frame.payload_end or frame.binary)
        and frame.event != "error"
        and not frame.event.endswith("Exception")
    ]
    if framing(subject.wire, subject.body) == "json" or not frames:
        return
    chosen = {id(frame): frame for frame in (frames[0], frames[len(frames) // 2], frames[-1])}.values()
    for frame in chosen:
        before = subject.fed(subject.body[: frame.start])
        for payload in ("<html>busy</html>", frame.text[:-1], '"text"', "[1]", "7", "{'a': 1}"):
            body = _with_payload(subject.body, frame, payload)
            if not frame.binary and (
                not body[frame.payload_start :].strip() or not body.endswith((b"\n", b"\r"))
            ):
                continue
            got = subject.read([body])
            where = f"the payload at byte {frame.payload_start:,} replaced by {shorten(payload, 40)}"
            if got.crash is not None:
                yield f"{where}: {got.crash}"
            elif type(got.error) is not ProtocolError:
                yield f"{where}: expected a ProtocolError, got {got.error!r}"
            elif got.events != before:
                yield f"{where}: {event_difference(before, got.events)}"


def _noise(subject: Subject) -> Iterator[str]:
    """Bytes that no one meant: any bytes give events or a typed fault."""
    chance = random.Random(len(subject.body))
    for number in range(8 if subject.body else 0):
        body = bytearray(subject.body)
        for _ in range(1 + number):
            body[chance.randrange(len(body))] = chance.randrange(256)
        got = subject.read([bytes(body)])
        if got.crash is not None:
            yield f"{number + 1} random bytes changed: {got.crash}"


# Values and types that nobody expected


def _changed_values(subject: Subject) -> Iterator[str]:
    frames = _objects(subject)
    sites = list(_sites(frames).items())
    chance = random.Random(len(subject.body))
    chance.shuffle(sites)
    runs = max(FEWEST, WORK // (len(subject.body) + RUN))
    prefixes: dict[int, int] = {}
    for (_, where), (frame, path) in sites[:runs]:
        old = _at(frame.payload, path)
        new = _other(old, path[-1], chance)
        body = _with_payload(subject.body, frame, _replaced(frame.payload, path, new))
        got = subject.read([body])
        if frame.start not in prefixes:
            prefixes[frame.start] = len(subject.fed(subject.body[: frame.start]))
        for words in _changed_breaches(subject, frame, where, new, prefixes[frame.start], got):
            yield f"{where} at byte {frame.payload_start:,} is {shorten(json.dumps(new), 40)}: {words}"


def _sites(frames: list[Frame]) -> dict[tuple[str, str], tuple[Frame, Path]]:
    """One place for every path of every kind of document."""
    sites: dict[tuple[str, str], tuple[Frame, Path]] = {}
    for frame in frames:
        kind = f"{frame.event}/{frame.payload.get('type')}"
        for path in _paths(frame.payload):
            name = "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
            sites.setdefault((kind, name), (frame, path))
    return sites


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if len(path) > 7:
        return
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, item in items:
        if key not in NOT_CHANGED:
            yield (*path, key)
            yield from _paths(item, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_replaced(item, rest, new) if at == step else item for at, item in enumerate(value)]
    return {key: _replaced(item, rest, new) if key == step else item for key, item in value.items()}


def _other(old: Any, key: str | int, chance: random.Random) -> Any:
    if isinstance(old, str) and key in ENUMS and chance.random() < 0.5:
        return MARK
    kinds: tuple[Any, ...] = (7, -1.5, MARK, None, True, [], {}, [MARK], {MARK: 1}, [None])
    return chance.choice([other for other in kinds if type(other) is not type(old)])


def _changed_breaches(
    subject: Subject, frame: Frame, path: str, new: Any, prefix: int, got: Reading
) -> Iterator[str]:
    if got.crash is not None:
        yield got.crash
        return
    error, usual = got.error, subject.whole.error
    if error is not None and type(error) is not type(usual):
        # What said that the response is over may be gone; what said why it failed may be another error.
        excused = isinstance(error, IncompleteStreamError) and _decides(subject, frame)
        if not excused and not (isinstance(error, ProviderError) and isinstance(usual, ProviderError)):
            yield f"ended in {type(error).__name__}: {shorten(error)}"
            return
    whole = subject.whole.events
    if got.events[:prefix] != whole[:prefix]:
        yield event_difference(whole[:prefix], got.events[:prefix])
    yield from content_breaches(got)
    uncounted = sum(got.unknown.values()) <= sum(subject.whole.unknown.values())
    if new == MARK and uncounted and error is usual is None and _must_count(subject, frame, path):
        yield f"not counted: unknown is {shorten(dict(got.unknown))}"


def _must_count(subject: Subject, frame: Frame, path: str) -> bool:
    surprise = SURPRISES.get(subject.wire)
    if surprise is None or framing(subject.wire, subject.body) == "json":
        return False
    names = {path, f"{frame.payload.get('type')}:{path}"}
    return not surprise.counted.isdisjoint(names) and isinstance(_value(frame, path), str)


def _value(frame: Frame, path: str) -> Any:
    value = frame.payload
    for step in path.replace("[]", ".0").split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _decides(subject: Subject, frame: Frame) -> bool:
    """Whether without this frame the response would not be complete."""
    without = subject.body[: frame.start] + subject.body[frame.end :]
    return framing(subject.wire, subject.body) == "json" or ending(subject.wire, without).complete is None
