"""Where Plait's own time goes: framing, decoding, and the moves with the events they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from plait.framing import Block, SSEBlockDecoder
from plait.wire import translator_class
from plait.wire.reading import Reader

from .reading import Feeding
from .streams import Kind, stream
from .timing import best_of


@dataclass(frozen=True)
class Stages:
    """Microseconds of CPU per event."""

    chunks: str
    framing: float
    decoding: float
    moves: float

    @property
    def whole(self) -> float:
        """All three."""
        return self.framing + self.decoding + self.moves


def stages(wire: str, kind: Kind, rounds: int) -> list[Stages]:
    """The three stages, with the body fed whole and in one chunk per event.

    Framing and decoding are timed by themselves; the moves are what is left of a whole parse, which also
    holds the calls between the stages, making the parser and closing it.
    """
    source = stream(wire, kind)
    feeds: dict[str, Sequence[bytes]] = {"whole body": [source.body], "one event a chunk": source.events}
    documents = [data for _event, data, _block in _frame([source.body]) if data != b"[DONE]"]
    tasks: dict[str, Callable[[], object]] = {"decoding": partial(_decode, wire, documents)}
    for name, chunks in feeds.items():
        tasks[f"framing, {name}"] = partial(_frame, chunks)
        tasks[name] = Feeding(wire, chunks).run
    best = {name: seconds / len(source.events) * 1e6 for name, seconds in best_of(tasks, rounds).items()}
    decoding = best["decoding"]
    return [
        Stages(name, framing, decoding, best[name] - framing - decoding)
        for name, framing in ((name, best[f"framing, {name}"]) for name in feeds)
    ]


def _frame(chunks: Sequence[bytes]) -> list[Block]:
    decoder = SSEBlockDecoder()
    blocks: list[Block] = []
    for chunk in chunks:
        blocks += decoder.feed(chunk)
    return blocks + decoder.close()


def _decode(wire: str, documents: Sequence[bytes]) -> None:
    translator = translator_class(wire)
    decode = Reader(translator.types, Counter(), ignored=translator.ignored).decode
    for document in documents:
        decode(document)
