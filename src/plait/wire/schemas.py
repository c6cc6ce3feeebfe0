"""JSON schemas as OpenAI's strict mode takes them: every property required, no others allowed.

Chat Completions and the Responses API have the same rule. Source:
https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, as of 2026-11.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plait.wire.plan import NoteKind

SOURCE = "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas"

_REFUSED = (
    "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
    "propertyNames", "unevaluatedProperties", "unevaluatedItems", "prefixItems", "contains",
)  # fmt: skip
"""Keywords that strict mode refuses and that cannot be said in another way."""


class Change(NamedTuple):
    """What strict mode says otherwise: the kind of note it is, the path in the schema, and why."""

    kind: NoteKind
    path: str
    why: str


class NotStrictError(ValueError):
    """A schema that strict mode cannot say; the message names the path."""


def strict_schema(schema: dict[str, Any]) -> tuple[dict[str, Any], list[Change]]:
    """The schema as strict mode takes it, and what it says otherwise. The given one is left as it is.

    Raises:
        NotStrictError: strict mode cannot say this: a root that is not an object, an object with any keys,
            `allOf` and the like
    """
    reader = _Strict(schema)
    root = reader.schema(schema, "", frozenset())
    if root.get("type") != "object" or "anyOf" in root:
        raise NotStrictError("the root must be an object, and not `anyOf`")
    return root, reader.changes


def referred(root: dict[str, Any], reference: str) -> dict[str, Any] | None:
    """The schema that a reference within `root` names (a JSON pointer, RFC 6901); None when there is none."""
    target: Any = root
    for step in reference.removeprefix("#").split("/"):
        if step:
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
    return target if isinstance(target, dict) and reference.startswith("#") else None


class _Strict:
    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.changes: list[Change] = []

    def schema(self, given: Any, path: str, inside: frozenset[str]) -> dict[str, Any]:
        """`inside` are the references that are being written out here."""
        if not isinstance(given, dict):
            raise NotStrictError(f"{path or 'the root'}: expected a schema, got {given!r}")
        schema = dict(given)
        reference = schema.get("$ref")
        if isinstance(reference, str) and (len(schema) > 1 or not path):
            return self._referred(schema, reference, path, inside)
        one = schema.get("allOf")
        if isinstance(one, list) and len(one) == 1 and isinstance(one[0], dict):
            del schema["allOf"]
            return self.schema({**one[0], **schema}, path, inside)
        for keyword in _REFUSED:
            if keyword in schema:
                raise NotStrictError(f"{_at(path, keyword)}: strict mode has no `{keyword}`")
        if "default" in schema:
            del schema["default"]
            self.changes.append(Change("dropped", _at(path, "default"), "strict mode has no defaults"))
        if "oneOf" in schema:
            schema.pop("discriminator", None)
            schema["anyOf"] = schema.pop("oneOf")
            self.changes.append(Change("renamed", _at(path, "oneOf"), "strict mode has `anyOf` instead"))
        self._object(schema, path)
        for name in ("properties", "$defs", "definitions"):
            if isinstance(schema.get(name), dict):
                under = _at(path, name)
                schema[name] = {
                    key: self.schema(value, _at(under, key), inside) for key, value in schema[name].items()
                }
        if isinstance(schema.get("items"), dict):
            schema["items"] = self.schema(schema["items"], _at(path, "items"), inside)
        if isinstance(schema.get("anyOf"), list):
            schema["anyOf"] = [
                self.schema(one, f"{_at(path, 'anyOf')}[{number}]", inside)
                for number, one in enumerate(schema["anyOf"])
            ]
        return schema

    def _object(self, schema: dict[str, Any], path: str) -> None:
        kinds = schema.get("type")
        if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
            return
        if "properties" not in schema and schema.get("additionalProperties") is not False:
            raise NotStrictError(f"{path or 'the root'}: strict mode has no object with any keys")
        if schema.get("additionalProperties", False) is not False:
            raise NotStrictError(
                f"{_at(path, 'additionalProperties')}: strict mode allows no other properties"
            )
        schema["additionalProperties"] = False
        properties = schema.setdefault("properties", {})
        required = schema.get("required") or []
        for name in properties:
            if name not in required:
                where = _at(_at(path, "properties"), name)
                self.changes.append(
                    Change("added", where, "required: strict mode has no optional properties")
                )
        kept = [name for name in required if name in properties]
        schema["required"] = [*kept, *(name for name in properties if name not in kept)]

    def _referred(
        self, schema: dict[str, Any], reference: str, path: str, inside: frozenset[str]
    ) -> dict[str, Any]:
        """Strict mode takes a reference only alone, and none as the root: it is written out."""
        if reference in inside:
            self.changes.append(Change("dropped", path, "strict mode takes a reference only by itself"))
            return {"$ref": reference}
        target = referred(self.root, reference)
        if target is None:
            raise NotStrictError(f"{_at(path, '$ref')}: {reference!r} is not in the schema")
        del schema["$ref"]
        return self.schema({**target, **schema}, path, inside | {reference})


def _at(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
