"""Write values as XML: a value becomes nodes by the description of its schema, and nodes become well-formed text.

A value without a description is an element with its own name. The nodes of a schema that is not a node (`none`) belong
to the node around it. Null is an element that is `nil`; an attribute that is null is omitted. No value can end or begin
an element or name an entity. A value that XML cannot contain is an ArgumentError.

Specification: OpenAPI 3.2 XML Object ("XML Node Types", "XML Node Names", "Handling null Values"), which settles what
earlier versions left open; XML 1.0 (fifth edition) §2.2 to §2.7, §3.1; Namespaces in XML 1.0 §3 and §6.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from ..background import exceeds
from ..errors import ArgumentError
from ..tool import XmlDocument, XmlNode
from .styles import scalar_text

XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
"""The namespace of `xsi:nil` (XML Schema Part 1, §2.6.2)."""

# XML 1.0 §2.3: NameStartChar and NameChar, with a colon only between prefix and local part (Namespaces §4).
_START: Final = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_LOCAL: Final = f"[{_START}][{_START}0-9.\xb7\u0300-\u036f\u203f\u2040-]*"
# Compiled at first use, and cached by `re`: compiling these two takes a tenth of the time of a start.
_NAME: Final = f"({_LOCAL}:)?{_LOCAL}"
_NOT_A_CHARACTER: Final = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # §2.2
_IN_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
# In an attribute a parser replaces these by spaces (§3.3.3).
_IN_ATTRIBUTE: Final = _IN_TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an element or attribute; `namespace` is declared unless it is in scope for `prefix` already."""

    local: str
    namespace: str | None = None
    prefix: str | None = None

    def qualified(self) -> str:
        """Return the written name; a prefix within `local` counts as one."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local

    def namespace_prefix(self) -> str:
        """Return the prefix that the namespace is declared for; empty for the default namespace."""
        return self.qualified().rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Text:
    """Character data."""

    text: str


@dataclass(frozen=True, slots=True)
class Cdata:
    """A CDATA section."""

    text: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the element that contains it."""

    name: Name
    text: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element; its content is attributes and other nodes, in any order. `nil` means that its value is null."""

    name: Name
    content: "tuple[Node, ...]" = ()
    nil: bool = False


Node: TypeAlias = Element | Attribute | Text | Cdata

Scope: TypeAlias = Mapping[str, str]
"""The namespaces in scope, by prefix."""


def write(element: Element) -> str:
    """Return an element as XML text, without an XML declaration. Raises ArgumentError."""
    return "".join(_element(element, {}))


def _element(element: Element, scope: Scope) -> Iterator[str]:
    attributes = list(_attributes(element))
    declared = _new_namespaces([element.name, *(attribute.name for attribute in attributes)], scope)
    name = _valid_name(element.name)
    # Each name once, as XML demands (§3.1): an attribute called `xmlns` replaces the declaration.
    attribute_texts = {f"xmlns:{prefix}" if prefix else "xmlns": namespace for prefix, namespace in declared.items()}
    attribute_texts |= {_valid_name(attribute.name): attribute.text for attribute in attributes}
    yield f"<{name}"
    for key, text in attribute_texts.items():
        yield f' {key}="{_characters(text).translate(_IN_ATTRIBUTE)}"'
    if element.nil:
        yield "/>"
        return
    yield ">"
    for node in element.content:
        if not isinstance(node, Attribute):
            yield from _node(node, {**scope, **declared})
    yield f"</{name}>"


def _node(node: Element | Text | Cdata, scope: Scope) -> Iterator[str]:
    if isinstance(node, Element):
        yield from _element(node, scope)
    elif isinstance(node, Text):
        yield _characters(node.text).translate(_IN_TEXT)
    else:
        yield f"<![CDATA[{_characters(node.text).replace(']]>', ']]]]><![CDATA[>')}]]>"


def _attributes(element: Element) -> Iterator[Attribute]:
    """Yield the attributes of an element. One in a namespace has a prefix (Namespaces §6.2)."""
    if element.nil:
        yield Attribute(Name("nil", XSI, "xsi"), "true")
    for index, node in enumerate(element.content):
        if isinstance(node, Attribute):
            unprefixed = node.name.namespace and not node.name.namespace_prefix()
            yield replace(node, name=replace(node.name, prefix=f"ns{index}")) if unprefixed else node


def _new_namespaces(names: Iterable[Name], scope: Scope) -> dict[str, str]:
    """Return the namespaces of these names, by prefix, that are not in scope."""
    needed = {name.namespace_prefix(): name.namespace for name in names if name.namespace}
    return {prefix: namespace for prefix, namespace in needed.items() if scope.get(prefix) != namespace}


def _valid_name(name: Name) -> str:
    qualified = name.qualified()
    if not re.fullmatch(_NAME, qualified):
        raise ArgumentError(f"`{qualified}` cannot be sent in XML: it is not a valid name of an element or attribute.")
    return qualified


def _characters(text: str) -> str:
    match = re.search(_NOT_A_CHARACTER, text)
    if match:
        raise ArgumentError(f"The text contains U+{ord(match[0]):04X}, a character that XML does not allow; remove it.")
    return text


MAX_PARTS: Final = 100_000
"""Values of a document that is written: some 50 MB of nodes."""

_ROOT: Final = "root"
_UNDESCRIBED: Final = XmlNode()


def document(value: Any, described: XmlDocument) -> str:
    """Return the XML text of a value. Raises ArgumentError if it is large, or has not exactly one root element."""
    if exceeds(value, MAX_PARTS):
        raise ArgumentError(f"The body has more than {MAX_PARTS:,} values, too many for XML; send fewer at a time.")
    nodes = tuple(_XmlNodeWriter(described.definitions).nodes(described.root, value, _ROOT))
    if len(nodes) != 1 or not isinstance(nodes[0], Element):
        raise ArgumentError("An XML document must have exactly one root element; these arguments make none or several.")
    return write(nodes[0])


@dataclass(frozen=True, slots=True)
class _XmlNodeWriter:
    """The conversion of values to nodes. `name` is the inferred name, which a schema may replace."""

    definitions: Mapping[str, XmlNode]

    def nodes(self, node: XmlNode, value: Any, name: str) -> Iterator[Node]:
        """Yield the nodes of one value."""
        name = node.name or name
        if isinstance(value, list) and node.node_type == "element" and not _takes_lists(node):
            for item in value:
                yield from self.nodes(node, item, name)
        elif node.node_type == "none":
            alone = bool(node.items or node.prefix_items) and not isinstance(value, list | None)
            yield from self._content(node, [value] if alone else value, name)
        elif node.node_type == "element":
            content = () if value is None else tuple(self._content(node, value, name))
            yield Element(Name(name, node.namespace, node.prefix), content, nil=value is None)
        elif node.node_type == "attribute":
            if value is not None:
                yield Attribute(Name(name, node.namespace, node.prefix), _text(value))
        else:
            yield Cdata(_text(value)) if node.node_type == "cdata" else Text(_text(value))

    def _content(self, node: XmlNode, value: Any, name: str) -> Iterator[Node]:
        """Yield the nodes within the node of a value, or, for a schema that is not a node, in the node around it."""
        if node.ref is not None:
            yield from self.nodes(self.definitions.get(node.ref, _UNDESCRIBED), value, name)
        elif node.alternatives and node.node_type == "none":
            yield from self.nodes(self._select_alternative(node, value), value, name)
        else:
            yield from self._members(self._with_alternative(node, value), value, name)

    def _members(self, node: XmlNode, value: Any, name: str) -> Iterator[Node]:
        if isinstance(value, dict):
            for key in sorted(value, key=_order(node)):
                yield from self.nodes(node.properties.get(key, node.additional or _UNDESCRIBED), value[key], key)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                described = node.prefix_items[index] if index < len(node.prefix_items) else node.items
                yield from self.nodes(described or _UNDESCRIBED, item, name)
        elif value is not None:
            yield Text(_text(value))

    def _with_alternative(self, node: XmlNode, value: Any) -> XmlNode:
        """Return a node completed by the selected alternative for the same value."""
        if not node.alternatives:
            return node
        selected = self._resolve(self._select_alternative(node, value))
        return replace(
            node,
            properties={**selected.properties, **node.properties},
            additional=node.additional or selected.additional,
            items=node.items or selected.items,
            prefix_items=node.prefix_items or selected.prefix_items,
            alternatives=(),
        )

    def _select_alternative(self, node: XmlNode, value: Any) -> XmlNode:
        """Return the alternative that fits a value best, by its discriminator if it has one."""
        if isinstance(value, dict):
            marked = (
                option for option in node.alternatives if option.when and value.get(option.when[0]) in option.when[1]
            )
            match = next(marked, None)
            if match is not None:
                return match
        return max(node.alternatives, key=lambda option: self._fit(self._resolve(option), value))

    def _fit(self, node: XmlNode, value: Any) -> int:
        """Return how well a schema fits a value; for an object, the common properties minus the unknown ones."""
        if isinstance(value, dict):
            common = len(value.keys() & node.properties.keys())
            return common - len(value.keys() - node.properties.keys())
        return int(isinstance(value, list) == _takes_lists(node) and not node.properties)

    def _resolve(self, node: XmlNode) -> XmlNode:
        """Follow a chain of references; a circle ends at one of its members."""
        for _ in self.definitions:
            if node.ref is None:
                break
            node = self.definitions.get(node.ref, _UNDESCRIBED)
        return node


def _takes_lists(node: XmlNode) -> bool:
    return bool(node.items or node.prefix_items or node.ref or node.alternatives)


def _order(node: XmlNode) -> Any:
    """Return a sort key: declared properties in the document's order, then the others in their own.

    Many APIs have an `xs:sequence`, in which the order counts.
    """
    positions = {name: position for position, name in enumerate(node.properties)}
    return lambda key: positions.get(key, len(positions))


def _text(value: Any) -> str:
    """Return a value as one text: a list of scalars separated by spaces (XML Schema), null empty, an object as JSON."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return " ".join(scalar_text(item) for item in value if item is not None)
    return "" if value is None else scalar_text(value)
