"""Definitions: what a tool reaches and nothing else, each converted once, and no loop that a validator would follow."""

from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.inlining import references
from openapi_mcp.resolver import Resolver
from openapi_mcp.schemas import Schemas
from openapi_mcp.tools import build
from tests.compiling import STRING, compiled, converted, document, input_of, json_body, kinds, ref, schemas, tool_of

TREE = {
    "type": "object",
    "required": ["label"],
    "properties": {"label": STRING, "children": {"type": "array", "items": ref("Tree")}},
}


def test_references_stay_references_and_recursion_stays_recursive() -> None:
    tool = tool_of(json_body(TREE), **schemas(Tree=TREE))
    assert tool.input_schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    validator = Draft202012Validator(tool.input_schema)
    assert validator.is_valid({"label": "a", "children": [{"label": "b", "children": [{"label": "c"}]}]})
    assert not validator.is_valid({"label": "a", "children": [{"label": "b", "children": [{}]}]})


def test_definitions_are_what_is_reached_and_nothing_else() -> None:
    root = schemas(A={"properties": {"b": ref("B")}}, B={"items": ref("C")}, C=STRING, D=STRING)
    assert list(converted(ref("A"), **root)["$defs"]) == ["A", "B", "C"]
    assert list(converted(ref("C"), **root)["$defs"]) == ["C"]
    assert "$defs" not in converted(STRING, **root)
    assert input_of(ref("A"), **root) == {"properties": {"b": {"items": STRING}}}


def test_what_looks_like_a_reference_in_a_value_is_none() -> None:
    schema = {"enum": [{"$ref": "#/components/schemas/A"}], "default": {"$ref": "x"}, "const": {"$ref": "y"}}
    assert references(input_of(schema, version="3.1")) == []
    named = {"type": "object", "properties": {"$ref": ref("A"), "a": STRING}}
    assert list(converted(named, **schemas(A=STRING))["$defs"]) == ["A"]


def test_schemas_of_one_name_stay_distinct() -> None:
    root: dict[str, Any] = {
        "components": {"schemas": {"Error": {"type": "string"}}, "x-other": {"Error": {"type": "integer"}}},
    }
    schema = {"properties": {"mine": ref("Error"), "theirs": {"$ref": "#/components/x-other/Error"}}}
    found = converted(schema, **root)
    mine, theirs = found["properties"]["mine"]["$ref"], found["properties"]["theirs"]["$ref"]
    assert mine != theirs
    assert {found["$defs"][name.removeprefix("#/$defs/")]["type"] for name in (mine, theirs)} == {"string", "integer"}
    assert input_of(schema, **root)["properties"] == {"mine": {"type": "string"}, "theirs": {"type": "integer"}}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("odd~1na~0me%20x", "odd_na_me_x"),
        ("Größe", "Gr_e"),
        ("日付", "schemas"),
        ("a" * 80, "a" * 64),
        ("v1.Pod", "v1.Pod"),
    ],
)
def test_a_definition_has_a_name_that_a_reference_can_hold(key: str, name: str) -> None:
    unescaped = key.replace("~1", "/").replace("~0", "~").replace("%20", " ")
    found = converted({"$ref": f"#/components/schemas/{key}"}, **schemas(**{unescaped: STRING}))
    assert found == {"$ref": f"#/$defs/{name}", "$defs": {name: STRING}}


def test_an_alias_is_what_it_is_an_alias_of() -> None:
    found = converted(ref("A"), **schemas(A=ref("B"), B=ref("C"), C=STRING))
    assert found == {"$ref": "#/$defs/C", "$defs": {"C": STRING}}


LOOPS: list[dict[str, Any]] = [
    {"A": ref("B"), "B": ref("A")},
    {"A": ref("A")},
    {"A": {"allOf": [ref("A"), {"type": "object"}]}},
    {"A": {"anyOf": [ref("B"), STRING]}, "B": {"oneOf": [ref("A"), {"type": "integer"}]}},
    {"A": {"not": {"not": ref("A")}}},
    {"A": {"if": ref("B")}, "B": {"dependentSchemas": {"x": ref("A")}}},
]


@pytest.mark.parametrize("named", LOOPS)
def test_a_loop_on_the_same_value_is_opened_and_reported(named: dict[str, Any]) -> None:
    result = compiled({"/x": {"post": json_body(ref("A"))}}, version="3.1", **schemas(**named))
    assert set(kinds(result)) == {("reference", None)}
    (tool,) = result.tools
    Draft202012Validator.check_schema(tool.input_schema)
    assert Draft202012Validator(tool.input_schema).is_valid({"body": {"x": 1}})


def test_a_loop_through_a_negation_opens_to_what_accepts() -> None:
    root = schemas(A={"anyOf": [{"type": "string"}, {"not": ref("A")}]})
    assert converted(ref("A"), version="3.1", **root)["$defs"]["A"]["anyOf"][1] == {"not": {"not": {}}}
    assert input_of(ref("A"), version="3.1", **root)["anyOf"][1] == {"not": {"not": {}}}


def test_a_broken_reference_costs_the_operations_that_need_it() -> None:
    root = schemas(A={"properties": {"b": ref("B")}}, B={"items": ref("Gone")})
    paths = {"/bad": {"post": json_body(ref("A"))}, "/worse": {"post": json_body(ref("Gone"))}, "/good": {"get": {}}}
    result = compiled(paths, **root)
    assert [tool.path for tool in result.tools] == ["/good"]
    assert kinds(result) == [("reference", "POST /bad"), ("reference", "POST /worse")]
    assert result.problems[0].pointer == "#/components/schemas/B/items"


def test_each_place_is_converted_once_and_shared() -> None:
    paths = {"/x": {"put": json_body({"items": ref("A")})}, "/y": {"put": json_body(ref("A"))}}
    result = compiled(paths, **schemas(A={"not": {"type": "string"}}))
    one, other = (tool.input_schema["properties"]["body"] for tool in result.tools)
    assert one["items"] is other


def test_a_chain_of_thousands_of_references_is_followed_without_recursion() -> None:
    named = {f"S{number}": {"items": ref(f"S{number + 1}")} for number in range(3000)} | {"S3000": STRING}
    whole = document({}, **schemas(**named))
    found = Schemas(whole, Resolver(whole))
    schema = found.convert(ref("S0"), "#/here")
    assert len(found.definitions(each.name for each in references(schema))) == 3001


def test_a_schema_that_doubles_with_each_reference_takes_no_time() -> None:
    named = {f"S{n}": {"allOf": [ref(f"S{n + 1}"), {"allOf": [ref(f"S{n + 1}")]}]} for n in range(60)}
    tool = tool_of(
        {**json_body(ref("S0")), "responses": {"200": {"content": {"application/json": {"schema": ref("S0")}}}}},
        **schemas(**named, S60={"type": "object", "properties": {"a": STRING}}),
    )
    assert tool.output_schema is None or tool.output_schema["type"] == "object"


def test_a_schema_that_multiplies_what_is_judged_opens_and_is_reported() -> None:
    named = {f"A{i}": {"allOf": [ref(f"B{i}"), ref(f"C{i}")]} for i in range(60)}
    named |= {f"{side}{i}": {"allOf": [ref(f"A{i + 1}")]} for i in range(60) for side in "BC"}
    root = schemas(**named, A60={"type": "object", "required": ["x"]})
    found = compiled({"/x": {"post": json_body({"allOf": [ref("A0")], "minProperties": 1})}}, **root)
    assert {(problem.kind, problem.message) for problem in found.problems} == {
        ("reference", "a value would be judged by too many schemas; anything is accepted here")
    }
    assert Draft202012Validator(found.tools[0].input_schema).is_valid({"body": {"x": 1}})


def test_a_file_that_is_a_schema_names_its_definition() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/x-openapi-mcp-files/0"}}}
    files: dict[str, Any] = {"x-openapi-mcp-files": [tree]}
    body = json_body({"$ref": "#/x-openapi-mcp-files/0"})["requestBody"]
    root = document({"/x": {"post": {"requestBody": body}}}, **files)
    found = build(replace(root, files=("file:///api/schemas/node.yaml",)))
    assert list(found.tools[0].input_schema["$defs"]) == ["node"]


def test_the_root_of_a_schema_with_an_id_is_that_schema() -> None:
    tree = {
        "$id": "https://a.example/tree",
        "type": "object",
        "properties": {"n": {"type": "integer"}, "up": {"$ref": "#"}},
    }
    found = input_of({"properties": {"tree": ref("Tree")}}, version="3.1", **schemas(Tree=tree))
    assert not Draft202012Validator(found).is_valid({"tree": {"up": {"n": "x"}}})
