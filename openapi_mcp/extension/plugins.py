"""Plugins: the hooks of installed packages, by the names of their entry points. Only those that are named are loaded.

    [project.entry-points."openapi_mcp.plugins"]
    house-rules = "house_rules:hooks"

The entry point is a `Hooks`, or a function without parameters that returns one.
"""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from ..errors import UsageError
from ..runtime.arguments.spelling import suggestion
from .hooks import Hooks

GROUP: Final = "openapi_mcp.plugins"
"""The group of entry points."""


def load(names: Iterable[str]) -> tuple[Hooks, ...]:
    """Return the hooks of plugins in the order of their names. Raises UsageError."""
    wanted = tuple(names)
    if not wanted:
        return ()
    installed: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        installed.setdefault(entry.name, []).append(entry)
    return tuple(_hooks(name, installed) for name in dict.fromkeys(wanted))


def _hooks(name: str, installed: dict[str, list[EntryPoint]]) -> Hooks:
    where, found = f"--plugin {name}", installed.get(name, [])
    if not found:
        hint = suggestion(name, installed) or f"installed plugins are: {', '.join(sorted(installed)) or 'none'}"
        raise UsageError(f"no such plugin: {name}", where=where, hint=hint)
    if len({entry.value for entry in found}) > 1:
        packages = " and ".join(sorted({entry.dist.name for entry in found if entry.dist is not None}))
        raise UsageError(f"several packages have a plugin {name}", where=where, hint=f"uninstall one: {packages}")
    try:
        value = found[0].load()
        hooks = value if isinstance(value, Hooks) else value()
    except Exception as error:
        message = f"the plugin {name} cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(message, where=where, hint=f"see {found[0].value}; --debug shows the traceback") from error
    if not isinstance(hooks, Hooks):
        message = f"the plugin {name} is {type(hooks).__name__}"
        raise UsageError(message, where=where, hint=f"{found[0].value} must be a Hooks, or a function that returns one")
    return hooks
