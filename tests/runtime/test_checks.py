"""`checks`: never another verdict than jsonschema's, whatever schema and value; and one for most real schemas."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime import checks, validation

SPECS = sorted((Path(__file__).parents[2] / "specs").glob("*.yaml"))

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -0.5, 1e300])
    | st.text("ab1", max_size=3)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
SIZES = st.integers(0, 3)
LIMITS = st.integers(-2, 2) | st.sampled_from([0.5, 1.0])
SIMPLE = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(SCALARS, min_size=1, max_size=3),
    "const": SCALARS,
    "format": st.just("date"),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "uniqueItems": st.booleans(),
    "pattern": st.sampled_from(["a", "^b+$", "(", "[0-9]"]),
    "minimum": LIMITS,
    "maximum": LIMITS,
    "exclusiveMinimum": LIMITS,
    "exclusiveMaximum": LIMITS,
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": SIZES,
    "maxLength": SIZES,
    "minItems": SIZES,
    "maxItems": SIZES,
    "minProperties": SIZES,
    "maxProperties": SIZES,
    "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "#", "#/$defs/none"]),
    "description": st.text(max_size=3),
    "x-own": st.just({"type": "nothing"}),
}


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=2)
    more = {
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
    }
    some = st.dictionaries(st.sampled_from(sorted(SIMPLE | more)), st.none(), min_size=1, max_size=4)
    return some.flatmap(lambda names: st.fixed_dictionaries({name: (SIMPLE | more)[name] for name in names}))


PARTS = st.recursive(st.booleans() | composed(st.booleans()), composed, max_leaves=5)
SCHEMAS = st.tuples(PARTS.filter(lambda part: isinstance(part, dict)), PARTS, PARTS).map(
    lambda parts: {**parts[0], "$defs": {"a": parts[1], "b": parts[2]}}
)


@settings(max_examples=1500, deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=3, max_size=6))
def test_the_verdict_is_that_of_jsonschema(schema: dict[str, Any], values: list[Any]) -> None:
    check = checks.compiled(schema)
    if check is None:
        return
    for value in values:
        try:
            verdict = check(value)
        except RecursionError:
            continue  # a definition that is itself; `accepts` leaves it to jsonschema
        assert verdict == Draft202012Validator(schema).is_valid(value), (schema, value)


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.0, True),
        ({"type": "number"}, False, False),
        ({"enum": ["a", None]}, None, True),
        ({"enum": ["a"]}, ["a"], False),
        ({"minimum": 1}, True, True),
        ({"maxLength": 1}, "é", True),
        ({"additionalProperties": False, "properties": {"a": True}}, {"a": 1, "b": 2}, False),
        (
            {"$ref": "#/$defs/tree", "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "maxItems": 1}}},
            [[[1, 2]]],
            False,
        ),
    ],
)
def test_what_is_easily_got_wrong(schema: dict[str, Any], value: Any, fits: bool) -> None:
    check = checks.compiled(schema)
    assert check is not None
    assert check(value) is fits
    assert Draft202012Validator(schema).is_valid(value) is fits


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [1]},
        {"const": False},
        {"unevaluatedProperties": False},
        {"$ref": "other.json"},
        {"$dynamicRef": "#x"},
        {"$id": "http://x", "type": "string"},
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
        {"type": "nothing"},
        {"pattern": "("},
        {"minimum": "1"},
        {"properties": []},
        "no schema",
        None,
    ],
)
def test_what_is_not_known_is_left_to_jsonschema(schema: Any) -> None:
    assert checks.compiled(schema) is None


def test_a_value_too_deep_is_not_accepted_and_nothing_breaks() -> None:
    tree: dict[str, Any] = {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/t"}}}}}
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"a": value}
    assert not validation.accepts(tree, value)
    while value:  # it is taken apart by hand: to free it otherwise takes a deep stack too
        value = value.pop("a")


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_most_schemas_of_tools_have_a_check(spec: Path) -> None:
    schemas = [
        schema
        for tool in Bridge.open(Config(source=str(spec))).tools
        for schema in (tool.input_schema, tool.output_schema)
        if schema is not None
    ]
    known = [schema for schema in schemas if checks.compiled(schema) is not None]
    assert len(known) > 0.7 * len(schemas), json.dumps([schema for schema in schemas if schema not in known])[:2000]


def test_the_keywords_are_those_that_jsonschema_judges_by() -> None:
    assert Draft202012Validator.VALIDATORS.keys() == checks.JUDGED
