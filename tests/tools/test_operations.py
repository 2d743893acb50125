"""Operations of all paths are read, also by reference; each invalid one becomes a Problem."""

from typing import Any

import pytest

from openapi_mcp.document.resolver import Resolver
from openapi_mcp.tools.operations import operations
from tests.compiling import document

OK: dict[str, Any] = {"responses": {"204": {"description": "ok"}}}


def listed_and_problems(paths: Any, **root: Any) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Return the labels of the operations, and for each Problem its pointer and the operation that it cost."""
    api = document(paths, **root)
    listed, problems = operations(api, Resolver(api))
    return [each.label for each in listed], [(problem.pointer, problem.operation) for problem in problems]


def test_every_method_is_an_operation_in_the_documents_order() -> None:
    methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]
    listed, problems = listed_and_problems({"/b": dict.fromkeys(methods, OK), "/a": {"get": OK}})
    assert listed == [*(f"{method.upper()} /b" for method in methods), "GET /a"]
    assert problems == []


def test_additional_operations_keep_the_case_of_their_method() -> None:
    listed, problems = listed_and_problems(
        {"/a": {"get": OK, "additionalOperations": {"COPY": OK, "notify": OK, "no method": OK}}}
    )
    assert listed == ["GET /a", "COPY /a", "notify /a"]
    assert problems == [("#/paths/~1a/additionalOperations/no method", "no method /a")]


def test_webhooks_and_callbacks_are_no_operations() -> None:
    item = {"post": {**OK, "callbacks": {"done": {"{$url}": {"post": OK}}}}}
    assert listed_and_problems({"/a": item}, webhooks={"event": {"post": OK}}) == (["POST /a"], [])


def test_extensions_and_descriptions_are_no_operations() -> None:
    item = {
        "x-internal": {"get": OK},
        "x-get": True,
        "summary": "s",
        "description": "d",
        "parameters": [],
        "servers": [],
    }
    assert listed_and_problems({"/a": item, "x-paths": {"get": OK}, "/b": None, "/c": {}}) == ([], [])


@pytest.mark.parametrize(
    ("paths", "listed", "problems"),
    [
        ({"/a": {"get": None}}, [], [("#/paths/~1a/get", "GET /a")]),
        ({"/a": {"get": []}}, [], [("#/paths/~1a/get", "GET /a")]),
        ({"/a": {"GET": OK}}, ["GET /a"], [("#/paths/~1a/GET", None)]),
        ({"/a": {"get": OK, "GET": OK}}, ["GET /a"], [("#/paths/~1a/GET", None), ("#/paths/~1a/GET", "GET /a")]),
        ({"/a": {"got": OK}}, [], [("#/paths/~1a/got", None)]),
        ({"a": {"get": OK}}, ["GET a"], [("#/paths/a", None)]),
        ({"/a": []}, [], [("#/paths/~1a", "/a")]),
        ([], [], [("#/paths", None)]),
    ],
)
def test_invalid_operations_are_reported(paths: Any, listed: Any, problems: Any) -> None:
    assert listed_and_problems(paths) == (listed, problems)


def test_document_without_paths_may_have_webhooks_or_components() -> None:
    api = document({}, version="3.1", webhooks={})
    del api.root["paths"]
    assert operations(api, Resolver(api)) == ([], [])
    del api.root["webhooks"]
    assert operations(api, Resolver(api))[1][0].pointer == "#/paths"


def test_own_fields_of_a_path_item_extend_its_reference() -> None:
    shared = {"get": {"operationId": "theirs"}, "put": {"operationId": "shared"}, "parameters": ["theirs"]}
    item = {"$ref": "#/components/pathItems/Shared", "get": {"operationId": "mine"}}
    api = document({"/a": item}, components={"pathItems": {"Shared": shared}})
    listed, problems = operations(api, Resolver(api))
    assert {each.method: each.operation_id for each in listed} == {"GET": "mine", "PUT": "shared"}
    assert [each.parameters for each in listed] == [((["theirs"], "#/components/pathItems/Shared/parameters"),)] * 2
    assert problems == []


def test_broken_path_item_reference_costs_only_its_target() -> None:
    assert listed_and_problems({"/a": {"$ref": "#/gone", "get": OK}, "/b": {"get": OK}}) == (
        ["GET /a", "GET /b"],
        [("#/paths/~1a", "/a")],
    )


def test_operation_can_be_a_reference() -> None:
    paths = {"/a": {"get": {"$ref": "#/paths/~1b/get"}, "put": {"$ref": "#/gone"}}, "/b": {"get": {"operationId": "b"}}}
    api = document(paths)
    listed, problems = operations(api, Resolver(api))
    assert [(each.label, each.operation_id, each.pointer) for each in listed] == [
        ("GET /a", "b", "#/paths/~1b/get"),
        ("GET /b", "b", "#/paths/~1b/get"),
    ]
    assert [problem.operation for problem in problems] == ["PUT /a"]


def test_invalid_fields_of_an_operation_are_ignored() -> None:
    values: dict[str, Any] = {"operationId": 123, "tags": ["a", 5, None], "deprecated": "yes"}
    api = document({"/a": {"get": values, "put": {"operationId": "", "tags": None, "deprecated": True}}})
    one, other = operations(api, Resolver(api))[0]
    assert (one.operation_id, one.tags, one.deprecated) == ("123", ("a",), False)
    assert (other.operation_id, other.tags, other.deprecated) == (None, (), True)
