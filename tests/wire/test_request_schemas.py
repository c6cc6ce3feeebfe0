"""JSON schemas -> what OpenAI's strict mode and older Gemini models take."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from plait.wire.gemini.schemas import openapi_schema
from plait.wire.schemas import NotStrictError, strict_schema

TEXT = {"type": "string"}
TREE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}, "required": ["next"]}


def an_object(**properties: Any) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected", "changes"),
    [
        pytest.param(an_object(a=TEXT), an_object(a=TEXT), [], id="already strict"),
        pytest.param({"type": "object", "properties": {}}, an_object(), [], id="no properties"),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "integer", "default": 3}}},
            an_object(a={"type": "integer"}),
            [("added", "properties.a"), ("dropped", "properties.a.default")],
            id="optional, with a default",
        ),
        pytest.param(
            an_object(
                a={"type": "array", "items": {"type": "object", "properties": {"b": TEXT}, "required": ["b"]}}
            ),
            an_object(a={"type": "array", "items": an_object(b=TEXT)}),
            [],
            id="nested in an array",
        ),
        pytest.param(
            an_object(a={"oneOf": [TEXT, {"type": "null"}], "discriminator": {"propertyName": "x"}}),
            an_object(a={"anyOf": [TEXT, {"type": "null"}]}),
            [("renamed", "properties.a.oneOf")],
            id="one of",
        ),
        pytest.param(
            {**an_object(a={"$ref": "#/$defs/A", "description": "D"}), "$defs": {"A": TEXT}},
            {**an_object(a={**TEXT, "description": "D"}), "$defs": {"A": TEXT}},
            [],
            id="a reference with something beside it is written out",
        ),
        pytest.param(
            {**an_object(a={"$ref": "#/$defs/A"}), "$defs": {"A": TEXT}},
            {**an_object(a={"$ref": "#/$defs/A"}), "$defs": {"A": TEXT}},
            [],
            id="a reference alone stays",
        ),
        pytest.param(
            {"$ref": "#/$defs/Tree", "$defs": {"Tree": TREE}},
            {
                **TREE,
                "additionalProperties": False,
                "$defs": {"Tree": {**TREE, "additionalProperties": False}},
            },
            [],
            id="a root that refers to itself",
        ),
        pytest.param(an_object(a={"allOf": [TEXT]}), an_object(a=TEXT), [], id="all of one"),
    ],
)
def test_strict_schema(
    schema: dict[str, Any], expected: dict[str, Any], changes: list[tuple[str, str]]
) -> None:
    """Every property required, no others; the given schema is left as it is."""
    given = deepcopy(schema)
    made, found = strict_schema(schema)
    assert (made, [(change.kind, change.path) for change in found]) == (expected, changes)
    assert schema == given


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        pytest.param({"type": "array", "items": TEXT}, "the root", id="a root that is no object"),
        pytest.param({"anyOf": [an_object()]}, "the root", id="a root of alternatives"),
        pytest.param({"type": "object"}, "the root", id="any keys"),
        pytest.param(an_object(a={"type": "object"}), r"properties\.a", id="any keys, inside"),
        pytest.param(
            an_object(a={"type": "object", "properties": {}, "additionalProperties": TEXT}),
            r"properties\.a\.additionalProperties",
            id="a map",
        ),
        pytest.param(an_object(a={"allOf": [TEXT, TEXT]}), r"properties\.a\.allOf", id="all of several"),
        pytest.param(an_object(a={"not": TEXT}), r"properties\.a\.not", id="not"),
        pytest.param(
            an_object(a={"$ref": "#/$defs/B", "title": "T"}), r"properties\.a\.\$ref", id="no such reference"
        ),
        pytest.param(an_object(a=True), r"properties\.a", id="a schema that is no object"),
    ],
)
def test_what_strict_mode_cannot_say(schema: dict[str, Any], path: str) -> None:
    """The error names the path."""
    with pytest.raises(NotStrictError, match=f"^{path}"):
        strict_schema(schema)


@pytest.mark.parametrize(
    ("schema", "expected", "changes"),
    [
        pytest.param(
            an_object(a=TEXT),
            {"type": "object", "required": ["a"], "properties": {"a": TEXT}},
            [],
            id="plain",
        ),
        pytest.param({"type": ["string", "null"]}, {"type": "string", "nullable": True}, [], id="or null"),
        pytest.param(
            {"type": ["string", "integer"]}, {"anyOf": [TEXT, {"type": "integer"}]}, [], id="several types"
        ),
        pytest.param(
            {"anyOf": [TEXT, {"type": "null"}], "title": "T"},
            {"type": "string", "nullable": True, "title": "T"},
            [],
            id="any of one and null",
        ),
        pytest.param(
            {"oneOf": [TEXT, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}]}, [], id="one of"
        ),
        pytest.param({"const": "a"}, {"type": "string", "enum": ["a"]}, [], id="const"),
        pytest.param(
            {"type": "integer", "enum": [1, 2]},
            {"type": "integer"},
            [("dropped", "enum")],
            id="enum of numbers",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [TEXT]},
            {"type": "array", "items": TEXT},
            [("added", "items"), ("dropped", "prefixItems")],
            id="tuple",
        ),
        pytest.param({**TEXT, "format": "email"}, TEXT, [("dropped", "format")], id="an unknown format"),
        pytest.param(
            {
                "$ref": "#/$defs/A",
                "$defs": {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}}, "B": TEXT},
            },
            {"type": "object", "properties": {"b": TEXT}},
            [],
            id="references are written out",
        ),
        pytest.param(
            {"$ref": "#/$defs/Tree", "$defs": {"Tree": TREE}},
            {"type": "object", "properties": {"next": {"type": "object"}}, "required": ["next"]},
            [("dropped", "properties.next.$ref")],
            id="a schema that refers to itself",
        ),
    ],
)
def test_openapi_schema(
    schema: dict[str, Any], expected: dict[str, Any], changes: list[tuple[str, str]]
) -> None:
    """What the subset cannot say is left out and listed; the given schema is left as it is."""
    given = deepcopy(schema)
    made, found = openapi_schema(schema)
    assert (made, [(change.kind, change.path) for change in found]) == (expected, changes)
    assert schema == given
