"""Python types for schemas: exact types, `Any`, and declarations."""

from typing import Any

import pytest

from openapi_mcp.generator.literals import Source
from openapi_mcp.generator.python_types import NAME, Types, annotation_names, camel, default, typing_names

DEFINITIONS: dict[str, Any] = {
    "Status": {"type": "string", "enum": ["open", "shut"]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]},
    "Odd": {"type": "object", "properties": {"in": {"type": "integer"}, "str": {"type": "string"}}},
    "Loop": {"$ref": "#/$defs/Loop"},
    "Ids": {"type": "array", "items": {"type": "integer"}},
    "Tag": {"type": "object", "properties": {"id": {"type": "integer"}}},
    "Category": {"type": "object", "properties": {"id": {"type": "integer"}}},
    "Level": {"oneOf": [{"const": 1, "title": "low"}, {"const": 2}]},
}


def declared(types: Types) -> list[Source]:
    return list(types.declarations.values())


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
        ({"type": "integer", "enum": [1, 2]}, "Literal[1, 2]"),
        ({"oneOf": [{"const": 1, "title": "one"}, {"const": 2}, {"type": "null"}]}, "Literal[1, 2] | None"),
        ({"anyOf": [{"enum": ["a"]}, {"type": "integer"}, {"const": "b"}]}, 'int | Literal["a", "b"]'),
        ({"$ref": "#/$defs/Level"}, "Level"),
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
        ({"type": "object", "properties": {f"p{n}": {} for n in range(70)}}, "dict[str, Any]"),
        ({"enum": [f"value {n}" for n in range(50)]}, "str"),
    ],
)
def test_type_of_schema(schema: Any, annotation: str) -> None:
    assert Types(DEFINITIONS).of(schema, "Name") == annotation


def test_objects_become_typed_dicts() -> None:
    types = Types({})
    annotation = types.of(
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["b"]}, "GetPetBody"
    )
    assert annotation == "GetPetBody"
    assert declared(types) == ["class GetPetBody(TypedDict):\n    a: NotRequired[str]\n    b: Any"]
    assert typing_names(declared(types)) == {"Any", "NotRequired", "TypedDict"}


def test_recursive_type_is_quoted() -> None:
    types = Types(DEFINITIONS)
    types.of({"$ref": "#/$defs/Node"}, "Name")
    assert declared(types) == ['class Node(TypedDict):\n    next: "Node"']


def test_members_that_are_not_identifiers_or_hide_types_are_strings() -> None:
    types = Types(DEFINITIONS)
    types.of({"$ref": "#/$defs/Odd"}, "Name")
    assert declared(types) == ['Odd = TypedDict("Odd", {"in": NotRequired[int], "str": NotRequired[str]})']
    hiding = Types({})
    hiding.of({"type": "object", "properties": {"str": {"type": "string"}}}, "Hiding")
    assert declared(hiding)[0].endswith("# noqa: UP013 - a member has the name of a type")


def test_equal_objects_share_a_class_and_class_names_are_unique() -> None:
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
def test_scalar_defaults_are_written(schema: Any, annotation: str, source: str | None) -> None:
    assert default(schema, annotation, DEFINITIONS) == source


@pytest.mark.parametrize(
    ("name", "made"), [("new_pet", "NewPet"), ("2fa", "N2Fa"), ("日本", "Value"), ("a.b-c", "ABC")]
)
def test_class_names_are_camel_case(name: str, made: str) -> None:
    assert camel(name) == made


def test_definitions_and_named_objects_keep_their_names_whatever_their_shape() -> None:
    types = Types(DEFINITIONS)
    tag: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert [types.of({"$ref": f"#/$defs/{name}"}, "X") for name in ("Tag", "Category")] == ["Tag", "Category"]
    assert [types.of(tag | {NAME: name}, "X") for name in ("Tag", "Category", "Owner")] == ["Tag", "Category", "Owner"]
    other = {"type": "object", "properties": {"id": {"type": "string"}}, NAME: "Tag"}
    assert types.of(other, "X") == "TagOutput"
    assert types.of(tag, "Anonymous") == types.of(tag, "Again") == "Anonymous"


def test_union_wider_than_a_line_gets_an_alias() -> None:
    names = [f"LongNameOfAnAlternative{word}" for word in ("One", "Two", "Three", "Four", "Five", "Six")]
    objects = {name: {"type": "object", "properties": {name: {}}} for name in names}
    types = Types(objects)
    union = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    assert types.of(union | {"type": "object"}, "PetBody") == "PetBody"
    assert types.declarations["PetBody"] == "PetBody: TypeAlias = (\n    " + "\n    | ".join(names) + "\n)"
    assert types.of({"type": "array", "items": union}, "Pets") == "list[PetBody]"


def test_union_that_names_its_own_class_becomes_less_exact() -> None:
    names = [f"NodeWithAVeryLongNameNumber{number}" for number in ("One", "Two", "Three")]
    choice = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    types = Types({name: {"type": "object", "properties": {"next": choice}} for name in names})
    types.of({"$ref": f"#/$defs/{names[0]}"}, "X")
    assert any("next: NotRequired[dict[str, Any]]" in source for source in declared(types))
    exec("from typing import *\n" + "\n".join(declared(types)), {})  # noqa: S102 - each name is declared before its use


def test_declarations_that_no_signature_reaches_are_left_out() -> None:
    types = Types(DEFINITIONS)
    for name in ("Odd", "Tag", "Node", "Status"):
        types.of({"$ref": f"#/$defs/{name}"}, "X")
    types.of({"type": "object", "properties": {"tag": {"$ref": "#/$defs/Tag"}}}, "Holder")
    signature = 'async def it(api: Api, *, holder: Holder, kind: Literal["Odd"] = "Status") -> "Node": ...'
    kept = [source.split("(")[0] for source in types.reachable([signature])]
    assert kept == ["class Tag", "class Node", "class Holder"]


def test_names_of_annotations_are_found_in_quotes_and_calls_but_not_in_values() -> None:
    assert annotation_names('A = TypedDict("A", {"b": "NotRequired[C]"})') == {"A", "TypedDict", "NotRequired", "C"}
    assert annotation_names('A: TypeAlias = Literal["B"] | C') == {"A", "TypeAlias", "Literal", "C"}
    assert annotation_names("async def f(a: B = C, *, d: E = F) -> G: ...") == {"B", "E", "G"}


def test_object_within_one_of_the_same_name_is_of_its_class() -> None:
    inner = {"type": "object", "properties": {"next": {}}, NAME: "Book"}
    book = {"type": "object", "properties": {"next": {"type": "array", "items": inner}}, NAME: "Book"}
    types = Types({})
    assert types.of(book, "X") == "Book"
    assert declared(types) == ['class Book(TypedDict):\n    next: "NotRequired[list[Book]]"']
    types = Types({"Book": {"type": "object", "properties": {"next": {"type": "string"}}}})
    assert types.of(book, "X") == "BookOutput"
    assert declared(types)[1] == 'class BookOutput(TypedDict):\n    next: "NotRequired[list[BookOutput]]"'
