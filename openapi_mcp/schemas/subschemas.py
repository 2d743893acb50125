"""Find the schemas that apply together in a document (`$ref`, `allOf`), and the names and flags of their properties.

No reference is followed twice, and broken ones are skipped. Once the resolver has no steps left, what was found so far
counts. Specification: OpenAPI 3.0.4 Schema Object (`readOnly`, `writeOnly`).
"""

from collections.abc import Collection, Iterator, Mapping, Set
from itertools import islice
from typing import Any, Final

from ..document.model import join
from ..document.resolver import BrokenReference, Resolver

MAX_SUBSCHEMAS: Final = 100
"""Schemas that are visited. Real ones have a dozen parts; a document made to take hours has thousands."""


def has_flag(resolver: Resolver, node: Any, owner: str, name: str, flag: str) -> bool:
    """Return whether a property, the target of its `$ref` or a part of its `allOf` has `readOnly` or `writeOnly`.

    `owner` is the pointer of the schema whose property it is.
    """
    if isinstance(node, dict) and "$ref" not in node and "allOf" not in node:
        return node.get(flag) is True
    pointer = join(owner, "properties", name)
    if not isinstance(node, dict) or "allOf" in node or node.get(flag) is True:
        return any(part.get(flag) is True for part, _ in parts_of(resolver, node, pointer))
    try:
        target, pointer = resolver.lookup(node["$ref"], pointer)
    except BrokenReference:
        return False
    if (pointer, flag) not in resolver.flags:
        resolver.flags[pointer, flag] = any(part.get(flag) is True for part, _ in parts_of(resolver, target, pointer))
    return resolver.flags[pointer, flag]


def parts_of(
    resolver: Resolver, node: Any, pointer: str, *, alternatives: bool = False
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield a schema, the target of its `$ref` and the parts of its `allOf`, recursively, with their pointers.

    With `alternatives` also the schemas that apply to some of its values: those of `anyOf`, `oneOf`, `then` and so on.
    """
    stack, visited = [(node, pointer)], set[str]()
    while stack and len(visited) < MAX_SUBSCHEMAS:
        node, pointer = stack.pop()
        if not isinstance(node, dict) or pointer in visited:
            continue
        visited.add(pointer)
        if not resolver.spend():
            return
        yield node, pointer
        if alternatives:
            stack += _alternatives(node, pointer)
        stack += _listed(node, "allOf", pointer)
        if "$ref" in node:
            try:
                stack.append(resolver.lookup(node["$ref"], pointer))
            except BrokenReference:
                continue


def _alternatives(node: Mapping[str, Any], pointer: str) -> Iterator[tuple[Any, str]]:
    for keyword in ("anyOf", "oneOf"):
        yield from _listed(node, keyword, pointer)
    for keyword in ("then", "else"):
        if keyword in node:
            yield node[keyword], join(pointer, keyword)
    dependent = node.get("dependentSchemas")
    for name, schema in islice(dependent.items(), MAX_SUBSCHEMAS) if isinstance(dependent, dict) else ():
        yield schema, join(pointer, "dependentSchemas", name)


def _listed(node: Mapping[str, Any], keyword: str, pointer: str) -> list[tuple[Any, str]]:
    """Return the first schemas of a list with their pointers, the last one first."""
    schemas = node.get(keyword)
    if not isinstance(schemas, list):
        return []
    listed = list(enumerate(schemas[:MAX_SUBSCHEMAS]))
    return [(schema, join(pointer, keyword, index)) for index, schema in reversed(listed)]


def read_only_names(
    resolver: Resolver, node: Mapping[str, Any], pointer: str, *, alternatives: bool = False
) -> frozenset[str]:
    """Return the properties that a schema, the parts of its `allOf` or its `alternatives` declare as `readOnly`.

    `readOnly: false` in one of them counts more: it is written to make a property of another part writable.
    """
    names, writable = set[str](), set[str]()
    for part, location in parts_of(resolver, node, pointer, alternatives=alternatives):
        if not resolver.spend(len(_properties(part))):
            break
        if location not in resolver.read_only:
            resolver.read_only[location] = _read_only_properties(resolver, part, location)
        names.update(resolver.read_only[location][0])
        writable.update(resolver.read_only[location][1])
    return frozenset(names - writable)


def _read_only_properties(
    resolver: Resolver, node: Mapping[str, Any], pointer: str
) -> tuple[Collection[str], Collection[str]]:
    """Return the properties of a schema that are `readOnly`, and those for which it says `readOnly: false`."""
    names, writable = list[str](), list[str]()
    for name, schema in _properties(node).items():
        if isinstance(schema, dict) and schema.get("readOnly") is False:
            writable.append(name)
        elif has_flag(resolver, schema, pointer, name, "readOnly"):
            names.append(name)
    return names, writable


def property_names(resolver: Resolver, node: Any, pointer: str) -> frozenset[str]:
    """Return the properties that a schema, the parts of its `allOf` or its alternatives declare or require."""
    names = set[str]()
    for part, _ in parts_of(resolver, node, pointer, alternatives=True):
        if not resolver.spend(len(_properties(part))):
            break
        names |= _properties(part).keys()
        dependent = part.get("dependentRequired")
        for required in (part.get("required"), *(dependent.values() if isinstance(dependent, dict) else ())):
            names |= {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return frozenset(names)


def _properties(node: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = node.get("properties")
    return properties if isinstance(properties, dict) else {}


def contains_keyword(resolver: Resolver, node: Any, pointer: str, keywords: Set[str]) -> bool:
    """Return whether a schema or one that it refers to has one of these keywords, or too many schemas to be searched.

    A property of such a name counts as well.
    """
    stack, visited = [(node, pointer)], set[str]()
    while stack and len(visited) < MAX_SUBSCHEMAS:
        node, pointer = stack.pop()
        if pointer in visited or not isinstance(node, dict | list):
            continue
        visited.add(pointer)
        if len(node) > MAX_SUBSCHEMAS or not resolver.spend(len(node)):
            return True
        if isinstance(node, list):
            stack += [(item, join(pointer, index)) for index, item in enumerate(node)]
            continue
        if node.keys() & keywords:
            return True
        stack += [(value, join(pointer, key)) for key, value in node.items()]
        if isinstance(node.get("$ref"), str):
            try:
                stack.append(resolver.lookup(node["$ref"], pointer))
            except BrokenReference:
                continue
    return bool(stack)
