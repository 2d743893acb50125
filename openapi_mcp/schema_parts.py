"""What a schema of a document is made of: the parts that apply together, and what they say of a property.

Nothing here follows a reference twice or stops at a broken one. Specification: OpenAPI 3.0.4 Schema Object (`readOnly`,
`writeOnly`), OpenAPI 3.2 "Working with Binary Data".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import keywords
from .document import join
from .resolver import BrokenReference, Resolver
from .runtime import media_types

MOST: Final = 100
"""Parts that are looked at. Real schemas have a dozen; a document made to take hours has thousands."""


def flagged(resolver: Resolver, node: Any, pointer: str, flag: str) -> bool:
    """Whether a property is `readOnly` or `writeOnly`: by itself, by what it refers to, or by a part of its `allOf`."""
    if isinstance(node, dict) and "$ref" not in node and "allOf" not in node:
        return node.get(flag) is True
    return any(part.get(flag) is True for part, _ in parts_of(resolver, node, pointer))


def parts_of(resolver: Resolver, node: Any, pointer: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A schema, what it refers to and the parts of its `allOf`, and so on; broken references are passed over."""
    waiting, seen = [(node, pointer)], set[str]()
    while waiting and len(seen) < MOST:
        node, pointer = waiting.pop()
        if not isinstance(node, dict) or pointer in seen:
            continue
        seen.add(pointer)
        yield node, pointer
        parts = node.get("allOf")
        if isinstance(parts, list):
            waiting += [(part, join(pointer, "allOf", index)) for index, part in reversed(list(enumerate(parts)))]
        if "$ref" in node:
            try:
                waiting.append(resolver.lookup(node["$ref"], pointer))
            except BrokenReference:
                continue


def read_only_names(resolver: Resolver, node: Mapping[str, Any], pointer: str) -> Iterator[str]:
    """The properties that a schema and the parts of its `allOf` declare as `readOnly`."""
    for part, place in parts_of(resolver, node, pointer):
        properties = part.get("properties")
        if isinstance(properties, dict):
            for name, schema in properties.items():
                if flagged(resolver, schema, join(place, "properties", name), "readOnly"):
                    yield name


def is_binary(node: Any) -> bool:
    """Whether a schema describes bytes: `format: binary`, Swagger's `file`, or a media type that is no text (3.1)."""
    if not isinstance(node, Mapping):
        return False
    names = keywords.types(node.get("type", "string"))
    if node.get("type") == "file":
        return True
    if "string" not in names:
        return False
    media_type = node.get("contentMediaType")
    raw = isinstance(media_type, str) and "contentEncoding" not in node and not media_types.is_text(media_type)
    return node.get("format") == "binary" or (raw and "type" in node)
