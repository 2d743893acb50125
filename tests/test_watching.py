"""Whether a document changed: files in all the ways they are replaced, URLs by what their server says."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.fetch import Fetcher
from openapi_mcp.watching import Addresses, Files, changes, digest_of
from tests.servers import running

LIMIT = 20.0
"""Seconds after which a test has failed; what it waits for comes in a few hundredths of one."""

TOLD = 0.3
"""Seconds in which a file that did not change is not reported."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def after(change: Callable[[], object], wait: Callable[[], Awaitable[None]]) -> None:
    """Start waiting, change something, and fail unless that ends the wait."""

    async def run() -> None:
        waiting = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        await asyncio.to_thread(change)
        await asyncio.wait_for(waiting, LIMIT)

    asyncio.run(run())


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def rewrite(path: Path) -> None:
    path.write_text("new")


def replace(path: Path) -> None:
    path.with_name("written first").write_text("new")
    path.with_name("written first").replace(path)


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [rewrite, replace, remove])
def test_a_file_that_changes_is_noticed(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = write(tmp_path / "a.yaml", "old")
    after(lambda: change(path), Files({path: digest("old")}).changed)


def test_a_file_that_was_missing_is_noticed_when_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    after(lambda: rewrite(path), Files({path: None}).changed)


def test_a_link_that_leads_elsewhere_is_noticed(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "a.yaml", name)
    (tmp_path / "now").symlink_to("old")
    (tmp_path / "a.yaml").symlink_to("now/a.yaml")

    def turn() -> None:
        (tmp_path / "next").symlink_to("new")
        (tmp_path / "next").replace(tmp_path / "now")

    after(turn, Files({tmp_path / "a.yaml": digest("old")}).changed)


def test_what_changed_before_anybody_waited_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "new")
    after(lambda: None, Files({path: digest("old")}).changed)


def test_a_file_that_was_only_touched_has_not_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "old")

    async def run() -> None:
        waiting = asyncio.ensure_future(Files({path: digest("old")}).changed())
        await asyncio.sleep(0)
        os.utime(path)
        write(tmp_path / "another.yaml", "new")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), TOLD)
        rewrite(path)
        await asyncio.wait_for(waiting, LIMIT)

    asyncio.run(run())


class Site:
    """A server of one text; `conditional` says whether it answers conditions, as most do."""

    def __init__(self, *, conditional: bool) -> None:
        self.text = "old"
        self.conditional = conditional
        self.statuses: list[int] = []
        self.asked_thrice = threading.Event()

    async def answer(self, request: Request) -> Response:
        tag = f'"{digest(self.text)}"'
        unchanged = self.conditional and request.headers.get("if-none-match") == tag
        headers = {"ETag": tag} if self.conditional else {}
        self.statuses.append(304 if unchanged else 200)
        if len(self.statuses) == 3:
            self.asked_thrice.set()
        return PlainTextResponse("" if unchanged else self.text, self.statuses[-1], headers)


@pytest.mark.parametrize("conditional", [True, False])
def test_a_url_that_changes_is_noticed(conditional: bool) -> None:
    site = Site(conditional=conditional)

    async def run(url: str) -> None:
        addresses = Addresses(Fetcher(url), {url: digest("old")}, 0.01)
        waiting = asyncio.ensure_future(addresses.changed())
        assert await asyncio.to_thread(site.asked_thrice.wait, LIMIT)
        assert not waiting.done()
        site.text = "new"
        await asyncio.wait_for(waiting, LIMIT)

    with running(Starlette(routes=[Route("/a.yaml", site.answer)])) as base_url:
        asyncio.run(asyncio.wait_for(run(f"{base_url}/a.yaml"), LIMIT))
    assert set(site.statuses[1:-1]) == {304 if conditional else 200}


def test_a_url_that_cannot_be_reached_has_not_changed() -> None:
    async def run() -> None:
        addresses = Addresses(Fetcher("http://127.0.0.1:9"), {"http://127.0.0.1:9": digest("old")}, 0.01)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(addresses.changed(), TOLD)

    asyncio.run(run())


PART = "{get: {operationId: a, responses: {default: {description: d}}}}"
WHOLE = "{openapi: 3.1.0, info: {title: T, version: '1'}, paths: {/a: {$ref: part.yaml}}}"


@pytest.mark.parametrize("changed", ["whole.yaml", "part.yaml", "settings.toml"])
def test_every_file_that_a_bridge_is_made_of_is_watched(tmp_path: Path, changed: str) -> None:
    write(tmp_path / "part.yaml", PART)
    document = write(tmp_path / "whole.yaml", WHOLE)
    settings = write(tmp_path / "settings.toml", "retries = 1")
    files, addresses = changes(Bridge.open(Config(source=str(document))), {settings: digest_of(settings)})
    after(lambda: rewrite(tmp_path / changed), files)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(addresses(), 0.05)

    asyncio.run(run())
