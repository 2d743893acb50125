"""One schema of a document into JSON Schema 2020-12 for inputs: a table of keywords, then a few repairs of the whole.

What stands in a schema is read as its author plainly meant it, in every version: `nullable` counts in 3.1 too, and a
list of types in 3.0. Specification: OpenAPI 3.0.4 and 3.2 Schema Object; JSON Schema 2020-12 Core sections 7 to 10.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

from . import idioms, keywords, patterns, prose
from .document import join
from .errors import Problem
from .resolver import BrokenReference, Resolver
from .runtime.types import Schema
from .schema_parts import flagged, read_only_names

DEFINITIONS: Final = "#/$defs/"

HOISTED: Final = 16
"""Schemas in schemas before the next becomes a definition of its own, so that no validator runs out of stack on it."""

DEEPEST: Final = 32
"""Unions in unions, which cannot become definitions one by one, before the next accepts anything."""

SINGLE: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("not", "if", "then", "else"), True),
    **dict.fromkeys(("items", "additionalProperties", "contains", "propertyNames", "contentSchema"), False),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), False),
}
LISTS: Final[Mapping[str, bool]] = {"allOf": True, "anyOf": True, "oneOf": True, "prefixItems": False}
MAPS: Final[Mapping[str, bool]] = {"properties": False, "patternProperties": False, "dependentSchemas": True}
"""Keywords that hold a schema, a list, or a map; and whether those apply to the same value as what holds them."""

_BOOLEANS: Final = frozenset({"items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords whose schema stays a boolean: validators and models know these as switches."""

_REVERSING: Final = frozenset({"not", "if"})
"""Keywords that are left out where something inside had to be: saying less there would refuse more."""

_BESIDE_A_REFERENCE: Final = frozenset({"description", "nullable", "deprecated", keywords.MIRRORED})
"""What counts beside a `$ref` in 3.0, where the specification ignores it: what can only have been meant."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: its pointer, and how deep that is.

    `in_place` says that it applies to the same value as the definition it is in, `negated` that it says what must not
    be, `hidden` which properties a schema around it has left out.
    """

    pointer: str
    depth: int = 0
    in_place: bool = True
    negated: bool = False
    hidden: frozenset[str] = frozenset()

    def inside(self, *tokens: str | int, in_place: bool = False) -> Self:
        """The place of a schema within this one."""
        return type(self)(
            join(self.pointer, *tokens),
            self.depth + 1,
            self.in_place and in_place,
            self.negated != (tokens == ("not",)),
            self.hidden if in_place else frozenset(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A reference in a converted schema: to which definition, in which object, standing where."""

    name: str
    holder: Schema
    place: Place

    def open(self) -> None:
        """Let the schema say nothing instead."""
        del self.holder["$ref"]
        if self.place.negated:
            self.holder["not"] = {}


_Convert = Callable[["Conversion", Schema, str, Any, Place], None]


class Conversion:
    """The conversion of one place. `name` gives the name of a definition, `report` takes what is wrong.

    Afterwards `references` has the references of the result, `broken` the first that leads nowhere; `mirrors` says
    that a header is to repeat something of it.
    """

    def __init__(
        self,
        resolver: Resolver,
        name: Callable[[Any, str], str],
        report: Callable[[Problem], None],
        *,
        modern: bool,
        longest_text: int = prose.DESCRIPTION_LIMIT,
    ) -> None:
        self.references: list[Reference] = []
        self.broken: BrokenReference | None = None
        self.mirrors = False
        self._resolver = resolver
        self._name = name
        self._report = report
        self._modern = modern
        self._longest_text = longest_text
        self._complaints = 0

    def schema(self, node: Any, place: Place) -> Schema:
        """The schema at a place; always a new object."""
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, dict):
            self._problem(place, "a schema is an object; anything is accepted here")
            return {}
        if place.depth >= HOISTED and not place.in_place:
            return self._referring(node, place.pointer, place)
        if place.depth >= DEEPEST:
            self._problem(place, "schemas are nested too deeply; anything is accepted from here on")
            return {}
        if isinstance(node.get("$ref"), str) or isinstance(node.get("$dynamicRef"), str):
            return self._beside(node, place)
        return self._filled({}, node, place)

    def _problem(self, place: Place, message: str, kind: str = "schema") -> None:
        self._complaints += 1
        self._report(Problem(pointer=self._resolver.shown(place.pointer), message=message, kind=kind))

    def _beside(self, node: Mapping[str, Any], place: Place) -> Schema:
        """A reference and what counts beside it."""
        if self._modern:
            counting = {key: value for key, value in node.items() if key not in ("$ref", "$dynamicRef")}
        else:
            counting = {key: value for key, value in node.items() if key in _BESIDE_A_REFERENCE}
        return self._filled(self._target(node, place), counting, place)

    def _target(self, node: Mapping[str, Any], place: Place) -> Schema:
        """The reference itself. A dynamic one means what it names statically, or anything."""
        dynamic = "$ref" not in node
        try:
            found = self._end(node["$dynamicRef" if dynamic else "$ref"], place)
        except BrokenReference as error:
            if dynamic:
                self._report(error.problem)
            else:
                self.broken = self.broken or error
            return {}
        if found is None:
            self._problem(place, "these references only point at each other; anything is accepted here", "reference")
            return {}
        target, pointer = found
        return self.schema(target, place) if isinstance(target, bool) else self._referring(target, pointer, place)

    def _end(self, ref: str, place: Place) -> tuple[Any, str] | None:
        """What a chain of bare references ends at; None where it has no end."""
        pointer, passed = place.pointer, set[str]()
        while pointer not in passed:
            passed.add(pointer)
            target, pointer = self._resolver.lookup(ref, pointer)
            bare = isinstance(target, dict) and isinstance(target.get("$ref"), str)
            if not bare or (self._modern and len(target) > 1):
                return target, pointer
            ref = target["$ref"]
        return None

    def _referring(self, node: Any, pointer: str, place: Place) -> Schema:
        holder: Schema = {"$ref": DEFINITIONS + self._name(node, pointer)}
        self.references.append(Reference(self._name(node, pointer), holder, place))
        return holder

    def _filled(self, found: Schema, node: Mapping[str, Any], place: Place) -> Schema:
        """`found` with the keywords of `node`."""
        if "allOf" in node or "required" in node:
            place = replace(place, hidden=place.hidden | set(read_only_names(self._resolver, node, place.pointer)))
        for keyword, value in node.items():
            convert = self.KEYWORDS.get(keyword)
            if convert is not None:
                try:
                    convert(self, found, keyword, value, place)
                except keywords.Unfit as unfit:
                    self._problem(place, f"`{keyword}` must be {unfit}; it is left out")
        return self._whole(found, node, place)

    def _read(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        found[keyword] = keywords.READERS[keyword](value)

    def _type(self, found: Schema, _: str, value: Any, place: Place) -> None:
        wanted = value if isinstance(value, list) else [value]
        names = keywords.types(value)
        if any(str(name).lower() not in (*keywords.TYPES, "file") for name in wanted):
            self._problem(place, f"`type` is none of {', '.join(keywords.TYPES)}; it is left out")
        if names:
            found["type"] = names[0] if len(names) == 1 else names

    def _required(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        wanted = [name for name in keywords.names(value) if name not in place.hidden]
        if wanted:
            found[keyword] = wanted

    def _exclusive(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        """A bound; `true` (3.0) is dealt with by `_bounded`."""
        if not isinstance(value, bool):
            self._number(found, keyword, value, place)

    def _number(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        found[keyword] = keywords.number(value)

    def _description(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        if text := prose.trimmed(prose.clean(value), self._longest_text):
            found[keyword] = text

    def _deprecated(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        if value is True:
            found[keyword] = True

    def _format(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        if isinstance(value, str) and value in keywords.FORMATS:
            found[keyword] = value

    def _pattern(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        if rewritten := self._portable(keywords.text(value), place):
            found[keyword] = rewritten

    def _portable(self, pattern: str, place: Place) -> str | None:
        rewritten = patterns.portable(pattern)
        if rewritten is None:
            shown = prose.line(pattern, 60)
            self._problem(
                place, f"the pattern `{shown}` is not one that every client can use; it is left out", "pattern"
            )
        return rewritten

    def _one(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        if isinstance(value, bool) and keyword in _BOOLEANS:
            found[keyword] = value
        elif isinstance(value, list) and keyword == "items":
            self._tuple(found, value, place)
        elif isinstance(value, dict | bool):
            complaints = self._complaints
            schema = self.schema(value, place.inside(keyword, in_place=SINGLE[keyword]))
            if keyword not in _REVERSING or self._complaints == complaints:
                found[keyword] = schema
        else:
            raise keywords.Unfit("a schema")

    def _tuple(self, found: Schema, schemas: list[Any], place: Place) -> None:
        """`items` as a list: draft 4's way to say `prefixItems`."""
        self._problem(place, "`items` is a list; it is read as `prefixItems`")
        if schemas:
            found["prefixItems"] = [self.schema(node, place.inside("items", i)) for i, node in enumerate(schemas)]

    def _list(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        if not isinstance(value, list) or not value:
            raise keywords.Unfit("a list of schemas, at least one")
        in_place, complaints = LISTS[keyword], self._complaints
        schemas = [
            self.schema(node, place.inside(keyword, index, in_place=in_place)) for index, node in enumerate(value)
        ]
        if keyword == "oneOf" and self._complaints > complaints:
            found.setdefault("anyOf", schemas)  # alternatives that say less may no longer exclude each other
        else:
            found[keyword] = schemas

    def _map(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        if not isinstance(value, dict):
            raise keywords.Unfit("a map of schemas")
        in_place = MAPS[keyword]
        found[keyword] = {
            name: self.schema(node, place.inside(keyword, name, in_place=in_place)) for name, node in value.items()
        }

    def _properties(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        """Properties without the ones that only the server may set."""
        if isinstance(value, dict):
            pointer = join(place.pointer, keyword)
            value = {
                name: node
                for name, node in value.items()
                if not flagged(self._resolver, node, join(pointer, name), "readOnly")
            }
        self._map(found, keyword, value, place)

    def _pattern_properties(self, found: Schema, keyword: str, value: Any, place: Place) -> None:
        if not isinstance(value, dict):
            raise keywords.Unfit("a map of schemas")
        here = place.inside(keyword)
        portable = {pattern: self._portable(pattern, here) for pattern in value}
        found[keyword] = {
            rewritten: self.schema(value[pattern], here.inside(pattern))
            for pattern, rewritten in portable.items()
            if rewritten is not None
        }

    def _whole(self, found: Schema, node: Mapping[str, Any], place: Place) -> Schema:
        """The schema with its idioms, and as every client can compile it."""
        idioms.bounded(found, node)
        idioms.without_lost_patterns(found, node)
        idioms.binary(found, node)
        if complaint := idioms.consistent(found):
            self._problem(place, complaint)
        idioms.told(found, node)
        idioms.distinguishable(found, node)
        if node.get("nullable") is True:
            found = idioms.nullable(found)
        idioms.with_items(found)
        if complaint := idioms.mirrored(found):
            self._problem(place, complaint)
        self.mirrors = self.mirrors or keywords.MIRRORED in found
        return idioms.unwrapped(found)

    KEYWORDS: ClassVar[Mapping[str, _Convert]] = {
        **dict.fromkeys(keywords.READERS, _read),
        **dict.fromkeys(SINGLE, _one),
        **dict.fromkeys(LISTS, _list),
        **dict.fromkeys(MAPS, _map),
        "type": _type,
        "required": _required,
        "exclusiveMinimum": _exclusive,
        "exclusiveMaximum": _exclusive,
        "description": _description,
        "deprecated": _deprecated,
        "format": _format,
        "pattern": _pattern,
        "properties": _properties,
        "patternProperties": _pattern_properties,
    }
    """What is not in here is left out: identifiers and definitions (a tool has its own), titles (they repeat names),
    examples, extensions and links (they cost a model more than they tell it)."""
