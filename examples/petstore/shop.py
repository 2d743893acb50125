"""Storage of the pets in an SQLite file, independent of HTTP."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATES = ("available", "reserved", "sold")
FIRST_PETS = [
    ("Minka", "available", ["cat", "indoor"], 120.0),
    ("Rex", "reserved", ["dog"], 300.0),
    ("Bubbles", "available", ["fish"], 4.5),
    ("Ada", "sold", ["parrot", "talks"], None),
]
TABLES = """
CREATE TABLE IF NOT EXISTS pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, status TEXT NOT NULL,
    tags TEXT NOT NULL, price REAL, photo BLOB
);
"""
MATCHING = """
FROM pets WHERE instr(lower(name), lower(:q)) AND (:states = '[]' OR status IN (SELECT value FROM json_each(:states)))
AND (:tag = '' OR :tag IN (SELECT value FROM json_each(pets.tags)))
"""


class NoSuchPet(LookupError):
    """The error for an id that no pet has."""


class Shop:
    """The pets in an SQLite file; each method is one transaction."""

    def __init__(self, database: Path) -> None:
        self.database = database
        with self.connect() as connection:
            connection.executescript(TABLES)
            if not connection.execute("SELECT 1 FROM pets").fetchone():
                rows = [(name, status, json.dumps(tags), price) for name, status, tags, price in FIRST_PETS]
                connection.executemany("INSERT INTO pets (name, status, tags, price) VALUES (?, ?, ?, ?)", rows)

    @contextlib.contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for one transaction."""
        connection = sqlite3.connect(self.database)
        connection.row_factory = sqlite3.Row
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def search(self, q: str, states: list[str], tag: str, limit: int, offset: int) -> dict[str, Any]:
        """Return a page of the pets that match, and the number of all that match."""
        values = {"q": q, "states": json.dumps(states), "tag": tag, "limit": limit, "offset": offset}
        with self.connect() as connection:
            total = connection.execute("SELECT count(*) " + MATCHING, values).fetchone()[0]
            rows = connection.execute("SELECT * " + MATCHING + "ORDER BY id LIMIT :limit OFFSET :offset", values)
            return {"total": total, "pets": [as_pet(row) for row in rows]}

    def get(self, pet_id: int) -> sqlite3.Row:
        """Return the row of a pet. Raises NoSuchPet."""
        with self.connect() as connection:
            row: sqlite3.Row | None = connection.execute("SELECT * FROM pets WHERE id = ?", (pet_id,)).fetchone()
        if row is None:
            raise NoSuchPet(f"no pet has the id {pet_id}")
        return row

    def create(self, pet: dict[str, Any]) -> sqlite3.Row:
        """Store a new pet, with defaults for fields that are missing; return its row."""
        values = (pet["name"], pet.get("status", "available"), json.dumps(pet.get("tags", [])), pet.get("price"))
        with self.connect() as connection:
            insert = "INSERT INTO pets (name, status, tags, price) VALUES (?, ?, ?, ?)"
            pet_id = connection.execute(insert, values).lastrowid or 0
        return self.get(pet_id)

    def update(self, pet_id: int, change: dict[str, Any]) -> sqlite3.Row:
        """Change some fields of a pet; return its new row. Raises NoSuchPet."""
        pet = as_pet(self.get(pet_id)) | change
        with self.connect() as connection:
            connection.execute(
                "UPDATE pets SET name = ?, status = ?, tags = ?, price = ? WHERE id = ?",
                (pet["name"], pet["status"], json.dumps(pet["tags"]), pet["price"], pet_id),
            )
        return self.get(pet_id)

    def delete(self, pet_id: int) -> None:
        """Remove a pet. Raises NoSuchPet."""
        self.get(pet_id)
        with self.connect() as connection:
            connection.execute("DELETE FROM pets WHERE id = ?", (pet_id,))

    def store_photo(self, pet_id: int, photo: bytes) -> None:
        """Store the photo of a pet, unchanged. Raises NoSuchPet."""
        self.get(pet_id)
        with self.connect() as connection:
            connection.execute("UPDATE pets SET photo = ? WHERE id = ?", (photo, pet_id))

    def inventory(self) -> dict[str, int]:
        """Return the number of pets in each state."""
        with self.connect() as connection:
            counts = dict(connection.execute("SELECT status, count(*) FROM pets GROUP BY status").fetchall())
        return {state: counts.get(state, 0) for state in STATES}


def as_pet(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row in the form of the document's schema Pet."""
    return {key: row[key] for key in ("id", "name", "status", "price")} | {"tags": json.loads(row["tags"])}
