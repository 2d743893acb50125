"""A Python whose SQLite was built without FTS5, for tests of what is said then."""

import sqlite3
from typing import Any

import pytest


class _Without(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql.replace("USING fts5(", "USING no_such_module("), parameters)


def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, until the test ends."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, **more, factory=_Without))
