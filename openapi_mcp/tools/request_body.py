"""Read the request body of an operation: its media types, and the schema of the value that a caller gives.

Media types that accept the same value are a choice; media types that accept different values are a union and a choice.
The properties of an object body become arguments of the tool where that loses nothing: the body and the arguments then
accept the same values. Any other body is one argument. Specification: OpenAPI 3.2 Request Body Object, Media Type
Object, "Working with Binary Data"; JSON Schema 2020-12 for `allOf`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from .. import plain_text
from ..document.model import join
from ..document.resolver import BrokenReference
from ..errors import Problem
from ..runtime import media_types
from ..runtime.tool import MediaType, RequestBody
from ..runtime.types import Schema
from ..schemas import keywords
from ..schemas.conversion import DEFINITIONS, MAX_DEPTH
from ..schemas.definitions import SchemaCompiler
from ..schemas.examples import examples_of_object, examples_of_schema
from ..schemas.keywords import is_binary
from . import encodings
from .operations import Operation
from .xml import xml_document

MAX_MEDIA_TYPES: Final = 50
"""Media types of a body. Each is compared with all others; real bodies have ten."""

MAX_PROPERTIES: Final = 1000
"""Properties of a body that become arguments; the body is one argument where it has more, or where many operations
share so large a body that all have too many together."""

_STEPS_PER_PROPERTY: Final = 5
"""Making an argument of a property takes as long as this many visits of a schema."""

_ANNOTATIONS: Final = frozenset({"description", "default", "deprecated"})
_FLATTENABLE: Final = frozenset({"type", "properties", "required", "additionalProperties", "allOf", "$ref"})

Definition = Callable[[str], Schema]


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The properties of an object, the names of those required, and whether others are allowed (`open`)."""

    properties: dict[str, Schema]
    required: tuple[str, ...] = ()
    open: bool = True


def flatten(schema: Schema, definition: Definition) -> Properties | None:
    """Return the properties of an object schema; None where it has none, or constraints beyond its properties."""
    parts = _parts(schema, definition, set())
    if parts is None:
        return None
    merged = parts[0] if len(parts) == 1 else _merge(parts)
    if merged is None or not merged.properties:
        return None
    undeclared: dict[str, Schema] = {name: {} for name in merged.required if name not in merged.properties}
    if merged.open:
        return replace(merged, properties=merged.properties | undeclared)
    # A closed object that requires an undeclared property could never be satisfied: such a requirement is dropped.
    return replace(merged, required=tuple(name for name in merged.required if name not in undeclared))


def _parts(schema: Schema, definition: Definition, visited: set[str], depth: int = 0) -> list[Properties] | None:
    """Return the properties of the schema, its `$ref` target and its `allOf`; None if one has other constraints."""
    if schema.keys() - _ANNOTATIONS - _FLATTENABLE or schema.get("type", "object") != "object" or depth > MAX_DEPTH:
        return None
    inner = list(schema.get("allOf", ()))
    name = schema.get("$ref", "").removeprefix(DEFINITIONS)
    if name and name not in visited:
        visited.add(name)
        inner.insert(0, definition(name))
    parts = []
    for part in inner:
        nested = _parts(part, definition, visited, depth + 1)
        if nested is None:
            return None
        parts += nested
    others = schema.get("additionalProperties", True)
    if others is not False and others not in (True, {}):
        return None
    own = Properties(
        properties=schema.get("properties", {}), required=tuple(schema.get("required", ())), open=others is not False
    )
    return [*parts, own] if own.properties or own.required or not own.open else parts


def _merge(parts: list[Properties]) -> Properties | None:
    """Merge the parts of an `allOf`; None where one is closed, because it forbids the properties of the others."""
    if not all(part.open for part in parts):
        return None
    properties: dict[str, Schema] = {}
    required: dict[str, None] = {}
    for part in parts:
        required |= dict.fromkeys(part.required)
        for name, schema in part.properties.items():
            first = properties.setdefault(name, schema)
            if first is not schema and first != schema:
                properties[name] = {"allOf": [first, schema]}
    return Properties(properties=properties, required=tuple(required))


DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""JSON Schema 2020-12, MCP's default dialect where a schema names none."""

_PART_NAME: Final = "file"
"""The name of a part that the document does not name: the usual one of upload forms and servers."""

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
"""Media types in order of preference: the first is sent unless the caller chooses. Exact and compact formats first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyArguments:
    """A request body, the schema of its value, and its properties where they become arguments.

    `choices` are the media types among which a caller may choose, where there are several. `pointer` is that of the
    schema in the document; `names_dialect` is true where that schema has a `$schema` of JSON Schema 2020-12.
    """

    body: RequestBody
    schema: Schema
    pointer: str
    properties: Properties | None = None
    choices: tuple[str, ...] = ()
    description: str = ""
    names_dialect: bool = False
    examples: tuple[Any, ...] = ()
    """The first examples of its preferred media type, then of its schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _MediaTypeOption:
    """A media type of a body with the schema of the values that it accepts."""

    media_type: MediaType
    schema: Schema
    pointer: str
    examples: tuple[Any, ...] = ()

    @property
    def rank(self) -> int:
        """The index in the order of preference; last for a form with files, which only multipart can carry."""
        name = self.media_type.content_type.lower()
        files = any(encoding.binary for encoding in self.media_type.encoding.values())
        index = next((rank for rank, test in enumerate(_PREFERENCE) if test(name)), len(_PREFERENCE))
        return len(_PREFERENCE) if files and not name.startswith("multipart/") else index


class RequestBodies:
    """The request bodies of one document's operations, each read once."""

    def __init__(self, schemas: SchemaCompiler, report: Callable[[Problem], None]) -> None:
        self._schemas = schemas
        self._resolver = schemas.resolver
        self._report = report
        self._bodies: dict[str, BodyArguments | None] = {}  # by the pointer of the Request Body Object
        self._flattened: dict[str, Properties | None] = {}  # by the name of the definition that is all of a body

    def of(self, operation: Operation) -> BodyArguments | None:
        """Return the body of an operation, or None where it has none that can be sent. Raises BrokenReference."""
        node = operation.value.get("requestBody")
        if node is None:
            return None
        node, pointer = self._resolver.follow(node, join(operation.pointer, "requestBody"))
        if pointer not in self._bodies:
            self._bodies[pointer] = self._body(node, pointer)
        body = self._bodies[pointer]
        if body is None or body.properties is None:
            return body
        is_affordable = self._resolver.spend(_STEPS_PER_PROPERTY * len(body.properties.properties))
        return body if is_affordable else replace(body, properties=None)

    def _body(self, node: Any, pointer: str) -> BodyArguments | None:
        content = node.get("content") if isinstance(node, dict) else None
        options = self._options(content, join(pointer, "content")) if isinstance(content, dict) else []
        if not options:
            self._problem(pointer, "the request body has no valid media type; it is left out")
            return None
        required = node.get("required") is True
        distinct: list[Schema] = []
        for option in options:
            if option.schema not in distinct:
                distinct.append(option.schema)
        if len(distinct) > 1:
            options = self._told_apart(options, distinct)
        return BodyArguments(
            body=RequestBody(media_types=tuple(option.media_type for option in options), required=required),
            schema=distinct[0] if len(distinct) == 1 else {"anyOf": distinct},
            pointer=options[0].pointer,
            properties=self._properties(options, required=required) if len(distinct) == 1 else None,
            choices=tuple(option.media_type.content_type for option in options) if len(options) > 1 else (),
            description=plain_text.trim(plain_text.clean(node.get("description")), self._schemas.max_text_length),
            names_dialect=self._names_dialect(options[0].pointer),
            examples=options[0].examples,
        )

    def _told_apart(self, options: Sequence[_MediaTypeOption], distinct: Sequence[Schema]) -> list[_MediaTypeOption]:
        """Return the options with what tells a value of one from that of another: JSON types, required properties."""
        types = [self._types(schema, set()) for schema in distinct]
        flat = [self._flatten(schema) for schema in distinct]
        required = [() if properties is None else properties.required for properties in flat]
        told = [
            (types[index] if len(set(types)) > 1 else (), required[index] if len(set(required)) > 1 else ())
            for index in (distinct.index(option.schema) for option in options)
        ]
        return [
            replace(option, media_type=replace(option.media_type, takes=takes, requires=requires))
            for option, (takes, requires) in zip(options, told, strict=True)
        ]

    def _options(self, content: Mapping[str, Any], pointer: str) -> list[_MediaTypeOption]:
        """Return the media types in order of preference."""
        options = []
        if len(content) > MAX_MEDIA_TYPES:
            self._problem(
                pointer, f"there are more than {MAX_MEDIA_TYPES} media types; the first {MAX_MEDIA_TYPES} are used"
            )
        for content_type, media in islice(content.items(), MAX_MEDIA_TYPES):
            if not _MEDIA_TYPE.fullmatch(content_type):
                self._problem(join(pointer, content_type), f"{content_type} is not a media type; it is left out")
                continue
            option = self._option(content_type, media, join(pointer, content_type))
            options.append(replace(option, examples=self._examples(media, join(pointer, content_type), option.pointer)))
        return sorted(options, key=lambda option: option.rank)

    def _examples(self, media: Any, pointer: str, schema_pointer: str) -> tuple[Any, ...]:
        """Return the first examples of a media type, then those of its schema."""
        media, pointer = self._resolver.follow_if_possible(media, pointer)
        if not isinstance(media, dict):
            return ()
        node, _ = self._resolver.follow_if_possible(media.get("schema"), schema_pointer)
        of_schema = examples_of_schema(node) if isinstance(node, dict) else ()
        return (*examples_of_object(media, pointer, self._resolver), *of_schema)

    def _option(self, content_type: str, media: Any, pointer: str) -> _MediaTypeOption:
        media, pointer = self._resolver.follow(media, pointer)
        if not isinstance(media, dict):
            self._problem(pointer, f"the value of the media type {content_type} is not an object; it is read as empty")
            media = {}
        if media.get("schema") is None and media.get("itemSchema") is not None:
            pointer = join(pointer, "itemSchema")
            listed: Schema = {"type": "array", "items": self._schemas.convert(media["itemSchema"], pointer)}
            return _MediaTypeOption(media_type=MediaType(content_type=content_type), schema=listed, pointer=pointer)
        node, pointer = media.get("schema"), join(pointer, "schema")
        if _has_fields(content_type):
            return self._form(content_type, media, node, pointer)
        target, _ = encodings.resolve(node, pointer, self._resolver)
        if _is_bytes(content_type, target):
            media_type = MediaType(content_type=content_type, binary=True)
            return _MediaTypeOption(
                media_type=media_type, schema=encodings.binary_schema(content_type), pointer=pointer
            )
        if node is None or is_binary(target):  # a file of text: the text is the value
            schema = {} if media_types.is_json(content_type) else {"type": "string"}
        else:
            schema = self._schemas.convert(node, pointer)
        is_xml = media_types.is_xml(content_type) and node is not None
        xml = xml_document(node, pointer, self._resolver, self._report) if is_xml else None
        return _MediaTypeOption(
            media_type=MediaType(content_type=content_type, xml=xml), schema=schema, pointer=pointer
        )

    def _form(self, content_type: str, media: Mapping[str, Any], node: Any, pointer: str) -> _MediaTypeOption:
        """Return the option for a form or multipart body."""
        if self._is_one_file(content_type, node, pointer):
            self._problem(pointer, f"the part of this multipart body has no name; it is sent as `{_PART_NAME}`")
            node = {"type": "object", "properties": {_PART_NAME: node}}
        schema: Schema = {"type": "object"} if node is None else self._schemas.convert(node, pointer)
        rules = encodings.encodings(media, (node, pointer), self._resolver)
        if isinstance(schema.get("properties"), dict):
            schema = {**schema, "properties": encodings.adapt_properties(schema["properties"], rules)}
        if "*" in rules and isinstance(schema.get("items"), dict):
            schema = {**schema, "items": encodings.adapt_schema(schema["items"], rules["*"])}
        return _MediaTypeOption(
            media_type=MediaType(content_type=content_type, encoding=rules), schema=schema, pointer=pointer
        )

    def _is_one_file(self, content_type: str, node: Any, pointer: str) -> bool:
        """Return whether the schema of a body of named parts describes the file alone, or a list of files."""
        target, location = encodings.resolve(node, pointer, self._resolver)
        if isinstance(target, dict) and "array" in keywords.types(target.get("type")):
            target, _ = encodings.resolve(target.get("items"), join(location, "items"), self._resolver)
        return media_types.essence(content_type) == "multipart/form-data" and is_binary(target)

    def _properties(self, options: Sequence[_MediaTypeOption], *, required: bool) -> Properties | None:
        """Return the properties that become arguments; None where the body is one argument.

        An optional body with required properties stays one argument: a caller gives all of them or no body.
        """
        body = self._flatten(options[0].schema)
        if body is None or (body.required and not required):
            return None
        if len(body.properties) > MAX_PROPERTIES:
            return None
        if not all(_has_fields(option.media_type.content_type) for option in options):
            return body
        return replace(body, properties=encodings.adapt_properties(body.properties, options[0].media_type.encoding))

    def _flatten(self, schema: Schema) -> Properties | None:
        if schema.keys() != {"$ref"}:
            return flatten(schema, self._schemas.definition)
        name = schema["$ref"]
        if name not in self._flattened:
            self._flattened[name] = flatten(schema, self._schemas.definition)
        return self._flattened[name]

    def _types(self, schema: Schema, visited: set[str]) -> tuple[str, ...]:
        """Return the JSON types that a schema accepts; empty where any type may be accepted.

        Also empty for a definition that was `visited`, and beyond MAX_DEPTH definitions.
        """
        if "type" in schema or len(visited) > MAX_DEPTH:
            return tuple(keywords.types(schema.get("type")))
        name = schema.get("$ref", "").removeprefix(DEFINITIONS)
        if name and name not in visited:
            visited.add(name)
            return self._types(self._schemas.definition(name), visited)
        options = [self._types(option, visited) for option in schema.get("anyOf") or schema.get("oneOf") or ()]
        if options and all(options):
            return tuple(dict.fromkeys(kind for option in options for kind in option))
        parts = (self._types(part, visited) for part in schema.get("allOf", ()))
        return next((part for part in parts if part), ())

    def _names_dialect(self, pointer: str) -> bool:
        try:
            node, _ = self._resolver.follow({"$ref": pointer}, "#")
        except BrokenReference:  # the body has no schema
            return False
        return isinstance(node, dict) and node.get("$schema") in (DIALECT, DIALECT + "#")

    def _problem(self, pointer: str, message: str) -> None:
        self._report(Problem(pointer=self._resolver.display(pointer), message=message, kind="body"))


def _has_fields(content_type: str) -> bool:
    return media_types.is_form(content_type) or media_types.is_multipart(content_type)


def _is_bytes(content_type: str, node: Any) -> bool:
    """Return whether a body is bytes: its media type is not text, its schema is binary, a string or unspecific."""
    if media_types.is_range(content_type) and is_binary(node):
        return True
    if media_types.is_text(content_type):
        return False
    if not isinstance(node, dict):
        return True
    names = keywords.types(node.get("type"))
    is_unspecific = not names and not node.keys() & {"properties", "items", "allOf", "anyOf", "oneOf"}
    return is_binary(node) or ("string" in names and "contentEncoding" not in node) or is_unspecific
