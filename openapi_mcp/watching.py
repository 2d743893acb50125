"""Waits until a document is another one: files by the system's notifications, URLs by asking whether they changed.

What counts is the content: a file that was only touched has not changed. Editors, `git checkout` and volumes of
containers replace files and links to them, so what is watched is the folders, and what is read is the path as it was
given. Specification: RFC 9110 §13 (conditional requests).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from .bridge import Bridge
from .document import DEFAULT_LIMITS
from .errors import DocumentError
from .fetch import Fetched, Fetcher, is_remote
from .sources import local_path

LOOK: Final = 1.0
"""Seconds between two looks at the files' dates: not every file system notifies, and of a start some come too early."""

Stamp: TypeAlias = tuple[int, int, int] | None
"""When a file was written, its size, and which file it is; None where there is none."""


def changes(bridge: Bridge, settings: Mapping[Path, str | None] = {}) -> tuple[Callable[[], Awaitable[None]], ...]:
    """What to wait for, to know that a bridge is no longer of what it was made of; `settings` is as of Files.

    Each waits for one kind of source, and goes on from where it was when it is awaited again.
    """
    origin, source = bridge.origin, bridge.config.source
    digests: dict[str, str | None] = dict.fromkeys(origin.unread) | dict(origin.digests)
    root = digests.pop(origin.uri, None)
    addresses = {uri: digest for uri, digest in digests.items() if is_remote(uri)}
    paths = {local_path(uri): digest for uri, digest in digests.items() if uri.startswith("file:")}
    if is_remote(source):
        addresses[source] = root
    elif source != "-":
        paths[local_path(source)] = root
    paths |= settings
    fetcher = Fetcher(source if is_remote(source) else "", bridge.config.spec_headers)
    return Files(paths).changed, Addresses(fetcher, addresses, bridge.config.watch_interval).changed


class Files:
    """Local files. `digests` are of the contents that are known, by path; None for a file that was not there."""

    def __init__(self, digests: Mapping[Path, str | None]) -> None:
        self._digests = dict(digests)
        self._stamps: dict[Path, Stamp] = {}

    async def changed(self) -> None:
        """Return as soon as a file holds something else than it did."""
        from watchfiles import awatch

        folders = {folder for path in self._digests for folder in (path.absolute().parent, path.resolve().parent)}
        existing = [folder for folder in folders if folder.is_dir()]
        if not existing:
            await asyncio.Event().wait()
        looks = awatch(
            *existing,
            watch_filter=None,
            recursive=False,
            rust_timeout=int(LOOK * 1000),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        async for _ in looks:
            if await asyncio.to_thread(self._look):
                return

    def _look(self) -> bool:
        """Whether a file is another one than at the last look; a file is only read when its date or size is new."""
        changed = False
        for path, digest in self._digests.items():
            stamp = _stamp(path)
            if path not in self._stamps or stamp != self._stamps[path]:
                self._stamps[path] = stamp
                self._digests[path] = digest_of(path)
                changed = changed or self._digests[path] != digest
        return changed


class Addresses:
    """Documents from URLs, of which every `interval` seconds is asked whether they changed."""

    def __init__(self, fetcher: Fetcher, digests: Mapping[str, str | None], interval: float) -> None:
        self._fetcher = fetcher
        self._digests = dict(digests)
        self._validators: dict[str, Mapping[str, str]] = {}
        self._interval = interval

    async def changed(self) -> None:
        """Return as soon as a URL answers with something else than it did. One that does not answer has not changed."""
        if not self._digests:
            await asyncio.Event().wait()
        asked = False
        while not asked:
            await asyncio.sleep(self._interval)
            asked = await asyncio.to_thread(self._ask)

    def _ask(self) -> bool:
        new = [self._is_new(url) for url in self._digests]  # all of them: what is new is noted
        return any(new)

    def _is_new(self, url: str) -> bool:
        with suppress(DocumentError):
            fetched = self._fetcher.get_again(url, DEFAULT_LIMITS.file_bytes, self._validators.get(url, {}))
            return fetched is not None and self._note(url, fetched)
        return False

    def _note(self, url: str, fetched: Fetched) -> bool:
        self._validators[url] = fetched.validators
        before, self._digests[url] = self._digests[url], hashlib.sha256(fetched.data).hexdigest()
        return before != self._digests[url]


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a file, in hexadecimal; None where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
