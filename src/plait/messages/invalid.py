"""Pydantic's reasons -> ours: the path into the data as its author wrote it, and plain words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from plait.errors import InvalidDataError, quote
from plait.messages.json_value import NotJson, Path, path_text

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MOST = 5
"""How many of the faults are told: with more, the data is something else altogether."""

_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "int_type": "an integer",
    "list_type": "a list",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "string_type": "a string",
}


def invalid(
    error: ValidationError, data: object, *, path: Path = (), tagged: bool = False, ours: bool = True
) -> InvalidDataError:
    """The error to raise in place of pydantic's.

    Args:
        error: pydantic's
        data: what was validated
        path: where `data` stands in what the caller gave, such as `("messages", 3)`
        tagged: `data` is told apart by its `role` or `type`, which pydantic puts in its paths
        ours: the model is one of Plait's; else pydantic's paths are kept as they are
    """
    faults = error.errors(include_url=False)
    lines = [_line(fault, data, path, tagged, ours) for fault in faults[:_MOST]]
    lines = list(dict.fromkeys(lines))
    more = f"; and {len(faults) - _MOST} more" if len(faults) > _MOST else ""
    return InvalidDataError("; ".join(lines) + more)


def kind(value: object) -> str:
    """What a value is, in the words of JSON and Python."""
    return "null" if value is None else type(value).__name__


def line(path: Path, reason: str) -> str:
    """`content[0].text: is missing`."""
    text = path_text(path).removeprefix(".")
    return f"{text}: {reason}" if text else reason


def _line(fault: ErrorDetails, data: object, path: Path, tagged: bool, ours: bool) -> str:
    inner = _written(fault["loc"], data, tagged) if ours else tuple(fault["loc"])
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, NotJson):
        return line((*path, *inner, *cause.path), cause.reason)
    if fault["type"].startswith("union_tag"):
        inner = (*inner, fault["ctx"]["discriminator"].strip("'"))
    return line((*path, *inner), _reason(fault, cause))


def _reason(fault: ErrorDetails, cause: object) -> str:
    context, given = fault.get("ctx", {}), fault["input"]
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "unknown key"
        case "union_tag_not_found":
            return "is missing"
        case "union_tag_invalid":
            return f"expected one of {context['expected_tags']}, got {quote(str(context['tag']))}"
        case "literal_error":
            shown = quote(given) if isinstance(given, str) else kind(given)
            return f"expected {context['expected']}, got {shown}"
        case "too_short":
            return "is empty"
        case "value_error":
            return str(cause)
        case name if name in _EXPECTED:
            return f"expected {_EXPECTED[name]}, got {kind(given)}"
    return fault["msg"]


def _written(loc: Path, data: object, tagged: bool) -> Path:
    """Pydantic's path with the names as they are in `data`, and without the tags of its unions."""
    path: list[str | int] = []
    here: Any = data
    fresh = tagged  # whether the next step may be the tag of `here`
    for step in loc:
        if isinstance(here, dict):
            if fresh and step in (here.get("type"), here.get("role")):
                fresh = False
                continue
            name = step if step in here else snake_case(str(step))
            path.append(name)
            here = here.get(name)
        elif isinstance(step, int):
            path.append(step)
            here = here[step] if isinstance(here, list | tuple) and step < len(here) else None
        else:
            path.append(snake_case(step))
            here = getattr(here, step, None) if isinstance(here, BaseModel) else None
        fresh = True
    return tuple(path)


def snake_case(name: str) -> str:
    """`toolCallId` -> `tool_call_id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
