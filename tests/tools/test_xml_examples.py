"""The specification's own examples of XML, from schema and value to the literal text.

They are printed with white space between elements, which is not part of them. Where the specification leaves
`xmlns:xsi` out of an example, it is declared here: XML needs it.
"""

from typing import Any

import pytest
import yaml

from openapi_mcp.runtime.request.xml import XSI as NAMESPACE
from tests.tools.test_xml import compact, xml_text

XSI = f'xmlns:xsi="{NAMESPACE}"'
PETS = ["dog", "cat", "hamster"]


def properties(text: str) -> dict[str, Any]:
    """Return a root object with these properties, which the examples of 3.0 and 3.1 omit."""
    return {"type": "object", "xml": {"name": "document"}, "properties": yaml.safe_load(text)}


UP_TO_3_1 = {
    "basic string": ("animals: {type: string}", "...", "<animals>...</animals>"),
    "basic string array": (
        "animals: {type: array, items: {type: string}}",
        PETS,
        "<animals>dog</animals><animals>cat</animals><animals>hamster</animals>",
    ),
    "name replacement": ("animals: {type: string, xml: {name: animal}}", "...", "<animal>...</animal>"),
    "element names of an array": (
        "animals: {type: array, items: {type: string, xml: {name: animal}}}",
        ["value", "value"],
        "<animal>value</animal><animal>value</animal>",
    ),
    "the external name has no effect": (
        "animals: {type: array, items: {type: string, xml: {name: animal}}, xml: {name: aliens}}",
        ["value", "value"],
        "<animal>value</animal><animal>value</animal>",
    ),
    "wrapped, one name for both": (
        "animals: {type: array, items: {type: string}, xml: {wrapped: true}}",
        ["value", "value"],
        "<animals><animals>value</animals><animals>value</animals></animals>",
    ),
    "wrapped, items named": (
        "animals: {type: array, items: {type: string, xml: {name: animal}}, xml: {wrapped: true}}",
        ["value", "value"],
        "<animals><animal>value</animal><animal>value</animal></animals>",
    ),
    "wrapped, both named": (
        "animals: {type: array, items: {type: string, xml: {name: animal}}, xml: {name: aliens, wrapped: true}}",
        ["value", "value"],
        "<aliens><animal>value</animal><animal>value</animal></aliens>",
    ),
    "wrapped, the wrapper named": (
        "animals: {type: array, items: {type: string}, xml: {name: aliens, wrapped: true}}",
        ["value", "value"],
        "<aliens><aliens>value</aliens><aliens>value</aliens></aliens>",
    ),
}


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
@pytest.mark.parametrize("example", UP_TO_3_1)
def test_the_examples_up_to_3_1(version: str, example: str) -> None:
    declared, value, xml = UP_TO_3_1[example]
    assert xml_text(version, properties(declared), {"animals": value}) == f"<document>{xml}</document>"


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_the_example_of_attribute_prefix_and_namespace(version: str) -> None:
    person = """
        type: object
        properties:
          id: {type: integer, format: int32, xml: {attribute: true}}
          name: {type: string, xml: {namespace: "https://example.com/schema/sample", prefix: sample}}
    """
    reference = {"$ref": "#/components/schemas/Person"}
    assert xml_text(version, reference, {"id": 123, "name": "example"}, {"Person": yaml.safe_load(person)}) == compact(
        """
        <Person id="123">
            <sample:name xmlns:sample="https://example.com/schema/sample">example</sample:name>
        </Person>
        """
    )


DOCUMENTATION = """
type: object
properties: {content: {type: string, contentMediaType: text/html, xml: {nodeType: cdata}}}
"""
DOCS = "<html><head><title>Awesome Docs</title></head><body></body><html>"
PRODUCT = """
xml: {name: product}
type: object
required: [count, description, related]
properties:
  count: {type: [number, "null"], xml: {nodeType: attribute}}
  rating: {type: string, xml: {nodeType: attribute}}
  description: {type: string}
  related: {type: [object, "null"]}
"""

# The schema under the media type, the components, the value, the XML.
FROM_3_2: dict[str, tuple[str, str, Any, str]] = {
    "basic string": (
        "{type: object, xml: {name: document}, properties: {animals: {type: string}}}",
        "",
        {"animals": "dog, cat, hamster"},
        "<document><animals>dog, cat, hamster</animals></document>",
    ),
    "basic string array": (
        "{type: object, xml: {name: document}, properties: {animals: {type: array, items: {type: string}}}}",
        "",
        {"animals": PETS},
        "<document><animals>dog</animals><animals>cat</animals><animals>hamster</animals></document>",
    ),
    "name replacement": (
        "{type: object, xml: {name: document}, properties: {animals: {type: string, xml: {name: animal}}}}",
        "",
        {"animals": PETS},
        "<document><animal>dog</animal><animal>cat</animal><animal>hamster</animal></document>",
    ),
    "attribute, prefix and namespace": (
        "{$ref: '#/components/schemas/Person'}",
        """
        Person:
          type: object
          properties:
            id: {type: integer, format: int32, xml: {nodeType: attribute}}
            name: {type: string, xml: {namespace: "https://example.com/schema/sample", prefix: sample}}
        """,
        {"id": 123, "name": "example"},
        """
        <Person id="123">
          <sample:name xmlns:sample="https://example.com/schema/sample">example</sample:name>
        </Person>
        """,
    ),
    "a wrapping element, one name for both": (
        """
        type: object
        xml: {name: document}
        properties: {animals: {type: array, xml: {nodeType: element}, items: {type: string}}}
        """,
        "",
        {"animals": PETS},
        """
        <document>
          <animals>
            <animals>dog</animals>
            <animals>cat</animals>
            <animals>hamster</animals>
          </animals>
        </document>
        """,
    ),
    "a wrapping element, both named": (
        """
        type: object
        xml: {name: document}
        properties:
          animals:
            type: array
            xml: {name: aliens, nodeType: element}
            items: {type: string, xml: {name: animal}}
        """,
        "",
        {"animals": PETS},
        """
        <document>
          <aliens>
            <animal>dog</animal>
            <animal>cat</animal>
            <animal>hamster</animal>
          </aliens>
        </document>
        """,
    ),
    "a wrapping element with a name": (
        """
        type: object
        xml: {name: document}
        properties: {animals: {type: array, xml: {name: aliens, nodeType: element}, items: {type: string}}}
        """,
        "",
        {"animals": PETS},
        """
        <document>
          <aliens>
            <aliens>dog</aliens>
            <aliens>cat</aliens>
            <aliens>hamster</aliens>
          </aliens>
        </document>
        """,
    ),
    "elements with attributes and text": (
        """
        type: array
        xml: {nodeType: element, name: animals}
        items:
          xml: {name: animal}
          properties:
            kind: {type: string, xml: {nodeType: attribute}}
            name: {type: string, xml: {nodeType: text}}
        """,
        "",
        [{"kind": "Cat", "name": "Fluffy"}, {"kind": "Dog", "name": "Fido"}],
        """
        <animals>
          <animal kind="Cat">Fluffy</animal>
          <animal kind="Dog">Fido</animal>
        </animals>
        """,
    ),
    "a referenced element with CDATA": (
        "{$ref: '#/components/schemas/Documentation'}",
        f"Documentation: {{{DOCUMENTATION.strip().replace(chr(10), ', ')}}}",
        {"content": DOCS},
        f"<Documentation><![CDATA[{DOCS}]]></Documentation>",
    ),
    "the element at the point of use": (
        "{xml: {nodeType: element, name: StoredDocument}, $ref: '#/components/schemas/Documentation'}",
        f"Documentation: {{xml: {{nodeType: none}}, {DOCUMENTATION.strip().replace(chr(10), ', ')}}}",
        {"content": DOCS},
        f"<StoredDocument><![CDATA[{DOCS}]]></StoredDocument>",
    ),
    "ordered elements": (
        """
        xml: {nodeType: element, name: OneTwoThree}
        type: array
        minLength: 3
        maxLength: 3
        prefixItems:
        - {xml: {name: One}, type: string}
        - xml: {name: Two}
          type: object
          required: [unit, value]
          properties:
            unit: {type: string, xml: {nodeType: attribute}}
            value: {type: number, xml: {nodeType: text}}
        - {xml: {name: Three}, type: [boolean, "null"]}
        """,
        "",
        ["Some text", {"unit": "cubits", "value": 42}, None],
        f"""
        <OneTwoThree>
          <One>Some text</One>
          <Two unit="cubits">42</Two>
          <Three {XSI} xsi:nil="true"/>
        </OneTwoThree>
        """,
    ),
    "ordered text": (
        """
        xml: {nodeType: element, name: Report}
        type: array
        prefixItems:
        - {xml: {nodeType: text}, type: string}
        - {xml: {name: data}, type: number}
        - {xml: {nodeType: text}, type: string}
        """,
        "",
        ["Some preamble text.", 42, "Some postamble text."],
        "<Report>Some preamble text.<data>42</data>Some postamble text.</Report>",
    ),
    "null": (
        PRODUCT,
        "",
        {"count": None, "description": "Thing", "related": None},
        f"<product><description>Thing</description><related {XSI} xsi:nil='true'/></product>".replace("'", '"'),
    ),
    "no null": (
        PRODUCT,
        "",
        {"count": 42, "description": "Thing", "related": {}},
        '<product count="42"><description>Thing</description><related></related></product>',
    ),
}


@pytest.mark.parametrize("example", FROM_3_2)
def test_the_examples_of_3_2(example: str) -> None:
    schema, components, value, xml = FROM_3_2[example]
    assert xml_text("3.2", yaml.safe_load(schema), value, yaml.safe_load(components)) == compact(xml)
