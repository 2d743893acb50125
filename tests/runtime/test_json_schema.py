"""`accepts` never returns True for a JSON value that jsonschema rejects, and is used for most schemas of real tools."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime import json_schema
from openapi_mcp.runtime.json_schema.judge import Judge
from openapi_mcp.runtime.json_schema.quick import MAX_DEPTH

SPECS = sorted((Path(__file__).parents[2] / "specs").glob("*.yaml"))

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([
    0.0, -0.0, 1.0, 1.5, -0.5, 1e300, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, 2**63, 2**64, 10**30, 1e30,
])  # fmt: skip
STRINGS = st.text("ab1", max_size=3) | st.sampled_from(["a\n", "é", "٣", "\ufeff", "\x1c", "😀"])
SCALARS = st.none() | st.booleans() | NUMBERS | STRINGS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
SIZES = st.integers(0, 3)
LIMITS = st.integers(-2, 2) | st.sampled_from([0.5, 1.0, 2**53, float(2**53), 2**63 - 1, 1e300, 1e15])
PATTERNS = st.sampled_from(["a", "^b+$", "(", "[0-9]", r"^\d$", r"\s", r"^\S*$", r"\W", r"\Z", "[^a]"])
SIMPLE = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "format": st.sampled_from(["date", "email"]),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
    "uniqueItems": st.booleans(),
    "pattern": PATTERNS,
    "minimum": LIMITS,
    "maximum": LIMITS,
    "exclusiveMinimum": LIMITS,
    "exclusiveMaximum": LIMITS,
    "multipleOf": st.sampled_from([1, 2, 0.5, 0.1, 1e-9, 2**53, 1e300]),
    "minLength": SIZES,
    "maxLength": SIZES,
    "minItems": SIZES,
    "maxItems": SIZES,
    "minContains": SIZES,
    "maxContains": SIZES,
    "minProperties": SIZES,
    "maxProperties": SIZES,
    "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "#", "#/$defs/none"]),
    "$dynamicRef": st.sampled_from(["#/$defs/a", "#x"]),
    "$anchor": st.just("x"),
    "contentEncoding": st.just("base64"),
    "contentMediaType": st.just("application/json"),
    "nullable": st.just(True),
    "discriminator": st.just({"propertyName": "a"}),
    "$recursiveRef": st.just("#"),
    "dependencies": st.just({"a": ["b"]}),
    "definitions": st.just({"a": {"type": "string"}}),
    "description": st.text(max_size=3),
    "x-own": st.just({"type": "nothing"}),
}


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = SIMPLE | applicators(inner, st.lists(inner, min_size=1, max_size=2))
    some = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True)
    return some.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


def applicators(
    inner: st.SearchStrategy[Any], several: st.SearchStrategy[list[Any]]
) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "propertyNames": inner,
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
        "items": inner,
        "prefixItems": several,
        "unevaluatedItems": inner,
        "contains": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }


PARTS = st.recursive(st.booleans() | composed(st.booleans()), composed, max_leaves=5)
SCHEMAS = st.tuples(PARTS.filter(lambda part: isinstance(part, dict)), PARTS, PARTS).map(
    lambda parts: {**parts[0], "$defs": {"a": parts[1], "b": parts[2]}}
)


def quick_validator(schema: Any) -> json_schema.QuickValidator | None:
    try:
        return json_schema.QuickValidator(schema)
    except (ValueError, TypeError, AttributeError):
        return None


@pytest.mark.slow
@settings(max_examples=max(400, settings().max_examples), deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=3, max_size=6))
def test_quick_verdict_is_that_of_jsonschema(schema: dict[str, Any], values: list[Any]) -> None:
    quick = quick_validator(schema)
    if quick is None:
        return
    for value in values:
        expected = Judge(schema).fits(schema, value)
        assert quick.is_valid(value) == expected, (schema, value)
        assert json_schema.accepts(schema, value) == expected


def test_property_test_generates_every_keyword_of_jsonschema() -> None:
    generated = SIMPLE | applicators(st.booleans(), st.just([]))
    assert Draft202012Validator.VALIDATORS.keys() <= generated.keys()


@pytest.mark.parametrize(
    ("schema", "value", "conforms"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, 10**400, True),
        ({"type": "number"}, False, False),
        ({"enum": ["a", None]}, None, True),
        ({"enum": ["a"]}, ["a"], False),
        ({"enum": [1]}, True, False),
        ({"enum": [1]}, 1.0, True),
        ({"const": False}, 0, False),
        ({"const": {"a": [1]}}, {"a": [True]}, False),
        ({"minimum": 1}, True, True),
        ({"maximum": 2**53}, 2**53 + 1, False),
        ({"maxLength": 1}, "é", True),
        ({"maxLength": 1}, "😀", True),
        ({"format": "date"}, "x", True),
        ({"contentEncoding": "base64"}, "!", True),
        ({"pattern": "^a$"}, "a\n", True),
        ({"pattern": r"^\d$"}, "٣", True),
        ({"pattern": r"^\S$"}, "\x1c", False),
        ({"not": {"pattern": r"\s"}}, "\ufeff", True),
        ({"propertyNames": {"pattern": "^a$"}}, {"b": 1}, False),
        ({"uniqueItems": True}, [1, True], True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"additionalProperties": False, "properties": {"a": True}}, {"a": 1, "b": 2}, False),
        ({"unevaluatedProperties": False, "allOf": [{"properties": {"a": True}}]}, {"a": 1}, True),
        ({"unevaluatedProperties": False, "allOf": [{"properties": {"a": True}}]}, {"b": 1}, False),
        ({"properties": {"multipleOf": {"type": "string"}, "$id": True}}, {"multipleOf": 1}, False),
        (
            {"$ref": "#/$defs/tree", "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "maxItems": 1}}},
            [[[1, 2]]],
            False,
        ),
    ],
)
def test_quick_verdict_of_values_that_are_easily_misjudged(schema: dict[str, Any], value: Any, conforms: bool) -> None:
    assert quick_validator(schema) is not None
    assert json_schema.accepts(schema, value) is conforms
    assert Draft202012Validator(schema).is_valid(value) is conforms


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "other.json"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/properties/a", "properties": {"a": True}},
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"dependentSchemas": {"a": {"if": True, "then": {"$ref": "#"}}}},
        {"$ref": "http://127.0.0.1:1/schema"},
        {"$dynamicRef": "#x"},
        {"unevaluatedItems": False, "$recursiveRef": "#"},
        {"$ref": "#x", "$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}},
        {"$id": "http://x", "type": "string"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
        {"dependencies": {"a": ["b"]}},
        {"patternProperties": {"^a$": False}},
        {"maximum": 2**63},
        {"enum": [{"a": [-1e30]}]},
        {"type": "nothing"},
        {"pattern": "("},
        {"minimum": "1"},
        {"properties": []},
        {"not": float("nan")},
        "no schema",
        None,
    ],
)
def test_schema_that_the_libraries_may_read_differently_has_no_quick_verdict(schema: Any) -> None:
    assert quick_validator(schema) is None
    assert not json_schema.accepts({"allOf": [schema]}, "a")


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\ud800": 1}, {1: 2}, {None: 1}, Text("a"), b"a", {1}, object(), [object()], {"a": Text("a")}],
    ids=lambda value: type(value).__name__,
)
def test_value_that_is_no_json_has_no_quick_verdict(value: Any) -> None:
    strict = {"minLength": 1, "items": {"type": "string"}, "additionalProperties": {"type": ["string", "integer"]}}
    assert not json_schema.accepts(strict, value)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def dismantle(value: dict[str, Any]) -> None:
    """Take a value apart level by level: freeing it as a whole needs a deep stack."""
    while value:
        value = value.pop("a")


def test_deeply_nested_value_is_not_accepted() -> None:
    tree: dict[str, Any] = {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/t"}}}}}
    assert json_schema.accepts(tree, nested(MAX_DEPTH))
    assert not json_schema.accepts(tree, nested(MAX_DEPTH + 1))
    value = nested(100_000)
    assert not json_schema.accepts(tree, value)
    assert not json_schema.accepts({"uniqueItems": True}, [value, value])
    dismantle(value)


@pytest.mark.slow
def test_long_chain_of_definitions_does_not_crash() -> None:
    definitions = {str(number): {"properties": {"a": {"$ref": f"#/$defs/{number + 1}"}}} for number in range(20_000)}
    schema = {"$ref": "#/$defs/0", "$defs": {**definitions, "20000": {}}}
    value = nested(20_000)
    assert not json_schema.accepts(schema, value)
    dismantle(value)


def test_value_that_holds_itself_is_not_accepted() -> None:
    value: list[Any] = []
    value += [value, value]
    assert not json_schema.accepts({"uniqueItems": True}, value)


def test_deeply_nested_schema_has_no_quick_verdict() -> None:
    schema = nested(100_000)
    assert quick_validator(schema) is None
    dismantle(schema)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_recursive_unions_and_unique_items_take_little_time(keyword: str) -> None:
    reference = {"$ref": "#/$defs/t"}
    union = [{"properties": {"a": reference}, "required": [name]} for name in ("b", "c")]
    schema = {**reference, "$defs": {"t": {keyword: union}}}
    assert not json_schema.accepts(schema, nested(200))  # two branches at each level
    assert json_schema.accepts({"uniqueItems": True}, [{"a": number} for number in range(50_000)])


@pytest.mark.parametrize("keyword", ["unevaluatedItems", "unevaluatedProperties"])
@pytest.mark.parametrize("applicator", ["allOf", "anyOf", "oneOf", "properties", "items", "not", "if", None])
def test_schema_that_refers_to_itself_does_not_crash(keyword: str, applicator: str | None) -> None:
    root = {"$ref": "#"}
    values: dict[str, Any] = {"allOf": [root], "anyOf": [root], "oneOf": [root], "properties": {"a": root}}
    schema = root if applicator is None else {applicator: values.get(applicator, root)}
    samples: list[Any] = [{}, [], 1, {"a": {"a": {}}}, [[1]]]
    for value in samples:
        json_schema.accepts({**schema, keyword: False}, value)  # older versions of jsonschema-rs overflow the stack


def test_one_schema_is_used_by_several_threads() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "integer", "minimum": 0}}}
    verdicts: list[bool] = []

    def judge() -> None:
        verdicts.extend(json_schema.accepts(schema, {"a": number}) == (number >= 0) for number in range(-500, 500))

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(verdicts) == 4000
    assert all(verdicts)


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_most_schemas_of_tools_have_a_quick_verdict(spec: Path) -> None:
    schemas = [
        schema
        for tool in Bridge.open(Config(source=str(spec))).tools
        for schema in (tool.input_schema, tool.output_schema)
        if schema is not None
    ]
    without = [schema for schema in schemas if quick_validator(schema) is None]
    assert len(without) < 0.3 * len(schemas), json.dumps(without)[:2000]
