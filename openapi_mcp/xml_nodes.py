"""The schema of an XML body as the description that the runtime writes XML by, the specification's defaults applied.

Subschemas of `allOf`, `anyOf` and `oneOf` describe the same value as the schema they stand in, and so the same node. A
`$ref` is a node nowhere: up to 3.1 what it names is called after the property that refers to it, from 3.2 on after its
component, and in either after its own `xml.name`. Specification: OpenAPI 3.0.4, 3.1.2 and 3.2 XML Object.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from . import keywords
from .document import join
from .errors import Problem
from .resolver import BrokenReference, Resolver
from .runtime.models import XmlDocument, XmlNode, XmlNodeType
from .runtime.types import JsonObject
from .schema_parts import parts_of

_COMPONENT: Final = re.compile(r".*/components/schemas/([^/]+)")
_STRUCTURE: Final = frozenset({"properties", "additionalProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf"})
_STRUCTURED: Final = frozenset({"object", "array"})
_BESIDE_A_REFERENCE: Final = frozenset({"3.1", "3.2"})
"""Versions in which what stands beside a `$ref` counts."""

_Part = tuple[Mapping[str, Any], str]


def xml_document(
    node: Any, pointer: str, resolver: Resolver, report: Callable[[Problem], None], *, name: str | None = None
) -> XmlDocument | None:
    """The XML document that the schema at `pointer` describes; None where it describes text, which is sent as it is.

    `name` is the name that the place gives the root element: of a part of a multipart body, that of its property.
    """
    try:
        target, place = resolver.follow(node, pointer)
    except BrokenReference:
        return None
    if not _is_described(target):
        return None
    reader = _Reader(resolver)
    root = reader.node(node, pointer, named=name is not None)
    inferred = root.name or name or _component(place)
    if inferred is None and root.node_type == "element":
        root = _nameless(root, resolver.shown(pointer), report)
    return XmlDocument(root=replace(root, name=root.name or inferred), definitions=reader.definitions())


def _nameless(root: XmlNode, pointer: str, report: Callable[[Problem], None]) -> XmlNode:
    """A root element that nothing names is the only property there is: many documents mean that. Else it is `root`."""
    if len(root.properties) == 1 and root.items is None and not root.alternatives:
        return replace(root, node_type="none")
    message = "nothing names the root element of this XML body; it is sent as `root`"
    report(Problem(pointer=pointer, kind="body", message=message, hint="name it in the schema: `xml: {name: …}`"))
    return replace(root, name="root")


def _is_described(node: Any) -> bool:
    """Whether a schema says more than that there is text: a structure, or what the text is called."""
    if not isinstance(node, dict):
        return False
    return bool(node.keys() & _STRUCTURE or "xml" in node or _STRUCTURED & set(keywords.types(node.get("type"))))


class _Reader:
    """Reads one document's root and, after it, the schemas that are referred to."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._version = resolver.document.version
        self._names: dict[str, str] = {}  # of definitions, by pointer
        self._waiting: list[tuple[str, JsonObject, str]] = []  # definitions to be read

    def definitions(self) -> dict[str, XmlNode]:
        """All that the root refers to, and what that refers to."""
        found: dict[str, XmlNode] = {}
        while self._waiting:
            name, node, pointer = self._waiting.pop()
            found[name] = self._schema(node, pointer, named=True)
            if self._version == "3.2" and found[name].node_type in {"element", "attribute"}:
                found[name] = replace(found[name], name=found[name].name or _component(pointer))
        return dict(sorted(found.items()))

    def node(self, node: Any, pointer: str, *, named: bool) -> XmlNode:
        """One schema where it stands.

        `named` says that a property gives it a name; what others refer to is called after its component.
        """
        if not isinstance(node, dict):
            return XmlNode()
        if "$ref" in node and not node.keys() & _STRUCTURE:
            return self._reference(node, pointer, named=named)
        return self._schema(node, pointer, named=named)

    def _reference(self, node: JsonObject, pointer: str, *, named: bool) -> XmlNode:
        try:
            target, place = self._resolver.follow(node, pointer)
        except BrokenReference:
            return XmlNode()
        if not isinstance(target, dict):
            return XmlNode()
        name = None if named else _component(place)
        beside = _xml(node) if self._version in _BESIDE_A_REFERENCE else {}
        if not named and _is_array([(target, place)]):
            found = self._schema(target, place, named=False)
            return replace(found, name=found.name or name)
        if beside and self._version != "3.2":
            own = {**target, "xml": _xml(target) | beside}
            return XmlNode(node_type="none", name=name, ref=self._definition(pointer, own, place))
        layer = _annotated(XmlNode(ref=self._definition(place, target, place)), beside, "none")
        return layer if layer.name else replace(layer, name=name)

    def _definition(self, key: str, node: JsonObject, pointer: str) -> str:
        """The name of a definition, which is read later: of a place, or of a reference that says more."""
        if key not in self._names:
            stem = _component(pointer) or pointer.rpartition("/")[2]
            taken = set(self._names.values())
            self._names[key] = next(name for name in _numbered(stem) if name not in taken)
            self._waiting.append((self._names[key], node, pointer))
        return self._names[key]

    def _schema(self, node: JsonObject, pointer: str, *, named: bool) -> XmlNode:
        parts = list(parts_of(self._resolver, node, pointer))
        xml = _merged(parts, pointer)
        is_array = _is_array(parts)
        found = XmlNode(
            properties=self._properties(parts),
            additional=self._first(parts, "additionalProperties"),
            items=(self._first(parts, "items", named=named) or XmlNode()) if is_array else None,
            prefix_items=tuple(self._options(parts, "prefixItems", named=named)),
            alternatives=tuple(self._alternatives(parts, named=named)),
        )
        is_union = bool(found.alternatives) and not (xml or found.properties)
        unwrapped = is_array and named and xml.get("wrapped") is not True
        return _annotated(found, xml, "none" if is_union or unwrapped else "element")

    def _properties(self, parts: list[_Part]) -> dict[str, XmlNode]:
        """The properties that the parts declare; the first of a name counts."""
        declared: dict[str, tuple[Any, str]] = {}
        for part, place in parts:
            properties = part.get("properties")
            for name, value in properties.items() if isinstance(properties, dict) else ():
                declared.setdefault(name, (value, join(place, "properties", name)))
        return {name: self.node(*found, named=True) for name, found in declared.items()}

    def _first(self, parts: list[_Part], keyword: str, *, named: bool = True) -> XmlNode | None:
        found = ((part[keyword], place) for part, place in parts if isinstance(part.get(keyword), dict))
        value, place = next(found, (None, ""))
        return None if value is None else self.node(value, join(place, keyword), named=named)

    def _options(self, parts: list[_Part], keyword: str, *, named: bool) -> Iterator[XmlNode]:
        for part, place in parts:
            options = part.get(keyword)
            for index, option in enumerate(options) if isinstance(options, list) else ():
                yield self.node(option, join(place, keyword, index), named=named)

    def _alternatives(self, parts: list[_Part], *, named: bool) -> Iterator[XmlNode]:
        for part, place in parts:
            for keyword in ("oneOf", "anyOf"):
                options = part.get(keyword)
                for index, option in enumerate(options) if isinstance(options, list) else ():
                    if isinstance(option, dict) and keywords.types(option.get("type")) != ["null"]:
                        where = join(place, keyword, index)
                        alternative = self.node(option, where, named=named)
                        yield replace(alternative, when=self._when(option, where, part.get("discriminator")))

    def _when(self, option: JsonObject, pointer: str, discriminator: Any) -> tuple[str, tuple[Any, ...]] | None:
        """By what an alternative is told from the others: its discriminator, or the first property that is fixed."""
        name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
        reference = option.get("$ref")
        if isinstance(name, str) and isinstance(reference, str):
            mapping = discriminator.get("mapping")
            component = reference.rpartition("/")[2]
            mapped = mapping.items() if isinstance(mapping, dict) else ()
            return name, tuple(key for key, value in mapped if value in {reference, component}) or (component,)
        for part, _ in parts_of(self._resolver, option, pointer):
            properties = part.get("properties")
            for key, value in properties.items() if isinstance(properties, dict) else ():
                fixed = _fixed(value) if isinstance(value, dict) else []
                if len(fixed) == 1:
                    return key, tuple(fixed)
        return None


def _fixed(node: JsonObject) -> list[Any]:
    """The values that a schema lists, if it lists them."""
    values = [node["const"]] if "const" in node else node.get("enum")
    return values if isinstance(values, list) else []


def _annotated(node: XmlNode, xml: Mapping[str, Any], default: XmlNodeType) -> XmlNode:
    """A node with what an XML Object says of it; a name is for elements and attributes only."""
    given = next((kind for kind in get_args(XmlNodeType) if kind == xml.get("nodeType")), None)
    kind: XmlNodeType = given or ("attribute" if xml.get("attribute") is True else default)
    if kind not in {"element", "attribute"}:
        return replace(node, node_type=kind)
    name, namespace, prefix = (_text(xml.get(field)) for field in ("name", "namespace", "prefix"))
    return replace(node, node_type=kind, name=name, namespace=namespace, prefix=prefix)


def _merged(parts: list[_Part], pointer: str) -> JsonObject:
    """The XML Object of a schema and the parts of its `allOf`, nearest first.

    That of a part which is referred to counts where the schema only wraps it, not where it adds properties of its own.
    """
    near = [part for part, place in parts if f"{place}/".startswith(f"{pointer}/")]
    far = [part for part, place in parts if not f"{place}/".startswith(f"{pointer}/") and "$ref" not in part]
    if len(far) > 1 or any("properties" in part for part in near):
        far = []
    merged: JsonObject = {}
    for part in reversed(near + far):
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
    """The name of the component that stands at a pointer, in whatever file."""
    found = _COMPONENT.fullmatch(pointer)
    return found[1] if found else None


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    for number in range(2, 1 << 30):
        yield f"{stem}_{number}"
