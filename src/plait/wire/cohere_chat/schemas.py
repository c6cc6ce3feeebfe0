"""JSON schemas as Cohere's structured output takes them.

Limits that it does not know (of numbers, of lengths) are left out: an answer need not keep to them. Source:
https://docs.cohere.com/docs/structured-outputs#unsupported-schema-features, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.wire.plan import Notes

SCHEMA_DOCS = "https://docs.cohere.com/docs/structured-outputs#unsupported-schema-features"

_LIMITS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems"}
)
_REFUSED = ("allOf", "oneOf", "not", "if", "then", "else")
_FORMATS = frozenset({"date-time", "uuid", "date", "time"})
_NAMED = ("properties", "$defs", "definitions")
"""Keywords that hold schemas by name; any other object or list in a schema holds schemas, or data."""
_DATA = frozenset({"const", "default", "enum", "examples", "required"})


def fitted(schema: Mapping[str, Any], what: str, notes: Notes) -> dict[str, Any]:
    """The schema as it is taken; `what` names it in the notes. The given one is not changed."""
    made: dict[str, Any] = _schema(schema, what, notes)
    if made.get("type") != "object":
        notes.add("will_be_refused", what, "the schema must be of an object at its top", SCHEMA_DOCS)
    elif not made.get("required"):
        names = list(made.get("properties") or ())
        if names:
            made["required"] = names
            why = f"{', '.join(names)}: at least one property must be required"
            notes.add("added", f"{what}.required", why, SCHEMA_DOCS)
        else:
            why = "at least one property must be required, and there is none"
            notes.add("will_be_refused", what, why, SCHEMA_DOCS)
    return made


def _schema(given: Any, path: str, notes: Notes) -> Any:
    if isinstance(given, list):
        return [_schema(one, f"{path}[{number}]", notes) for number, one in enumerate(given)]
    if not isinstance(given, Mapping):
        return given
    made: dict[str, Any] = {}
    for key, value in given.items():
        where = f"{path}.{key}"
        if key in _LIMITS or (key == "format" and value not in _FORMATS):
            notes.add("dropped", where, f"{value!r}: no such limit can be asked for", SCHEMA_DOCS)
        elif key in _DATA:
            made[key] = value
        elif key in _NAMED and isinstance(value, Mapping):
            made[key] = {name: _schema(one, f"{where}.{name}", notes) for name, one in value.items()}
        else:
            if key in _REFUSED:
                notes.add("will_be_refused", where, f"there is no `{key}`", SCHEMA_DOCS)
            made[key] = _schema(value, where, notes)
    return made
