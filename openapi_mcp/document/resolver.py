"""Follow references: from a `$ref` to the value that it names and the pointer of that value.

Nothing is copied, inlined or fetched. A reference that leads nowhere raises BrokenReference, whose Problem says where
and why, so that only the operations that need it are lost.

`Identifiers` is the index of `$self`, `$id`, `$anchor` and `$dynamicAnchor` (OpenAPI 3.1 and later). An identifier is a
name inside this document; no URI is fetched because of one.

Specification: OpenAPI 3.2 Reference Object and section 4.1.2 (`$self`); RFC 6901 section 6; JSON Schema Core 2020-12
section 8.2.
"""

import posixpath
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from ..errors import Problem
from ..runtime.types import JsonObject
from .model import FILES, UNREAD, Document, join, split, step
from .swagger2.pointers import original_pointer

_DATA: Final = frozenset({"default", "enum", "const", "example", "examples", "value", "dataValue"})
"""Fields that hold values rather than schemas: a `$id` in there is data."""


MAX_CHAIN: Final = 100
"""References that lead from one to the next, or through one another. Real chains have three."""

MAX_STEPS: Final = 500_000
"""Visits of schemas, properties and parameters in one compilation, beside those for the size of the document. Known
documents take up to 213,000."""

_STEPS_PER_VALUE: Final = 5
"""Visits for each value of the document. Known documents take up to three."""


class BrokenReference(Exception):
    """A reference that cannot be followed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Identifiers:
    """The identifiers of one document, indexed by one walk over all of it."""

    def __init__(self, document: Document) -> None:
        self._pointers: dict[str, str] = {}  # absolute URI, with an anchor as fragment or without -> pointer
        self._bases: dict[str, str] = {}  # pointer of a resource -> its absolute URI
        self._name("#", document.uri)
        for index, uri in enumerate(document.files):
            self._name(join("#", FILES, index), uri)
        if document.version in ("3.1", "3.2"):
            self._collect(document)

    def absolute(self, ref: str, pointer: str) -> str:
        """Return the absolute URI of a reference at `pointer`."""
        return _absolute(self._base(pointer), ref)

    def pointer(self, uri: str) -> str | None:
        """Return the pointer for an absolute URI (its fragment may be a JSON pointer), None for another document's."""
        if uri in self._pointers:
            return self._pointers[uri]
        resource, fragment = urldefrag(uri)
        if resource in self._pointers and (not fragment or fragment.startswith("/")):
            return self._pointers[resource] + fragment
        return None

    def _base(self, pointer: str) -> str:
        """Return the base URI at a pointer: that of the innermost resource around it."""
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
                    self._pointers.setdefault(f"{self._base(pointer)}#{schema[keyword]}", pointer)

    def _name(self, pointer: str, uri: str) -> None:
        self._bases[pointer] = uri
        self._pointers.setdefault(uri, pointer)


class Resolver:
    """Follower of the references of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        # What `schemas.subschemas` has found before, by pointer: it asks for shared schemas many times.
        self.flags: dict[tuple[str, str], bool] = {}
        self.read_only: dict[str, tuple[Collection[str], Collection[str]]] = {}
        self._targets: dict[str, tuple[Any, str]] = {}
        self._identified_targets: dict[tuple[str, str], tuple[Any, str]] = {}  # by a reference and its pointer
        self._walking: set[str] = set()
        self._steps = MAX_STEPS + _STEPS_PER_VALUE * document.values
        self._identifiers: Identifiers | None = None

    def spend(self, steps: int = 1) -> bool:
        """Count work that grows with how often parts are referred to; return False where there was too much of it."""
        self._steps -= steps
        return self._steps > 0

    @property
    def is_exhausted(self) -> bool:
        """Return whether `spend` has returned False."""
        return self._steps <= 0

    @property
    def identifiers(self) -> Identifiers:
        """The document's `$id`s and anchors, indexed on first use."""
        if self._identifiers is None:
            self._identifiers = Identifiers(self.document)
        return self._identifiers

    def follow(self, node: Any, pointer: str) -> tuple[Any, str]:
        """Return the value at the end of a chain of `$ref`, or `node` itself, and its pointer.

        Keywords beside a `$ref` are left to the caller. Raises BrokenReference for a chain that leads nowhere or to
        itself.
        """
        passed = set[str]()
        while isinstance(node, dict) and "$ref" in node:
            if pointer in passed:
                hint = "replace one of them by a definition"
                raise self._broken(pointer, "these references only refer to each other", hint)
            if len(passed) >= MAX_CHAIN:
                raise self._too_long(pointer)
            passed.add(pointer)
            node, pointer = self.lookup(node["$ref"], pointer)
        return node, pointer

    def lookup(self, ref: Any, pointer: str) -> tuple[Any, str]:
        """Return the target of one reference that is at `pointer`, and the target's pointer. Raises BrokenReference."""
        if not isinstance(ref, str):
            raise self._broken(pointer, f"a $ref must be a string, this one is {_kind(ref)}")
        if not ref:
            raise self._broken(pointer, "this $ref is empty", "write the reference, e.g. #/components/schemas/Pet")
        if ref[:4].lower() == "#%2f":
            ref = unquote(ref)
        if ref == "#" and pointer != "#" and (target := self._own_resource(pointer)):
            return target
        if ref not in self._targets and (ref == "#" or ref.startswith("#/")):
            target = self._walk(ref, pointer)
            if target:
                self._targets[ref] = target
        if ref in self._targets:
            return self._targets[ref]
        if (ref, pointer) not in self._identified_targets:
            self._identified_targets[ref, pointer] = self._identified(ref, pointer)
        return self._identified_targets[ref, pointer]

    def _own_resource(self, pointer: str) -> tuple[Any, str] | None:
        """Return the schema with an `$id` around `pointer`, which is what `#` means there; None outside of any."""
        resource = self.identifiers.pointer(self.identifiers.absolute("#", pointer).removesuffix("#"))
        return self._walk(resource, pointer) if resource and resource != "#" else None

    def owns(self, ref: str, pointer: str) -> bool:
        """Return whether the file part of a reference names this document or a schema in it, not another file."""
        file = ref.partition("#")[0]
        return not file or self.identifiers.pointer(self.identifiers.absolute(file, pointer)) is not None

    def display(self, pointer: str) -> str:
        """Return a pointer for users: `#/paths/~1pets`, or `schemas/a.yaml#/definitions/X` in another file.

        Files are named relative to the folder of the root document, those of another origin by their URI. Pointers of a
        document that was converted from Swagger 2.0 become those of that document.
        """
        if self.document.source is not None and pointer.startswith("#/"):
            return self._display_original(pointer)
        if pointer.startswith(f"#/{FILES}/"):
            index, _, rest = pointer[len(f"#/{FILES}/") :].partition("/")
            if index.isdecimal() and int(index) < len(self.document.files):
                return f"{relative(self.document.files[int(index)], self.document.uri)}#{'/' if rest else ''}{rest}"
        return pointer

    def locate(self, pointer: str) -> str:
        """Return the pointer of the value that a path through references leads to; the path itself if it is broken."""
        try:
            target = self._walk(pointer, pointer)
        except BrokenReference:
            return pointer
        return target[1] if target else pointer

    @cached_property
    def _original(self) -> "Resolver":
        """The resolver of the document before its conversion."""
        return Resolver(self.document.as_written())

    def _display_original(self, pointer: str) -> str:
        for converted, original in self.document.origins.items():
            if pointer == converted or pointer.startswith(converted + "/"):
                return self._original.display(original + pointer.removeprefix(converted))
        if pointer.startswith(f"#/{FILES}/"):
            return self._original.display(pointer)
        source: JsonObject = self.document.source or {}
        return self._original.display(original_pointer(split(pointer), source, self._original.follow_if_possible))

    def follow_if_possible(self, node: Any, pointer: str) -> tuple[Any, str]:
        """Follow references as `follow` does; return `node` itself where they lead nowhere."""
        try:
            return self.follow(node, pointer)
        except BrokenReference:
            return node, pointer

    def _walk(self, ref: str, pointer: str) -> tuple[Any, str] | None:
        """Follow a JSON pointer from the root, and references on the way; return None if it leads nowhere."""
        if len(self._walking) >= MAX_CHAIN:
            raise self._too_long(pointer)
        if ref in self._walking:
            raise self._broken(pointer, f"this reference is on the path to its own target, {self.display(ref)}")
        self._walking.add(ref)
        try:
            node, location = self.document.root, "#"
            for token in ref.split("/")[1:]:
                node, location = self._step(node, location, token)
        except LookupError:
            return None
        except _Unread as unread:
            reason, hint = unread.node[UNREAD], unread.node.get("hint", "")
            raise self._broken(pointer, f"{self.display(ref).removesuffix('#')} {reason}", hint) from None
        finally:
            self._walking.discard(ref)
        return node, location

    def _step(self, node: Any, pointer: str, token: str) -> tuple[Any, str]:
        try:
            inner, name = step(node, token)
        except LookupError:
            if not (isinstance(node, dict) and isinstance(node.get("$ref"), str)):
                raise
            target, pointer = self.follow(node, pointer)
            inner, name = step(target, token)
        if isinstance(inner, dict) and UNREAD in inner:
            raise _Unread(inner)
        return inner, f"{pointer}/{name}"

    def _identified(self, ref: str, pointer: str) -> tuple[Any, str]:
        """Return the target of a reference by URI or anchor, and its pointer. Raises BrokenReference."""
        for base in (pointer, "#"):  # an anchor of the document counts where the schema's own resource has none
            location = self.identifiers.pointer(self.identifiers.absolute(ref, base))
            target = self._walk(location, pointer) if location and location != ref else None
            if target:
                return target
        missing = self.display(ref)
        raise self._broken(pointer, f"there is nothing at {missing}", "correct the $ref, or add its target")

    def _too_long(self, pointer: str) -> BrokenReference:
        message = f"more than {MAX_CHAIN} references lead from one to the next"
        return self._broken(pointer, message, "refer to the definition itself")

    def _broken(self, pointer: str, message: str, hint: str = "") -> BrokenReference:
        return BrokenReference(Problem(pointer=self.display(pointer), kind="reference", message=message, hint=hint))


def relative(uri: str, base: str) -> str:
    """Return a URI relative to the folder of `base`, as users write it; unchanged if the two differ in origin."""
    try:
        target, origin = urlsplit(uri), urlsplit(Path.cwd().as_uri() + "/" if base.startswith("stdin:") else base)
    except ValueError:  # not a URI
        return uri
    if (target.scheme, target.netloc) != (origin.scheme, origin.netloc):
        return uri
    path = posixpath.relpath(target.path, posixpath.dirname(origin.path) or "/")
    return unquote(path) + (f"?{target.query}" if target.query else "")


def _mappings(root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every mapping that may be a schema, outer ones first."""
    seen = {id(root)}
    start: Iterator[tuple[str | int, Any]] = iter([("", root)])
    stack = [("#", start)]
    while stack:
        pointer, items = stack[-1]
        for key, node in items:
            inside = join(pointer, key) if len(stack) > 1 else pointer
            if isinstance(node, dict):
                yield node, inside
            stack.append((inside, _inner(node, inside, seen)))
            break
        else:
            stack.pop()


def _inner(node: Any, pointer: str, seen: set[int]) -> Iterator[tuple[str | int, Any]]:
    """Yield the objects and lists in one that were not seen and that are no data."""
    names_schemas = pointer.endswith(("/properties", "/schemas", "/$defs", "/definitions"))
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list) and (names_schemas or key not in _DATA) and id(value) not in seen:
            seen.add(id(value))
            yield key, value


def _absolute(base: str, ref: str) -> str:
    """Resolve `ref` against `base` (RFC 3986 section 5.2); with a URN or `stdin:` as base it stays relative."""
    if ref.startswith("#") or not ref:
        return urldefrag(base).url + ref
    try:
        return ref if urlsplit(ref).scheme else urljoin(base, ref)
    except ValueError:  # not a URI
        return ref


class _Unread(Exception):
    """A step into a file that could not be read; `node` is the entry with the reason."""

    def __init__(self, node: JsonObject) -> None:
        super().__init__(node)
        self.node = node


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
