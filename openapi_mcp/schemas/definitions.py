"""The input schemas of one document: each converted once, and shared by all tools that reach it.

A reference stays a reference (`#/$defs/…`): nothing is copied to where it is used, and recursion stays recursion. Every
schema returned is valid JSON Schema 2020-12, and its references stay inside the tool's inputSchema, whatever the
document contains. Specification: JSON Schema Core 2020-12 section 8.2.
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from .. import plain_text
from ..document.model import Document
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime.types import Schema
from .backtracking import components
from .conversion import (
    DEFINITIONS,
    LISTS,
    MAPS,
    SINGLE,
    SchemaConversion,
)
from .locations import Reference, SchemaContext, SchemaLocation
from .plain import PlainSchemas

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")

_LOOP_HINT: Final = "let one of the schemas in the loop have keywords of its own instead of a reference"

MAX_WEIGHT: Final = 10_000
"""Schemas that one value may be validated against: about 10 ms. The largest known documents have a few hundred."""

MAX_IN_PLACE: Final = 150
"""Definitions that a value is validated against, each through the reference of another: validators are recursive. Real
chains have less than ten."""

MAX_CONTEXTS: Final = 16
"""Contexts in which a schema becomes a definition of its own. Real ones have two or three; alternatives that each make
another property of a shared schema read-only could have 2**n."""

MAX_NAME_LENGTH: Final = 64
"""Characters of a definition's name: some model APIs refuse longer ones."""


class TooManyDefinitions(Exception):
    """The resolver has no steps left to collect the definitions that a tool needs."""


@dataclass(frozen=True, slots=True)
class _Converted:
    """A schema and its references; `broken` is the first of them that leads nowhere."""

    schema: Schema
    references: list[Reference]
    broken: BrokenReference | None

    def checked(self) -> Schema:
        """Return the schema. Raises BrokenReference."""
        if self.broken:
            raise self.broken
        return self.schema


@dataclass(frozen=True, slots=True)
class _DefinitionSource:
    """The Schema Object that becomes a definition, its pointer, and the context in which it is referred to."""

    node: Any
    pointer: str
    context: SchemaContext


class SchemaCompiler:
    """Converter of one document's schemas with a memory: a schema that it returns is shared and never changed."""

    def __init__(
        self, document: Document, resolver: Resolver, max_text_length: int = plain_text.MAX_DESCRIPTION_LENGTH
    ) -> None:
        self.resolver = resolver
        self.max_text_length = max_text_length
        self._plain = PlainSchemas(max_text_length)
        self.problems: list[Problem] = []
        self.has_header_annotations = False  # True once a schema has had `x-mcp-header`; few documents use it
        self._modern = document.version != "3.0"
        self._converted: dict[str, _Converted] = {}
        self._names: dict[tuple[str, SchemaContext], str] = {}  # pointer and context of a definition -> its name
        self._contexts: dict[str, set[SchemaContext]] = {}  # pointer of a definition -> contexts of references to it
        self._sources: dict[str, _DefinitionSource] = {}  # name of a definition -> its source
        self._definitions: dict[str, _Converted] = {}
        self._weights: dict[str, int] = {}  # name of a definition without loops -> schemas that validate its value
        self._depths: dict[str, int] = {}  # name of a definition -> definitions in the longest chain from it in place
        self._finished: set[str] = set()  # names of definitions that are converted with all they reach, without loops
        self._loops: dict[str, tuple[str, ...]] = {}  # name of a definition -> those that it leads to and back
        self._reachable: dict[str, frozenset[str]] = {}
        self._name_sets: dict[frozenset[str], frozenset[str]] = {}  # one object for equal sets, which may be large
        self._tables: dict[frozenset[str], dict[str, Schema]] = {}

    def convert(self, node: Any, pointer: str) -> Schema:
        """Return the converted schema at a pointer. Raises BrokenReference if one of its own references is broken."""
        if (schema := self._plain.of(node)) is not None:
            return schema
        if pointer not in self._converted:
            self._converted[pointer] = self._conversion(_DefinitionSource(node, pointer, SchemaContext()))
        return self._converted[pointer].checked()

    def definition(self, name: str) -> Schema:
        """Return the schema of one definition. Raises BrokenReference like `convert`."""
        return self._definition(name).checked()

    def pointer(self, name: str) -> str:
        """Return the pointer of a definition in the document."""
        return self._sources[name].pointer

    def definitions(self, schemas: Iterable[Schema]) -> dict[str, Schema]:
        """Return the `$defs` that these schemas need: one shared object for all who need the same.

        Raises BrokenReference if a reference in one of them leads nowhere, TooManyDefinitions where the tools of the
        document need too many different sets of definitions.
        """
        names = {name for schema in schemas if not _INNER.isdisjoint(schema) for name in referenced_names(schema)}
        if self.resolver.is_exhausted and not names <= self._reachable.keys():
            raise TooManyDefinitions
        self._finish(names)
        sets = {id(each): each for each in map(self._reachable_from, sorted(names))}
        if len(sets) > 1:
            self._spend(sum(map(len, sets.values())))
        reachable = next(iter(sets.values())) if len(sets) == 1 else self._interned(frozenset().union(*sets.values()))
        if reachable not in self._tables:
            self._spend(len(reachable))
            self._tables[reachable] = {name: self.definition(name) for name in sorted(reachable)}
        return self._tables[reachable]

    def _finish(self, names: Collection[str]) -> None:
        """Convert all that these definitions reach, and cut its loops. Raises BrokenReference."""
        converted = self._convert_all(sorted(set(names) - self._finished), self._finished)
        self._cut_loops(converted)
        for name in sorted(converted):
            self.definition(name)
        self._finished.update(converted)

    def _conversion(self, source: _DefinitionSource) -> _Converted:
        conversion = SchemaConversion(
            self.resolver, self._name, self.problems.append, modern=self._modern, plain=self._plain
        )
        schema = conversion.schema(source.node, SchemaLocation(source.pointer, context=source.context))
        self.has_header_annotations = self.has_header_annotations or conversion.has_header_annotations
        return _Converted(schema, conversion.references, conversion.broken)

    def _definition(self, name: str) -> _Converted:
        if name not in self._definitions:
            self._definitions[name] = self._conversion(self._sources[name])
        return self._definitions[name]

    def _convert_all(self, names: Iterable[str], finished: Container[str]) -> list[str]:
        """Convert these definitions and all that they lead to, and return their names; finished ones are skipped."""
        reached = dict.fromkeys(names)
        waiting = list(reached)
        while waiting:
            for reference in self._definition(waiting.pop()).references:
                if reference.name not in reached and reference.name not in finished:
                    reached[reference.name] = None
                    waiting.append(reference.name)
        return list(reached)

    def _reachable_from(self, root: str) -> frozenset[str]:
        """Return the names of a finished definition and of all that it leads to: one set for all in a loop."""
        if root not in self._reachable:
            self._find_loops(root)
            waiting, names, visited = [root], set[str](), set[str]()
            while waiting:
                loop = self._loops[waiting.pop()]
                if loop[0] in visited:
                    continue
                visited.add(loop[0])
                known = self._reachable.get(loop[0])
                names |= known if known is not None else set(loop)
                self._spend(len(known or loop))
                waiting += () if known is not None else self._referred(loop)
            reachable = self._interned(frozenset(names))
            self._reachable.update(dict.fromkeys(self._loops[root], reachable))
        return self._reachable[root]

    def _find_loops(self, root: str) -> None:
        """Note the loop of each definition that one leads to: a definition in no loop is alone."""

        def unknown(name: str) -> list[str]:
            return [other for other in self._referred([name]) if other not in self._loops]

        for names in components([root] if root not in self._loops else [], unknown):
            self._loops.update(dict.fromkeys(names, tuple(names)))

    def _referred(self, names: Iterable[str]) -> list[str]:
        """Return the definitions that some refer to, each once."""
        references = (reference for name in names for reference in self._definitions[name].references)
        return list(dict.fromkeys(reference.name for reference in references))

    def _interned(self, names: frozenset[str]) -> frozenset[str]:
        return self._name_sets.setdefault(names, names)

    def _spend(self, steps: int) -> None:
        if not self.resolver.spend(steps):
            raise TooManyDefinitions

    def _name(self, node: Any, pointer: str, context: SchemaContext) -> str:
        """Return the name of the definition at a pointer: its last token with a word in it, made unique.

        A schema that is referred to in several contexts has a definition for each of them.
        """
        if len([known for known in self._contexts.get(pointer, ()) if known != context]) >= MAX_CONTEXTS:
            context = SchemaContext(exact=context.exact)
        self._contexts.setdefault(pointer, set()).add(context)
        key = pointer, context
        if key not in self._names:
            stem = _stem(self.resolver.display(pointer))
            name, number = stem, 1
            while name in self._sources:
                number += 1
                name = f"{stem}_{number}"
            self._names[key] = name
            self._sources[name] = _DefinitionSource(node, pointer, context)
        return self._names[key]

    def _cut_loops(self, names: Iterable[str]) -> None:
        """Cut each loop of references that apply to the same value: validators would follow it for ever."""
        for root in names:
            path: dict[str, Iterator[Reference]] = {}
            self._enter(root, path)
            while path:
                name = next(reversed(path))
                reference = next(path[name], None)
                if reference is None:
                    del path[name]
                    self._weigh(name)
                elif reference.name in path:
                    self._cut(name, reference, "this schema refers back to itself for the same value", _LOOP_HINT)
                else:
                    self._enter(reference.name, path)

    def _enter(self, name: str, path: dict[str, Iterator[Reference]]) -> None:
        if name not in self._weights:
            path[name] = (ref for ref in list(self._definitions[name].references) if ref.location.in_place)

    def _weigh(self, name: str) -> None:
        """Note weight and depth of a definition; beyond the limits, cut its deepest and heaviest references first."""
        inner = [reference for reference in self._definitions[name].references if reference.location.in_place]
        inner.sort(key=lambda reference: self._depths[reference.name])
        while inner and self._depths[inner[-1].name] >= MAX_IN_PLACE:
            self._cut(name, inner.pop(), "these references lead too far from one to the next", _LOOP_HINT)
        self._depths[name] = 1 + (self._depths[inner[-1].name] if inner else 0)
        inner.sort(key=lambda reference: self._weights[reference.name])
        while (weight := 1 + sum(self._weights[reference.name] for reference in inner)) > MAX_WEIGHT:
            self._cut(
                name, inner.pop(), "a value would be validated by too many schemas", "describe it with fewer schemas"
            )
        self._weights[name] = weight

    def _cut(self, name: str, reference: Reference, reason: str, hint: str) -> None:
        """Replace a reference by a schema that accepts anything, and report it."""
        reference.open()
        self._definitions[name].references.remove(reference)
        self.problems.append(
            Problem(
                pointer=self.resolver.display(reference.location.pointer),
                kind="reference",
                message=f"{reason}; anything is accepted here",
                hint=hint,
            )
        )


_INNER: Final = frozenset({"$ref", *SINGLE, *LISTS, *MAPS})
"""Keywords with a reference or with schemas, which may have one."""


def referenced_names(schema: Schema) -> Iterator[str]:
    """Return the names of the definitions that a converted schema refers to; values such as enums are not searched."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        if "$ref" in node:
            yield node["$ref"].removeprefix(DEFINITIONS)
        for keyword, value in node.items():
            if keyword in SINGLE:
                waiting.append(value)
            elif keyword in LISTS:
                waiting += value
            elif keyword in MAPS:
                waiting += value.values()


def _stem(pointer: str) -> str:
    """Return the part of a pointer that names a schema: its last token with a word in it, or the file's name."""
    file, _, inside = pointer.rpartition("#")
    tokens = [PurePosixPath(file).stem, *inside.split("/")]
    plain = (token.replace("~1", "/").replace("~0", "~") for token in reversed(tokens))
    names = (_NOT_IN_A_NAME.sub("_", token).strip("_.-") for token in plain)
    return next((token for token in names if token and not token.isdecimal()), "schema")[:MAX_NAME_LENGTH]
