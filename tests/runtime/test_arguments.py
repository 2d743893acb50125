"""`arguments`: fitting values are unchanged, strings that hold fitting JSON are coerced, the rest is explained."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime import json_schema
from openapi_mcp.runtime.arguments.spelling import near_name
from openapi_mcp.runtime.arguments.validation import prepare
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
    with pytest.raises(ArgumentError) as failure:
        prepare(tool(input_schema=input_schema), arguments)
    return str(failure.value)


@pytest.mark.parametrize(
    ("expected", "sent", "coerced"),
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
        ({"type": "array", "items": {"type": "string"}}, "a,b", ["a,b"]),
        ({"type": "array", "items": {"type": "integer"}}, 5, [5]),
        ({"type": "array", "items": {"type": "integer"}}, "5", [5]),
        ({"type": "array", "items": {"type": "string"}}, "5", ["5"]),
        ({"type": "array", "items": {"type": "boolean"}}, False, [False]),
        ({"type": ["array", "null"], "items": {}}, "a", ["a"]),
        ({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}, 5, [5]),
        ({"type": "array", "items": {"type": "integer"}}, "[5]", [5]),
        (PET, {"kind": "pet", "tags": "a"}, {"kind": "pet", "tags": ["a"]}),
        ({"anyOf": [PET, CAR]}, {"kind": "pet", "tags": "a"}, {"kind": "pet", "tags": ["a"]}),
        ({"anyOf": [{"type": "array", "items": {}}, {"type": "integer"}]}, "5", 5),
    ],
)
def test_string_with_fitting_json_is_coerced(expected: Schema, sent: Any, coerced: Any) -> None:
    api_tool = tool(input_schema={**schema(a=expected), "$defs": {"Pet": PET}})
    assert json.dumps(prepare(api_tool, {"a": sent})) == json.dumps({"a": coerced})


@pytest.mark.parametrize(
    ("expected", "sent"),
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
def test_fitting_value_is_unchanged(expected: Schema, sent: Any) -> None:
    assert prepared({"a": sent}, a=expected) == {"a": sent}


@pytest.mark.parametrize(
    ("expected", "sent"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "a"),
        ({"type": "array", "minItems": 2}, "a"),
        ({"type": "array", "items": {}}, None),
        ({"type": "array", "items": {}}, {}),
        ({"anyOf": [{"type": "array", "items": {}}, {"type": "integer"}]}, "a"),
    ],
)
def test_value_that_no_array_may_hold_is_refused(expected: Schema, sent: Any) -> None:
    assert refusal({"a": sent}, schema(a=expected)).startswith("`a` must ")


def test_coercion_does_not_change_the_passed_arguments() -> None:
    arguments = {"a": {"b": ["1"]}}
    expected = {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "integer"}}}}
    assert prepared(arguments, a=expected) == {"a": {"b": [1]}}
    assert arguments == {"a": {"b": ["1"]}}


@pytest.mark.parametrize(
    ("sent", "expected", "sentence"),
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
        ({"": None}, {"additionalProperties": {"type": "string"}}, '`a[""]` must be a string, not null.'),
        ({"": 1}, {"additionalProperties": False}, 'There is no `""` in `a`. There are no properties.'),
        ({}, {"required": [""]}, '`a[""]` is required and missing.'),
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
        ([1], {"contains": {"type": "string"}}, "`a` must contain an item of the kind that"),
        ("x" * 500, {"maxLength": 2}, "xxx…."),
    ],
)
def test_refusal_names_argument_expectation_and_value(sent: Any, expected: Schema, sentence: str) -> None:
    assert sentence in refusal({"a": sent}, schema(a=expected))


def test_missing_argument_is_named_with_its_type() -> None:
    expected = {**schema(id={"type": "integer"}, name={"type": "string"}), "required": ["id", "name"]}
    assert refusal({"id": 1}, expected) == "`name` (a string) is required and missing."


def test_unknown_argument_is_named_with_a_suggestion_and_all_names() -> None:
    sentence = refusal({"Limt": 1, "zzz": 2}, schema(limit={}, page={}))
    assert (
        sentence == "There is no `Limt`; did you mean `limit`? There is no `zzz`. The arguments are: `limit`, `page`."
    )


def test_failures_are_a_list_of_limited_length() -> None:
    text = refusal({f"a{n}": "x" for n in range(9)}, schema(**{f"a{n}": {"type": "integer"} for n in range(9)}))
    assert text.startswith("The arguments do not fit `x`:\n- `a0` must be")
    assert text.count("\n- `") == 5
    assert text.endswith("… and 4 more.")


def test_failed_union_is_explained_by_the_nearest_branch() -> None:
    text = refusal({"a": {"kind": "pet", "age": "old"}}, schema(a={"anyOf": [CAR, PET]}))
    assert text == '`a.age` must be an integer, not "old".'


@pytest.mark.parametrize("reference", ["https://example.com/schema.json", "#/$defs/Nowhere", "other.json#/x"])
def test_broken_reference_fetches_nothing_and_accepts_everything(reference: str) -> None:
    assert prepared({"a": 1}, a={"$ref": reference}) == {"a": 1}


def test_deeply_nested_arguments_are_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    recursive: Schema = {"type": "array", "items": {"$ref": "#/$defs/Deep"}}
    api_tool = tool(input_schema={**schema(a={"$ref": "#/$defs/Deep"}), "$defs": {"Deep": recursive}})
    with pytest.raises(ArgumentError, match="nested too deeply"):
        prepare(api_tool, {"a": deep})
    with pytest.raises(ArgumentError):
        prepare(api_tool, {"a": "[" * 100_000})


def test_circular_references_are_refused() -> None:
    defs = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    with pytest.raises(ArgumentError, match="nested too deeply"):
        prepare(tool(input_schema={**schema(a={"$ref": "#/$defs/A"}), "$defs": defs}), {"a": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["string", "integer", "boolean", "object", "array", "null"]))
def test_coerced_arguments_fit_and_equal_the_passed_values(value: Any, kind: str) -> None:
    expected = schema(a={"type": kind})
    try:
        coerced = prepare(tool(input_schema=expected), {"a": value})["a"]
    except ArgumentError:
        assert not json_schema.is_valid(expected, {"a": value})
        return
    assert json_schema.is_valid(expected, {"a": coerced})
    assert coerced in (value, [value]) or json.loads(value) == coerced


FILTER: Schema = {
    "type": "object",
    "properties": {
        "flow_runs": {"type": "object", "properties": {"id": {}, "state": {}}},
        "limit": {"type": "integer"},
        "sort": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}},
        "shape": {"anyOf": [{"$ref": "#/$defs/Rule"}, {"properties": {"colour": {}}}]},
    },
    "$defs": {"Rule": {"allOf": [{"properties": {"ruleName": {}}, "patternProperties": {"^x-": {}}}]}},
}


@pytest.mark.parametrize(
    ("arguments", "own", "near"),
    [
        ({"flow_run": {}}, "flow_run", "flow_runs"),
        ({"flowRuns": {}}, "flowRuns", "flow_runs"),
        ({"FLOW-RUNS": {}}, "FLOW-RUNS", "flow_runs"),
        ({"flwo_runs": {}}, "flwo_runs", "flow_runs"),
        ({"Limit": 1}, "Limit", "limit"),
        ({"limits": 1}, "limits", "limit"),
        ({"srot": "a"}, "srot", "sort"),
        ({"flow_runs": {"stat": 1}}, "flow_runs.stat", "flow_runs.state"),
        ({"rules": [{"x-a": 1}, {"rule_name": 1}]}, "rules[1].rule_name", "rules[1].ruleName"),
        ({"shape": {"color": 1}}, "shape.color", "shape.colour"),
        ({"flow_runs": '{"stat": 1}'}, "flow_runs.stat", "flow_runs.state"),
    ],
)
def test_misspelled_name_is_refused_where_any_name_is_allowed(arguments: dict[str, Any], own: str, near: str) -> None:
    assert refusal(arguments, FILTER) == (
        f"There is no `{own}`; did you mean `{near}`? Give both if the API knows `{own}` too."
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"flow_run": {}, "flow_runs": {}},
        {"offset": 5},
        {"flow": 5},
        {"labels": {"limt": "a", "flow_run": "b"}},
        {"rules": [{"x-ruleNam": 1}]},
        {"other": {"limt": 1}},
        {"flow_runs": {"i": 1}},
    ],
)
def test_other_undeclared_names_are_accepted_where_any_is_allowed(arguments: dict[str, Any]) -> None:
    assert prepare(tool(input_schema=FILTER), arguments) == arguments


@pytest.mark.parametrize(
    ("name", "declared", "near"),
    [
        ("line2", "line1", None),
        ("a", "b", None),
        ("ID", "id", "id"),
        ("id", "ids", "ids"),
        ("lat", "lng", None),
        ("descriptoin", "description", "description"),
        ("first_name", "last_name", None),
    ],
)
def test_near_name(name: str, declared: str, near: str | None) -> None:
    assert near_name(name, [declared]) == near


def test_misspelling_comes_before_what_is_missing_for_it() -> None:
    text = refusal({"flow_run": {}}, {**FILTER, "required": ["flow_runs"]})
    assert text.index("did you mean `flow_runs`?") < text.index("`flow_runs` (an object) is required and missing.")


def test_search_for_misspellings_takes_no_time() -> None:
    names: Schema = {f"name_{letter * 3}_{number}": {} for number in range(50) for letter in "abcdefghij"}
    api_tool = tool(input_schema={"type": "object", "properties": names | {"list": {"items": {"properties": names}}}})
    undeclared = {f"other_{number}": number for number in range(2000)}
    start = time.process_time()
    prepare(api_tool, undeclared | {"list": [undeclared] * 20})
    assert time.process_time() - start < 5
