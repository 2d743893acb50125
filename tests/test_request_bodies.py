"""A body becomes arguments that lose nothing, and the media types that can carry them."""

from typing import Any

import pytest

from openapi_mcp.runtime.models import Encoding, MediaType, RequestBody
from tests.compiling import STRING, Json, argument, compiled_operation, json_body, kinds, ref, schemas, tool_of

FORM, MULTIPART, JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
INTEGER = {"type": "integer"}
BYTES = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}
PLAIN = {"type": "object", "properties": {"a": STRING, "b": INTEGER}}


def body(content: Json, **fields: Any) -> Json:
    return {"requestBody": {"required": True, "content": content, **fields}}


def inputs(schema: Any, *, required: bool = True, **root: Any) -> Json:
    found: Json = dict(tool_of(json_body(schema, required=required), **root).input_schema)
    found.pop("$defs", None)
    return found


@pytest.mark.parametrize(
    ("schema", "properties", "required", "closed"),
    [
        (PLAIN, {"a": STRING, "b": INTEGER}, None, False),
        ({**PLAIN, "additionalProperties": True}, {"a": STRING, "b": INTEGER}, None, False),
        ({**PLAIN, "additionalProperties": {}}, {"a": STRING, "b": INTEGER}, None, False),
        ({**PLAIN, "additionalProperties": False}, {"a": STRING, "b": INTEGER}, None, True),
        ({**PLAIN, "required": ["a", "c"]}, {"a": STRING, "b": INTEGER, "c": {}}, ["a", "c"], False),
        ({"properties": {"a": STRING}, "description": "d", "title": "t", "example": {}}, {"a": STRING}, None, False),
        (ref("Plain"), {"a": STRING, "b": INTEGER}, None, False),
        (
            {"allOf": [ref("Plain"), {"properties": {"c": STRING}, "required": ["c"]}]},
            {"a": STRING, "b": INTEGER, "c": STRING},
            ["c"],
            False,
        ),
        ({"allOf": [ref("Plain"), ref("Plain")]}, {"a": STRING, "b": INTEGER}, None, False),
        (
            {"allOf": [ref("Plain"), {"properties": {"a": {"maxLength": 3}}}]},
            {"a": {"allOf": [STRING, {"maxLength": 3}]}, "b": INTEGER},
            None,
            False,
        ),
    ],
)
def test_an_object_of_properties_is_flattened(schema: Any, properties: Json, required: Any, closed: bool) -> None:
    found = inputs(schema, **schemas(Plain=PLAIN))
    assert found["properties"] == properties
    assert found.get("required") == required
    assert found.get("additionalProperties", True) == (not closed)


@pytest.mark.parametrize(
    "schema",
    [
        STRING,
        {"type": "array", "items": PLAIN},
        {"type": "object"},
        {},
        {**PLAIN, "nullable": True},
        {**PLAIN, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {**PLAIN, "minProperties": 1},
        {**PLAIN, "patternProperties": {"^x": STRING}},
        {**PLAIN, "additionalProperties": STRING},
        {**PLAIN, "unevaluatedProperties": False},
        {**PLAIN, "dependentRequired": {"a": ["b"]}},
        {**PLAIN, "enum": [{"a": "x"}]},
        {"allOf": [{**PLAIN, "additionalProperties": False}, {"properties": {"c": STRING}}]},
        {"allOf": [ref("Plain"), {"not": {"required": ["a"]}}]},
        {"oneOf": [PLAIN, STRING]},
    ],
)
def test_what_says_more_stays_one_argument(schema: Any) -> None:
    tool = tool_of(json_body(schema), version="3.1", **schemas(Plain=PLAIN))
    assert [(each.name, each.location, each.wire_name, each.required) for each in tool.arguments] == [
        ("body", "body", None, True)
    ]
    assert tool.input_schema["additionalProperties"] is False


def test_an_optional_body_with_required_properties_is_all_or_nothing() -> None:
    demanding = {**PLAIN, "required": ["a"]}
    assert list(inputs(demanding, required=False)["properties"]) == ["body"]
    assert "required" not in inputs(demanding, required=False)
    assert list(inputs(PLAIN, required=False)["properties"]) == ["a", "b"]


def test_a_body_described_says_so_where_its_schema_does_not() -> None:
    tool = tool_of(body({JSON: {"schema": {"type": "array", "items": STRING}}}, description="Names."))
    assert tool.input_schema["properties"]["body"]["description"] == "Names."


def test_media_types_of_one_schema_are_a_choice() -> None:
    types = ["application/xml", FORM, "application/vnd.pet+json", JSON, "text/plain"]
    tool = tool_of(body({name: {"schema": ref("Plain")} for name in types}), **schemas(Plain=PLAIN))
    assert tool.body is not None
    preferred = [JSON, "application/vnd.pet+json", FORM, "text/plain", "application/xml"]
    assert [media.content_type for media in tool.body.media_types] == preferred
    assert tool.input_schema["properties"]["content_type"]["enum"] == preferred
    assert [each.location for each in tool.arguments] == ["body", "body", "media_type"]
    assert not argument(tool, "content_type").required


def test_media_types_of_several_schemas_are_a_union_and_a_choice() -> None:
    tool = tool_of(body({"image/png": {"schema": {"type": "string", "format": "binary"}}, JSON: {"schema": PLAIN}}))
    assert tool.body == RequestBody(
        media_types=(
            MediaType(content_type=JSON, takes=("object",)),
            MediaType(content_type="image/png", binary=True, takes=("string",)),
        ),
        required=True,
    )
    assert tool.input_schema["properties"]["body"] == {"anyOf": [PLAIN, {**BYTES, "contentMediaType": "image/png"}]}
    choice = tool.input_schema["properties"]["content_type"]
    assert choice["enum"] == [JSON, "image/png"]
    assert "default" not in choice  # it depends on the body
    assert "the first that takes such a body" in choice["description"]


def test_a_form_with_a_file_in_it_is_multipart() -> None:
    schema = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
    tool = tool_of(body({FORM: {"schema": schema}, MULTIPART: {"schema": schema}}))
    assert tool.body is not None
    assert [media.content_type for media in tool.body.media_types] == [MULTIPART, FORM]


@pytest.mark.parametrize(
    ("content_type", "media", "schema", "binary"),
    [
        ("application/octet-stream", {}, BYTES, True),
        ("image/*", {}, BYTES, True),
        ("image/png", {"schema": STRING}, {**BYTES, "contentMediaType": "image/png"}, True),
        ("application/pdf", {"schema": {}}, {**BYTES, "contentMediaType": "application/pdf"}, True),
        (
            "application/zip",
            {"schema": {"type": "string", "contentEncoding": "base64"}},
            {"type": "string", "contentEncoding": "base64"},
            False,
        ),
        ("text/csv", {"schema": {"type": "string", "format": "binary"}}, STRING, False),
        ("text/plain", {}, STRING, False),
        (JSON, {}, {}, False),
        ("*/*", {}, {}, False),
        (JSON, {"schema": {"type": "string", "format": "binary"}}, {}, False),
        (JSON, None, {}, False),
        ("application/jsonl", {"itemSchema": STRING}, {"type": "array", "items": STRING}, False),
        ("application/json", {"$ref": "#/components/mediaTypes/Text"}, STRING, False),
        (FORM, {}, {"type": "object"}, False),
        ("multipart/mixed", {"schema": {"type": "array", "items": {}}}, {"type": "array", "items": {}}, False),
    ],
)
def test_a_body_is_what_its_media_type_takes(content_type: str, media: Any, schema: Json, binary: bool) -> None:
    components = {"mediaTypes": {"Text": {"schema": STRING}}}
    tool = tool_of(body({content_type: media}), version="3.2", components=components)
    assert tool.body is not None
    assert tool.input_schema["properties"]["body"] == schema
    assert (tool.body.media_types[0].content_type, tool.body.media_types[0].binary) == (content_type, binary)


FIELDS: list[tuple[Json, Json, Encoding]] = [
    (STRING, {}, Encoding()),
    (INTEGER, {}, Encoding()),
    ({"type": "object"}, {}, Encoding(content_type=JSON)),
    ({"properties": {"a": STRING}}, {}, Encoding(content_type=JSON)),
    ({"type": "array", "items": STRING}, {}, Encoding()),
    ({"type": "array", "items": {"type": "object"}}, {}, Encoding(content_type=JSON)),
    ({"type": "string", "format": "binary"}, {}, Encoding(content_type="application/octet-stream", binary=True)),
    ({"type": "string", "contentMediaType": "image/png"}, {}, Encoding(content_type="image/png", binary=True)),
    (
        {"type": "array", "items": {"type": "string", "format": "binary"}},
        {"contentType": "image/*"},
        Encoding(content_type="image/*", binary=True),
    ),
    ({}, {"contentType": "image/png, image/jpeg"}, Encoding(content_type="image/png, image/jpeg", binary=True)),
    ({}, {"contentType": "text/csv"}, Encoding(content_type="text/csv")),
    ({"type": "string", "format": "byte"}, {}, Encoding()),
    ({"type": "string", "contentEncoding": "base64"}, {}, Encoding(content_type="application/octet-stream")),
    ({"type": "string", "contentMediaType": "text/csv"}, {}, Encoding(content_type="text/csv")),
    (STRING, {"contentType": JSON}, Encoding(content_type=JSON)),
    (STRING, {"allowReserved": True}, Encoding(style="form", explode=True, allow_reserved=True)),
    (STRING, {"explode": False}, Encoding(style="form")),
    ({"type": "object"}, {"style": "deepObject", "explode": True}, Encoding(style="deepObject", explode=True)),
    ({"type": "object"}, {"style": "deepObject"}, Encoding(style="deepObject")),
    ({"type": "array", "items": STRING}, {"style": "pipeDelimited"}, Encoding(style="pipeDelimited")),
    (STRING, {"style": "nonsense"}, Encoding(style="form", explode=True)),
    (
        STRING,
        {"headers": {"X-A": {"schema": {"const": "1"}}, "X-B": {"schema": STRING}}},
        Encoding(headers=(("X-A", "1"),)),
    ),
    (ref("Bytes"), {}, Encoding(content_type="application/octet-stream", binary=True)),
    (STRING, [], Encoding()),  # type: ignore[list-item]
]


@pytest.mark.parametrize("content_type", [FORM, MULTIPART])
@pytest.mark.parametrize(("schema", "given", "encoding"), FIELDS)
def test_a_field_is_written_as_its_encoding_and_schema_say(
    content_type: str, schema: Json, given: Json, encoding: Encoding
) -> None:
    media = {"schema": {"type": "object", "properties": {"it": schema}}, "encoding": {"it": given}}
    root = schemas(Bytes={"type": "string", "format": "binary"})
    tool = tool_of(body({content_type: media}), version="3.1", **root)
    assert tool.body is not None
    assert tool.body.media_types[0].encoding == {"it": encoding}


def test_every_declared_property_has_an_encoding_wherever_it_is_declared() -> None:
    schema = {
        "allOf": [ref("Plain"), {"properties": {"c": {"type": "object"}}}],
        "oneOf": [{"properties": {"d": STRING}}, {"properties": {"a": {"type": "object"}, "e": STRING}}],
    }
    tool = tool_of(body({FORM: {"schema": schema}}), **schemas(Plain=PLAIN))
    assert tool.body is not None
    found = tool.body.media_types[0].encoding
    assert sorted(found) == ["a", "b", "c", "d", "e"]
    assert (found["a"].content_type, found["c"].content_type) == ("text/plain", JSON)


def test_bytes_that_only_the_encoding_speaks_of_are_base64() -> None:
    schema = {"type": "object", "properties": {"picture": {}, "list": {"type": "array", "items": {}}}}
    encoding = {"picture": {"contentType": "image/png, image/jpeg"}, "list": {"contentType": "image/png"}}
    found = tool_of(body({MULTIPART: {"schema": schema, "encoding": encoding}}), version="3.1").input_schema
    assert found["properties"]["picture"] == BYTES
    assert found["properties"]["list"]["items"] == {**BYTES, "contentMediaType": "image/png"}


def test_an_object_that_travels_as_xml_may_be_given_as_xml() -> None:
    schema = {"type": "object", "properties": {"history": {"type": "object"}}}
    encoding = {"history": {"contentType": "application/xml; charset=utf-8"}}
    found = tool_of(body({MULTIPART: {"schema": schema, "encoding": encoding}})).input_schema["properties"]["history"]
    assert found == {
        "anyOf": [{"type": "object"}, {"type": "string", "description": "The same as application/xml text."}]
    }


def test_parts_by_position_have_encodings_by_position() -> None:
    media = {
        "schema": {"type": "array", "prefixItems": [{"type": "object"}, STRING], "items": {}},
        "prefixEncoding": [{}, {"contentType": "text/html"}],
        "itemEncoding": {"contentType": "image/*"},
    }
    tool = tool_of(body({"multipart/mixed": media}), version="3.2")
    assert tool.body is not None
    assert tool.body.media_types[0].encoding == {
        "0": Encoding(content_type=JSON),
        "1": Encoding(content_type="text/html"),
        "*": Encoding(content_type="image/*", binary=True),
    }
    assert tool.input_schema["properties"]["body"]["items"] == BYTES


@pytest.mark.parametrize("written", [{}, {"content": None}, {"content": {}}, {"content": {"no media type": {}}}, [], 5])
def test_a_body_that_names_no_media_type_is_left_out(written: Any) -> None:
    result = compiled_operation({"requestBody": written})
    assert result.tools[0].body is None
    assert {kind for kind, _ in kinds(result)} == {"body"}


def test_a_body_by_reference_and_one_that_is_not_there() -> None:
    root: Json = {"components": {"requestBodies": {"Shared": json_body(PLAIN)["requestBody"]}}}
    tool = tool_of({"requestBody": {"$ref": "#/components/requestBodies/Shared"}}, **root)
    assert list(tool.input_schema["properties"]) == ["a", "b"]
    lost = compiled_operation({"requestBody": {"$ref": "#/components/requestBodies/Gone"}}, **root)
    assert kinds(lost) == [("reference", "POST /x")]
