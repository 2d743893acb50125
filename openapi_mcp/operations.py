"""The operations of a document, with what their path items say for them: each an `Operation`, or one Problem.

Nothing is judged here but whether there is an operation. Webhooks and callbacks are requests that the API makes, and
never operations. Specification: OpenAPI 3.2 Paths, Path Item and Operation Objects.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from .document import Document, join
from .errors import Problem
from .grammar import FIELDS, METHODS
from .resolver import BrokenReference, Resolver
from .runtime.types import JsonObject

_KNOWN: Final = frozenset({"$ref", *FIELDS["PathItem"]})
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Found = tuple[Any, str]
"""A value of the document and its pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: its method as it is sent, its path template, its object and where that stands.

    `item` is its path item, references followed. `parameters` and `servers` are those of the path item and of the
    operation, in that order, as they are written; `overrides` are the `x-mcp` objects from the root to the operation.
    """

    method: str
    path: str
    pointer: str
    value: JsonObject
    parameters: tuple[Found, ...] = ()
    servers: tuple[Found, ...] = ()
    overrides: tuple[Found, ...] = ()

    @property
    def label(self) -> str:
        """The operation in a Problem: `GET /pets`."""
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str | None:
        """The operationId, if there is one that says something."""
        value = self.value.get("operationId")
        return str(value) if isinstance(value, str | int | float) and str(value) else None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, as far as they are strings."""
        tags = self.value.get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    @property
    def deprecated(self) -> bool:
        """Whether the document says so."""
        return self.value.get("deprecated") is True


class _Lost(Exception):
    """There is no operation here, for a reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def operations(document: Document, resolver: Resolver) -> tuple[list[Operation], list[Problem]]:
    """Every operation of every path, in the document's order, and the Problems that the others became."""
    walk = _Walk(document, resolver)
    return list(walk.operations()), walk.problems


class _Walk:
    """One walk over the paths of a document."""

    def __init__(self, document: Document, resolver: Resolver) -> None:
        self.problems: list[Problem] = []
        self._root = document.root
        self._resolver = resolver

    def operations(self) -> Iterator[Operation]:
        paths = self._root.get("paths")
        if not isinstance(paths, dict):
            if paths is not None or not self._root.keys() & {"webhooks", "components"}:
                self._report("#/paths", "there are no paths", "add `paths`, a map from /path to path items")
            return
        for path, item in paths.items():
            if not path.startswith("x-"):
                yield from self._of_path(path, item, join("#/paths", path))

    def _of_path(self, path: str, item: Any, pointer: str) -> Iterator[Operation]:
        if item is None:
            return
        if not path.startswith("/"):
            self._report(pointer, f"the path {path} does not begin with a slash", "write it with one; it is read so")
        try:
            fields = self._fields(item, pointer)
        except BrokenReference as error:
            self.problems.append(replace(error.problem, operation=path))
            fields = _placed({key: value for key, value in item.items() if key != "$ref"}, pointer)
        if fields is None:
            self._report(pointer, "a path item is an object; this one is left out", operation=path)
            return
        taken = set[str]()
        for method, (value, place) in self._methods(fields, pointer):
            label = f"{method} {path}"
            try:
                if method in taken:
                    raise self._lost(place, label, "this operation is there twice", "remove one of them")
                if not _TOKEN.fullmatch(method):
                    raise self._lost(place, label, f"{method} is no HTTP method", "a method is one word")
                taken.add(method)
                yield self._operation(method, path, fields, *self._object(value, place, label))
            except _Lost as lost:
                self.problems.append(lost.problem)

    def _fields(self, item: Any, pointer: str) -> dict[str, Found] | None:
        """The fields of a path item, those of what it refers to first; its own replace them."""
        if not isinstance(item, dict):
            return None
        if "$ref" not in item:
            return _placed(item, pointer)
        target, place = self._resolver.follow(item, pointer)
        fields = self._fields(target, place)
        return None if fields is None else fields | _placed(item, pointer)

    def _methods(self, fields: Mapping[str, Found], pointer: str) -> Iterator[tuple[str, Found]]:
        """The operations by method, as it is sent."""
        for key, found in fields.items():
            if key in METHODS:
                yield key.upper(), found
            elif key == "additionalOperations" and isinstance(found[0], dict):
                yield from _placed(found[0], found[1]).items()
            elif key.lower() in METHODS and isinstance(found[0], dict):
                self._report(found[1], f"the method {key} is not in lower case; it is read as {key.lower()}")
                yield key.upper(), found
            elif key not in _KNOWN and not key.startswith("x-"):
                self._report(join(pointer, key), f"a path item has no field {key}; it is left out")

    def _object(self, value: Any, pointer: str, label: str) -> tuple[JsonObject, str]:
        try:
            value, pointer = self._resolver.follow(value, pointer)
        except BrokenReference as error:
            raise _Lost(replace(error.problem, operation=label)) from error
        if not isinstance(value, dict):
            raise self._lost(pointer, label, "an operation is an object; this one is not", "write at least {}")
        return value, pointer

    def _operation(
        self, method: str, path: str, fields: Mapping[str, Found], value: JsonObject, pointer: str
    ) -> Operation:
        own = _placed(value, pointer)
        levels = [_placed(self._root, "#"), fields, own]
        return Operation(
            method=method,
            path=path,
            pointer=pointer,
            value=value,
            parameters=tuple(level["parameters"] for level in (fields, own) if "parameters" in level),
            servers=tuple(level["servers"] for level in (fields, own) if "servers" in level),
            overrides=tuple(level["x-mcp"] for level in levels if "x-mcp" in level),
        )

    def _report(self, pointer: str, message: str, hint: str = "", operation: str | None = None) -> None:
        place = self._resolver.shown(pointer)
        self.problems.append(Problem(pointer=place, message=message, kind="operation", hint=hint, operation=operation))

    def _lost(self, pointer: str, label: str, message: str, hint: str) -> _Lost:
        place = self._resolver.shown(pointer)
        return _Lost(Problem(pointer=place, message=message, kind="operation", hint=hint, operation=label))


def _placed(value: JsonObject, pointer: str) -> dict[str, Found]:
    return {key: (inner, join(pointer, key)) for key, inner in value.items()}
