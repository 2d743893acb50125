"""`TypeReader`: the types of JSON Schemas in Python's notation, with a name for each object.

`str`, `int(ge=1, le=100)`, `"open"|"closed"`, `list[str]`, `dict[str, int]`, `Pet`. In parentheses stand a format and
bounds, named as pydantic's. An object with properties has one name wherever it occurs; its properties are read when
they are asked for, so the cost does not depend on the size of the definitions.
"""

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..types import MISSING, Schema

_MAX_DEPTH: Final = 6
"""Arrays and unions within one another that a type shows, and references followed; beyond, it is `Any`."""

_MAX_ALTERNATIVES: Final = 6
"""Alternatives of a union that a type shows."""

_MAX_LITERAL: Final = 40
"""Characters of a value or pattern that a type shows."""

_MAX_NAME: Final = 40
"""Characters of a name that is made of a title."""

_NAMES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_PLAIN_FORMATS: Final = frozenset({"int32", "int64", "float", "double", "string", "password", "decimal"})
"""Formats that tell a model no more than the type."""

_FORMAT: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RANGES: Final = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
_LENGTHS: Final = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "multipleOf": "multiple_of",
    "pattern": "pattern",
}
_SCALARS: Final = (str, int, float, bool, type(None))
_RESERVED: Final = {"Any", "None", "True", "False"}
_STRUCTURE: Final = frozenset({"type", "properties", "enum", "const", "$ref", "items", "additionalProperties"})
"""Keywords that make an alternative of a union a type of its own; one without them only restricts."""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object: `text` is `limit: int(le=100) = 30`, `prose` one line about it, possibly empty."""

    name: str
    text: str
    prose: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """The length of types and prose: values of an enum, and their characters; lengths; characters of prose."""

    values: int
    characters: int
    lengths: bool
    prose: int


BRIEF: Final = Detail(values=8, characters=100, lengths=False, prose=70)
"""For one of several tools."""

FULL: Final = Detail(values=40, characters=800, lengths=True, prose=110)
"""For one tool."""


class TypeReader:
    """Read schemas with common `$defs`. `names` is shared by readers whose types are shown together.

    With `results` the schemas are of answers: their fields have no mark of being optional, since any may be missing.

    `named` has the objects in the order in which they were found: (name, schema).
    """

    def __init__(
        self, definitions: Mapping[str, Schema], detail: Detail, names: dict[str, Schema], *, results: bool = False
    ) -> None:
        self._definitions = definitions
        self._results = results
        self._detail = detail
        self._names = names
        self.named: list[tuple[str, Schema]] = []
        self.cut_values = False
        self._flattened: dict[str, Schema] = {}

    def fields(self, schema: Schema) -> list[Field]:
        """Return the properties of an object: required ones, optional ones, deprecated ones."""
        properties = _mapping(schema.get("properties"))
        required = frozenset(_strings(schema.get("required")))
        fields = [(self._rank(each, name in required), name, each) for name, each in properties.items()]
        return [self._field(name, each, rank == 0) for rank, name, each in sorted(fields, key=lambda field: field[0])]

    def type_of(self, schema: Any, hint: str, depth: int = 0) -> str:
        """Return the type of a schema; `hint` names an object that has no name of its own."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return "Any"
        name, flat = self._flat(schema)
        alternatives = self._alternatives(flat)
        if "const" in flat or isinstance(flat.get("enum"), list):
            return self._literals(flat["enum"] if "const" not in flat else [flat["const"]])
        if alternatives:
            return self._union(self.type_of(each, hint, depth + 1) for each in alternatives)
        kinds = _kinds(flat)
        named = name or _title(flat) or hint
        return self._union(self._kind(kind, flat, named, depth) for kind in kinds) if kinds else "Any"

    def _field(self, name: str, schema: Any, required: bool) -> Field:
        schema = schema if isinstance(schema, dict) else {}
        kind, shown = self.type_of(schema, _camel(name)), name if _is_identifier(name) else json.dumps(name)
        flat = self._flat(schema)[1]
        if required or self._results:
            text = f"{shown}: {kind}"
        else:
            default = literal(flat["default"]) if "default" in flat else "..."
            obvious = kind in _OBVIOUS.get(type(flat.get("default", MISSING)), ())
            text = f"{shown}={default}" if obvious and default != "..." else f"{shown}: {kind} = {default}"
        return Field(name, text, self._prose(name, flat), required)

    def _prose(self, name: str, schema: Schema) -> str:
        text = first_sentence(schema.get("description"), self._detail.prose)
        if repeats(text, name):
            examples = schema.get("examples") or [schema.get("example")]
            example = examples[0] if isinstance(examples, list) else None
            text = "" if example is None or (shown := literal(example)) == "..." else f"e.g. {shown}"
        return ". ".join(["deprecated"] * (schema.get("deprecated") is True) + [text] * bool(text))

    def _rank(self, schema: Any, required: bool) -> int:
        return 0 if required else 1 + (isinstance(schema, dict) and schema.get("deprecated") is True)

    def _kind(self, kind: str, schema: Schema, name: str, depth: int) -> str:
        """Return the type of a schema as one of its `type`s."""
        if kind == "array":
            first = _list(schema.get("prefixItems"))[:_MAX_ALTERNATIVES]
            items = [self.type_of(each, name, depth + 1) for each in first]
            item = self.type_of(schema.get("items"), name, depth + 1)
            shown = f"tuple[{', '.join(items)}]" if items else "list" if item == "Any" else f"list[{item}]"
            return shown + self._bounds(kind, schema)
        if kind == "object":
            return self._object(schema, name, depth)
        return _NAMES.get(kind, "Any") + self._bounds(kind, schema)

    def _object(self, schema: Schema, name: str, depth: int) -> str:
        if _mapping(schema.get("properties")):
            return self._name(name, schema)
        values = schema.get("additionalProperties")
        for each in _mapping(schema.get("patternProperties")).values():
            values = values if isinstance(values, dict) and values else each
        value = self.type_of(values, name, depth + 1) if isinstance(values, dict) and values else "Any"
        names = _mapping(schema.get("propertyNames"))
        key = self.type_of({"type": "string", **names}, name, depth + 1) if names else "str"
        return "dict" if (key, value) == ("str", "Any") else f"dict[{key}, {value}]"

    def _name(self, base: str, schema: Schema) -> str:
        """Return the name of an object: the same for equal schemas."""
        name = base = _class_name(base)
        number = 1
        while name in self._names and self._names[name] != schema:
            number += 1
            name = f"{base}_{number}"
        if name not in self._names:
            self._names[name] = schema
            self.named.append((name, schema))
        return name

    def _bounds(self, kind: str, schema: Schema) -> str:
        keywords = _RANGES | _LENGTHS if self._detail.lengths else _RANGES
        shown = [*_formats(kind, schema)]
        for key, name in keywords.items():
            value = schema.get(key)
            limit = _HUGE if key in _RANGES else _LONG
            if isinstance(value, str):
                is_shown = key == "pattern" and len(value) <= _MAX_LITERAL
            else:
                is_shown = type(value) in (int, float) and (key, value) not in _TRIVIAL and abs(value or 0) < limit
            shown += [f"{name}={literal(value)}"] if is_shown else []
        return f"({', '.join(shown)})" if shown else ""

    def _literals(self, values: Iterable[Any]) -> str:
        every = list(dict.fromkeys(map(literal, values)))
        shown = every[: self._detail.values + 2]
        while len(shown) > 1 and sum(len(value) + 1 for value in shown) > self._detail.characters:
            shown.pop()
        if len(shown) < len(every):
            self.cut_values = True
            shown.append("...")
        return "|".join(shown) or "Any"

    def _union(self, types: Iterable[str]) -> str:
        shown = list(dict.fromkeys(types))
        if "Any" in shown:
            return "Any"
        return "|".join(shown if len(shown) <= _MAX_ALTERNATIVES else [*shown[:_MAX_ALTERNATIVES], "..."])

    def _alternatives(self, schema: Schema) -> list[Schema]:
        """Return the alternatives of a union that are types of their own; those of an object are merged with it."""
        found = [each for key in ("anyOf", "oneOf") for each in _list(schema.get(key)) if isinstance(each, dict)]
        found = [each for each in found if not _STRUCTURE.isdisjoint(self._flat(each)[1])]
        if found and schema.get("properties"):
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return [_merged(self._flat(each)[1], rest) for each in found[: _MAX_ALTERNATIVES + 1]]
        return found[: _MAX_ALTERNATIVES + 1]

    def _flat(self, schema: Schema, depth: int = 0) -> tuple[str, Schema]:
        """Return a schema with its reference and `allOf` merged into it, and the name of what it refers to."""
        parts, name = list[Schema](), ""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            key = reference.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            name = _short(key)
            parts.append(self._definition(key, depth))
        for part in _list(schema.get("allOf")):
            if isinstance(part, dict) and depth <= _MAX_DEPTH:
                inner, flat = self._flat(part, depth + 1)
                name = name or inner
                parts.append(flat)
        if not parts:
            return "", schema
        merged: Schema = {}
        for part in parts:
            merged = _merged(merged, part)
        return name, _merged(merged, {key: value for key, value in schema.items() if key not in ("$ref", "allOf")})

    def _definition(self, key: str, depth: int) -> Schema:
        """Return a definition without its own reference and `allOf`; one that contains itself has its other parts."""
        if key not in self._flattened:
            self._flattened[key] = {}
            target = _mapping(self._definitions.get(key))
            self._flattened[key] = self._flat(target, depth + 1)[1] if depth <= _MAX_DEPTH else target
        return self._flattened[key]


_OBVIOUS: Final = {bool: ("bool",), int: ("int",), str: ("str",), float: ("float",)}
"""Types that a default of this Python type shows by itself: `page=1`."""

_TRIVIAL: Final = {("minimum", 0), ("minItems", 0), ("minLength", 0), ("minLength", 1), ("multipleOf", 1)}
_HUGE: Final = 2**31 - 1
"""A bound that only says how the API stores a number."""

_LONG: Final = 1000
"""A length that a model reaches by accident only."""


def literal(value: Any) -> str:
    """Return a JSON value in Python's notation; `...` if it is long."""
    if isinstance(value, _SCALARS):
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    else:
        text = json.dumps(value, ensure_ascii=False) if not value else "..."
    return text if len(text) <= _MAX_LITERAL + 2 else "..."


_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP: Final = re.compile(r"<[^<>]*>|\*\*|__|`")
_LOOSE_END: Final = re.compile(r"(?:[\s,;:.(]|(?<![a-zA-Z0-9.])(?:e\.g|i\.e|cf|vs))*$", re.IGNORECASE)
"""The end of a cut text that promises what is cut off: `(e.g.`, a comma."""

_SENTENCE_END: Final = re.compile(
    r"(?<=[^.\s]{2})(?<!\bvs)(?<!\bcf)(?<!\bca)[.!](?=\s+[A-Z`*\"(\[]|\s*$)|\s*(?:\n\s*\n|\n[-*#]|:\s*\n)"
)
_SMALL_WORDS: Final = frozenset({"a", "an", "the", "of", "to", "for", "this", "that", "which", "is", "in", "s"})


def first_sentence(text: Any, length: int) -> str:
    """Return the first sentence of a description as one line of at most `length` characters, without markup."""
    if not isinstance(text, str) or not text:
        return ""
    beginning = text[: 8 * length].strip()
    sentence = _SENTENCE_END.split(beginning, maxsplit=1)[0]
    line = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", sentence)).split()).rstrip(".: ")
    return line if len(line) <= length else _LOOSE_END.sub("", line[: length - 1].rsplit(" ", 1)[0]) + "…"


def without_links(text: str) -> str:
    """Return Markdown with the texts of its links alone."""
    return _LINK.sub(r"\1", text)


def repeats(text: str, name: str) -> bool:
    """Return whether a text says nothing but the words of a name: "The pet's id." of `petId`."""
    said = set(re.findall(r"[a-z0-9]+", text.lower())) - _SMALL_WORDS
    return said <= set(re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()))


def _formats(kind: str, schema: Schema) -> Iterator[str]:
    """Yield the format of a string or number, if it tells something."""
    if schema.get("contentEncoding") == "base64":
        yield "base64"
        return
    form = schema.get("format")
    if isinstance(form, str) and kind != "array" and form not in _PLAIN_FORMATS and len(form) <= _MAX_LITERAL:
        yield from [form] if _FORMAT.fullmatch(form) else []


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, list):
        return [each for each in kind if isinstance(each, str)]
    return ["object"] if schema.get("properties") else ["array"] if schema.get("items") else []


def _merged(first: Schema, second: Schema) -> Schema:
    """Return two schemas as one that requires what both require; what the second says of the rest counts."""
    merged = first | second
    if first.get("properties") and second.get("properties"):
        merged["properties"] = _mapping(first["properties"]) | _mapping(second["properties"])
    if first.get("required") and second.get("required"):
        merged["required"] = [*_strings(first["required"]), *_strings(second["required"])]
    return merged


def _title(schema: Schema) -> str:
    title = schema.get("title")
    return title if isinstance(title, str) and len(title) <= _MAX_NAME and re.search("[A-Za-z]", title) else ""


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.findall(r"[A-Za-z0-9]+", name))


def _class_name(name: str) -> str:
    name = name if _is_identifier(name) else _camel(name)
    name = f"_{name}" if not name or name[0].isdigit() else name[:1].upper() + name[1:]
    return f"{name}_" if name in _RESERVED or keyword.iskeyword(name) else name


def _short(key: str) -> str:
    """Return the last part of a dotted name: `PodSpec` of `io.k8s.api.core.v1.PodSpec`."""
    return key.rpartition(".")[2] or key


def _is_identifier(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str)]
