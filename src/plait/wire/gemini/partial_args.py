"""Arguments that come as JSON paths with values (Vertex AI, `streamFunctionCallArguments`) -> JSON text.

    {"jsonPath": "$.dish.name", "stringValue": "Pas", "willContinue": true}   ->  {"dish":{"name":"Pas
    {"jsonPath": "$.dish.name", "stringValue": "ta"}                          ->  ta"
    {"jsonPath": "$.dish.steps[0]", "numberValue": 3}                         ->  ,"steps":[3
    the end                                                                   ->  ]}}

The model writes its arguments as text, so the paths come in the order of that text, and each value can be
written as it comes.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

import msgspec

from plait.wire.gemini.wire import PartialArg

Path: TypeAlias = tuple[str | int, ...]

MAX_GAP = 1000
"""So many elements of an array may be left out (they become null) before its index counts as broken."""

# RFC 9535: `.name`, `[7]`, `['name']` or `["name"]`.
_STEP = re.compile(
    r"""\.([^.\[\]]++) | \[(\d{1,9})\] | \['((?:[^'\\]|\\.)*+)'\] | \["((?:[^"\\]|\\.)*+)"\]""",
    re.VERBOSE | re.DOTALL,
)


class MisplacedError(Exception):
    """The value belongs where nothing can be written any more."""


class _Container:
    __slots__ = ("is_array", "names", "size")

    def __init__(self, is_array: bool) -> None:
        self.is_array = is_array
        self.names: set[str] = set()
        self.size = 0


class PartialArguments:
    """Writes the JSON text of one call's arguments, piece by piece."""

    def __init__(self) -> None:
        self._containers: list[_Container] = []
        self._steps: list[str | int] = []  # from the root to the innermost open container
        self._string: Path | None = None  # where a string is open

    @property
    def empty(self) -> bool:
        """Whether nothing was written."""
        return not self._containers

    def write(self, arg: PartialArg) -> str:
        """The text that this value adds.

        Raises:
            MisplacedError: no path, or one that was left before
        """
        path = parse_path(arg.json_path or "")
        if not path:
            raise MisplacedError
        if path == self._string:
            piece = "" if arg.string_value is None else _inside_string(arg.string_value)
        else:
            value = _value(arg)
            if value is None:
                return ""
            piece = self._end_string() + self._go_to(path) + value
            if arg.string_value is not None:
                self._string = path
        if self._string is not None and not arg.will_continue:
            piece += self._end_string()
        return piece

    def close(self) -> str | None:
        """The text that ends the arguments; None when they end inside a string, or before they began."""
        if self._string is not None or self.empty:
            return None
        return "".join(self._leave() for _ in range(len(self._containers)))

    def _end_string(self) -> str:
        if self._string is None:
            return ""
        self._string = None
        return '"'

    def _go_to(self, path: Path) -> str:
        """Leave the containers that `path` is not in, and enter those that it is in."""
        shared = 0
        for step, other in zip(self._steps, path[:-1], strict=False):
            if step != other or isinstance(step, str) != isinstance(other, str):
                break
            shared += 1
        pieces = []
        while len(self._steps) > shared:
            self._steps.pop()
            pieces.append(self._leave())
        if self.empty:
            pieces.append(self._enter(path[0]))
        for place, step in enumerate(path[shared:], shared + 1):
            pieces.append(self._name(step))
            if place < len(path):
                self._steps.append(step)
                pieces.append(self._enter(path[place]))
        return "".join(pieces)

    def _enter(self, first: str | int) -> str:
        container = _Container(isinstance(first, int))
        self._containers.append(container)
        return "[" if container.is_array else "{"

    def _leave(self) -> str:
        return "]" if self._containers.pop().is_array else "}"

    def _name(self, step: str | int) -> str:
        """What stands before the value at `step` of the innermost container."""
        container = self._containers[-1]
        comma = "," if container.size else ""
        if isinstance(step, int):
            gap = step - container.size
            if not container.is_array or not 0 <= gap <= MAX_GAP:
                raise MisplacedError
            container.size = step + 1
            return comma + "null," * gap
        if container.is_array or step in container.names:
            raise MisplacedError
        container.names.add(step)
        container.size += 1
        return f'{comma}"{_inside_string(step)}":'


def parse_path(path: str) -> Path | None:
    """The steps of a JSON path from the root `$`; None when it is not one."""
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return None
        name, number, single, double = found.groups()
        if number is not None:
            steps.append(int(number))
        else:
            steps.append(name if name is not None else re.sub(r"\\(.)", r"\1", single or double or ""))
        at = found.end()
    return tuple(steps)


def _value(arg: PartialArg) -> str | None:
    """The text of a whole value, or the beginning of a string; None when there is none."""
    if arg.string_value is not None:
        return '"' + _inside_string(arg.string_value)
    if arg.bool_value is not None:
        return "true" if arg.bool_value else "false"
    if arg.number_value is not None:
        number = arg.number_value
        if not math.isfinite(number):
            return "null"
        # The wire has doubles only: a whole one is an integer to whoever wrote the schema.
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return "null" if arg.null_value is not None else None


def _inside_string(text: str) -> str:
    return msgspec.json.encode(text)[1:-1].decode()
