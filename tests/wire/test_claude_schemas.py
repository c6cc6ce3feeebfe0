"""JSON schemas as Claude's structured output takes them."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import transform_schema

from plait.wire.claude import version
from plait.wire.claude_schemas import fitted
from plait.wire.plan import Notes

SCHEMAS = {
    "object": {"type": "object", "properties": {"a": {"type": "string", "title": "A"}}, "required": ["a"]},
    "number": {"type": "integer", "minimum": 1, "maximum": 10},
    "format": {"type": "string", "format": "email"},
    "unknown format": {"type": "string", "format": "regex"},
    "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "long list": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    "union": {"oneOf": [{"type": "string"}, {"type": "null"}]},
    "enum": {"type": "string", "enum": ["a", "b"]},
    "const": {"const": 1, "title": "One"},
    "definitions": {
        "$defs": {"P": {"type": "object", "properties": {}}},
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/P"}},
    },
    "root reference": {"$defs": {"P": {"type": "string"}}, "$ref": "#/$defs/P"},
}


def _undescribed(schema: Any) -> Any:
    """Without descriptions: what moves there is worded differently."""
    if isinstance(schema, dict):
        return {key: _undescribed(value) for key, value in schema.items() if key != "description"}
    return [_undescribed(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_the_sdk_makes_the_same(schema: dict[str, Any]) -> None:
    """The official SDK's own transformation is the oracle."""
    assert _undescribed(transform_schema(schema)) == _undescribed(fitted(schema, "output", Notes()))


@pytest.mark.parametrize(
    ("schema", "expected", "notes"),
    [
        pytest.param(
            {"type": "integer", "minimum": 1, "description": "Size"},
            {"type": "integer", "description": "Size\n\n{minimum: 1}"},
            [("moved", "output")],
            id="limits go into the description",
        ),
        pytest.param(
            {"type": ["string", "null"], "maxLength": 2, "title": "T"},
            {
                "anyOf": [{"type": "string", "description": "{maxLength: 2}"}, {"type": "null"}],
                "title": "T",
            },
            [("moved", "output")],
            id="list of types",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "properties": {}, "additionalProperties": False},
            [("dropped", "output")],
            id="free keys",
        ),
        pytest.param(
            {"type": "array", "items": True},
            {"type": "array", "items": {}},
            [("will_be_refused", "output.items")],
            id="anything",
        ),
        pytest.param(
            {"properties": {"a": {"type": "null"}}},
            {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False},
            [],
            id="an object that does not say so",
        ),
        pytest.param(
            {
                "$ref": "#/$defs/N",
                "description": "x",
                "$defs": {"N": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
            },
            {"$ref": "#/$defs/N", "$defs": {"N": {"type": "array", "items": {"$ref": "#/$defs/N"}}}},
            [("dropped", "output"), ("will_be_refused", "output")],
            id="recursion",
        ),
    ],
)
def test_what_is_changed_is_noted(schema: Any, expected: Any, notes: list[Any]) -> None:
    """Nothing of a schema is lost without a note, and the caller's own is not touched."""
    found, before = Notes(), repr(schema)
    assert (fitted(schema, "output", found), repr(schema)) == (expected, before)
    assert [(note.kind, note.what) for note in found] == notes


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param("claude-3-haiku-20240307", (3, 0), id="3"),
        pytest.param("claude-3-5-sonnet-20241022", (3, 5), id="3.5"),
        pytest.param("claude-sonnet-4-20250514", (4, 0), id="4"),
        pytest.param("us.anthropic.claude-sonnet-4-5-20250929-v1:0", (4, 5), id="on Bedrock"),
        pytest.param("claude-opus-4-1@20250805", (4, 1), id="on Vertex AI"),
        pytest.param("anthropic/claude-opus-4.8", (4, 8), id="with a point"),
        pytest.param("claude-opus-5", (5, 0), id="5"),
        pytest.param("claude-x", None, id="none"),
        pytest.param(None, None, id="no model"),
    ],
)
def test_version_of_a_model(model: str | None, expected: Any) -> None:
    """The version is in the id, before or after the name; a date is none."""
    assert version(model) == expected
