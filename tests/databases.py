"""A substitute for an SQLite that was built without FTS5, for tests of the message about it."""

import sqlite3
from functools import partial
from typing import Any

import pytest


class _ConnectionWithoutFts5(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql.replace("USING fts5(", "USING no_such_module("), parameters)


def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new connections refuse FTS5 tables until the test ends."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_ConnectionWithoutFts5))
