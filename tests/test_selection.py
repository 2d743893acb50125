"""Rules choose operations; a rule that is written wrongly is an error with its cure."""

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.operations import Operation
from openapi_mcp.selection import Rule, Selection


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
def test_a_rule_matches(rule: str, matching: list[Operation]) -> None:
    assert [each for each in ALL if Rule.parse(rule).matches(each)] == matching


@pytest.mark.parametrize(
    ("rule", "said"),
    [("tags:pets", "no kind of rule called tags"), ("tag:", "something to match"), ("", "something to match")],
)
def test_a_rule_that_cannot_be_meant_is_an_error_with_its_cure(rule: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        Selection.parse([rule])
    assert "tag:NAME" in caught.value.hint


def test_any_inclusion_admits_and_any_exclusion_does_not() -> None:
    chosen = Selection.parse(["tag:pets", "id:listShops"], ["method:delete"])
    assert [each for each in ALL if chosen.admits(each)] == [GET_PET, LIST]
    assert all(Selection().admits(each) for each in ALL)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "QUERY", "POST", "TRACE", "PATCH", "get"])
def test_read_only_admits_methods_that_change_nothing(method: str) -> None:
    assert Selection(read_only=True).admits(operation(method)) == (method in {"GET", "HEAD", "OPTIONS", "QUERY"})
