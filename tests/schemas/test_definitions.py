"""Test definitions: those that a tool reaches, each converted once, without loops that validators would follow."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from openapi_mcp.document.resolver import Resolver
from openapi_mcp.schemas.definitions import SchemaCompiler, referenced_names
from openapi_mcp.tools.compiler import build
from tests.compiling import STRING, compiled, document, input_of, json_body, kinds, ref, schemas, tool_of

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


def test_definitions_are_those_a_schema_reaches() -> None:
    root = schemas(A={"properties": {"b": ref("B")}}, B={"items": ref("C")}, C=STRING, D=STRING)
    assert list(input_of(ref("A"), **root)["$defs"]) == ["A", "B", "C"]
    assert list(input_of(ref("C"), **root)["$defs"]) == ["C"]
    assert "$defs" not in input_of(STRING, **root)


def test_a_reference_in_a_value_is_ignored() -> None:
    schema = {"enum": [{"$ref": "#/components/schemas/A"}], "default": {"$ref": "x"}, "const": {"$ref": "y"}}
    assert list(referenced_names(input_of(schema, version="3.1"))) == []
    named = {"type": "object", "properties": {"$ref": ref("A"), "a": STRING}}
    assert list(input_of(named, **schemas(A=STRING))["$defs"]) == ["A"]


def test_schemas_of_one_name_stay_distinct() -> None:
    root: dict[str, Any] = {
        "components": {"schemas": {"Error": {"type": "string"}}, "x-other": {"Error": {"type": "integer"}}},
    }
    schema = {"properties": {"mine": ref("Error"), "theirs": {"$ref": "#/components/x-other/Error"}}}
    converted = input_of(schema, **root)
    mine, theirs = converted["properties"]["mine"]["$ref"], converted["properties"]["theirs"]["$ref"]
    assert mine != theirs
    assert {converted["$defs"][name.removeprefix("#/$defs/")]["type"] for name in (mine, theirs)} == {
        "string",
        "integer",
    }


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
    converted = input_of({"$ref": f"#/components/schemas/{key}"}, **schemas(**{unescaped: STRING}))
    assert converted == {"$ref": f"#/$defs/{name}", "$defs": {name: STRING}}


def test_a_chain_of_references_refers_to_its_end() -> None:
    converted = input_of(ref("A"), **schemas(A=ref("B"), B=ref("C"), C=STRING))
    assert converted == {"$ref": "#/$defs/C", "$defs": {"C": STRING}}


LOOPS: list[dict[str, Any]] = [
    {"A": ref("B"), "B": ref("A")},
    {"A": ref("A")},
    {"A": {"allOf": [ref("A"), {"type": "object"}]}},
    {"A": {"anyOf": [ref("B"), STRING]}, "B": {"oneOf": [ref("A"), {"type": "integer"}]}},
    {"A": {"not": {"not": ref("A")}}},
    {"A": {"if": ref("B")}, "B": {"dependentSchemas": {"x": ref("A")}}},
]


@pytest.mark.parametrize("named", LOOPS)
def test_a_loop_on_the_same_value_is_cut_and_reported(named: dict[str, Any]) -> None:
    result = compiled({"/x": {"post": json_body(ref("A"))}}, version="3.1", **schemas(**named))
    assert set(kinds(result)) == {("reference", None)}
    (tool,) = result.tools
    Draft202012Validator.check_schema(tool.input_schema)
    assert Draft202012Validator(tool.input_schema).is_valid({"body": {"x": 1}})


def test_a_loop_through_a_negation_is_cut_to_accept_anything() -> None:
    root = schemas(A={"anyOf": [{"type": "string"}, {"not": ref("A")}]})
    assert input_of(ref("A"), version="3.1", **root)["$defs"]["A"]["anyOf"][1] == {"not": {"not": {}}}


def test_a_broken_reference_costs_the_operations_that_need_it() -> None:
    root = schemas(A={"properties": {"b": ref("B")}}, B={"items": ref("Gone")})
    paths = {"/bad": {"post": json_body(ref("A"))}, "/worse": {"post": json_body(ref("Gone"))}, "/good": {"get": {}}}
    result = compiled(paths, **root)
    assert [tool.path for tool in result.tools] == ["/good"]
    assert kinds(result) == [("reference", "POST /bad"), ("reference", "POST /worse")]
    assert result.problems[0].pointer == "#/components/schemas/B/items"


def test_tools_share_their_definitions() -> None:
    paths = {"/x": {"put": json_body({"items": ref("A")})}, "/y": {"put": json_body(ref("A"))}}
    result = compiled(paths, **schemas(A={"not": {"type": "string"}}))
    one, other = (tool.input_schema["$defs"] for tool in result.tools)
    assert one is other


def test_a_chain_of_thousands_of_references_is_followed_without_recursion() -> None:
    named = {f"S{number}": {"items": ref(f"S{number + 1}")} for number in range(3000)} | {"S3000": STRING}
    openapi = document({}, **schemas(**named))
    converted = SchemaCompiler(openapi, Resolver(openapi))
    schema = converted.convert(ref("S0"), "#/here")
    assert len(converted.definitions([schema])) == 3001


def test_a_schema_that_doubles_with_each_reference_takes_no_time() -> None:
    named = {f"S{n}": {"allOf": [ref(f"S{n + 1}"), {"allOf": [ref(f"S{n + 1}")]}]} for n in range(60)}
    tool = tool_of(
        {**json_body(ref("S0")), "responses": {"200": {"content": {"application/json": {"schema": ref("S0")}}}}},
        **schemas(**named, S60={"type": "object", "properties": {"a": STRING}}),
    )
    assert tool.output_schema is None or tool.output_schema["type"] == "object"


def test_a_schema_with_too_many_validations_is_cut_and_reported() -> None:
    named = {f"A{i}": {"allOf": [ref(f"B{i}"), ref(f"C{i}")]} for i in range(60)}
    named |= {f"{side}{i}": {"allOf": [ref(f"A{i + 1}")]} for i in range(60) for side in "BC"}
    root = schemas(**named, A60={"type": "object", "required": ["x"]})
    converted = compiled({"/x": {"post": json_body({"allOf": [ref("A0")], "minProperties": 1})}}, **root)
    assert {(problem.kind, problem.message) for problem in converted.problems} == {
        ("reference", "a value would be validated by too many schemas; anything is accepted here")
    }
    assert Draft202012Validator(converted.tools[0].input_schema).is_valid({"body": {"x": 1}})


def test_a_file_that_is_a_schema_names_its_definition() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/x-openapi-mcp-files/0"}}}
    files: dict[str, Any] = {"x-openapi-mcp-files": [tree]}
    body = json_body({"$ref": "#/x-openapi-mcp-files/0"})["requestBody"]
    root = document({"/x": {"post": {"requestBody": body}}}, **files)
    converted = build(replace(root, files=("file:///api/schemas/node.yaml",)))
    assert list(converted.tools[0].input_schema["$defs"]) == ["node"]


def test_a_hash_reference_in_a_schema_with_an_id_refers_to_that_schema() -> None:
    tree = {
        "$id": "https://a.example/tree",
        "type": "object",
        "properties": {"n": {"type": "integer"}, "up": {"$ref": "#"}},
    }
    converted = input_of({"properties": {"tree": ref("Tree")}}, version="3.1", **schemas(Tree=tree))
    assert not Draft202012Validator(converted).is_valid({"tree": {"up": {"n": "x"}}})


NAMES = ["A", "B", "C", "Component.With-a-Long_Name"]


def beside(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a reference, often with keywords beside it."""
    optional: dict[str, st.SearchStrategy[Any]] = {
        "description": st.sampled_from(["One.", "Another."]),
        "default": st.sampled_from([1, "a"]),
        "deprecated": st.just(True),
        "unevaluatedProperties": st.just(False),
        "required": st.just(["x"]),
        "type": st.sampled_from(["object", "array", "string"]),
    }
    return st.just(ref(name)) | st.fixed_dictionaries({"$ref": st.just(ref(name)["$ref"])}, optional=optional)


LEAVES = st.sampled_from([{}, STRING, {"enum": ["a", 1]}]) | st.sampled_from(NAMES).flatmap(beside)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a schema that holds others."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "array", "string"]]),
            "properties": st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
            "additionalProperties": inner | st.booleans(),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "default": st.sampled_from([1, {"$ref": "#/$defs/A"}]),
        },
    )


SCHEMAS = st.recursive(LEAVES, around, max_leaves=5)
COMPONENTS = st.fixed_dictionaries(dict.fromkeys(NAMES, SCHEMAS))


@pytest.mark.slow
@given(SCHEMAS, COMPONENTS)
def test_definitions_of_a_tool_are_those_it_reaches(schema: Any, named: dict[str, Any]) -> None:
    converted = input_of(schema, version="3.1", **schemas(**named))
    Draft202012Validator.check_schema(converted)
    reached, waiting = set[str](), [{key: value for key, value in converted.items() if key != "$defs"}]
    while waiting:
        for name in set(referenced_names(waiting.pop())) - reached:
            reached.add(name)
            waiting.append(converted["$defs"][name])
    assert reached == converted.get("$defs", {}).keys()


@pytest.mark.slow
@given(SCHEMAS, COMPONENTS, st.permutations(NAMES))
def test_a_definition_is_the_same_in_every_tool(schema: Any, named: dict[str, Any], order: list[str]) -> None:
    """A generated module has one constant for the definitions of its tools; the order of the paths does not matter."""
    paths = {"/it": {"post": json_body({"type": "array", "items": schema})}}
    paths |= {f"/{name}": {"post": json_body({"type": "array", "items": ref(name)})} for name in order}
    result = compiled(paths, version="3.1", **schemas(**named))
    definitions: dict[str, Any] = {}
    for tool in result.tools:
        for name, definition in tool.input_schema.get("$defs", {}).items():
            assert definitions.setdefault(name, definition) == definition
    sorted_tools = compiled(dict(sorted(paths.items())), version="3.1", **schemas(**named)).tools
    if not result.problems:  # the reference at which a loop is cut depends on where the loop is entered
        assert {tool.path: tool.input_schema for tool in result.tools} == {
            tool.path: tool.input_schema for tool in sorted_tools
        }


def test_mutually_recursive_definitions_stay() -> None:
    root = schemas(Leaf={"items": ref("Root")}, Root={"items": ref("Leaf")})
    assert input_of(ref("Leaf"), **root) == {
        "$ref": "#/$defs/Leaf",
        "$defs": {"Leaf": {"items": {"$ref": "#/$defs/Root"}}, "Root": {"items": {"$ref": "#/$defs/Leaf"}}},
    }


def test_keywords_beside_a_reference_stay_beside_it() -> None:
    root = schemas(A={"type": "object", "description": "A place.", "default": {"x": "a"}})
    siblings: list[dict[str, Any]] = [
        {"additionalProperties": False},
        {"default": {}},
        {"description": "d", "deprecated": True},
    ]
    for keywords in siblings:
        converted = input_of({**ref("A"), **keywords}, version="3.1", **root)
        assert converted == {"$ref": "#/$defs/A", **keywords, "$defs": root["components"]["schemas"]}


def test_a_schema_that_doubles_with_each_reference_stays_small() -> None:
    named = {f"S{n}": {"allOf": [ref(f"S{n + 1}"), {"allOf": [ref(f"S{n + 1}")]}]} for n in range(60)}
    tool = tool_of(json_body({"properties": {"a": ref("S0")}}), **schemas(**named, S60={"type": "object"}))
    assert len(json.dumps(tool.input_schema)) < 10_000
