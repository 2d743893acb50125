"""Each operation becomes a tool, one Problem, or is excluded; a tool has all fields that a call needs."""

import sys
from types import FrameType
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from benchmarks import synthetic
from openapi_mcp.compilation import CompileOptions
from openapi_mcp.document.model import Document
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.tool import Argument, MediaType, RequestBody, SecurityScheme, Tool
from openapi_mcp.selection import Selection
from openapi_mcp.tools.compiler import build, compile_document
from tests.compiling import STRING, Json, compiled, document, json_body, ref, schemas, tool_of
from tests.damage import damaged


def test_tool_has_all_fields_that_a_call_needs() -> None:
    pet = {"type": "object", "required": ["name"], "properties": {"name": STRING}, "additionalProperties": False}
    fields = {
        "operationId": "updatePet",
        "summary": "Update a pet",
        "description": "Changes what is given.",
        "tags": ["pets"],
        "deprecated": True,
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": STRING}],
        **json_body(ref("Pet")),
        "responses": {"200": {"content": {"application/json": {"schema": ref("Pet")}}}},
        "security": [{"key": []}],
    }
    components = {
        "schemas": {"Pet": pet},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    }
    result = compiled(
        {"/pets/{id}": {"put": fields}}, components=components, servers=[{"url": "https://api.example.com/v1/"}]
    )
    assert result.problems == ()
    assert result.tools == (
        Tool(
            name="updatePet",
            title="Update a pet",
            description="Update a pet\n\nChanges what is given.\n\nDeprecated.",
            input_schema={
                "type": "object",
                "properties": {"id": STRING, "name": STRING},
                "required": ["id", "name"],
                "additionalProperties": False,
            },
            output_schema={"type": "object", "properties": {"name": STRING}},
            annotations={
                "readOnlyHint": False,
                "destructiveHint": True,
                "idempotentHint": True,
                "openWorldHint": True,
            },
            method="PUT",
            path="/pets/{id}",
            base_url="https://api.example.com/v1",
            arguments=(
                Argument(name="id", location="path", wire_name="id", required=True),
                Argument(name="name", location="body", wire_name="name", required=True),
            ),
            body=RequestBody(media_types=(MediaType(content_type="application/json"),), required=True),
            security=(
                (
                    SecurityScheme(
                        name="key", type="apiKey", variable="API_PETSTORE_KEY", location="header", parameter="X-Key"
                    ),
                ),
            ),
            operation_id="updatePet",
            tags=("pets",),
            deprecated=True,
        ),
    )


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("get", {"readOnlyHint": True}),
        ("head", {"readOnlyHint": True}),
        ("options", {"readOnlyHint": True}),
        ("query", {"readOnlyHint": True}),
        ("post", {"readOnlyHint": False, "idempotentHint": False}),
        ("put", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}),
        ("patch", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False}),
        ("delete", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}),
        ("trace", {"readOnlyHint": False, "destructiveHint": True}),
    ],
)
def test_annotations_follow_the_method(method: str, hints: Json) -> None:
    assert tool_of({}, method=method).annotations == {**hints, "openWorldHint": True}


@pytest.mark.parametrize(
    ("fields", "title", "description"),
    [
        ({"summary": "List pets", "description": "All of them."}, "List pets", "List pets\n\nAll of them."),
        ({"summary": "List pets", "description": "List pets of a shop."}, "List pets", "List pets of a shop."),
        ({"summary": "List pets"}, "List pets", "List pets"),
        ({"description": "All of them."}, "List all pets", "All of them."),
        ({}, "List all pets", "GET /x"),
        ({"operationId": None}, "GET /x", "GET /x"),
        ({"summary": ["a"], "description": 5}, "List all pets", "GET /x"),
        ({"summary": "a\u202eb\x07\n c"}, "ab c", "ab\n c"),
        ({"deprecated": True}, "List all pets", "GET /x\n\nDeprecated."),
    ],
)
def test_titles_and_descriptions_are_never_empty(fields: Json, title: str, description: str) -> None:
    tool = tool_of({"operationId": "listAllPets", **fields}, method="get")
    assert (tool.title, tool.description) == (title, description)


def test_long_description_is_cut_after_a_sentence() -> None:
    description = tool_of({"description": "A sentence that is repeated. " * 100, "deprecated": True}).description
    assert len(description) <= 1024
    assert description.endswith("repeated. …\n\nDeprecated.")


PATHS: Json = {
    "/a": {"get": {"tags": ["x"]}, "post": {}, "delete": {"x-mcp": False}},
    "/b": {"get": None, "put": {"parameters": [{"$ref": "#/gone"}]}},
    "/c": {"$ref": "#/gone"},
}


def test_each_operation_is_a_tool_a_problem_or_excluded() -> None:
    api = build(document(PATHS))
    assert (api.operations, len(api.tools), api.lost_operations, api.excluded) == (6, 2, 3, 1)
    chosen = build(document(PATHS), selection=Selection.parse(["tag:x"]))
    assert (chosen.operations, len(chosen.tools), chosen.lost_operations, chosen.excluded) == (6, 1, 2, 3)


def test_excluded_operations_are_not_problems() -> None:
    paths = {"/b": PATHS["/b"], "/a": {"post": {}}}
    chosen = build(document(paths), selection=Selection.parse(["method:post"]))
    assert [problem.operation for problem in chosen.problems] == ["GET /b"]


@pytest.mark.parametrize(
    ("option", "rule", "hint"),
    [
        ("include", "tag:dogs", "did you mean dog?"),
        ("exclude", "tag:DOG", "did you mean dog?"),
        ("exclude", "id:nope", "the document has listPets"),
        ("include", "id:listpets", "did you mean listPets?"),
        ("include", "path:/pet/*", "did you mean /pets?"),
        ("exclude", "method:delete", "the document has get"),
        ("include", "listPet", "did you mean listPets?"),
    ],
)
def test_rule_that_matches_no_operation_is_an_error(option: str, rule: str, hint: str) -> None:
    operation = {"operationId": "listPets", "tags": ["dog"]}
    with pytest.raises(UsageError) as caught:
        build(
            document({"/pets": {"get": operation}}),
            selection=Selection.parse(*(([rule], []) if option == "include" else ([], [rule]))),
        )
    assert (caught.value.message, caught.value.where) == (f"the rule {rule} matches no operation", f"--{option} {rule}")
    assert caught.value.hint == hint


def test_rule_may_match_an_operation_that_is_lost_to_a_problem() -> None:
    chosen = build(document(PATHS), selection=Selection.parse(exclude=["path:/b", "path:/c", "method:delete"]))
    assert len(chosen.tools) == 2


def test_prefix_is_before_every_name() -> None:
    result = build(document({"/a": {"get": {"operationId": "listPets"}}}), prefix="shop_")
    assert [tool.name for tool in result.tools] == ["shop_listPets"]
    with pytest.raises(UsageError, match="prefix"):
        build(document({}), prefix="no spaces")


def test_defect_shared_by_operations_is_one_problem() -> None:
    item = {"parameters": [None], "get": {}, "put": {}, "post": {}}
    result = compiled({"/a": item})
    assert len(result.problems) == 1


def test_repeated_build_is_equal() -> None:
    api = document(PATHS, **schemas(A={"properties": {"a": ref("A")}}))
    assert build(api) == build(api)


WHOLE: Json = {
    "openapi": "3.1.0",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "https://{a}.example.com", "variables": {"a": {"default": "b"}}}],
    "security": [{"key": []}, {}],
    "x-mcp": {"annotations": {"openWorldHint": True}},
    "paths": {
        "/a/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "x-mcp": {"title": "T"},
            "get": {
                "operationId": "a",
                "tags": ["t"],
                "parameters": [
                    {"name": "q", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
                    {"name": "c", "in": "query", "content": {"application/json": {"schema": {"type": "array"}}}},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}},
            },
            "post": {
                "security": [],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/A"}},
                        "multipart/form-data": {
                            "schema": {"properties": {"f": {"type": "string", "format": "binary"}}},
                            "encoding": {
                                "f": {"contentType": "image/png", "headers": {"X": {"schema": {"const": "x"}}}}
                            },
                        },
                    },
                },
                "responses": {"2XX": {"$ref": "#/components/responses/R"}},
            },
        },
        "/b": {"$ref": "#/components/pathItems/P"},
    },
    "components": {
        "parameters": {"Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}},
        "pathItems": {"P": {"additionalOperations": {"COPY": {"servers": [{"url": "/x"}]}}}},
        "responses": {
            "R": {"content": {"application/json": {"schema": {"items": {"$ref": "#/components/schemas/A"}}}}}
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "key"}},
        "schemas": {
            "A": {
                "type": "object",
                "required": ["a"],
                "properties": {
                    "a": {"type": "string", "pattern": "^a+$", "readOnly": True},
                    "b": {
                        "oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}],
                        "discriminator": {"mapping": {}},
                    },
                    "c": {"enum": ["x", 1], "default": "x", "nullable": True, "minimum": 1, "exclusiveMinimum": True},
                },
                "patternProperties": {"^x": {"not": {"allOf": [{"const": 1}]}}},
                "additionalProperties": {"$ref": "#/components/schemas/A"},
            }
        },
    },
}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(damaged(WHOLE), st.sampled_from(["3.0", "3.1", "3.2"]))
def test_damaged_documents_compile_to_valid_schemas(root: Any, version: str) -> None:
    result = build(document(root.get("paths"), version=version, **{key: root[key] for key in root if key != "paths"}))
    assert result.operations == len(result.tools) + result.lost_operations + result.excluded
    for tool in result.tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema or {})
        assert set(tool.input_schema["properties"]) == {argument.name for argument in tool.arguments}


def test_operations_share_what_they_have_in_common() -> None:
    """Memory: arguments and plain schemas of one document are one object each, also of another body or path."""
    pet = {"type": "object", "properties": {"name": {"type": "string", "description": "The name."}}}
    other = {"type": "object", "properties": {"name": {"type": "string", "description": "The name."}, "age": {}}}
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
    paths = {
        "/pets": {
            "parameters": [limit],
            "post": {"operationId": "a", **json_body(pet)},
            "put": {"operationId": "b", **json_body(other)},
        }
    }
    first, second = compiled(paths).tools
    assert all(one is another for one, another in zip(first.arguments[:2], second.arguments[:2], strict=True))
    properties = [tool.input_schema["properties"] for tool in (first, second)]
    assert properties[0]["name"] is properties[1]["name"]


MAX_CALLS_PER_PROPERTY: Final = 85
"""Calls of Python functions for each property of a schema that is sent and returned: 69; they were 156."""


@pytest.mark.slow
def test_compilation_takes_few_steps_for_each_property() -> None:
    """The time of large documents, which are properties for the most part, counted in calls: the same everywhere."""
    root = synthetic.document(400)
    properties = sum(
        len(part["properties"])
        for schema in root["components"]["schemas"].values()
        for part in schema.get("allOf", ())[1:]
    )
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    loaded = Document(root, "file:///large.json", "3.0", values=100_000)
    sys.setprofile(count)
    try:
        compilation = compile_document(loaded, CompileOptions())
    finally:
        sys.setprofile(None)
    assert len(compilation.tools) == 400
    assert calls < MAX_CALLS_PER_PROPERTY * properties, calls / properties
