"""Two sets of tools are compared: each kind of change is found, is breaking or not, and nothing else is reported."""

from dataclasses import replace
from typing import Any

import pytest

from openapi_mcp.comparison.changes import RULES, Comparison, ToolChange
from openapi_mcp.comparison.tools import compare
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.token_budget import ToolLimits
from openapi_mcp.tools.compiler import build
from tests.compiling import Json, document, ref

WHOLE = ToolLimits(output=1 << 18, description=1 << 14, argument=1 << 14)


def tools(paths: Json, **root: Any) -> tuple[Tool, ...]:
    servers = root.pop("servers", [{"url": "https://api.example.com"}])
    return build(document(paths, servers=servers, **root), limits=WHOLE).tools


def operation(**fields: Any) -> Json:
    return {"operationId": "it", "summary": "It", **fields}


def kinds(comparison: Comparison) -> list[tuple[str, str]]:
    return [(change.kind, change.place) for change in comparison.changes]


def changed(old: Json, new: Json, **root: Any) -> list[tuple[str, str]]:
    """Return the changes from one Operation Object to another."""
    return kinds(compare(tools({"/x": {"post": old}}, **root), tools({"/x": {"post": new}}, **root)))


def query(name: str = "q", required: bool = False, **schema: Any) -> Json:
    return operation(parameters=[{"name": name, "in": "query", "required": required, "schema": schema}])


def answer(**schema: Any) -> Json:
    return operation(responses={"200": {"description": "", "content": {"application/json": {"schema": schema}}}})


def body(**schema: Any) -> Json:
    return operation(requestBody={"required": True, "content": {"application/json": {"schema": schema}}})


STRING: Json = {"type": "string"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (query(type="string"), operation(), ("argument-removed", "q")),
        (operation(), query(type="string"), ("argument-added", "q")),
        (operation(), query(required=True, type="string"), ("argument-added-required", "q")),
        (query(type="string"), query(required=True, type="string"), ("argument-required", "q")),
        (query(required=True, type="string"), query(type="string"), ("argument-optional", "q")),
        (query(type="string"), query("r", type="string"), ("argument-renamed", "r")),
        (query(type="number"), query(type="integer"), ("argument-type-narrowed", "q")),
        (query(type="integer"), query(type="number"), ("argument-type-widened", "q")),
        (query(type="string"), query(type="string", nullable=True), ("argument-type-widened", "q")),
        (query(type="string"), query(type="integer"), ("argument-type-changed", "q")),
        (query(type="string", enum=["a", "b"]), query(type="string", enum=["a"]), ("argument-values-removed", "q")),
        (query(type="string", enum=["a"]), query(type="string", enum=["a", "b"]), ("argument-values-added", "q")),
        (query(type="string"), query(type="string", enum=["a"]), ("argument-type-narrowed", "q")),
        (query(type="string", enum=["a"]), query(type="string"), ("argument-type-widened", "q")),
        (query(type="integer", maximum=9), query(type="integer", maximum=8), ("argument-limit-narrowed", "q")),
        (query(type="integer", minimum=9), query(type="integer", minimum=8), ("argument-limit-widened", "q")),
        (query(type="integer"), query(type="integer", minimum=8), ("argument-limit-narrowed", "q")),
        (query(type="string", pattern="^a"), query(type="string", pattern="^b"), ("argument-form-changed", "q")),
        (query(type="string", format="date"), query(type="string"), ("argument-limit-widened", "q")),
        (query(type="integer", default=1), query(type="integer", default=2), ("argument-default-changed", "q")),
        (query(type="string"), query(type="string", description="A."), ("argument-description-changed", "q")),
        (query(type="string"), query(type="string", deprecated=True), ("argument-deprecated", "q")),
        (
            query(type="array", items={"type": "string"}),
            query(type="array", items={"type": "integer"}),
            ("argument-type-changed", "q[]"),
        ),
        (
            body(type="object", properties={"pet": {"type": "object", "properties": {"name": STRING}}}),
            body(type="object", properties={"pet": {"type": "object", "properties": {}}}),
            ("argument-removed", "pet.name"),
        ),
        (
            body(type="object", properties={"pet": {"type": "object", "properties": {"name": STRING}}}),
            body(
                type="object",
                properties={"pet": {"type": "object", "properties": {"name": STRING}, "additionalProperties": False}},
            ),
            ("argument-limit-narrowed", "pet"),
        ),
        (answer(type="object", properties={"a": STRING}), operation(), ("result-undescribed", "")),
        (operation(), answer(type="object", properties={"a": STRING}), ("result-described", "")),
        (
            answer(type="object", properties={"a": STRING, "b": STRING}),
            answer(type="object", properties={"a": STRING}),
            ("result-field-removed", "b"),
        ),
        (
            answer(type="object", properties={"a": STRING}),
            answer(type="object", properties={"a": STRING, "b": STRING}),
            ("result-field-added", "b"),
        ),
        (
            answer(type="object", properties={"a": STRING}),
            answer(type="object", properties={"a": {"type": "integer"}}),
            ("result-type-changed", "a"),
        ),
        (operation(), operation(deprecated=True), ("tool-deprecated", "")),
        (operation(deprecated=True), operation(), ("tool-restored", "")),
        (operation(description="A."), operation(description="B."), ("description-changed", "")),
        (operation(**{"x-mcp": {"name": "a"}}), operation(**{"x-mcp": {"name": "b"}}), ("tool-renamed", "")),
        (operation(), operation(**{"x-mcp": {"annotations": {"readOnlyHint": True}}}), ("hints-changed", "")),
        (operation(), operation(servers=[{"url": "https://b.example"}]), ("base-url-changed", "")),
    ],
)
def test_each_kind_of_change_is_found(old: Json, new: Json, expected: tuple[str, str]) -> None:
    found = changed(old, new)
    assert expected in found
    assert {kind for kind, _ in found} <= {expected[0], "tool-deprecated", "description-changed", "hints-changed"}
    assert changed(old, old) == changed(new, new) == []


SCHEMES = {
    "securitySchemes": {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}}},
    }
}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ([], [{"key": []}], "credential-required"),
        ([{"key": []}], [], "credential-optional"),
        ([{"key": []}], [{"key": []}, {"oauth": []}], "credential-optional"),
        ([{"key": []}], [{"oauth": []}], "credential-required"),
        ([{"oauth": ["a"]}], [{"oauth": ["a", "b"]}], "scopes-required"),
        ([{"oauth": ["a", "b"]}], [{"oauth": ["a"]}], "scopes-optional"),
    ],
)
def test_credentials(old: Any, new: Any, kind: str) -> None:
    assert kind in [found for found, _ in changed(operation(security=old), operation(security=new), components=SCHEMES)]


def test_tools_that_come_and_go() -> None:
    old = tools({"/a": {"get": {"operationId": "a"}}, "/b": {"get": {"operationId": "b"}}})
    new = tools({"/a": {"get": {"operationId": "a"}}, "/c": {"get": {"operationId": "c"}}})
    comparison = compare(old, new)
    assert [(change.kind, change.tool) for change in comparison.changes] == [("tool-removed", "b"), ("tool-added", "c")]
    assert comparison.breaking == 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"/a": {"get": {"operationId": "x"}}}, {"/a": {"get": {"operationId": "y"}}}, ["tool-renamed"]),
        ({"/v1/a": {"get": {"operationId": "x"}}}, {"/v2/a": {"get": {"operationId": "x"}}}, ["request-changed"]),
        ({"/a/{id}": {"get": {"operationId": "x"}}}, {"/a/{key}": {"get": {"operationId": "x"}}}, ["argument-renamed"]),
        ({"/a": {"get": {}}}, {"/a": {"get": {"operationId": "x"}}}, ["tool-renamed"]),
    ],
)
def test_a_tool_is_known_by_its_request_else_by_its_operation_id(old: Json, new: Json, expected: list[str]) -> None:
    found = [kind for kind, _ in kinds(compare(tools(old), tools(new)))]
    assert [kind for kind in found if kind not in ("title-changed", "description-changed")] == expected


def test_definitions_are_compared_once_and_may_refer_to_themselves() -> None:
    def api(kind: str) -> tuple[Tool, ...]:
        node = {"type": "object", "properties": {"value": {"type": kind}, "next": ref("Node"), "other": ref("Node")}}
        paths = {f"/{index}": {"post": body(type="object", properties={"node": ref("Node")})} for index in range(20)}
        return tools(paths, components={"schemas": {"Node": node}})

    found = kinds(compare(api("string"), api("integer")))
    assert found.count(("argument-type-changed", "node.value")) == 20
    assert compare(api("string"), api("string")).changes == ()


def doubled(levels: int, leaf: str) -> dict[str, Json]:
    """Return schemas of which each refers to the next one twice: a value of the first has 2**levels leaves."""
    twice = {f"S{n}": {"a": ref(f"S{n + 1}"), "b": ref(f"S{n + 1}")} for n in range(levels)}
    schemas: dict[str, Json] = {
        name: {"type": "object", "properties": properties} for name, properties in twice.items()
    }
    return schemas | {f"S{levels}": {"type": leaf}}


@pytest.mark.parametrize("levels", [10, 60])
def test_hostile_documents_are_bounded(levels: int) -> None:
    paths = {"/": {"post": body(type="object", properties={"s": ref("S0")})}}
    apis = [tools(paths, components={"schemas": doubled(levels, leaf)}) for leaf in ("string", "integer")]
    assert len(compare(*apis).changes) <= 20_000


def test_changes_beyond_the_limit_are_mentioned() -> None:
    (tool,) = tools({"/x": {"get": {}}})
    comparison = compare([replace(tool, name=str(index), path=f"/{index}") for index in range(20_001)], ())
    assert len(comparison.changes) == 20_000
    assert comparison.omitted


def test_every_kind_has_a_sentence_with_its_values() -> None:
    for kind, rule in RULES.items():
        change = ToolChange(kind=kind, tool="it", operation="GET /", before="old {after}", after="new")
        assert change.is_breaking == rule.breaking
        assert "{before}" not in change.sentence


@pytest.mark.slow
def test_unions_of_unions_are_bounded() -> None:
    unions = {f"U{n}": {"anyOf": [ref(f"U{n + 1}_{k}") for k in range(60)]} for n in range(1)}
    inner = {f"U1_{k}": {"anyOf": [ref(f"V{j}") for j in range(60)]} for k in range(60)}
    leaves = {f"V{j}": {"type": "object", "properties": {f"p{j}": STRING}} for j in range(60)}
    schemas = {"schemas": {**unions, **inner, **leaves}}
    paths = {f"/{index}": {"post": body(type="object", properties={"u": ref("U0")})} for index in range(20)}
    assert compare(tools(paths, components=schemas), tools(paths, components=schemas)).changes == ()


def test_a_tool_that_is_deprecated_has_one_change() -> None:
    before, after = operation(description="Reads it."), operation(description="Reads it.", deprecated=True)
    assert [kind for kind, _ in changed(before, after)] == ["tool-deprecated"]
    assert [kind for kind, _ in changed(after, before)] == ["tool-restored"]
