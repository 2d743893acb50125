"""`advice`: a refusal shows what fits at the place: properties, near names and values, an example that conforms."""

import json
import re
import time
from typing import Any

import pytest

from openapi_mcp.runtime import json_schema
from openapi_mcp.runtime.arguments.spelling import did_you_mean, nearest
from openapi_mcp.runtime.arguments.validation import check, prepare
from openapi_mcp.runtime.json_schema.examples import example_of
from openapi_mcp.runtime.types import MISSING, Schema
from tests.runtime.making import tool

ADDRESS: Schema = {
    "type": "object",
    "properties": {
        "street": {"type": "string"},
        "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
        "kind": {"enum": ["home", "work"]},
        "geo": {"type": "object", "properties": {"lat": {"type": "number"}, "lng": {}}, "required": ["lat"]},
    },
    "required": ["street", "zip"],
}
CARD: Schema = {"type": "object", "properties": {"by": {"const": "card"}, "number": {"type": "string"}}}
IBAN: Schema = {"type": "object", "properties": {"by": {"const": "iban"}, "iban": {"type": "string"}}}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "address": {"$ref": "#/$defs/Address"},
        "others": {"type": "array", "items": {"$ref": "#/$defs/Address"}, "minItems": 2},
        "status": {"enum": ["available", "pending", "sold"]},
        "when": {"type": "string", "format": "date-time"},
        "code": {"type": "string", "pattern": r"^[A-Z]{3}-\d+$"},
        "count": {"type": "integer", "multipleOf": 7, "minimum": 20},
        "pay": {"oneOf": [{**CARD, "required": ["by", "number"]}, {**IBAN, "required": ["by", "iban"]}]},
        "states": {"type": "array", "items": {"enum": ["available", "sold"]}},
        "names": {"type": "array", "items": {"type": "string"}},
        "page": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 3}}},
    },
    "additionalProperties": False,
    "$defs": {"Address": ADDRESS},
}
OUTLINE = '`street`* string, `zip`* string, `kind` "home"|"work", `geo` object {lat*, lng} (* is required)'
WHOLE = '{"street":"text","zip":"00000"}'


def refused(arguments: dict[str, Any], schema: Schema = SCHEMA) -> str:
    return check(tool(input_schema=schema), arguments)[1]


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({"address": "Main street"}, f" `address` takes an object: {OUTLINE}; for example {WHOLE}."),
        ({"address": {}}, f"`address` takes an object: {OUTLINE}; for example {WHOLE}."),
        ({"address": {"street": "Main"}}, '; for example {"street":"Main","zip":"00000"}.'),
        ({"address": {"street": "Main", "zip": "1"}}, '`address.zip` may be "00000".'),
        (
            {"others": "here"},
            f"`others` takes an array of object {{street*, zip*, kind, geo}}; for example [{WHOLE},{WHOLE}].",
        ),
        ({"states": "Soldd"}, '`states` takes an array of "available"|"sold"; for example ["sold"].'),
        ({"names": 5}, '`names` may be ["text"].'),
        ({"code": "x"}, '`code` may be "AAA-0".'),
        ({"count": 22}, "`count` may be 21."),
        ({"when": 5}, '`when` may be "2024-02-29T12:30:00Z".'),
        ({"page": 3}, '`page` takes an object: `size` integer; for example {"size":10}.'),
        (
            {"pay": {"by": "iban"}},
            '`by`* "iban", `iban`* string (* is required); for example {"by":"iban","iban":"text"}.',
        ),
    ],
)
def test_refusal_shows_properties_and_an_example(arguments: dict[str, Any], advice: str) -> None:
    text = refused(arguments)
    assert advice in text
    (name,) = arguments
    if "for example" in text and text.count("for example") == 1:
        example = json.loads(text.partition("for example ")[2].removesuffix("."))
        assert prepare(tool(input_schema=SCHEMA), {name: example}) == {name: example}


def test_missing_argument_is_described() -> None:
    assert f"for example {WHOLE}." in refused({}, {**SCHEMA, "required": ["address"]})
    expected = '`status` (one of "available", "pending", "sold") is required and missing.'
    assert refused({}, {**SCHEMA, "required": ["status"]}) == expected


def test_examples_of_the_document_have_precedence() -> None:
    person: Schema = {"type": "object", "properties": {"name": {"default": "Ada"}}, "required": ["name"]}
    assert '{"name":"Ada"}' in refused({"p": 1}, {"type": "object", "properties": {"p": person}})
    coded = {"type": "array", "items": {"type": "string"}, "examples": [["de-DE"]]}
    assert '["de-DE"]' in refused({"p": {}}, {"type": "object", "properties": {"p": coded}})


def test_plain_values_need_no_example() -> None:
    assert refused({"a": "x"}, {"type": "object", "properties": {"a": {"type": "integer"}}}) == (
        '`a` must be an integer, not "x".'
    )


@pytest.mark.parametrize(
    ("sent", "hint"),
    [("Available", "did you mean"), ("pendng", 'did you mean "pending"?'), ("x", 'not "x".'), (5, "not 5.")],
)
def test_near_value_of_an_enum_is_named(sent: Any, hint: str) -> None:
    assert hint in refused({"status": sent})


def test_near_value_is_named_where_not_all_are_listed() -> None:
    codes: Schema = {"enum": [f"zone-{number}-{'abc'[number % 3]}" for number in range(200)]}
    text = refused({"zone": "Zone_150_A"}, {"type": "object", "properties": {"zone": codes}})
    assert text.endswith('did you mean "zone-150-a"?')


@pytest.mark.parametrize(
    ("name", "choices", "found"),
    [
        ("get_pet", ["getPet", "listPets", "deletePet"], ["getPet"]),
        ("pet_get", ["listPets", "getPet"], ["getPet"]),
        ("in progress", ["todo", "in_progress"], ["in_progress"]),
        ("addPet", ["getPet", "createPet", "deletePet"], ["createPet"]),
        ("remove_pets", ["getPet", "createPet", "deletePet"], ["deletePet"]),
        ("name", ["first_name", "last_name", "email"], ["last_name", "first_name"]),
        ("cancelled", ["canceled", "open"], ["canceled"]),
        ("zzz", ["limit", "page"], []),
        ("", ["limit"], []),
        ("---", ["limit", "_"], []),
    ],
)
def test_nearest_names(name: str, choices: list[str], found: list[str]) -> None:
    assert nearest(name, choices) == found


def test_nearest_name_among_many_takes_no_time() -> None:
    start = time.process_time()
    did_you_mean("b" * 190, ["a" * 190 + str(number) for number in range(20_000)])
    did_you_mean("x" * 100_000, ["a"])
    assert time.process_time() - start < 5


LARGE: Schema = {
    "type": "object",
    "properties": {f"property_{number}": {"enum": ["x" * 90, "y" * 90]} for number in range(400)},
    "required": [f"property_{number}" for number in range(400)],
}


@pytest.mark.parametrize(
    "arguments",
    [{"a": 1}, {"a": {}, "b": {}}, {"a": {f"property_{number}": 0 for number in range(400)}}, {"a": {"z" * 5000: 1}}],
)
def test_refusal_is_short_whatever_the_schema(arguments: dict[str, Any]) -> None:
    text = refused(arguments, {"type": "object", "properties": {"a": LARGE, "b": LARGE}})
    assert len(text) < 1300
    assert text.startswith(("`a`", "The arguments do not fit"))


RECURSIVE: Schema = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}] * 12}, "b": {"$ref": "#/$defs/A"}},
    "required": ["a", "b"],
}
DEFECTS: list[Schema] = [
    {"$ref": "#/$defs/A"},
    {"type": "object", "required": 5, "properties": []},
    {"type": "object", "required": ["x"], "properties": {"x": {"pattern": "((("}}},
    {"type": "integer", "multipleOf": 0},
    {"type": "array", "items": False, "minItems": 3},
    {"type": "object", "properties": {"x": False}, "required": ["x"]},
    {"type": 5},
    {"enum": 5, "type": "object"},
    {"type": "object", "anyOf": "x"},
]


@pytest.mark.parametrize("defect", [RECURSIVE, *DEFECTS], ids=str)
def test_schema_with_a_defect_or_no_end_is_explained_in_bounded_time(defect: Schema) -> None:
    start = time.process_time()
    refused({"p": "x"}, {"type": "object", "properties": {"p": {"allOf": [defect]}}, "$defs": {"A": defect}})
    refused({}, {"type": "object", "properties": {"p": defect}, "required": ["p"], "$defs": {"A": defect}})
    assert time.process_time() - start < 5


@pytest.mark.parametrize("schema", [*SCHEMA["properties"].values(), SCHEMA, True, {}], ids=str)
def test_example_conforms_to_its_schema(schema: Any) -> None:
    example = example_of(SCHEMA, schema)
    assert example is not MISSING
    assert json_schema.is_valid({"$defs": SCHEMA["$defs"], **schema} if isinstance(schema, dict) else {}, example)


@pytest.mark.parametrize("schema", [False, {"not": {}}, {"enum": []}, {"type": "string", "pattern": "(?!)"}], ids=str)
def test_schema_that_nothing_fits_has_no_example(schema: Any) -> None:
    assert example_of({}, schema) is MISSING


def test_advice_is_for_the_first_two_places() -> None:
    text = refused({"address": 1, "others": "x", "code": "x", "when": 5})
    assert len(re.findall(r"for example| may be ", text)) == 2


def test_of_very_many_names_the_likely_ones_are_compared() -> None:
    names = [f"get_p{number}_by_id" for number in range(50_000)]
    start = time.process_time()
    assert nearest("getP49999ById", names) == ["get_p49999_by_id"]
    assert nearest("getFault", [*names, "getFaults"]) == ["getFaults"]
    assert nearest("get_fault_by_id", [*names, "get_faults_by_id"]) == ["get_faults_by_id"]
    assert len(nearest("get_by_id", names)) == 3
    assert time.process_time() - start < 5
