"""`ScopeRights`: what the scopes of an access token allow of the tools of one document.

A tool needs the scopes that its document demands (`Tool.scopes`), or those of the first pattern of the settings that
matches it. A token that lacks them neither lists nor finds nor calls the tool: its catalog is made of the others alone.
Specification: MCP basic/authorization, "Scope Challenge Handling"; RFC 6749 §3.3.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Final

from ..runtime.server.catalog import BuiltinTool, Catalog, ListedTool
from ..runtime.server.grants import Alternatives, Scopes
from .resource import NOT_OF_RESOURCES
from .scopes import ScopeSettings

MAX_CATALOGS: Final = 32
"""Catalogs that are kept, one for each different set of tools: in search mode each has an index of its own."""

MAX_ALTERNATIVES: Final = 64
"""Alternatives of scopes for a tool that calls several operations."""

MAX_CACHED_SCOPES: Final = 1024
"""Sets of scopes whose rights are kept: those of so many different tokens."""


class ScopeRights:
    """The rights of tokens on some tools. `build` makes the catalog of a part of the tools; `whole` has them all."""

    def __init__(
        self,
        tools: Sequence[ListedTool],
        settings: ScopeSettings,
        whole: Catalog,
        build: Callable[[Sequence[ListedTool]], Catalog],
    ) -> None:
        self._tools = tools
        self._settings = settings
        self._whole = whole
        self._build = build
        self._demands: dict[str, tuple[Scopes, ...]] = {tool.name: _demands(tool, settings) for tool in tools}
        self.granted = lru_cache(MAX_CACHED_SCOPES)(self._granted)
        self._catalog = lru_cache(MAX_CATALOGS)(self._new_catalog)

    @cached_property
    def offered(self) -> tuple[str, ...]:
        """All scopes that tools need, for clients that ask for a token: of each tool the smallest alternative."""
        return tuple(sorted({scope for sets in self._demands.values() if sets for scope in min(sets, key=len)}))

    @cached_property
    def _known(self) -> Scopes:
        """Every scope that some tool needs, in any alternative."""
        return frozenset(scope for sets in self._demands.values() for each in sets for scope in each)

    def catalog(self, scopes: Scopes) -> Catalog:
        """Return the tools that a token with these scopes lists and calls."""
        return self._catalog(self.granted(scopes))

    def demanded(self, name: str, scopes: Scopes) -> tuple[str, ...]:
        """Return the scopes that a tool needs; empty if the token has them, or if there is no such tool.

        Of several alternatives it is the one that lacks fewest.
        """
        alternatives, granted = self._demands.get(name, ()), self.granted(scopes)
        if not alternatives or any(each <= granted for each in alternatives):
            return ()
        nearest: Scopes = min(alternatives, key=lambda each: len(each - granted))
        return tuple(sorted(nearest))

    def _granted(self, scopes: Scopes) -> Scopes:
        """Return the scopes that tools need and that a token has, itself or in a broader one."""
        waiting, patterns = list(scopes), set(scopes)
        while waiting:
            for included in self._settings.includes.get(waiting.pop(), ()):
                if included not in patterns:
                    patterns.add(included)
                    waiting += self._matching(included)
        globs = [pattern for pattern in patterns - scopes if "*" in pattern]
        return frozenset(
            scope for scope in self._known if scope in patterns or any(fnmatchcase(scope, glob) for glob in globs)
        )

    def _matching(self, included: str) -> list[str]:
        """Return the scopes that an included one stands for, as far as they include others."""
        return [scope for scope in self._settings.includes if fnmatchcase(scope, included)]

    def _new_catalog(self, granted: Scopes) -> Catalog:
        allowed = [tool for tool in self._tools if self._is_allowed(tool, granted)]
        return self._whole if len(allowed) == len(self._tools) else self._build(allowed)

    def _is_allowed(self, tool: ListedTool, granted: Scopes) -> bool:
        alternatives = self._demands[tool.name]
        return not alternatives or any(each <= granted for each in alternatives)


def _demands(tool: ListedTool, settings: ScopeSettings) -> tuple[Scopes, ...]:
    """Return the alternatives that a tool needs; a built-in one those of all operations that it may call, together.

    Of more than MAX_ALTERNATIVES only the first ones count, so that a token is rather refused than let through.
    """
    if not isinstance(tool, BuiltinTool):
        return _sets(settings.demands(tool))
    together = [frozenset[str]()]
    for operation in tool.operations:
        sets = _sets(settings.demands(operation)) or (frozenset(),)
        together = list(dict.fromkeys(one | other for one in together for other in sets))[:MAX_ALTERNATIVES]
    return () if frozenset() in together else tuple(together)


def _sets(alternatives: Alternatives) -> tuple[Scopes, ...]:
    """Return the alternatives as sets, without those that contain another one; empty where nothing is needed."""
    groups = [frozenset(group) - NOT_OF_RESOURCES for group in alternatives]
    smallest = [group for group in dict.fromkeys(groups) if not any(other < group for other in groups)]
    return () if frozenset() in smallest else tuple(smallest)
