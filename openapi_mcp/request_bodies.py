"""The request body of an operation: the media types it may be sent in, and the schema of what a caller gives for it.

Media types that take the same value are a choice; those that take different ones make a union, and a choice.
Specification: OpenAPI 3.2 Request Body Object, Media Type Object, "Working with Binary Data".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from . import encodings, flattening, keywords, prose
from .conversion import DEEPEST, DEFINITIONS
from .document import join
from .errors import Problem
from .flattening import Properties
from .operations import Operation
from .resolver import BrokenReference
from .runtime import media_types
from .runtime.models import Encoding, MediaType, RequestBody
from .runtime.types import Schema
from .schema_parts import is_binary
from .schemas import Schemas
from .xml_nodes import xml_document

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""JSON Schema 2020-12, which MCP takes for granted where a schema names none."""

_PART: Final = "file"
"""What a part is called that nothing names: what upload forms and most servers call it."""

_MEDIA_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*;[\x20-\x7e]*)?")

_PREFERENCE: Final[tuple[Callable[[str], bool], ...]] = (
    lambda name: media_types.essence(name) == "application/json",
    media_types.is_json,
    lambda name: media_types.is_json_lines(name) or media_types.is_json_sequence(name),
    media_types.is_form,
    media_types.is_multipart,
    lambda name: name.startswith("text/") and not media_types.is_xml(name),
    media_types.is_xml,
)
"""The first is sent unless the caller chooses: what says most about a value, with the least around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A request body, the schema of its value, and its properties where it is nothing but those.

    `choices` are the media types among which a caller may choose, where there are several. `pointer` is where the
    document has the schema; `names_dialect` says that this names the dialect all input schemas are in.
    """

    body: RequestBody
    schema: Schema
    pointer: str
    properties: Properties | None = None
    choices: tuple[str, ...] = ()
    description: str = ""
    names_dialect: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One media type with the schema of what it takes."""

    media_type: MediaType
    schema: Schema
    pointer: str

    @property
    def rank(self) -> int:
        """Its place among the preferences; a form that holds files can only be multipart."""
        name = self.media_type.content_type.lower()
        files = any(encoding.binary for encoding in self.media_type.encoding.values())
        place = next((rank for rank, test in enumerate(_PREFERENCE) if test(name)), len(_PREFERENCE))
        return len(_PREFERENCE) if files and not name.startswith("multipart/") else place


def request_body(operation: Operation, schemas: Schemas, report: Callable[[Problem], None]) -> Body | None:
    """The body of an operation, or None where it has none that can be sent. Raises BrokenReference."""
    written = operation.value.get("requestBody")
    if written is None:
        return None
    return _Reader(schemas, report).body(written, join(operation.pointer, "requestBody"))


class _Reader:
    """Reads one body."""

    def __init__(self, schemas: Schemas, report: Callable[[Problem], None]) -> None:
        self._schemas = schemas
        self._resolver = schemas.resolver
        self._report = report

    def body(self, node: Any, pointer: str) -> Body | None:
        node, pointer = self._resolver.follow(node, pointer)
        content = node.get("content") if isinstance(node, dict) else None
        ways = self._ways(content, join(pointer, "content")) if isinstance(content, dict) else []
        if not ways:
            self._problem(pointer, "the request body names no media type; it is left out")
            return None
        required = node.get("required") is True
        distinct: list[Schema] = []
        for way in ways:
            if way.schema not in distinct:
                distinct.append(way.schema)
        taken = [self._types(schema, set()) for schema in distinct] if len(distinct) > 1 else []
        if len(set(taken)) > 1:
            types = [taken[distinct.index(way.schema)] for way in ways]
            ways = [replace(w, media_type=replace(w.media_type, takes=t)) for w, t in zip(ways, types, strict=True)]
        return Body(
            body=RequestBody(media_types=tuple(way.media_type for way in ways), required=required),
            schema=distinct[0] if len(distinct) == 1 else {"anyOf": distinct},
            pointer=ways[0].pointer,
            properties=self._properties(ways, required=required) if len(distinct) == 1 else None,
            choices=tuple(way.media_type.content_type for way in ways) if len(ways) > 1 else (),
            description=prose.trimmed(prose.clean(node.get("description")), self._schemas.longest_text),
            names_dialect=self._names_dialect(ways[0].pointer),
        )

    def _ways(self, content: Mapping[str, Any], pointer: str) -> list[_Way]:
        """The media types, the preferred first."""
        ways = []
        for content_type, media in content.items():
            if not _MEDIA_TYPE.fullmatch(content_type):
                self._problem(join(pointer, content_type), f"{content_type} is no media type; it is left out")
                continue
            ways.append(self._way(content_type, media, join(pointer, content_type)))
        return sorted(ways, key=lambda way: way.rank)

    def _way(self, content_type: str, media: Any, pointer: str) -> _Way:
        media, pointer = self._resolver.follow(media, pointer)
        if not isinstance(media, dict):
            self._problem(pointer, f"the media type {content_type} is described by an object; nothing is known of it")
            media = {}
        if media.get("schema") is None and media.get("itemSchema") is not None:
            place = join(pointer, "itemSchema")
            listed: Schema = {"type": "array", "items": self._schemas.convert(media["itemSchema"], place)}
            return _Way(media_type=MediaType(content_type=content_type), schema=listed, pointer=place)
        node, place = media.get("schema"), join(pointer, "schema")
        if _takes_fields(content_type):
            return self._fields(content_type, media, node, place)
        target, _ = encodings.resolved(node, place, self._resolver)
        if _takes_bytes(content_type, target):
            schema = encodings.binary_schema(content_type)
            return _Way(media_type=MediaType(content_type=content_type, binary=True), schema=schema, pointer=place)
        if node is None or is_binary(target):  # a file of text: the text is the value
            schema = {} if media_types.is_json(content_type) else {"type": "string"}
        else:
            schema = self._schemas.convert(node, place)
        is_xml = media_types.is_xml(content_type) and node is not None
        xml = xml_document(node, place, self._resolver, self._report) if is_xml else None
        return _Way(media_type=MediaType(content_type=content_type, xml=xml), schema=schema, pointer=place)

    def _fields(self, content_type: str, media: Mapping[str, Any], node: Any, pointer: str) -> _Way:
        """A form or multipart body."""
        if self._is_one_file(content_type, node, pointer):
            self._problem(pointer, f"nothing names the part of this multipart body; it is sent as `{_PART}`")
            node = {"type": "object", "properties": {_PART: node}}
        schema: Schema = {"type": "object"} if node is None else self._schemas.convert(node, pointer)
        rules = encodings.encodings(media, (node, pointer), self._resolver)
        if isinstance(schema.get("properties"), dict):
            schema = {**schema, "properties": _fitted(schema["properties"], rules)}
        if "*" in rules and isinstance(schema.get("items"), dict):
            schema = {**schema, "items": encodings.fitted(schema["items"], rules["*"])}
        return _Way(media_type=MediaType(content_type=content_type, encoding=rules), schema=schema, pointer=pointer)

    def _is_one_file(self, content_type: str, node: Any, pointer: str) -> bool:
        """Whether a body of named parts is described as if it were the file in it, or a list of such files."""
        target, place = encodings.resolved(node, pointer, self._resolver)
        if isinstance(target, dict) and "array" in keywords.types(target.get("type")):
            target, _ = encodings.resolved(target.get("items"), join(place, "items"), self._resolver)
        return media_types.essence(content_type) == "multipart/form-data" and is_binary(target)

    def _properties(self, ways: Sequence[_Way], *, required: bool) -> Properties | None:
        """An optional body that must have something in it is given whole or not at all, and so is one argument."""
        found = flattening.flattened(ways[0].schema, self._schemas.definition)
        if found is None or (found.required and not required):
            return None
        if not all(_takes_fields(way.media_type.content_type) for way in ways):
            return found
        return replace(found, properties=_fitted(found.properties, ways[0].media_type.encoding))

    def _types(self, schema: Schema, seen: set[str]) -> tuple[str, ...]:
        """The JSON types of the values that a schema takes, as far as they are told; none where it may be any.

        Of what was `seen`, and of chains that are longer than anybody writes, nothing is told.
        """
        if "type" in schema or len(seen) > DEEPEST:
            return tuple(keywords.types(schema.get("type")))
        name = schema.get("$ref", "").removeprefix(DEFINITIONS)
        if name and name not in seen:
            seen.add(name)
            return self._types(self._schemas.definition(name), seen)
        options = [self._types(option, seen) for option in schema.get("anyOf") or schema.get("oneOf") or ()]
        if options and all(options):
            return tuple(dict.fromkeys(kind for option in options for kind in option))
        parts = (self._types(part, seen) for part in schema.get("allOf", ()))
        return next((part for part in parts if part), ())

    def _names_dialect(self, pointer: str) -> bool:
        try:
            node, _ = self._resolver.follow({"$ref": pointer}, "#")
        except BrokenReference:  # there is no schema, which is nothing new here
            return False
        return isinstance(node, dict) and node.get("$schema") in (DIALECT, DIALECT + "#")

    def _problem(self, pointer: str, message: str) -> None:
        self._report(Problem(pointer=self._resolver.shown(pointer), message=message, kind="body"))


def _fitted(properties: Mapping[str, Schema], rules: Mapping[str, Encoding]) -> dict[str, Schema]:
    return {name: encodings.fitted_by_name(name, schema, rules) for name, schema in properties.items()}


def _takes_fields(content_type: str) -> bool:
    return media_types.is_form(content_type) or media_types.is_multipart(content_type)


def _takes_bytes(content_type: str, node: Any) -> bool:
    """Whether the whole body is bytes: a type that is no text, and a schema that says bytes, a string or nothing."""
    if media_types.is_text(content_type):
        return False
    if not isinstance(node, dict):
        return True
    names = keywords.types(node.get("type"))
    says_nothing = not names and not node.keys() & {"properties", "items", "allOf", "anyOf", "oneOf"}
    return is_binary(node) or ("string" in names and "contentEncoding" not in node) or says_nothing
