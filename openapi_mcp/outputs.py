"""What an answer looks like: output schemas that every client compiles and that no real answer breaks.

Only shape is said, without references and down to what a budget allows; the rest is open. A response schema that
cannot be followed costs nothing else. Specification: MCP server/tools ("Output Schema").
"""

import json
from typing import Any, Final

from . import keywords
from .economy import WHOLE
from .errors import Problem
from .resolver import BrokenReference, Resolver
from .runtime.types import Schema
from .shapes import Places, Shape, Shapes

DEEPEST: Final = 12
"""Levels of objects and arrays. Four kilobytes seldom hold more than five."""

_ORDER: Final = {name: place for place, name in enumerate(keywords.TYPES)}


class _TooLarge(Exception):
    """This is more than the budget allows."""


class Outputs:
    """The output schemas of one document."""

    def __init__(self, resolver: Resolver, budget: int = WHOLE.output) -> None:
        self.problems: list[Problem] = []
        self._resolver = resolver
        self._shapes = Shapes(resolver)
        self._budget = budget
        self._known: dict[str, Schema | None] = {}

    def schema(self, node: Any, pointer: str) -> Schema | None:
        """The output schema for a schema of the document; None where that is neither an object nor an array."""
        try:
            node, pointer = self._resolver.follow(node, pointer)
            if pointer not in self._known:
                self._known[pointer] = None
                self._known[pointer] = self._deepest({pointer: node})
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        return self._known[pointer]

    def _deepest(self, places: Places) -> Schema | None:
        """As many levels as the budget allows, whole ones only."""
        types = (self._shapes.of(places).types or frozenset()) - {"null"}
        if types not in ({"object"}, {"array"}):
            return None
        (kind,) = types
        best: Schema = {"type": kind}
        for depth in range(1, DEEPEST + 1):
            writer = _Writer(self._shapes, depth, self._budget)
            try:
                found = {**writer.schema(places), "type": kind}
            except _TooLarge:
                return best
            if len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) > self._budget:
                return best
            best = found
            if not writer.cut:
                return best
        return best


class _Writer:
    """One attempt: so many levels, and about as many bytes as the budget. `cut` says that there was more to say."""

    def __init__(self, shapes: Shapes, depth: int, budget: int) -> None:
        self.cut = False
        self._shapes = shapes
        self._depth = depth
        self._left = budget

    def schema(self, places: Places, level: int = 0) -> Schema:
        """The schema of a value that any of these places describes. Raises BrokenReference and _TooLarge."""
        shape = self._shapes.of(places)
        schema = _typed(shape)
        self._spend(len(json.dumps(schema, separators=(",", ":"))))
        if not (shape.properties or shape.items or shape.others):
            return schema
        if level >= self._depth:
            self.cut = True
            return schema
        if shape.properties:
            schema["properties"] = {}
        for name, inner in shape.properties.items():
            self._spend(len(name))
            schema["properties"][name] = self.schema(inner, level + 1)
        if shape.items:
            schema["items"] = self.schema(shape.items, level + 1)
        if shape.others and not shape.properties:
            schema["additionalProperties"] = self.schema(shape.others, level + 1)
        return schema

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _TooLarge


def _typed(shape: Shape) -> Schema:
    schema: Schema = {}
    names = sorted(shape.types or (), key=_ORDER.__getitem__)
    if "number" in names and "integer" in names:
        names.remove("integer")
    if names:
        schema["type"] = names[0] if len(names) == 1 else names
    if shape.description:
        schema["description"] = shape.description
    return schema
