"""Header arguments: the annotations that clients accept, and the comparison of headers with arguments."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import header_arguments as mcp_headers

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


def test_header_arguments_are_keyed_by_property_path() -> None:
    assert mcp_headers.header_arguments(SCHEMA) == {
        ("region",): "Region",
        ("count",): "Count",
        ("dry",): "Dry",
        ("deep", "er"): "Deeper",
    }
    assert mcp_headers.annotation_problems(SCHEMA) == []


@pytest.mark.parametrize("name", ["", "a b", "a:b", "é", "a\r\nb", "a\n", None, 1, ["x"], {}])
def test_header_name_that_is_not_a_token_is_a_problem(name: Any) -> None:
    schema = with_property({"type": "string", "x-mcp-header": name})
    assert mcp_headers.header_arguments(schema) == {}
    [(tokens, message)] = mcp_headers.annotation_problems(schema)
    assert tokens == ("properties", "a", "x-mcp-header")
    assert "token" in message


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "null"], ["string"], None])
def test_unsupported_argument_type_is_a_problem(kind: Any) -> None:
    schema = with_property({"type": kind, "x-mcp-header": "A"})
    assert mcp_headers.header_arguments(schema) == {}
    [(tokens, _message)] = mcp_headers.annotation_problems(schema)
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
def test_annotation_not_reached_by_properties_alone_is_a_problem(
    schema: dict[str, Any], tokens: tuple[Any, ...]
) -> None:
    assert mcp_headers.header_arguments(schema) == {}
    assert [pointer for pointer, _ in mcp_headers.annotation_problems(schema)] == [(*tokens, "x-mcp-header")]


def test_data_and_property_names_are_not_annotations() -> None:
    data = {"x-mcp-header": "not a token"}
    schema = {
        "properties": {"x-mcp-header": {"type": "string"}, "a": {"default": data, "examples": [data], "enum": [data]}},
        "required": ["x-mcp-header"],
    }
    assert mcp_headers.annotation_problems(schema) == []
    assert mcp_headers.header_arguments(schema) == {}


def test_first_of_two_annotations_with_one_name_counts() -> None:
    schema = {"properties": {"a": STRING, "b": {"type": "integer", "x-mcp-header": "REGION"}}}
    assert mcp_headers.header_arguments(schema) == {("a",): "Region"}
    assert [pointer for pointer, _ in mcp_headers.annotation_problems(schema)] == [("properties", "b", "x-mcp-header")]


def test_schema_without_its_invalid_annotations_is_valid() -> None:
    bad = {"x-mcp-header": "x y", "type": "string"}
    schema: dict[str, Any] = {"properties": {"a": dict(bad), "b": {"items": dict(STRING)}, "c": dict(STRING)}}
    for tokens, _message in mcp_headers.annotation_problems(schema):
        node: Any = schema
        for token in tokens[:-1]:
            node = node[token]
        del node[tokens[-1]]
    assert mcp_headers.annotation_problems(schema) == []
    assert mcp_headers.header_arguments(schema) == {("c",): "Region"}


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None, "plain": "x"}, {"mcp-param-plain": "headers without an annotation are ignored"}),
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
def test_header_equal_to_its_argument_is_accepted(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    assert mcp_headers.check_header_arguments(SCHEMA, arguments, headers) is None


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
def test_header_different_from_its_argument_is_refused(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    refusal = mcp_headers.check_header_arguments(SCHEMA, arguments, headers)
    assert refusal is not None
    assert refusal.code == -32020


@given(st.text())
def test_every_text_has_an_accepted_header(text: str) -> None:
    assert mcp_headers.check_header_arguments(SCHEMA, {"region": text}, {"mcp-param-region": encoded(text)}) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_every_number_has_an_accepted_header(number: float) -> None:
    assert mcp_headers.check_header_arguments(SCHEMA, {"count": number}, {"mcp-param-count": str(number)}) is None
