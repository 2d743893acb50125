"""XML text: no value leaves its node, and an XML parser reads the written tree back."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import xml as xml_text
from openapi_mcp.runtime.request.xml import Attribute, Cdata, Element, Name, Node, Text


def element(*content: Node, name: Name | str = "e", nil: bool = False) -> Element:
    return Element(Name(name) if isinstance(name, str) else name, content, nil)


def attribute(text: str, name: Name | str = "a") -> Attribute:
    return Attribute(Name(name) if isinstance(name, str) else name, text)


@pytest.mark.parametrize(
    ("root", "xml"),
    [
        (element(), "<e></e>"),
        (element(Text("")), "<e></e>"),
        (element(Text("a <b> & \"c\" 'd' ]]>")), "<e>a &lt;b&gt; &amp; \"c\" 'd' ]]&gt;</e>"),
        (element(Text("\r\n\t é日😀")), "<e>&#13;\n\t é日😀</e>"),
        (element(attribute("\"<&>'\t\r\n")), '<e a="&quot;&lt;&amp;&gt;\'&#9;&#13;&#10;"></e>'),
        (element(Cdata("<a>&amp;</a>")), "<e><![CDATA[<a>&amp;</a>]]></e>"),
        (element(Cdata("a]]>b")), "<e><![CDATA[a]]]]><![CDATA[>b]]></e>"),
        (element(Text("1"), element(Text("2"), name="f"), Text("3")), "<e>1<f>2</f>3</e>"),
        (element(Text("1"), attribute("2"), attribute("3")), '<e a="3">1</e>'),
        (element(nil=True), f'<e xmlns:xsi="{xml_text.XSI}" xsi:nil="true"/>'),
        (element(name=Name("e", "http://n/")), '<e xmlns="http://n/"></e>'),
        (element(name=Name("e", "http://n/?a&b", "p")), '<p:e xmlns:p="http://n/?a&amp;b"></p:e>'),
        (element(name=Name("e", None, "p")), "<p:e></p:e>"),
        (element(attribute("1", Name("a", "http://n/"))), '<e xmlns:ns0="http://n/" ns0:a="1"></e>'),
        (element(attribute("1", Name("xsi:type", xml_text.XSI))), f'<e xmlns:xsi="{xml_text.XSI}" xsi:type="1"></e>'),
        (element(attribute("1", "xml:lang")), '<e xml:lang="1"></e>'),
        (element(attribute("http://m/", "xmlns"), name=Name("e", "http://n/")), '<e xmlns="http://m/"></e>'),
    ],
)
def test_element_text(root: Element, xml: str) -> None:
    assert xml_text.write(root) == xml


def test_namespace_is_declared_once_in_its_scope() -> None:
    one, two = Name("x", "http://1/", "p"), Name("y", "http://2/", "p")
    root = element(element(name=one), element(element(name=one), name=two), name=one)
    assert xml_text.write(root) == (
        '<p:x xmlns:p="http://1/"><p:x></p:x><p:y xmlns:p="http://2/"><p:x xmlns:p="http://1/"></p:x></p:y></p:x>'
    )


@pytest.mark.parametrize(
    "name",
    ["", "a b", "1", "-a", "a<b", 'a="1"', "a/", "a:b:c", ":a", "a:", "a\n", "a\x00", "x&y", "!--", "?pi", "a\ud800"],
)
def test_invalid_xml_name_is_refused(name: str) -> None:
    for root in (element(name=name), element(attribute("1", name))):
        with pytest.raises(ArgumentError, match="cannot be sent in XML"):
            xml_text.write(root)


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_invalid_xml_character_is_refused_by_its_code_point(character: str) -> None:
    for node in (Text(character), Cdata(character), attribute(character)):
        with pytest.raises(ArgumentError, match=rf"U\+{ord(character):04X}"):
            xml_text.write(element(node))


NAMES = st.from_regex(r"[A-Za-zé日_][A-Za-z0-9é日_.-]{0,4}", fullmatch=True)
CHARACTERS = st.text(
    st.characters(codec="utf-8", exclude_characters="\ufffe\uffff", exclude_categories=["Cc", "Cs"])
    | st.sampled_from("\t\n\r<>&\"']"),
    max_size=12,
)
TREES: st.SearchStrategy[Any] = st.recursive(
    st.tuples(NAMES, st.dictionaries(NAMES, CHARACTERS, max_size=2), CHARACTERS, st.just([])),
    lambda inner: st.tuples(
        NAMES, st.dictionaries(NAMES, CHARACTERS, max_size=2), CHARACTERS, st.lists(inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TREES, st.booleans())
def test_parser_reads_the_tree_back(tree: Any, cdata: bool) -> None:
    def build(name: str, attributes: dict[str, str], text: str, children: list[Any]) -> Element:
        # In a CDATA section a parser cannot tell a carriage return from a line feed (XML 1.0 §2.11).
        data: Node = Cdata(text) if cdata and "\r" not in text else Text(text)
        return element(
            *(attribute(value, key) for key, value in attributes.items()),
            data,
            *(build(*child) for child in children),
            name=name,
        )

    def read(node: ET.Element) -> tuple[str, dict[str, str], str, list[Any]]:
        return node.tag, node.attrib, node.text or "", [read(child) for child in node]

    parsed = ET.fromstring(xml_text.write(build(*tree)))  # noqa: S314  # written by ourselves
    assert read(parsed) == tree
