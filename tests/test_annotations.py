"""Schemas as Python types: what is precise, what stays open, and how it is declared."""

from typing import Any

import pytest

from openapi_mcp.annotations import Types, camel, default, likeness

DEFINITIONS: dict[str, Any] = {
    "Status": {"type": "string", "enum": ["open", "shut"]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]},
    "Odd": {"type": "object", "properties": {"in": {"type": "integer"}, "str": {"type": "string"}}},
    "Loop": {"$ref": "#/$defs/Loop"},
    "Ids": {"type": "array", "items": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("schema", "annotation"),
    [
        ({"type": "string"}, "str"),
        ({"type": ["integer", "null"]}, "int | None"),
        ({"type": ["null", "number", "string"]}, "float | str | None"),
        ({"type": "array", "items": {"type": "boolean"}}, "list[bool]"),
        ({"type": "array"}, "list[Any]"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"enum": ["a", 1, None]}, 'Literal["a", 1] | None'),
        ({"const": True}, "Literal[True]"),
        ({"enum": [1.5, 2.5]}, "float"),
        ({"enum": [{"a": 1}]}, "Any"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "str | int"),
        ({"anyOf": [{"type": "string"}, {}]}, "Any"),
        ({"allOf": [{"$ref": "#/$defs/Ids"}]}, "list[int]"),
        ({"$ref": "#/$defs/Status"}, "Status"),
        ({"$ref": "#/$defs/Node"}, "Node"),
        ({"$ref": "#/$defs/Loop"}, "Any"),
        ({"$ref": "#/$defs/Missing"}, "Any"),
        ({}, "Any"),
        (True, "Any"),
        ({"type": "object", "properties": {f"p{n}": {} for n in range(40)}}, "dict[str, Any]"),
        ({"enum": [f"value {n}" for n in range(50)]}, "str"),
    ],
)
def test_a_schema_has_a_type(schema: Any, annotation: str) -> None:
    assert Types(DEFINITIONS).of(schema, "Name") == annotation


def test_objects_are_typed_dicts_of_their_own_name() -> None:
    types = Types({})
    said = types.of(
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["b"]}, "GetPetBody"
    )
    assert said == "GetPetBody"
    assert types.declared == ["class GetPetBody(TypedDict):\n    a: NotRequired[str]\n    b: Any"]
    assert types.used == {"Any", "NotRequired", "TypedDict"}


def test_a_type_that_holds_itself_is_quoted() -> None:
    types = Types(DEFINITIONS)
    types.of({"$ref": "#/$defs/Node"}, "Name")
    assert types.declared == ['class Node(TypedDict):\n    next: "Node"']


def test_members_that_are_no_identifiers_or_hide_a_type_are_strings() -> None:
    types = Types(DEFINITIONS)
    types.of({"$ref": "#/$defs/Odd"}, "Name")
    assert types.declared == ['Odd = TypedDict("Odd", {"in": NotRequired[int], "str": NotRequired[str]})']
    hiding = Types({})
    hiding.of({"type": "object", "properties": {"str": {"type": "string"}}}, "Hiding")
    assert hiding.declared[0].endswith("# noqa: UP013 - a member has the name of a type")


def test_equal_objects_are_one_class_and_no_two_classes_have_one_name() -> None:
    types = Types({}, taken={"Taken"})
    one = {"type": "object", "properties": {"a": {"type": "string"}}}
    other = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert [types.of(one, "Taken"), types.of(one, "Again"), types.of(other, "Taken2")] == [
        "Taken2",
        "Taken2",
        "Taken22",
    ]


@pytest.mark.parametrize(
    ("schema", "annotation", "source"),
    [
        ({"default": 20}, "int", "20"),
        ({"default": "a"}, "str", '"a"'),
        ({"default": 1}, "float", "1"),
        ({"default": True}, "int", None),
        ({"default": "20"}, "int", None),
        ({"default": None}, "str | None", None),
        ({"default": ["a"]}, "list[str]", None),
        ({"default": "open", "$ref": "#/$defs/Status"}, "Status", '"open"'),
        ({"default": "ajar", "$ref": "#/$defs/Status"}, "Status", None),
        ({"default": "x" * 100}, "str", None),
        ({}, "str", None),
    ],
)
def test_a_default_is_said_where_it_is_plain(schema: Any, annotation: str, source: str | None) -> None:
    assert default(schema, annotation, DEFINITIONS) == source


@pytest.mark.parametrize(
    ("name", "made"), [("new_pet", "NewPet"), ("2fa", "N2Fa"), ("日本", "Value"), ("a.b-c", "ABC")]
)
def test_classes_are_named_in_camel_case(name: str, made: str) -> None:
    assert camel(name) == made


def test_what_the_document_names_has_that_name_where_it_is_no_definition() -> None:
    pet: dict[str, Any] = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "state": {"enum": ["sold", "new"]}},
    }
    names = {likeness(pet): "pet", likeness(pet["properties"]["state"]): "PetState"}
    types = Types({}, names=names)
    assert types.of({"type": "array", "items": pet}, "CreatePetsBody") == "list[Pet]"
    assert "".join(types.declared).count("NotRequired[PetState]") == 1
    assert likeness({"type": "string"}) == likeness({"type": "object"}) == ""
