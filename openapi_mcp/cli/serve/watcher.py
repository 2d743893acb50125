"""Wait for a document to change, for `--watch`: files by notifications of the operating system, URLs by requests.

Content counts: a file that was only touched has not changed. Editors, `git checkout` and container volumes replace
files and links to them, so folders are watched, and files are read by the path that was configured.

Specification: RFC 9110 §13 (conditional requests).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from ... import regular_files
from ...bridge import Bridge
from ...document.addresses import is_remote, local_path, real_path
from ...document.fetcher import Fetched, Fetcher
from ...egress.policy import EgressPolicy
from ...errors import BridgeError
from .threads import in_daemon_thread

if TYPE_CHECKING:
    from ...gateway.gateway import Gateway

POLL_INTERVAL: Final = 1.0
"""Seconds between two checks of the files' dates: not every file system notifies, and early changes are missed."""

RETRY_API: Final = 60.0
"""Seconds until an API of several whose URL could not be loaded is tried again."""

Stamp: TypeAlias = tuple[int, int, int] | None
"""Modification time, size and inode of a file; None if there is no file."""


def changes(bridge: Bridge, settings: Mapping[Path, str | None] = {}) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return functions that wait until a file or URL of a bridge changes; `settings` is as of FileWatcher.

    Each waits for one kind of source, and may be called again after it has returned.
    """
    info, source = bridge.document_info, bridge.config.source
    digests: dict[str, str | None] = dict.fromkeys(info.unread) | dict(info.digests)
    digests |= bridge.workflows.digests if bridge.workflows else {}
    root = digests.pop(info.uri, None)
    addresses = {uri: digest for uri, digest in digests.items() if is_remote(uri)}
    paths = {local_path(uri): digest for uri, digest in digests.items() if uri.startswith("file:")}
    if is_remote(source):
        addresses[source] = root
    elif source != "-":
        paths[local_path(source)] = root
    paths |= settings
    options = bridge.config.compile_options
    home, policy = source if is_remote(source) else "", EgressPolicy(options.egress)
    fetcher = Fetcher(home, options.headers, certificates=options.certificates, egress=policy)
    return FileWatcher(paths).changed, UrlWatcher(fetcher, addresses, bridge.config.watch_interval).changed


def changes_of_apis(
    gateway: "Gateway", settings: Mapping[Path, str | None] = {}
) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return such functions for all APIs of a gateway; one that could not be loaded is tried again.

    Its files are compared with their content now: else the failure would be repeated at once.
    """
    failed = {failure.name: failure.source for failure in gateway.failures}
    loaded = [bridge for name, bridge in gateway.bridges.items() if name not in failed]
    waits = [wait for bridge in loaded for wait in changes(bridge)]
    uris = {uri for name in failed if name in gateway.bridges for uri in gateway.bridges[name].document_info.digests}
    sources = {source for source in failed.values() if not is_remote(source)}
    paths = {local_path(each) for each in (*sources, *(uri for uri in uris if uri.startswith("file:")))}
    waits.append(FileWatcher({**{path: digest_of(path) for path in paths}, **settings}).changed)
    if any(map(is_remote, failed.values())):
        waits.append(partial(asyncio.sleep, RETRY_API))
    return tuple(waits)


class FileWatcher:
    """A watcher of local files. `digests` are of their contents as they were read, by path; None for a missing file."""

    def __init__(self, digests: Mapping[Path, str | None]) -> None:
        self._digests = dict(digests)
        self._stamps: dict[Path, Stamp] = {}

    async def changed(self) -> None:
        """Return as soon as the content of a file has changed."""
        from watchfiles import awatch

        folders = {folder for path in self._digests for folder in (path.absolute().parent, real_path(path).parent)}
        existing = [folder for folder in folders if folder.is_dir()]
        if not existing:
            await asyncio.Event().wait()
        notifications = awatch(
            *existing,
            watch_filter=None,
            recursive=False,
            rust_timeout=int(POLL_INTERVAL * 1000),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        async for _ in notifications:
            if await in_daemon_thread(self._check):
                return

    def _check(self) -> bool:
        """Return whether a content has changed since the last check; reads files of a new date or size only."""
        changed = False
        for path, digest in self._digests.items():
            stamp = _stamp(path)
            if path not in self._stamps or stamp != self._stamps[path]:
                self._stamps[path] = stamp
                self._digests[path] = digest_of(path)
                changed = changed or self._digests[path] != digest
        return changed


class UrlWatcher:
    """A watcher of URLs, which requests each every `interval` seconds, on the condition that it has changed."""

    def __init__(self, fetcher: Fetcher, digests: Mapping[str, str | None], interval: float) -> None:
        self._fetcher = fetcher
        self._digests = dict(digests)
        self._validators: dict[str, Mapping[str, str]] = {}
        self._interval = interval

    async def changed(self) -> None:
        """Return as soon as the content of a URL has changed. A URL without a response has not changed."""
        if not self._digests:
            await asyncio.Event().wait()
        changed = False
        while not changed:
            await asyncio.sleep(self._interval)
            changed = await in_daemon_thread(self._check)

    def _check(self) -> bool:
        changes = [self._has_changed(url) for url in self._digests]  # every URL, so that its new state is noted
        return any(changes)

    def _has_changed(self, url: str) -> bool:
        with suppress(BridgeError):  # the certificate files may be being replaced just now
            fetched = self._fetcher.get_again(url, regular_files.MAX_DOCUMENT_BYTES, self._validators.get(url, {}))
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
    """Return the SHA-256 of a regular file in hexadecimal; None if it cannot be read or is too large."""
    try:
        return regular_files.digest_of(path, regular_files.MAX_DOCUMENT_BYTES)
    except (OSError, ValueError):
        return None
