"""openapi-mcp turns an OpenAPI document into MCP tools. The public names are imported on first use.

    bridge = Bridge.open("petstore.yaml")

`import openapi_mcp` alone imports nothing else, so that the command starts at once.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bridge import Bridge
    from .config import Config
    from .errors import (
        BridgeError,
        CallFailed,
        DocumentError,
        HostChanged,
        PackageStale,
        Problem,
        ReferenceRefused,
        UnknownTool,
        UnresolvedConflicts,
        UsageError,
    )
    from .extension.hooks import Hooks
    from .runtime.tool import Tool
    from .runtime.types import CallToolResult

__version__ = "0.1.0"

__all__ = [
    "Bridge",
    "BridgeError",
    "CallFailed",
    "CallToolResult",
    "Config",
    "DocumentError",
    "Hooks",
    "HostChanged",
    "PackageStale",
    "Problem",
    "ReferenceRefused",
    "Tool",
    "UnknownTool",
    "UnresolvedConflicts",
    "UsageError",
    "__version__",
]

_MODULES = {
    "Bridge": "bridge",
    "CallToolResult": "runtime.types",
    "Config": "config",
    "Hooks": "extension.hooks",
    "Tool": "runtime.tool",
}
"""Modules of the public names that are not in `errors`."""


if not TYPE_CHECKING:  # a type checker would take any name for one that this function returns

    def __getattr__(name: str) -> object:
        """Import a public name on first use (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_MODULES.get(name, 'errors')}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
