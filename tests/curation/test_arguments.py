"""`x-mcp` on parameters and body properties: what models see of an argument, and what is sent for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.cache.decoder import load
from openapi_mcp.cache.encoder import dump
from openapi_mcp.compilation import Compilation, CompileOptions
from openapi_mcp.curation.keys import ARGUMENT_KEYS, TOOL_KEYS, published_schema
from openapi_mcp.overlay.sources import amendment
from openapi_mcp.runtime.errors import RequestError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.request.credentials import read_variables
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build, compile_document, document_info
from tests.compiling import Json, compiled_operation, document, json_body, ref, schemas, tool_of
from tests.conftest import ROOT

BASE = RequestOptions(base_url="http://api.test")


def parameter(extension: Any, *, required: bool = False, name: str = "it", **schema: Any) -> Json:
    schema = {"type": "string", **schema}
    return {"name": name, "in": "query", "required": required, "schema": schema, "x-mcp": extension}


def with_parameter(extension: Any, **fields: Any) -> Compilation:
    return compiled_operation({"parameters": [parameter(extension, **fields)]})


def sent(tool: Tool, arguments: Json, **variables: str) -> Any:
    options = RequestOptions(base_url="http://api.test", variables=variables)
    return build_request(tool, arguments, options)


@pytest.mark.parametrize(
    "extension", [{"fixed": "a b"}, {"hidden": True, "default": "a b"}, {"hidden": True, "fixed": "a b"}]
)
@pytest.mark.parametrize("required", [True, False])
def test_a_hidden_argument_is_sent_and_not_shown(extension: Json, required: bool) -> None:
    (tool,) = with_parameter(extension, required=required).tools
    assert tool.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert not tool.arguments
    assert str(sent(tool, {}).url) == "http://api.test/x?it=a%20b"


def test_an_optional_argument_may_be_hidden_without_a_value() -> None:
    (tool,) = with_parameter({"hidden": True}).tools
    assert (tool.input_schema["properties"], tool.arguments, tool.presets) == ({}, (), ())


def test_a_required_argument_is_not_hidden_without_a_value() -> None:
    result = with_parameter({"hidden": True}, required=True)
    assert result.tools[0].input_schema["required"] == ["it"]
    assert "cannot be hidden" in result.problems[0].message


def test_a_default_is_shown_and_sent_where_a_call_has_no_value() -> None:
    (tool,) = with_parameter({"default": "us"}, required=True).tools
    assert tool.input_schema["properties"]["it"] == {"type": "string", "default": "us"}
    assert "required" not in tool.input_schema
    assert str(sent(tool, {}).url).endswith("?it=us")
    assert str(sent(tool, {"it": "eu"}).url).endswith("?it=eu")


def test_name_description_and_examples_are_for_models_only() -> None:
    extension = {"name": "region", "description": "Where.", "examples": ["eu", "us"], "default": "eu"}
    (tool,) = with_parameter(extension).tools
    shown = {"type": "string", "description": "Where.", "examples": ["eu", "us"], "default": "eu"}
    assert tool.input_schema["properties"] == {"region": shown}
    assert str(sent(tool, {"region": "x"}).url).endswith("?it=x")
    assert str(sent(tool, {}).url).endswith("?it=eu")


def test_two_arguments_do_not_get_one_name() -> None:
    fields = {"parameters": [parameter({"name": "b"}, name="a"), {"name": "b", "in": "query", "schema": {}}]}
    result = compiled_operation(fields)
    assert list(result.tools[0].input_schema["properties"]) == ["a", "b"]
    assert "another argument" in result.problems[0].message


BODY: Json = {
    "type": "object",
    "required": ["tenant"],
    "properties": {
        "tenant": {"type": "string", "x-mcp": {"fixed": "env:API_TENANT"}},
        "size": {"$ref": "#/components/schemas/Size", "x-mcp": {"fixed": {"n": 1}}},
        "dry": {"type": "boolean", "x-mcp": {"fixed": "env:API_DRY"}},
        "title": {"type": "string"},
    },
}


@pytest.mark.parametrize("schema", [BODY, ref("Body"), {"allOf": [ref("Body")]}], ids=["inline", "ref", "allOf"])
def test_properties_of_a_body_are_fixed(schema: Json) -> None:
    named = schemas(Body=BODY, Size={"type": "object", "properties": {"n": {"type": "integer"}}})
    tool = tool_of(json_body(schema), **named)
    assert tool.input_schema == {"type": "object", "properties": {"title": {"type": "string"}}}
    request = sent(tool, {"title": "T", "tenant": "mine"}, API_TENANT="acme", API_DRY="true")
    assert json.loads(request.read()) == {"tenant": "acme", "size": {"n": 1}, "dry": True, "title": "T"}


def test_path_and_header_arguments_are_fixed() -> None:
    fields = [
        {"name": "tenant", "in": "path", "required": True, "schema": {"type": "string"}, "x-mcp": {"fixed": "acme"}},
        {"name": "X-Key", "in": "header", "schema": {"type": "string"}, "x-mcp": {"fixed": "env:API_KEY"}},
    ]
    tool = tool_of({"parameters": fields}, "/{tenant}/x")
    request = sent(tool, {}, API_KEY="k")
    assert (str(request.url), request.headers["x-key"]) == ("http://api.test/acme/x", "k")


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        ({"fixd": 1}, "did you mean `fixed`?"),
        ({"zzz": 1}, "the keys are hidden, fixed"),
        ({"hidden": "yes"}, "`hidden` of `x-mcp` is not a boolean"),
        ({"description": 3}, "not a string"),
        ({"examples": "x"}, "not a list"),
        ({"name": "a b"}, "is not a name"),
        (True, "not an object"),
        ({"fixed": 3}, "the value is an integer, and the schema takes string"),
        ({"fixed": "x", "hidden": False}, "hidden, whatever"),
        ({"fixed": "env:HOME"}, "begin with API_"),
        ({"default": "env:API_X"}, "models see a default"),
    ],
)
def test_what_has_no_effect_is_a_problem_with_its_pointer(extension: Any, words: str) -> None:
    (problem,) = with_parameter(extension).problems
    assert problem.pointer == "#/paths/~1x/post/parameters/0/x-mcp"
    assert problem.kind == "x-mcp"
    assert words in problem.message


def test_a_document_does_not_read_the_variables_of_other_programs() -> None:
    (tool,) = with_parameter({"fixed": "env:AWS_SECRET_ACCESS_KEY"}).tools
    assert list(tool.input_schema["properties"]) == ["it"]
    assert not tool.presets


@pytest.mark.parametrize(
    ("target", "update"),
    [
        ("$.paths.*.*.parameters[*]", {"x-mcp": {"fixed": "env:SHOP_TOKEN"}}),
        ("$.paths.*.*.parameters[*]['x-mcp']", {"fixed": "env:SHOP_TOKEN"}),
    ],
)
def test_an_overlay_of_the_user_may_name_any_variable(target: str, update: Json) -> None:
    fields = {"parameters": [{"name": "it", "in": "query", "schema": {"type": "string"}, "x-mcp": {}}]}
    doc = document({"/x": {"get": fields}})
    action = {"target": target, "update": update}
    overlay = {"overlay": "1.0.0", "info": {"title": "", "version": ""}, "actions": [action]}
    amend = amendment(["o.yaml"])
    assert amend is not None
    assert not amend(doc.root, doc.uri, lambda _: (overlay, "file:///o.yaml"), lambda *_: None)
    (tool,) = build(doc).tools
    assert tool.presets[0].variable == "SHOP_TOKEN"


def test_definitions_that_only_a_hidden_argument_needs_are_left_out() -> None:
    fields = [parameter({"fixed": "x"}), {"name": "b", "in": "query", "schema": ref("B")}]
    fields[0]["schema"] = ref("A")
    a, b = {"type": "string", "enum": ["x"]}, {"type": "object", "properties": {"b": ref("B")}}
    tool = tool_of({"parameters": fields}, **schemas(A=a, B=b))
    assert list(tool.input_schema["$defs"]) == ["B"]


def test_presets_are_cached_and_variables_are_read_at_the_start() -> None:
    fields = [parameter({"fixed": "env:API_A"}), parameter({"default": "v"}, name="b")]
    doc = document({"/x": {"get": {"parameters": fields}}})
    compilation = compile_document(doc, CompileOptions())
    assert len(compilation.tools[0].presets) == 2
    assert load(dump((document_info(doc, CompileOptions()), compilation)))[1] == compilation
    assert read_variables(compilation.tools, {"API_A": "a", "API_B": "b"}) == {"API_A": "a"}
    with pytest.raises(RequestError, match="API_A"):
        read_variables(compilation.tools, {})
    with pytest.raises(RequestError, match="API_A"):
        build_request(compilation.tools[0], {}, BASE)


def test_the_published_schema_is_that_of_the_table() -> None:
    published = json.loads(Path(ROOT / "specs" / "x-mcp.schema.json").read_text())
    assert published == published_schema()
    Draft202012Validator.check_schema(published)
    judge = Draft202012Validator(published)
    assert judge.is_valid({"fixed": "env:A", "examples": [1]})
    assert judge.is_valid({"name": "x", "annotations": {"readOnlyHint": True}})
    assert not judge.is_valid({"fixd": 1})
    tool, argument = published["$defs"]["tool"]["anyOf"][0], published["$defs"]["argument"]
    assert [*tool["properties"], *argument["properties"]] == [*TOOL_KEYS, *ARGUMENT_KEYS]
