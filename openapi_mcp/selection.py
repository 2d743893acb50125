"""Which operations become tools: rules by tag, path, method and operationId, as the command line takes them.

A rule that could never match anything because it is written wrongly is an error, not an empty list of tools.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Protocol, Self

from .errors import UsageError
from .runtime.hints import READ_ONLY_METHODS


class Subject(Protocol):
    """What rules are about: an Operation."""

    @property
    def method(self) -> str:
        """As it is sent: `GET`."""

    @property
    def path(self) -> str:
        """The path's template."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags."""

    @property
    def operation_id(self) -> str | None:
        """The operationId, if there is one."""


_SUBJECTS: Final[Mapping[str, Callable[[Subject], Iterable[str]]]] = {
    "tag": lambda operation: operation.tags,
    "path": lambda operation: [operation.path],
    "method": lambda operation: [operation.method.lower()],
    "id": lambda operation: [operation.operation_id or ""],
}
_ANYWHERE: Final = ("tag", "path", "id")
_KIND: Final = re.compile(r"([A-Za-z_-]+):(.*)", re.DOTALL)
_CURE: Final = "write tag:NAME, path:/pets/*, method:get or id:listPets; * stands for anything"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a pattern (`*`, `?`, `[…]` as in file names) for what one of `kinds` says of an operation."""

    kinds: tuple[str, ...]
    pattern: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `kind:pattern`, or a pattern alone, which is for tags, paths and operationIds. Raises UsageError."""
        found = _KIND.fullmatch(text)
        kind, pattern = (found[1].lower(), found[2]) if found else ("", text)
        if found and kind not in _SUBJECTS:
            raise UsageError(f"there is no kind of rule called {found[1]}", where=text, hint=_CURE)
        if not pattern.strip():
            raise UsageError("a rule needs something to match", where=text or "an empty rule", hint=_CURE)
        return cls((kind,) if kind else _ANYWHERE, pattern.lower() if kind == "method" else pattern)

    def matches(self, operation: Subject) -> bool:
        """Whether the operation is one of those that the rule is about."""
        return any(fnmatchcase(value, self.pattern) for kind in self.kinds for value in _SUBJECTS[kind](operation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which operations are wanted: any that one of `include` matches (all where there is none), but for `exclude`."""

    include: tuple[Rule, ...] = ()
    exclude: tuple[Rule, ...] = ()
    read_only: bool = False

    @classmethod
    def parse(cls, include: Iterable[str] = (), exclude: Iterable[str] = (), *, read_only: bool = False) -> Self:
        """Read rules as the command line has them. Raises UsageError."""
        return cls(
            include=tuple(map(Rule.parse, include)), exclude=tuple(map(Rule.parse, exclude)), read_only=read_only
        )

    def admits(self, operation: Subject) -> bool:
        """Whether the operation is wanted."""
        if self.read_only and operation.method not in READ_ONLY_METHODS:
            return False
        included = not self.include or any(rule.matches(operation) for rule in self.include)
        return included and not any(rule.matches(operation) for rule in self.exclude)
