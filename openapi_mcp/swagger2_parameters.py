"""Swagger 2.0 parameters as OpenAPI 3.0 parameters and request bodies, with styles that write arrays the same way.

A parameter that is half right is converted as far as it goes and reported; the operation is never lost here.
Specification: OpenAPI 2.0 Parameter and Items Objects; OpenAPI 3.0.4 Parameter, Request Body and Encoding Objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .document import join
from .errors import Problem
from .resolver import BrokenReference, Resolver
from .runtime.types import JsonObject
from .swagger2_schemas import Schemas, moved

URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

ITEMS_STYLE: Final = "x-items-style"
"""On a parameter or an Encoding Object: the style that joins the inner arrays of an array of arrays."""

_SCHEMA_FIELDS: Final = frozenset(
    {"type", "format", "items", "default", "enum", "pattern", "minLength", "maxLength", "minItems", "maxItems"}
    | {"uniqueItems", "multipleOf", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "x-nullable"}
    | {"properties", "additionalProperties"}
)
"""Fields of a 2.0 parameter that belong to its schema. The last two are not allowed there, and used."""

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
    """A parameter that is sent in the body (`in: body` or `in: formData`), and where it stands."""

    parameter: JsonObject
    pointer: str

    @property
    def key(self) -> str | None:
        """The name of a form field, None for a body: of those with the same key one can be sent."""
        return None if self.parameter.get("in") == "body" else str(self.parameter.get("name"))


class Parameters:
    """Converts the parameters of one document and collects what is wrong with them."""

    def __init__(self, resolver: Resolver, schemas: Schemas) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self.problems: list[Problem] = []

    def split(self, parameters: Any, pointer: str) -> tuple[Any, list[Payload]]:
        """A list of parameters without those that the body takes, and those."""
        if not isinstance(parameters, list):
            return parameters, []
        kept: list[Any] = []
        payload: list[Payload] = []
        for index, node in enumerate(parameters):
            place = join(pointer, index)
            try:
                value, where = self._resolver.follow(node, place)
            except BrokenReference:
                value, where = node, place  # whoever follows it learns why
            if isinstance(value, dict) and value.get("in") in ("body", "formData"):
                self._add(Payload(value, where), payload)
            else:
                kept.append(self._kept(node, value, where))
        return kept, payload

    def _add(self, item: Payload, payload: list[Payload]) -> None:
        if item.key is not None and not isinstance(item.parameter.get("name"), str):
            self._problem(item.pointer, "this form field has no name; it is left out", "give it a name")
            return
        if any(item.key == other.key for other in payload):
            what = "body" if item.key is None else f"form field {item.key!r}"
            self._problem(item.pointer, f"there is a second {what}; the last one counts", "keep one of them")
        payload.append(item)

    def _kept(self, node: Any, value: Any, pointer: str) -> Any:
        if not isinstance(value, dict):
            return value
        ref = node.get("$ref")
        if isinstance(ref, str) and (value is node or ref.startswith("#/parameters/")):
            return {"$ref": moved(ref) or ref}
        return value if "$ref" in value else self.convert(value, pointer)

    def convert(self, parameter: JsonObject, pointer: str) -> JsonObject:
        """A path, query or header parameter."""
        converted = {key: value for key, value in parameter.items() if key not in _SCHEMA_FIELDS | {"collectionFormat"}}
        return converted | {"schema": self.schema(parameter, pointer)} | self._style(parameter, pointer)

    def schema(self, parameter: JsonObject, pointer: str) -> Any:
        """The schema of a parameter or a header, whose 2.0 form is one itself."""
        fields = {key: value for key, value in parameter.items() if key in _SCHEMA_FIELDS}
        if "type" not in fields:
            if "schema" in parameter:
                return self._schemas.convert(parameter["schema"])
            self._problem(pointer, "this parameter has no type; any value is taken", "give it a type")
        return self._schemas.convert(fields)

    def request_body(self, payload: Sequence[Payload], consumes: Sequence[str]) -> JsonObject | None:
        """The Request Body Object that parameters make together; of two with the same key the last one counts."""
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
            self._problem(body.pointer, "this body has no schema; any value is taken", "give it a schema")
        kept = ("description", "required")
        converted = {key: value for key, value in parameter.items() if key in kept or key.startswith("x-")}
        if "name" in parameter:
            converted["x-body-name"] = parameter["name"]
        media_type = {"schema": self._schemas.convert(parameter.get("schema", {}))}
        return converted | {"content": dict.fromkeys(consumes or ["application/json"], media_type)}

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
        file = any(item.parameter.get("type") == "file" for item in fields)
        content = dict.fromkeys(_form_types(consumes, file=file), media_type)
        return {"content": content} | ({"required": True} if required else {})

    def _field(self, item: Payload) -> Any:
        schema = self.schema(item.parameter, item.pointer)
        if not isinstance(schema, dict):
            return schema
        words = {key: value for key, value in item.parameter.items() if key == "description" or key.startswith("x-")}
        words.pop("x-nullable", None)
        return schema | words

    def _style(self, parameter: JsonObject, pointer: str) -> JsonObject:
        """`style` and `explode` of an array."""
        styles = _STYLES.get(str(parameter.get("in")))
        if parameter.get("type") != "array" or styles is None:
            return {}
        written = str(parameter.get("collectionFormat", "csv"))
        if written not in styles:
            self._problem(pointer, f"there is no collectionFormat {written!r} here; it is read as csv", "use csv")
        style, explode = styles.get(written, styles["csv"])
        return {"style": style, "explode": explode} | _items_style(parameter.get("items"))

    def _problem(self, pointer: str, message: str, hint: str) -> None:
        shown = self._resolver.shown(pointer)
        self.problems.append(Problem(pointer=shown, kind="parameter", message=message, hint=hint))


def _items_style(items: Any) -> JsonObject:
    if not isinstance(items, dict) or items.get("type") != "array":
        return {}
    return {ITEMS_STYLE: _PATH.get(str(items.get("collectionFormat")), _PATH["csv"])[0]}


def _form_types(consumes: Sequence[str], *, file: bool) -> Sequence[str]:
    """The media types that can carry a form, of those an operation consumes: JSON cannot, URL encoding no files."""
    able = (MULTIPART,) if file else (URLENCODED, MULTIPART)
    return [name for name in consumes if name.partition(";")[0].strip().lower() in able] or able[:1]


def _requires(parameter: JsonObject, name: str) -> bool:
    return parameter.get("name") == name and parameter.get("required") is True
