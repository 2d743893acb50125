"""A tool's arguments laid out: one flat object schema, and for each of its properties where that goes.

The root is an object without combinators or references, every property a schema object; names are legal everywhere and
unique. Specification: MCP server/tools ("inputSchema"), JSON Schema 2020-12; DESIGN of the project, "inputSchema".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from . import encodings, mirroring, prose
from .document import join
from .errors import Problem
from .naming import LONGEST, ArgumentKey, argument_names
from .parameters import Parameter
from .request_bodies import DIALECT, Body
from .resolver import BrokenReference, Resolver
from .runtime import media_types
from .runtime.models import Argument, Encoding, MediaType
from .runtime.types import Schema
from .schemas import Schemas
from .xml_nodes import xml_document

_BODY: Final = ("body", "request_body")
_CONTENT_TYPE: Final = ("content_type", "body_content_type")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputSchema of a tool and its arguments."""

    schema: Schema
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An argument that has yet no name of its own, the schema of its value, and where the document has that."""

    key: ArgumentKey
    schema: Schema
    argument: Argument
    pointer: str = "#"


def lay_out(parameters: Sequence[Parameter], body: Body | None, schemas: Schemas) -> Inputs:
    """The inputs of an operation: its parameters, then its body in the document's order. Raises BrokenReference."""
    entries = [*(_of_parameter(parameter, schemas) for parameter in parameters), *_of_body(body)]
    names = argument_names([entry.key for entry in entries])
    properties = {name: _named(entry, name, schemas) for name, entry in zip(names, entries, strict=True)}
    required = [name for name, entry in zip(names, entries, strict=True) if entry.argument.required]
    properties, definitions = schemas.settled(properties)
    schema: Schema = {"type": "object", "properties": properties}
    if body is not None and body.names_dialect:
        schema = {"$schema": DIALECT, **schema}
    if required:
        schema["required"] = required
    if body is None or body.properties is None or not body.properties.open:
        schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = definitions
    if schemas.mirrors:
        schema = _mirrored(schema, {name: entry.pointer for name, entry in zip(names, entries, strict=True)}, schemas)
    return Inputs(schema, tuple(replace(entry.argument, name=name) for name, entry in zip(names, entries, strict=True)))


def _of_parameter(parameter: Parameter, schemas: Schemas) -> _Entry:
    schema = dict(schemas.convert(parameter.node, parameter.pointer))
    if description := prose.trimmed(prose.clean(parameter.description), schemas.longest_text):
        schema["description"] = prose.joined(description, schema.get("description", ""))
    if parameter.deprecated:
        schema["deprecated"] = True
    argument = Argument(
        name=parameter.name,
        location=parameter.location,
        wire_name=parameter.wire_name,
        required=parameter.required,
        style=parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
        content_type=parameter.content_type,
        media=_media(parameter, schemas),
        items_style=parameter.items_style,
    )
    return _Entry(ArgumentKey(parameter.location, parameter.name), schema, argument, parameter.pointer)


def _media(parameter: Parameter, schemas: Schemas) -> MediaType | None:
    """What the media type of a `content` parameter says of its value besides its name."""
    content_type, place = parameter.content_type, (parameter.node, parameter.pointer)
    if content_type is not None and media_types.is_form(content_type):
        found = encodings.encodings(parameter.media, place, schemas.resolver)
        rules = {name: rule for name, rule in found.items() if rule != Encoding()}
        return MediaType(content_type=content_type, encoding=rules) if rules else None
    if content_type is not None and media_types.is_xml(content_type):
        xml = xml_document(*place, schemas.resolver, schemas.problems.append, name=parameter.name)
        return MediaType(content_type=content_type, xml=xml) if xml else None
    return None


def _of_body(body: Body | None) -> Iterator[_Entry]:
    """The properties of a body, or the whole of it; and which media type to send it in, where there is a choice."""
    if body is None:
        return
    if body.properties is None:
        yield _whole(body)
    else:
        for name, schema in body.properties.properties.items():
            required = name in body.properties.required
            argument = Argument(name=name, location="body", wire_name=name, required=required)
            yield _Entry(ArgumentKey("body", name), schema, argument, join(body.pointer, "properties", name))
    if body.choices:
        choice: Schema = {"type": "string", "enum": list(body.choices)}
        if any(media.takes for media in body.body.media_types):
            choice["description"] = "The media type to send the body in; by default the first that takes such a body."
        else:
            choice |= {"default": body.choices[0], "description": "The media type to send the body in."}
        yield _Entry(
            ArgumentKey("media_type", None, _CONTENT_TYPE), choice, Argument(name="content_type", location="media_type")
        )


def _whole(body: Body) -> _Entry:
    schema = dict(body.schema)
    if body.description:
        schema.setdefault("description", body.description)
    argument = Argument(name="body", location="body", required=body.body.required)
    return _Entry(ArgumentKey("body", None, _BODY), schema, argument, body.pointer)


def _named(entry: _Entry, name: str, schemas: Schemas) -> Schema:
    """The schema under its name; where that says less than the name on the wire, the description says it."""
    schema = mirroring.written_out(entry.schema, schemas.definition)
    wire = entry.argument.wire_name
    if wire is None or name == wire or (wire.isascii() and len(wire) <= LONGEST):
        return schema
    said = schema.get("description")
    return {**schema, "description": f"`{prose.clean(wire)}`" + (f": {said}" if said else "")}


def _mirrored(schema: Schema, pointers: Mapping[str, str], schemas: Schemas) -> Schema:
    """The inputSchema with those annotations for headers that clients accept; the others are problems."""

    def report(tokens: mirroring.Tokens, message: str) -> None:
        root, name, *rest = (str(token) for token in tokens[:-1])
        start = schemas.pointer(name) if root == "$defs" else pointers[name]
        pointer = schemas.resolver.shown(_furthest(start, rest, schemas.resolver))
        schemas.problems.append(Problem(pointer=pointer, message=message, kind="schema"))

    return mirroring.settled(schema, report)


def _furthest(pointer: str, tokens: Sequence[str], resolver: Resolver) -> str:
    """The place that these tokens lead to, as far as the document is like the schema that was made of it."""
    try:
        for token in ("", *tokens):
            _, pointer = resolver.lookup(join(pointer, token) if token else pointer, pointer)
    except BrokenReference:
        pass
    return pointer
