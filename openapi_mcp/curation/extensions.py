"""Read `x-mcp` on parameters, and on properties of request bodies, at any depth; its keys are those of `curation.keys`.

A property of an object body is an argument of its own. One that lies deeper, or in a body that is one argument, is
found by its path: through `properties`, the `items` of lists, `allOf`, `anyOf` and `oneOf`, and references.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..document.model import Document, join
from ..document.objects import METHODS
from ..document.resolver import Resolver
from ..errors import Problem
from ..runtime.request.build import EACH_ITEM
from .arguments import Changes, InputParts, changed, read_changes
from .properties import changed_within

MAX_PARTS: Final = 2_000
"""Schemas of a body that are searched for `x-mcp`."""

MAX_DEPTH: Final = 8
"""Names and lists on the way to a property. A schema within itself is not searched again."""

_COMBINATORS: Final = ("allOf", "anyOf", "oneOf")
_NESTING: Final = frozenset({"$ref", "properties", "items", *_COMBINATORS})

_OTHER_FIELDS: Final = frozenset({"openapi", "swagger", "responses", "in", *METHODS})
"""Fields of other objects with `x-mcp`: of the root, a path item, an operation, a parameter."""

LocatedNode = tuple[Any, str]
"""A value of the document and its JSON pointer."""

ArgumentKey = tuple[str, str | None]
"""The location of an argument, and its name in the document."""


class _Found(NamedTuple):
    """An `x-mcp` in a body, and the path of its property."""

    path: tuple[str, ...]
    node: LocatedNode


_Schema: TypeAlias = tuple[Any, str, tuple[str | int, ...], tuple[str, ...], frozenset[str]]
"""A schema of a body: the pointer of a schema around it and the keys from there, its path, and what is around it."""


_Part: TypeAlias = tuple[tuple[str | int, ...], Any, tuple[str, ...]]
"""A schema in another one: the keys that lead to it, and its path."""


class ArgumentExtensions:
    """The `x-mcp` of the arguments of one document's operations."""

    def __init__(
        self, document: Document, resolver: Resolver, report: Callable[[Problem], None], max_text_length: int
    ) -> None:
        self._is_used = _has_extended_schema(document.root)
        self._resolver = resolver
        self._report = report
        self._max_text_length = max_text_length
        self._of_bodies: dict[str, Sequence[_Found]] = {}  # by the pointer of the body's schema

    def apply(
        self, parts: InputParts, of_parameters: Mapping[ArgumentKey, LocatedNode], body: str | None
    ) -> InputParts:
        """Return the inputs of an operation with what `x-mcp` says of its parameters and its body's properties.

        `body` is the pointer of the body's schema.
        """
        found = dict(of_parameters)
        in_body = self._of_body(body) if body is not None and self._is_used else ()
        if not (found or in_body):
            return parts
        names: dict[ArgumentKey, str] = {(each.location, each.wire_name): each.name for each in parts.arguments}
        own = {("body", each.path[0]): each.node for each in in_body if len(each.path) == 1}
        found |= {key: node for key, node in own.items() if key in names}
        parts = self._with_inner(parts, in_body, names)
        changes: dict[str, Changes] = {}
        for key, (value, pointer) in found.items():
            if key not in names:
                self._problem(pointer, "`x-mcp` has no effect: this is not an argument of its own")
            elif (change := self._changes(value, pointer)) is not None:
                changes[names[key]] = change
        return changed(parts, changes, self._max_text_length) if changes else parts

    def _with_inner(self, parts: InputParts, found: Sequence[_Found], names: Mapping[ArgumentKey, str]) -> InputParts:
        """Return the inputs with what `x-mcp` says of properties within arguments."""
        for path, (value, pointer) in found:
            whole, own = names.get(("body", None)), names.get(("body", path[0]))
            if own is not None and len(path) == 1:
                continue
            name, inner = (own, path[1:]) if own is not None else (whole, path)
            change = self._changes(value, pointer)
            if change is None:
                continue
            new = None if name is None else changed_within(parts, name, inner, change, self._max_text_length)
            if new is None:
                self._problem(pointer, "`x-mcp` has no effect: models do not see this property")
            parts = new or parts
        return parts

    def _changes(self, value: Any, pointer: str) -> Changes | None:
        return read_changes(value, lambda message: self._problem(pointer, message))

    def _of_body(self, pointer: str) -> Sequence[_Found]:
        """Return the `x-mcp` of the properties of a body's schema, which stands at a pointer."""
        if pointer not in self._of_bodies:
            self._of_bodies[pointer] = tuple(self._search(pointer))
        return self._of_bodies[pointer]

    def _search(self, pointer: str) -> Iterator[_Found]:
        """Yield the `x-mcp` of all properties of a schema, the outer ones first."""
        waiting: deque[_Schema] = deque([({"$ref": pointer}, "#", (), (), frozenset())])
        for _ in range(MAX_PARTS):
            if not waiting:
                return
            node, base, steps, path, outer = waiting.popleft()
            if "$ref" in node:
                node, base = self._resolver.follow_if_possible(node, join(base, *steps))
                if base in outer:
                    continue
                steps, outer = (), outer | {base}
            if not isinstance(node, dict) or len(path) > MAX_DEPTH:
                continue
            for keys, schema, new_path in _parts(node, path):
                if isinstance(schema, dict):
                    if keys[0] == "properties" and "x-mcp" in schema:
                        yield _Found(new_path, (schema["x-mcp"], join(base, *steps, *keys, "x-mcp")))
                    if not _NESTING.isdisjoint(schema):
                        waiting.append((schema, base, (*steps, *keys), new_path, outer))

    def _problem(self, pointer: str, message: str) -> None:
        self._report(Problem(pointer=self._resolver.display(pointer), message=message, kind="x-mcp"))


def _has_extended_schema(root: Any) -> bool:
    """Return whether a document has `x-mcp` on a schema, which few have: then no body need be searched.

    A value that stands in several places, as after the conversion of Swagger 2.0, is looked at once; empty ones,
    of which a document may have two million, not at all.
    """
    waiting, seen = [root], {id(root)}
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "x-mcp" in node and _OTHER_FIELDS.isdisjoint(node):
                return True
            node = node.values()
        for value in node:
            if value and isinstance(value, (dict, list)) and id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)
    return False


def _parts(node: Mapping[str, Any], path: tuple[str, ...]) -> list[_Part]:
    """Return the schemas in a schema: of its properties, of its items, and of its branches."""
    parts: list[_Part] = []
    if isinstance(properties := node.get("properties"), dict):
        parts += [(("properties", name), schema, (*path, name)) for name, schema in properties.items()]
    if "items" in node:
        parts.append((("items",), node["items"], (*path, EACH_ITEM)))
    for keyword in _COMBINATORS:
        if isinstance(branches := node.get(keyword), list):
            parts += [((keyword, index), branch, path) for index, branch in enumerate(branches)]
    return parts
