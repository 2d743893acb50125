"""Parameters have the specification's defaults; those that cannot be set cost only themselves."""

from typing import Any

import pytest

from openapi_mcp.runtime.tool import Argument
from tests.compiling import STRING, Json, argument, compiled, compiled_operation, kinds, tool_of


def offered(*parameters: Any, path: str = "/x", **fields: Any) -> list[str]:
    tool = tool_of({"parameters": list(parameters), **fields}, path)
    return [each.name for each in tool.arguments]


def query(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": STRING, **fields}


@pytest.mark.parametrize(
    ("location", "fields", "style", "explode"),
    [
        ("path", {}, "simple", False),
        ("path", {"style": "matrix", "explode": True}, "matrix", True),
        ("path", {"style": "label"}, "label", False),
        ("query", {}, "form", True),
        ("query", {"explode": False}, "form", False),
        ("query", {"style": "pipeDelimited"}, "pipeDelimited", False),
        ("query", {"style": "deepObject", "explode": True}, "deepObject", True),
        ("query", {"style": "tabDelimited"}, "tabDelimited", False),
        ("header", {}, "simple", False),
        ("header", {"style": "pipeDelimited"}, "pipeDelimited", False),
        ("cookie", {}, "form", True),
        ("cookie", {"style": "cookie"}, "cookie", True),
    ],
)
def test_styles_have_the_defaults_of_their_location(location: str, fields: Any, style: str, explode: bool) -> None:
    tool = tool_of({"parameters": [{"name": "a", "in": location, "schema": STRING, **fields}]}, "/x/{a}")
    argument_of_tool = argument(tool, "a" if location == "path" else "a_" + location)
    assert (
        argument_of_tool.style,
        argument_of_tool.explode,
        argument_of_tool.location,
        argument_of_tool.wire_name,
    ) == (style, explode, location, "a")


def test_style_invalid_in_its_location_is_reported() -> None:
    result = compiled_operation({"parameters": [query("a", style="matrix")]})
    assert kinds(result) == [("parameter", None)]
    assert result.tools[0].arguments[0].style == "form"


def test_serialization_fields_are_read() -> None:
    tool = tool_of(
        {"parameters": [query("a", required=True, allowReserved=True, **{"x-items-style": "pipeDelimited"})]}
    )
    assert tool.arguments == (
        Argument(
            name="a",
            location="query",
            wire_name="a",
            required=True,
            style="form",
            explode=True,
            allow_reserved=True,
            items_style="pipeDelimited",
        ),
    )


def test_content_parameter_has_its_media_type_and_schema() -> None:
    content = {"application/json": {"schema": {"type": "object"}}}
    tool = tool_of({"parameters": [{"name": "a", "in": "query", "content": content}]})
    assert tool.arguments[0].content_type == "application/json"
    assert tool.input_schema["properties"] == {"a": {"type": "object"}}


def test_querystring_is_one_argument() -> None:
    content = {"application/x-www-form-urlencoded": {"schema": {"type": "object"}}}
    tool = tool_of({"parameters": [{"name": "params", "in": "querystring", "content": content}]}, version="3.2")
    (argument_of_tool,) = tool.arguments
    assert (argument_of_tool.name, argument_of_tool.location, argument_of_tool.content_type) == (
        "params",
        "querystring",
        next(iter(content)),
    )


def test_the_order_is_path_query_header_cookie() -> None:
    locations = ["cookie", "header", "query", "path"]
    assert (
        offered(*({"name": location, "in": location, "schema": STRING} for location in locations), path="/{path}")
        == locations[::-1]
    )


def test_the_operation_replaces_what_its_path_item_declares() -> None:
    page = {"name": "page", "in": "query", "schema": STRING, "description": "from the path item"}
    item = {
        "parameters": [page, query("size")],
        "get": {"parameters": [query("page", required=True, schema={"type": "integer"})]},
    }
    (tool,) = compiled({"/x": item}).tools
    assert tool.input_schema["properties"] == {"page": {"type": "integer"}, "size": STRING}
    assert tool.input_schema["required"] == ["page"]


def test_description_and_deprecation_are_in_the_schema() -> None:
    tool = tool_of({"parameters": [query("a", description="Of the parameter.", deprecated=True)]})
    assert tool.input_schema["properties"]["a"] == {**STRING, "description": "Of the parameter.", "deprecated": True}


@pytest.mark.parametrize(
    ("schema", "description"),
    [
        ({"format": "url"}, "Where to. Format: url."),
        ({"description": "An address."}, "Where to. An address."),
        ({"description": "Where to."}, "Where to."),
    ],
)
def test_description_of_the_schema_is_appended(schema: Json, description: str) -> None:
    tool = tool_of({"parameters": [query("a", description="Where to.", schema={**STRING, **schema})]})
    assert tool.input_schema["properties"]["a"] == {**STRING, "description": description}


@pytest.mark.parametrize("name", ["Accept", "authorization"])
def test_headers_ignored_by_the_specification_are_no_arguments(name: str) -> None:
    result = compiled_operation({"parameters": [{"name": name, "in": "header", "required": True, "schema": STRING}]})
    assert result.tools[0].arguments == ()
    assert result.problems == ()


@pytest.mark.parametrize("name", ["Host", "Content-Length", "transfer-encoding", "Connection", "Cookie"])
def test_connection_headers_are_no_arguments_and_reported(name: str) -> None:
    result = compiled_operation({"parameters": [{"name": name, "in": "header", "schema": STRING}]})
    assert result.tools[0].arguments == ()
    assert kinds(result) == [("parameter", None)]


def test_credential_parameter_is_no_argument() -> None:
    schemes = {
        "q": {"type": "apiKey", "in": "query", "name": "key"},
        "h": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "c": {"type": "apiKey", "in": "cookie", "name": "session"},
    }
    parameters = [
        query("key"),
        query("X-Key"),
        {"name": "x-KEY", "in": "header", "schema": STRING},
        {"name": "session", "in": "cookie", "schema": STRING},
    ]
    root: Json = {"components": {"securitySchemes": schemes}}
    secured = tool_of({"parameters": parameters, "security": [{"q": [], "h": []}, {"c": []}]}, **root)
    assert [each.name for each in secured.arguments] == ["X-Key"]
    assert len(tool_of({"parameters": parameters}, **root).arguments) == 4


def test_path_expression_is_always_an_argument() -> None:
    result = compiled_operation({"parameters": [{"name": "other", "in": "path"}]}, "/{thing}/{other}?x={no}#{no}")
    (tool,) = result.tools
    assert tool.input_schema["properties"] == {"other": {}, "thing": STRING}
    assert tool.input_schema["required"] == ["other", "thing"]


def test_parameter_missing_from_the_path_is_no_argument() -> None:
    result = compiled_operation({"parameters": [{"name": "ghost", "in": "path", "required": True, "schema": STRING}]})
    assert (result.tools[0].arguments, kinds(result)) == ((), [("parameter", None)])


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "z",
        {},
        {"name": "q"},
        {"in": "query"},
        {"name": "", "in": "query"},
        {"name": 5, "in": "query"},
        {"name": "x", "in": "elsewhere"},
        {"name": "x", "in": ["query"]},
        {"$ref": 7},
    ],
)
def test_invalid_parameter_costs_only_itself(broken: Any) -> None:
    result = compiled_operation({"parameters": [broken, query("ok"), query("ok")]})
    assert [each.name for each in result.tools[0].arguments] == ["ok"]
    assert kinds(result) == [("parameter", None), ("parameter", None)]


@pytest.mark.parametrize("parameters", [{"a": query("a")}, "a", 5])
def test_parameters_of_a_wrong_type_are_left_out(parameters: Any) -> None:
    result = compiled_operation({"parameters": parameters})
    assert (result.tools[0].arguments, kinds(result)) == ((), [("parameter", None)])
    assert compiled_operation({"parameters": None}).problems == ()


def test_schema_keywords_beside_the_name_count() -> None:
    result = compiled_operation({"parameters": [{"name": "a", "in": "query", "type": "integer", "minimum": 1}]})
    assert result.tools[0].input_schema["properties"]["a"] == {"type": "integer", "minimum": 1}
    assert kinds(result) == [("parameter", None)]


def test_broken_parameter_reference_costs_its_operation() -> None:
    paths = {"/a": {"parameters": [{"$ref": "#/gone"}], "get": {}, "put": {}}, "/b": {"get": {}}}
    result = compiled(paths)
    assert [tool.path for tool in result.tools] == ["/b"]
    assert kinds(result) == [("reference", "GET /a"), ("reference", "PUT /a")]


COMP = {"type": "string", "enum": ["list"]}


def test_query_parameter_that_the_path_sets_is_no_argument() -> None:
    result = compiled_operation({"parameters": [query("comp", required=True, schema=COMP), query("b")]}, "/?comp=list")
    assert [each.name for each in result.tools[0].arguments] == ["b"]
    assert result.problems == ()


@pytest.mark.parametrize("schema", [STRING, {"enum": ["list", "delete"]}, {"enum": ["other"]}, {"$ref": "#/gone"}])
def test_query_parameter_that_the_path_sets_to_one_of_several_values_is_reported(schema: Json) -> None:
    result = compiled_operation({"parameters": [query("comp", schema=schema)]}, "/?comp=list")
    assert result.tools[0].arguments == ()
    assert kinds(result) == [("parameter", None)]


@pytest.mark.parametrize("path", ["/?comp=", "/?comp", "/?comp={comp}", "/?other=list"])
def test_query_parameter_without_a_value_in_the_path_is_an_argument(path: str) -> None:
    assert offered(query("comp", schema=STRING), path=path) == ["comp"]


@pytest.mark.parametrize(
    ("path", "schema", "problems"),
    [
        ("/x/{a}", {"type": "string", "enum": [""]}, 1),
        ("/x/{a}/y", {"const": ".."}, 1),
        ("/x/{a}", {"enum": ["", "."]}, 1),
        ("/x/{a}", {"enum": ["", "b"]}, 0),
        ("/x/{a}.json", {"enum": [""]}, 0),
        ("/x/{a}", {"enum": [0]}, 0),
        ("/x/{a}", {"enum": []}, 0),
        ("/x/{a}", {"type": "string"}, 0),
    ],
)
def test_path_parameter_without_a_value_that_can_be_sent_is_reported(path: str, schema: Json, problems: int) -> None:
    parameter = {"name": "a", "in": "path", "required": True, "schema": schema}
    result = compiled_operation({"parameters": [parameter]}, path)
    messages = [problem.message for problem in result.problems if "every call is refused" in problem.message]
    assert len(messages) == problems
    assert len(result.tools) == 1
