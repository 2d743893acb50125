"""A value as the XML nodes that its schema describes; what is not described is an element of its own name.

A schema that is no node (`none`) puts the nodes within it into the node around it. Null is an element that is `nil`,
and no attribute at all. Specification: OpenAPI 3.2 XML Object ("XML Node Types", "XML Node Names", "Handling null
Values"), which says for earlier versions what they left open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from . import xmltext
from .errors import ArgumentError
from .models import XmlDocument, XmlNode
from .styles import scalar_text
from .xmltext import Attribute, Cdata, Element, Name, Node, Text

_ROOT: Final = "root"
_UNDESCRIBED: Final = XmlNode()


def document(value: Any, described: XmlDocument) -> str:
    """The XML text of a value. Raises ArgumentError where that would have no root element, or several."""
    nodes = tuple(_Writer(described.definitions).nodes(described.root, value, _ROOT))
    if len(nodes) != 1 or not isinstance(nodes[0], Element):
        raise ArgumentError("An XML document has exactly one root element, which these arguments do not make.")
    return xmltext.write(nodes[0])


@dataclass(frozen=True, slots=True)
class _Writer:
    """Turns values into nodes; `name` is always the inferred name, which a schema may replace."""

    definitions: Mapping[str, XmlNode]

    def nodes(self, node: XmlNode, value: Any, name: str) -> Iterator[Node]:
        """The nodes of one value."""
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
        """What stands in the node of a value, or in the node around it."""
        if node.ref is not None:
            yield from self.nodes(self.definitions.get(node.ref, _UNDESCRIBED), value, name)
        elif node.alternatives and node.node_type == "none":
            yield from self.nodes(self._chosen(node, value), value, name)
        else:
            yield from self._members(self._completed(node, value), value, name)

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

    def _completed(self, node: XmlNode, value: Any) -> XmlNode:
        """A node with what the chosen one of its alternatives says of the same value."""
        if not node.alternatives:
            return node
        chosen = self._resolved(self._chosen(node, value))
        return replace(
            node,
            properties={**chosen.properties, **node.properties},
            additional=node.additional or chosen.additional,
            items=node.items or chosen.items,
            prefix_items=node.prefix_items or chosen.prefix_items,
            alternatives=(),
        )

    def _chosen(self, node: XmlNode, value: Any) -> XmlNode:
        """The alternative that a value is meant for."""
        if isinstance(value, dict):
            marked = (
                option for option in node.alternatives if option.when and value.get(option.when[0]) in option.when[1]
            )
            found = next(marked, None)
            if found is not None:
                return found
        return max(node.alternatives, key=lambda option: self._fit(self._resolved(option), value))

    def _fit(self, node: XmlNode, value: Any) -> int:
        """How well a schema fits: of an object, the properties it knows less those it does not."""
        if isinstance(value, dict):
            known = len(value.keys() & node.properties.keys())
            return known - len(value.keys() - node.properties.keys())
        return int(isinstance(value, list) == _takes_lists(node) and not node.properties)

    def _resolved(self, node: XmlNode) -> XmlNode:
        """What a chain of references leads to; one that goes round in a circle leads to itself."""
        for _ in self.definitions:
            if node.ref is None:
                break
            node = self.definitions.get(node.ref, _UNDESCRIBED)
        return node


def _takes_lists(node: XmlNode) -> bool:
    return bool(node.items or node.prefix_items or node.ref or node.alternatives)


def _order(node: XmlNode) -> Any:
    """Declared properties in the document's order, then the others in their own: many APIs take a sequence."""
    places = {name: place for place, name in enumerate(node.properties)}
    return lambda key: places.get(key, len(places))


def _text(value: Any) -> str:
    """A value in one piece: a list of scalars as XML Schema's lists are, null as nothing, an object as JSON."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return " ".join(scalar_text(item) for item in value if item is not None)
    return "" if value is None else scalar_text(value)
