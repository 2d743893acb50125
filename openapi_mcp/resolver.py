"""References, followed where they stand: from a `$ref` to the value it names and the pointer of that value.

Nothing is copied, inlined or fetched. A reference that leads nowhere is a BrokenReference whose Problem says where and
why, so that it costs only who follows it. Specification: OpenAPI 3.2 Reference Object; RFC 6901 section 6; JSON Schema
Core 2020-12 section 8.2.
"""

import posixpath
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from .document import FILES, UNREAD, Document, step
from .errors import Problem
from .identifiers import Identifiers
from .runtime.types import JsonObject

_AS_WRITTEN: Final = {
    "components/schemas/": "definitions/",
    "components/parameters/": "parameters/",
    "components/responses/": "responses/",
    "components/securitySchemes/": "securityDefinitions/",
}
"""Where the parts of a converted document stand in the Swagger 2.0 document that its user knows."""


class BrokenReference(Exception):
    """A reference that cannot be followed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Unread(Exception):
    """A file that could not be read is on the way."""

    def __init__(self, node: JsonObject) -> None:
        super().__init__(node)
        self.node = node


class Resolver:
    """Follows the references of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._found: dict[str, tuple[Any, str]] = {}
        self._walking: set[str] = set()
        self._identifiers: Identifiers | None = None

    @property
    def identifiers(self) -> Identifiers:
        """The document's `$id`s and anchors, indexed when they are first asked for."""
        if self._identifiers is None:
            self._identifiers = Identifiers(self.document)
        return self._identifiers

    def follow(self, node: Any, pointer: str) -> tuple[Any, str]:
        """The value that `node` stands for, and its pointer: the end of a chain of `$ref`, or `node` itself.

        What stands beside a `$ref` is the caller's business. Raises BrokenReference for a chain that ends nowhere or
        never.
        """
        passed = set()
        while isinstance(node, dict) and "$ref" in node:
            if pointer in passed:
                cure = "let one of them be the thing itself"
                raise self._broken(pointer, "these references only point at each other", cure)
            passed.add(pointer)
            node, pointer = self.lookup(node["$ref"], pointer)
        return node, pointer

    def lookup(self, ref: Any, pointer: str) -> tuple[Any, str]:
        """What one reference names, and the pointer of that; `pointer` is where the reference stands.

        Raises BrokenReference.
        """
        if not isinstance(ref, str):
            raise self._broken(pointer, f"a $ref is a string, this one is {_kind(ref)}")
        if not ref:
            raise self._broken(pointer, "this $ref is empty", "name what is meant")
        if ref[:4].lower() == "#%2f":
            ref = unquote(ref)
        if ref == "#" and pointer != "#" and (found := self._own_resource(pointer)):
            return found
        if ref not in self._found and (ref == "#" or ref.startswith("#/")):
            found = self._walk(ref, pointer)
            if found:
                self._found[ref] = found
        return self._found.get(ref) or self._identified(ref, pointer)

    def _own_resource(self, pointer: str) -> tuple[Any, str] | None:
        """The schema that `#` means at a place, where one with an `$id` is around it; else `#` is the document."""
        place = self.identifiers.place(self.identifiers.absolute("#", pointer).removesuffix("#"))
        return self._walk(place, pointer) if place and place != "#" else None

    def owns(self, ref: str, pointer: str) -> bool:
        """Whether the file part of a reference names this document or a schema in it, rather than another file."""
        file = ref.partition("#")[0]
        return not file or self.identifiers.place(self.identifiers.absolute(file, pointer)) is not None

    def shown(self, pointer: str) -> str:
        """A pointer for people: `#/paths/~1pets`, or `schemas/a.yaml#/definitions/X` in another file of the document.

        Files are named relative to the folder of the root document, or whole where they come from elsewhere.
        """
        if pointer.startswith(f"#/{FILES}/"):
            index, _, rest = pointer[len(f"#/{FILES}/") :].partition("/")
            if index.isdecimal() and int(index) < len(self.document.files):
                return f"{relative(self.document.files[int(index)], self.document.uri)}#{'/' if rest else ''}{rest}"
        for place, written in _AS_WRITTEN.items() if self.document.source is not None else ():
            if pointer.startswith("#/" + place):
                return "#/" + written + pointer[len("#/" + place) :]
        return pointer

    def _walk(self, ref: str, pointer: str) -> tuple[Any, str] | None:
        """Take a JSON pointer step by step from the root; a reference in the way is followed."""
        if ref in self._walking:
            raise self._broken(pointer, f"to find {self.shown(ref)} takes finding it first")
        self._walking.add(ref)
        try:
            node, place = self.document.root, "#"
            for token in ref.split("/")[1:]:
                node, place = self._step(node, place, token)
        except LookupError:
            return None
        except _Unread as unread:
            why, cure = unread.node[UNREAD], unread.node.get("hint", "")
            raise self._broken(pointer, f"{self.shown(ref).removesuffix('#')} {why}", cure) from None
        finally:
            self._walking.discard(ref)
        return node, place

    def _step(self, node: Any, place: str, token: str) -> tuple[Any, str]:
        try:
            inner, name = step(node, token)
        except LookupError:
            if not (isinstance(node, dict) and isinstance(node.get("$ref"), str)):
                raise
            target, place = self.follow(node, place)
            inner, name = step(target, token)
        if isinstance(inner, dict) and UNREAD in inner:
            raise _Unread(inner)
        return inner, f"{place}/{name}"

    def _identified(self, ref: str, pointer: str) -> tuple[Any, str]:
        """What a reference by URI or anchor names."""
        for base in (pointer, "#"):  # an anchor of the document is meant where the schema's own resource has none
            place = self.identifiers.place(self.identifiers.absolute(ref, base))
            found = self._walk(place, pointer) if place and place != ref else None
            if found:
                return found
        missing = self.shown(ref)
        raise self._broken(pointer, f"there is nothing at {missing}", "correct the $ref, or add what it names")

    def _broken(self, pointer: str, message: str, hint: str = "") -> BrokenReference:
        return BrokenReference(Problem(pointer=self.shown(pointer), kind="reference", message=message, hint=hint))


def relative(uri: str, base: str) -> str:
    """A file as its users name it: relative to the folder of `base`, or the whole URI where the two share no origin."""
    try:
        there, here = urlsplit(uri), urlsplit(Path.cwd().as_uri() + "/" if base.startswith("stdin:") else base)
    except ValueError:  # no URI, but what a document gave for one
        return uri
    if (there.scheme, there.netloc) != (here.scheme, here.netloc):
        return uri
    path = posixpath.relpath(there.path, posixpath.dirname(here.path) or "/")
    return unquote(path) + (f"?{there.query}" if there.query else "")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
