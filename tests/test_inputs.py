"""A tool's inputs are one flat object that every client takes, and each argument knows its place on the wire."""

from typing import Any

import pytest

from tests.compiling import STRING, Json, json_body, ref, schemas, tool_of

INTEGER = {"type": "integer"}


def parameter(name: str, location: str = "query", schema: Any = STRING, **fields: Any) -> Json:
    return {"name": name, "in": location, "schema": schema, **fields}


def test_no_arguments_are_an_empty_closed_object() -> None:
    assert tool_of({}).input_schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_parameters_come_first_and_then_the_body_in_the_documents_order() -> None:
    fields = {
        "parameters": [parameter("q"), parameter("id", "path")],
        **json_body({"properties": {"z": STRING, "a": INTEGER}}),
    }
    assert tool_of(fields, "/x/{id}").input_schema == {
        "type": "object",
        "properties": {"id": STRING, "q": STRING, "z": STRING, "a": INTEGER},
        "required": ["id"],
    }


def test_one_name_in_every_place_stays_settable() -> None:
    places = ["path", "query", "header", "cookie"]
    fields = {"parameters": [parameter("id", place) for place in places], **json_body({"properties": {"id": STRING}})}
    tool = tool_of(fields, "/x/{id}")
    assert {each.name: (each.location, each.wire_name) for each in tool.arguments} == {
        "id": ("path", "id"),
        "id_query": ("query", "id"),
        "id_header": ("header", "id"),
        "id_cookie": ("cookie", "id"),
        "id_body": ("body", "id"),
    }
    assert list(tool.input_schema["properties"]) == [each.name for each in tool.arguments]


def test_the_body_makes_way_for_a_parameter_of_its_name() -> None:
    tool = tool_of({"parameters": [parameter("body")], **json_body({"type": "array", "items": STRING})})
    assert [(each.name, each.location) for each in tool.arguments] == [("body", "query"), ("request_body", "body")]


def test_a_name_that_had_to_change_beyond_reading_is_in_the_description() -> None:
    tool = tool_of({"parameters": [parameter("日付", description="The day."), parameter("$top"), parameter("x" * 80)]})
    properties = tool.input_schema["properties"]
    assert properties["query"]["description"] == "`日付`: The day."
    assert "description" not in properties["top"]
    assert properties["x" * 64]["description"] == f"`{'x' * 80}`"


def test_defaults_are_told_and_never_sent_by_us() -> None:
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
def test_no_union_and_no_reference_ever_stands_at_the_root(schema: Any) -> None:
    found = tool_of(
        json_body(schema), **schemas(Any={"anyOf": [STRING, {"type": "object", "properties": {"a": STRING}}]})
    ).input_schema
    assert found["type"] == "object"
    assert not found.keys() & {"oneOf", "anyOf", "allOf", "not", "if", "$ref"}


def test_a_closed_body_does_not_ask_for_what_it_forbids() -> None:
    asked = {"properties": {"a": STRING}, "required": ["a", "b"]}
    for schema, required in ((asked, ["a", "b"]), (asked | {"additionalProperties": False}, ["a"])):
        body = {"required": True, "content": {"application/json": {"schema": schema}}}
        assert tool_of({"requestBody": body}, "/x").input_schema["required"] == required


@pytest.mark.parametrize(
    ("dialect", "named"),
    [
        ("https://json-schema.org/draft/2020-12/schema", True),
        ("https://json-schema.org/draft/2020-12/schema#", True),
        ("http://json-schema.org/draft-07/schema#", False),  # what is given out has been converted
        ("https://spec.openapis.org/oas/3.1/dialect/base", False),
        (["https://json-schema.org/draft/2020-12/schema"], False),
        (None, False),
    ],
)
@pytest.mark.parametrize("more", [{}, {"anyOf": [{"required": ["a"]}]}])
def test_a_body_that_names_json_schema_2020_12_makes_the_tool_name_it(dialect: Any, named: bool, more: Json) -> None:
    body = {"$schema": dialect, "type": "object", "properties": {"a": STRING}, **more}
    schema = tool_of(json_body(ref("Body")), version="3.1", **schemas(Body=body)).input_schema
    assert schema.get("$schema") == ("https://json-schema.org/draft/2020-12/schema" if named else None)
    assert "$schema" not in str(schema["properties"])
    assert "$schema" not in str(schema.get("$defs"))
