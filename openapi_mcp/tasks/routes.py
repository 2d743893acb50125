"""Find the tool whose request an address is: `getJob` with `{"id": "7"}` for `GET https://api.example.com/jobs/7`."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

import httpx

from ..runtime.request.redaction import SECRET_NAME
from ..runtime.tool import Tool
from .polling import AcceptedOperation

MAX_ADDRESS_LENGTH: Final = 2_000
"""Characters of an address that is compared with the paths of tools."""

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


class Route(NamedTuple):
    """A tool, and the arguments with which its request has an address."""

    tool: Tool
    arguments: dict[str, str]


def route_to(tools: Iterable[Tool], method: str, operation: AcceptedOperation) -> Route | None:
    """Return the tool of a method and an operation's status address; of several, the one with the fewest variables.

    None also where the request needs arguments that the address does not have.
    """
    url, base = operation.url, _base(operation)
    if len(str(url)) > MAX_ADDRESS_LENGTH:
        return None
    candidates = (tool for tool in tools if tool.method == method and tool.base_url == operation.tool.base_url)
    found = [route for tool in candidates if (route := _route(tool, base, url)) is not None]
    return min(found, key=lambda route: len(_VARIABLE.findall(route.tool.path)), default=None)


def _base(operation: AcceptedOperation) -> str:
    """Return the path below which the API lies: that of the call without the path of its tool."""
    segments = operation.first.request.url.path.split("/")
    return "/".join(segments[: len(segments) - operation.tool.path.partition("?")[0].count("/")])


def _route(tool: Tool, base: str, url: httpx.URL) -> Route | None:
    segments, pattern = url.path.split("/"), f"{base}{tool.path}".split("/")
    if len(segments) != len(pattern):
        return None
    values: dict[str, str] = {}
    for segment, template in zip(segments, pattern, strict=True):
        variable = _VARIABLE.fullmatch(template)
        if variable is None and segment != template:
            return None
        if variable is not None:
            values[variable[1]] = unquote(segment)
    return _with_arguments(tool, url, values)


def _with_arguments(tool: Tool, url: httpx.URL, values: dict[str, str]) -> Route | None:
    """Return the route with the arguments of the path and of the query, secrets left out."""
    arguments: dict[str, str] = {}
    for argument in tool.arguments:
        wire = argument.wire_name or ""
        if argument.location == "path" and wire in values:
            arguments[argument.name] = values[wire]
        elif argument.location == "query" and wire in url.params and not SECRET_NAME.search(wire):
            arguments[argument.name] = url.params[wire]
        elif argument.required:
            return None
    return Route(tool, arguments)
