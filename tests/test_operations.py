"""Every operation of every path is found, wherever it stands, and what is none becomes a Problem."""

from typing import Any

import pytest

from openapi_mcp.operations import operations
from openapi_mcp.resolver import Resolver
from tests.compiling import document

OK: dict[str, Any] = {"responses": {"204": {"description": "ok"}}}


def found(paths: Any, **root: Any) -> tuple[list[str], list[tuple[str, str | None]]]:
    """The labels of the operations, and for each Problem its pointer and the operation that it cost."""
    whole = document(paths, **root)
    listed, problems = operations(whole, Resolver(whole))
    return [each.label for each in listed], [(problem.pointer, problem.operation) for problem in problems]


def test_every_method_is_an_operation_in_the_documents_order() -> None:
    methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]
    listed, problems = found({"/b": dict.fromkeys(methods, OK), "/a": {"get": OK}})
    assert listed == [*(f"{method.upper()} /b" for method in methods), "GET /a"]
    assert problems == []


def test_additional_operations_are_sent_as_they_are_written() -> None:
    listed, problems = found({"/a": {"get": OK, "additionalOperations": {"COPY": OK, "notify": OK, "no method": OK}}})
    assert listed == ["GET /a", "COPY /a", "notify /a"]
    assert problems == [("#/paths/~1a/additionalOperations/no method", "no method /a")]


def test_webhooks_and_callbacks_are_no_operations() -> None:
    item = {"post": {**OK, "callbacks": {"done": {"{$url}": {"post": OK}}}}}
    assert found({"/a": item}, webhooks={"event": {"post": OK}}) == (["POST /a"], [])


def test_extensions_and_descriptions_are_no_operations() -> None:
    item = {
        "x-internal": {"get": OK},
        "x-get": True,
        "summary": "s",
        "description": "d",
        "parameters": [],
        "servers": [],
    }
    assert found({"/a": item, "x-paths": {"get": OK}, "/b": None, "/c": {}}) == ([], [])


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
def test_what_is_written_wrongly_is_reported(paths: Any, listed: Any, problems: Any) -> None:
    assert found(paths) == (listed, problems)


def test_a_document_without_paths_may_have_other_things() -> None:
    whole = document({}, version="3.1", webhooks={})
    del whole.root["paths"]
    assert operations(whole, Resolver(whole)) == ([], [])
    del whole.root["webhooks"]
    assert operations(whole, Resolver(whole))[1][0].pointer == "#/paths"


def test_a_path_item_by_reference_has_its_own_fields_too() -> None:
    shared = {"get": {"operationId": "theirs"}, "put": {"operationId": "shared"}, "parameters": ["theirs"]}
    item = {"$ref": "#/components/pathItems/Shared", "get": {"operationId": "mine"}}
    whole = document({"/a": item}, components={"pathItems": {"Shared": shared}})
    listed, problems = operations(whole, Resolver(whole))
    assert {each.method: each.operation_id for each in listed} == {"GET": "mine", "PUT": "shared"}
    assert [each.parameters for each in listed] == [((["theirs"], "#/components/pathItems/Shared/parameters"),)] * 2
    assert problems == []


def test_a_broken_path_item_costs_what_it_refers_to() -> None:
    assert found({"/a": {"$ref": "#/gone", "get": OK}, "/b": {"get": OK}}) == (
        ["GET /a", "GET /b"],
        [("#/paths/~1a", "/a")],
    )


def test_an_operation_by_reference() -> None:
    paths = {"/a": {"get": {"$ref": "#/paths/~1b/get"}, "put": {"$ref": "#/gone"}}, "/b": {"get": {"operationId": "b"}}}
    whole = document(paths)
    listed, problems = operations(whole, Resolver(whole))
    assert [(each.label, each.operation_id, each.pointer) for each in listed] == [
        ("GET /a", "b", "#/paths/~1b/get"),
        ("GET /b", "b", "#/paths/~1b/get"),
    ]
    assert [problem.operation for problem in problems] == ["PUT /a"]


def test_what_an_operation_says_of_itself_is_read_with_care() -> None:
    values: dict[str, Any] = {"operationId": 123, "tags": ["a", 5, None], "deprecated": "yes"}
    whole = document({"/a": {"get": values, "put": {"operationId": "", "tags": None, "deprecated": True}}})
    one, other = operations(whole, Resolver(whole))[0]
    assert (one.operation_id, one.tags, one.deprecated) == ("123", ("a",), False)
    assert (other.operation_id, other.tags, other.deprecated) == (None, (), True)
