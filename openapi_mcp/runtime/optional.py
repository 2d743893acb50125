"""The modules of the runtime that only some tools need, each with the rule that tells which tools.

A module named here is imported inside the functions that use it, never at the top of a module. So a generated package,
which has its own copy of the runtime, can leave it out where none of its tools needs it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Final, TypeAlias

from . import media_types
from .protocol.headers import KEYWORD
from .tool import Argument, Encoding, MediaType, Tool

_Value: TypeAlias = MediaType | Encoding


def optional_modules(tools: Iterable[Tool]) -> set[str]:
    """Return the names of the optional modules that calls of these tools may import, relative to the runtime."""
    return {name for tool in tools for name, is_needed in OPTIONAL_MODULES.items() if is_needed(tool)}


def check_modules(tool: Tool) -> None:
    """Raise ModuleNotFoundError where a copy of the runtime lacks a module that calls of a tool may import."""
    for name in sorted(optional_modules([tool])):
        if find_spec(f".{name}", __package__) is None:
            file = f"{name.replace('.', '/')}.py"
            raise ModuleNotFoundError(
                f"The tool {tool.name} needs {__package__}.{name}, which this package was generated without: copy "
                f"openapi_mcp/runtime/{file} of the release that _runtime/VENDORED names to _runtime/{file}.",
                name=f"{__package__}.{name}",
            )


def _sends_files(tool: Tool) -> bool:
    return any(value.binary for value in _values(tool))


def _sends_multipart(tool: Tool) -> bool:
    return any(map(media_types.is_multipart, _content_types(tool)))


def _sends_xml(tool: Tool) -> bool:
    return any(map(media_types.is_xml, _content_types(tool)))


def _selects(tool: Tool) -> bool:
    return tool.select is not None


def _repeats_in_headers(tool: Tool) -> bool:
    waiting = [tool.input_schema]
    while waiting:
        schema = waiting.pop()
        if KEYWORD in schema:
            return True
        properties = schema.get("properties")
        waiting += (
            [each for each in properties.values() if isinstance(each, dict)] if isinstance(properties, dict) else []
        )
    return False


def _never(_: Tool) -> bool:
    return False


OPTIONAL_MODULES: Final[Mapping[str, Callable[[Tool], bool]]] = {
    "protocol.elicitation": _never,  # packages ask nothing
    "protocol.header_arguments": _repeats_in_headers,
    "request.file_types": _sends_files,
    "request.files": _sends_files,
    "request.multipart": _sends_multipart,
    "request.xml": _sends_xml,
    "protocol.skills": _never,  # packages have their skills as files
    "protocol.tasks": _never,  # packages have no tasks
    "result.hidden_tokens": _never,  # packages have no access tokens that are fetched
    "result.projection": _selects,
    "server.operations": _never,
    "server.shapes": _selects,
}
"""By the name of a module: whether calls of a tool may import it. An answer may have any media type."""


def _content_types(tool: Tool) -> Iterator[str]:
    """Yield every media type that a request may have in any of its parts; of a list, also each entry."""
    declared = [argument.content_type for argument in _arguments(tool) if argument.content_type is not None]
    for content_type in [*declared, *(value.content_type for value in _values(tool))]:
        yield content_type
        yield from media_types.alternatives(content_type)


def _arguments(tool: Tool) -> Iterator[Argument]:
    """Yield the arguments of a tool, those with presets too."""
    yield from tool.arguments
    yield from (preset.argument for preset in tool.presets)


def _values(tool: Tool) -> Iterator[_Value]:
    """Yield everything that says how a value is written: the body, the arguments, and what is inside of these."""
    waiting: list[_Value] = [argument.media for argument in _arguments(tool) if argument.media is not None]
    waiting += tool.body.media_types if tool.body else ()
    while waiting:
        value = waiting.pop()
        yield value
        waiting += value.encoding.values()
