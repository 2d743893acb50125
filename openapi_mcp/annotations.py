"""Schemas as Python types: precise where that reads well, `Any` where it would not; never more than the schema allows.

A definition becomes a TypedDict, or the name of an enumeration; whatever else it says is written where it is used.
Names are made by `naming`; what a document calls a property is a string literal where it is no identifier.
"""

import builtins
import json
import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from .literals import WIDTH, Group, Source, layout, literal, node
from .naming import shortened, unique, words
from .runtime.types import Schema

SIMPLE: Final[Mapping[str, str]] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
MOST_MEMBERS: Final = 24
"""Properties of an object that is worth a class: what one can read at once."""

MOST_VALUES: Final = 40
"""Values of an enumeration that is written out."""

MOST_CHOICES: Final = 5
"""Types of a union."""

DEEPEST: Final = 6
"""Objects in objects that have no names of their own."""

MOST_CLASSES: Final = 60
"""Declarations of a module after which objects stay open."""

_SHORT: Final = 48
"""Columns of an enumeration that is written where it is used."""

LONGEST: Final = 72
"""Columns of an annotation, which stands in a line with the longest names of parameters."""

LONGEST_MEMBER: Final = 50
"""Characters of a property of an object that is worth a class."""

LONGEST_NAME: Final = 44
"""Characters of a class's name."""

_OPEN: Final = "dict[str, Any]"
_TYPES: Final = frozenset({*SIMPLE.values(), "list", "dict", "Any", "Literal", "NotRequired"})
"""Names that annotations are made of."""

_TAKEN: Final = frozenset({*dir(builtins), *keyword.kwlist, "Any", "Literal", "NotRequired", "TypeAlias", "TypedDict"})


class Types:
    """The types of one module. `declared` are its declarations, each after those that it needs."""

    def __init__(
        self, definitions: Mapping[str, Schema], taken: Iterable[str] = (), names: Mapping[str, str] = {}
    ) -> None:
        self.declared: list[Source] = []
        self.used: set[str] = set()
        self._definitions = definitions
        self._names = names  # of the document's, by likeness
        self._named: dict[str, str] = {}  # by definition
        self._written: dict[str, str] = {}  # names of classes and enumerations, by what they say
        self._taken = {*_TAKEN, *taken}
        self._open: list[str] = []  # classes that are being written

    def of(self, schema: Any, name: str, depth: int = 0) -> Source:
        """The type of a schema's values; `name` is what a class made for it would be called."""
        kinds = list(dict.fromkeys(self._union(schema, name, depth)))
        if "Any" in kinds or not kinds or len(kinds) > MOST_CHOICES:
            self.used.add("Any")
            return Source("Any")
        kinds = [kind for kind in kinds if kind != "None"] + ["None"] * ("None" in kinds)
        return Source(" | ".join(kinds if sum(map(len, kinds)) <= LONGEST else [self._opened(kinds)]))

    def _opened(self, kinds: Iterable[str]) -> str:
        """A union that would not fit on a line, with less said."""
        self.used.add("Any")
        return _OPEN if all(kind.startswith("dict[") or kind[:1].isupper() for kind in kinds) else "Any"

    def _union(self, schema: Any, name: str, depth: int) -> Iterator[str]:
        """The types that a value may have, each once or more."""
        if not isinstance(schema, dict) or depth > DEEPEST:
            yield "Any"
        elif "$ref" in schema:
            yield from self._reference(schema["$ref"].removeprefix("#/$defs/"))
        elif "const" in schema or "enum" in schema:
            called = self._called(schema)
            yield from self._enumeration(
                schema.get("enum", [schema.get("const")]),
                called or name,
                named=bool(called) or self._is_definition(name),
            )
        elif choices := schema.get("oneOf") or schema.get("anyOf"):
            for number, choice in enumerate(choices, 1):
                yield from self._union(choice, f"{name}{number}", depth + 1)
        elif len(schema.get("allOf", ())) == 1:
            yield from self._union(schema["allOf"][0], name, depth + 1)
        else:
            kinds = schema.get("type", ())
            for kind in [kinds] if isinstance(kinds, str) else kinds or ["any"]:
                yield self._typed(kind, schema, name, depth)

    def _typed(self, kind: str, schema: Schema, name: str, depth: int) -> str:
        if kind == "array":
            inner = self.of(schema.get("items", True), f"{name}Item", depth + 1)
            return f"list[{inner}]"
        if kind == "object":
            return self._object(schema, name, depth)
        return SIMPLE.get(kind, "None" if kind == "null" else "Any")

    def _object(self, schema: Schema, name: str, depth: int) -> str:
        properties = schema.get("properties", {})
        legible = 0 < len(properties) <= MOST_MEMBERS and all(len(name) <= LONGEST_MEMBER for name in properties)
        if "allOf" in schema or not legible:
            others = True if properties else schema.get("additionalProperties", True)
            inner = self.of(others, f"{name}Value", depth + 1)
            return f"dict[str, {inner}]"
        return self._class(schema, name, depth)

    def _reference(self, name: str) -> Iterator[str]:
        """What a definition is: its class by name where it has one, else what it says."""
        schema = self._definitions.get(name)
        if name in self._named:
            yield self._quoted(self._named[name])
        elif not isinstance(schema, dict) or name in self._open:
            yield "Any"
        else:
            self._open.append(name)
            yield from self._union(schema, camel(name), 0 if len(self.declared) < MOST_CLASSES else DEEPEST)
            self._open.pop()

    def _quoted(self, name: str) -> str:
        """A name that is not there yet is marked, so that the whole annotation is quoted."""
        return name if name in self._written.values() else f"{FORWARD}{name}"

    def _is_definition(self, name: str) -> bool:
        return bool(self._open) and camel(self._open[-1]) == name

    def _enumeration(self, values: list[Any], name: str, *, named: bool) -> Iterator[str]:
        """`Literal[…]`, by name where it has one or is long; null is None."""
        plain = [value for value in values if isinstance(value, str | bool | int)]
        if None in values:
            yield "None"
        legible = len(plain) <= MOST_VALUES and all(len(str(value)) <= LONGEST for value in plain)
        if len(plain) + (None in values) < len(values) or not legible:
            yield from ("Any" if isinstance(v, dict | list) else type(v).__name__ for v in values if v is not None)
        elif plain:
            self.used.add("Literal")
            text = layout(_literal(plain))
            short = len(text) <= _SHORT and "\n" not in text and not named
            yield str(text) if short else self._alias(plain, name)

    def _alias(self, values: list[Any], name: str) -> str:
        key = json.dumps(values)
        if key not in self._written:
            self.used.add("TypeAlias")
            found = self._unique(name)
            head = f"{found}: TypeAlias = "
            self.declared.append(Source(head + layout(_literal(values), before=len(head))))
            self._written[key] = found
        return self._written[key]

    def _class(self, schema: Schema, name: str, depth: int) -> str:
        """The TypedDict of an object: one for all objects that are alike."""
        definition = self._open[-1] if self._is_definition(name) else None
        key = json.dumps([schema.get("properties"), schema.get("required")])
        if key in self._written:
            return self._written[key]
        found = self._unique(name if definition else self._called(schema) or name)
        if definition:
            self._named[definition] = found
        self._taken.add(found)
        required = schema.get("required", ())
        members = {
            member: self._member(inner, f"{found}{camel(member)}", depth, required=member in required)
            for member, inner in schema["properties"].items()
        }
        self.used.add("TypedDict")
        self.declared.append(_typed_dict(found, members, self._written.values()))
        self._written[key] = found
        return found

    def _member(self, schema: Any, name: str, depth: int, *, required: bool) -> str:
        said = self.of(schema, name, depth + 1)
        if not required:
            self.used.add("NotRequired")
            said = Source(f"NotRequired[{said}]")
        return f'"{said.replace(FORWARD, "")}"' if FORWARD in said else said

    def _called(self, schema: Schema) -> str:
        """What the document calls a schema that has no name here."""
        return camel(self._names[key]) if (key := likeness(schema)) in self._names else ""

    def _unique(self, name: str) -> str:
        found = unique(shortened(name, LONGEST_NAME), self._taken)
        self._taken.add(found)
        return found


FORWARD: Final = "\0"
"""Before a name that is declared further down."""


def camel(name: str) -> str:
    """A name for a class: `new_pet` is NewPet."""
    plain = "".join(word.capitalize() for word in words(name)) or "Value"
    return f"N{plain}" if plain[0].isdigit() else plain


def likeness(schema: Schema) -> str:
    """What tells an object or an enumeration from others, whatever it refers to; nothing for other schemas."""
    if "enum" in schema:
        return json.dumps(schema["enum"])
    properties = schema.get("properties")
    return json.dumps([sorted(properties), sorted(schema.get("required", ()))]) if properties else ""


def _literal(values: list[Any]) -> Group:
    return Group("Literal[", [("", node(value)) for value in values], "]")


def _typed_dict(name: str, members: Mapping[str, str], taken: Iterable[str]) -> Source:
    """A class where all members are identifiers that hide no type; else the call that makes one."""
    plain = all(map(_is_plain, members))
    if plain and not any(member in _TYPES or member in taken for member in members):
        return Source("\n".join([f"class {name}(TypedDict):", *(f"    {m}: {said}" for m, said in members.items())]))
    items = [(f"{literal(member)}: ", Source(said)) for member, said in members.items()]
    call = Group("TypedDict(", [("", node(name)), ("", Group("{", items, "}"))], ")")
    text = f"{name} = {layout(call, before=len(name) + 3)}"
    if not plain:
        return Source(text)
    first, newline, rest = text.partition("\n")
    return Source(f"{first}  # noqa: UP013 - a member has the name of a type{newline}{rest}")


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def default(schema: Mapping[str, Any], annotation: str, definitions: Mapping[str, Schema]) -> Source | None:
    """The default of a schema as source where it is a plain value of that type."""
    value = schema.get("default")
    target = definitions.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), schema)
    allowed = target.get("enum", [value]) if isinstance(target, dict) else []
    kinds = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}.get(annotation)
    if kinds is None and "enum" in target and value is not None:
        kinds = (str, int, bool)
    if kinds is None or type(value) not in kinds or value not in allowed:
        return None
    text = literal(value)
    return text if len(text) <= WIDTH // 2 and "1e999" not in text else None
