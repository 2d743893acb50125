"""Read what extensions of other programs say of a tool as `x-mcp`; an `x-mcp` of the same object counts more.

`x-speakeasy-mcp` (Speakeasy), `x-kong-mcp-tool-name`, `x-kong-mcp-tool-description` and `x-kong-mcp-exclude` (Kong),
`x-klaridian` (klaridian), `x-mcp-tool` (a name, or an object). Keys that say nothing of a tool are left alone:
Speakeasy's `scopes` are labels and no scopes of access tokens. The root's `x-mcp` of Redocly describes a server that
exists already; its fields are left alone too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..runtime.types import JsonObject
from .keys import HINTS, TOOL_KEYS

OWN: Final = "x-mcp"
ROOT: Final = "#/x-mcp"

_OF_REDOCLY: Final = frozenset({"protocolVersion", "servers", "capabilities", "tools", "resources", "prompts"})
"""Fields of Redocly's `x-mcp`, none of which is a key of ours."""


def extensions(fields: Mapping[str, tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """Yield what the fields of an object say of tools, as values of `x-mcp` with their pointers: `x-mcp` last.

    The fields are values with their pointers, by name.
    """
    for name in [each for each in READERS if each in fields]:
        value, pointer = fields[name]
        yield READERS[name](value), pointer
    if OWN in fields:
        value, pointer = fields[OWN]
        if pointer == ROOT and isinstance(value, dict) and not _OF_REDOCLY.isdisjoint(value):
            value = {key: setting for key, setting in value.items() if key not in _OF_REDOCLY}
        yield value, pointer


def _renamed(names: Mapping[str, str], hints: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return a reader of an object: its keys and hints under the names of `x-mcp`."""

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        own: JsonObject = {names[key]: setting for key, setting in value.items() if key in names}
        annotations = {hints[key]: setting for key, setting in value.items() if key in hints}
        return {**own, "annotations": annotations} if annotations else own

    return read


def _one(key: str) -> Callable[[Any], Any]:
    return lambda value: {key: value}


def _named(value: Any) -> Any:
    """Read `x-mcp-tool`: the name of the tool, or an object with some keys of `x-mcp`."""
    if isinstance(value, str):
        return {"name": value}
    return {key: value[key] for key in value if key in TOOL_KEYS} if isinstance(value, dict) else value


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "x-speakeasy-mcp": _renamed(
        {"disabled": "hidden", "name": "name", "title": "title", "description": "description"},
        {hint: hint for hint in HINTS},
    ),
    "x-klaridian": _renamed(
        {"expose": "enabled", "title": "title"}, {hint.removesuffix("Hint"): hint for hint in HINTS}
    ),
    "x-kong-mcp-tool-name": _one("name"),
    "x-kong-mcp-tool-description": _one("description"),
    "x-kong-mcp-exclude": _one("hidden"),
    "x-mcp-tool": _named,
}
"""By the name of the extension: a function that returns its value as one of `x-mcp`."""
