"""`ToolTable`: the tools of a server as rows of the page, found by the server's own search and by filters."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ..gateway.gateway import Gateway, Served
from ..runtime.search.full_text import is_available
from ..runtime.server.grants import Grant
from ..runtime.tool import Tool
from ..token_budget import tokens_of_bytes

if TYPE_CHECKING:
    from ..runtime.search.ranking import Search
    from ..runtime.search.tools import ToolFinder

Risk: TypeAlias = Literal["reads", "changes", "destroys"]

RISKS: Final[Mapping[Risk, str]] = {
    "reads": "only reads",
    "changes": "changes data",
    "destroys": "replaces or deletes",
}

PAGE_ROWS: Final = 60
"""Rows that are sent at once: more than fit on a screen; the next ones come when the last one is seen."""

MAX_HITS: Final = 50
"""Tools that a search finds; whoever looks further searches in other words."""

MAX_PARTS: Final = 32
"""Parts of the tools that are kept, one for each different set of rights."""

MAX_TAGS: Final = 300
"""Tags in the list to choose from, those of most tools."""

_SENTENCE_SECONDS: Final = 0.0
"""Time that one search gives the sentence model to read tools: the page answers while its user types."""

_PATIENCE: Final = 0.4
"""Seconds that a search waits for its preparation, which takes less for most APIs."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list. `share` is its part, in per cent, of what the most expensive tool costs.

    Of several APIs, the name of its own is the first of the `tags`.
    """

    name: str
    title: str
    method: str
    path: str
    tags: tuple[str, ...]
    risk: Risk
    tokens: int
    share: int
    deprecated: bool


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Choice of the tools that are shown: those that fit a query, a tag, a method and a risk; from a row on."""

    query: str = ""
    tag: str = ""
    method: str = ""
    risk: str = ""
    sort: str = ""
    start: int = 0

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "ToolFilter":
        """Return the filter in the parameters of an address."""
        start = parameters.get("start", "")
        names = ("query", "tag", "method", "risk", "sort")
        texts = {name: parameters.get(name, "").strip()[:200] for name in names}
        return cls(**texts, start=int(start[:6]) if start.isdecimal() else 0)

    @property
    def is_active(self) -> bool:
        """True if it may hide tools."""
        return bool(self.query or self.tag or self.method or self.risk)

    def allows(self, row: ToolRow) -> bool:
        """Return whether a row has the tag, method and risk."""
        return (
            (not self.tag or self.tag in row.tags)
            and (not self.method or self.method == row.method)
            and (not self.risk or self.risk == row.risk)
        )


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Rows of a list: how many there are in all, the filter of those that follow, and whether names alone were read."""

    rows: Sequence[ToolRow]
    count: int
    following: ToolFilter | None
    by_name: bool


class ToolTable:
    """The tools that are served: made once for each version of them, when the page is opened.

    With `names` it is a part of them, which shares the `search` of the whole.
    """

    def __init__(
        self, served: Served, names: Collection[str] | None = None, search: "_PreparedSearch | None" = None
    ) -> None:
        self.served = served
        tools = served.tools if names is None else [tool for tool in served.tools if tool.name in names]
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        apis = {name: api for name, (api, _) in served.routes.items()} if isinstance(served, Gateway) else {}
        costs = {name: tokens_of_bytes(size) for name, size in served.sizes.items()}
        most = max(costs.values(), default=1)
        self.rows = [_row(tool, apis.get(name), costs[name], most) for name, tool in self.tools.items()]
        self.total = sum(row.tokens for row in self.rows)
        self.tags = Counter(tag for row in self.rows for tag in row.tags).most_common(MAX_TAGS)
        self.methods = Counter(row.method for row in self.rows).most_common()
        self.risks = Counter(row.risk for row in self.rows)
        self._search = search or _PreparedSearch(served)
        self._parts: dict[Collection[str], ToolTable] = {}

    def of(self, grant: Grant | None) -> "ToolTable":
        """Return the tools that a grant allows; all of them without one."""
        if grant is None:
            return self
        rights = self.served.rights
        allowed = frozenset(name for name in self.tools if not rights.demanded(name, grant.scopes))
        if len(allowed) == len(self.tools):
            return self
        if allowed not in self._parts and len(self._parts) >= MAX_PARTS:
            del self._parts[next(iter(self._parts))]
        return self._parts.setdefault(allowed, ToolTable(self.served, allowed, self._search))

    @cached_property
    def read_only_tokens(self) -> int:
        """The tokens of the tools that only read."""
        return sum(row.tokens for row in self.rows if row.risk == "reads")

    def prepare(self) -> None:
        """Begin to prepare the search, which takes seconds for a large API without a cached index."""
        self._search.prepare()

    def page(self, wanted: ToolFilter) -> ToolPage:
        """Return the rows that a filter allows, from its start on. It may read an index, so it is no work of a loop."""
        rows: Iterable[ToolRow] = self.rows
        by_name = False
        if wanted.query:
            names, by_name = self._names(wanted.query)
            of_name = {row.name: row for row in self.rows}
            rows = [of_name[name] for name in names if name in of_name]
        found = [row for row in rows if wanted.allows(row)]
        if wanted.sort == "tokens":
            found.sort(key=lambda row: -row.tokens)
        end = wanted.start + PAGE_ROWS
        following = replace(wanted, start=end) if end < len(found) else None
        return ToolPage(found[wanted.start : end], len(found), following, by_name)

    def _names(self, query: str) -> tuple[Sequence[str], bool]:
        """Return the names of the tools that fit a query: by the search once it is prepared, else by their texts."""
        literal = self._literal(query)
        ranked = self._search.find(query)
        if ranked is None:
            return literal, True
        exact = [name for name in literal if query.casefold() in name.casefold()]
        return list(dict.fromkeys([*exact, *ranked])), False

    def _literal(self, query: str) -> Sequence[str]:
        """Return the tools whose name, title or path has all words of a query."""
        words = _WORD.findall(query.casefold())
        texts = ((row, f"{row.name} {row.title} {row.path}".casefold()) for row in self.rows)
        return [row.name for row, text in texts if words and all(word in text for word in words)]


class _PreparedSearch:
    """The server's search, prepared in threads: first without the sentence model, which takes seconds to load."""

    def __init__(self, served: Served) -> None:
        self._tools = served.tools
        self._indexes = served.offer.store
        self._threads: dict[str, threading.Thread] = {}
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._quick: Search | None = None
        self._whole: ToolFinder | None = None

    def prepare(self) -> None:
        self._begin("search of the page", self._prepare_quick)

    def find(self, query: str) -> Sequence[str] | None:
        """Return the names of the hits, the best first; None while the search is being prepared."""
        self.prepare()
        if not self._ready.wait(_PATIENCE):
            return None
        self._begin("sentence model of the page", self._prepare_whole)
        if self._whole is not None:
            return [hit.tool.name for hit in self._whole.find(query, MAX_HITS)[0]]
        with self._lock:
            return [hit.tool.name for hit in self._quick.find(query, MAX_HITS)] if self._quick else ()

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        """Begin work in a thread of its own, once."""
        if name not in self._threads:
            self._threads[name] = threading.Thread(target=work, name=name, daemon=True)
            self._threads[name].start()

    def _prepare_quick(self) -> None:
        from ..runtime.search.ranking import Search

        if is_available():  # else this Python has no full-text search
            self._quick = Search(self._tools, self._indexes)
        self._ready.set()

    def _prepare_whole(self) -> None:
        from ..runtime.search.tools import ToolFinder

        if self._quick is not None:
            finder = ToolFinder(self._tools, self._indexes, _SENTENCE_SECONDS)
            finder.find("list", 1)
            self._whole = finder


def risk_of(tool: Tool) -> Risk:
    """Return what a call may do, by the tool's annotations."""
    if tool.annotations.get("readOnlyHint"):
        return "reads"
    return "destroys" if tool.annotations.get("destructiveHint") else "changes"


def _row(tool: Tool, api: str | None, cost: int, most: int) -> ToolRow:
    return ToolRow(
        name=tool.name,
        title=tool.title or "",
        method=tool.method,
        path=tool.path,
        tags=tool.tags if api is None else (api, *tool.tags),
        risk=risk_of(tool),
        tokens=cost,
        share=max(1, round(100 * cost / most)),
        deprecated=tool.deprecated,
    )
