"""The APIs that tasks are for: each with its document, its application over a database file, and its first rows."""

import json
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import uvicorn
import yaml

from examples.petstore import api as petstore
from examples.petstore.shop import STATES, Shop

from .tracker.app import create_app

KEY: Final = "open-sesame"
"""The key of the pet store."""

_PETS: Final = 230
"""Pets of the store besides its first four: three pages."""

_NAMES: Final = ("Momo", "Kira", "Balu", "Luna", "Oskar", "Nala", "Pepe")
_KINDS: Final = ("cat", "dog", "fish", "parrot", "hamster")


@dataclass(frozen=True)
class Api:
    """An API that runs at `url`. Its database is `database`; `first` is a copy of it as it begins."""

    name: str
    url: str
    document: Path
    database: Path
    first: Path

    def reset(self) -> None:
        """Bring the database back to its beginning."""
        shutil.copy(self.first, self.database)

    def dump(self) -> list[str]:
        """Return the database as SQL."""
        with closing(sqlite3.connect(self.database)) as connection:
            return list(connection.iterdump())

    def resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return a part of the document, or what it refers to."""
        if "$ref" not in part:
            return part
        found = self._content
        for step in part["$ref"].split("/")[1:]:
            found = found[step]
        return found

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.document.read_text())
        return content

    def operations(self) -> dict[str, dict[str, Any]]:
        """Return the operations by their operationId, each with its `path`, `method` and all of its parameters."""
        found: dict[str, dict[str, Any]] = {}
        for path, item in self._content["paths"].items():
            for method in item.keys() & {"get", "put", "post", "patch", "delete"}:
                parameters = [*item.get("parameters", []), *item[method].get("parameters", [])]
                more = {"path": path, "method": method.upper(), "parameters": parameters}
                found[item[method]["operationId"]] = item[method] | more
        return found


@contextmanager
def running(folder: Path) -> Iterator[dict[str, Api]]:
    """Run the APIs with their files in a folder, until the block ends; yield them by their names."""
    with _tracker(folder) as tracker, _petstore(folder) as store:
        yield {"tracker": tracker, "petstore": store}


@contextmanager
def _tracker(folder: Path) -> Iterator[Api]:
    database = folder / "tracker.sqlite3"
    app = create_app(database)
    with _serving(app) as url:
        yield _api("tracker", url, database, app.openapi())


@contextmanager
def _petstore(folder: Path) -> Iterator[Api]:
    database = folder / "petstore.sqlite3"
    app = petstore.create_app(database, KEY)
    _add_pets(Shop(database))
    with _serving(app) as url:
        yield _api("petstore", url, database, yaml.safe_load(petstore.DOCUMENT.read_text()))


def _api(name: str, url: str, database: Path, document: Any) -> Api:
    path, first = database.with_suffix(".json"), database.with_suffix(".first")
    path.write_text(json.dumps({**document, "servers": [{"url": url}]}))
    shutil.copy(database, first)
    return Api(name, url, path, database, first)


def _add_pets(shop: Shop) -> None:
    columns = "INSERT INTO pets (name, status, tags, price) VALUES (?, ?, ?, ?)"
    with shop.connect() as connection:
        connection.executemany(columns, [_pet(number) for number in range(1, _PETS + 1)])


def _pet(number: int) -> tuple[str, str, str, float]:
    tags = [_KINDS[number % 5], *(["young"] if number % 3 == 0 else [])]
    status = STATES[number * 5 % 7 % 3]
    return f"{_NAMES[number % 7]} {number}", status, json.dumps(tags), number * 17 % 300 + 0.5


@contextmanager
def _serving(app: Callable[..., Any]) -> Iterator[str]:
    """Serve an ASGI application in a thread; yield its URL."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
