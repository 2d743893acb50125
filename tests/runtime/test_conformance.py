"""`conformance`: what comes out always conforms; what conforms stays as it is, and as little as possible goes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime import validation
from openapi_mcp.runtime.conformance import conformed
from openapi_mcp.runtime.types import Schema

OWNER: Schema = {"type": "object", "properties": {"login": {"type": "string"}, "id": {"type": "integer"}}}
PET: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "owner": {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "kind": {"enum": ["cat", "dog"]},
    },
    "$defs": {"Owner": OWNER},
}
CLOSED: Schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
LIST: Schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (PET, {"name": "Tom", "extra": 1}, {"name": "Tom", "extra": 1}),
        (PET, {"name": None, "kind": "cat"}, {"kind": "cat"}),
        (PET, {"name": 5, "kind": "cow"}, {}),
        (PET, {"tags": ["a", 5, "b", None]}, {"tags": ["a", "b"]}),
        (PET, {"tags": ["a", "b", "c", "d"], "name": "Tom"}, {"name": "Tom"}),
        (PET, {"owner": {"login": "x", "id": "7"}}, {"owner": {"login": "x"}}),
        (PET, {"owner": None}, {"owner": None}),
        (PET, {"owner": "x", "name": "Tom"}, {"name": "Tom"}),
        (PET, [1, 2], {}),
        (PET, "text", {}),
        (PET, None, {}),
        (LIST, [{"n": 1}, "x", {"n": "2", "m": 3}], [{"n": 1}, {"m": 3}]),
        (LIST, {"n": 1}, []),
        (LIST, None, []),
        (CLOSED, {"a": 1, "b": 2, "c": 3}, {"a": 1}),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, [1, "a", 2], []),
        ({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 5}, ["a"], []),
        (
            {"type": "object", "properties": {"u": {"oneOf": [{"minimum": 0}, {"minimum": 1}]}}},
            {"u": 5, "v": 1},
            {"v": 1},
        ),
        ({"type": "object", "properties": {"x": {"$ref": "https://nowhere.test/x"}}}, {"x": 1}, {"x": 1}),
    ],
)
def test_what_does_not_fit_is_left_out(schema: Schema, value: Any, expected: Any) -> None:
    assert conformed(schema, value) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "owner", "tags", "kind", "login", "id", "n"]), inner)
    ),
    max_leaves=20,
)


@given(st.sampled_from([PET, LIST, CLOSED]), JSON)
def test_what_comes_out_conforms(schema: Schema, value: Any) -> None:
    validator = validation.compiled(schema)
    out = conformed(schema, value)
    assert validation.fits(validator, out)
    assert out == value or not validation.fits(validator, value)


def test_endless_nesting_leaves_the_empty_value() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    recursive: Schema = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    assert conformed(recursive, deep) == {}
