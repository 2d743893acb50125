"""Test that a converted schema has the same meaning, and is valid JSON Schema 2020-12 for any input."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.compiling import STRING, compiled_operation, input_of, json_body, ref, schemas, tool_of

NULL = {"type": "null"}
BYTES = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"type": "string", "enum": ["a", None], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"nullable": True}, {}),
        ({"const": 1, "nullable": True}, {"enum": [1, None]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"nullable": True, "description": "d", "oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, NULL], "description": "d"},
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
def test_keywords_of_3_0_are_rewritten(schema: Any, expected: Any) -> None:
    assert input_of(schema) == expected
    assert input_of(schema, version="3.1") == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
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
        ({"type": "string", "pattern": r"^\@\w$"}, {"type": "string", "pattern": "^@[A-Za-z0-9_]$"}),
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
            {"anyOf": [{"type": "object"}], "description": "`kind` selects the alternative: cat, dog."},
        ),
        ({"not": {"type": "string"}}, {"not": {"type": "string"}}),
        ({"additionalProperties": True, "items": False}, {"additionalProperties": True, "items": False}),
        ({"type": ["string", "integer", "string"]}, {"type": ["string", "integer"]}),
    ],
)
def test_annotations_are_kept_moved_or_dropped(schema: Any, expected: Any) -> None:
    assert input_of(schema, version="3.1") == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
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
        (
            {"type": "array", "items": {"type": "string"}, "enum": ["a"]},
            {"type": "array", "items": {"type": "string", "enum": ["a"]}},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "enum": ["a", 1]},
            {"type": "array", "items": {"type": "string"}},
        ),
        (
            {"type": "array", "items": {"type": "string", "enum": ["b"]}, "enum": ["a"]},
            {"type": "array", "items": {"type": "string", "enum": ["b"]}},
        ),
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
def test_invalid_keywords_are_repaired_or_dropped(schema: Any, expected: Any) -> None:
    converted = input_of(schema, version="3.1")
    assert converted == expected
    Draft202012Validator.check_schema(converted)


def test_a_dropped_keyword_is_reported_with_its_pointer() -> None:
    result = compiled_operation(
        json_body({"type": "object", "properties": {"a": {"enum": []}, "b": {"pattern": "(?i)"}}})
    )
    pointer = "#/paths/~1x/post/requestBody/content/application~1json/schema/properties"
    assert [(problem.pointer, problem.kind, problem.operation) for problem in result.problems] == [
        (f"{pointer}/a", "schema", None),
        (f"{pointer}/b", "pattern", None),
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
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
def test_dropping_a_keyword_never_makes_a_schema_refuse_more(schema: Any, expected: Any) -> None:
    assert input_of(schema, version="3.1") == expected


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1),
        ({"oneOf": [{"type": "string", "minLength": 1}, {"type": "string", "format": "uuid"}]}, "a"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}], "anyOf": [STRING, {"type": "boolean"}]}, "a"),
        ({"type": "array", "items": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}, [{"a": 1, "b": 2}]),
        ({"properties": {"a": {"allOf": [{"oneOf": [{"minimum": 0}, {"minimum": 1}]}]}}}, {"a": 2}),
        (ref("Overlap"), {"a": 1}),
        ({"type": "object", "additionalProperties": ref("Overlap")}, {"x": {"a": 1}}),
        ({"nullable": True, "oneOf": [ref("Overlap"), {"type": "object"}]}, {}),
    ],
)
def test_value_that_fits_several_alternatives_is_accepted(schema: Any, value: Any, version: str) -> None:
    overlap = {"oneOf": [{"type": "object"}, {"type": "object", "properties": {"a": {"oneOf": [{}, {}]}}}]}
    converted = input_of(schema, version=version, **schemas(Overlap=overlap))
    assert "oneOf" not in str(converted)
    assert Draft202012Validator(converted).is_valid(value)


def test_alternatives_beside_anyof_still_restrict() -> None:
    converted = input_of({"oneOf": [STRING, NULL], "anyOf": [STRING, {"type": "boolean"}]}, version="3.1")
    assert converted == {"anyOf": [STRING, {"type": "boolean"}], "allOf": [{"anyOf": [STRING, NULL]}]}


@pytest.mark.parametrize("keyword", ["not", "if"])
@pytest.mark.parametrize("referred", [False, True])
def test_oneof_stays_where_a_wider_schema_would_refuse_more(keyword: str, *, referred: bool) -> None:
    alternatives = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    schema = {"type": "object", keyword: ref("A") if referred else alternatives, "then": {"required": ["c"]}}
    converted = input_of(schema, version="3.1", **schemas(A={"anyOf": [alternatives]}))
    assert Draft202012Validator(converted).is_valid({"a": 1, "b": 2})
    assert not Draft202012Validator(converted).is_valid({"a": 1})


def test_schema_referred_to_inside_and_outside_of_not_has_two_definitions() -> None:
    schema = {"properties": {"a": ref("A"), "b": {"not": ref("A")}, "c": {"not": ref("B")}}}
    root = schemas(A={"oneOf": [{"minimum": 0}, {"minimum": 1}]}, B={"minimum": 2})
    converted = input_of(schema, version="3.1", **root)
    assert {name: set(definition) for name, definition in converted["$defs"].items()} == {
        "A": {"anyOf"},
        "A_2": {"oneOf"},
        "B": {"minimum"},
    }
    assert Draft202012Validator(converted).is_valid({"a": 5, "b": 5, "c": 1})
    assert not Draft202012Validator(converted).is_valid({"b": 0})


def test_boolean_properties_become_objects() -> None:
    schema = {"type": "object", "properties": {"any": True, "never": False, "text": {"type": "string"}}}
    tool = tool_of(json_body(schema), version="3.1")
    assert tool.input_schema["properties"] == {"any": {}, "never": {"not": {}}, "text": {"type": "string"}}


def test_3_1_keywords_are_unchanged() -> None:
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


def test_read_only_properties_are_neither_inputs_nor_required() -> None:
    converted = input_of(ref("Thing"), **schemas(Thing=READ_ONLY, Made=MADE))
    assert converted["$defs"]["Thing"] == {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "secret": {"type": "string"}},
    }


def test_a_read_only_property_is_not_required_by_another_part_of_all_of() -> None:
    schema = {"allOf": [ref("Thing"), {"required": ["id", "name", "extra"]}], "required": ["id"]}
    converted = input_of(schema, **schemas(Thing=READ_ONLY, Made=MADE))
    assert converted["allOf"][1] == {"required": ["name", "extra"]}
    assert "required" not in converted


ID = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": STRING}}
READ_ONLY_ID = {"properties": {"id": {"type": "string", "readOnly": True}}}


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["id"], "oneOf": [READ_ONLY_ID, {"type": "object", "title": "T", **READ_ONLY_ID}]},
        {**READ_ONLY_ID, "oneOf": [{"required": ["id"]}, {"required": ["id", "name"]}]},
        {**READ_ONLY_ID, "anyOf": [{"allOf": [{"required": ["id"]}]}]},
        {"allOf": [ID, READ_ONLY_ID]},
        {"allOf": [READ_ONLY_ID, ID]},
        {"allOf": [ref("Id"), READ_ONLY_ID]},
        {"allOf": [ref("Id"), ref("ReadOnly")]},
        {"allOf": [ref("Id"), {"allOf": [{"allOf": [ref("ReadOnly")]}]}]},
        {"allOf": [{"oneOf": [ref("Id"), {"allOf": [ref("Id")]}]}, ref("ReadOnly")]},
        {"allOf": [{"required": ["id"]}, {"oneOf": [ref("ReadOnly"), {"required": ["name"]}]}]},
        {"properties": {"id": ref("Made")}, "allOf": [ref("Id")]},
        ref("Both"),
        {"anyOf": [ref("Both")], "required": ["id"]},
    ],
)
def test_read_only_property_is_not_required_by_another_schema_of_the_object(schema: Any, version: str) -> None:
    both = {"allOf": [ref("Id"), ref("ReadOnly")]}
    root = schemas(Id=ID, ReadOnly=READ_ONLY_ID, Made=MADE, Both=both)
    converted = input_of(schema, version=version, **root)
    assert Draft202012Validator(converted).is_valid({"name": "a"})
    definitions = json.dumps({name: schema for name, schema in converted.get("$defs", {}).items() if name != "Id"})
    assert '"id"' not in json.dumps({**converted, "$defs": 0}) + definitions


@pytest.mark.parametrize("beside", [READ_ONLY_ID, {"allOf": [READ_ONLY_ID]}, {"properties": {"id": ref("Made")}}])
def test_read_only_property_beside_a_reference_is_left_out_of_its_target(beside: Any) -> None:
    converted = input_of({**ref("Id"), **beside}, version="3.1", **schemas(Id=ID, Made=MADE))
    assert Draft202012Validator(converted).is_valid({"name": "a"})
    assert '"id"' not in json.dumps(converted)


def test_schema_keeps_a_property_that_is_read_only_elsewhere() -> None:
    schema = {"properties": {"new": ref("Id"), "old": {"allOf": [ref("Id"), READ_ONLY_ID]}}}
    converted = input_of(schema, **schemas(Id=ID))
    assert converted["properties"]["new"] == {"$ref": "#/$defs/Id"}
    assert converted["$defs"]["Id"] == ID
    assert converted["$defs"]["Id_2"] == {"type": "object", "properties": {"name": STRING}}


def test_property_that_one_alternative_may_set_is_offered_by_it() -> None:
    schema = {"required": ["id"], "oneOf": [ref("Id"), READ_ONLY_ID]}
    converted = input_of(schema, **schemas(Id=ID))
    assert converted["$defs"]["Id"] == ID
    assert "required" not in converted


def test_read_only_false_makes_a_property_of_another_part_writable() -> None:
    writable = {"required": ["id"], "properties": {"id": {"type": "string", "readOnly": False}}}
    converted = input_of({"allOf": [READ_ONLY_ID, writable]})
    assert converted["allOf"][1] == {"required": ["id"], "properties": {"id": {"type": "string"}}}


@pytest.mark.parametrize("keyword", ["not", "if"])
@pytest.mark.parametrize("referred", [False, True])
def test_read_only_properties_stay_in_conditions(keyword: str, *, referred: bool) -> None:
    condition = {"required": ["id"], "properties": {"id": {"type": "string", "readOnly": True}}}
    schema = {**READ_ONLY_ID, keyword: ref("Condition") if referred else condition, "then": False}
    converted = input_of(schema, version="3.1", **schemas(Condition=condition))
    assert Draft202012Validator(converted).is_valid({"name": "a"})


def test_read_only_property_is_not_required_by_a_dependency() -> None:
    schema = {**READ_ONLY_ID, "dependentRequired": {"name": ["id", "size"]}}
    assert input_of(schema, version="3.1")["dependentRequired"] == {"name": ["size"]}


@pytest.mark.slow
def test_definitions_of_one_schema_are_limited() -> None:
    named: dict[str, Any] = {"S20": {"required": [f"a{number}" for number in range(20)]}}
    for number in range(20):
        following = ref(f"S{number + 1}")
        read_only = {"properties": {f"a{number}": {"type": "string", "readOnly": True}}}
        named[f"S{number}"] = {"oneOf": [{"allOf": [following, read_only]}, {"allOf": [following, {}]}]}
    assert len(input_of(ref("S0"), **schemas(**named))["$defs"]) < 20 * 20


def test_keywords_beside_a_reference_count_since_3_1() -> None:
    beside = {**ref("A"), "description": "d", "maxLength": 3, "nullable": True}
    root = schemas(A={"type": "string"})
    definitions = {"A": {"type": "string"}}
    reference = {"$ref": "#/$defs/A"}
    assert input_of(beside, **root) == {"anyOf": [reference, NULL], "description": "d", "$defs": definitions}
    assert input_of(beside, version="3.1", **root) == {
        "anyOf": [{**reference, "maxLength": 3}, NULL],
        "description": "d",
        "$defs": definitions,
    }


def test_a_dynamic_reference_is_read_as_a_static_one_or_accepts_anything() -> None:
    root = schemas(Node={"$dynamicAnchor": "node", "type": "object"})
    assert input_of({"$dynamicRef": "#node"}, version="3.1", **root) == {
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
def test_any_depth_gives_a_valid_schema(schema: Any) -> None:
    tool = tool_of(json_body(schema))
    assert Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(tool.input_schema)


def test_deep_schemas_become_definitions() -> None:
    tool = tool_of(json_body(nested(STRING, 40, lambda inner: {"type": "object", "properties": {"a": inner}})))
    validator = Draft202012Validator(tool.input_schema)
    assert validator.is_valid(nested("the string within", 40, lambda inner: {"a": inner}))
    assert not validator.is_valid(nested(5, 40, lambda inner: {"a": inner}))
