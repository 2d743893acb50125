"""XML nodes of values, by descriptions; `tests/tools/test_xml.py` has the examples of the specification."""

from typing import Any

import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import xml
from openapi_mcp.runtime.request.xml import XSI
from openapi_mcp.runtime.tool import XmlDocument, XmlNode

ATTRIBUTE = XmlNode(node_type="attribute")
TEXT = XmlNode(node_type="text")
CDATA = XmlNode(node_type="cdata")


def node(**properties: XmlNode) -> XmlNode:
    return XmlNode(name="r", properties=properties)


def write(value: Any, root: XmlNode, **definitions: XmlNode) -> str:
    return xml.document(value, XmlDocument(root=root, definitions=definitions))


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
def test_undescribed_value_is_an_element_with_its_own_name(value: Any, xml: str) -> None:
    assert write(value, XmlNode(name="r")) == xml


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
def test_attributes_and_text_belong_to_the_element_around_them(value: Any, xml: str) -> None:
    assert write(value, node(a=ATTRIBUTE, t=TEXT, c=CDATA)) == xml


def test_node_type_none_adds_its_nodes_to_the_element_around_it() -> None:
    inner = XmlNode(node_type="none", properties={"id": ATTRIBUTE})
    assert write({"x": {"id": 1, "name": "n"}}, node(x=inner)) == '<r id="1"><name>n</name></r>'


def test_single_value_for_an_array_is_one_item() -> None:
    assert write({"x": 1}, node(x=XmlNode(node_type="none", items=XmlNode(name="i")))) == "<r><i>1</i></r>"


def test_dangling_reference_counts_as_undescribed() -> None:
    assert write({"x": 1}, node(x=XmlNode(node_type="none", ref="gone"))) == "<r><x>1</x></r>"


def test_circular_references_end() -> None:
    looped = XmlNode(node_type="none", alternatives=(XmlNode(node_type="none", ref="B"),))
    root = XmlNode(name="r", alternatives=(XmlNode(node_type="none", ref="A"),))
    assert write({"x": 1}, root, A=XmlNode(node_type="none", ref="B"), B=XmlNode(node_type="none", ref="A"))
    with pytest.raises(RecursionError):
        write({"x": 1}, node(x=looped), B=XmlNode(node_type="none", ref="B"))


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
def test_document_without_one_root_element_is_refused(value: Any, root: XmlNode) -> None:
    with pytest.raises(ArgumentError, match="exactly one root element"):
        write(value, root)


@pytest.mark.parametrize("value", [{"a": [1] * 100_001}, {f"a{number}": 1 for number in range(100_001)}])
def test_values_that_take_much_memory_as_nodes_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="more than 100,000 values"):
        write(value, XmlNode(name="r"))
