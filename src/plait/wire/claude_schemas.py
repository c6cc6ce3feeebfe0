"""JSON schemas as Claude's structured output takes them.

What it does not know goes into the description, so that the model may still keep to it. Sources:
https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (2026-11),
and the transformation that the `anthropic` SDK 2.14 makes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from plait.wire.plan import Notes

SCHEMA_DOCS = (
    "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations"
)

_FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
)
_DEFINITIONS = ("$defs", "definitions")
_IGNORED = frozenset({"$schema", "$id", "$comment"})


def fitted(schema: Mapping[str, Any], what: str, notes: Notes) -> dict[str, Any]:
    """The schema as it is taken; `what` names it in the notes. The given one is not changed."""
    made = _Fitting(notes).schema(schema, what)
    if _is_recursive(schema):
        notes.add("will_be_refused", what, "a schema may not refer to itself", SCHEMA_DOCS)
    return made


class _Fitting:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def schema(self, given: Any, path: str) -> dict[str, Any]:
        if not isinstance(given, Mapping):  # true or false
            given = {} if given is True else {"not": {}}
        rest = {key: value for key, value in given.items() if key not in _IGNORED}
        made: dict[str, Any] = {}
        for name in _DEFINITIONS:
            if isinstance(rest.get(name), Mapping):
                made[name] = {
                    key: self.schema(value, f"{path}.{name}.{key}") for key, value in rest.pop(name).items()
                }
        if "$ref" in rest:
            made["$ref"] = rest.pop("$ref")
            if rest:
                self._note("dropped", path, f"{_names(rest)} beside $ref")
            return made
        kind = self._kind(rest, made, path)
        for name in ("description", "title"):
            if rest.get(name) is not None:
                made[name] = rest.pop(name)
        if kind == "object":
            self._object(rest, made, path)
        elif kind == "array":
            if "items" in rest:
                made["items"] = self.schema(rest.pop("items"), f"{path}.items")
            if rest.get("minItems") in (0, 1):
                made["minItems"] = rest.pop("minItems")
        elif kind == "string" and rest.get("format") in _FORMATS:
            made["format"] = rest.pop("format")
        self._describe(rest, made, path)
        return made

    def _kind(self, rest: dict[str, Any], made: dict[str, Any], path: str) -> str | None:
        """The type, once values, unions and the type itself are in `made`; None where it needs none."""
        values = rest.get("enum")
        if isinstance(values, list) and values and all(map(_is_plain, values)):
            made["enum"] = rest.pop("enum")
        if "const" in rest and _is_plain(rest["const"]):
            made["const"] = rest.pop("const")
        if made.keys() & {"enum", "const"}:
            rest.pop("type", None)
            return None
        for name in ("anyOf", "oneOf", "allOf"):
            if isinstance(rest.get(name), list):
                target = "anyOf" if name == "oneOf" else name
                variants = rest.pop(name)
                made[target] = [
                    self.schema(each, f"{path}.{name}[{number}]") for number, each in enumerate(variants)
                ]
                if name == "oneOf":
                    self._note("demoted", path, "oneOf is sent as anyOf")
                kind = rest.pop("type", None)  # else the variants say it
                return "object" if kind == "object" and "properties" in rest else None
        kind = rest.pop("type", None)
        if isinstance(kind, list):
            inner = {key: value for key, value in rest.items() if key not in ("description", "title")}
            for key in inner:
                del rest[key]
            made["anyOf"] = [
                self.schema({**({} if each == "null" else inner), "type": each}, path) for each in kind
            ]
            return None
        if kind is None:
            kind = "object" if "properties" in rest else "array" if "items" in rest else None
        if kind is None:
            self._notes.add("will_be_refused", path, "a schema needs a type", SCHEMA_DOCS)
            return None
        made["type"] = kind
        return str(kind)

    def _object(self, rest: dict[str, Any], made: dict[str, Any], path: str) -> None:
        properties = rest.pop("properties", {})
        made["properties"] = {
            key: self.schema(value, f"{path}.properties.{key}") for key, value in properties.items()
        }
        if "required" in rest:
            made["required"] = rest.pop("required")
        made["additionalProperties"] = False
        if rest.pop("additionalProperties", False) is not False:
            self._note("dropped", path, "additionalProperties: only named properties can be asked for")

    def _describe(self, rest: dict[str, Any], made: dict[str, Any], path: str) -> None:
        if not rest:
            return
        said = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in rest.items())
        made["description"] = (
            made["description"] + "\n\n" if made.get("description") else ""
        ) + f"{{{said}}}"
        self._note("moved", path, f"{_names(rest)} into the description")

    def _note(self, kind: Any, path: str, what: str) -> None:
        self._notes.add(kind, path, f"{what}: structured output knows no more of JSON schema", SCHEMA_DOCS)


def _names(rest: Mapping[str, Any]) -> str:
    return ", ".join(rest)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_recursive(schema: Mapping[str, Any]) -> bool:
    """Whether following references from some definition leads back to it."""
    places = {
        f"#/{name}/{key}": value
        for name in _DEFINITIONS
        if isinstance(schema.get(name), Mapping)
        for key, value in schema[name].items()
    }
    uses = {place: _references(value) for place, value in places.items()}
    uses["#"] = _references({key: value for key, value in schema.items() if key not in _DEFINITIONS})

    for place in uses:
        seen: set[str] = set()
        ahead = [place]
        while ahead:
            new = uses.get(ahead.pop(), set()) - seen
            seen |= new
            ahead += new
        if place in seen:
            return True
    return False


def _references(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_references(item) for item in value))
    return set()
