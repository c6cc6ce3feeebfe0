"""Each mutation changes something, the same for the same choices, and leaves what it was given alone."""

from __future__ import annotations

import copy
import random

import pytest

from plait.conformance.encoding import ENCODERS, Answer, Document, Text, ToolCall
from plait.conformance.mutations import BYTES, DOCUMENTS, FRAMES, VALUES, Chance, dump

ENCODER = ENCODERS["anthropic-messages"]
DOCUMENT_LIST = ENCODER.stream_documents(
    Answer(parts=(Text(("Bon", "jour")), ToolCall("t1", "look", ('{"a":', "1}"))))
)
FRAME_LIST = ENCODER.frames(DOCUMENT_LIST)
BODY = ENCODER.join(FRAME_LIST)


class Seeded(Chance):
    """Choices of a seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, size: int) -> int:
        return self._random.randrange(size)

    def other_documents(self) -> list[Document]:
        return ENCODER.stream_documents(Answer(parts=(Text(("Salut",)),)))

    def error(self) -> Document:
        return {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str) -> None:
    """A change of documents."""
    before = copy.deepcopy(DOCUMENT_LIST)
    changed = [dump_all(DOCUMENTS[name](Seeded(seed), DOCUMENT_LIST)) for seed in range(9)]
    assert before == DOCUMENT_LIST
    assert any(other != dump_all(DOCUMENT_LIST) for other in changed)
    assert changed == [dump_all(DOCUMENTS[name](Seeded(seed), DOCUMENT_LIST)) for seed in range(9)]
    assert isinstance(DOCUMENTS[name](Seeded(0), []), list), "nothing to change is no fault"


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str) -> None:
    """A change of frames."""
    changed = [FRAMES[name](Seeded(seed), FRAME_LIST) for seed in range(9)]
    assert any(other != FRAME_LIST for other in changed)
    assert changed == [FRAMES[name](Seeded(seed), FRAME_LIST) for seed in range(9)]
    assert isinstance(FRAMES[name](Seeded(0), []), list), "nothing to change is no fault"


@pytest.mark.parametrize("name", BYTES)
def test_bytes(name: str) -> None:
    """A change of bytes."""
    changed = [BYTES[name](Seeded(seed), BODY) for seed in range(9)]
    assert any(other != BODY for other in changed)
    assert changed == [BYTES[name](Seeded(seed), BODY) for seed in range(9)]
    assert isinstance(BYTES[name](Seeded(0), b""), bytes), "nothing to change is no fault"


def test_every_value_can_be_written() -> None:
    """What JSON has no words for is written as servers write it by mistake."""
    assert [b"NaN", b"Infinity", b'"\xed\xa0\xbd"'] == [
        dump_value(value) for value in VALUES if value != value or value == float("inf") or value == "\ud83d"
    ]


def dump_value(value: object) -> bytes:
    return dump({"v": value}).removeprefix(b'{"v": ').removesuffix(b"}")


def dump_all(documents: list[Document]) -> list[bytes]:
    return [dump(document) for document in documents]
