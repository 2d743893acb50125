"""Full-text search over the terms of tools, by SQLite's FTS5: which tools have a term, and their scores by BM25."""

import sqlite3
import weakref
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ..errors import SearchUnavailable

FIELD_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "name": 1.0,
        "path": 1.0,
        "title": 1.0,
        "tags": 0.5,
        "synonyms": 0.4,
        "description": 0.3,
        "arguments": 0.3,
        "answer": 0.3,
    }
)
"""The fields, and the weight of a term in each. FTS5 adds them before it saturates, so only their ratios matter."""

_COLUMNS: Final = ", ".join(FIELD_WEIGHTS)
# `=` begins the name of a synonym set (see `vocabulary`); terms are normalised already, so FTS5 must not change them.
_CREATE: Final = (
    f"CREATE VIRTUAL TABLE entries USING fts5({_COLUMNS}, content='', "
    "tokenize=\"unicode61 remove_diacritics 0 tokenchars '='\")"
)
_INSERT: Final = f"INSERT INTO entries(rowid, {_COLUMNS}) VALUES (?{', ?' * len(FIELD_WEIGHTS)})"  # noqa: S608 - our own names
_QUERY: Final = (
    f"SELECT rowid, -bm25(entries, {', '.join(map(str, FIELD_WEIGHTS.values()))}) FROM entries "  # noqa: S608 - our own numbers
    "WHERE entries MATCH ? ORDER BY 2 DESC, rowid LIMIT ?"
)


class FullText:
    """An index of texts by number: of each the terms of every field of FIELD_WEIGHTS, in that order.

    Used by one thread at a time. `counts` has the number of texts with each term. Raises SearchUnavailable.
    """

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._database = _create_database(texts)
        weakref.finalize(self, self._database.close)  # Python 3.13 warns of connections that nobody closes
        self.counts = dict[str, int](self._database.execute("SELECT term, doc FROM terms"))

    def best(self, terms: Iterable[str], limit: int) -> dict[int, float]:
        """Return the texts with any of the terms, the best first, with their scores relative to the best one."""
        match = " OR ".join(f'"{term}"' for term in terms if term in self.counts)
        if not match:
            return {}
        rows = self._database.execute(_QUERY, (match, limit)).fetchall()
        return {index: rank / (rows[0][1] or 1.0) for index, rank in rows}


def is_available() -> bool:
    """Return whether this Python's SQLite has full-text search."""
    try:
        _create_database(()).close()
    except SearchUnavailable:
        return False
    return True


def _create_database(texts: Iterable[Sequence[str]]) -> sqlite3.Connection:
    """Return a database of the texts by number: an FTS5 table without its contents, and one of its terms."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        database.execute(_CREATE)
    except sqlite3.OperationalError:
        database.close()
        raise SearchUnavailable(
            "Search mode needs SQLite with FTS5, and the sqlite3 module of this Python was built without it."
        ) from None
    database.executemany(_INSERT, ((index, *fields) for index, fields in enumerate(texts)))
    database.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(entries, 'row')")
    return database
