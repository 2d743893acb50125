"""An inputSchema is one flat object that every client accepts, with an Argument for each property."""

from typing import Any

import pytest

from openapi_mcp.runtime.arguments.validation import prepare
from openapi_mcp.runtime.errors import ArgumentError
from tests.compiling import STRING, Json, json_body, ref, schemas, tool_of

INTEGER = {"type": "integer"}


def parameter(name: str, location: str = "query", schema: Any = STRING, **fields: Any) -> Json:
    return {"name": name, "in": location, "schema": schema, **fields}


def test_no_arguments_are_an_empty_closed_object() -> None:
    assert tool_of({}).input_schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_parameters_precede_the_body_in_the_documents_order() -> None:
    fields = {
        "parameters": [parameter("q"), parameter("id", "path")],
        **json_body({"properties": {"z": STRING, "a": INTEGER}}),
    }
    assert tool_of(fields, "/x/{id}").input_schema == {
        "type": "object",
        "properties": {"id": STRING, "q": STRING, "z": STRING, "a": INTEGER},
        "required": ["id"],
    }


def test_one_name_in_every_location_stays_settable() -> None:
    locations = ["path", "query", "header", "cookie"]
    fields = {
        "parameters": [parameter("id", location) for location in locations],
        **json_body({"properties": {"id": STRING}}),
    }
    tool = tool_of(fields, "/x/{id}")
    assert {each.name: (each.location, each.wire_name) for each in tool.arguments} == {
        "id": ("path", "id"),
        "id_query": ("query", "id"),
        "id_header": ("header", "id"),
        "id_cookie": ("cookie", "id"),
        "id_body": ("body", "id"),
    }
    assert list(tool.input_schema["properties"]) == [each.name for each in tool.arguments]


def test_body_keeps_a_name_that_a_parameter_has_too() -> None:
    flag = parameter("rrsets", schema={"type": "boolean"}, description="Show them.")
    records = {"type": "array", "items": STRING, "description": "The records."}
    fields = {"parameters": [flag], **json_body({"type": "object", "properties": {"rrsets": records, "ttl": INTEGER}})}
    tool = tool_of(fields)
    properties = tool.input_schema["properties"]
    assert {each.name: each.location for each in tool.arguments} == {
        "rrsets": "body",
        "rrsets_query": "query",
        "ttl": "body",
    }
    assert properties["rrsets"]["description"] == "`rrsets` in the body (in the query: `rrsets_query`). The records."
    assert properties["rrsets_query"]["description"] == "`rrsets` in the query (in the body: `rrsets`). Show them."
    assert "description" not in properties["ttl"]
    with pytest.raises(ArgumentError) as refusal:
        prepare(tool, {"rrsets": False})
    assert str(refusal.value) == (
        "`rrsets` must be an array, not false. "
        "The API has `rrsets` more than once: `rrsets_query` in the query, `rrsets` in the body. "
        '`rrsets` may be ["text"].'
    )


def test_body_is_renamed_if_a_parameter_has_its_name() -> None:
    tool = tool_of({"parameters": [parameter("body")], **json_body({"type": "array", "items": STRING})})
    assert [(each.name, each.location) for each in tool.arguments] == [("body", "query"), ("request_body", "body")]


def test_original_name_is_in_the_description_if_characters_are_lost() -> None:
    tool = tool_of({"parameters": [parameter("日付", description="The day."), parameter("$top"), parameter("x" * 80)]})
    properties = tool.input_schema["properties"]
    assert properties["query"]["description"] == "`日付`: The day."
    assert "description" not in properties["top"]
    assert properties["x" * 64]["description"] == f"`{'x' * 80}`"


def test_defaults_are_described_and_not_sent() -> None:
    assert tool_of({"parameters": [parameter("limit", schema={**INTEGER, "default": 10})]}).input_schema[
        "properties"
    ] == {"limit": {**INTEGER, "default": 10}}


@pytest.mark.parametrize(
    "schema",
    [
        ref("Any"),
        {"anyOf": [STRING, INTEGER]},
        {"not": STRING},
        {"allOf": [{"not": STRING}, INTEGER]},
        {"oneOf": [STRING]},
    ],
)
def test_root_has_no_union_and_no_reference(schema: Any) -> None:
    schema = tool_of(
        json_body(schema), **schemas(Any={"anyOf": [STRING, {"type": "object", "properties": {"a": STRING}}]})
    ).input_schema
    assert schema["type"] == "object"
    assert not schema.keys() & {"oneOf", "anyOf", "allOf", "not", "if", "$ref"}


def test_closed_body_does_not_require_undeclared_properties() -> None:
    asked = {"properties": {"a": STRING}, "required": ["a", "b"]}
    for schema, required in ((asked, ["a", "b"]), (asked | {"additionalProperties": False}, ["a"])):
        body = {"required": True, "content": {"application/json": {"schema": schema}}}
        assert tool_of({"requestBody": body}, "/x").input_schema["required"] == required


@pytest.mark.parametrize(
    ("dialect", "named"),
    [
        ("https://json-schema.org/draft/2020-12/schema", True),
        ("https://json-schema.org/draft/2020-12/schema#", True),
        ("http://json-schema.org/draft-07/schema#", False),  # the emitted schema is a converted one
        ("https://spec.openapis.org/oas/3.1/dialect/base", False),
        (["https://json-schema.org/draft/2020-12/schema"], False),
        (None, False),
    ],
)
@pytest.mark.parametrize("more", [{}, {"anyOf": [{"required": ["a"]}]}])
def test_dialect_of_the_body_is_named_by_the_input_schema(dialect: Any, named: bool, more: Json) -> None:
    body = {"$schema": dialect, "type": "object", "properties": {"a": STRING}, **more}
    schema = tool_of(json_body(ref("Body")), version="3.1", **schemas(Body=body)).input_schema
    assert schema.get("$schema") == ("https://json-schema.org/draft/2020-12/schema" if named else None)
    assert "$schema" not in str(schema["properties"])
    assert "$schema" not in str(schema.get("$defs"))
