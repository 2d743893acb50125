"""Watchers notice changed documents: files however they are replaced, URLs by conditional requests."""

import asyncio
import hashlib
import os
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.serve.threads import in_daemon_thread
from openapi_mcp.cli.serve.watcher import FileWatcher, UrlWatcher, changes, digest_of
from openapi_mcp.config import Config
from openapi_mcp.document.fetcher import Fetcher
from tests.servers import running

pytestmark = pytest.mark.slow

LIMIT = 20.0
"""Seconds after which a test fails; changes are noticed within a few hundredths of a second."""

QUIET = 0.3
"""Seconds during which an unchanged file must not be reported."""


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
def test_changed_file_is_noticed(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = write(tmp_path / "a.yaml", "old")
    after(lambda: change(path), FileWatcher({path: digest("old")}).changed)


def test_created_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    after(lambda: rewrite(path), FileWatcher({path: None}).changed)


def test_redirected_link_is_noticed(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "a.yaml", name)
    (tmp_path / "now").symlink_to("old")
    (tmp_path / "a.yaml").symlink_to("now/a.yaml")

    def turn() -> None:
        (tmp_path / "next").symlink_to("new")
        (tmp_path / "next").replace(tmp_path / "now")

    after(turn, FileWatcher({tmp_path / "a.yaml": digest("old")}).changed)


@pytest.mark.slow
def test_change_before_the_wait_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "new")
    after(lambda: None, FileWatcher({path: digest("old")}).changed)


def test_touched_file_has_not_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "old")

    async def run() -> None:
        waiting = asyncio.ensure_future(FileWatcher({path: digest("old")}).changed())
        await asyncio.sleep(0)
        os.utime(path)
        write(tmp_path / "another.yaml", "new")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), QUIET)
        rewrite(path)
        await asyncio.wait_for(waiting, LIMIT)

    asyncio.run(run())


class Site:
    """A server of one text; with `conditional` it answers conditional requests, as most do."""

    def __init__(self, *, conditional: bool) -> None:
        self.text = "old"
        self.conditional = conditional
        self.statuses: list[int] = []
        self.three_requests = threading.Event()

    async def answer(self, request: Request) -> Response:
        tag = f'"{digest(self.text)}"'
        unchanged = self.conditional and request.headers.get("if-none-match") == tag
        headers = {"ETag": tag} if self.conditional else {}
        self.statuses.append(304 if unchanged else 200)
        if len(self.statuses) == 3:
            self.three_requests.set()
        return PlainTextResponse("" if unchanged else self.text, self.statuses[-1], headers)


@pytest.mark.parametrize("conditional", [True, False])
def test_changed_url_is_noticed(conditional: bool) -> None:
    site = Site(conditional=conditional)

    async def run(url: str) -> None:
        addresses = UrlWatcher(Fetcher(url), {url: digest("old")}, 0.01)
        waiting = asyncio.ensure_future(addresses.changed())
        assert await asyncio.to_thread(site.three_requests.wait, LIMIT)
        assert not waiting.done()
        site.text = "new"
        await asyncio.wait_for(waiting, LIMIT)

    with running(Starlette(routes=[Route("/a.yaml", site.answer)])) as base_url:
        asyncio.run(asyncio.wait_for(run(f"{base_url}/a.yaml"), LIMIT))
    assert set(site.statuses[1:-1]) == {304 if conditional else 200}


def test_unreachable_url_has_not_changed() -> None:
    async def run() -> None:
        addresses = UrlWatcher(Fetcher("http://127.0.0.1:9"), {"http://127.0.0.1:9": digest("old")}, 0.01)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(addresses.changed(), QUIET)

    asyncio.run(run())


PART = "{get: {operationId: a, responses: {default: {description: d}}}}"
ROOT_DOCUMENT = "{openapi: 3.1.0, info: {title: T, version: '1'}, paths: {/a: {$ref: part.yaml}}}"


@pytest.mark.parametrize("changed", ["root.yaml", "part.yaml", "settings.toml"])
def test_every_file_of_a_bridge_is_watched(tmp_path: Path, changed: str) -> None:
    write(tmp_path / "part.yaml", PART)
    document = write(tmp_path / "root.yaml", ROOT_DOCUMENT)
    settings = write(tmp_path / "settings.toml", "retries = 1")
    files, addresses = changes(Bridge.open(Config(source=str(document))), {settings: digest_of(settings)})
    after(lambda: rewrite(tmp_path / changed), files)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(addresses(), 0.05)

    asyncio.run(run())


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def put_sparse(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("replace_file", [put_pipe, put_device, put_sparse])
def test_a_file_that_cannot_be_read_any_more_is_a_change_and_watching_goes_on(
    tmp_path: Path, replace_file: Callable[[Path], None]
) -> None:
    path = write(tmp_path / "a.yaml", "old")
    watcher = FileWatcher({path: digest("old")})
    after(lambda: replace_file(path), watcher.changed)

    def put_back() -> None:
        path.unlink()
        write(path, "newer")

    after(put_back, FileWatcher({path: digest_of(path)}).changed)
    assert digest_of(path) == digest("newer")


def test_a_thread_that_does_not_end_keeps_nobody_waiting() -> None:
    hangs = threading.Event()

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_daemon_thread(hangs.wait), 0.05)

    began = time.monotonic()
    asyncio.run(run())  # which would wait for a thread of `asyncio.to_thread`
    assert time.monotonic() - began < 5
    hangs.set()


def test_a_thread_returns_and_raises() -> None:
    def fails() -> None:
        raise OSError("no")

    assert asyncio.run(in_daemon_thread(lambda: 5)) == 5
    with pytest.raises(OSError, match="no"):
        asyncio.run(in_daemon_thread(fails))
