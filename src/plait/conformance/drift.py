"""Drift: what recordings contain that no parser reads. It is how a contributor sees what a provider added.

    found = drift("openai-chat", body)
    for row in found.rows("openai-chat"):
        print(row.kind, row.key, row.count, row.example)

Nothing is listed by hand: which fields are read, the wire structs say, and each parser counts what it does
not know in `unknown`. Examples are redacted, so that a report can be shown to anyone: see `redacted`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

import plait
from plait.errors import InvalidDataError
from plait.wire.reading import Counts

Kind: TypeAlias = Literal["event", "block", "value", "type", "field", "oddity"]

KINDS: tuple[Kind, ...] = ("event", "block", "value", "type", "field", "oddity")
"""Events, blocks (parts, deltas, tools) and enum values that nobody knows; known fields of an unexpected JSON
type; fields that no struct reads; and what makes sense by itself, but not where it came."""

EXPLAINED: frozenset[Kind] = frozenset({"event", "block", "value"})
"""Kinds that a baseline must give a reason for: what is not read of these may be a part of the answer."""

_KIND_OF: Mapping[str, Kind] = {
    "event": "event",
    "message": "event",
    **dict.fromkeys(
        (
            "annotation", "block", "citation", "content", "delta", "part", "reasoning_detail", "thinking",
            "tool_type",
        ),
        "block",
    ),
    **dict.fromkeys(("block_reason", "finish_reason", "status"), "value"),
    "type": "type",
    "field": "field",
}  # fmt: skip
"""Kind of a key of `Parser.unknown`, by what stands before its colon."""

_MOST_KEYS = 8
_WORD = re.compile(
    r"(?=.{1,24}\Z)(?:[a-z]{0,16}[0-9]{0,4}[a-z]?(?:[_.-][a-z]{0,16}[0-9]{0,4}[a-z]?)*|[A-Z]+(?:_[A-Z]+)*)\Z"
)
_NAME = re.compile(r"(?!.*\d{6})[A-Za-z_$][\w.$-]{0,39}\Z", re.ASCII)


def kind_of(key: str) -> Kind:
    """The kind of a key of `Parser.unknown`, such as `field:usage.seconds` or `finish_reason:tired`."""
    start, _, rest = key.partition(":")
    kind = _KIND_OF.get(start, "oddity")
    return "oddity" if kind in ("event", "block") and (" " in rest or "=" in rest) else kind


def redacted(value: Any) -> str:
    """A value as an example that gives nothing away.

    Numbers, booleans and null are shown; of objects the keys, of lists the length; of text only its length,
    unless it looks like a word of a list of words (`end_turn`, `ON_DEMAND`): an id or a sentence does not.
    """
    match value:
        case str() if _WORD.match(value):
            return json.dumps(value)
        case str():
            return f"text of {len(value):,} characters" if value else '""'
        case dict():
            keys = [key if _NAME.match(str(key)) else "…" for key in list(value)[:_MOST_KEYS]]
            return "{" + ", ".join(keys + ["…"] * (len(value) > _MOST_KEYS)) + "}"
        case list():
            return f"list of {len(value):,}"
    return json.dumps(value)


class Row(msgspec.Struct, frozen=True):
    """One thing that is not read.

    Attributes:
        kind: what it is
        key: its key in `Parser.unknown`
        count: how often it came
        example: the value that came first, redacted; None where the key says all
    """

    kind: Kind
    key: str
    count: int
    example: str | None = None

    @property
    def name(self) -> str:
        """The path, or the value, without its kind."""
        return self.key if self.kind == "oddity" else self.key.partition(":")[2]


Baseline: TypeAlias = Mapping[str, Mapping[str, str]]
"""Per wire format, the keys that are known not to be read, with the reason; a field may have an empty one."""


class Drift:
    """What was not read, per wire format. Drifts of several recordings are added to one another."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Row]] = {}

    @property
    def wires(self) -> list[str]:
        """The wire formats of which something is not read, sorted."""
        return sorted(wire for wire, rows in self._rows.items() if rows)

    def rows(self, wire: str) -> list[Row]:
        """What is not read of a wire format: by kind, then what came most often first."""
        rows = self._rows.get(wire, {}).values()
        return sorted(rows, key=lambda row: (KINDS.index(row.kind), -row.count, row.key))

    def add(self, other: Drift) -> None:
        """Count what another drift has found as well."""
        for wire, rows in other._rows.items():
            for row in rows.values():
                self._add(wire, row)

    def without(self, baseline: Baseline) -> Drift:
        """What the baseline does not list."""
        new = Drift()
        for wire, rows in self._rows.items():
            for row in rows.values():
                if row.key not in baseline.get(wire, {}):
                    new._add(wire, row)
        return new

    def baseline(self, reasons: Baseline | None = None) -> dict[str, dict[str, str]]:
        """All of it as a baseline, in the order of `rows`, with the reasons that are known already."""
        known = reasons or {}
        return {
            wire: {row.key: known.get(wire, {}).get(row.key, "") for row in self.rows(wire)}
            for wire in self.wires
        }

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """JSON data: per wire format the rows, in order."""
        return {wire: [msgspec.to_builtins(row) for row in self.rows(wire)] for wire in self.wires}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Drift:
        """The drift that `to_dict` wrote.

        Raises:
            InvalidDataError: it is something else
        """
        drift = cls()
        try:
            for wire, rows in msgspec.convert(data, dict[str, list[Row]]).items():
                for row in rows:
                    drift._add(wire, row)
        except msgspec.ValidationError as error:
            raise InvalidDataError(f"expected a drift as `to_dict` writes it: {error}") from None
        return drift

    def __bool__(self) -> bool:
        return any(self._rows.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drift) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _add(self, wire: str, row: Row) -> None:
        rows = self._rows.setdefault(wire, {})
        before = rows.get(row.key)
        if before is not None:
            row = Row(row.kind, row.key, before.count + row.count, before.example or row.example)
        rows[row.key] = row


def drift(wire: str, body: bytes, *, dialect: str | None = None, **options: Any) -> Drift:
    """What a parser does not read of this body: a stream, or a whole answer.

    Args:
        wire, dialect, options: as for `plait.parser`
        body: a response's bytes as they came

    Raises:
        UnknownWireError: no such wire format, dialect or option
    """
    parser = plait.parser(wire, dialect=dialect, count_fields=True, **options)
    parser.feed(body)
    parser.finish()
    found = Drift()
    for row in _rows(parser.unknown):
        found._add(wire, row)
    return found


def _rows(unknown: Mapping[str, int]) -> Iterator[Row]:
    examples = unknown.examples if isinstance(unknown, Counts) else {}
    for key, count in unknown.items():
        yield Row(kind_of(key), key, count, redacted(examples[key]) if key in examples else None)


def read_baseline(data: bytes) -> dict[str, dict[str, str]]:
    """The baseline in a file's bytes.

    Raises:
        InvalidDataError: it is not JSON, or not a baseline
    """
    try:
        return msgspec.json.decode(data, type=dict[str, dict[str, str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidDataError(
            'expected a baseline, {"<wire>": {"<key>": "<reason, or empty for a field>"}}, '
            f"as --write-baseline writes it: {error}"
        ) from None


def unexplained(baseline: Baseline) -> list[str]:
    """The entries, as `<wire> <key>`, that need a reason and have none."""
    return [
        f"{wire} {key}"
        for wire, entries in baseline.items()
        for key, reason in entries.items()
        if kind_of(key) in EXPLAINED and not reason.strip()
    ]
