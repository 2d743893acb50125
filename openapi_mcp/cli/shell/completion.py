"""Completion of tools' names in a shell, from the tools that the last command kept.

A shell waits for the answer at each press of a key: no document is read, compiled or fetched, no plugin is loaded, and
whatever goes wrong is no completion.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import typer

from ...errors import BridgeError

MAX_COMPLETIONS: Final = 200
"""Names that are offered at once: more fill the screen and tell nothing."""


def tool_names(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the tools whose names begin with the word, each with its request; none where no tools are kept."""
    with suppress(BridgeError, OSError, ValueError, KeyError, TypeError):
        return list(_names(ctx.params, incomplete))
    return []


def _names(parameters: dict[str, Any], incomplete: str) -> Iterator[tuple[str, str]]:
    from ...bridge import Bridge
    from ...cache.compilations import CompilationCache
    from ...cache.files import Cache, folder
    from ...config import Config
    from ..report import printable
    from ..settings import Settings

    used = {name: value for name, value in parameters.items() if value not in (None, False, [], ())}
    spec, file = used.pop("spec", None), used.pop("config", None)
    settings = Settings.find(spec, used, file)
    options = settings.options()
    source = settings.source or options["spec"]
    config = Config.from_options(source, options)
    kept = CompilationCache(Cache(folder()), config.source, config.compile_options).kept()
    if kept is None:
        return
    found = [tool for tool in Bridge(config, *kept).tools if tool.name.startswith(incomplete)]
    yield from ((tool.name, printable(f"{tool.method} {tool.path}")) for tool in found[:MAX_COMPLETIONS])
