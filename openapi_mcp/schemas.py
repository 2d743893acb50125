"""The input schemas of one document: each place converted once, and shared by all tools that reach it.

References stay references (`#/$defs/…`), so that nothing is inlined whole and recursion stays recursion. Whatever the
document says, what is given out is valid 2020-12 and reaches nothing outside itself. Specification: JSON Schema Core
2020-12 section 8.2.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from . import prose
from .conversion import Conversion, Place, Reference
from .document import Document
from .errors import Problem
from .inlining import Inlining, references
from .resolver import BrokenReference, Resolver
from .runtime.types import Schema

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")

_CURE_OF_A_LOOP: Final = "let one of the schemas in the loop say what it is"

HEAVIEST: Final = 10_000
"""Schemas that may have to judge one value: a hundredth of a second. The largest known documents have a few hundred."""

LONGEST_NAME: Final = 64
"""Characters of a definition's name: some model APIs refuse longer ones."""


@dataclass(frozen=True, slots=True)
class _Converted:
    """A schema and its references; `broken` is the first of them that leads nowhere."""

    schema: Schema
    references: list[Reference]
    broken: BrokenReference | None

    def checked(self) -> Schema:
        if self.broken:
            raise self.broken
        return self.schema


class Schemas:
    """Converts, and remembers. What it gives out is shared and never changed."""

    def __init__(self, document: Document, resolver: Resolver, longest_text: int = prose.DESCRIPTION_LIMIT) -> None:
        self.resolver = resolver
        self.longest_text = longest_text
        self.problems: list[Problem] = []
        self.mirrors = False  # whether any schema so far has `x-mcp-header`; documents that do are few
        self._modern = document.version != "3.0"
        self._converted: dict[str, _Converted] = {}
        self._names: dict[str, str] = {}  # of definitions, by pointer
        self._places: dict[str, tuple[Any, str]] = {}  # of definitions, by name
        self._definitions: dict[str, _Converted] = {}
        self._weights: dict[str, int] = {}  # of definitions without loops: how many schemas judge a value of theirs
        self._complete: dict[str, Schema] = {}  # definitions that are whole and without loops, as all that they reach
        self._inlining = Inlining(self._complete)

    def convert(self, node: Any, pointer: str) -> Schema:
        """The schema at a place. Raises BrokenReference where one of its own references leads nowhere."""
        if pointer not in self._converted:
            self._converted[pointer] = self._conversion(node, pointer)
        return self._converted[pointer].checked()

    def definition(self, name: str) -> Schema:
        """The schema of one definition. Raises BrokenReference like `convert`."""
        return self._defined(name).checked()

    def pointer(self, name: str) -> str:
        """Where the document has one definition."""
        return self._places[name][1]

    def settled(self, properties: dict[str, Schema]) -> tuple[dict[str, Schema], dict[str, Schema]]:
        """A tool's properties, and the `$defs` that they need. Raises BrokenReference if one is not there."""
        found = {key: held for key, schema in properties.items() if (held := references(schema))}
        if not found:
            return properties, {}
        held = [reference for held in found.values() for reference in held]
        self._complete_all({reference.name for reference in held})
        referring, definitions = self._inlining.inlined({key: properties[key] for key in found}, held)
        return {**properties, **referring}, definitions

    def definitions(self, names: Iterable[str]) -> dict[str, Schema]:
        """These definitions and all that they reach, none of them in a place yet. Raises BrokenReference."""
        wanted = sorted(names)
        self._complete_all(wanted)
        return {name: self.definition(name) for name in sorted(self._reach(wanted))}

    def _complete_all(self, names: Iterable[str]) -> None:
        """Convert all that these definitions reach, and open its loops. Raises BrokenReference."""
        reached = self._reach(sorted(set(names) - self._complete.keys()), self._complete)
        self._open_loops(reached)
        self._complete.update({name: self.definition(name) for name in sorted(reached)})

    def _conversion(self, node: Any, pointer: str) -> _Converted:
        conversion = Conversion(
            self.resolver, self._name, self.problems.append, modern=self._modern, longest_text=self.longest_text
        )
        schema = conversion.schema(node, Place(pointer))
        self.mirrors = self.mirrors or conversion.mirrors
        return _Converted(schema, conversion.references, conversion.broken)

    def _defined(self, name: str) -> _Converted:
        if name not in self._definitions:
            self._definitions[name] = self._conversion(*self._places[name])
        return self._definitions[name]

    def _reach(self, names: Iterable[str], known: Container[str] = ()) -> list[str]:
        """All names that these lead to, converted; without those known and what only they lead to."""
        reached = dict.fromkeys(names)
        waiting = list(reached)
        while waiting:
            for reference in self._defined(waiting.pop()).references:
                if reference.name not in reached and reference.name not in known:
                    reached[reference.name] = None
                    waiting.append(reference.name)
        return list(reached)

    def _name(self, node: Any, pointer: str) -> str:
        """The name of the definition at a place: its last token that says something, unique in the document."""
        if pointer not in self._names:
            stem = _stem(self.resolver.shown(pointer))
            name, number = stem, 1
            while name in self._places:
                number += 1
                name = f"{stem}_{number}"
            self._names[pointer] = name
            self._places[name] = (node, pointer)
        return self._names[pointer]

    def _open_loops(self, names: Iterable[str]) -> None:
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
                    self._cut(name, reference, "this schema takes itself to be known", _CURE_OF_A_LOOP)
                else:
                    self._enter(reference.name, path)

    def _enter(self, name: str, path: dict[str, Iterator[Reference]]) -> None:
        if name not in self._weights:
            path[name] = (ref for ref in list(self._definitions[name].references) if ref.place.in_place)

    def _weigh(self, name: str) -> None:
        """Cut the heaviest references where a definition multiplies what is to be judged: validators would not end."""
        inner = [reference for reference in self._definitions[name].references if reference.place.in_place]
        inner.sort(key=lambda reference: self._weights[reference.name])
        while (weight := 1 + sum(self._weights[reference.name] for reference in inner)) > HEAVIEST:
            self._cut(name, inner.pop(), "a value would be judged by too many schemas", "say the same with fewer")
        self._weights[name] = weight

    def _cut(self, name: str, reference: Reference, why: str, hint: str) -> None:
        """Let a reference accept anything instead."""
        reference.open()
        self._definitions[name].references.remove(reference)
        self.problems.append(
            Problem(
                pointer=self.resolver.shown(reference.place.pointer),
                kind="reference",
                message=f"{why}; anything is accepted here",
                hint=hint,
            )
        )


def _stem(pointer: str) -> str:
    """What a place is called: by its last token, or by the file that it is the whole of."""
    file, _, inside = pointer.rpartition("#")
    tokens = [PurePosixPath(file).stem, *inside.split("/")]
    plain = (token.replace("~1", "/").replace("~0", "~") for token in reversed(tokens))
    names = (_NOT_IN_A_NAME.sub("_", token).strip("_.-") for token in plain)
    return next((token for token in names if token and not token.isdecimal()), "schema")[:LONGEST_NAME]
