"""Samples are valid and repeatable, and their objects and arrays are not empty."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.generator.samples import NoSample, sample
from openapi_mcp.runtime.json_schema import sample_values

STRING = {"type": "string"}

NODE = {"type": "object", "properties": {"name": STRING, "next": {"$ref": "#/$defs/Node"}}, "required": ["name"]}
EITHER = {
    "type": "object",
    "properties": {"a": STRING, "b": STRING, "c": STRING},
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
}


@pytest.mark.parametrize(
    ("schema", "minimal", "full"),
    [
        (STRING, "text", "text"),
        ({"type": "string", "format": "uuid"}, *[sample_values.FORMATS["uuid"]] * 2),
        ({"type": "string", "description": "Where to. Format: url."}, *["https://example.com/a"] * 2),
        ({"type": "string", "contentEncoding": "base64"}, "aGVsbG8=", "aGVsbG8="),
        ({"type": "string", "minLength": 6, "maxLength": 6}, "abc123", "abc123"),
        ({"type": "string", "pattern": "^PN[0-9]{3}$"}, "PN000", "PN000"),
        ({"type": ["null", "integer"], "minimum": 20, "multipleOf": 15}, 30, 30),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25, 0.25),
        ({"enum": [None, "b"]}, "b", "b"),
        ({"anyOf": [{"type": "null"}, {"const": 3}]}, 3, 3),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}, *[["a", "b"]] * 2),
        ({"type": "array", "items": {"type": "integer"}}, [1], [1, 2]),
        ({"oneOf": [{"type": "integer"}, STRING, {"type": "null"}]}, "text", "text"),
        ({"anyOf": [{"type": "integer"}, {"type": "object"}]}, 1, 1),
        ({"type": "array", "items": STRING, "maxItems": 1}, ["text"], ["text"]),
        ({"type": "array", "items": {"const": "a"}, "uniqueItems": True}, ["a"], ["a"]),
        ({"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["b"]}, {"b": "text"}, None),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {}, {"text": 1}),
        ({"allOf": [{"$ref": "#/$defs/Node"}, {"required": ["x"]}], "$defs": {"Node": NODE}}, None, None),
        ({"type": "object", "properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}}, {}, None),
        (EITHER, {"a": "text"}, {"a": "text", "c": "text"}),
    ],
)
def test_samples_are_valid_and_repeatable(schema: dict[str, Any], minimal: Any, full: Any) -> None:
    for expected, is_full in ((minimal, False), (full, True)):
        instance = sample(schema, full=is_full)
        Draft202012Validator(schema).validate(instance)
        assert sample(schema, full=is_full) == instance
        assert expected is None or instance == expected


def test_required_objects_and_arrays_are_not_empty() -> None:
    inner = {"type": "object", "properties": {"b": STRING}}
    schema = {"type": "object", "properties": {"a": inner, "c": {"type": "array"}}, "required": ["a", "c"]}
    assert sample(schema, full=False) == {"a": {"b": "text"}, "c": ["text"]}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}}},
        {"type": "string", "pattern": "^a$", "minLength": 2},
        {"not": {}},
    ],
)
def test_unsatisfiable_schema_raises_no_sample(schema: dict[str, Any]) -> None:
    with pytest.raises(NoSample):
        sample({"type": "object", **schema} if "$ref" in schema else schema, full=False)
