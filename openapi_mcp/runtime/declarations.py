"""How a package declares its tools: a decorator that makes a Tool of an async function and a few words.

What the words leave out follows from the method, from the inputs and from the Toolbox. Types of parameters are for
people and type checkers; what a client is told, and what is sent, is in the words alone.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypedDict, TypeVar, Unpack

from . import docstrings
from .functions import Api, ToolFunction
from .hints import hints
from .models import Argument, Location, MediaType, RequestBody, SecurityScheme, Style, Tool
from .types import Schema

P = ParamSpec("P")
R = TypeVar("R")

Security: TypeAlias = Sequence[Sequence[SecurityScheme]]
"""OpenAPI's OR of ANDs: any of these lists, all of its schemes."""

JSON: Final = RequestBody(media_types=(MediaType(content_type="application/json"),), required=True)
"""The body of a tool that has inputs for it and says nothing else."""


ACCEPT: Final = "application/json, */*;q=0.5"
"""What is asked for where nobody knows what there is."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a tool: where it goes, and what it may be. `schema` None: the tool's `input_schema` says it."""

    argument: Argument
    schema: Schema | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where inputs go, and how they are written there if they say nothing else (OpenAPI 3.2 Parameter Object)."""

    location: Location
    style: Style = "simple"
    explode: bool = False
    required: bool = False
    named: bool = True
    """Whether the name is on the wire; else the input is the whole."""

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
        """An input of this place. `wire_name` is its name in the request, where that is another."""
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


path: Final = Place("path", required=True)
query: Final = Place("query", "form", explode=True)
querystring: Final = Place("querystring")
header: Final = Place("header")
cookie: Final = Place("cookie", "form", explode=True)
body: Final = Place("body")
whole_body: Final = Place("body", named=False)
media_type: Final = Place("media_type", named=False)
PLACES: Final[Mapping[str, Place]] = {
    "path": path,
    "query": query,
    "querystring": querystring,
    "header": header,
    "cookie": cookie,
    "body": body,
    "whole_body": whole_body,
    "media_type": media_type,
}


class Words(TypedDict, total=False):
    """What a declaration may say.

    Where it is not said, `name` is the function's, `description` its docstring, and `title` the first line of that.

    `open_body`: the body may have properties that are no inputs. `input_schema` replaces what the inputs' own schemas
    make. `operation_id` is the name where it is not said.
    """

    name: str
    title: str | None
    description: str
    inputs: Sequence[Input]
    open_body: bool
    input_schema: Schema
    output_schema: Schema | None
    annotations: Mapping[str, Any]
    request_body: RequestBody | None
    base_url: str | None
    security: Security
    accept: str
    operation_id: str | None
    tags: Sequence[str]
    deprecated: bool
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A tool but for its function; the decorator that a Toolbox gives out."""

    make: Callable[[str, str], Tool]

    def __call__(self, function: Callable[Concatenate[Api, P], Awaitable[R]]) -> ToolFunction[P, R]:
        """The function as a tool."""
        name = getattr(function, "__name__", "")
        return ToolFunction(function, self.make(name, docstrings.read(function.__doc__)))


@dataclass(frozen=True, kw_only=True)
class Toolbox:
    """What the tools of a module share, and their decorators. `definitions` is what schemas refer to (`#/$defs/…`)."""

    base_url: str | None = None
    tags: Sequence[str] = ()
    security: Security = ()
    accept: str = ACCEPT
    definitions: Mapping[str, Schema] = field(default_factory=dict, repr=False)

    def get(self, path: str, **words: Unpack[Words]) -> Declaration:
        """A GET of a path."""
        return self.operation("GET", path, **words)

    def put(self, path: str, **words: Unpack[Words]) -> Declaration:
        """A PUT."""
        return self.operation("PUT", path, **words)

    def post(self, path: str, **words: Unpack[Words]) -> Declaration:
        """A POST."""
        return self.operation("POST", path, **words)

    def delete(self, path: str, **words: Unpack[Words]) -> Declaration:
        """A DELETE."""
        return self.operation("DELETE", path, **words)

    def patch(self, path: str, **words: Unpack[Words]) -> Declaration:
        """A PATCH."""
        return self.operation("PATCH", path, **words)

    def operation(self, method: str, path: str, **words: Unpack[Words]) -> Declaration:
        """An operation with any method; the decorator for its function."""
        return Declaration(lambda name, description: self.tool(method, path, name, description, words))

    def tool(self, method: str, path: str, name: str, description: str, words: Words) -> Tool:
        """The Tool that these words declare."""
        inputs = words.get("inputs", ())
        name = words.get("name", name)
        description = words.get("description", description) or name
        bodily = any(item.argument.location in {"body", "media_type"} for item in inputs)
        return Tool(
            name=name,
            title=words.get("title", description.partition("\n")[0]),
            description=description,
            input_schema=words.get("input_schema") or self._input_schema(inputs, open_body=words.get("open_body")),
            output_schema=words.get("output_schema"),
            annotations=words.get("annotations") or hints(method),
            method=method,
            path=path,
            base_url=words.get("base_url", self.base_url),
            arguments=tuple(item.argument for item in inputs),
            body=words.get("request_body", JSON if bodily else None),
            security=tuple(tuple(schemes) for schemes in words.get("security", self.security)),
            accept=words.get("accept", self.accept),
            operation_id=words.get("operation_id", name),
            tags=tuple(words.get("tags", self.tags)),
            deprecated=words.get("deprecated", False),
            meta=words.get("meta", {}),
        )

    def _input_schema(self, inputs: Sequence[Input], *, open_body: bool | None) -> Schema:
        properties = {item.argument.name: item.schema or {} for item in inputs}
        required = [item.argument.name for item in inputs if item.argument.required]
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not open_body:
            schema["additionalProperties"] = False
        if definitions := self._reached(properties):
            schema["$defs"] = definitions
        return schema

    def _reached(self, properties: Mapping[str, Schema]) -> dict[str, Schema]:
        """The definitions that these schemas lead to, by name."""
        reached: set[str] = set()
        waiting: list[Any] = list(properties.values())
        while waiting:
            new = {name for name in _referred(waiting.pop()) if name in self.definitions} - reached
            reached |= new
            waiting += [self.definitions[name] for name in new]
        return {name: self.definitions[name] for name in sorted(reached)}


def _referred(schema: Any) -> Iterator[str]:
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
    """The schemas in the JSON file beside a module, which is given as its `__file__`."""
    schemas: dict[str, Any] = json.loads(Path(module).with_suffix(".json").read_text(encoding="utf-8"))
    return schemas
