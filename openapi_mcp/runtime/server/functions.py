"""Tools that are Python functions: code of a package's owner between the arguments of a call and its result.

A function gets an `Api` and the validated arguments under Python names, and returns the result. An argument that has
its default is not sent to the API, unless the client sent that value. If a function raises one of the runtime's errors,
the model gets its text; any other exception is a bug and goes to the log.
"""

import functools
import inspect
import keyword
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeAlias, TypeVar, cast

import httpx

from .. import json_schema, jsontext
from ..errors import UpstreamError
from ..optional import check_modules
from ..result.build import structured
from ..tool import Tool
from ..types import MISSING, CallToolResult, Schema, text_content

P = ParamSpec("P")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)

Function: TypeAlias = Callable[Concatenate["Api", P], Awaitable[R]]
"""An async function whose first parameter is the `Api`."""

OTHERS: Final = "others"
"""The parameter for undeclared arguments, of tools that accept such."""


@dataclass(frozen=True)
class Result(CallToolResult, Generic[T_co]):
    """The result of a request to the API, whose JSON has the type `T_co`: that of the tool's output schema.

    `Api.call` returns a `Result[Any]`, since a function may return something else than its tool's result; calling a
    function returns what it is annotated with.
    """

    output_schema: Schema | None = field(default=None, repr=False)

    def json(self) -> T_co:
        """Return the JSON of the answer. Raises UpstreamError if the call failed, or the answer has another type."""
        content = self.structured_content
        if self.is_error or content is MISSING:
            texts = [block["text"] for block in self.content if block.get("type") == "text"]
            raise UpstreamError("\n".join(texts) if self.is_error and texts else "The answer of the API is not JSON.")
        if self.output_schema is not None and not _conforms(self.output_schema, content):
            raise UpstreamError("The answer of the API has another type than its document says.")
        return cast(T_co, content)

    def plain(self) -> CallToolResult:
        """Return the result as a server sends it."""
        return CallToolResult(**{each.name: getattr(self, each.name) for each in fields(CallToolResult)})


def _conforms(schema: Schema, value: Any) -> bool:
    """Return whether a value conforms to a schema, or is too complex to be judged."""
    from ..json_schema.judge import BudgetSpent

    try:
        return json_schema.is_valid(schema, value)
    except (BudgetSpent, RecursionError):
        return True


@dataclass(frozen=True, slots=True)
class Api:
    """The API behind the server, for one call of a tool.

    `tool` and `arguments` are those of the call. `result` and `response` send the
    request of any tool with any arguments, and return its result, or its response with the findings of the observer.
    """

    tool: Tool
    arguments: Mapping[str, Any] = field(repr=False)
    result: Callable[[Tool, Mapping[str, Any]], Awaitable[CallToolResult]] = field(repr=False)
    response: Callable[[Tool, Mapping[str, Any]], Awaitable[tuple[httpx.Response, Any]]] = field(repr=False)

    async def call(self, function: "ToolFunction[P, Any]", /, *args: P.args, **kwargs: P.kwargs) -> Result[Any]:
        """Send the request of a function's tool and return its result, whatever the status of the response.

        Raises ArgumentError, RequestError and UpstreamError.
        """
        result = await self.result(function.tool, self._prepared_arguments(function, args, kwargs))
        values = {each.name: getattr(result, each.name) for each in fields(CallToolResult)}
        return Result(**values, output_schema=function.tool.output_schema)

    async def send(self, function: "ToolFunction[P, Any]", /, *args: P.args, **kwargs: P.kwargs) -> httpx.Response:
        """Send the request of a function's tool and return the response. Raises the errors of `call`."""
        response, _ = await self.response(function.tool, self._prepared_arguments(function, args, kwargs))
        return response

    def _prepared_arguments(
        self, function: "ToolFunction[Any, Any]", args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Mapping[str, Any]:
        from_client = self.arguments if function.tool is self.tool else {}
        arguments = function.arguments(args, kwargs, from_client)
        if arguments == from_client:
            return arguments
        from ..arguments.validation import prepare

        return prepare(function.tool, arguments)


class ToolFunction(Generic[P, R]):
    """A function with its tool. Calling it calls the function.

    Raises ModuleNotFoundError where the package's copy of the runtime lacks a module that the tool needs.
    """

    def __init__(self, function: Function[P, R], tool: Tool) -> None:
        check_modules(tool)
        functools.update_wrapper(self, function)
        self.tool = tool
        self._function = function

    def __call__(self, api: Api, /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        """Call the function."""
        return self._function(api, *args, **kwargs)

    async def answer(self, api: Api) -> CallToolResult:
        """Return the result of the call that `api` is for."""
        named = self._parameters(api.arguments)
        run: Callable[..., Awaitable[Any]] = self._function
        return to_result(self.tool, await run(api, **named))

    def takes(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the function can be called with these arguments, whatever their values."""
        try:
            self._signature.bind(None, **self._parameters(arguments))
        except TypeError:
            return False
        return True

    def _parameters(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by the names of the function's parameters."""
        named = {self._names[name]: value for name, value in arguments.items() if name in self._names}
        others = {name: value for name, value in arguments.items() if name not in self._names}
        return named | ({self._others: others} if others else {})

    def arguments(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], from_client: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return Python arguments by the names of the tool's, without defaults that the client did not send."""
        bound = self._signature.bind(None, *args, **kwargs).arguments
        arguments = {
            name: bound[parameter]
            for name, parameter in self._names.items()
            if parameter in bound and self._is_sent(name, parameter, bound[parameter], from_client)
        }
        return arguments | (bound.get(self._others) or {})

    def _is_sent(self, name: str, parameter: str, value: Any, from_client: Mapping[str, Any]) -> bool:
        default = self._signature.parameters[parameter].default
        return not _same(value, default) or (name in from_client and _same(value, from_client[name]))

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
"""The functions of tools, by the names of the tools."""


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON: `1`, `1.0` and `true` differ."""
    return type(one) is type(other) and bool(one == other)


def to_result(tool: Tool, value: Any) -> CallToolResult:
    """Return the result for a function's return value: a result unchanged, text as text, other JSON also structured."""
    if isinstance(value, CallToolResult):
        return value.plain() if isinstance(value, Result) else value
    text = value if isinstance(value, str) else jsontext.write(value)
    content = structured(tool, MISSING if isinstance(value, str) else value)
    return CallToolResult(content=(text_content(text),), structured_content=content)


_RESERVED: Final = frozenset({*keyword.kwlist, "api", OTHERS, "l"})
"""Names that no parameter gets: Python's keywords, other parameters, and `l`, which linters refuse (E741)."""

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def parameter_names(names: Iterable[str]) -> dict[str, str]:
    """Return the Python name of each argument: `petId` is pet_id, `from` is from_, a second pet_id is pet_id_2."""
    parameters: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = snake(name) or "argument"
        parameter = base + "_" if base in _RESERVED else base
        number = 1
        while parameter in taken:
            number += 1
            parameter = f"{base}_{number}"
        taken.add(parameter)
        parameters[name] = parameter
    return parameters


def snake(name: str) -> str:
    """Return a name in snake case, never with a digit in front; empty where no letter or digit is left."""
    snake_case = re.sub(r"[^A-Za-z0-9]+", "_", _HUMP.sub("_", name)).strip("_").lower()
    return f"n{snake_case}" if snake_case[:1].isdigit() else snake_case
