"""What `$self`, `$id`, `$anchor` and `$dynamicAnchor` name: the identifiers of JSON Schema 2020-12 in one document.

An identifier names a place of this document and nothing else: no URI is ever fetched because of one. OpenAPI 2.0 and
3.0 have none. Specification: JSON Schema Core 2020-12 section 8.2; OpenAPI 3.2 section 4.1.2 (`$self`).
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from .document import FILES, Document, join

_DATA: Final = frozenset({"default", "enum", "const", "example", "examples", "value", "dataValue"})
"""Fields that hold values rather than schemas; what looks like an identifier in there is part of the value."""


class Identifiers:
    """The index of one document, made once by walking all of it."""

    def __init__(self, document: Document) -> None:
        self._places: dict[str, str] = {}  # an absolute URI, perhaps with an anchor for a fragment -> a pointer
        self._bases: dict[str, str] = {}  # the pointer of a resource -> its absolute URI
        self._name("#", document.uri)
        for index, uri in enumerate(document.files):
            self._name(join("#", FILES, index), uri)
        if document.version in ("3.1", "3.2"):
            self._collect(document)

    def absolute(self, ref: str, pointer: str) -> str:
        """The absolute URI of a reference that stands at `pointer`."""
        return _absolute(self._base(pointer), ref)

    def place(self, uri: str) -> str | None:
        """The pointer of what an absolute URI names, if it is in this document; its fragment may be a JSON pointer."""
        if uri in self._places:
            return self._places[uri]
        resource, fragment = urldefrag(uri)
        if resource in self._places and (not fragment or fragment.startswith("/")):
            return self._places[resource] + fragment
        return None

    def _base(self, pointer: str) -> str:
        """The base URI at a place: that of the innermost resource around it."""
        while pointer and pointer not in self._bases:
            pointer = pointer.rpartition("/")[0]
        return self._bases[pointer or "#"]

    def _collect(self, document: Document) -> None:
        own = document.root.get("$self") if isinstance(document.root, dict) else None
        if isinstance(own, str):
            self._name("#", _absolute(document.uri, own))
        for schema, pointer in _mappings(document.root):
            if isinstance(schema.get("$id"), str) and pointer not in self._bases:
                self._name(pointer, _absolute(self._base(pointer), urldefrag(schema["$id"]).url))
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(keyword), str):
                    self._places.setdefault(f"{self._base(pointer)}#{schema[keyword]}", pointer)

    def _name(self, pointer: str, uri: str) -> None:
        self._bases[pointer] = uri
        self._places.setdefault(uri, pointer)


def _mappings(root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every mapping that may be a schema, outer ones first."""
    stack, seen = [(root, "#")], {id(root)}
    while stack:
        node, pointer = stack.pop()
        if isinstance(node, dict):
            yield node, pointer
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            data = key in _DATA and not pointer.endswith(("/properties", "/schemas", "/$defs", "/definitions"))
            if isinstance(value, dict | list) and not data and id(value) not in seen:
                seen.add(id(value))
                stack.append((value, join(pointer, key)))


def _absolute(base: str, ref: str) -> str:
    """`ref` resolved against `base` (RFC 3986 section 5.2); URNs and `stdin:` have nothing to resolve against."""
    if ref.startswith("#") or not ref:
        return urldefrag(base).url + ref
    try:
        return ref if urlsplit(ref).scheme else urljoin(base, ref)
    except ValueError:  # no URI at all
        return ref
