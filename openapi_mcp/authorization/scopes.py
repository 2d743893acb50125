"""`ScopeSettings`: the scopes that the user demands for tools, and the scopes that include others.

Specification: RFC 6749 §3.3.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Self

from ..errors import UsageError
from ..runtime.server.grants import Alternatives
from ..runtime.tool import Tool
from ..selection import Rule

_PREFIXES: Final = ("tag:", "path:", "method:", "id:")
_HINT: Final = "write PATTERN=SCOPES, for example 'delete*=pets:write' or 'method:get=pets:read|pets:admin'"


@dataclass(frozen=True, slots=True)
class ScopePattern:
    """The scopes that the tools of a pattern need: of the tool's name, or a rule as `--include` has them."""

    pattern: str
    alternatives: Alternatives
    rule: Rule | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `PATTERN=SCOPES`: alternatives between `|`, scopes between spaces. Raises UsageError."""
        pattern, equals, scopes = text.partition("=")
        if not equals or not pattern.strip():
            raise UsageError("the scopes of tools must be written PATTERN=SCOPES", where="--auth-scopes", hint=_HINT)
        rule = Rule.parse(pattern.strip()) if pattern.startswith(_PREFIXES) else None
        groups = tuple(tuple(group.replace(",", " ").split()) for group in scopes.split("|"))
        return cls(pattern.strip(), () if () in groups else groups, rule)

    def matches(self, tool: Tool) -> bool:
        """Return whether the pattern is for a tool."""
        return fnmatchcase(tool.name, self.pattern) if self.rule is None else self.rule.matches(tool)


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """The scopes of tools by pattern, in their order; and which scopes include which others (`*` matches anything)."""

    patterns: tuple[ScopePattern, ...] = ()
    includes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, scopes: Iterable[str], includes: Iterable[str]) -> Self:
        """Read the options of the command line. Raises UsageError."""
        return cls(tuple(map(ScopePattern.parse, scopes)), dict(map(_inclusion, includes)))

    def check(self, tools: Sequence[Tool]) -> None:
        """Raise UsageError for a pattern that no tool matches: it protects nothing."""
        for each in self.patterns:
            if not any(map(each.matches, tools)):
                hint = "`openapi-mcp inspect` names the tools"
                raise UsageError(f"no tool matches {each.pattern}", where="--auth-scopes", hint=hint)

    def demands(self, tool: Tool) -> Alternatives:
        """Return the scopes that a tool needs."""
        return next((each.alternatives for each in self.patterns if each.matches(tool)), tool.scopes)


def _inclusion(text: str) -> tuple[str, tuple[str, ...]]:
    scope, equals, included = text.partition("=")
    names = tuple(included.replace(",", " ").split())
    if not equals or not scope.strip() or not names:
        hint = "write SCOPE=SCOPES, for example 'repo=repo:read repo:write' or 'admin=*'"
        raise UsageError(
            "a scope that includes others must be written SCOPE=SCOPES", where="--auth-includes", hint=hint
        )
    return scope.strip(), names
