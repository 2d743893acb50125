"""Build a tool's inputSchema: one flat object schema, and for each of its properties the Argument that it sets.

The root is an object without combinators or references, every property a schema object; names are unique and legal for
all clients. An `x-mcp-header` annotation, by which clients repeat an argument in an HTTP header, stays only where it
passes the server's own rules, else it is a Problem: clients drop a tool with a single invalid annotation.
Specification: MCP server/tools ("inputSchema"), JSON Schema 2020-12, MCP 2026-07-28 transports ("Custom Headers from
Tool Parameters").
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from .. import plain_text
from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime import media_types
from ..runtime.protocol.header_arguments import annotation_problems, header_arguments
from ..runtime.tool import Argument, Encoding, MediaType
from ..runtime.types import Schema
from ..schemas import keywords
from ..schemas.conversion import DEFINITIONS
from ..schemas.definitions import SchemaCompiler, TooManyDefinitions, referenced_names
from ..schemas.examples import add_example, is_secret, without_examples
from . import encodings
from .names import MAX_NAME_LENGTH, ArgumentKey, argument_names
from .negotiation import Accept
from .parameters import Parameter
from .request_body import DIALECT, BodyArguments
from .xml import xml_document

_BODY_NAMES: Final = ("body", "request_body")
_CONTENT_TYPE_NAMES: Final = ("content_type", "body_content_type")
_ACCEPT_NAMES: Final = ("accept", "accept_header")


MAX_SHARED_ARGUMENTS: Final = 16_384
"""Arguments that tools share: the properties of the largest documents known have some 5,000 names."""


@dataclass(frozen=True, slots=True)
class InputSchema:
    """The inputSchema of a tool and its arguments, one for each property."""

    schema: Schema
    arguments: tuple[Argument, ...]


class _UnnamedArgument(NamedTuple):
    """An argument before it has a name, and the schema of its value.

    That schema has the pointer `place` in the document, or is the property `name` of the schema there.
    """

    key: ArgumentKey
    schema: Schema
    argument: Argument
    place: str = "#"
    name: str | None = None

    @property
    def pointer(self) -> str:
        """The pointer of the schema in the document."""
        return self.place if self.name is None else join(self.place, "properties", self.name)


ParameterArguments = dict[int, tuple[Parameter, _UnnamedArgument]]
"""The arguments of parameters, by the id of each, which is kept."""


def input_schema(
    parameters: Sequence[Parameter],
    body: BodyArguments | None,
    schemas: SchemaCompiler,
    accept: Accept | None = None,
    shared: ParameterArguments | None = None,
) -> InputSchema:
    """Return the inputSchema of an operation: parameters and body in the document's order, then a choice of Accept.

    `shared` has the arguments of parameters that other operations have too. Raises BrokenReference.
    """
    known = {} if shared is None else shared
    entries = [*_of_parameters(parameters, schemas, known), *_of_body(body, schemas), *_of_accept(accept)]
    names = argument_names([entry.key for entry in entries])
    homonyms = _homonyms(entries, names)
    properties = {
        name: entry.schema
        if name == entry.argument.wire_name and "$ref" not in entry.schema and name not in homonyms
        else _named(entry, name, schemas, homonyms.get(name, ""))
        for name, entry in zip(names, entries, strict=True)
    }
    required = [name for name, entry in zip(names, entries, strict=True) if entry.argument.required]
    try:
        definitions = schemas.definitions(properties.values())
    except TooManyDefinitions:
        definitions, properties = {}, {name: _without_references(schema) for name, schema in properties.items()}
        if entries:
            schemas.problems.append(_too_many_definitions(schemas.resolver.display(entries[0].pointer)))
    schema: Schema = {"type": "object", "properties": properties}
    if body is not None and body.names_dialect:
        schema = {"$schema": DIALECT, **schema}
    if required:
        schema["required"] = required
    if body is None or body.properties is None or not body.properties.open:
        schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = definitions
    if schemas.has_header_annotations:
        pointers = {name: entry.pointer for name, entry in zip(names, entries, strict=True)}
        schema = _check_header_annotations(schema, pointers, schemas)
    return InputSchema(
        schema, tuple(_renamed(entry.argument, name) for name, entry in zip(names, entries, strict=True))
    )


def _renamed(argument: Argument, name: str) -> Argument:
    return argument if argument.name == name else replace(argument, name=name)


def _without_references(schema: Schema) -> Schema:
    """Return a schema, or one with its annotations that accepts anything where it refers to definitions."""
    if not any(True for _ in referenced_names(schema)):
        return schema
    return {keyword: value for keyword, value in schema.items() if keyword in _ANNOTATIONS and keyword != "$ref"}


def _too_many_definitions(pointer: str) -> Problem:
    return Problem(
        pointer=pointer,
        kind="schema",
        message="the tools of this document need too many schemas; anything is accepted where this refers to others",
        hint="select fewer operations with --include",
    )


def _of_parameters(
    parameters: Iterable[Parameter], schemas: SchemaCompiler, known: ParameterArguments
) -> Iterator[_UnnamedArgument]:
    for parameter in parameters:
        if id(parameter) not in known:
            known[id(parameter)] = parameter, _of_parameter(parameter, schemas)
        yield known[id(parameter)][1]


def _of_parameter(parameter: Parameter, schemas: SchemaCompiler) -> _UnnamedArgument:
    schema = dict(schemas.convert(parameter.node, parameter.pointer))
    if description := plain_text.trim(plain_text.clean(parameter.description), schemas.max_text_length):
        schema["description"] = plain_text.append(description, schema.get("description", ""))
    if parameter.deprecated:
        schema["deprecated"] = True
    schema = _with_example(parameter.name, schema, parameter.examples, schemas.max_text_length)
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
    return _UnnamedArgument(ArgumentKey(parameter.location, parameter.name), schema, argument, parameter.pointer)


def _with_example(name: str, schema: Schema, candidates: Iterable[Any], max_text_length: int) -> Schema:
    """Return the schema of an argument with the first fit one of its own examples, else that of the schema."""
    if is_secret(name):
        return without_examples(schema)
    return add_example(without_examples(schema), [*candidates, *schema.get("examples", ())], max_text_length)


def _media(parameter: Parameter, schemas: SchemaCompiler) -> MediaType | None:
    """Return the encoding or XML description of a `content` parameter; None where its content type is enough."""
    content_type, schema = parameter.content_type, (parameter.node, parameter.pointer)
    if content_type is not None and media_types.is_form(content_type):
        encoding = encodings.encodings(parameter.media, schema, schemas.resolver)
        rules = {name: rule for name, rule in encoding.items() if rule != Encoding()}
        return MediaType(content_type=content_type, encoding=rules) if rules else None
    if content_type is not None and media_types.is_xml(content_type):
        xml = xml_document(*schema, schemas.resolver, schemas.problems.append, name=parameter.name)
        return MediaType(content_type=content_type, xml=xml) if xml else None
    return None


def _of_body(body: BodyArguments | None, schemas: SchemaCompiler) -> Iterator[_UnnamedArgument]:
    """Yield the arguments of a body: its properties, or the body as one; then the media type, if there is a choice."""
    if body is None:
        return
    if body.properties is None:
        yield _body_argument(body, schemas)
    else:
        required = frozenset(body.properties.required)
        values = next((each for each in body.examples if isinstance(each, dict)), {})
        for name, schema in body.properties.properties.items():
            key, argument = _property_argument(name, name in required)
            if name in values and not is_secret(name):
                schema = add_example(schema, [values[name]], schemas.max_text_length)  # noqa: PLW2901  the same property
            yield _UnnamedArgument(key, schema, argument, body.pointer, name)
    if body.choices:
        choice: Schema = {"type": "string", "enum": list(body.choices)}
        if any(media.takes for media in body.body.media_types):
            choice["description"] = "The media type to send the body in; by default the first that takes such a body."
        else:
            choice |= {"default": body.choices[0], "description": "The media type to send the body in."}
        yield _UnnamedArgument(
            ArgumentKey("media_type", None, _CONTENT_TYPE_NAMES),
            choice,
            Argument(name="content_type", location="media_type"),
        )


@lru_cache(maxsize=MAX_SHARED_ARGUMENTS)
def _property_argument(name: str, required: bool) -> tuple[ArgumentKey, Argument]:
    """Return the key and argument of a property of a body: one object for all tools with a property of this name."""
    return ArgumentKey("body", name), Argument(name=name, location="body", wire_name=name, required=required)


def _of_accept(accept: Accept | None) -> Iterator[_UnnamedArgument]:
    if accept is None or not accept.choices:
        return
    schema: Schema = {"type": "string", "enum": list(accept.choices), "description": "The media type of the answer."}
    if accept.default is not None:
        schema["default"] = accept.default
    argument = Argument(name="accept", location="header", wire_name="Accept")
    yield _UnnamedArgument(ArgumentKey("accept", None, _ACCEPT_NAMES), schema, argument)


def _body_argument(body: BodyArguments, schemas: SchemaCompiler) -> _UnnamedArgument:
    """Return the argument for the entire body; one that may be an empty object may be left out, and is sent as `{}`."""
    schema = dict(body.schema)
    if body.description:
        schema.setdefault("description", body.description)
    schema = add_example(schema, body.examples, schemas.max_text_length)
    required = body.body.required and not _may_be_empty(body.schema, schemas, {})
    argument = Argument(name="body", location="body", required=required)
    return _UnnamedArgument(ArgumentKey("body", None, _BODY_NAMES), schema, argument, body.pointer)


MAX_DEFINITIONS: Final = 100
"""Definitions that are asked whether a body may be empty, one within another."""

_CONDITIONS: Final = frozenset({"required", "minProperties", "anyOf", "oneOf", "not", "if", "enum", "const"})
"""Keywords that `{}` may not satisfy."""


def _may_be_empty(schema: Schema, schemas: SchemaCompiler, judged: dict[str, bool]) -> bool:
    """Return whether a schema takes objects, the empty one among them; no only means that it may not.

    `judged` has the definitions that were judged before, so that each is judged once; false for those being judged.
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(DEFINITIONS)
        if name not in judged and len(judged) < MAX_DEFINITIONS:
            judged[name] = False
            judged[name] = _may_be_empty(schemas.definition(name), schemas, judged)
        is_plain = _CONDITIONS.isdisjoint(schema) and "allOf" not in schema
        return is_plain and judged.get(name, False)
    branches = schema.get("allOf", [])
    is_object = schema.get("type") in ("object", ["object"]) or ("type" not in schema and bool(branches))
    conditions = {keyword for keyword in _CONDITIONS & schema.keys() if schema[keyword]}
    return is_object and not conditions and all(_may_be_empty(branch, schemas, judged) for branch in branches)


def _named(entry: _UnnamedArgument, name: str, schemas: SchemaCompiler, location: str) -> Schema:
    """Return the schema of an argument, whose description begins with its `location` if that is not empty.

    The description has its original name where that is not ASCII or too long.
    """
    schema = inline_annotated(entry.schema, schemas.definition)
    wire = entry.argument.wire_name
    description = schema.get("description")
    if wire is not None and name != wire and not (wire.isascii() and len(wire) <= MAX_NAME_LENGTH):
        description = f"`{plain_text.clean(wire)}`" + (f": {description}" if description else "")
    if location:
        description = plain_text.append(location, description or "")
    return schema if description == schema.get("description") else {**schema, "description": description}


def _homonyms(entries: Sequence[_UnnamedArgument], names: Sequence[str]) -> dict[str, str]:
    """Return a sentence with the location of each argument whose original name another location has too."""
    wire_names = [entry.argument.wire_name for entry in entries]
    if len(set(wire_names)) == len(wire_names):
        return {}
    groups: dict[str, dict[str, str]] = {}
    for entry, name in zip(entries, names, strict=True):
        if entry.argument.wire_name is not None:
            groups.setdefault(entry.argument.wire_name, {})[name] = entry.argument.location
    sentences = {}
    for wire_name, locations in groups.items():
        for name, location in locations.items() if len(locations) > 1 else ():
            others = ", ".join(f"in the {there}: `{other}`" for other, there in locations.items() if other != name)
            sentences[name] = f"`{plain_text.line(wire_name, MAX_NAME_LENGTH)}` in the {location} ({others})."
    return sentences


PointerTokens = tuple[str | int, ...]
"""The tokens of a JSON pointer into an inputSchema."""

_ANNOTATIONS: Final = frozenset({"$ref", "description", "default", "deprecated", keywords.HEADER_ANNOTATION})


def inline_annotated(schema: Schema, definition: Callable[[str], Schema]) -> Schema:
    """Replace a property's `$ref` by its target if that has `x-mcp-header`: clients do not follow references to it."""
    if "$ref" not in schema or schema.keys() - _ANNOTATIONS:
        return schema
    target = definition(schema["$ref"].removeprefix(DEFINITIONS))
    if "$ref" in target or keywords.HEADER_ANNOTATION not in {**target, **schema}:
        return schema
    return {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}


def valid_header_annotations(schema: Schema, report: Callable[[PointerTokens, str], None]) -> Schema:
    """Return the inputSchema without `x-mcp-header` where clients refuse it or it exposes a secret; `report` each."""
    for tokens, reason in annotation_problems(schema):
        report(tokens, f"`{keywords.HEADER_ANNOTATION}` is left out: {reason}")
        schema = _without(schema, tokens)
    for path in header_arguments(schema):
        tokens = (*(token for name in path for token in ("properties", name)), keywords.HEADER_ANNOTATION)
        if reason := _unfit_for_header(_value_at(schema, tokens[:-1])):
            report(tokens, f"`{keywords.HEADER_ANNOTATION}` is left out: {reason}")
            schema = _without(schema, tokens)
    return schema


def _unfit_for_header(schema: Schema) -> str:
    """Return the reason why a value should not be in a header, which proxies log and limit; empty if there is none."""
    if schema.get("format") == "password":
        return "a secret does not belong in a header, which proxies log"
    return "bytes in base64 are too long for a header" if "contentEncoding" in schema else ""


def _value_at(node: Any, tokens: Sequence[str | int]) -> Any:
    for token in tokens:
        node = node[token]
    return node


def _without(node: Any, tokens: Sequence[str | int]) -> Any:
    """Return a copy without the value at a pointer; everything beside the path to it is shared."""
    first, *rest = tokens
    copy = node.copy()
    if rest:
        copy[first] = _without(node[first], rest)
    else:
        del copy[first]
    return copy


def _check_header_annotations(schema: Schema, pointers: Mapping[str, str], schemas: SchemaCompiler) -> Schema:
    """Return the inputSchema with the valid `x-mcp-header` annotations; report the others as problems."""

    def report(tokens: PointerTokens, message: str) -> None:
        root, name, *rest = (str(token) for token in tokens[:-1])
        start = schemas.pointer(name) if root == "$defs" else pointers[name]
        pointer = schemas.resolver.display(_nearest_pointer(start, rest, schemas.resolver))
        schemas.problems.append(Problem(pointer=pointer, message=message, kind="schema"))

    return valid_header_annotations(schema, report)


def _nearest_pointer(pointer: str, tokens: Sequence[str], resolver: Resolver) -> str:
    """Return the document's pointer for tokens of the converted schema, as far as both have the same structure."""
    try:
        for token in ("", *tokens):
            _, pointer = resolver.lookup(join(pointer, token) if token else pointer, pointer)
    except BrokenReference:
        pass
    return pointer
