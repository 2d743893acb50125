"""The undeclared properties of a value's objects, which a schema that allows any name accepts.

Specification: JSON Schema 2020-12 Core §10.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..types import Schema
from . import patterns

MAX_SEARCHED: Final = 10_000
"""Objects and arrays of a value that are searched for undeclared properties; a bound for the time of one call."""


class UndeclaredNames(NamedTuple):
    """Properties of an object that its schemas do not declare, and the declared ones that the object lacks."""

    path: tuple[str | int, ...]
    names: list[str]
    absent: list[str]


def undeclared_names(root: Schema, value: Any) -> Iterator[UndeclaredNames]:
    """Yield the undeclared properties of each object in a value. References start at `root`.

    An object is a map, whose properties have any name, if no property is declared or `additionalProperties` has a
    schema. A closed object is left to validation. A property of a pattern is declared. The alternatives of a union
    declare properties together.
    """
    if isinstance(value, dict) and is_flat_and_declared(value, root):
        return
    search = _DeclarationSearch(root)
    waiting: list[tuple[tuple[str | int, ...], Any, tuple[Any, ...]]] = [((), value, (root,))]
    count = 0
    while waiting and count < MAX_SEARCHED:
        path, container, schemas = waiting.pop()
        count += 1
        declarations = search.declarations(schemas)
        if isinstance(container, dict) and (names := declarations.undeclared(container)):
            yield UndeclaredNames(path, names, [name for name in declarations.properties if name not in container])
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            if count + len(waiting) >= MAX_SEARCHED:
                break
            if isinstance(item, dict | list) and (inner := declarations.schemas(key)):
                waiting.append(((*path, key), item, inner))


_CONTAINERS: Final = (dict, list)


def is_flat_and_declared(value: Mapping[str, Any], root: Schema) -> bool:
    """Return whether an object is what most calls send: scalars, each of which the schema itself declares."""
    properties = root.get("properties", ())
    for name, item in value.items():  # noqa: SIM110  # a generator takes longer than all the rest
        if name not in properties or isinstance(item, _CONTAINERS):
            return False
    return True


class _Declarations:
    """The properties, patterns and items that some schemas of one value declare together."""

    def __init__(self, schemas: Iterable[Schema]) -> None:
        self.properties: dict[str, tuple[Any, ...]] = {}
        self._patterns: list[tuple[str, Any]] = []
        self._others: list[Any] = []
        self._prefixes: list[list[Any]] = []
        self._items: list[Any] = []
        for schema in schemas:
            for name, node in schema.get("properties", {}).items():
                self.properties[name] = (*self.properties.get(name, ()), node)
            self._patterns += schema.get("patternProperties", {}).items()
            self._others.append(schema.get("additionalProperties"))
            self._prefixes.append(schema.get("prefixItems", []))
            self._items.append(schema.get("items"))

    def undeclared(self, value: Mapping[str, Any]) -> list[str]:
        """Return the undeclared properties of an object; none if it is a map, or closed."""
        if not self.properties or any(other is False or (isinstance(other, dict) and other) for other in self._others):
            return []
        names = [name for name in value if name not in self.properties]
        return [name for name in names if not self._matching(name)] if self._patterns else names

    def schemas(self, key: str | int) -> tuple[Any, ...]:
        """Return the schemas of a property or an item."""
        if isinstance(key, int):
            by_index = [prefix[key] for prefix in self._prefixes if key < len(prefix)]
            return (*by_index, *self._items)
        return self.properties.get(key) or tuple(self._matching(key)) or tuple(self._others)

    def _matching(self, name: str) -> list[Any]:
        return [node for pattern, node in self._patterns if patterns.search(pattern, name)]


class _DeclarationSearch:
    """Finder of the declarations of schemas, with those that they apply to the same value; each set is read once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._cache: dict[tuple[int, ...], _Declarations] = {}

    def declarations(self, schemas: tuple[Any, ...]) -> _Declarations:
        key = tuple(map(id, schemas))
        if key not in self._cache:
            self._cache[key] = _Declarations(self._applied(schemas))
        return self._cache[key]

    def _applied(self, schemas: Iterable[Any]) -> Iterator[Schema]:
        waiting, visited = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in visited:
                continue
            visited.add(id(schema))
            yield schema
            for keyword in ("allOf", "anyOf", "oneOf"):
                waiting += schema.get(keyword, [])
            waiting += [schema.get("then"), schema.get("else"), *schema.get("dependentSchemas", {}).values()]
            if (target := schema.get("$ref", "")).startswith("#/$defs/"):
                waiting.append(self._root.get("$defs", {}).get(target.removeprefix("#/$defs/")))
