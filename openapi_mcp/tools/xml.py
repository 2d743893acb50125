"""Read the schema of an XML body as the `XmlDocument` that the runtime writes XML by, with all defaults applied.

Subschemas of `allOf`, `anyOf` and `oneOf` describe the same value as their parent schema, and so the same node. A
`$ref` is no node itself: up to 3.1 its target is named after the property that refers to it, from 3.2 on after its
component; in both, its own `xml.name` has precedence. Specification: OpenAPI 3.0.4, 3.1.2 and 3.2 XML Object.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime.tool import XmlDocument, XmlNode, XmlNodeType
from ..runtime.types import JsonObject
from ..schemas import keywords
from ..schemas.subschemas import parts_of

_COMPONENT: Final = re.compile(r".*/components/schemas/([^/]+)")
_STRUCTURE_KEYWORDS: Final = frozenset(
    {"properties", "additionalProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf"}
)
_STRUCTURED_TYPES: Final = frozenset({"object", "array"})
_REF_SIBLING_VERSIONS: Final = frozenset({"3.1", "3.2"})
"""Versions in which the siblings of a `$ref` count."""

MAX_MAPPED_KEYS: Final = 100
"""Keys of a discriminator's mapping for one schema."""

_Part = tuple[Mapping[str, Any], str]


def xml_document(
    node: Any, pointer: str, resolver: Resolver, report: Callable[[Problem], None], *, name: str | None = None
) -> XmlDocument | None:
    """Return the XML document that the schema describes; None where it describes text, which is sent unchanged.

    `name` is the default name of the root element: for a part of a multipart body, the name of its property.
    """
    try:
        target, location = resolver.follow(node, pointer)
    except BrokenReference:
        return None
    if not _describes_xml(target):
        return None
    reader = _XmlReader(resolver)
    root = reader.node(node, pointer, named=name is not None)
    inferred = root.name or name or _component(location)
    if inferred is None and root.node_type == "element":
        root = _unnamed_root(root, resolver.display(pointer), report)
    return XmlDocument(root=replace(root, name=root.name or inferred), definitions=reader.definitions())


def _unnamed_root(root: XmlNode, pointer: str, report: Callable[[Problem], None]) -> XmlNode:
    """Return the root for a schema without a name: its only property, as many documents mean, else `root`."""
    if len(root.properties) == 1 and root.items is None and not root.alternatives:
        return replace(root, node_type="none")
    message = "the root element of this XML body has no name; it is sent as `root`"
    report(Problem(pointer=pointer, kind="body", message=message, hint="name it in the schema: `xml: {name: …}`"))
    return replace(root, name="root")


def _describes_xml(node: Any) -> bool:
    """Return whether a schema describes more than text: a structure, or an XML Object."""
    if not isinstance(node, dict):
        return False
    return bool(
        node.keys() & _STRUCTURE_KEYWORDS or "xml" in node or _STRUCTURED_TYPES & set(keywords.types(node.get("type")))
    )


class _XmlReader:
    """A reader of one XML document's root, and then of the definitions that it refers to."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._version = resolver.document.version
        self._names: dict[str, str] = {}  # of definitions, by pointer
        self._queue: list[tuple[str, JsonObject, str]] = []  # definitions to be read
        self._mappings: dict[int, dict[str, list[str]]] = {}  # inverted mappings of discriminators, by their ids

    def definitions(self) -> dict[str, XmlNode]:
        """Return the definitions that the root refers to, directly or through others."""
        definitions: dict[str, XmlNode] = {}
        while self._queue:
            name, node, pointer = self._queue.pop()
            definition = self._schema(node, pointer, named=True)
            if self._version == "3.2" and definition.node_type in {"element", "attribute"}:
                definition = replace(definition, name=definition.name or _component(pointer))
            definitions[name] = definition
        return dict(sorted(definitions.items()))

    def node(self, node: Any, pointer: str, *, named: bool) -> XmlNode:
        """Return the node of a schema. `named`: a property names it; else a reference is named after its component."""
        if not isinstance(node, dict):
            return XmlNode()
        if "$ref" in node and not node.keys() & _STRUCTURE_KEYWORDS:
            return self._reference(node, pointer, named=named)
        return self._schema(node, pointer, named=named)

    def _reference(self, node: JsonObject, pointer: str, *, named: bool) -> XmlNode:
        try:
            target, location = self._resolver.follow(node, pointer)
        except BrokenReference:
            return XmlNode()
        if not isinstance(target, dict):
            return XmlNode()
        name = None if named else _component(location)
        sibling = _xml(node) if self._version in _REF_SIBLING_VERSIONS else {}
        if not named and _is_array([(target, location)]):
            array = self._schema(target, location, named=False)
            return replace(array, name=array.name or name)
        if sibling and self._version != "3.2":
            merged = {**target, "xml": _xml(target) | sibling}
            return XmlNode(node_type="none", name=name, ref=self._definition(pointer, merged, location))
        layer = _with_xml_object(XmlNode(ref=self._definition(location, target, location)), sibling, "none")
        return layer if layer.name else replace(layer, name=name)

    def _definition(self, key: str, node: JsonObject, pointer: str) -> str:
        """Return the name of a definition and queue it. `key` is its pointer, or that of a `$ref` with siblings."""
        if key not in self._names:
            stem = _component(pointer) or pointer.rpartition("/")[2]
            used = set(self._names.values())
            self._names[key] = next(name for name in _numbered(stem) if name not in used)
            self._queue.append((self._names[key], node, pointer))
        return self._names[key]

    def _schema(self, node: JsonObject, pointer: str, *, named: bool) -> XmlNode:
        parts = list(parts_of(self._resolver, node, pointer))
        xml = _merge_xml_objects(parts, pointer)
        is_array = _is_array(parts)
        xml_node = XmlNode(
            properties=self._properties(parts),
            additional=self._first(parts, "additionalProperties"),
            items=(self._first(parts, "items", named=named) or XmlNode()) if is_array else None,
            prefix_items=tuple(self._options(parts, "prefixItems", named=named)),
            alternatives=tuple(self._alternatives(parts, named=named)),
        )
        is_union = bool(xml_node.alternatives) and not (xml or xml_node.properties)
        unwrapped = is_array and named and xml.get("wrapped") is not True
        return _with_xml_object(xml_node, xml, "none" if is_union or unwrapped else "element")

    def _properties(self, parts: list[_Part]) -> dict[str, XmlNode]:
        """Return the nodes of the properties that the parts declare; the first of each name counts."""
        declared: dict[str, tuple[Any, str]] = {}
        for part, location in parts:
            properties = part.get("properties")
            for name, value in properties.items() if isinstance(properties, dict) else ():
                declared.setdefault(name, (value, join(location, "properties", name)))
        return {name: self.node(*schema, named=True) for name, schema in declared.items()}

    def _first(self, parts: list[_Part], keyword: str, *, named: bool = True) -> XmlNode | None:
        schemas = ((part[keyword], location) for part, location in parts if isinstance(part.get(keyword), dict))
        schema, location = next(schemas, (None, ""))
        return None if schema is None else self.node(schema, join(location, keyword), named=named)

    def _options(self, parts: list[_Part], keyword: str, *, named: bool) -> Iterator[XmlNode]:
        for part, location in parts:
            options = part.get(keyword)
            for index, option in enumerate(options) if isinstance(options, list) else ():
                yield self.node(option, join(location, keyword, index), named=named)

    def _alternatives(self, parts: list[_Part], *, named: bool) -> Iterator[XmlNode]:
        for part, location in parts:
            for keyword in ("oneOf", "anyOf"):
                options = part.get(keyword)
                for index, option in enumerate(options) if isinstance(options, list) else ():
                    if isinstance(option, dict) and keywords.types(option.get("type")) != ["null"]:
                        pointer = join(location, keyword, index)
                        alternative = self.node(option, pointer, named=named)
                        yield replace(alternative, when=self._condition(option, pointer, part.get("discriminator")))

    def _condition(self, option: JsonObject, pointer: str, discriminator: Any) -> tuple[str, tuple[Any, ...]] | None:
        """Return the property and values that select an alternative: the discriminator or a constant property."""
        name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
        reference = option.get("$ref")
        if isinstance(name, str) and isinstance(reference, str):
            component = reference.rpartition("/")[2]
            keys = self._keys(discriminator.get("mapping"))
            mapped = [key for target in dict.fromkeys((reference, component)) for key in keys.get(target, ())]
            return name, tuple(mapped[:MAX_MAPPED_KEYS]) or (component,)
        for part, _ in parts_of(self._resolver, option, pointer):
            properties = part.get("properties")
            for key, value in properties.items() if isinstance(properties, dict) else ():
                values = _listed_values(value) if isinstance(value, dict) else []
                if len(values) == 1:
                    return key, tuple(values)
        return None

    def _keys(self, mapping: Any) -> Mapping[str, list[str]]:
        """Return the keys of a discriminator's mapping by their values; the first of each value."""
        if not isinstance(mapping, dict):
            return {}
        if id(mapping) not in self._mappings:
            inverted = self._mappings.setdefault(id(mapping), {})
            for key, value in mapping.items():
                if isinstance(value, str) and len(keys := inverted.setdefault(value, [])) < MAX_MAPPED_KEYS:
                    keys.append(key)
        return self._mappings[id(mapping)]


def _listed_values(node: JsonObject) -> list[Any]:
    """Return the values that a schema lists with `const` or `enum`; empty where it lists none."""
    values = [node["const"]] if "const" in node else node.get("enum")
    return values if isinstance(values, list) else []


def _with_xml_object(node: XmlNode, xml: Mapping[str, Any], default: XmlNodeType) -> XmlNode:
    """Return the node with the fields of its XML Object; only elements and attributes have a name."""
    explicit = next((kind for kind in get_args(XmlNodeType) if kind == xml.get("nodeType")), None)
    kind: XmlNodeType = explicit or ("attribute" if xml.get("attribute") is True else default)
    if kind not in {"element", "attribute"}:
        return replace(node, node_type=kind)
    name, namespace, prefix = (_text(xml.get(field)) for field in ("name", "namespace", "prefix"))
    return replace(node, node_type=kind, name=name, namespace=namespace, prefix=prefix)


def _merge_xml_objects(parts: list[_Part], pointer: str) -> JsonObject:
    """Merge the XML Objects of a schema and the parts of its `allOf`; the nearest has precedence.

    The XML Object of a referenced part counts only where the schema wraps it without properties of its own.
    """
    inline = [part for part, location in parts if f"{location}/".startswith(f"{pointer}/")]
    targets = [part for part, location in parts if not f"{location}/".startswith(f"{pointer}/") and "$ref" not in part]
    if len(targets) > 1 or any("properties" in part for part in inline):
        targets = []
    merged: JsonObject = {}
    for part in reversed(inline + targets):
        merged |= _xml(part)
    return merged


def _xml(node: Mapping[str, Any]) -> JsonObject:
    xml = node.get("xml")
    return xml if isinstance(xml, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_array(parts: list[_Part]) -> bool:
    return any("array" in keywords.types(part.get("type")) or "items" in part for part, _ in parts)


def _component(pointer: str) -> str | None:
    """Return the name of the component at a pointer, in any file; None for any other pointer."""
    match = _COMPONENT.fullmatch(pointer)
    return match[1] if match else None


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    for number in range(2, 1 << 30):
        yield f"{stem}_{number}"
