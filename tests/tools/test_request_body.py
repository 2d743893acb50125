"""A body becomes arguments that accept the same values, and the media types that can carry them."""

from typing import Any

import pytest

from openapi_mcp.runtime.arguments.validation import prepare
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Encoding, MediaType, RequestBody
from tests.compiling import STRING, Json, argument, compiled_operation, json_body, kinds, ref, schemas, tool_of

FORM, MULTIPART, JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
INTEGER = {"type": "integer"}
BYTES = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}
PLAIN = {"type": "object", "properties": {"a": STRING, "b": INTEGER}}


def body(content: Json, **fields: Any) -> Json:
    return {"requestBody": {"required": True, "content": content, **fields}}


def inputs(schema: Any, *, required: bool = True, **root: Any) -> Json:
    schema_of_tool: Json = dict(tool_of(json_body(schema, required=required), **root).input_schema)
    schema_of_tool.pop("$defs", None)
    return schema_of_tool


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
def test_object_with_properties_is_flattened(schema: Any, properties: Json, required: Any, closed: bool) -> None:
    schema_of_tool = inputs(schema, **schemas(Plain=PLAIN))
    assert schema_of_tool["properties"] == properties
    assert schema_of_tool.get("required") == required
    assert schema_of_tool.get("additionalProperties", True) == (not closed)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {**PLAIN, "patternProperties": {"^x": STRING}},
        {**PLAIN, "additionalProperties": STRING},
        {**PLAIN, "unevaluatedProperties": False},
        {**PLAIN, "dependentRequired": {"a": ["b"]}},
    ],
)
def test_object_with_other_keywords_stays_one_argument(schema: Any) -> None:
    tool = tool_of(json_body(schema), version="3.1", **schemas(Plain=PLAIN))
    assert [(each.name, each.location, each.wire_name) for each in tool.arguments] == [("body", "body", None)]
    assert tool.input_schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "schema",
    [
        STRING,
        {"type": "array", "items": PLAIN},
        {},
        {**PLAIN, "nullable": True},
        {**PLAIN, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {**PLAIN, "minProperties": 1},
        {**PLAIN, "enum": [{"a": "x"}]},
        {"allOf": [{**PLAIN, "additionalProperties": False}, {"properties": {"c": STRING}}]},
        {"allOf": [ref("Plain"), {"not": {"required": ["a"]}}]},
        {"oneOf": [PLAIN, STRING]},
    ],
)
def test_object_with_other_constraints_stays_one_argument(schema: Any) -> None:
    tool = tool_of(json_body(schema), version="3.1", **schemas(Plain=PLAIN))
    assert [(each.name, each.location, each.wire_name, each.required) for each in tool.arguments] == [
        ("body", "body", None, True)
    ]
    assert tool.input_schema["additionalProperties"] is False


def test_optional_body_with_required_properties_is_one_argument() -> None:
    demanding = {**PLAIN, "required": ["a"]}
    assert list(inputs(demanding, required=False)["properties"]) == ["body"]
    assert "required" not in inputs(demanding, required=False)
    assert list(inputs(PLAIN, required=False)["properties"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("schema", "may_be_left_out"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"type": "object", "minProperties": 0, "additionalProperties": {}}, True),
        (ref("Map"), True),
        ({"allOf": [ref("Map"), {"type": "object", "maxProperties": 3}]}, True),
        ({"type": "object", "minProperties": 1}, False),
        ({"type": "object", "additionalProperties": {}, "required": ["a"]}, False),
        ({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, False),
        ({"type": "array", "items": {}}, False),
        ({"type": "string"}, False),
        ({}, False),
        (ref("Self"), False),
        ({"allOf": [ref("Map"), {"type": "object", "minProperties": 2}]}, False),
    ],
)
def test_required_body_that_may_be_an_empty_object_may_be_left_out(schema: Json, may_be_left_out: bool) -> None:
    named = schemas(Map={"type": "object", "additionalProperties": {"type": "integer"}}, Self={"allOf": [ref("Self")]})
    tool = tool_of(json_body(schema), **named)
    assert [each.name for each in tool.arguments] == ["body"]
    assert tool.input_schema.get("required", []) == ([] if may_be_left_out else ["body"])
    if may_be_left_out:
        options = RequestOptions(base_url="http://api.test")
        assert build_request(tool, prepare(tool, {}), options).content == b"{}"
        assert build_request(tool, prepare(tool, {"body": {}}), options).content == b"{}"


def test_optional_body_is_not_sent_if_it_is_left_out() -> None:
    tool = tool_of(json_body({"type": "object", "additionalProperties": {}}, required=False))
    request = build_request(tool, prepare(tool, {}), RequestOptions(base_url="http://api.test"))
    assert (request.content, "content-type" in request.headers) == (b"", False)


def test_description_of_a_body_is_used_if_its_schema_has_none() -> None:
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


def test_media_types_of_objects_that_require_other_properties_are_told_apart_by_them() -> None:
    link = {"type": "object", "properties": {"url": STRING}, "required": ["url"]}
    file = {"type": "object", "properties": {"media": STRING}, "required": ["media"]}
    tool = tool_of(body({JSON: {"schema": link}, MULTIPART: {"schema": file}, FORM: {"schema": link}}))
    assert tool.body is not None
    assert {media.content_type: media.requires for media in tool.body.media_types} == {
        JSON: ("url",), MULTIPART: ("media",), FORM: ("url",)
    }  # fmt: skip
    assert not any(media.takes for media in tool.body.media_types)


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
def test_body_schema_follows_its_media_type(content_type: str, media: Any, schema: Json, binary: bool) -> None:
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
@pytest.mark.parametrize(("schema", "encoding_object", "encoding"), FIELDS)
def test_field_encoding_follows_its_encoding_object_and_schema(
    content_type: str, schema: Json, encoding_object: Json, encoding: Encoding
) -> None:
    media = {"schema": {"type": "object", "properties": {"it": schema}}, "encoding": {"it": encoding_object}}
    root = schemas(Bytes={"type": "string", "format": "binary"})
    tool = tool_of(body({content_type: media}), version="3.1", **root)
    assert tool.body is not None
    assert tool.body.media_types[0].encoding == {"it": encoding}


def test_every_property_declared_anywhere_has_an_encoding() -> None:
    schema = {
        "allOf": [ref("Plain"), {"properties": {"c": {"type": "object"}}}],
        "oneOf": [{"properties": {"d": STRING}}, {"properties": {"a": {"type": "object"}, "e": STRING}}],
    }
    tool = tool_of(body({FORM: {"schema": schema}}), **schemas(Plain=PLAIN))
    assert tool.body is not None
    schema_of_tool = tool.body.media_types[0].encoding
    assert sorted(schema_of_tool) == ["a", "b", "c", "d", "e"]
    assert (schema_of_tool["a"].content_type, schema_of_tool["c"].content_type) == ("text/plain", JSON)


def test_bytes_by_encoding_alone_are_base64() -> None:
    schema = {"type": "object", "properties": {"picture": {}, "list": {"type": "array", "items": {}}}}
    encoding = {"picture": {"contentType": "image/png, image/jpeg"}, "list": {"contentType": "image/png"}}
    schema_of_tool = tool_of(body({MULTIPART: {"schema": schema, "encoding": encoding}}), version="3.1").input_schema
    assert schema_of_tool["properties"]["picture"] == BYTES
    assert schema_of_tool["properties"]["list"]["items"] == {**BYTES, "contentMediaType": "image/png"}


def test_object_sent_as_xml_may_be_given_as_xml() -> None:
    schema = {"type": "object", "properties": {"history": {"type": "object"}}}
    encoding = {"history": {"contentType": "application/xml; charset=utf-8"}}
    schema_of_tool = tool_of(body({MULTIPART: {"schema": schema, "encoding": encoding}})).input_schema["properties"][
        "history"
    ]
    assert schema_of_tool == {
        "anyOf": [{"type": "object"}, {"type": "string", "description": "The same as application/xml text."}]
    }


def test_positional_parts_have_positional_encodings() -> None:
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


@pytest.mark.parametrize("node", [{}, {"content": None}, {"content": {}}, {"content": {"no media type": {}}}, [], 5])
def test_body_without_media_types_is_left_out(node: Any) -> None:
    result = compiled_operation({"requestBody": node})
    assert result.tools[0].body is None
    assert {kind for kind, _ in kinds(result)} == {"body"}


def test_body_can_be_a_reference_and_a_broken_one_is_a_problem() -> None:
    root: Json = {"components": {"requestBodies": {"Shared": json_body(PLAIN)["requestBody"]}}}
    tool = tool_of({"requestBody": {"$ref": "#/components/requestBodies/Shared"}}, **root)
    assert list(tool.input_schema["properties"]) == ["a", "b"]
    lost = compiled_operation({"requestBody": {"$ref": "#/components/requestBodies/Gone"}}, **root)
    assert kinds(lost) == [("reference", "POST /x")]


@pytest.mark.parametrize("schema", [{"type": "object", "format": "binary"}, {"type": "string", "format": "file"}])
@pytest.mark.parametrize("content_type", ["application/octet-stream", "*/*", "image/png"])
def test_file_schemas_of_generators_are_bytes(schema: Any, content_type: str) -> None:
    tool = tool_of({"requestBody": {"content": {content_type: {"schema": schema}}}})
    assert tool.input_schema["properties"]["body"]["contentEncoding"] == "base64"
    assert tool.body is not None
    assert tool.body.media_types[0].binary
