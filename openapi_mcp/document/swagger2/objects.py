"""Convert the schemas and parameters of Swagger 2.0 to those of OpenAPI 3.0.

Schemas are copied, never changed in place. Definitions keep their names under `components/schemas`; a schema that is
referred to anywhere else (in another file, in an operation) gets a name there, since the converted document does not
contain it otherwise.

Parameters become parameters with a style that writes arrays in the same way, or a request body. A defective parameter
is converted as far as possible and reported; no operation is lost here.

Specification: OpenAPI 2.0 Parameter, Items and Schema Objects; OpenAPI 3.0.4 Parameter, Request Body, Encoding and
Schema Objects.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...errors import Problem
from ...runtime import media_types
from ...runtime.types import JsonObject
from ..model import join
from ..objects import children
from ..resolver import BrokenReference, Resolver

COMPONENTS: Final = {
    "#/definitions/": "#/components/schemas/",
    "#/parameters/": "#/components/parameters/",
    "#/responses/": "#/components/responses/",
}
"""Pointers of the shared parts of a document, before and after; each part keeps its name."""

_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def moved_reference(ref: str) -> str | None:
    """Return a reference to a shared part as the converted document needs it, or None for any other."""
    for old, new in COMPONENTS.items():
        if ref.startswith(old):
            return new + ref[len(old) :]
    return None


class DefinitionsConverter:
    """Converter of the schemas of one document. `components` is complete after `finish`."""

    def __init__(self, definitions: JsonObject, resolver: Resolver) -> None:
        self._resolver = resolver
        # By id, so that values that YAML aliases share stay shared; holding the schema keeps its id unique.
        self._converted: dict[int, tuple[Any, Any]] = {}
        self._names: dict[str, str] = {}
        self._unconverted: list[tuple[str, Any]] = []
        self.components: JsonObject = dict.fromkeys(definitions)
        self.components.update({name: self.convert(schema) for name, schema in definitions.items()})

    def convert(self, schema: Any) -> Any:
        """Return a schema in the form of OpenAPI 3.0; a value that is no schema is returned unchanged."""
        if isinstance(schema, list):
            return [self.convert(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if id(schema) not in self._converted:
            self._converted[id(schema)] = (schema, self._copy(schema))
        return self._converted[id(schema)][1]

    @property
    def origins(self) -> Mapping[str, str]:
        """The pointers of the schemas that got a name here, and those of the Swagger 2.0 document."""
        return {join("#/components/schemas", name): pointer for pointer, name in self._names.items()}

    def finish(self) -> None:
        """Convert the schemas that only references led to."""
        while self._unconverted:
            name, schema = self._unconverted.pop()
            self.components[name] = self.convert(schema)

    def _copy(self, schema: JsonObject) -> JsonObject:
        kinds = {key: kind for key, _, kind in children("Schema", schema)}
        copy: JsonObject = {}
        for key, value in schema.items():
            kind = kinds.get(str(key))
            if key == "$ref":
                copy[key] = self._reference(value)
            elif kind == "{Schema}" and isinstance(value, dict):
                copy[key] = {name: self.convert(inner) for name, inner in value.items()}
            elif kind in ("Schema", "[Schema]"):
                copy[key] = self.convert(value)
            elif key == "discriminator" and isinstance(value, str):
                copy[key] = {"propertyName": value}
            elif key == "x-nullable":
                copy["nullable"] = value
            elif key != "collectionFormat":  # of an array in an array; the parameter's style has it
                copy[key] = value
        return copy | _type(copy)

    def _reference(self, ref: Any) -> Any:
        if not isinstance(ref, str):
            return ref
        if ref.startswith("#/definitions/"):
            return moved_reference(ref)
        try:
            schema, pointer = self._resolver.lookup(ref, "#")
        except BrokenReference:
            return ref  # its Problem is reported where it is followed
        if pointer.startswith("#/definitions/"):
            return moved_reference(pointer)
        if pointer not in self._names:
            self._names[pointer] = self._name(pointer)
            self._unconverted.append((self._names[pointer], schema))
        return f"#/components/schemas/{self._names[pointer]}"

    def _name(self, pointer: str) -> str:
        """Return a free name made of the last token of a schema's pointer."""
        label = self._resolver.display(pointer).removesuffix("#")
        word = _NOT_A_NAME.sub("_", re.split(r"[/#]", label)[-1].split(".")[0]) or "schema"
        number = 1
        while (name := word if number == 1 else f"{word}_{number}") in self.components:
            number += 1
        self.components[name] = None
        return name


def _is_file(node: JsonObject) -> bool:
    """Return whether a schema is for a file: `type: file`, or the `format: file` of generators, also on an object."""
    return node.get("type") == "file" or (node.get("format") == "file" and "properties" not in node)


def _type(node: JsonObject) -> JsonObject:
    """Return the fields that replace a `type` that 3.0 does not have."""
    kind = node.get("type")
    if _is_file(node):
        return {"type": "string", "format": "binary"}
    if isinstance(kind, list) and len(kind) == 2 and "null" in kind:
        return {"type": next(name for name in kind if name != "null"), "nullable": True}
    return {}


URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

ITEMS_STYLE: Final = "x-items-style"
"""On a parameter or an Encoding Object: the style that joins the inner arrays of an array of arrays."""

_SCHEMA_FIELDS: Final = frozenset(
    {"type", "format", "items", "default", "enum", "pattern", "minLength", "maxLength", "minItems", "maxItems"}
    | {"uniqueItems", "multipleOf", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "x-nullable"}
    | {"properties", "additionalProperties"}
)
"""Fields of a 2.0 parameter that belong to its schema. The last two are not allowed, but real documents use them."""

_QUERY: Final = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_PATH: Final = {
    "csv": ("simple", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
}
_STYLES: Final = {"query": _QUERY, "formData": _QUERY, "path": _PATH, "header": _PATH}
"""collectionFormat by location, as (style, explode). 3.0 has delimited styles in queries only, and none for tabs."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A parameter that is sent in the body (`in: body` or `in: formData`), and its pointer."""

    parameter: JsonObject
    pointer: str

    @property
    def key(self) -> str | None:
        """Name of a form field, None for a body; of several with one key only one can be sent."""
        return None if self.parameter.get("in") == "body" else str(self.parameter.get("name"))


class ParameterConverter:
    """Converter of the parameters of one document; `problems` has their defects."""

    def __init__(self, resolver: Resolver, schemas: DefinitionsConverter) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self.problems: list[Problem] = []

    def split(self, parameters: Any, pointer: str) -> tuple[Any, list[Payload]]:
        """Split a list of parameters into converted ones and those that are sent in the body."""
        if not isinstance(parameters, list):
            return parameters, []
        converted: list[Any] = []
        payload: list[Payload] = []
        for index, node in enumerate(parameters):
            location = join(pointer, index)
            try:
                value, location = self._resolver.follow(node, location)
            except BrokenReference:
                value = node  # its Problem is reported where it is followed
            if isinstance(value, dict) and value.get("in") in ("body", "formData"):
                self._add(Payload(value, location), payload)
            else:
                converted.append(self._converted_parameter(node, value, location))
        return converted, payload

    def _add(self, item: Payload, payload: list[Payload]) -> None:
        if item.key is not None and not isinstance(item.parameter.get("name"), str):
            self._problem(item.pointer, "this form field has no name; it is left out", "add a name")
            return
        if any(item.key == other.key for other in payload):
            subject = "body" if item.key is None else f"form field {item.key!r}"
            self._problem(item.pointer, f"there is a second {subject}; the last one counts", "remove one of them")
        payload.append(item)

    def _converted_parameter(self, node: Any, value: Any, pointer: str) -> Any:
        if not isinstance(value, dict):
            return value
        ref = node.get("$ref")
        if isinstance(ref, str) and (value is node or ref.startswith("#/parameters/")):
            return {"$ref": moved_reference(ref) or ref}
        return value if "$ref" in value else self.convert(value, pointer)

    def convert(self, parameter: JsonObject, pointer: str) -> JsonObject:
        """Convert a path, query or header parameter."""
        converted = {key: value for key, value in parameter.items() if key not in _SCHEMA_FIELDS | {"collectionFormat"}}
        return converted | {"schema": self.schema(parameter, pointer)} | self._style(parameter, pointer)

    def schema(self, parameter: JsonObject, pointer: str) -> Any:
        """Return the schema of a parameter or header, which 2.0 writes as fields of the parameter itself."""
        fields = {key: value for key, value in parameter.items() if key in _SCHEMA_FIELDS}
        if "type" not in fields:
            if "schema" in parameter:
                return self._schemas.convert(parameter["schema"])
            self._problem(pointer, "this parameter has no type; any value is accepted", "add a type")
        return self._schemas.convert(fields)

    def request_body(self, payload: Sequence[Payload], consumes: Sequence[str]) -> JsonObject | None:
        """Return the Request Body Object for these parameters; of two with the same key the last one counts."""
        fields = {item.key: item for item in payload}
        body = fields.pop(None, None)
        if body is None:
            return self._form(list(fields.values()), consumes) if fields else None
        for item in fields.values():
            self._problem(item.pointer, "a form field beside a body is not sent", "use one or the other")
        return self._body(body, consumes)

    def _body(self, body: Payload, consumes: Sequence[str]) -> JsonObject:
        parameter = body.parameter
        if not isinstance(parameter.get("schema"), dict):
            self._problem(body.pointer, "this body has no schema; any value is accepted", "add a schema")
        copied = ("description", "required")
        converted = {key: value for key, value in parameter.items() if key in copied or key.startswith("x-")}
        if "name" in parameter:
            converted["x-body-name"] = parameter["name"]
        media_type = {"schema": self._schemas.convert(parameter.get("schema", {}))}
        return converted | {"content": dict.fromkeys(self._body_types(body, consumes), media_type)}

    def _body_types(self, body: Payload, consumes: Sequence[str]) -> Sequence[str]:
        """Return the media types of a body: of a file and of an object with files only those that can carry bytes."""
        node = self._target(body.parameter.get("schema"), body.pointer)
        properties = node.get("properties")
        files = properties.values() if isinstance(properties, dict) else ()
        if _is_file(node) or (not consumes and node.get("format") == "binary"):
            textual = [name for name in consumes if media_types.is_text(name) or media_types.is_form(name)]
            suitable = [name for name in consumes if name not in textual] or [media_types.OCTET_STREAM]
        elif any(_is_file(self._target(item, body.pointer)) for item in files):
            suitable = [name for name in consumes if media_types.is_multipart(name)] or [MULTIPART]
        else:
            return consumes or ["application/json"]
        if consumes and not set(suitable) & set(consumes):
            message = f"{', '.join(consumes)} cannot carry a file; {suitable[0]} is sent"
            self._problem(body.pointer, message, f"add {suitable[0]} to `consumes`")
        return suitable

    def _target(self, node: Any, pointer: str) -> JsonObject:
        """Return a schema or the target of its reference; an empty one where that is broken."""
        try:
            target, _ = self._resolver.follow(node, pointer)
        except BrokenReference:
            return {}
        return target if isinstance(target, dict) else {}

    def _form(self, fields: Sequence[Payload], consumes: Sequence[str]) -> JsonObject:
        properties: JsonObject = {}
        encoding: JsonObject = {}
        for item in fields:
            name = str(item.key)
            properties[name] = self._field(item)
            style = self._style(item.parameter, item.pointer)
            if style:
                encoding[name] = style
        required = [name for name in properties if any(_requires(item.parameter, name) for item in fields)]
        schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
        media_type = {"schema": schema} | ({"encoding": encoding} if encoding else {})
        file = any(_is_file(item.parameter) for item in fields)
        content = dict.fromkeys(_form_types(consumes, file=file), media_type)
        return {"content": content} | ({"required": True} if required else {})

    def _field(self, item: Payload) -> Any:
        schema = self.schema(item.parameter, item.pointer)
        if not isinstance(schema, dict):
            return schema
        texts = {key: value for key, value in item.parameter.items() if key == "description" or key.startswith("x-")}
        texts.pop("x-nullable", None)
        return schema | texts

    def _style(self, parameter: JsonObject, pointer: str) -> JsonObject:
        """Return `style` and `explode` of an array."""
        styles = _STYLES.get(str(parameter.get("in")))
        if parameter.get("type") != "array" or styles is None:
            return {}
        name = str(parameter.get("collectionFormat", "csv"))
        if name not in styles:
            self._problem(pointer, f"the collectionFormat {name!r} is not allowed here; it is read as csv", "use csv")
        style, explode = styles.get(name, styles["csv"])
        return {"style": style, "explode": explode} | _items_style(parameter.get("items"))

    def _problem(self, pointer: str, message: str, hint: str) -> None:
        label = self._resolver.display(pointer)
        self.problems.append(Problem(pointer=label, kind="parameter", message=message, hint=hint))


def _items_style(items: Any) -> JsonObject:
    if not isinstance(items, dict) or items.get("type") != "array":
        return {}
    return {ITEMS_STYLE: _PATH.get(str(items.get("collectionFormat")), _PATH["csv"])[0]}


def _form_types(consumes: Sequence[str], *, file: bool) -> Sequence[str]:
    """Return the consumed media types that can encode a form, else a default; URL encoding cannot encode files."""
    suitable = (MULTIPART,) if file else (URLENCODED, MULTIPART)
    return [name for name in consumes if name.partition(";")[0].strip().lower() in suitable] or suitable[:1]


def _requires(parameter: JsonObject, name: str) -> bool:
    return parameter.get("name") == name and parameter.get("required") is True
