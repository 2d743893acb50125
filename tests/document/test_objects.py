"""Test that the table of OpenAPI's objects is complete: every field holds an object of the table."""

from typing import Any

from openapi_mcp.document.objects import FIELDS, REFERENCEABLE, children


def test_every_field_holds_a_known_object() -> None:
    places = {place.strip("[]{}") for fields in FIELDS.values() for place in fields.values()}
    assert places - {"text"} <= FIELDS.keys()
    assert REFERENCEABLE.issubset(FIELDS)


def test_every_object_but_the_roots_is_in_a_field() -> None:
    places = {place.strip("[]{}") for fields in FIELDS.values() for place in fields.values()}
    assert set(FIELDS) - places == {"OpenAPI", "Swagger"}


def test_extensions_and_scalars_are_not_children() -> None:
    paths: dict[str, Any] = {"/a": {"get": {}}, "x-a": {"get": {}}, "/b": None, "/c": "text"}
    assert list(children("Paths", paths)) == [("/a", {"get": {}}, "PathItem")]


def test_keys_of_maps_may_look_like_extensions() -> None:
    schema = {"properties": {"x-a": {"type": "string"}, "$ref": {}, "default": {}}, "default": {"type": "object"}}
    assert [(key, kind) for key, _, kind in children("Schema", schema)] == [("properties", "{Schema}")]
    assert [key for key, _, _ in children("{Schema}", schema["properties"])] == ["x-a", "$ref", "default"]


def test_a_list_instead_of_a_schema_is_walked() -> None:
    assert [(key, kind) for key, _, kind in children("Schema", [{"type": "string"}, True, {}])] == [
        (0, "Schema"),
        (2, "Schema"),
    ]
