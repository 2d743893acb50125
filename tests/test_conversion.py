"""A schema means the same after its conversion, and is valid JSON Schema 2020-12 whatever stood there before."""

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.compiling import STRING, compiled_operation, converted, input_of, json_body, ref, schemas, tool_of

NULL = {"type": "null"}
BYTES = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"type": "string", "enum": ["a", None], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"nullable": True}, {}),
        ({"const": 1, "nullable": True}, {"enum": [1, None]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"nullable": True, "description": "d", "oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"oneOf": [{"type": "string"}, {"type": "integer"}]}, NULL], "description": "d"},
        ),
        (
            {"nullable": True, "anyOf": [{"type": "string"}, NULL]},
            {"anyOf": [{"type": "string"}, NULL]},
        ),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"exclusiveMinimum": True}, {}),
        ({"exclusiveMaximum": 2.5, "maximum": 3}, {"exclusiveMaximum": 2.5, "maximum": 3}),
    ],
)
def test_what_3_0_writes_differently(schema: Any, converted: Any) -> None:
    assert input_of(schema) == converted
    assert input_of(schema, version="3.1") == converted


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"title": "T", "example": 1, "examples": [1], "x-a": 1, "xml": {}, "externalDocs": {}, "$comment": "c"}, {}),
        (
            {"$id": "urn:a", "$anchor": "a", "$dynamicAnchor": "b", "$schema": "urn:s", "$vocabulary": {}, "$defs": {}},
            {},
        ),
        ({"deprecated": True, "default": 5}, {"deprecated": True, "default": 5}),
        ({"deprecated": "yes"}, {}),
        ({"description": " a\u202eb\x07 "}, {"description": "ab"}),
        ({"description": 5}, {}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "integer", "format": "unix-time"}, {"type": "integer", "description": "Format: unix-time."}),
        (
            {"type": "string", "format": "bcp47", "description": "A language."},
            {"type": "string", "description": "A language. Format: bcp47."},
        ),
        ({"type": "string", "format": "binary", "maxLength": 9, "pattern": "^a$"}, BYTES),
        ({"type": "file"}, BYTES),
        ({"type": "string", "contentMediaType": "image/png"}, {**BYTES, "contentMediaType": "image/png"}),
        (
            {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
            {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
        ),
        (
            {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
            {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
        ),
        ({"type": "string", "format": "byte"}, {"type": "string", "format": "byte"}),
        ({"type": "string", "pattern": r"^\@\w$"}, {"type": "string", "pattern": r"^@\w$"}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"allOf": [{"type": "string"}], "description": "d"}, {"type": "string", "description": "d"}),
        (
            {"oneOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "uuid"}]},
            {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "uuid"}]},
        ),
        (
            {
                "oneOf": [{"type": "object"}],
                "discriminator": {"propertyName": "kind", "mapping": {"cat": "x", "dog": "y"}},
            },
            {"anyOf": [{"type": "object"}], "description": "`kind` tells which: cat, dog."},
        ),
        ({"not": {"type": "string"}}, {"not": {"type": "string"}}),
        ({"additionalProperties": True, "items": False}, {"additionalProperties": True, "items": False}),
        ({"type": ["string", "integer", "string"]}, {"type": ["string", "integer"]}),
    ],
)
def test_what_a_model_is_told_and_what_it_is_not(schema: Any, converted: Any) -> None:
    assert input_of(schema, version="3.1") == converted


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"type": "any"}, {}),
        ({"type": ["string", "list"]}, {"type": "string"}),
        ({"type": "String"}, {"type": "string"}),
        ({"minimum": "5"}, {"minimum": 5}),
        ({"minimum": "five", "maximum": None, "multipleOf": 0}, {}),
        ({"minLength": -1, "maxLength": 2.5, "minItems": 2.0}, {"minItems": 2}),
        ({"maximum": float("inf"), "default": float("nan"), "const": [float("inf")]}, {}),
        ({"enum": []}, {}),
        ({"enum": "a"}, {}),
        ({"enum": ["a", "a", 1, True, 1.0]}, {"enum": ["a", 1, True, 1.0]}),
        ({"type": "integer", "enum": ["1", "2"]}, {"enum": ["1", "2"]}),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a"]}, {"type": "array", "items": {"type": "string"}}),
        ({"required": True, "properties": None, "items": None}, {}),
        ({"required": ["a", "a"], "properties": {"a": None}}, {"required": ["a"], "properties": {"a": {}}}),
        ({"required": ["a", 1]}, {}),
        ({"items": [{"type": "string"}]}, {"prefixItems": [{"type": "string"}]}),
        ({"allOf": [], "anyOf": {}, "oneOf": None}, {}),
        ({"not": [], "if": 5, "additionalProperties": "no"}, {}),
        ({"patternProperties": [], "dependentSchemas": 1, "dependentRequired": {"a": "b"}}, {}),
        ({"uniqueItems": "true"}, {}),
        ({"pattern": 5}, {}),
        ({"pattern": "(?i)a"}, {}),
        ({"$ref": 5, "type": "string"}, {"type": "string"}),
        ("string", {}),
        (["string"], {}),
        (5, {}),
    ],
)
def test_what_is_written_wrongly_is_repaired_or_left_out(schema: Any, converted: Any) -> None:
    found = input_of(schema, version="3.1")
    assert found == converted
    Draft202012Validator.check_schema(found)


def test_what_is_left_out_is_reported_where_it_stands() -> None:
    result = compiled_operation(
        json_body({"type": "object", "properties": {"a": {"enum": []}, "b": {"pattern": "(?i)"}}})
    )
    pointer = "#/paths/~1x/post/requestBody/content/application~1json/schema/properties"
    assert [(problem.pointer, problem.kind, problem.operation) for problem in result.problems] == [
        (f"{pointer}/a", "schema", None),
        (f"{pointer}/b", "pattern", None),
    ]


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"not": {"type": "string", "pattern": "(?i)a"}}, {}),
        ({"if": {"minLength": "?"}, "then": {"maxLength": 3}}, {"then": {"maxLength": 3}}),
        (
            {"oneOf": [{"type": "string", "pattern": "(?i)a"}, {"type": "string", "maxLength": 3}]},
            {"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]},
        ),
        (
            {"patternProperties": {"(?i)a": {}, "^b": {}}, "additionalProperties": False},
            {"patternProperties": {"^b": {}}},
        ),
    ],
)
def test_leaving_something_out_never_makes_a_schema_refuse_more(schema: Any, converted: Any) -> None:
    assert input_of(schema, version="3.1") == converted


def test_properties_are_objects_where_the_document_has_booleans() -> None:
    schema = {"type": "object", "properties": {"any": True, "never": False, "text": {"type": "string"}}}
    tool = tool_of(json_body(schema), version="3.1")
    assert tool.input_schema["properties"] == {"any": {}, "never": {"not": {}}, "text": {"type": "string"}}


def test_3_1_keywords_pass() -> None:
    schema = {
        "prefixItems": [{"type": "string"}],
        "contains": {"type": "string"},
        "minContains": 1,
        "maxContains": 2,
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "else": {"maxProperties": 0},
        "dependentRequired": {"a": ["b"]},
        "dependentSchemas": {"a": {"minProperties": 2}},
        "propertyNames": {"maxLength": 3},
        "unevaluatedProperties": False,
        "unevaluatedItems": False,
    }
    assert input_of(schema, version="3.1") == schema


READ_ONLY = {
    "type": "object",
    "required": ["id", "name", "made"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "made": ref("Made"),
        "by": {"allOf": [ref("Made")]},
        "name": {"type": "string"},
        "secret": {"type": "string", "writeOnly": True},
    },
}
MADE = {"type": "string", "readOnly": True}


def test_read_only_properties_are_no_inputs_and_are_not_required() -> None:
    found = input_of(ref("Thing"), **schemas(Thing=READ_ONLY, Made=MADE))
    assert found == {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "secret": {"type": "string"}},
    }


def test_a_part_does_not_require_what_is_read_only_in_another() -> None:
    schema = {"allOf": [ref("Thing"), {"required": ["id", "name", "extra"]}], "required": ["id"]}
    found = input_of(schema, **schemas(Thing=READ_ONLY, Made=MADE))
    assert found["allOf"][1] == {"required": ["name", "extra"]}
    assert "required" not in found


def test_beside_a_reference_3_0_ignores_and_3_1_keeps() -> None:
    beside = {**ref("A"), "description": "d", "maxLength": 3, "nullable": True}
    root = schemas(A={"type": "string"})
    definitions = {"A": {"type": "string"}}
    reference = {"$ref": "#/$defs/A"}
    assert converted(beside, **root) == {"anyOf": [reference, NULL], "description": "d", "$defs": definitions}
    assert converted(beside, version="3.1", **root) == {
        "anyOf": [{**reference, "maxLength": 3}, NULL],
        "description": "d",
        "$defs": definitions,
    }


def test_a_dynamic_reference_means_what_it_names_statically_or_anything() -> None:
    root = schemas(Node={"$dynamicAnchor": "node", "type": "object"})
    assert converted({"$dynamicRef": "#node"}, version="3.1", **root) == {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {"type": "object"}},
    }
    assert input_of({"$dynamicRef": "#nobody"}, version="3.1", **root) == {}


def nested(inner: Any, depth: int, around: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        inner = around(inner)
    return inner


@pytest.mark.parametrize(
    "schema",
    [
        nested(STRING, 120, lambda inner: {"type": "array", "items": inner}),
        nested(STRING, 120, lambda inner: {"type": "object", "properties": {"a": inner}}),
        nested(STRING, 120, lambda inner: {"anyOf": [inner, {"type": "object"}]}),
        nested(STRING, 240, lambda inner: {"not": inner}),
        nested(STRING, 80, lambda inner: {"items": {"allOf": [inner]}}),
    ],
)
def test_no_depth_is_too_deep(schema: Any) -> None:
    tool = tool_of(json_body(schema))
    assert Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(tool.input_schema)


def test_what_is_deep_is_kept_as_definitions() -> None:
    tool = tool_of(json_body(nested(STRING, 40, lambda inner: {"type": "object", "properties": {"a": inner}})))
    validator = Draft202012Validator(tool.input_schema)
    assert validator.is_valid(nested("the string within", 40, lambda inner: {"a": inner}))
    assert not validator.is_valid(nested(5, 40, lambda inner: {"a": inner}))
