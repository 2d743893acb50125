"""Definitions in the place of references: the same verdicts, no longer JSON, and what stays is what has to."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from openapi_mcp.inlining import references
from tests.compiling import STRING, compiled, converted, input_of, json_body, ref, schemas, tool_of

NAMES = ["A", "B", "C", "a long name of a definition that is longer than what it says".replace(" ", "")]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 4) | st.text(alphabet="ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=12,
)


def beside(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """A reference, often with keywords beside it."""
    optional: dict[str, st.SearchStrategy[Any]] = {
        "description": st.sampled_from(["One.", "Another."]),
        "default": st.sampled_from([1, "a"]),
        "deprecated": st.just(True),
        "additionalProperties": st.just(False),
        "unevaluatedProperties": st.just(False),
        "required": st.just(["x"]),
        "minProperties": st.integers(0, 2),
        "type": st.sampled_from(["object", "array", "string"]),
    }
    return st.just(ref(name)) | st.fixed_dictionaries(ref_of(name), optional=optional)


def ref_of(name: str) -> dict[str, st.SearchStrategy[Any]]:
    return {"$ref": st.just(ref(name)["$ref"])}


LEAVES = st.sampled_from(
    [{}, STRING, {"type": "integer", "minimum": 0}, {"enum": ["a", 1]}, {"type": "string", "description": "One."}]
) | st.sampled_from(NAMES).flatmap(beside)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "array", "string"]]),
            "properties": st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
            "additionalProperties": inner | st.booleans(),
            "unevaluatedProperties": st.just(False),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "default": st.sampled_from([1, 2]),
            "description": st.sampled_from(["One.", "Two."]),
        },
    )


SCHEMAS = st.recursive(LEAVES, around, max_leaves=5)
DOCUMENTS = st.fixed_dictionaries(dict.fromkeys(NAMES, SCHEMAS))
LONG = "What it is, at some length, so that it is no shorter than a reference to it would be."


def written(schema: Any) -> str:
    return json.dumps(schema, separators=(",", ":"))


@given(SCHEMAS, DOCUMENTS, st.lists(VALUES, min_size=5, max_size=10))
@example({"items": ref("A")}, {**dict.fromkeys(NAMES, STRING), "A": {"items": ref("A"), "type": "array"}}, [[[1]]])
def test_verdicts_stay_the_same_and_nothing_gets_longer(schema: Any, named: dict[str, Any], values: list[Any]) -> None:
    before = converted(schema, version="3.1", **schemas(**named))
    after = input_of(schema, version="3.1", **schemas(**named))
    assert len(written(after)) <= len(written(before))
    Draft202012Validator.check_schema(after)
    old, new = Draft202012Validator(before), Draft202012Validator(after)
    for value in values:
        assert new.is_valid(value) == old.is_valid(value), value


@given(SCHEMAS, DOCUMENTS)
def test_what_is_kept_is_what_is_reached(schema: Any, named: dict[str, Any]) -> None:
    found = input_of(schema, version="3.1", **schemas(**named))
    reached, waiting = set[str](), [{key: value for key, value in found.items() if key != "$defs"}]
    while waiting:
        for name in {each.name for each in references(waiting.pop())} - reached:
            reached.add(name)
            waiting.append(found["$defs"][name])
    assert reached == found.get("$defs", {}).keys()


@given(SCHEMAS, DOCUMENTS, st.permutations(NAMES))
def test_a_definition_is_the_same_in_every_tool(schema: Any, named: dict[str, Any], order: list[str]) -> None:
    """A generated package has one for all tools of a module; and what comes first makes no difference."""
    parts = {"/it": {"post": json_body({"type": "array", "items": schema})}}
    parts |= {f"/{name}": {"post": json_body({"type": "array", "items": ref(name)})} for name in order}
    result = compiled(parts, version="3.1", **schemas(**named))
    made = result.tools
    seen: dict[str, Any] = {}
    for tool in made:
        for name, definition in tool.input_schema.get("$defs", {}).items():
            assert seen.setdefault(name, definition) == definition
    other = compiled(dict(sorted(parts.items())), version="3.1", **schemas(**named)).tools
    if not result.problems:  # where a loop is opened depends on where it is entered
        assert {tool.path: tool.input_schema for tool in made} == {tool.path: tool.input_schema for tool in other}


def test_what_is_used_once_stands_where_it_is_used_and_so_does_what_it_uses() -> None:
    root = schemas(
        A={"properties": {"b": ref("B"), "c": ref("C")}, "description": LONG},
        B={"properties": {"c": ref("C")}, "description": LONG},
        C={"properties": {"d": ref("D")}, "description": LONG},
        D={"type": "string", "description": LONG},
    )
    found = input_of(ref("A"), **root)
    assert found["properties"]["b"]["properties"] == {"c": {"$ref": "#/$defs/C"}}
    assert list(found["$defs"]) == ["C", "D"], "what stays is alike in every tool"
    assert "$defs" not in input_of(ref("C"), **root)


def test_what_is_shorter_than_a_reference_is_never_one() -> None:
    whole = {"a": ref("Name"), "b": ref("Name"), "c": ref("Thing"), "d": ref("Thing")}
    found = input_of({"properties": whole}, **schemas(Name=STRING, Thing={"items": ref("Name"), "description": LONG}))
    assert found["properties"]["a"] == found["properties"]["b"] == STRING
    assert found["$defs"] == {"Thing": {"items": STRING, "description": LONG}}


def test_a_definition_is_used_twice_where_that_is_shorter_than_two_references() -> None:
    state = {"type": "string", "enum": ["on", "off"]}
    twice = {"properties": {"a": ref("State"), "b": ref("State")}}
    assert "$defs" not in input_of(twice, **schemas(State=state))
    often = {"properties": {name: ref("State") for name in "abcdefgh"}}
    assert list(input_of(often, **schemas(State={**state, "description": LONG}))["$defs"]) == ["State"]


def test_what_is_said_beside_a_reference_stays_and_so_does_what_is_said_there() -> None:
    one = {**ref("A"), "description": "Where it goes.", "deprecated": True}
    assert input_of(one, version="3.1", **schemas(A={"type": "string", "description": "A place."})) == {
        "type": "string",
        "description": "Where it goes. A place.",
        "deprecated": True,
    }
    assert (
        input_of({**ref("A"), "description": "A place."}, **schemas(A={"type": "string", "description": "A place."}))[
            "description"
        ]
        == "A place."
    )


def test_a_reference_stays_where_what_is_beside_it_would_mean_something_else() -> None:
    root = schemas(A={"type": "object", "properties": {"x": STRING}, "default": {"x": "a"}})
    beside: list[dict[str, Any]] = [{"additionalProperties": False}, {"default": {}}, {"properties": {"y": STRING}}]
    for more in beside:
        found = input_of({**ref("A"), **more}, version="3.1", **root)
        assert found == {"$ref": "#/$defs/A", **more, "$defs": {"A": root["components"]["schemas"]["A"]}}


def test_what_is_recursive_stays() -> None:
    root = schemas(Tree={"properties": {"left": ref("Tree")}}, Leaf={"items": ref("Root")}, Root={"items": ref("Leaf")})
    tree = {"properties": {"left": {"$ref": "#/$defs/Tree"}}}
    assert input_of(ref("Tree"), **root) == {"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}}
    assert list(input_of(ref("Leaf"), **root)["$defs"]) == ["Leaf", "Root"]


def test_nothing_is_nested_more_deeply_than_validators_bear() -> None:
    named = {f"S{number}": {"items": ref(f"S{number + 1}"), "description": LONG} for number in range(40)}
    found = input_of(ref("S0"), **schemas(**named, S40=STRING))

    def depth(schema: Any) -> int:
        return 1 + depth(schema["items"]) if "items" in schema else 0

    assert 10 < depth(found) <= 17
    assert found["$defs"]


def test_a_chain_of_thousands_of_references_is_followed_without_recursion() -> None:
    named: dict[str, Any] = {f"S{number}": {**ref(f"S{number + 1}"), "description": LONG} for number in range(3000)}
    tool = tool_of(json_body(ref("S0")), version="3.1", **schemas(**named, S3000={"type": "array", "items": STRING}))
    assert len(tool.input_schema["$defs"]) > 2900


def test_tools_share_what_was_put_in_a_place() -> None:
    root = schemas(A={"properties": {"b": ref("B")}, "description": LONG}, B={"type": "object", "description": LONG})
    body = {"type": "array", "items": {**ref("A"), "description": "One of them."}}
    one, other = compiled({f"/{name}": {"post": json_body(body)} for name in "xy"}, **root).tools
    mine, theirs = (tool.input_schema["properties"]["body"]["items"]["properties"] for tool in (one, other))
    assert mine is theirs


def test_a_schema_that_doubles_with_each_reference_stays_small() -> None:
    named = {f"S{n}": {"allOf": [ref(f"S{n + 1}"), {"allOf": [ref(f"S{n + 1}")]}]} for n in range(60)}
    tool = tool_of(json_body({"properties": {"a": ref("S0")}}), **schemas(**named, S60={"type": "object"}))
    assert len(written(tool.input_schema)) < 10_000
