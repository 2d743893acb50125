"""XML from schema and value, by the compile side and the runtime, where the specification has no example."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from openapi_mcp.document.model import Document
from openapi_mcp.document.resolver import Resolver
from openapi_mcp.errors import Problem
from openapi_mcp.runtime.request import xml
from openapi_mcp.runtime.tool import XmlDocument
from openapi_mcp.tools.xml import xml_document


def described(
    version: str, schema: Any, components: Mapping[str, Any] | None = None, name: str | None = None
) -> tuple[XmlDocument | None, list[Problem]]:
    """Return the XML document of a schema, and its Problems."""
    root = {"components": {"schemas": components or {}}, "x": {"schema": schema}}
    problems: list[Problem] = []
    resolver = Resolver(Document(root=root, uri="stdin:", version=version))
    return xml_document(schema, "#/x/schema", resolver, problems.append, name=name), problems


def xml_text(version: str, schema: Any, value: Any, components: Mapping[str, Any] | None = None) -> str:
    root, problems = described(version, schema, components)
    assert not problems
    assert root is not None
    return xml.document(value, root)


def compact(xml: str) -> str:
    """Return XML without the white space between tags."""
    return re.sub(r">\s+<", "><", xml.strip())


NODE = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "xml": {"attribute": True}},
        "child": {"$ref": "#/components/schemas/Node"},
        "more": {"type": "array", "xml": {"wrapped": True}, "items": {"$ref": "#/components/schemas/Node"}},
    },
}
TREE = {"id": 1, "child": {"id": 2}, "more": [{"id": 3}, {"id": 4}]}


@pytest.mark.parametrize(
    ("version", "xml"),
    [
        ("3.0", '<Node id="1"><child id="2"></child><more><more id="3"></more><more id="4"></more></more></Node>'),
        ("3.1", '<Node id="1"><child id="2"></child><more><more id="3"></more><more id="4"></more></more></Node>'),
        ("3.2", '<Node id="1"><Node id="2"></Node><more><Node id="3"></Node><Node id="4"></Node></more></Node>'),
    ],
)
def test_recursive_schema_is_named_by_its_version(version: str, xml: str) -> None:
    assert xml_text(version, {"$ref": "#/components/schemas/Node"}, TREE, {"Node": NODE}) == xml


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_reference_has_the_name_of_its_target(version: str) -> None:
    components = {
        "Pet": {
            "xml": {"name": "pet"},
            "properties": {
                "category": {"$ref": "#/components/schemas/Category"},
                "tags": {"type": "array", "xml": {"wrapped": True}, "items": {"$ref": "#/components/schemas/Tag"}},
                "owner": {"allOf": [{"$ref": "#/components/schemas/User"}], "description": "wrapped only to say this"},
            },
        },
        "Category": {"type": "object", "xml": {"name": "kind"}},
        "Tag": {"type": "object", "xml": {"name": "tag"}},
        "User": {"type": "object", "xml": {"name": "user"}},
    }
    value = {"category": {"id": 1}, "tags": [{"id": 2}, {"id": 3}], "owner": {"id": 4}}
    assert xml_text(version, {"$ref": "#/components/schemas/Pet"}, value, components) == compact(
        """
        <pet>
          <kind><id>1</id></kind>
          <tags><tag><id>2</id></tag><tag><id>3</id></tag></tags>
          <user><id>4</id></user>
        </pet>
        """
    )


@pytest.mark.parametrize(("version", "name"), [("3.0", "a"), ("3.1", "b"), ("3.2", "A")])
def test_siblings_of_a_reference_count_by_version(version: str, name: str) -> None:
    components = {
        "A": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A", "xml": {"name": "b"}}}}
    }
    value: dict[str, Any] = {"a": {"a": {}}}
    xml = f"<A><{name}><{name}></{name}></{name}></A>"
    assert xml_text(version, {"$ref": "#/components/schemas/A"}, value, components) == xml


def test_all_of_is_one_node() -> None:
    components = {
        "Pet": {"xml": {"name": "pet"}, "properties": {"id": {"xml": {"attribute": True}}, "name": {}}},
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"lives": {"type": "integer"}}}]},
    }
    xml = '<Cat id="7"><name>Tom</name><lives>9</lives></Cat>'
    assert (
        xml_text("3.1", {"$ref": "#/components/schemas/Cat"}, {"lives": 9, "name": "Tom", "id": 7}, components) == xml
    )


PETS_OF_TWO_KINDS = {
    "Cat": {"properties": {"kind": {"type": "string", "xml": {"attribute": True}}, "lives": {"type": "integer"}}},
    "Dog": {"properties": {"kind": {"type": "string"}, "barks": {"type": "boolean", "xml": {"name": "loud"}}}},
}
EITHER = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]


@pytest.mark.parametrize(
    ("union", "value", "xml"),
    [
        ({"oneOf": EITHER}, {"lives": 9}, "<Cat><lives>9</lives></Cat>"),
        ({"anyOf": EITHER}, {"barks": True}, "<Dog><loud>true</loud></Dog>"),
        (
            {"oneOf": EITHER, "discriminator": {"propertyName": "kind"}},
            {"kind": "Dog", "lives": 9},
            "<Dog><kind>Dog</kind><lives>9</lives></Dog>",
        ),
        (
            {
                "oneOf": EITHER,
                "discriminator": {"propertyName": "kind", "mapping": {"feline": "#/components/schemas/Cat"}},
            },
            {"kind": "feline"},
            '<Cat kind="feline"></Cat>',
        ),
        (
            {"oneOf": EITHER, "xml": {"name": "pet"}},
            {"kind": "cat", "lives": 9},
            '<pet kind="cat"><lives>9</lives></pet>',
        ),
        (
            {"xml": {"name": "p"}, "properties": {"pet": {"oneOf": [*EITHER, {"type": "null"}]}}},
            {"pet": {"barks": False}},
            "<p><pet><loud>false</loud></pet></p>",
        ),
        (
            {
                "xml": {"name": "p"},
                "properties": {"x": {"oneOf": [{"type": "string"}, {"type": "array", "items": {}}]}},
            },
            {"x": [1, 2]},
            "<p><x>1</x><x>2</x></p>",
        ),
    ],
)
def test_alternative_that_matches_the_value_is_used(union: Any, value: Any, xml: str) -> None:
    assert xml_text("3.1", union, value, PETS_OF_TWO_KINDS) == xml


def test_constant_property_selects_the_alternative() -> None:
    union = {
        "xml": {"name": "shape"},
        "oneOf": [
            {"properties": {"type": {"const": "circle"}, "size": {"xml": {"name": "radius"}}}},
            {"properties": {"type": {"enum": ["square"]}, "size": {"xml": {"name": "side"}}}},
        ],
    }
    assert "<side>2</side>" in xml_text("3.1", union, {"type": "square", "size": 2})
    assert "<radius>2</radius>" in xml_text("3.1", union, {"type": "circle", "size": 2})


@pytest.mark.parametrize(
    ("schema", "value", "xml"),
    [
        ({"$ref": "#/components/schemas/Pets"}, [{"id": 1}, {"id": 2}], "<Pets><Pet id='1'/><Pet id='2'/></Pets>"),
        ({"type": "array", "xml": {"name": "all"}, "items": {"type": "string"}}, ["a"], "<all><all>a</all></all>"),
    ],
)
def test_array_body_has_a_root_element(schema: Any, value: Any, xml: str) -> None:
    components = {
        "Pets": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
        "Pet": {"properties": {"id": {"xml": {"attribute": True}}}},
    }
    expected = re.sub(r"<(\w+) id='(\d)'/>", r'<\1 id="\2"></\1>', xml)
    assert xml_text("3.0", schema, value, components) == expected


def test_map_entries_are_elements_named_by_key() -> None:
    schema = {
        "xml": {"name": "m"},
        "additionalProperties": {"type": "array", "xml": {"wrapped": True}, "items": {"xml": {"name": "i"}}},
    }
    assert xml_text("3.1", schema, {"x": [1, 2], "y": []}) == "<m><x><i>1</i><i>2</i></x><y></y></m>"


def test_properties_have_the_order_of_the_document() -> None:
    schema = {"xml": {"name": "r"}, "properties": {"b": {}, "a": {}}}
    assert xml_text("3.1", schema, {"z": 1, "a": 2, "b": 3}) == "<r><b>3</b><a>2</a><z>1</z></r>"


def test_unnamed_body_with_one_property_is_that_element() -> None:
    schema = {"type": "object", "properties": {"Config": {"type": "object", "xml": {"namespace": "http://s3/"}}}}
    assert xml_text("3.0", schema, {"Config": {"Place": "x"}}) == '<Config xmlns="http://s3/"><Place>x</Place></Config>'


def test_unnamed_body_is_called_root_and_reported() -> None:
    root, problems = described("3.0", {"type": "object", "properties": {"a": {}, "b": {}}})
    assert root is not None
    assert xml.document({"a": 1}, root) == "<root><a>1</a></root>"
    assert [(problem.pointer, problem.kind) for problem in problems] == [("#/x/schema", "body")]


def test_part_is_named_by_its_property() -> None:
    root, problems = described("3.1", {"type": "object"}, name="history")
    assert root is not None
    assert xml.document({"a": 1}, root) == "<history><a>1</a></history>"
    assert problems == []


@pytest.mark.parametrize(
    "schema", [True, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"$ref": "#/nowhere"}, None, "nonsense"]
)
def test_text_is_not_described(schema: Any) -> None:
    assert described("3.1", schema) == (None, [])


def test_named_text_is_an_element() -> None:
    assert xml_text("3.1", {"type": "string", "xml": {"name": "note"}}, "a < b") == "<note>a &lt; b</note>"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/nowhere"}, "b": True, "c": {"xml": "name"}}, "xml": {"name": "r"}},
        {"properties": {"a": {"xml": {"name": 5, "nodeType": "comment"}}, "b": None, "c": {}}, "xml": {"name": "r"}},
        {"properties": {"a": {"allOf": {}}, "b": {"oneOf": 5}, "c": {"items": True}}, "xml": {"name": "r"}},
    ],
)
def test_invalid_xml_fields_are_ignored(schema: Any) -> None:
    assert xml_text("3.1", schema, {"a": 1, "b": [2, 3], "c": "x"}) == "<r><a>1</a><b>2</b><b>3</b><c>x</c></r>"


def test_definitions_have_unique_names() -> None:
    root = {
        "components": {"schemas": {"A": {"properties": {"x": {"$ref": "#/other/A"}}}}},
        "other": {"A": {"properties": {"y": {"xml": {"attribute": True}}}}},
    }
    resolver = Resolver(Document(root=root, uri="stdin:", version="3.1"))
    description = xml_document({"$ref": "#/components/schemas/A"}, "#/x", resolver, lambda _: None)
    assert description is not None
    assert sorted(description.definitions) == ["A", "A_2"]
    assert xml.document({"x": {"y": 1}}, description) == '<A><x y="1"></x></A>'
