"""`elements`: values by descriptions made by hand; the specification's examples are in `tests/test_xml_nodes.py`."""

from typing import Any

import pytest

from openapi_mcp.runtime import elements
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.models import XmlDocument, XmlNode
from openapi_mcp.runtime.xmltext import XSI

ATTRIBUTE = XmlNode(node_type="attribute")
TEXT = XmlNode(node_type="text")
CDATA = XmlNode(node_type="cdata")


def node(**properties: XmlNode) -> XmlNode:
    return XmlNode(name="r", properties=properties)


def written(value: Any, root: XmlNode, **definitions: XmlNode) -> str:
    return elements.document(value, XmlDocument(root=root, definitions=definitions))


@pytest.mark.parametrize(
    ("value", "xml"),
    [
        ({}, "<r></r>"),
        ({"a": 1, "b": True, "c": 2.5, "d": "x"}, "<r><a>1</a><b>true</b><c>2.5</c><d>x</d></r>"),
        ({"a": [1, {"b": 2}, []]}, "<r><a>1</a><a><b>2</b></a></r>"),
        ({"a": {"b": {"c": ""}}}, "<r><a><b><c></c></b></a></r>"),
        ({"a": None}, f'<r><a xmlns:xsi="{XSI}" xsi:nil="true"/></r>'),
        ({"a": [1, None]}, f'<r><a>1</a><a xmlns:xsi="{XSI}" xsi:nil="true"/></r>'),
        ("x", "<r>x</r>"),
        (5, "<r>5</r>"),
        (None, f'<r xmlns:xsi="{XSI}" xsi:nil="true"/>'),
    ],
)
def test_what_is_not_described_is_an_element_of_its_own_name(value: Any, xml: str) -> None:
    assert written(value, XmlNode(name="r")) == xml


@pytest.mark.parametrize(
    ("value", "xml"),
    [
        ({"a": 1}, '<r a="1"></r>'),
        ({"a": "x y"}, '<r a="x y"></r>'),
        ({"a": [1, None, "b"]}, '<r a="1 b"></r>'),
        ({"a": {"b": 1}}, '<r a="{&quot;b&quot;:1}"></r>'),
        ({"a": None}, "<r></r>"),
        ({"b": 1, "a": 2, "t": "text"}, '<r a="2">text<b>1</b></r>'),
        ({"c": "<b>"}, "<r><![CDATA[<b>]]></r>"),
        ({"c": None, "t": None}, "<r><![CDATA[]]></r>"),
        ({"t": ["a", 1]}, "<r>a 1</r>"),
    ],
)
def test_attributes_and_text_stand_in_the_element_around_them(value: Any, xml: str) -> None:
    assert written(value, node(a=ATTRIBUTE, t=TEXT, c=CDATA)) == xml


def test_what_is_no_node_gives_its_nodes_to_the_element_around_it() -> None:
    inner = XmlNode(node_type="none", properties={"id": ATTRIBUTE})
    assert written({"x": {"id": 1, "name": "n"}}, node(x=inner)) == '<r id="1"><name>n</name></r>'


def test_a_single_value_where_an_array_is_described_is_one_item() -> None:
    assert written({"x": 1}, node(x=XmlNode(node_type="none", items=XmlNode(name="i")))) == "<r><i>1</i></r>"


def test_a_reference_to_nothing_is_what_is_not_described() -> None:
    assert written({"x": 1}, node(x=XmlNode(node_type="none", ref="gone"))) == "<r><x>1</x></r>"


def test_references_that_go_round_in_a_circle_end() -> None:
    looped = XmlNode(node_type="none", alternatives=(XmlNode(node_type="none", ref="B"),))
    made = XmlNode(name="r", alternatives=(XmlNode(node_type="none", ref="A"),))
    assert written({"x": 1}, made, A=XmlNode(node_type="none", ref="B"), B=XmlNode(node_type="none", ref="A"))
    with pytest.raises(RecursionError):
        written({"x": 1}, node(x=looped), B=XmlNode(node_type="none", ref="B"))


@pytest.mark.parametrize(
    ("value", "root"),
    [
        ({"a": 1, "b": 2}, XmlNode(node_type="none")),
        ({}, XmlNode(node_type="none")),
        ([1, 2], XmlNode(node_type="none", items=XmlNode())),
        ("x", TEXT),
        ("x", ATTRIBUTE),
        ([1, 2], XmlNode(name="r")),
    ],
)
def test_a_document_has_one_root_element(value: Any, root: XmlNode) -> None:
    with pytest.raises(ArgumentError, match="exactly one root element"):
        written(value, root)
