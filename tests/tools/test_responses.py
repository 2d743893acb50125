"""The output schema is that of the first JSON response of success; Accept has the documented media types."""

from typing import Any

import pytest

from tests.compiling import STRING, compiled_operation, kinds, tool_of

OBJECT = {"type": "object", "properties": {"a": STRING}}


def answer(*types: str, schema: Any = OBJECT) -> dict[str, Any]:
    return {"description": "d", "content": {name: {"schema": schema} for name in types}}


JSON = answer("application/json")
OTHER = answer("application/json", schema={"type": "object"})


@pytest.mark.parametrize(
    ("responses", "output"),
    [
        ({"200": JSON}, OBJECT),
        ({"201": JSON, "200": OTHER}, OBJECT),
        ({"2XX": JSON}, OBJECT),
        ({"204": {"description": "d"}, "200": JSON}, OBJECT),
        ({"200": answer("text/html"), "202": JSON}, OBJECT),
        ({"200": answer("text/csv", "application/vnd.pet+json")}, OBJECT),
        ({"200": answer("*/*")}, OBJECT),
        ({"200": {"$ref": "#/components/responses/Shared"}}, OBJECT),
        ({"200": {"content": {"application/json": {"$ref": "#/components/mediaTypes/Shared"}}}}, OBJECT),
        ({"default": JSON, "404": JSON}, None),
        ({"200": answer("text/event-stream")}, None),
        ({"200": {"content": {"application/json": {}}}}, None),
        ({"200": {"content": {"application/json": None}}}, None),
        ({"200": {"content": []}}, None),
        ({"200": None}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_output_schema_is_of_the_first_json_success(responses: Any, output: Any) -> None:
    shared = {"responses": {"Shared": JSON}, "mediaTypes": {"Shared": {"schema": OBJECT}}}
    assert tool_of({"responses": responses}, version="3.2", components=shared).output_schema == output


def test_broken_response_costs_only_itself() -> None:
    result = compiled_operation({"responses": {"200": {"$ref": "#/gone"}, "201": JSON}})
    assert result.tools[0].output_schema == OBJECT
    assert kinds(result) == [("reference", None)]


@pytest.mark.parametrize(
    ("responses", "accept"),
    [
        ({"200": JSON}, "application/json, */*;q=0.5"),
        ({"200": answer("text/csv", "application/json")}, "application/json, text/csv;q=0.8, */*;q=0.5"),
        ({"200": answer("image/png"), "404": JSON}, "image/png, */*;q=0.5"),
        ({"204": {}}, "application/json, */*;q=0.5"),
        ({"200": answer("*/*", "image/*")}, "application/json, */*;q=0.5"),
        ({"200": answer("text/plain\r\nX-Injected: 1", "ö/ä", "nonsense")}, "application/json, */*;q=0.5"),
        (
            {"200": answer(*(f"text/{n}" for n in range(9)))},
            "text/0, text/1;q=0.8, text/2;q=0.8, text/3;q=0.8, text/4;q=0.8, text/5;q=0.8, */*;q=0.5",
        ),
    ],
)
def test_accept_header_has_the_documented_media_types(responses: Any, accept: str) -> None:
    assert tool_of({"responses": responses}).accept == accept
