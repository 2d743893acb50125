"""A tool's arguments laid out: one flat object schema, and for each of its properties where that goes.

The root is an object without combinators or references, every property a schema object; names are legal everywhere and
unique. Specification: MCP server/tools ("inputSchema"), JSON Schema 2020-12; DESIGN of the project, "inputSchema".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from . import prose
from .naming import LONGEST, ArgumentKey, argument_names
from .parameters import Parameter
from .request_bodies import Body
from .runtime.models import Argument
from .runtime.types import Schema
from .schemas import Schemas

_BODY: Final = ("body", "request_body")
_CONTENT_TYPE: Final = ("content_type", "body_content_type")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputSchema of a tool and its arguments."""

    schema: Schema
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An argument that has yet no name of its own, and the schema of its value."""

    key: ArgumentKey
    schema: Schema
    argument: Argument


def lay_out(parameters: Sequence[Parameter], body: Body | None, schemas: Schemas) -> Inputs:
    """The inputs of an operation: its parameters, then its body in the document's order. Raises BrokenReference."""
    entries = [*(_of_parameter(parameter, schemas) for parameter in parameters), *_of_body(body)]
    names = argument_names([entry.key for entry in entries])
    properties = {name: _named(entry, name) for name, entry in zip(names, entries, strict=True)}
    required = [name for name, entry in zip(names, entries, strict=True) if entry.argument.required]
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if body is None or body.properties is None or not body.properties.open:
        schema["additionalProperties"] = False
    if definitions := schemas.definitions(properties.values()):
        schema["$defs"] = definitions
    return Inputs(schema, tuple(replace(entry.argument, name=name) for name, entry in zip(names, entries, strict=True)))


def _of_parameter(parameter: Parameter, schemas: Schemas) -> _Entry:
    schema = dict(schemas.convert(parameter.node, parameter.pointer))
    if description := prose.trimmed(prose.clean(parameter.description)):
        schema["description"] = _with(description, schema.get("description", ""))
    if parameter.deprecated:
        schema["deprecated"] = True
    argument = Argument(
        name=parameter.name,
        location=parameter.location,
        wire_name=parameter.name,
        required=parameter.required,
        style=parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
        content_type=parameter.content_type,
        items_style=parameter.items_style,
    )
    return _Entry(ArgumentKey(parameter.location, parameter.name), schema, argument)


def _with(description: str, of_schema: str) -> str:
    """What a parameter says, and after it what its schema says besides: a format, for one, that has no keyword."""
    return description if of_schema in description else f"{description} {of_schema}"


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
            yield _Entry(ArgumentKey("body", name), schema, argument)
    if body.choices:
        choice: Schema = {"type": "string", "enum": list(body.choices), "default": body.choices[0]}
        choice["description"] = "The media type to send the body in."
        yield _Entry(
            ArgumentKey("media_type", None, _CONTENT_TYPE), choice, Argument(name="content_type", location="media_type")
        )


def _whole(body: Body) -> _Entry:
    schema = dict(body.schema)
    if body.description:
        schema.setdefault("description", body.description)
    argument = Argument(name="body", location="body", required=body.body.required)
    return _Entry(ArgumentKey("body", None, _BODY), schema, argument)


def _named(entry: _Entry, name: str) -> Schema:
    """The schema under its name; where that says less than the name on the wire, the description says it."""
    wire = entry.argument.wire_name
    if wire is None or name == wire or (wire.isascii() and len(wire) <= LONGEST):
        return entry.schema
    said = entry.schema.get("description")
    return {**entry.schema, "description": f"`{prose.clean(wire)}`" + (f": {said}" if said else "")}
