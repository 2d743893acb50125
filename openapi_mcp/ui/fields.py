"""`FormField`: an input of the form of a tool, made from its inputSchema; a part of the form is made when it is needed.

Objects are shown open down to a few levels; what is deeper, recursive or without a declared form is a text of JSON.
The items of an array and the alternatives of a union are requested one by one, by their location in the schema:
`/p:pet/i/u:1` is the second alternative of the items of the property `pet`. Specification: JSON Schema 2020-12.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..runtime.types import Schema

Kind: TypeAlias = Literal[
    "string", "text", "number", "boolean", "choice", "choices", "file", "json", "object", "array", "union"
]

MAX_DEPTH: Final = 3
"""Levels of objects that are shown open: deeper ones are wider than the page."""

MAX_FIELDS: Final = 120
"""Inputs of one part of a form; what is left over is a text of JSON each."""

MAX_CHOICES: Final = 1000
"""Values of an enum in a list to choose from; a longer enum is a text."""

MAX_CHECKBOXES: Final = 12
"""Values that an array chooses from as boxes; with more of them, its items are added one by one."""

MAX_STEPS: Final = 64
"""Steps of a location, and references and combinators in a row that are followed."""

_LONG_TEXT: Final = 255
"""Characters that a text may have for a field of one line."""

_BASE64: Final = ("base64", "base64url")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """An input. `name` is its place in the arguments, as a JSON pointer; `at` that of its schema.

    `choices` are pairs of JSON and the text that is shown. `fields` are the properties of an object, or the first
    alternative of a union, whose `alternatives` are named.
    """

    name: str
    at: str
    label: str
    kind: Kind
    required: bool = False
    description: str = ""
    hint: str = ""
    placeholder: str = ""
    choices: Sequence[tuple[str, str]] = ()
    fields: "Sequence[FormField]" = ()
    alternatives: Sequence[str] = ()

    @property
    def id(self) -> str:
        """An id of the element on the page."""
        return "f" + hashlib.sha256(f"{self.name} {self.at}".encode("utf-8", "surrogatepass")).hexdigest()[:10]

    @property
    def fixed_choice(self) -> str:
        """The JSON of the only value, which need not be chosen; empty if there are several."""
        return self.choices[0][0] if len(self.choices) == 1 and self.required else ""


class FormSchema:
    """The form of an inputSchema."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._definitions: Mapping[str, Schema] = schema.get("$defs", {})

    def fields(self) -> Sequence[FormField]:
        """Return the inputs of the arguments, required ones first."""
        return self._fields(self._resolved(self._root), _Spot("", "", ""), _Room())

    def field(self, at: str, name: str) -> FormField:
        """Return the input for the schema at a location, under a name. Raises LookupError."""
        return self._field(self._at(at), _Spot(name, at, ""), _Room(), required=False)

    def _at(self, at: str) -> Schema:
        schema, steps = self._root, at.split("/")[1:]
        if len(steps) > MAX_STEPS:
            raise LookupError(at)
        for step in steps:
            resolved, (kind, _, key) = self._resolved(schema), step.partition(":")
            if kind == "u" and key.isdecimal():
                schema = self._alternatives(resolved)[int(key)]
            elif kind == "p":
                schema = resolved["properties"][unescaped(key)]
            else:
                schema = resolved["items"]
            if not isinstance(schema, dict):
                raise LookupError(at)  # noqa: TRY004  # an address that leads nowhere
        return schema

    def _fields(self, schema: Schema, spot: "_Spot", room: "_Room") -> Sequence[FormField]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        ordered = sorted(properties, key=lambda key: key not in required)
        return [
            self._field(
                properties[key] if isinstance(properties[key], dict) else {},
                spot.property(key),
                room,
                required=key in required,
            )
            for key in ordered
        ]

    def _field(self, written: Schema, spot: "_Spot", room: "_Room", *, required: bool) -> FormField:
        schema = self._resolved(written)
        room.taken += 1
        kind = self._kind(schema, spot.depth, room)
        more: dict[str, Any] = {}
        if kind == "object":
            more["fields"] = self._fields(schema, spot.inside(""), room)
        elif kind == "union":
            alternatives = self._alternatives(schema)
            more["alternatives"] = [self._title(each) for each in alternatives]
            more["fields"] = [self._field(alternatives[0], spot.inside("/u:0"), room, required=required)]
        elif kind == "choice":
            more["choices"] = _choices(schema)
        elif kind == "choices":
            more["choices"] = _choices(self._resolved(schema["items"]))
        return FormField(
            name=spot.name,
            at=spot.at,
            label=spot.label,
            kind=kind,
            required=required,
            description=str(schema.get("description", "")),
            hint=", ".join(_hints(schema)),
            placeholder=_example(schema),
            **more,
        )

    def _kind(self, schema: Schema, depth: int, room: "_Room") -> Kind:
        is_open = depth < MAX_DEPTH and room.taken < MAX_FIELDS
        if _values(schema):
            return "choice"
        if len(self._alternatives(schema)) > 1:
            return "union" if is_open else "json"
        types = _types(schema)
        if len(types) != 1:
            return "json"
        if types[0] == "object":
            return "object" if schema.get("properties") and is_open else "json"
        if types[0] == "array":
            return self._kind_of_array(schema.get("items"))
        return _kind_of_scalar(types[0], schema)

    def _kind_of_array(self, items: Any) -> Kind:
        if not isinstance(items, dict):
            return "json"
        return "choices" if 0 < len(_values(self._resolved(items))) <= MAX_CHECKBOXES else "array"

    def _alternatives(self, schema: Schema) -> Sequence[Schema]:
        """Return the alternatives of a resolved schema, without null: an argument is left out instead."""
        combined = schema.get("anyOf") or schema.get("oneOf") or ()
        return [each for each in combined if isinstance(each, dict) and each.get("type") != "null"]

    def _resolved(self, schema: Schema) -> Schema:
        """Return a schema with the keywords of its reference, its allOf and its only alternative."""
        for _ in range(MAX_STEPS):
            alternatives = self._alternatives(schema)
            reference = schema.get("$ref")
            if isinstance(reference, str):
                target = self._definitions.get(unescaped(reference.removeprefix("#/$defs/")), {})
                schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
            elif isinstance(schema.get("allOf"), list):
                schema = self._merged(schema)
            elif len(alternatives) == 1:
                own = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                schema = {**alternatives[0], **own}
            else:
                return schema
        return {}

    def _merged(self, schema: Schema) -> Schema:
        """Return a schema with the properties and other keywords of all parts of its allOf."""
        own = {key: value for key, value in schema.items() if key != "allOf"}
        merged: dict[str, Any] = {}
        for part in [*(each for each in schema["allOf"] if isinstance(each, dict)), own]:
            resolved = self._definitions.get(unescaped(str(part.get("$ref", "")).removeprefix("#/$defs/")), part)
            properties = {**merged.get("properties", {}), **resolved.get("properties", {})}
            required = [*merged.get("required", ()), *resolved.get("required", ())]
            merged |= resolved | ({"properties": properties} if properties else {})
            merged |= {"required": required} if required else {}
        return merged

    def _title(self, schema: Schema) -> str:
        resolved = self._resolved(schema)
        named = str(schema.get("$ref", "")).rpartition("/")[2]
        title = resolved.get("title") or unescaped(named)
        kind = " or ".join(_types(resolved)) or "any value"
        if not title and resolved.get("properties"):
            title = f"{kind} with {', '.join(list(resolved['properties'])[:3])}"
        return str(title) or kind


class _Spot(NamedTuple):
    """The place of an input: its name, the location of its schema, its label, and the levels of objects around it."""

    name: str
    at: str
    label: str
    depth: int = 0

    def property(self, key: str) -> "_Spot":
        """Return the place of a property of this object."""
        return _Spot(f"{self.name}/{escaped(key)}", f"{self.at}/p:{escaped(key)}", key, self.depth)

    def inside(self, step: str) -> "_Spot":
        """Return the place one level below, without a label of its own."""
        return _Spot(self.name, self.at + step, "", self.depth + 1)


@dataclass(slots=True)
class _Room:
    """The inputs that a part of a form has so far."""

    taken: int = 0


def escaped(key: str) -> str:
    """Return a key as a segment of a pointer (RFC 6901 §3)."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(segment: str) -> str:
    """Return the key that a segment stands for."""
    return segment.replace("~1", "/").replace("~0", "~")


def _types(schema: Schema) -> list[str]:
    types = schema.get("type", ())
    return [each for each in ([types] if isinstance(types, str) else types) if each != "null"]


def _values(schema: Schema) -> Sequence[Any]:
    values = [schema["const"]] if "const" in schema else schema.get("enum") or ()
    return [value for value in values if value is not None] if len(values) <= MAX_CHOICES else ()


def _choices(schema: Schema) -> Sequence[tuple[str, str]]:
    return [(json.dumps(value), _shown(value)) for value in _values(schema)]


def _kind_of_scalar(kind: str, schema: Schema) -> Kind:
    if kind in ("integer", "number"):
        return "number"
    if kind == "boolean":
        return "boolean"
    if schema.get("contentEncoding") in _BASE64 or schema.get("format") in ("binary", "byte"):
        return "file"
    return "text" if schema.get("maxLength", 0) > _LONG_TEXT or "contentMediaType" in schema else "string"


def _hints(schema: Schema) -> Iterator[str]:
    """Yield the type and limits of a value in words."""
    types = _types(schema)
    if _values(schema):
        return
    yield str(schema.get("format") or " or ".join(types) or "any JSON")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        both = low is not None and high is not None
        yield f"{low} to {high}" if both else f"at most {high}" if low is None else f"at least {low}"
    if "maxLength" in schema:
        yield f"up to {schema['maxLength']:,} characters"


def _example(schema: Schema) -> str:
    examples = schema.get("examples")
    value = examples[0] if isinstance(examples, list) and examples else schema.get("default")
    return "" if value is None else _shown(value)[:200]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
