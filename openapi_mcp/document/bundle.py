"""Bundle the files of a multi-file document into one: each file is an entry of a list under one key of the root.

Every reference becomes a pointer into that one mapping, also one that leads nowhere, so that no reader of the result
opens a file. Only a `$ref` where OpenAPI allows a reference is one (`objects.references`). A file that cannot be read
is replaced by an entry with the reason, and only the operations that need it are lost.

The bundling is written here, since prance's does not decode percent-encoded file names, drops tokens of pointers,
merges files of one base name, and fails on a property named `$ref`. Here files are told apart by their position in the
list, and may refer to each other. Specification: OpenAPI 3.2 Reference Object.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import DocumentError, Problem, ReferenceRefused
from .model import FILES, UNREAD, Document, Limits, join
from .objects import REFERENCEABLE, ScalarTexts, children, references, restore
from .parser import parse, text_of
from .resolver import BrokenReference, Resolver, relative
from .sources import References


@dataclass(frozen=True, slots=True)
class _BundledFile:
    """File of a document; `prefix` is its pointer in the root, `texts` the spelling of its scalars if it is YAML."""

    uri: str
    prefix: str
    resolver: Resolver
    texts: ScalarTexts | None = None


@dataclass(frozen=True, slots=True)
class _ObjectLocation:
    """An object in a file: its pointer in that file, and the kind of OpenAPI object that it is read as.

    The pointer is that of `outer` with `key`, if it has an outer object: many wait at once, and pointers are long.
    """

    file: _BundledFile
    node: Any
    kind: str
    base: str
    outer: "_ObjectLocation | None" = None
    key: str | int = ""

    @property
    def pointer(self) -> str:
        """Pointer in the file."""
        keys: list[str | int] = []
        location = self
        while location.outer is not None:
            keys.append(location.key)
            location = location.outer
        return join(location.base, *reversed(keys))

    @property
    def bundled(self) -> str:
        """Pointer in the root."""
        return self.file.prefix + self.pointer[1:]


class Bundle:
    """Bundler of one document, which changes its root: the caller must have parsed it for this purpose."""

    def __init__(
        self,
        document: Document,
        texts: ScalarTexts | None,
        references: References,
        limits: Limits,
        progress: Callable[[str], None],
    ) -> None:
        self._document = document
        self._count = document.values
        self._references = references
        self._limits = limits
        self._progress = progress
        self._root = _BundledFile(document.uri, "#", Resolver(document), texts)
        self._files: dict[str, _BundledFile] = {document.uri: self._root}
        self._values: list[Any] = []
        self._uris: list[str] = []
        self._digests = dict(document.digests)
        self._validators = dict(document.validators)
        self._is_private = document.is_private
        self._problems: list[Problem] = []
        self._reported: set[str] = set()
        self._targets: dict[tuple[int, str], _ObjectLocation | None] = {}
        self._reached: set[tuple[int, str]] = set()
        self._stack: list[_ObjectLocation] = []
        self._replaced_nodes: list[Any] = []  # keeps replaced objects alive, so that their ids stay unique

    def run(self) -> Document:
        """Return the document with all its files, and a Problem for each that could not be read."""
        # Added first, so that pointers into it can be followed at once.
        self._document.root[FILES] = self._values
        kind = "Swagger" if self._document.version == "2.0" else "OpenAPI"
        self._reach([_ObjectLocation(self._root, self._document.root, kind, "#")])
        while self._stack:
            self._visit(self._stack.pop())
        if not self._values:
            del self._document.root[FILES]
        problems = (*self._document.problems, *self._problems)
        return replace(
            self._document,
            problems=problems,
            files=tuple(self._uris),
            digests=self._digests,
            validators=self._validators,
            values=self._count,
            is_private=self._is_private,
        )

    def _reach(self, locations: list[_ObjectLocation]) -> None:
        """Put locations on the stack of those to visit, the first on top; each is visited once."""
        for location in reversed(locations):
            mark = (id(location.node), location.kind)
            if mark not in self._reached:
                self._reached.add(mark)
                self._stack.append(location)

    def _visit(self, location: _ObjectLocation) -> None:
        if location.file.texts is not None:
            restore(location.kind, location.node, location.file.texts)
        locations = [self._part(location, *child) for child in children(location.kind, location.node)]
        for holder, key, kind in references(location.kind, location.node):
            locations += self._rewrite(location, holder, key, kind)
        self._reach(locations)

    def _part(self, outer: _ObjectLocation, key: str | int, value: Any, kind: str) -> _ObjectLocation:
        """Return the location of a part of an object; replace a reference that OpenAPI does not allow by its target."""
        location = _ObjectLocation(outer.file, value, kind, "", outer, key)
        if kind in REFERENCEABLE or not _is_reference(value):
            return location
        target = self._misplaced_target(location)
        if target is None:
            return location
        outer.node[key] = target.node
        siblings = {name: sibling for name, sibling in value.items() if name != "$ref"}
        if siblings and isinstance(target.node, dict):
            outer.node[key] = target.node | siblings
            self._reach([replace(location, node=siblings)])
        self._replaced_nodes += [value, siblings]
        return target

    def _misplaced_target(self, location: _ObjectLocation) -> _ObjectLocation | None:
        """Return the target of a reference where OpenAPI allows none, None if it leads nowhere."""
        visited: set[int] = set()
        target: _ObjectLocation | None = location
        while target is not None and _is_reference(target.node):
            if id(target.node) in visited:
                return None
            visited.add(id(target.node))
            target = next(iter(self._rewrite(target, target.node, "$ref", location.kind)), None)
        return target

    def _rewrite(self, location: _ObjectLocation, node: dict[str, Any], key: str, kind: str) -> list[_ObjectLocation]:
        """Make the reference at `key` a pointer of the root, and return its target in a list, or an empty list."""
        mark = (id(node), key)  # an object that YAML aliases share is visited several times and rewritten once
        if mark not in self._targets:
            self._targets[mark] = self._target(location, node, key)
        target = self._targets[mark]
        return [] if target is None else [replace(target, kind=kind)]

    def _target(self, location: _ObjectLocation, node: dict[str, Any], key: str) -> _ObjectLocation | None:
        ref: str = node[key]
        name, _, fragment = ref.partition("#")
        own = location.file.resolver.owns(ref, location.pointer)
        file = location.file if own else self._open(name, location)
        unchanged = own and file is self._root
        try:
            value, pointer = file.resolver.lookup(*((ref, location.pointer) if own else (f"#{fragment}", "#")))
        except BrokenReference:
            if not unchanged:
                node[key] = f"{file.prefix}/{fragment.removeprefix('/')}" if fragment else file.prefix
                self._report_missing(location, file, fragment)
            return None
        target = _ObjectLocation(file, value, location.kind, pointer)
        if not unchanged:
            node[key] = target.bundled
        return None if isinstance(value, dict) and UNREAD in value else target

    def _report_missing(self, location: _ObjectLocation, file: _BundledFile, fragment: str) -> None:
        """Report a missing target where it is first referred to, unless its whole file was reported as unread."""
        missing = f"{self._name(file)}#{fragment}"
        value = file.resolver.document.root
        if missing not in self._reported and not (isinstance(value, dict) and UNREAD in value):
            self._reported.add(missing)
            self._report(location, f"there is nothing at {missing}", "correct the $ref, or add its target")

    def _report(self, location: _ObjectLocation, message: str, hint: str) -> None:
        pointer = self._name(location.file) + location.pointer
        self._problems.append(Problem(pointer=pointer, kind="reference", message=message, hint=hint))

    def _name(self, file: _BundledFile) -> str:
        """Return the name of a file for users, empty for the root."""
        return "" if file is self._root else relative(file.uri, self._document.uri)

    def _open(self, name: str, location: _ObjectLocation) -> _BundledFile:
        """Return the file that a reference names, read if new; an unreadable one becomes an entry with the reason."""
        uri = label = name
        try:
            uri = self._references.locate(name, location.file.uri)
            if uri not in self._files:
                label = relative(uri, self._document.uri)
                self._progress(f"reading {label}")
                self._files[uri] = self._read(uri)
        except DocumentError as error:
            self._report(location, f"{label} {error.message}", error.hint)
            self._files[uri] = self._add(uri, {UNREAD: error.message, "hint": error.hint})
        return self._files[uri]

    def _read(self, uri: str) -> _BundledFile:
        if len(self._files) >= self._limits.files:
            raise ReferenceRefused(f"is beyond the limit of {self._limits.files:,} files")
        content = self._references.read(uri)
        self._digests[content.uri] = content.digest
        self._validators[content.uri] = content.validators
        if content.uri in self._files:  # redirected to a file that is read already
            return self._files[content.uri]
        text, notes = text_of(content.data, content.uri, content.charset)
        try:
            parsed = parse(text, self._limits)
        except DocumentError as error:
            raise DocumentError(f"cannot be read: {error.where}: {error.message}", hint=error.hint) from error
        self._count += parsed.values
        if self._count > self._limits.values:
            raise ReferenceRefused(f"is beyond the limit of {self._limits.values:,} values for all files together")
        if not isinstance(parsed.value, dict | list):
            raise DocumentError("contains neither an object nor a list", hint="refer to a JSON or YAML file")
        if self._is_private and not content.is_private:
            self._is_private = not _names_hosts(parsed.value)
        label = relative(content.uri, self._document.uri)
        self._problems += [replace(note, pointer=label + note.pointer) for note in (*notes, *parsed.problems)]
        return self._add(content.uri, parsed.value, parsed.texts)

    def _add(self, uri: str, value: Any, texts: ScalarTexts | None = None) -> _BundledFile:
        """Add a file to the list in the root."""
        resolver = Resolver(Document(root=value, uri=uri, version=self._document.version))
        file = _BundledFile(uri, join("#", FILES, len(self._values)), resolver, texts)
        self._values.append(value)
        self._uris.append(uri)
        return file


def _names_hosts(value: Any) -> bool:
    """Return whether a file may name hosts that are called: it has a key of a server or of an endpoint of OAuth."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if not _HOST_KEYS.isdisjoint(node):
                return True
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return False


_HOST_KEYS: Final = frozenset(
    {
        *("servers", "server", "host", "tokenUrl", "refreshUrl", "authorizationUrl", "deviceAuthorizationUrl"),
        *("openIdConnectUrl", "oauth2MetadataUrl"),
    }
)
"""Keys whose values name hosts; some schemas have properties of these names, and count too."""


def _is_reference(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("$ref"), str)
