"""Declarations of tools in packages: decorators that make a Tool of an async function and its options.

Options that are left out follow from the HTTP method, the inputs, the Toolbox and the function's name and docstring.
The types of the function's parameters are for people and type checkers; lists and requests depend on the options only.

A docstring is the description of a tool. As in a paragraph of Markdown, a line that begins with a letter continues the
line before; empty lines, lists, quotations, tables and other lines are kept. So a description can be wrapped in source
without a change.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypedDict, TypeVar, Unpack

from .server.functions import Api, ToolFunction
from .tool import Argument, Location, MediaType, Preset, RequestBody, SecurityScheme, Style, Tool, hints
from .types import Schema

_CONTINUED: Final = re.compile(r"(?<=\S)\n(?=[^\W\d_])")


def description_of(docstring: str | None) -> str:
    """Return the description that a docstring stands for, or an empty text."""
    return _CONTINUED.sub(" ", inspect.cleandoc(docstring)) if docstring else ""


P = ParamSpec("P")
R = TypeVar("R")

Security: TypeAlias = Sequence[Sequence[SecurityScheme]]
"""Security requirements of OpenAPI: one of these lists, and all schemes of that list."""

JSON: Final = RequestBody(media_types=(MediaType(content_type="application/json"),), required=True)
"""The body of a tool that has inputs for the body and no `request_body`."""

ACCEPT: Final = "application/json, */*;q=0.5"
"""The Accept header of a tool without documented media types."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a tool: its place in the request, and its schema, or None where the tool's `input_schema` has it."""

    argument: Argument
    schema: Schema | None


@dataclass(frozen=True, slots=True)
class InputLocation:
    """A part of the request that inputs go to, with its default style (OpenAPI 3.2 Parameter Object)."""

    location: Location
    style: Style = "simple"
    explode: bool = False
    required: bool = False
    named: bool = True
    """True if the input's name is in the request; otherwise its value is the whole part."""

    def __call__(
        self,
        name: str,
        schema: Schema | None = None,
        *,
        wire_name: str | None = None,
        required: bool | None = None,
        style: Style | None = None,
        explode: bool | None = None,
        allow_reserved: bool = False,
        content_type: str | None = None,
        media: MediaType | None = None,
        items_style: Style | None = None,
    ) -> Input:
        """Return an input of this location. `wire_name` is its name in the request, if not `name`."""
        argument = Argument(
            name=name,
            location=self.location,
            wire_name=wire_name if wire_name is not None or not self.named else name,
            required=self.required if required is None else required,
            style=self.style if style is None else style,
            explode=self.explode if explode is None else explode,
            allow_reserved=allow_reserved,
            content_type=content_type,
            media=media,
            items_style=items_style,
        )
        return Input(argument, schema)


path: Final = InputLocation("path", required=True)
query: Final = InputLocation("query", "form", explode=True)
querystring: Final = InputLocation("querystring")
header: Final = InputLocation("header")
cookie: Final = InputLocation("cookie", "form", explode=True)
body: Final = InputLocation("body")
whole_body: Final = InputLocation("body", named=False)
media_type: Final = InputLocation("media_type", named=False)
INPUT_LOCATIONS: Final[Mapping[str, InputLocation]] = {
    "path": path,
    "query": query,
    "querystring": querystring,
    "header": header,
    "cookie": cookie,
    "body": body,
    "whole_body": whole_body,
    "media_type": media_type,
}


class ToolOptions(TypedDict, total=False):
    """The options of a declaration.

    Defaults: `name` is the name of the function, `description` its docstring, `title` the first line of that, and
    `operation_id` is `name`. `open_body` means that the body may have properties that are no inputs. `input_schema`
    replaces the schema that is made of the inputs.
    """

    name: str
    title: str | None
    description: str
    inputs: Sequence[Input]
    open_body: bool
    input_schema: Schema
    output_schema: Schema | None
    annotations: Mapping[str, Any]
    presets: Sequence[Preset]
    request_body: RequestBody | None
    base_url: str | None
    base_url_is_guess: bool
    security: Security
    required_schemes: Sequence[SecurityScheme]
    accept: str
    content_type: str | None
    response_headers: Sequence[str]
    select: str | None
    max_result_bytes: int | None
    operation_id: str | None
    tags: Sequence[str]
    deprecated: bool
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The decorator that a Toolbox returns; `make` returns the Tool for a function's name and description."""

    make: Callable[[str, str], Tool]

    def __call__(self, function: Callable[Concatenate[Api, P], Awaitable[R]]) -> ToolFunction[P, R]:
        """Return the function with its tool."""
        name = getattr(function, "__name__", "")
        return ToolFunction(function, self.make(name, description_of(function.__doc__)))


@dataclass(frozen=True, kw_only=True)
class Toolbox:
    """The decorators for the tools of a module, and the options that they share.

    `definitions` are the schemas that `#/$defs/…` refers to.
    """

    base_url: str | None = None
    tags: Sequence[str] = ()
    security: Security = ()
    accept: str = ACCEPT
    definitions: Mapping[str, Schema] = field(default_factory=dict, repr=False)

    def get(self, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a GET of a path."""
        return self.operation("GET", path, **options)

    def put(self, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a PUT."""
        return self.operation("PUT", path, **options)

    def post(self, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a POST."""
        return self.operation("POST", path, **options)

    def delete(self, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a DELETE."""
        return self.operation("DELETE", path, **options)

    def patch(self, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a PATCH."""
        return self.operation("PATCH", path, **options)

    def operation(self, method: str, path: str, **options: Unpack[ToolOptions]) -> Declaration:
        """Return the decorator for a request with any method."""
        return Declaration(lambda name, description: self.tool(method, path, name, description, options))

    def tool(self, method: str, path: str, name: str, description: str, options: ToolOptions) -> Tool:
        """Return the Tool that these options declare."""
        inputs = options.get("inputs", ())
        name = options.get("name", name)
        description = options.get("description", description) or name
        operation_id = options.get("operation_id", name)
        has_body = any(item.argument.location in {"body", "media_type"} for item in inputs)
        return Tool(
            name=name,
            title=options.get("title", description.partition("\n")[0]),
            description=description,
            input_schema=options.get("input_schema") or self._input_schema(inputs, open_body=options.get("open_body")),
            output_schema=options.get("output_schema"),
            annotations=options.get("annotations") or hints(method, path, operation_id),
            method=method,
            path=path,
            base_url=options.get("base_url", self.base_url),
            base_url_is_guess=options.get("base_url_is_guess", False),
            arguments=tuple(item.argument for item in inputs),
            presets=tuple(options.get("presets", ())),
            body=options.get("request_body", JSON if has_body else None),
            security=tuple(tuple(schemes) for schemes in options.get("security", self.security)),
            required_schemes=tuple(options.get("required_schemes", ())),
            accept=options.get("accept", self.accept),
            content_type=options.get("content_type"),
            response_headers=tuple(options.get("response_headers", ())),
            select=options.get("select"),
            max_result_bytes=options.get("max_result_bytes"),
            operation_id=operation_id,
            tags=tuple(options.get("tags", self.tags)),
            deprecated=options.get("deprecated", False),
            meta=options.get("meta", {}),
        )

    def _input_schema(self, inputs: Sequence[Input], *, open_body: bool | None) -> Schema:
        properties = {item.argument.name: item.schema or {} for item in inputs}
        required = [item.argument.name for item in inputs if item.argument.required]
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not open_body:
            schema["additionalProperties"] = False
        if definitions := self._referenced_definitions(properties):
            schema["$defs"] = definitions
        return schema

    def _referenced_definitions(self, properties: Mapping[str, Schema]) -> dict[str, Schema]:
        """Return the definitions that these schemas refer to, directly or by others, by name."""
        reached: set[str] = set()
        waiting: list[Any] = list(properties.values())
        while waiting:
            new = {name for name in _references(waiting.pop()) if name in self.definitions} - reached
            reached |= new
            waiting += [self.definitions[name] for name in new]
        return {name: self.definitions[name] for name in sorted(reached)}


def _references(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                yield reference.removeprefix("#/$defs/")
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def read_schemas(module: str) -> dict[str, Any]:
    """Return the schemas of the JSON file beside a module; `module` is its `__file__`."""
    schemas: dict[str, Any] = json.loads(Path(module).with_suffix(".json").read_text(encoding="utf-8"))
    return schemas
