"""JSON schemas in the subset of OpenAPI 3.0 that older Gemini models take (`parameters`, `responseSchema`).

Source: https://ai.google.dev/api/caching#Schema, as of 2026-11. Newer models take JSON schemas as they are.
"""

from __future__ import annotations

from typing import Any

from plait.wire.schemas import Change, referred

SOURCE = "https://ai.google.dev/api/caching#Schema"

_KEPT = frozenset(
    {
        "title", "description", "nullable", "minItems", "maxItems", "required", "propertyOrdering", "minimum",
        "maximum", "minLength", "maxLength", "pattern", "default", "example",
    }
)  # fmt: skip
_FORMATS = frozenset({"enum", "date-time", "int32", "int64", "float", "double"})
_SILENT = frozenset({"$schema", "$id", "$comment", "$defs", "definitions", "discriminator"})
"""Keywords that say nothing by themselves."""


def openapi_schema(schema: dict[str, Any]) -> tuple[dict[str, Any], list[Change]]:
    """The schema in the subset, and what it says otherwise. The given one is left as it is."""
    writer = _Writer(schema)
    return writer.schema(schema, "", frozenset()), writer.changes


class _Writer:
    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.changes: list[Change] = []

    def schema(self, given: Any, path: str, inside: frozenset[str]) -> dict[str, Any]:
        """`inside` are the references that are being written out here."""
        if not isinstance(given, dict):
            self._note("dropped", path, "a schema that is no object")
            return {"type": "object"}
        schema = dict(given)
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema, path, inside)
        one = schema.get("allOf")
        if isinstance(one, list) and len(one) == 1 and isinstance(one[0], dict):
            del schema["allOf"]
            return self.schema({**one[0], **schema}, path, inside)
        made = {key: schema.pop(key) for key in list(schema) if key in _KEPT}
        self._type(schema, made, path, inside)
        self._enum(schema, made, path)
        self._children(schema, made, path, inside)
        format_ = schema.pop("format", None)
        if format_ in _FORMATS:
            made["format"] = format_
        elif format_ is not None:
            self._note("dropped", _at(path, "format"), f"{format_!r} is not known to this model")
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]  # nothing else is written anyway
        for name in sorted(schema.keys() - _SILENT):
            self._note("dropped", _at(path, name), f"this model's schemas have no `{name}`")
        return made

    def _type(self, schema: dict[str, Any], made: dict[str, Any], path: str, inside: frozenset[str]) -> None:
        kinds = schema.pop("type", None)
        if isinstance(kinds, list):
            plain = [kind for kind in kinds if kind != "null"]
            if len(plain) < len(kinds):
                made["nullable"] = True
            if len(plain) > 1:
                rest = {key: schema.pop(key) for key in ("items", "properties") if key in schema}
                made["anyOf"] = [
                    self.schema({"type": kind, **(rest if kind in ("array", "object") else {})}, path, inside)
                    for kind in plain
                ]
                return
            kinds = plain[0] if plain else "string"
        if kinds is not None:
            made["type"] = kinds

    def _enum(self, schema: dict[str, Any], made: dict[str, Any], path: str) -> None:
        values = schema.pop("enum", None)
        if "const" in schema:
            values = [schema.pop("const")]
        if not isinstance(values, list):
            return
        if None in values:
            made["nullable"] = True
        strings = [value for value in values if isinstance(value, str)]
        if len(strings) < len([value for value in values if value is not None]):
            self._note("dropped", _at(path, "enum"), "this model's enums are of strings")
        elif strings:
            made.setdefault("type", "string")
            made["enum"] = strings

    def _children(
        self, schema: dict[str, Any], made: dict[str, Any], path: str, inside: frozenset[str]
    ) -> None:
        properties = schema.pop("properties", None)
        if isinstance(properties, dict) and properties:  # older models refuse an empty one
            under = _at(path, "properties")
            made["properties"] = {
                name: self.schema(value, _at(under, name), inside) for name, value in properties.items()
            }
        items = schema.pop("items", None)
        if isinstance(items, dict):
            made["items"] = self.schema(items, _at(path, "items"), inside)
        elif made.get("type") == "array":
            made["items"] = {"type": "string"}
            self._note("added", _at(path, "items"), "this model's arrays need `items`: strings")
        options = schema.pop("anyOf", None) or schema.pop("oneOf", None)
        if isinstance(options, list):
            self._any_of(options, made, path, inside)

    def _any_of(self, options: list[Any], made: dict[str, Any], path: str, inside: frozenset[str]) -> None:
        plain = [option for option in options if option != {"type": "null"}]
        if len(plain) < len(options):
            made["nullable"] = True
        written = [
            self.schema(option, f"{_at(path, 'anyOf')}[{number}]", inside)
            for number, option in enumerate(plain)
        ]
        if len(written) == 1:
            made.update({**written[0], **made})
        elif written:
            made["anyOf"] = written

    def _referred(self, schema: dict[str, Any], path: str, inside: frozenset[str]) -> dict[str, Any]:
        """This model's schemas have no references: what is referred to is written out."""
        reference = schema.pop("$ref")
        target = referred(self.root, reference)
        if target is None or reference in inside:
            why = "a schema that refers to itself" if reference in inside else "a reference to nothing"
            self._note("dropped", _at(path, "$ref"), f"{why} cannot be written out: {reference}")
            return {"type": "object"}
        return self.schema({**target, **schema}, path, inside | {reference})

    def _note(self, kind: Any, path: str, why: str) -> None:
        self.changes.append(Change(kind, path, why))


def _at(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
