"""Tools that are functions: what their owner writes between the arguments of a call and its result.

A function gets validated arguments under Python's names and `Api`, and returns what the client gets. What still has its
default, and was not given by the client just so, is left to the API. Whatever a function raises of the runtime's errors
is told to the model; anything else is a bug, and goes to the log.
"""

import functools
import inspect
import keyword
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeAlias, TypeVar

import httpx

from . import conformance, jsontext
from .arguments import prepare
from .models import Tool
from .types import MISSING, CallToolResult, text_content

P = ParamSpec("P")
R = TypeVar("R")

Function: TypeAlias = Callable[Concatenate["Api", P], Awaitable[R]]
"""What an owner writes: an async function whose first parameter is the `Api`."""

OTHERS: Final = "others"
"""The parameter that holds the arguments which nobody declared, where a tool takes such."""


@dataclass(frozen=True, slots=True)
class Api:
    """The API behind the server, as one call of a tool reaches it.

    `result` and `response` (and what is known of it) make the request of a tool from its arguments; `given` are those
    of the call, `tool` is its tool.
    """

    tool: Tool
    given: Mapping[str, Any] = field(repr=False)
    result: Callable[[Tool, Mapping[str, Any]], Awaitable[CallToolResult]] = field(repr=False)
    response: Callable[[Tool, Mapping[str, Any]], Awaitable[tuple[httpx.Response, Any]]] = field(repr=False)

    async def call(self, function: "ToolFunction[P, Any]", /, *args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        """Make the request of a function's tool; its answer as clients get it, whatever its status.

        Raises ArgumentError, RequestError and UpstreamError.
        """
        return await self.result(function.tool, self._arguments(function, args, kwargs))

    async def send(self, function: "ToolFunction[P, Any]", /, *args: P.args, **kwargs: P.kwargs) -> httpx.Response:
        """The same, with the answer as it came: `response.json()`, `response.status_code`."""
        response, _ = await self.response(function.tool, self._arguments(function, args, kwargs))
        return response

    def _arguments(
        self, function: "ToolFunction[Any, Any]", args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Mapping[str, Any]:
        given = self.given if function.tool is self.tool else {}
        arguments = function.arguments(args, kwargs, given)
        return arguments if arguments == given else prepare(function.tool, arguments)


class ToolFunction(Generic[P, R]):
    """A function and its tool. Called like the function, it is the function."""

    def __init__(self, function: Function[P, R], tool: Tool) -> None:
        functools.update_wrapper(self, function)
        self.tool = tool
        self._function = function

    def __call__(self, api: Api, /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        """Run the function."""
        return self._function(api, *args, **kwargs)

    async def answer(self, api: Api) -> CallToolResult:
        """The result of the call that an Api was made for."""
        parameters = {self._names.get(name): value for name, value in api.given.items()}
        others = {name: value for name, value in api.given.items() if name not in self._names}
        named = {name: value for name, value in parameters.items() if name is not None}
        if others:
            named[self._others] = others
        run: Callable[..., Awaitable[Any]] = self._function
        return to_result(self.tool, await run(api, **named))

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Python's arguments as the tool names them, without what is left to the API."""
        bound = self._signature.bind(None, *args, **kwargs).arguments
        arguments = {
            name: bound[parameter]
            for name, parameter in self._names.items()
            if parameter in bound and self._is_sent(name, parameter, bound[parameter], given)
        }
        return arguments | (bound.get(self._others) or {})

    def _is_sent(self, name: str, parameter: str, value: Any, given: Mapping[str, Any]) -> bool:
        default = self._signature.parameters[parameter].default
        return not _same(value, default) or (name in given and _same(value, given[name]))

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        return parameter_names(argument.name for argument in self.tool.arguments)

    @property
    def _others(self) -> str:
        return OTHERS


Functions: TypeAlias = Mapping[str, ToolFunction[Any, Any]]
"""The functions behind tools, by the names of the tools."""

NO_FUNCTIONS: Final[Functions] = MappingProxyType({})


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON is: `1`, `1.0` and `true` differ."""
    return type(one) is type(other) and bool(one == other)


def to_result(tool: Tool, value: Any) -> CallToolResult:
    """What a function returned as a result: one as it is, text as text, other JSON as text and structured content."""
    if isinstance(value, CallToolResult):
        return value
    text = value if isinstance(value, str) else jsontext.write(value)
    structured = MISSING if isinstance(value, str) else value
    if tool.output_schema is not None:
        whole = conformance.empty(tool.output_schema) if structured is MISSING else structured
        structured = conformance.conformed(tool.output_schema, whole)
    return CallToolResult(content=(text_content(text),), structured_content=structured)


_RESERVED: Final = frozenset({*keyword.kwlist, "api", OTHERS, "l"})
"""What no parameter is called: Python's keywords, the parameters that are there already, and what looks like a one."""

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def parameter_names(names: Iterable[str]) -> dict[str, str]:
    """Python's names for arguments: `petId` is pet_id, `from` is from_; a second pet_id is pet_id_2."""
    taken: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in names:
        plain = snake(name) or "argument"
        wanted = plain + "_" if plain in _RESERVED else plain
        number = 1
        while wanted in taken:
            number += 1
            wanted = f"{plain}_{number}"
        taken[wanted] = name
        found[name] = wanted
    return found


def snake(name: str) -> str:
    """A name in lower case with underscores; empty where nothing of it is left. It never begins with a digit."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", _HUMP.sub("_", name)).strip("_").lower()
    return f"n{plain}" if plain[:1].isdigit() else plain
