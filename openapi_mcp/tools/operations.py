"""Read the operations of a document, each with the fields that its path item adds: an `Operation`, or one Problem.

Only the existence of an operation is checked here. Webhooks and callbacks are requests that the API sends, so they are
never operations. Specification: OpenAPI 3.2 Paths, Path Item and Operation Objects.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from ..curation.foreign import extensions
from ..document.model import Document, join
from ..document.objects import FIELDS, METHODS
from ..document.resolver import BrokenReference, Resolver
from ..errors import DocumentError, Problem
from ..runtime.types import JsonObject

_PATH_ITEM_FIELDS: Final = frozenset({"$ref", *FIELDS["PathItem"]})
_METHOD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

MAX_OPERATIONS: Final = 50_000
"""Operations of a document: twice those of the largest APIs. Path items can be shared, so that a small document can
have millions."""

LocatedNode = tuple[Any, str]
"""A value of the document and its JSON pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation: its method as it is sent, its path template, its Operation Object (`value`) and its pointer.

    `parameters` and `servers` are those of the path item and of the operation, in that order, as the document has them;
    `overrides` are the `x-mcp` values from the root to the operation, with those of other programs' extensions.
    """

    method: str
    path: str
    pointer: str
    value: JsonObject
    parameters: tuple[LocatedNode, ...] = ()
    servers: tuple[LocatedNode, ...] = ()
    overrides: tuple[LocatedNode, ...] = ()

    @property
    def label(self) -> str:
        """The operation as a Problem names it: `GET /pets`."""
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str | None:
        """The operationId, or None where it is missing, empty or not a scalar."""
        value = self.value.get("operationId")
        return str(value) if isinstance(value, str | int | float) and str(value) else None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that are strings."""
        tags = self.value.get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    @property
    def deprecated(self) -> bool:
        """True where the document marks the operation as deprecated."""
        return self.value.get("deprecated") is True


class _InvalidOperation(Exception):
    """An entry of a path item that is not an operation, with the Problem that reports it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def operations(document: Document, resolver: Resolver) -> tuple[list[Operation], list[Problem]]:
    """Return the operations of all paths, in the document's order, and the Problems of those that are invalid.

    Raises DocumentError for more than `MAX_OPERATIONS`.
    """
    reader = _PathReader(document, resolver)
    found = list(islice(reader.operations(), MAX_OPERATIONS + 1))
    if max(len(found), len(reader.problems)) > MAX_OPERATIONS:
        message = f"the document has more than {MAX_OPERATIONS:,} operations, or defects of operations"
        raise DocumentError(message, where=document.uri, hint="divide it into several documents")
    return found, reader.problems


class _PathReader:
    """A reader of the paths of one document."""

    def __init__(self, document: Document, resolver: Resolver) -> None:
        self.problems: list[Problem] = []
        self._root = document.root
        self._resolver = resolver

    def operations(self) -> Iterator[Operation]:
        paths = self._root.get("paths")
        if not isinstance(paths, dict):
            if paths is not None or not self._root.keys() & {"webhooks", "components"}:
                self._report("#/paths", "the document has no paths", "add `paths`, a map from /path to path items")
            return
        for path, item in paths.items():
            if len(self.problems) > MAX_OPERATIONS:
                return
            if not path.startswith("x-"):
                yield from self._of_path(path, item, join("#/paths", path))

    def _of_path(self, path: str, item: Any, pointer: str) -> Iterator[Operation]:
        if item is None:
            return
        if not path.startswith("/"):
            message = f"the path {path} does not begin with a slash; calls are sent with one"
            self._report(pointer, message, "write the path with a slash")
        try:
            fields = self._fields(item, pointer)
        except BrokenReference as error:
            self.problems.append(replace(error.problem, operation=path))
            fields = _located_fields({key: value for key, value in item.items() if key != "$ref"}, pointer)
        if fields is None:
            self._report(pointer, "the path item is not an object; it is left out", operation=path)
            return
        methods = set[str]()
        for method, (value, location) in self._methods(fields, pointer):
            label = f"{method} {path}"
            try:
                if method in methods:
                    raise self._invalid(location, label, "the path has two operations of this method", "remove one")
                if not _METHOD.fullmatch(method):
                    hint = "a method is a token of RFC 9110, such as GET"
                    raise self._invalid(location, label, f"{method} is not an HTTP method", hint)
                methods.add(method)
                yield self._operation(method, path, fields, *self._object(value, location, label))
            except _InvalidOperation as error:
                self.problems.append(error.problem)

    def _fields(self, item: Any, pointer: str) -> dict[str, LocatedNode] | None:
        """Return the fields of a path item with those of its `$ref` target, which its own replace."""
        if not isinstance(item, dict):
            return None
        if "$ref" not in item:
            return _located_fields(item, pointer)
        fields = self._fields(*self._resolver.follow(item, pointer))
        return None if fields is None else fields | _located_fields(item, pointer)

    def _methods(self, fields: Mapping[str, LocatedNode], pointer: str) -> Iterator[tuple[str, LocatedNode]]:
        """Yield each operation's method, as it is sent, and its node."""
        for key, (value, location) in fields.items():
            if key in METHODS:
                yield key.upper(), (value, location)
            elif key == "additionalOperations" and isinstance(value, dict):
                yield from _located_fields(value, location).items()
            elif key.lower() in METHODS and isinstance(value, dict):
                self._report(location, f"the method {key} is not in lower case; it is read as {key.lower()}")
                yield key.upper(), (value, location)
            elif key not in _PATH_ITEM_FIELDS and not key.startswith("x-"):
                self._report(join(pointer, key), f"{key} is not a field of a path item; it is left out")

    def _object(self, value: Any, pointer: str, label: str) -> tuple[JsonObject, str]:
        try:
            value, pointer = self._resolver.follow(value, pointer)
        except BrokenReference as error:
            raise _InvalidOperation(replace(error.problem, operation=label)) from error
        if not isinstance(value, dict):
            raise self._invalid(pointer, label, "the operation is not an object; it is left out", "write at least {}")
        return value, pointer

    def _operation(
        self, method: str, path: str, fields: Mapping[str, LocatedNode], value: JsonObject, pointer: str
    ) -> Operation:
        own = _located_fields(value, pointer)
        levels = [_located_fields(self._root, "#"), fields, own]
        return Operation(
            method=method,
            path=path,
            pointer=pointer,
            value=value,
            parameters=tuple(level["parameters"] for level in (fields, own) if "parameters" in level),
            servers=tuple(level["servers"] for level in (fields, own) if "servers" in level),
            overrides=tuple(found for level in levels for found in extensions(level)),
        )

    def _report(self, pointer: str, message: str, hint: str = "", operation: str | None = None) -> None:
        self.problems.append(self._problem(pointer, message, hint, operation))

    def _invalid(self, pointer: str, label: str, message: str, hint: str) -> _InvalidOperation:
        return _InvalidOperation(self._problem(pointer, message, hint, label))

    def _problem(self, pointer: str, message: str, hint: str, operation: str | None) -> Problem:
        pointer = self._resolver.display(pointer)
        return Problem(pointer=pointer, message=message, kind="operation", hint=hint, operation=operation)


def _located_fields(value: JsonObject, pointer: str) -> dict[str, LocatedNode]:
    """Return the fields of an object, each with its pointer."""
    return {key: (inner, join(pointer, key)) for key, inner in value.items()}
