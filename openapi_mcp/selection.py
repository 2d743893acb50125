"""`Selection`: the operations that become tools, by rules about tag, path, method and operationId.

A misspelt rule is an error, and so is one that matches no operation of the document (`Selection.unmatched`).

`read_only_candidates` names tools that `Selection.read_only` leaves out although they may change nothing.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Protocol, Self

from .errors import UsageError
from .runtime.tool import DESTRUCTIVE_WORDS, READ_ONLY_METHODS, Tool, named_segments, words


class Subject(Protocol):
    """An operation, as far as rules look at it."""

    @property
    def method(self) -> str:
        """The method in capitals: `GET`."""

    @property
    def path(self) -> str:
        """The path template."""

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
_KINDS_WITHOUT_PREFIX: Final = ("tag", "path", "id")
_KIND: Final = re.compile(r"([A-Za-z_-]+):(.*)", re.DOTALL)
_HINT: Final = "write tag:NAME, path:/pets/*, method:get or id:listPets; * matches anything"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern (`*`, `?`, `[…]` as in file names) for an operation's tags, path, method or id, as `kinds` says."""

    kinds: tuple[str, ...]
    pattern: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `kind:pattern`, or a pattern alone, which is for tags, paths and operationIds. Raises UsageError."""
        match = _KIND.fullmatch(text)
        kind, pattern = (match[1].lower(), match[2]) if match else ("", text)
        if match and kind not in _SUBJECTS:
            raise UsageError(f"unknown kind of rule: {match[1]}", where=text, hint=_HINT)
        if not pattern.strip():
            raise UsageError("the rule has no pattern", where=text or "an empty rule", hint=_HINT)
        return cls((kind,) if kind else _KINDS_WITHOUT_PREFIX, pattern.lower() if kind == "method" else pattern)

    def matches(self, operation: Subject) -> bool:
        """Return whether the rule matches an operation."""
        return any(fnmatchcase(value, self.pattern) for value in self.values(operation))

    def values(self, operation: Subject) -> Iterator[str]:
        """Yield the texts of an operation that the pattern is for."""
        return (value for kind in self.kinds for value in _SUBJECTS[kind](operation))

    def __str__(self) -> str:
        return f"{self.kinds[0]}:{self.pattern}" if len(self.kinds) == 1 else self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Rules that select operations: those that any of `include` matches (or all), except those of `exclude`.

    With `only` it is some operations, by operationId, `METHOD /path` or `* /path`, whatever else says about them.
    """

    include: tuple[Rule, ...] = ()
    exclude: tuple[Rule, ...] = ()
    read_only: bool = False
    only: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, include: Iterable[str] = (), exclude: Iterable[str] = (), *, read_only: bool = False) -> Self:
        """Parse rules as the command line has them. Raises UsageError."""
        return cls(
            include=tuple(map(Rule.parse, include)), exclude=tuple(map(Rule.parse, exclude)), read_only=read_only
        )

    def unmatched(self, operations: Collection[Subject]) -> Iterator[tuple[str, Rule]]:
        """Yield the rules that match no operation, each after its option (`--include`)."""
        for option, rules in (("--include", self.include), ("--exclude", self.exclude)):
            yield from ((option, rule) for rule in rules if not any(map(rule.matches, operations)))

    def admits(self, operation: Subject, *, read_only: bool | None = None) -> bool:
        """Return whether an operation is selected; `read_only` is its `readOnlyHint` of `x-mcp`, if there is one."""
        if self.only:
            return self.names(operation)
        if self.read_only and not only_reads(operation.method, read_only):
            return False
        included = not self.include or any(rule.matches(operation) for rule in self.include)
        return included and not any(rule.matches(operation) for rule in self.exclude)

    def names(self, operation: Subject) -> bool:
        """Return whether an operation is one of `only`."""
        keys = {operation.operation_id, f"{operation.method} {operation.path}", f"* {operation.path}"}
        return not self.only.isdisjoint(keys)


_CHANGING_METHODS: Final = frozenset({"PUT", "PATCH", "DELETE"})
"""Methods that change something, whatever `x-mcp` says (RFC 9110 §9.3, RFC 5789)."""


def only_reads(method: str, read_only_hint: bool | None) -> bool:
    """Return whether `--read-only` offers an operation: `x-mcp` decides for all methods but PUT, PATCH and DELETE."""
    if read_only_hint is None or method in _CHANGING_METHODS:
        return method in READ_ONLY_METHODS
    return read_only_hint


_READING_VERBS: Final = frozenset(
    {"count", "describe", "fetch", "filter", "find", "get", "graphql", "list", "lookup", "query", "read", "retrieve"}
    | {"search"}
)
_READING_NOUNS: Final = frozenset({"count", "filter", "get", "graphql", "lookup", "query", "search"})
"""Words that make a name one of reading at its end too: `userSearch`, `batchGet`; not `watchList`."""

_CHANGING_WORDS: Final = DESTRUCTIVE_WORDS | {
    *("add", "assign", "begin", "copy", "create", "disable", "edit", "enable", "import", "insert", "merge", "modify"),
    *("move", "new", "patch", "publish", "put", "register", "replace", "save", "schedule", "send", "set", "start"),
    *("stop", "submit", "sync", "update", "upload", "upsert", "write"),
}
_NAME_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")


def read_only_candidates(tools: Iterable[Tool]) -> list[Tool]:
    """Return the POST tools whose names say that they only read, and that `x-mcp` does not describe as such yet.

    The name is the operationId or the end of the path; a body of theirs is one that can hold a filter, not a file.
    """
    return [
        tool
        for tool in tools
        if tool.method == "POST" and not tool.annotations.get("readOnlyHint") and _sends_filter(tool) and _reads(tool)
    ]


def _sends_filter(tool: Tool) -> bool:
    media_types = tool.body.media_types if tool.body else ()
    return not any(media_type.binary or media_type.content_type.startswith("multipart/") for media_type in media_types)


def _reads(tool: Tool) -> bool:
    """Return whether the operationId or the last segment of the path names reading, and neither a change."""
    names = [tool.operation_id or "", *named_segments(tool.path)[-1:]]
    if any(not _CHANGING_WORDS.isdisjoint(words(name)) for name in names):
        return False
    parts = [words(part) for name in names for part in _NAME_PARTS.split(name)]
    return any(part and (part[0] in _READING_VERBS or part[-1] in _READING_NOUNS) for part in parts)
