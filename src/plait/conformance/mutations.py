"""What can be wrong with a stream: changes of its documents, of its frames, and of its bytes.

Every choice is made by a `Chance`, so that hypothesis can make, repeat and shrink them, or a seeded generator
can stand in its place.
"""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from plait.conformance.encoding import Document
from plait.framing import encode_event_stream_message

T = TypeVar("T")


class Chance(ABC):
    """Makes the choices of a mutation."""

    @abstractmethod
    def below(self, size: int) -> int:
        """A number from 0 to `size` - 1."""

    @abstractmethod
    def other_documents(self) -> list[Document]:
        """The documents of another stream."""

    @abstractmethod
    def error(self) -> Document:
        """An error document of some provider."""

    def pick(self, choices: Sequence[T]) -> T:
        """One of these."""
        return choices[self.below(len(choices))]

    def name(self, names: Mapping[str, Any] | Sequence[str]) -> str:
        """One of these names."""
        return self.pick(list(names))

    def place(self, items: Sequence[Any] | bytes) -> int:
        """A position in these, or behind the last."""
        return self.below(len(items) + 1)

    def span(self, items: Sequence[Any] | bytes) -> tuple[int, int]:
        """A start and an end in these, mostly near each other."""
        start = self.place(items)
        return start, min(len(items), start + self.pick((1, 1, 2, 3, 8, 64)))


VALUES: tuple[Any, ...] = (
    None, True, False, 0, 7, -1, 1.5, 2**70, -(2**63), float("nan"), float("inf"), 1e300,
    "", "0", "text", "null", "[DONE]", "é\u2028\x00", "\ud83d", "stop", "tool_calls", "error",
    [], {}, [None], [[]], [{}], [7], ["text"], {"": None}, {"text": "x"}, {"type": 7}, {"type": "text"},
    {"error": {}}, {"message": {"content": [7, None, "x"]}}, {"index": "0"},
)  # fmt: skip
"""What may stand where something else is expected."""

DEEP = 250
"""Levels of a document that is nested deeper than messages may be."""

MAX_PLACE = 20
"""Values are changed down to this many levels, so that what is nested deep does not get deeper each time."""

TEXTS: tuple[Document, ...] = (
    "[DONE]", "", "{", "}", "null", "7", '"text"', "[1, 2]", "[]", "{}", "{'a': 1}", "<html>busy</html>",
    ": ping",
    "NaN", "[" * 5000, "{}{}", "\ufeff{}", '{"type":',
)  # fmt: skip
"""Payloads that are no document."""

UNKNOWN: tuple[Document, ...] = (
    {"type": "plait_unknown", "index": 0, "delta": {"type": "plait_unknown", "text": "x"}},
    {"plaitUnknown": {"contentBlockIndex": 0}},
    {"type": "ping"},
    {"object": "plait_unknown"},
    {"choices": []},
    {"message": {"role": "assistant"}, "done": False},
)
"""Documents that nobody knows, or that say nothing."""

SILENT_FRAMES: tuple[bytes, ...] = (
    b": ping\n\n", b"\n", b"\r\n\r\n", b"data:\n\n", b"data\n\n", b"event: error\ndata: no\n\n",
    b"event: ping\n\n",
    b"id: 1\nretry: 5\n\n", b"data: : ping\n\n", b"data: [DONE]\n\n", b"  \n", b"{}\n", b"\x00",
    b"\xef\xbb\xbf", b"]",
    b",", b"[", b"data: {\ndata: }\n\n", b"event: error\n", b"data: \xff\n\n",
    encode_event_stream_message({":message-type": "event", ":event-type": "initial-response"}, b"{}"),
    encode_event_stream_message({":message-type": "exception", ":exception-type": "throttlingException"},
    b"x"),
    encode_event_stream_message({":message-type": "error", ":error-code": "InternalError"}),
    encode_event_stream_message({":message-type": "event", ":event-type": "chunk"}, b'{"bytes": "e30="}'),
    encode_event_stream_message({":event-type": "metadata", "n": 7, "b": b"x"}, b"\xff"),
    encode_event_stream_message({}, b""),
)  # fmt: skip
"""Frames, and pieces of frames, of every framing."""

SCRAPS: tuple[bytes, ...] = (
    b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f", b"\xef\xbb\xbf",
    b'"', b"\\", b"{",
    b"}", b"[", b"]", b",", b":", b"data: ", b"data:{", b"event: error\n", b"\\ud800", b"1e999",
    b"9" * 5000, b"\xe2\x80\xa8",
    b"null", b"-",
)  # fmt: skip
"""Bytes that mean something to one framing or another, or to nobody."""


def dump(document: Document) -> bytes:
    """JSON, also of what JSON has no words for: NaN, and halves of surrogate pairs, which are no UTF-8."""
    if isinstance(document, str):
        return document.encode("utf-8", "surrogatepass")
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


# Documents, or frames


def _drop(chance: Chance, items: list[T]) -> list[T]:
    start, end = chance.span(items)
    return items[:start] + items[end:]


def _drop_last(_chance: Chance, items: list[T]) -> list[T]:
    return items[:-1]


def _cut(chance: Chance, items: list[T]) -> list[T]:
    return items[: chance.place(items)]


def _repeat(chance: Chance, items: list[T]) -> list[T]:
    start, end = chance.span(items)
    at = chance.pick((end, chance.place(items)))
    return items[:at] + items[start:end] + items[at:]


def _swap(chance: Chance, items: list[T]) -> list[T]:
    if not items:
        return items
    one, other = chance.below(len(items)), chance.below(len(items))
    swapped = list(items)
    swapped[one], swapped[other] = items[other], items[one]
    return swapped


def _reverse(chance: Chance, items: list[T]) -> list[T]:
    start, end = chance.span(items)
    return items[:start] + items[start:end][::-1] + items[end:]


# Documents


def _splice(chance: Chance, documents: list[Document]) -> list[Document]:
    others = chance.other_documents()
    return documents[: chance.place(documents)] + others[chance.place(others) :]


def _interleave(chance: Chance, documents: list[Document]) -> list[Document]:
    mixed = list(documents)
    at = 0
    for other in chance.other_documents():
        at += chance.below(len(mixed) - at + 1)
        mixed.insert(at, other)
    return mixed


def _insert(chance: Chance, documents: list[Document]) -> list[Document]:
    at = chance.place(documents)
    new = chance.error() if chance.below(3) == 0 else chance.pick((*UNKNOWN, *TEXTS))
    return [*documents[:at], new, *documents[at:]]


def _change_value(chance: Chance, documents: list[Document]) -> list[Document]:
    return _at_a_place(chance, documents, lambda parent, key: parent.__setitem__(key, _value(chance)))


def _leave_out_value(chance: Chance, documents: list[Document]) -> list[Document]:
    return _at_a_place(chance, documents, lambda parent, key: parent.__delitem__(key))


def _add_field(chance: Chance, documents: list[Document]) -> list[Document]:
    def add(parent: Any, _key: Any) -> None:
        if isinstance(parent, dict):
            parent[chance.pick(_FIELDS)] = _value(chance)
        else:
            parent.insert(chance.place(parent), _value(chance))

    return _at_a_place(chance, documents, add)


def _move_value(chance: Chance, documents: list[Document]) -> list[Document]:
    """A value takes the place of another: an id is given twice, an index is another one's."""
    values = [parent[key] for document in documents for parent, key in _places(document)]
    if not values:
        return documents
    value = copy.deepcopy(chance.pick(values))
    return _at_a_place(chance, documents, lambda parent, key: parent.__setitem__(key, value))


_FIELDS = (
    "plait_unknown", "error", "type", "index", "message", "delta", "content", "text", "usage",
    "finish_reason",
    "tool_calls", "id", "detail", "role", "thinking", "reasoning_details", "annotations", "candidates",
    "output",
    "citations", "partialArgs", "willContinue", "thoughtSignature", "groundingMetadata", "images",
    "audio",
    "encrypted_content", "arguments", "input", "status", "trace", "redactedContent", "refusal", "code",
    "done",
)  # fmt: skip


def _value(chance: Chance) -> Any:
    number = chance.below(len(VALUES) + 1)
    if number < len(VALUES):
        return copy.deepcopy(VALUES[number])
    deep: Any = "deep"
    for _ in range(DEEP):
        deep = [deep]
    return deep


def _at_a_place(
    chance: Chance, documents: list[Document], change: Callable[[Any, Any], None]
) -> list[Document]:
    """Change a copy of one document at one place, which may be any value in it."""
    numbers = [number for number, document in enumerate(documents) if isinstance(document, dict) and document]
    if not numbers:
        return documents
    number = chance.pick(numbers)
    document = copy.deepcopy(documents[number])
    change(*chance.pick([*_places(document)]))
    return [*documents[:number], document, *documents[number + 1 :]]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in some data, as what it is in and its key there."""
    waiting = [(value, 1)]
    while waiting:
        parent, level = waiting.pop()
        keys: Sequence[Any] = ()
        if isinstance(parent, dict):
            keys = list(parent)
        elif isinstance(parent, list):
            keys = range(len(parent))
        for key in keys:
            yield parent, key
            if level < MAX_PLACE:
                waiting.append((parent[key], level + 1))


# Frames


def _insert_frame(chance: Chance, frames: list[bytes]) -> list[bytes]:
    at = chance.place(frames)
    return [*frames[:at], chance.pick(SILENT_FRAMES), *frames[at:]]


def _line_ends(chance: Chance, frames: list[bytes]) -> list[bytes]:
    end = chance.pick((b"\r\n", b"\r", b"\n\r", b"\n\n\n", b""))
    start, stop = chance.span(frames)
    return [
        frame.replace(b"\n", end) if start <= number < stop or start == 0 else frame
        for number, frame in enumerate(frames)
    ]


# Bytes


def _truncate(chance: Chance, data: bytes) -> bytes:
    return data[: chance.place(data)]


def _corrupt(chance: Chance, data: bytes) -> bytes:
    at = chance.place(data)
    return data[:at] + bytes((chance.below(256),)) + data[at + 1 :]


def _delete(chance: Chance, data: bytes) -> bytes:
    start, end = chance.span(data)
    return data[:start] + data[end:]


def _insert_bytes(chance: Chance, data: bytes) -> bytes:
    at = chance.place(data)
    return data[:at] + chance.pick(SCRAPS) + data[at:]


def _repeat_bytes(chance: Chance, data: bytes) -> bytes:
    start, end = chance.span(data)
    return data[:end] + data[start:]


def _join(chance: Chance, data: bytes) -> bytes:
    return data[: chance.place(data)] + data[chance.place(data) :]


DOCUMENTS: Mapping[str, Callable[[Chance, list[Document]], list[Document]]] = {
    "change a value": _change_value,
    "leave out a value": _leave_out_value,
    "move a value": _move_value,
    "add a field": _add_field,
    "insert a document": _insert,
    "splice two streams": _splice,
    "interleave two streams": _interleave,
    "drop documents": _drop,
    "drop the last document": _drop_last,
    "cut after a document": _cut,
    "repeat documents": _repeat,
    "swap documents": _swap,
    "reverse documents": _reverse,
}
"""Changes of a stream's documents."""

FRAMES: Mapping[str, Callable[[Chance, list[bytes]], list[bytes]]] = {
    "insert a frame": _insert_frame,
    "change line ends": _line_ends,
    "drop frames": _drop,
    "repeat frames": _repeat,
    "swap frames": _swap,
}
"""Changes of its frames."""

BYTES: Mapping[str, Callable[[Chance, bytes], bytes]] = {
    "truncate": _truncate,
    "corrupt a byte": _corrupt,
    "delete bytes": _delete,
    "insert bytes": _insert_bytes,
    "repeat bytes": _repeat_bytes,
    "join two cuts": _join,
}
"""Changes of its bytes."""
