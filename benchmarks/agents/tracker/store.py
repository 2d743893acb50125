"""Storage of the tracker in an SQLite file: rows of several kinds, each a JSON object with an id and a version."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[str, Any]

NOW: Final = "2026-03-02T09:00:00Z"
"""The time that the API writes: always the same, so that one sequence of calls makes one database."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS rows (
    kind TEXT NOT NULL, id INTEGER NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (kind, id)
);
CREATE TABLE IF NOT EXISTS last_ids (kind TEXT PRIMARY KEY, id INTEGER NOT NULL);
"""


class NotFoundError(LookupError):
    """No row of a kind has an id."""


class StaleError(RuntimeError):
    """A row has another version than the one that a change was made for."""


class Store:
    """The rows in an SQLite file; each method is one transaction. Ids count from 1 and are not used twice."""

    def __init__(self, database: Path) -> None:
        self.database = database
        with self._connect() as connection:
            connection.executescript(_TABLES)

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.database, timeout=30)
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def create(self, kind: str, fields: Row) -> Row:
        """Store a new row and return it."""
        return self.create_many(kind, [fields])[0]

    def create_many(self, kind: str, many: list[Row]) -> list[Row]:
        """Store new rows and return them."""
        with self._connect() as connection:
            found = connection.execute("SELECT id FROM last_ids WHERE kind = ?", (kind,)).fetchone()
            first = (found[0] if found else 0) + 1
            rows = [(kind, first + index, 1, _text(fields)) for index, fields in enumerate(many)]
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
            connection.execute("REPLACE INTO last_ids VALUES (?, ?)", (kind, first + len(many) - 1))
        return [_row(*row[1:]) for row in rows]

    def all(self, kind: str) -> list[Row]:
        """Return the rows of a kind in the order of their ids."""
        with self._connect() as connection:
            found = connection.execute("SELECT id, version, data FROM rows WHERE kind = ? ORDER BY id", (kind,))
            return [_row(*values) for values in found]

    def get(self, kind: str, row_id: int) -> Row:
        """Return a row. Raises NotFoundError."""
        with self._connect() as connection:
            return _get(connection, kind, row_id)

    def update(self, kind: str, row_id: int, change: Row, version: int | None = None) -> Row:
        """Change some fields of a row; return the new row. Raises NotFoundError, and StaleError for another version."""
        with self._connect() as connection:
            row = _get(connection, kind, row_id)
            if version is not None and version != row["version"]:
                raise StaleError(f'the ETag is "{row["version"]}" now')
            row = row | change | {"version": row["version"] + 1}
            values = (row["version"], _text(row), kind, row_id)
            connection.execute("UPDATE rows SET version = ?, data = ? WHERE kind = ? AND id = ?", values)
            return row

    def delete(self, kind: str, row_id: int) -> None:
        """Remove a row. Raises NotFoundError."""
        with self._connect() as connection:
            _get(connection, kind, row_id)
            connection.execute("DELETE FROM rows WHERE kind = ? AND id = ?", (kind, row_id))


def _get(connection: sqlite3.Connection, kind: str, row_id: int) -> Row:
    query = "SELECT id, version, data FROM rows WHERE kind = ? AND id = ?"
    if found := connection.execute(query, (kind, row_id)).fetchone():
        return _row(*found)
    raise NotFoundError(f"there is no {kind} {row_id}")


def _text(row: Row) -> str:
    return json.dumps({name: value for name, value in row.items() if name not in {"id", "version"}}, sort_keys=True)


def _row(row_id: int, version: int, data: str) -> Row:
    return {"id": row_id, "version": version, **json.loads(data)}
