"""`Search`: the tools that a request in plain words needs, the best first, with those that find what these need.

SQLite's FTS5 finds candidates by BM25, `choosing` orders them. In memory, no model, the same answer every time.
"""

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from .chains import Chains
from .choosing import Choice, Known
from .entries import WEIGHTS, Entry, entry
from .errors import SearchUnavailable
from .models import Tool
from .wording import Request, Word, read

_CANDIDATES: Final = 120
"""Tools that BM25 hands over: with 60 recall begins to fall, with 200 it does not rise."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that was found; `gives` names the argument of a better one for which it finds a value."""

    tool: Tool
    gives: str | None = None


class Search:
    """An index over some tools, made once. One thread at a time may use it. Raises SearchUnavailable."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)
        entries = [entry(tool) for tool in self._tools]
        self._index = Known(self._tools, entries, Chains(self._tools))
        self._database = _indexed(entries)
        self._counts = dict[str, int](self._database.execute("SELECT term, doc FROM known"))

    def find(self, text: str, limit: int) -> list[Hit]:
        """At most `limit` tools, the best first. For what may be only names, those that search by name; else none."""
        said = read(text)
        request = self._known(said)
        if not request.words:
            return [Hit(self._tools[index]) for index in self._index.chains.searches()[:limit] if said.words]
        weights = [word.share * max(map(self._rarity, (word.term, *word.subjects))) for word in request.words]
        choice = Choice(self._index, request, weights, self._candidates(request.words))
        return [Hit(self._tools[index], gives) for index, gives in choice.made(limit)]

    def _known(self, request: Request) -> Request:
        """The request in the words that tools know. One that they do not know is likely the name of something."""
        words = [self._known_word(word) for word in request.words]
        known = tuple(word for word in words if word.subjects or word.term in self._counts)
        return replace(request, words=known, has_name=request.has_name or len(known) < len(words))

    def _known_word(self, word: Word) -> Word:
        return replace(word, subjects=tuple(subject for subject in word.subjects if subject in self._counts))

    def _candidates(self, words: Sequence[Word]) -> dict[int, float]:
        """The tools that BM25 finds, by index, with their rank in relation to the first one's."""
        asked = dict.fromkeys(chain.from_iterable((word.term, *word.subjects) for word in words))
        match = " OR ".join(f'"{term}"' for term in asked if term in self._counts)
        found = self._database.execute(_QUERY, (match, _CANDIDATES)).fetchall()
        return {index: rank / (found[0][1] or 1.0) for index, rank in found}

    def _rarity(self, term: str) -> float:
        """BM25's inverse document frequency, never negative; 0 of what no tool has."""
        count = self._counts.get(term)
        return 0.0 if count is None else math.log(1 + (len(self._tools) - count + 0.5) / (count + 0.5))


def is_available() -> bool:
    """Whether this Python's SQLite can search."""
    try:
        _indexed(()).close()
    except SearchUnavailable:
        return False
    return True


_COLUMNS: Final = ", ".join(WEIGHTS)
# `=` begins the name of a subject (see `synonyms`); the terms have their form already.
_CREATE: Final = (
    f"CREATE VIRTUAL TABLE entries USING fts5({_COLUMNS}, content='', "
    "tokenize=\"unicode61 remove_diacritics 0 tokenchars '='\")"
)
_INSERT: Final = f"INSERT INTO entries(rowid, {_COLUMNS}) VALUES (?{', ?' * len(WEIGHTS)})"  # noqa: S608 - our own names
_QUERY: Final = (
    f"SELECT rowid, -bm25(entries, {', '.join(map(str, WEIGHTS.values()))}) FROM entries "  # noqa: S608 - our own numbers
    "WHERE entries MATCH ? ORDER BY 2 DESC, rowid LIMIT ?"
)


def _indexed(entries: Iterable[Entry]) -> sqlite3.Connection:
    """The index of the entries, by their number: one FTS5 table without its contents, and one of its terms."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        database.execute(_CREATE)
    except sqlite3.OperationalError:
        raise SearchUnavailable("Tools cannot be searched: this Python's SQLite was built without FTS5.") from None
    database.executemany(_INSERT, ((index, *each.fields) for index, each in enumerate(entries)))
    database.execute("CREATE VIRTUAL TABLE known USING fts5vocab(entries, 'row')")
    return database
