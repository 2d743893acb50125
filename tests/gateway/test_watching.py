"""`--watch` of several APIs: each document is watched, and one that could not be loaded is tried again."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.cli.serve.watcher import RETRY_API, FileWatcher, changes_of_apis
from openapi_mcp.cli.settings import Settings
from openapi_mcp.gateway.gateway import Gateway

FIRST: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": {}}}}
OTHER = {**FIRST, "paths": {"/b": {"get": {}}}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.json").write_text(json.dumps(FIRST))
    tables = ('[apis.a]\nspec = "a.json"\n', '[apis.gone]\nspec = "gone.json"\n')
    (tmp_path / "openapi-mcp.toml").write_text("\n".join(tables))
    return tmp_path


def opened(folder: Path, previous: Gateway | None = None) -> Gateway:
    gateway = Settings("", {}, folder / "openapi-mcp.toml").open(previous=previous)
    assert isinstance(gateway, Gateway)
    return gateway


def change(waits: Sequence[Callable[[], Awaitable[object]]], write: Callable[[], object]) -> bool:
    """Return whether one of some functions returns after something was written."""

    async def run() -> bool:
        tasks = [asyncio.ensure_future(wait()) for wait in waits]
        await asyncio.sleep(0)
        write()
        done, _ = await asyncio.wait(tasks, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return bool(done)

    return asyncio.run(run())


def test_a_change_of_any_document_is_noticed(folder: Path) -> None:
    waits = changes_of_apis(opened(folder))
    assert change(waits, lambda: (folder / "a.json").write_text(json.dumps(OTHER)))


def test_a_document_that_appears_is_noticed(folder: Path) -> None:
    waits = changes_of_apis(opened(folder))
    assert change(waits, lambda: (folder / "gone.json").write_text(json.dumps(FIRST)))


def test_a_document_that_is_broken_is_not_read_again_and_again(folder: Path) -> None:
    before = opened(folder)
    (folder / "a.json").write_text("{")
    broken = opened(folder, before)
    assert [(each.name, each.is_old) for each in broken.failures] == [("a", True), ("gone", False)]
    waits = changes_of_apis(broken)
    watchers = [each for each in (getattr(wait, "__self__", None) for wait in waits) if isinstance(each, FileWatcher)]
    assert watchers
    assert not any(watcher._check() for watcher in watchers)
    assert change(waits, lambda: (folder / "a.json").write_text(json.dumps(OTHER)))


def test_a_url_that_cannot_be_read_is_tried_again_later(folder: Path) -> None:
    waits = len(changes_of_apis(opened(folder)))
    text = (folder / "openapi-mcp.toml").read_text().replace("gone.json", "http://127.0.0.1:1/gone.json")
    (folder / "openapi-mcp.toml").write_text(text)
    assert len(changes_of_apis(opened(folder))) == waits + 1
    assert RETRY_API >= 1
