"""Arguments that headers mirror: which annotations clients accept, and that a header says what its argument says."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import mirrored

STRING = {"type": "string", "x-mcp-header": "Region"}
SCHEMA = {
    "type": "object",
    "properties": {
        "region": STRING,
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "deep": {"type": "object", "properties": {"er": {"type": "string", "x-mcp-header": "Deeper"}}},
        "plain": {"type": "string"},
    },
}


def with_property(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def test_arguments_are_found_by_the_names_that_lead_to_them() -> None:
    assert mirrored.header_arguments(SCHEMA) == {
        ("region",): "Region",
        ("count",): "Count",
        ("dry",): "Dry",
        ("deep", "er"): "Deeper",
    }
    assert mirrored.problem_of(SCHEMA) == []


@pytest.mark.parametrize("name", ["", "a b", "a:b", "é", "a\r\nb", "a\n", None, 1, ["x"], {}])
def test_a_name_that_is_no_token_is_a_problem(name: Any) -> None:
    schema = with_property({"type": "string", "x-mcp-header": name})
    assert mirrored.header_arguments(schema) == {}
    [(tokens, message)] = mirrored.problem_of(schema)
    assert tokens == ("properties", "a", "x-mcp-header")
    assert "token" in message


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "null"], ["string"], None])
def test_a_type_that_is_not_mirrored_is_a_problem(kind: Any) -> None:
    schema = with_property({"type": kind, "x-mcp-header": "A"})
    assert mirrored.header_arguments(schema) == {}
    [(tokens, _message)] = mirrored.problem_of(schema)
    assert tokens == ("properties", "a", "x-mcp-header")


@pytest.mark.parametrize(
    ("schema", "tokens"),
    [
        (STRING, ()),
        ({"properties": {"a": {"items": STRING}}}, ("properties", "a", "items")),
        ({"allOf": [{}, {"properties": {"a": STRING}}]}, ("allOf", 1, "properties", "a")),
        ({"properties": {"a": {"anyOf": [STRING]}}}, ("properties", "a", "anyOf", 0)),
        ({"$defs": {"A": STRING}}, ("$defs", "A")),
        ({"$defs": {"A": {"properties": {"b": STRING}}}}, ("$defs", "A", "properties", "b")),
        ({"patternProperties": {"^x": STRING}}, ("patternProperties", "^x")),
        ({"additionalProperties": STRING}, ("additionalProperties",)),
        ({"if": {"properties": {"a": STRING}}}, ("if", "properties", "a")),
    ],
)
def test_only_names_may_lead_to_a_mirrored_argument(schema: dict[str, Any], tokens: tuple[Any, ...]) -> None:
    assert mirrored.header_arguments(schema) == {}
    assert [place for place, _ in mirrored.problem_of(schema)] == [(*tokens, "x-mcp-header")]


def test_data_and_names_are_no_annotations() -> None:
    data = {"x-mcp-header": "not a token"}
    schema = {
        "properties": {"x-mcp-header": {"type": "string"}, "a": {"default": data, "examples": [data], "enum": [data]}},
        "required": ["x-mcp-header"],
    }
    assert mirrored.problem_of(schema) == []
    assert mirrored.header_arguments(schema) == {}


def test_of_two_with_one_name_the_first_keeps_it() -> None:
    schema = {"properties": {"a": STRING, "b": {"type": "integer", "x-mcp-header": "REGION"}}}
    assert mirrored.header_arguments(schema) == {("a",): "Region"}
    assert [place for place, _ in mirrored.problem_of(schema)] == [("properties", "b", "x-mcp-header")]


def test_a_schema_without_its_problems_has_none() -> None:
    bad = {"x-mcp-header": "x y", "type": "string"}
    schema: dict[str, Any] = {"properties": {"a": dict(bad), "b": {"items": dict(STRING)}, "c": dict(STRING)}}
    for tokens, _message in mirrored.problem_of(schema):
        node: Any = schema
        for token in tokens[:-1]:
            node = node[token]
        del node[tokens[-1]]
    assert mirrored.problem_of(schema) == []
    assert mirrored.header_arguments(schema) == {("c",): "Region"}


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None, "plain": "x"}, {"mcp-param-plain": "unknown names are nobody's business"}),
        ({"region": "eu"}, {"mcp-param-region": " eu\t"}),
        ({"region": "a\tb c"}, {"mcp-param-region": "a\tb c"}),
        ({"region": ""}, {"mcp-param-region": ""}),
        ({"region": " eu "}, {"mcp-param-region": encoded(" eu ")}),
        ({"region": "世界\n"}, {"mcp-param-region": encoded("世界\n")}),
        ({"region": "=?base64?eA==?="}, {"mcp-param-region": encoded("=?base64?eA==?=")}),
        ({"count": 42}, {"mcp-param-count": "42"}),
        ({"count": 42}, {"mcp-param-count": "42.0"}),
        ({"count": -7.0}, {"mcp-param-count": "-7"}),
        ({"count": "42"}, {"mcp-param-count": "42"}),
        ({"count": 2**60}, {}),
        ({"count": 2**60}, {"mcp-param-count": str(2**60)}),
        ({"count": [1]}, {}),
        ({"dry": True}, {"mcp-param-dry": "true"}),
        ({"dry": False}, {"mcp-param-dry": "false"}),
        ({"deep": {"er": "x"}}, {"mcp-param-deeper": "x"}),
        ({"deep": "x"}, {}),
    ],
)
def test_a_header_that_says_what_its_argument_says_is_fine(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    assert mirrored.refusal_of(SCHEMA, arguments, headers) is None


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({"region": ""}, {}),
        ({"region": "eu"}, {"mcp-param-region": ""}),
        ({"region": "eu"}, {"mcp-param-region": "EU"}),
        ({"region": "eu"}, {"mcp-param-region": "eu, eu"}),
        ({"region": "é"}, {"mcp-param-region": "é"}),
        ({"region": "Hello"}, {"mcp-param-region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"mcp-param-region": "=?base64?SGVs!!!bG8=?="}),
        ({"region": "Hello"}, {"mcp-param-region": "=?BASE64?SGVsbG8=?="}),
        ({}, {"mcp-param-region": "eu"}),
        ({"region": None}, {"mcp-param-region": "null"}),
        ({"count": 42}, {"mcp-param-count": "43"}),
        ({"count": 42}, {"mcp-param-count": "0x2a"}),
        ({"count": 42}, {"mcp-param-count": "42.5"}),
        ({"count": 42}, {"mcp-param-count": "9" * 5000}),
        ({"count": 42}, {"mcp-param-count": "1e999999999"}),
        ({"count": 1}, {"mcp-param-count": "true"}),
        ({"count": [1]}, {"mcp-param-count": "[1]"}),
        ({"dry": True}, {"mcp-param-dry": "True"}),
        ({"dry": True}, {"mcp-param-dry": "1"}),
        ({"dry": False}, {}),
        ({"deep": {"er": "x"}}, {}),
        ({"deep": "x"}, {"mcp-param-deeper": "x"}),
    ],
)
def test_a_header_that_says_something_else_is_refused(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    refusal = mirrored.refusal_of(SCHEMA, arguments, headers)
    assert refusal is not None
    assert refusal.code == -32020


@given(st.text())
def test_every_text_can_be_mirrored(text: str) -> None:
    assert mirrored.refusal_of(SCHEMA, {"region": text}, {"mcp-param-region": encoded(text)}) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_every_number_can_be_mirrored(number: float) -> None:
    assert mirrored.refusal_of(SCHEMA, {"count": number}, {"mcp-param-count": str(number)}) is None
