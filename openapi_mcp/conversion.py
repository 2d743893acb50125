"""One schema of a document into JSON Schema 2020-12 for inputs: a table of keywords, then a few repairs of the whole.

What stands in a schema is read as its author plainly meant it, in every version: `nullable` counts in 3.1 too, and a list of
types in 3.0. Specification: OpenAPI 3.0.4 and 3.2 Schema Object; JSON Schema 2020-12 Core sections 7 to 10.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from . import keywords, patterns, prose
from .document import join
from .errors import Problem
from .resolver import BrokenReference, Resolver
from .runtime import media_types
from .runtime.types import Schema

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
"""Keywords that hold a schema, a list, or a map; whether those apply to the same value as the schema that holds them."""

_BESIDE_A_REFERENCE: Final = frozenset({"description", "nullable", "deprecated"})
"""What counts beside a `$ref` in 3.0, where the specification ignores it: what can only have been meant."""

_UNIONS: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})
_ANNOTATIONS: Final = frozenset({"description", "default", "deprecated"})
_UNASSERTED: Final = _ANNOTATIONS | {"format", "contentSchema"}
_NULL: Final[Schema] = {"type": "null"}
_MOST_MAPPED: Final = 20
"""Names of a discriminator that a description repeats."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: its pointer, how deep, whether it applies to the definition's own value, and what
    properties a schema around it has hidden."""

    pointer: str
    depth: int = 0
    in_place: bool = True
    hidden: frozenset[str] = frozenset()

    def inside(self, *tokens: str | int, in_place: bool = False) -> Self:
        """The place of a schema within this one."""
        hidden = self.hidden if in_place else frozenset()
        return replace(
            self,
            pointer=join(self.pointer, *tokens),
            depth=self.depth + 1,
            in_place=self.in_place and in_place,
            hidden=hidden,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A reference in a converted schema: to which definition, in which object, standing where."""

    name: str
    holder: Schema
    pointer: str
    in_place: bool


class Conversion:
    """The conversion of one place. `name` gives the name of a definition, `report` takes what is wrong.

    Afterwards `references` has the references of the result, `broken` the first that leads nowhere.
    """

    def __init__(
        self,
        resolver: Resolver,
        name: Callable[[Any, str], str],
        report: Callable[[Problem], None],
        *,
        modern: bool,
    ) -> None:
        self.references: list[Reference] = []
        self.broken: BrokenReference | None = None
        self._resolver = resolver
        self._name = name
        self._report = report
        self._modern = modern

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
        self._report(Problem(pointer=self._resolver.shown(place.pointer), message=message, kind=kind))

    # References.

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
        self.references.append(Reference(self._name(node, pointer), holder, place.pointer, place.in_place))
        return holder

    # Keywords.

    def _filled(self, found: Schema, node: Mapping[str, Any], place: Place) -> Schema:
        """`found` with the keywords of `node`, repaired."""
        if "allOf" in node or "required" in node:
            place = replace(place, hidden=place.hidden | set(read_only_names(self._resolver, node, place.pointer)))
        for keyword, value in node.items():
            convert = _KEYWORDS.get(keyword)
            if convert is not None:
                try:
                    convert(self, found, keyword, value, place)
                except keywords.Unfit as unfit:
                    self._problem(place, f"`{keyword}` must be {unfit}; it is left out")
        return self._repaired(found, node, place)

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
        if text := prose.trimmed(prose.clean(value)):
            found[keyword] = text

    def _deprecated(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        if value is True:
            found[keyword] = True

    def _format(self, found: Schema, keyword: str, value: Any, _: Place) -> None:
        if value in keywords.FORMATS:
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
        if isinstance(value, bool) and not SINGLE[keyword]:
            found[keyword] = value
        elif isinstance(value, list) and keyword == "items":
            self._tuple(found, value, place)
        elif isinstance(value, dict | bool):
            found[keyword] = self.schema(value, place.inside(keyword, in_place=SINGLE[keyword]))
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
        in_place = LISTS[keyword]
        found[keyword] = [
            self.schema(node, place.inside(keyword, index, in_place=in_place)) for index, node in enumerate(value)
        ]

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

    # Repairs.

    def _repaired(self, found: Schema, node: Mapping[str, Any], place: Place) -> Schema:
        """The schema made whole: what two keywords say together, and what every client can compile."""
        _bounded(found, node)
        _without_lost_patterns(found, node)
        _binary(found, node)
        self._consistent(found, place)
        _told(found, node)
        _distinguishable(found)
        if node.get("nullable") is True:
            found = _nullable(found)
        if "array" in _types(found) and not found.keys() & {"items", "prefixItems"}:
            found["items"] = {}  # what an array holds must be said for some model APIs
        return _unwrapped(found)

    def _consistent(self, found: Schema, place: Place) -> None:
        """Without a `type` that no value of the enum has: nothing at all would be accepted."""
        names = _types(found)
        values = found.get("enum")
        if names and values and not any(keywords.accepts(name, value) for name in names for value in values):
            self._problem(place, f"no value of `enum` is of the type {' or '.join(names)}; `type` is left out")
            del found["type"]


_Convert = Callable[[Conversion, Schema, str, Any, Place], None]

_KEYWORDS: Final[Mapping[str, _Convert]] = {
    **dict.fromkeys(keywords.READERS, Conversion._read),
    **dict.fromkeys(SINGLE, Conversion._one),
    **dict.fromkeys(LISTS, Conversion._list),
    **dict.fromkeys(MAPS, Conversion._map),
    "type": Conversion._type,
    "required": Conversion._required,
    "exclusiveMinimum": Conversion._exclusive,
    "exclusiveMaximum": Conversion._exclusive,
    "description": Conversion._description,
    "deprecated": Conversion._deprecated,
    "format": Conversion._format,
    "pattern": Conversion._pattern,
    "properties": Conversion._properties,
    "patternProperties": Conversion._pattern_properties,
}
"""What is not in here is left out of input schemas: identifiers and definitions (the tool has its own), titles (they repeat
the names), examples, extensions and documentation links (they cost a model more than they tell it)."""


def flagged(resolver: Resolver, node: Any, pointer: str, flag: str) -> bool:
    """Whether a property is `readOnly` or `writeOnly`: by itself, by what it refers to, or by a part of its `allOf`."""
    if isinstance(node, dict) and "$ref" not in node and "allOf" not in node:
        return node.get(flag) is True
    return any(part.get(flag) is True for part, _ in parts_of(resolver, node, pointer))


def parts_of(resolver: Resolver, node: Any, pointer: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A schema, what it refers to, and the parts of its `allOf`, all the way down; broken references are passed over."""
    waiting, seen = [(node, pointer)], set[str]()
    while waiting:
        node, pointer = waiting.pop()
        if not isinstance(node, dict) or pointer in seen:
            continue
        seen.add(pointer)
        yield node, pointer
        parts = node.get("allOf")
        if isinstance(parts, list):
            waiting += [(part, join(pointer, "allOf", index)) for index, part in reversed(list(enumerate(parts)))]
        if "$ref" in node:
            try:
                waiting.append(resolver.lookup(node["$ref"], pointer))
            except BrokenReference:
                continue


def read_only_names(resolver: Resolver, node: Mapping[str, Any], pointer: str) -> Iterator[str]:
    """The properties that a schema and the parts of its `allOf` declare as `readOnly`."""
    for part, place in parts_of(resolver, node, pointer):
        properties = part.get("properties")
        if isinstance(properties, dict):
            for name, schema in properties.items():
                if flagged(resolver, schema, join(place, "properties", name), "readOnly"):
                    yield name


def is_binary(node: Any) -> bool:
    """Whether a schema describes bytes: `format: binary`, Swagger's `file`, or a media type that is no text (3.1)."""
    if not isinstance(node, Mapping):
        return False
    names = keywords.types(node.get("type", "string"))
    if node.get("type") == "file":
        return True
    if "string" not in names:
        return False
    media_type = node.get("contentMediaType")
    raw = isinstance(media_type, str) and "contentEncoding" not in node and not media_types.is_text(media_type)
    return node.get("format") == "binary" or (raw and "type" in node)


def _types(schema: Mapping[str, Any]) -> list[str]:
    value = schema.get("type", [])
    return value if isinstance(value, list) else [value]


def _note(found: Schema, sentence: str) -> None:
    found["description"] = f"{found['description']} {sentence}" if "description" in found else sentence


def _bounded(found: Schema, node: Mapping[str, Any]) -> None:
    """`exclusiveMinimum: true` beside `minimum` (3.0) as the one number it means."""
    for bound in ("minimum", "maximum"):
        exclusive = "exclusive" + bound.capitalize()
        if node.get(exclusive) is True and bound in found:
            found[exclusive] = found.pop(bound)


def _without_lost_patterns(found: Schema, node: Mapping[str, Any]) -> None:
    """Where a pattern of `patternProperties` is left out, what is said of all other properties would hit its own."""
    kept = found.get("patternProperties")
    if kept is not None and len(kept) < len(node["patternProperties"]):
        found.pop("additionalProperties", None)
        found.pop("unevaluatedProperties", None)


def _binary(found: Schema, node: Mapping[str, Any]) -> None:
    """Bytes as base64 text; what the document says of their length and form is not true of that text."""
    if not is_binary(node):
        return
    for keyword in ("minLength", "maxLength", "pattern", "format", "contentSchema"):
        found.pop(keyword, None)
    found["type"] = ["string", "null"] if "null" in _types(found) else "string"
    found["contentEncoding"] = "base64"
    _note(found, "The bytes in base64.")


def _told(found: Schema, node: Mapping[str, Any]) -> None:
    """What JSON Schema has no keyword for, in words: other formats, and how the alternatives of a union are told apart."""
    kind = node.get("format")
    if isinstance(kind, str) and kind not in keywords.FORMATS and kind != "binary" and prose.line(kind, 40):
        _note(found, f"Format: {prose.line(kind, 40)}.")
    discriminator = node.get("discriminator")
    if isinstance(discriminator, dict) and found.keys() & {"oneOf", "anyOf"}:
        name, mapping = discriminator.get("propertyName"), discriminator.get("mapping")
        if isinstance(name, str) and isinstance(mapping, dict) and 0 < len(mapping) <= _MOST_MAPPED:
            _note(found, prose.trimmed(f"`{prose.line(name)}` tells which: {prose.line(', '.join(mapping), 500)}."))


def _distinguishable(found: Schema) -> None:
    """`oneOf` alternatives that differ only in what no validator asserts would never match alone: any of them will do."""
    options = found.get("oneOf", [])
    asserted = [{key: value for key, value in option.items() if key not in _UNASSERTED} for option in options]
    if any(option in asserted[:index] for index, option in enumerate(asserted)) and "anyOf" not in found:
        found["anyOf"] = found.pop("oneOf")


def _nullable(found: Schema) -> Schema:
    """The schema, or null."""
    if found.keys() & _UNIONS:
        if _NULL in found.get("anyOf", []):
            return found
        outer = {key: found.pop(key) for key in _ANNOTATIONS & found.keys()}
        return {"anyOf": [found, dict(_NULL)], **dict(sorted(outer.items()))}
    if "type" in found and "null" not in _types(found):
        found["type"] = [*_types(found), "null"]
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "enum" in found and None not in found["enum"]:
        found["enum"] = [*found["enum"], None]
    return found


def _unwrapped(found: Schema) -> Schema:
    """An `allOf` of one, with nothing but annotations around it, as that one."""
    if len(found.get("allOf", [])) != 1 or found.keys() - _ANNOTATIONS != {"allOf"}:
        return found
    (inner,) = found.pop("allOf")
    inner.update(found)
    return inner
