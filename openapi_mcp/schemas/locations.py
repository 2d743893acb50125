"""The place of a schema in a definition, as far as it changes the conversion, and the references found on the way."""

from dataclasses import dataclass
from typing import Final, Self

from ..document.model import join
from ..runtime.types import Schema

REVERSING: Final = frozenset({"not", "if"})
"""Keywords that are left out if a part of their schema was: a weaker schema in there would refuse more values."""


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The facts about the surroundings of a schema that change its conversion.

    `exact`: it is inside `not` or `if`, where a schema that accepts more values makes the whole refuse some.
    `read_only`: names of properties that are `readOnly` in a schema around it or a part of its `allOf`, for the same
    value: they are left out. `optional`: names that are so in an alternative of such a schema: they are not required.
    """

    exact: bool = False
    read_only: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    def inside(self, keyword: str | int, *, in_place: bool) -> Self:
        """Return the context of the schemas at a keyword."""
        if keyword not in REVERSING and not (self.exact or self.read_only or self.optional):
            return self
        return type(self)(
            exact=self.exact or keyword in REVERSING,
            read_only=self.read_only if in_place else frozenset(),
            optional=self.optional if keyword == "allOf" else frozenset(),
        )


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """The pointer of a schema, its depth in the definition, and its context.

    `in_place`: it applies to the same value as the definition. `negated`: it is inside an odd number of `not`.
    """

    pointer: str
    depth: int = 0
    in_place: bool = True
    negated: bool = False
    context: SchemaContext = SchemaContext()

    def inside(self, *tokens: str | int, in_place: bool = False) -> Self:
        """Return the location of a schema within this one."""
        return type(self)(
            join(self.pointer, *tokens),
            self.depth + 1,
            self.in_place and in_place,
            self.negated != (tokens == ("not",)),
            self.context.inside(tokens[0], in_place=in_place),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A reference in a converted schema: name of the definition, object that holds the `$ref`, location of that."""

    name: str
    holder: Schema
    location: SchemaLocation

    def open(self) -> None:
        """Replace the reference by a schema that accepts anything."""
        del self.holder["$ref"]
        if self.location.negated:
            self.holder["not"] = {}
