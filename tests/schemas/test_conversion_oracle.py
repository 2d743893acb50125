"""Compare the verdicts of a converted schema with those of OpenAPI 3.0's own validator for the original.

The random schemas leave out what the two read differently on purpose: `nullable` beside unions (which counts here), an
enum without null beside `nullable`, `oneOf` with alternatives that validators cannot tell apart, and 1.0 as an integer.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_schema_validator import OAS30Validator

from tests.compiling import input_of, ref, schemas

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(alphabet="ab1", max_size=4),
    "integer": st.integers(-3, 5),
    "number": st.sampled_from([-1.5, 0.25, 2.5, 4]),
    "boolean": st.booleans(),
}
VALUES = st.recursive(
    st.none() | st.one_of(*SCALARS.values()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
KEYWORDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "pattern": st.sampled_from(["^a", r"\d$", r"^[a\-b]*$", r"\@|b"]),
    },
    "number": {
        "minimum": st.sampled_from([-1, 0.25, 2]),
        "maximum": st.sampled_from([0, 2.5, 4]),
        "exclusiveMinimum": st.booleans(),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": st.sampled_from([0.25, 2]),
    },
    "boolean": {},
}
KEYWORDS["integer"] = KEYWORDS["number"]


@st.composite
def of_type(draw: st.DrawFn, kind: str, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw a schema of one type, sometimes nullable, sometimes an enum."""
    if kind == "object":
        optional = {
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
        }
    elif kind == "array":
        optional = {
            "items": inner,
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
        }
    else:
        optional = dict(KEYWORDS[kind])
    schema = {"type": kind, **draw(st.fixed_dictionaries({}, optional=optional))}
    if draw(st.booleans()):
        schema["nullable"] = True
    if kind in SCALARS and draw(st.integers(0, 3)) == 0:
        schema["enum"] = draw(st.lists(SCALARS[kind], min_size=1, max_size=3)) + [None] * ("nullable" in schema)
    return schema


TYPES = ["object", "array", *SCALARS]


@st.composite
def union(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw a schema without a type."""
    keyword = draw(st.sampled_from(["allOf", "anyOf", "oneOf", "not", "plain"]))
    if keyword == "plain":
        return draw(st.sampled_from([{}, ref("Node"), ref("Leaf"), {"enum": ["a", 1, None, [1]]}, {"minLength": 2}]))
    if keyword == "not":
        return {"not": draw(inner)}
    if keyword == "oneOf":
        kinds = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True))
        return {"oneOf": [draw(of_type(kind, inner)) for kind in kinds]}
    return {keyword: draw(st.lists(inner, min_size=1, max_size=3))}


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.deferred(
    lambda: st.one_of(union(SMALL), *(of_type(kind, SMALL) for kind in TYPES))
)
SMALL: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(*(of_type(kind, st.just({})) for kind in SCALARS)),
    lambda inner: st.one_of(union(inner), of_type("object", inner), of_type("array", inner)),
    max_leaves=4,
)
COMPONENTS = schemas(
    Node={"type": "object", "properties": {"a": ref("Node"), "b": ref("Leaf")}, "required": ["b"]},
    Leaf={"type": "string", "nullable": True, "maxLength": 2},
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=5, max_size=10))
def test_a_converted_schema_gives_the_verdict_of_the_3_0_validator(schema: dict[str, Any], values: list[Any]) -> None:
    as_written = OAS30Validator({**schema, **COMPONENTS})
    converted = Draft202012Validator(input_of(schema, **COMPONENTS))
    for value in values:
        assert converted.is_valid(value) == as_written.is_valid(value), value
