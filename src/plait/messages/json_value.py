"""Strict JSON values: what metadata and a tool's JSON may hold, checked with messages that name the path."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from plait.errors import InvalidDataError

MAX_DEPTH = 100
"""How deep lists and dicts may be nested. Parsers of JSON give up at some depth (pydantic's at 200 levels),
and a message is itself stored inside other JSON: a session, a trace."""

_LARGEST = 4300
"""Python writes and reads no integer of more digits (`sys.get_int_max_str_digits`)."""

_NAME = re.compile(r"[A-Za-z_]\w*")
_SHOWN_STEPS = 8
_ADVICE = {
    "bytes": "; give base64 text",
    "date": "; give text, such as `.isoformat()`",
    "datetime": "; give text, such as `.isoformat()`",
    "frozenset": "; give a list",
    "set": "; give a list",
    "tuple": "; give a list",
}

Path = tuple[str | int, ...]


class NotJson(ValueError):
    """A value that is not strict JSON: where, below the value that was checked, and why."""

    def __init__(self, name: str, path: Path, reason: str) -> None:
        super().__init__(f"{name}{path_text(path)}: {reason}")
        self.path = path
        self.reason = reason


def check_json(value: object, name: str = "value") -> JsonValue:
    """A copy of `value`, which is strict JSON: string, finite number, boolean, null, list, dict with string
    keys, nested at most `MAX_DEPTH` deep.

    Args:
        value: what to check; subclasses of the JSON types (an `OrderedDict`, a `StrEnum`) count as these, and
            strings, lists and dicts are copied as such
        name: what the message calls the value

    Raises:
        InvalidDataError: it is not; the message begins with the path, as in
            `metadata.labels[2]: NaN is not a JSON number`
    """
    try:
        checked: JsonValue = copied(value, name)
    except NotJson as error:
        raise InvalidDataError(str(error)) from None
    return checked


def copied(value: object, name: str) -> Any:
    """As `check_json`, for validators.

    Raises:
        NotJson: it is not strict JSON
    """
    return _Copying(name).copy(value)


def path_text(path: Path) -> str:
    """A path as it is written after a name: `.labels[2]`, `["a b"].c`."""
    steps = [_step(step) for step in path[:_SHOWN_STEPS]]
    return "".join(steps) + ("..." if len(path) > _SHOWN_STEPS else "")


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) and len(step) <= 80 else f"[{json.dumps(step[:80])}]"


class _Copying:
    """One walk: `path` is where it is, `above` what it is inside of."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path: list[str | int] = []
        self.above: dict[int, int] = {}

    def refused(self, reason: str) -> NotJson:
        return NotJson(self.name, tuple(self.path), reason)

    def copy(self, value: object) -> Any:
        match value:
            case None | bool():
                return value
            case str():
                return value if type(value) is str else str.__str__(value)
            case int():
                if value.bit_length() > 3.3 * _LARGEST and abs(value) >= 10**_LARGEST:
                    raise self.refused(f"an integer of more than {_LARGEST:,} digits cannot be written")
                return value if type(value) is int else int(value)
            case float():
                if not math.isfinite(value):
                    word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
                    raise self.refused(f"{word} is not a JSON number")
                return value if type(value) is float else float(value)
            case list():
                self.enter(value)
                items = [self.copy_at(at, item) for at, item in enumerate(value)]
                self.leave(value)
                return items
            case dict():
                self.enter(value)
                entries = {self.key(key): self.copy_at(key, item) for key, item in value.items()}
                self.leave(value)
                return entries
        kind = type(value).__name__
        advice = _ADVICE.get(kind) or ("; give a dict" if isinstance(value, Mapping) else "")
        raise self.refused(f"{kind} is not a JSON value{advice}")

    def copy_at(self, step: Any, value: object) -> Any:
        self.path.append(step)
        copy = self.copy(value)
        self.path.pop()
        return copy

    def key(self, key: object) -> str:
        if not isinstance(key, str):
            raise self.refused(f"a key of a JSON object is a string, got {type(key).__name__} {key!r:.80}")
        return key if type(key) is str else str.__str__(key)

    def enter(self, container: object) -> None:
        if id(container) in self.above:
            target = f"{self.name}{path_text(tuple(self.path[: self.above[id(container)]]))}"
            raise self.refused(f"refers back to {target}: a cycle is not JSON")
        if len(self.above) >= MAX_DEPTH:
            raise self.refused(f"nested more than {MAX_DEPTH} levels deep")
        self.above[id(container)] = len(self.path)

    def leave(self, container: object) -> None:
        del self.above[id(container)]
