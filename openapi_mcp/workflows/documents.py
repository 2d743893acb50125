"""Read Arazzo Descriptions: those of the settings, and those that they name as source descriptions.

A relative address is resolved against the document's `$self`, else against where it was read from; a document whose
`$self` is that address is the one that is meant, wherever it was read from. Other files are read by the rules for
references of a document (`document/sources.py`): within its folder, from its own host, others with --allow-remote-refs.

Specification: Arazzo 1.1.0 "Establishing the Base URI", "Identity-Based Referencing", "Source Description Object".
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urldefrag, urljoin

from ..document.addresses import is_remote
from ..document.fetcher import Fetcher
from ..document.loader import read_value
from ..document.model import DEFAULT_LIMITS, join
from ..document.parser import parse, text_of
from ..document.sources import References, SourceFile
from ..errors import DocumentError, Problem
from ..runtime.request.redaction import redact
from .model import Defect

VERSIONS: Final = ("1.0", "1.1")
MAX_DOCUMENTS: Final = 20
"""Arazzo documents of one server with those that they refer to."""

SETTINGS_URI: Final = "settings:"
"""The address of the document that the workflows of a settings file make."""

_VERSION: Final = re.compile(r"\s*(\d+)\.(\d+)(?!\d)")


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """An entry of `sourceDescriptions`: its name, its type, its address as written, the absolute one, its place."""

    name: str
    type: str
    url: str
    uri: str
    pointer: str


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """An Arazzo document: its root, where it was read from, and its identity, which is `$self` or the same.

    `is_short` is true of that of the settings file, whose parameters need no `in`.
    """

    root: Mapping[str, Any]
    uri: str
    identity: str
    sources: Mapping[str, SourceDescription] = field(default_factory=dict)
    is_short: bool = False

    def place(self, *tokens: str | int) -> str:
        """Return the pointer of a part of the document, with its address."""
        return f"{redact(self.uri)}{join('#', *tokens)}"


class DescriptionReader:
    """A reader of descriptions. `found` has them by identity, `files` all files that were read, `problems` defects."""

    def __init__(self, fetcher: Fetcher, *, allow_remote: bool) -> None:
        self.found: dict[str, Description] = {}
        self.files: list[SourceFile] = []
        self.problems: list[Problem] = []
        self._fetcher = fetcher
        self._allow_remote = allow_remote
        self._references: dict[str, References] = {}

    def read_all(self, sources: Sequence[str], settings: Mapping[str, Any] | None) -> list[Description]:
        """Return the documents at some paths and URLs and that of the settings; read those that they refer to.

        Raises DocumentError for a source that cannot be read, or that is no Arazzo Description.
        """
        roots = [self._root(source) for source in sources]
        if settings is not None:
            roots.append(self._add(settings, SETTINGS_URI))
        for description in roots:
            self._follow(description)
        return roots

    def address(self, source: SourceDescription, description: Description) -> str:
        """Return the path or URL of a source that its document may read. Raises DocumentError."""
        if description.is_short:
            return source.url
        references = self._of(description)
        uri = references.locate(source.uri if is_remote(source.uri) else source.url, description.uri)
        if is_remote(uri):
            references.admit(uri)
        else:
            references.read(uri)
        return uri

    def _root(self, source: str) -> Description:
        value, file, _ = read_value(source, self._fetcher)
        self.files.append(file)
        if not isinstance(value, dict) or "arazzo" not in value:
            hint = "it must have `arazzo: 1.x` at the top level"
            raise DocumentError("this is not an Arazzo Description", where=redact(source), hint=hint)
        check_version(value, redact(source))
        return self._add(value, file.uri)

    def _add(self, root: Mapping[str, Any], uri: str) -> Description:
        own = root.get("$self")
        identity = urldefrag(urljoin(uri, own))[0] if isinstance(own, str) else uri
        description = Description(root, uri, identity, is_short=uri == SETTINGS_URI)
        sources = {each.name: each for each in self._sources(description)}
        description = Description(root, uri, identity, sources, description.is_short)
        self.found[identity] = description
        return description

    def _sources(self, description: Description) -> Iterator[SourceDescription]:
        """Yield the source descriptions that are valid; each other one is a Problem."""
        listed, names = description.root.get("sourceDescriptions"), set[str]()
        for index, node in enumerate(listed if isinstance(listed, list) else ()):
            pointer = description.place("sourceDescriptions", index)
            try:
                source = _source(node, pointer, description.identity, names)
                names.add(source.name)
                yield source
            except Defect as defect:
                self.problems.append(defect.problem)

    def _follow(self, description: Description) -> None:
        """Read the Arazzo documents that one refers to, and those that they refer to."""
        for source in description.sources.values():
            if source.type == "arazzo" and self.described(source) is None:
                try:
                    self._follow(self._read(source, description))
                except DocumentError as error:
                    name = f"the source {source.name}"
                    message = f"{name} cannot be used: it {error.message}"
                    problem = Problem(pointer=source.pointer, message=message, kind="workflow", hint=error.hint)
                    self.problems.append(problem)

    def described(self, source: SourceDescription) -> Description | None:
        """Return the Arazzo document that a source is, if it was read: by its identity, else by its address."""
        by_address = (each for each in self.found.values() if each.uri == source.uri)
        return self.found.get(source.uri) or next(by_address, None)

    def _read(self, source: SourceDescription, description: Description) -> Description:
        if len(self.found) >= MAX_DOCUMENTS:
            raise DocumentError(f"is one of more than {MAX_DOCUMENTS} documents")
        references = self._of(description)
        uri = references.locate(source.uri if is_remote(source.uri) else source.url, description.uri)
        if is_remote(uri):
            references.admit(uri)
        file = references.read(uri)
        self.files.append(file)
        value = parse(text_of(file.data, file.uri, file.charset)[0], DEFAULT_LIMITS).value
        if not isinstance(value, dict) or "arazzo" not in value:
            raise DocumentError("is no Arazzo Description", hint="correct its `type`")
        check_version(value, file.uri)
        return self._add(value, uri)

    def _of(self, description: Description) -> References:
        if description.uri not in self._references:
            self._references[description.uri] = References(
                description.uri, self._fetcher, DEFAULT_LIMITS, allow_remote=self._allow_remote
            )
        return self._references[description.uri]


def check_version(root: Mapping[str, Any], where: str) -> None:
    """Raise DocumentError for a document of another version."""
    match = _VERSION.match(str(root["arazzo"]))
    if not match or f"{match[1]}.{match[2]}" not in VERSIONS:
        hint = f"supported are {' and '.join(VERSIONS)}"
        raise DocumentError(f"Arazzo {root['arazzo']!r} is not supported", where=where, hint=hint)


_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_TYPES: Final = ("openapi", "arazzo")


def _source(node: Any, pointer: str, base: str, taken: Collection[str]) -> SourceDescription:
    """Return a source description whose name is not `taken`. Raises Defect."""
    name = node.get("name") if isinstance(node, dict) else None
    url = node.get("url") if isinstance(node, dict) else None
    if not isinstance(name, str) or not isinstance(url, str) or not _NAME.fullmatch(name):
        hint = "a name has letters, digits, - and _"
        raise Defect(pointer, "a source description needs a `name` and a `url`", hint)
    if name in taken:
        raise Defect(pointer, f"the name {name} is that of another source", "give it another name")
    kind = node.get("type", "openapi")
    if kind not in _TYPES:
        reason = "AsyncAPI is not supported" if kind == "asyncapi" else "the types are openapi and arazzo"
        raise Defect(f"{pointer}/type", f"the source {name} is of type {kind!r}: {reason}", "its steps cannot be run")
    try:
        uri = urldefrag(urljoin(base, url))[0]
    except ValueError:
        raise Defect(f"{pointer}/url", f"the address of the source {name} is not a URL", "correct it") from None
    return SourceDescription(name, kind, url, uri, pointer)
