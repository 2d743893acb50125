"""`arguments`: what fits passes untouched, text that holds the wanted JSON is taken as JSON, the rest is explained."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime import validation
from openapi_mcp.runtime.arguments import prepare
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.types import Schema
from tests.runtime.making import tool

PET: Schema = {
    "type": "object",
    "properties": {
        "kind": {"const": "pet"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind"],
}
CAR: Schema = {
    "type": "object",
    "properties": {"kind": {"const": "car"}, "doors": {"type": "integer"}},
    "required": ["kind", "doors"],
}


def schema(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def prepared(arguments: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return prepare(tool(input_schema=schema(**properties)), arguments)


def refusal(arguments: dict[str, Any], input_schema: Schema) -> str:
    with pytest.raises(ArgumentError) as refused:
        prepare(tool(input_schema=input_schema), arguments)
    return str(refused.value)


@pytest.mark.parametrize(
    ("wanted", "sent", "taken"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, " 5 ", 5),
        ({"type": "integer"}, "9007199254740993", 9007199254740993),
        ({"type": "number"}, "1.5e3", 1500.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "null"}, "null", None),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, '["1", "2"]', [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, ["1", 2], [1, 2]),
        (PET, '{"kind": "pet", "age": "3"}', {"kind": "pet", "age": 3}),
        (PET, {"kind": "pet", "tags": '["a"]'}, {"kind": "pet", "tags": ["a"]}),
        (PET, {"kind": "pet", "tags": ["1"]}, {"kind": "pet", "tags": ["1"]}),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": True}, "true", True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"oneOf": [PET, CAR]}, '{"kind": "car", "doors": 4}', {"kind": "car", "doors": 4}),
        ({"oneOf": [PET, CAR]}, {"kind": "car", "doors": "4"}, {"kind": "car", "doors": 4}),
        ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "object"}]}, '{"a":1}', {"a": 1}),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "5", 5),
        ({"$ref": "#/$defs/Pet"}, '{"kind": "pet"}', {"kind": "pet"}),
    ],
)
def test_text_that_holds_the_wanted_json_is_taken_as_json(wanted: Schema, sent: Any, taken: Any) -> None:
    made = tool(input_schema={**schema(a=wanted), "$defs": {"Pet": PET}})
    assert json.dumps(prepare(made, {"a": sent})) == json.dumps({"a": taken})


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ({"type": "string"}, "5"),
        ({"type": "string"}, '{"a": 1}'),
        ({"type": ["string", "integer"]}, "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ({}, "[1]"),
        ({"type": "object"}, {"a": "5"}),
        ({"type": "integer"}, 5.0),
        ({"enum": ["1", 1]}, "1"),
        ({"format": "date"}, "no date"),
        ({"type": "array", "uniqueItems": True}, [1, True]),
    ],
)
def test_what_fits_is_not_touched(wanted: Schema, sent: Any) -> None:
    assert prepared({"a": sent}, a=wanted) == {"a": sent}


def test_the_arguments_given_are_not_changed() -> None:
    given_arguments = {"a": {"b": ["1"]}}
    wanted = {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "integer"}}}}
    assert prepared(given_arguments, a=wanted) == {"a": {"b": [1]}}
    assert given_arguments == {"a": {"b": ["1"]}}


@pytest.mark.parametrize(
    ("sent", "wanted", "sentence"),
    [
        ("ten", {"type": "integer"}, '`a` must be an integer, not "ten".'),
        ("True", {"type": "boolean"}, '`a` must be true or false, not "True".'),
        ("5", {"type": "integer", "minimum": 6}, '`a` must be an integer, not "5".'),
        ("NaN", {"type": "number"}, '`a` must be a number, not "NaN".'),
        ('"5"', {"type": "integer"}, '`a` must be an integer, not "\\"5\\"".'),
        ({"b": 1}, {"type": ["string", "null"]}, '`a` must be a string or null, not {"b":1}.'),
        ("x", {"enum": ["red", "blue", 3]}, '`a` must be one of "red", "blue", 3, not "x".'),
        (1, {"const": 2}, "`a` must be 2, not 1."),
        (1, {"minimum": 2}, "`a` must be at least 2, not 1."),
        (1, {"maximum": 0}, "`a` must be at most 0, not 1."),
        (1, {"exclusiveMinimum": 1}, "`a` must be greater than 1, not 1."),
        (1, {"exclusiveMaximum": 1}, "`a` must be less than 1, not 1."),
        (1, {"multipleOf": 2}, "`a` must be a multiple of 2, not 1."),
        ("", {"minLength": 1}, '`a` must have at least 1 character, not "".'),
        ("abc", {"maxLength": 2}, '`a` must have at most 2 characters, not "abc".'),
        ("abc", {"pattern": "^x"}, '`a` must match the pattern ^x, not "abc".'),
        ([], {"minItems": 1}, "`a` must have at least 1 item, not []."),
        ([1, 2], {"maxItems": 1}, "`a` must have at most 1 item, not [1,2]."),
        ([1, 1], {"uniqueItems": True}, "`a` must not repeat an item, not [1,1]."),
        ({}, {"minProperties": 1}, "`a` must have at least 1 property, not {}."),
        ({"b": 1}, {"maxProperties": 0}, '`a` must have at most 0 properties, not {"b":1}.'),
        ({}, PET, "`a.kind` is required and missing."),
        ({"kind": "pet", "age": "x"}, PET, '`a.age` must be an integer, not "x".'),
        ({"kind": "pet", "tags": ["a", 5]}, PET, "`a.tags[1]` must be a string, not 5."),
        ({"kind": "car", "doors": "x"}, {"oneOf": [PET, CAR]}, '`a.doors` must be an integer, not "x".'),
        (5, {"oneOf": [PET, {"type": "string"}, {"type": "null"}]}, "`a` must be an object, a string or null, not 5."),
        (1, {"oneOf": [{"minimum": 0}, {"minimum": 1}]}, "`a` fits more than one of the alternatives of which"),
        (1, {"not": {"type": "integer"}}, "`a` is not allowed here."),
        ({"b": 1}, {"properties": {"b": {"not": {}}}}, "`a.b` is not allowed here."),
        ({"b": 1}, {"additionalProperties": False}, "There is no `b` in `a`. There are no properties."),
        (
            {"b": 1, "c": 2, "d1": 3},
            {
                "allOf": [{"properties": {"b": {}}}],
                "patternProperties": {"^d": {}},
                "unevaluatedProperties": False,
            },
            "There is no `c` in `a`.",
        ),
        ([1], {"contains": {"type": "string"}}, "`a` does not fit: [1] does not contain items"),
        ("x" * 500, {"maxLength": 2}, "xxx…."),
    ],
)
def test_a_refusal_says_which_argument_what_was_wanted_and_what_came(sent: Any, wanted: Schema, sentence: str) -> None:
    assert sentence in refusal({"a": sent}, schema(a=wanted))


def test_a_missing_argument_is_named_with_its_type() -> None:
    wanted = {**schema(id={"type": "integer"}, name={"type": "string"}), "required": ["id", "name"]}
    assert refusal({"id": 1}, wanted) == "`name` (a string) is required and missing."


def test_an_unknown_argument_is_named_with_the_nearest_and_with_all_there_are() -> None:
    sentence = refusal({"Limt": 1, "zzz": 2}, schema(limit={}, page={}))
    assert (
        sentence == "There is no `Limt`; did you mean `limit`? There is no `zzz`. The arguments are: `limit`, `page`."
    )


def test_several_failures_come_as_one_list_that_ends() -> None:
    text = refusal({f"a{n}": "x" for n in range(9)}, schema(**{f"a{n}": {"type": "integer"} for n in range(9)}))
    assert text.startswith("The arguments do not fit `x`:\n- `a0` must be")
    assert text.count("\n- `") == 5
    assert text.endswith("… and 4 more.")


def test_a_union_that_fails_in_each_branch_is_explained_by_the_nearest() -> None:
    text = refusal({"a": {"kind": "pet", "age": "old"}}, schema(a={"anyOf": [CAR, PET]}))
    assert text == '`a.age` must be an integer, not "old".'


@pytest.mark.parametrize("reference", ["https://example.com/schema.json", "#/$defs/Nowhere", "other.json#/x"])
def test_a_reference_that_leads_nowhere_fetches_nothing_and_judges_nothing(reference: str) -> None:
    assert prepared({"a": 1}, a={"$ref": reference}) == {"a": 1}


def test_endless_nesting_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    recursive: Schema = {"type": "array", "items": {"$ref": "#/$defs/Deep"}}
    made = tool(input_schema={**schema(a={"$ref": "#/$defs/Deep"}), "$defs": {"Deep": recursive}})
    with pytest.raises(ArgumentError, match="nested too deeply"):
        prepare(made, {"a": deep})
    with pytest.raises(ArgumentError):
        prepare(made, {"a": "[" * 100_000})


def test_references_that_point_at_each_other_do_not_hang() -> None:
    defs = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    with pytest.raises(ArgumentError, match="nested too deeply"):
        prepare(tool(input_schema={**schema(a={"$ref": "#/$defs/A"}), "$defs": defs}), {"a": 1})


def test_a_schema_is_compiled_once_and_by_identity() -> None:
    one, other = schema(a={"type": "integer"}), schema(a={"type": "integer"})
    assert validation.compiled(one) is validation.compiled(one)
    assert validation.compiled(one) is not validation.compiled(other)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["string", "integer", "boolean", "object", "array", "null"]))
def test_whatever_comes_out_fits_and_nothing_else_is_changed(value: Any, kind: str) -> None:
    wanted = schema(a={"type": kind})
    try:
        taken = prepare(tool(input_schema=wanted), {"a": value})["a"]
    except ArgumentError:
        assert not validation.fits(validation.compiled(wanted), {"a": value})
        return
    assert validation.fits(validation.compiled(wanted), {"a": taken})
    assert taken == value or json.loads(value) == taken
