"""Rules select operations; a misspelt rule is an error with a hint."""

from typing import Any

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.selection import Rule, Selection, read_only_candidates
from openapi_mcp.tools.operations import Operation
from tests.compiling import json_body, tool_of


def operation(method: str = "GET", path: str = "/pets/{id}", **value: object) -> Operation:
    return Operation(method=method, path=path, pointer="#", value=dict(value))


GET_PET = operation(operationId="getPet", tags=["pets", "read me"])
DELETE_PET = operation("DELETE", operationId="deletePet", tags=["pets"])
LIST = operation(path="/shops", operationId="listShops")
NAMELESS = operation("POST", "/v1/pets:batch")
ALL = [GET_PET, DELETE_PET, LIST, NAMELESS]


@pytest.mark.parametrize(
    ("rule", "matching"),
    [
        ("tag:pets", [GET_PET, DELETE_PET]),
        ("tag:read me", [GET_PET]),
        ("path:/pets/*", [GET_PET, DELETE_PET]),
        ("path:/pets/{id}", [GET_PET, DELETE_PET]),
        ("path:*", ALL),
        ("method:get", [GET_PET, LIST]),
        ("METHOD:GET", [GET_PET, LIST]),
        ("id:listShops", [LIST]),
        ("id:*Pet", [GET_PET, DELETE_PET]),
        ("id:listshops", []),
        ("pets", [GET_PET, DELETE_PET]),
        ("/shops", [LIST]),
        ("list*", [LIST]),
        ("/v1/pets:batch", [NAMELESS]),
    ],
)
def test_rule_matches_operations(rule: str, matching: list[Operation]) -> None:
    assert [each for each in ALL if Rule.parse(rule).matches(each)] == matching


@pytest.mark.parametrize(
    ("rule", "message"),
    [("tags:pets", "unknown kind of rule: tags"), ("tag:", "the rule has no pattern"), ("", "the rule has no pattern")],
)
def test_misspelt_rule_is_an_error_with_a_hint(rule: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Selection.parse([rule])
    assert "tag:NAME" in caught.value.hint


def test_operation_needs_any_inclusion_and_no_exclusion() -> None:
    selection = Selection.parse(["tag:pets", "id:listShops"], ["method:delete"])
    assert [each for each in ALL if selection.admits(each)] == [GET_PET, LIST]
    assert all(Selection().admits(each) for each in ALL)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "QUERY", "POST", "TRACE", "PATCH", "get"])
def test_read_only_selects_methods_that_change_nothing(method: str) -> None:
    assert Selection(read_only=True).admits(operation(method)) == (method in {"GET", "HEAD", "OPTIONS", "QUERY"})


@pytest.mark.parametrize(
    ("method", "hint", "selected"),
    [
        *(("POST", True, True), ("POST", False, False), ("GET", False, False), ("GET", True, True)),
        *(("PROPFIND", True, True), ("PUT", True, False), ("PATCH", True, False), ("DELETE", True, False)),
    ],
)
def test_read_only_hint_of_the_document_decides_unless_the_method_changes(
    method: str, hint: bool, selected: bool
) -> None:
    assert Selection(read_only=True).admits(operation(method), read_only=hint) == selected


def _post(path: str, operation_id: str, **fields: Any) -> Tool:
    return tool_of({"operationId": operation_id, **fields}, path)


CANDIDATES = [
    *(("/pets/search", "petAction"), ("/pets/_search", "post_pets"), ("/pets:search", ""), ("/x", "listPets")),
    *(("/x", "pets.list"), ("/x", "Orders_GetByFilter"), ("/x", "userSearch"), ("/x", "batchGet"), ("/graphql", "run")),
    *(("/pets/count", "it"), ("/pets/query/{id}", "it"), ("/x", "find_pets_post"), ("/x/findByTags", "it")),
]
CHANGES = [
    *(("/searches", "it"), ("/pets", "createPet"), ("/search", "createSearch"), ("/x", "getOrCreatePet")),
    *(("/x", "saveQuery"), ("/x", "resetCount"), ("/getaways", "bookGetaway"), ("/playlist", "playlistShuffle")),
    *(("/x", "watchList"), ("/search/rebuild", "it")),
]


@pytest.mark.parametrize(("path", "operation_id"), CANDIDATES)
def test_post_that_reads_by_its_name_is_a_candidate(path: str, operation_id: str) -> None:
    tool = _post(path, operation_id, **json_body({"type": "object", "properties": {"name": {"type": "string"}}}))
    assert read_only_candidates([tool]) == [tool]


@pytest.mark.parametrize(("path", "operation_id"), CHANGES)
def test_post_that_changes_by_its_name_is_no_candidate(path: str, operation_id: str) -> None:
    assert read_only_candidates([_post(path, operation_id)]) == []


def test_marked_tools_and_uploads_and_other_methods_are_no_candidates() -> None:
    upload = {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}}
    assert read_only_candidates([_post("/x/search", "it", **upload)]) == []
    assert read_only_candidates([_post("/x/search", "it", **{"x-mcp": {"annotations": {"readOnlyHint": True}}})]) == []
    assert read_only_candidates([tool_of({}, "/x/search", "put"), tool_of({}, "/x/search", "get")]) == []
