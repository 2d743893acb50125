"""The files of a multi-file document as one: each file that is referred to is put whole under one key of the root.

Every reference becomes a pointer into that one mapping, also those that lead nowhere, so that nobody who reads the
result can be sent anywhere else. A reference is what stands where OpenAPI allows one (`grammar`), and nothing else. A
file that cannot be read leaves a mark in its place that says why, and costs only who refers to it. prance finds the
files; they are kept apart by position, since two files may share a name, and refer to each other. Specification:
OpenAPI 3.2 Reference Object.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .decoding import text_of
from .document import FILES, UNREAD, Document, Limits, join
from .errors import DocumentError, Problem, ReferenceRefused
from .grammar import REFERENCEABLE, children, references
from .resolver import BrokenReference, Resolver, relative
from .sources import References
from .syntax import parse
from .written import Written, restore


@dataclass(frozen=True, slots=True)
class _File:
    """One file; `prefix` is the pointer of its place in the root, and `written` is there for YAML."""

    uri: str
    prefix: str
    resolver: Resolver
    written: Written | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """An object in a file: its pointer in that file, and the kind of place it stands in."""

    file: _File
    node: Any
    kind: str
    pointer: str

    @property
    def bundled(self) -> str:
        """Its pointer in the root."""
        return self.file.prefix + self.pointer[1:]


class Bundle:
    """Puts the files of one document together, in place: the root was parsed for this and belongs to nobody else."""

    def __init__(
        self,
        document: Document,
        written: Written | None,
        references: References,
        limits: Limits,
        progress: Callable[[str], None],
    ) -> None:
        self._document = document
        self._references = references
        self._limits = limits
        self._progress = progress
        self._root = _File(document.uri, "#", Resolver(document), written)
        self._files: dict[str, _File] = {document.uri: self._root}
        self._values: list[Any] = []
        self._uris: list[str] = []
        self._digests = dict(document.digests)
        self._validators = dict(document.validators)
        self._problems: list[Problem] = []
        self._reported: set[str] = set()
        self._targets: dict[tuple[int, str], _Place | None] = {}
        self._reached: set[tuple[int, str]] = set()
        self._waiting: list[_Place] = []
        self._replaced: list[Any] = []  # kept, so that nothing else gets their ids while ids are what is remembered

    def run(self) -> Document:
        """The document with all its files, and a Problem for each that could not be had."""
        # There from the start, so that pointers into it lead somewhere at once.
        self._document.root[FILES] = self._values
        kind = "Swagger" if self._document.version == "2.0" else "OpenAPI"
        self._reach([_Place(self._root, self._document.root, kind, "#")])
        while self._waiting:
            self._visit(self._waiting.pop())
        if not self._values:
            del self._document.root[FILES]
        problems = (*self._document.problems, *self._problems)
        return replace(
            self._document,
            problems=problems,
            files=tuple(self._uris),
            digests=self._digests,
            validators=self._validators,
        )

    def _reach(self, places: list[_Place]) -> None:
        """Put places on the list of those to visit, the first on top; each is visited once."""
        for place in reversed(places):
            mark = (id(place.node), place.kind)
            if mark not in self._reached:
                self._reached.add(mark)
                self._waiting.append(place)

    def _visit(self, place: _Place) -> None:
        if place.file.written is not None:
            restore(place.kind, place.node, place.file.written)
        inside = [self._entered(place, *child) for child in children(place.kind, place.node)]
        for holder, key, kind in references(place.kind, place.node):
            inside += self._rewrite(place, holder, key, kind)
        self._reach(inside)

    def _entered(self, outer: _Place, key: str | int, value: Any, kind: str) -> _Place:
        """A place inside another. A reference where OpenAPI allows none is what it names, and replaced by that."""
        place = _Place(outer.file, value, kind, join(outer.pointer, key))
        if kind in REFERENCEABLE or not _is_reference(value):
            return place
        target = self._spliced(place)
        if target is None:
            return place
        outer.node[key] = target.node
        siblings = {name: sibling for name, sibling in value.items() if name != "$ref"}
        if siblings and isinstance(target.node, dict):
            outer.node[key] = target.node | siblings
            self._reach([replace(place, node=siblings)])
        self._replaced += [value, siblings]
        return target

    def _spliced(self, place: _Place) -> _Place | None:
        """What a reference in the wrong place leads to, if it leads anywhere."""
        passed: set[int] = set()
        target: _Place | None = place
        while target is not None and _is_reference(target.node):
            if id(target.node) in passed:
                return None
            passed.add(id(target.node))
            target = next(iter(self._rewrite(target, target.node, "$ref", place.kind)), None)
        return target

    def _rewrite(self, place: _Place, node: dict[str, Any], key: str, kind: str) -> list[_Place]:
        """Turn the reference at `key` into a pointer of the root, and return the place it names, or nothing."""
        mark = (id(node), key)  # an object that YAML aliases share is met several times and rewritten once
        if mark not in self._targets:
            self._targets[mark] = self._target(place, node, key)
        target = self._targets[mark]
        return [] if target is None else [replace(target, kind=kind)]

    def _target(self, place: _Place, node: dict[str, Any], key: str) -> _Place | None:
        ref: str = node[key]
        name, _, fragment = ref.partition("#")
        own = place.file.resolver.owns(ref, place.pointer)
        file = place.file if own else self._open(name, place)
        stays = own and file is self._root
        try:
            value, pointer = file.resolver.lookup(*((ref, place.pointer) if own else (f"#{fragment}", "#")))
        except BrokenReference:
            if not stays:
                node[key] = f"{file.prefix}/{fragment.removeprefix('/')}" if fragment else file.prefix
                self._report_missing(place, file, fragment)
            return None
        target = _Place(file, value, place.kind, pointer)
        if not stays:
            node[key] = target.bundled
        return None if isinstance(value, dict) and UNREAD in value else target

    def _report_missing(self, place: _Place, file: _File, fragment: str) -> None:
        """Report each missing thing where it is first referred to; of a file that was not read that has been done."""
        missing = f"{self._name(file)}#{fragment}"
        value = file.resolver.document.root
        if missing not in self._reported and not (isinstance(value, dict) and UNREAD in value):
            self._reported.add(missing)
            self._report(place, f"there is nothing at {missing}", "correct the $ref, or add what it names")

    def _report(self, place: _Place, message: str, hint: str) -> None:
        pointer = self._name(place.file) + place.pointer
        self._problems.append(Problem(pointer=pointer, kind="reference", message=message, hint=hint))

    def _name(self, file: _File) -> str:
        """A file for people; the root needs no name."""
        return "" if file is self._root else relative(file.uri, self._document.uri)

    def _open(self, name: str, place: _Place) -> _File:
        """The file that a reference names, read if it is new; what cannot be read is marked so in its place."""
        uri = shown = name
        try:
            uri = self._references.locate(name, place.file.uri)
            if uri not in self._files:
                shown = relative(uri, self._document.uri)
                self._progress(f"reading {shown}")
                self._files[uri] = self._read(uri)
        except DocumentError as error:
            self._report(place, f"{shown} {error.message}", error.hint)
            self._files[uri] = self._add(uri, {UNREAD: error.message, "hint": error.hint})
        return self._files[uri]

    def _read(self, uri: str) -> _File:
        if len(self._files) >= self._limits.files:
            raise ReferenceRefused(f"is beyond the limit of {self._limits.files:,} files")
        content = self._references.read(uri)
        self._digests[content.uri] = content.digest
        self._validators[content.uri] = content.validators
        if content.uri in self._files:  # redirected to what is there already
            return self._files[content.uri]
        text, notes = text_of(content.data, content.uri, content.charset)
        try:
            parsed = parse(text, self._limits)
        except DocumentError as error:
            raise DocumentError(f"cannot be read: {error.where}: {error.message}", hint=error.hint) from error
        if not isinstance(parsed.value, dict | list):
            raise DocumentError("holds neither an object nor a list", hint="refer to a JSON or YAML file")
        shown = relative(content.uri, self._document.uri)
        self._problems += [replace(note, pointer=shown + note.pointer) for note in (*notes, *parsed.problems)]
        return self._add(content.uri, parsed.value, parsed.written)

    def _add(self, uri: str, value: Any, written: Written | None = None) -> _File:
        """Give a file its place in the root."""
        resolver = Resolver(Document(root=value, uri=uri, version=self._document.version))
        file = _File(uri, join("#", FILES, len(self._values)), resolver, written)
        self._values.append(value)
        self._uris.append(uri)
        return file


def _is_reference(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("$ref"), str)
