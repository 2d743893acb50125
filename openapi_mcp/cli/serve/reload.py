"""`Reloader` keeps a running server at the newest valid version of its document; `watcher` waits for it to change.

Until a new version is loaded the old tools serve; one that cannot be read or has no operations (it may be half written)
is reported, and the old tools stay.
"""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import ref

from ...bridge import Bridge
from ...config import Config
from ...errors import BridgeError, DocumentError
from ...runtime import stdio_streams
from ...runtime.request.redaction import redact
from ...runtime.server.hooks import Monitor, Observer
from ...runtime.server.reloadable import ReloadableServer
from ...runtime.server.server import Server
from .. import console, destinations, report
from ..settings import Settings
from .threads import in_daemon_thread

if TYPE_CHECKING:  # servers over stdio have no pages, and most serve one API
    from ...gateway.gateway import Served
    from ...oauth.sign_ins import ApiSignIns, UserSignIns
    from ...telemetry.feed import CallFeed

HANGUP: Final = getattr(signal, "SIGHUP", None)
"""SIGHUP, by convention the signal to reload one's settings; None on Windows, which has none."""


RETRY_INTERVAL: Final = 1.0
"""Seconds until a document is watched again after an error that is not the document's."""


def inform(text: str) -> None:
    """Print a line for the user on stderr, unless quiet was chosen."""
    console.info(f"openapi-mcp: {text}")


def warn(text: str) -> None:
    """Print a warning for the user on stderr."""
    console.err(f"openapi-mcp: {text}", "warning")


class Reloader:
    """Holds the APIs that are served and replaces them by newer ones; `inform` and `warn` print a line for the user.

    The calls of each server go to the `feed`, if there is one; `sign_ins` let its users sign in.
    """

    def __init__(
        self,
        settings: Settings,
        served: "Served",
        inform: Callable[[str], object] = inform,
        warn: Callable[[str], object] = warn,
        *,
        feed: "CallFeed | None" = None,
        sign_ins: "UserSignIns | None" = None,
    ) -> None:
        self.served = served
        self.settings = settings
        self.live = ReloadableServer(_server(served, feed, sign_ins))
        self._feed = feed
        self._sign_ins = sign_ins
        self._inform = inform
        self._warn = warn
        self._requested = asyncio.Event()
        self._replaced: ref[Server] | None = None
        self._waits = self._sources(self._settings_digest())
        if HANGUP is not None:
            signal.signal(HANGUP, lambda *_: self._requested.set())  # until an event loop runs, which hears it at once

    @property
    def bridge(self) -> Bridge:
        """The bridge of a server of one API. Raises TypeError where several are served."""
        if not isinstance(self.served, Bridge):
            raise TypeError("Several APIs are served.")
        return self.served

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Reload the document during the block: on SIGHUP and, with --watch, when the document changes."""
        loop = asyncio.get_running_loop()
        if HANGUP is not None:
            loop.add_signal_handler(HANGUP, self._on_hangup)
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _on_hangup(self) -> None:
        if stdio_streams.terminal_hung_up():
            signal.raise_signal(signal.SIGTERM)
        else:
            self._requested.set()

    async def _run(self) -> None:
        while True:
            try:
                await _first([self._requested.wait, *self._waits])
                self._requested.clear()
                await self._reload()
            except Exception as error:  # noqa: BLE001  whatever a document or a file system brings about, watching goes on
                self._warn(f"reload failed, the old tools stay: {type(error).__name__}: {error}")
                await asyncio.sleep(RETRY_INTERVAL)

    def _settings_digest(self) -> Mapping[Path, str | None]:
        """Return the digest of the settings file as it is now, by its path; empty if there is no file."""
        if not self.settings.file:
            return {}
        from .watcher import digest_of

        return {self.settings.file: digest_of(self.settings.file)}

    def _sources(self, settings: Mapping[Path, str | None]) -> Sequence[Callable[[], Awaitable[object]]]:
        if not self.served.config.watch:
            return ()
        from .watcher import changes, changes_of_apis

        if isinstance(self.served, Bridge):
            return changes(self.served, settings)
        return changes_of_apis(self.served, settings)

    async def _reload(self) -> None:
        """Load the document again, and serve its tools if it is valid and has operations."""
        if self._replaced is not None and self._replaced() is not None:
            gc.unfreeze()  # something still has the server before this one: if only a circle does, that is garbage
        settings = self._settings_digest()  # before the file is read, so that a change meanwhile is noticed
        try:
            loaded = await in_daemon_thread(self._load)
        except BridgeError as error:
            self._warn(f"reload failed, the old tools stay: {report.one_line(error)}")
            return
        self.served, self._replaced = loaded.served, ref(self.live.server)
        self.live.replace(loaded.server, lists_same_tools=loaded.lists_same_tools)
        self._waits = self._sources(settings)
        for line in loaded.lines:
            self._inform(line)

    def _load(self) -> "_Loaded":
        """Return what is served of the documents as they are now. Raises BridgeError.

        It is compared with what was served in this thread too: that takes 0.3 s for 20,000 operations.
        """
        with _garbage_collection_deferred():
            served = self.settings.open(previous=self.served, check=destinations.check)
            if isinstance(served, Bridge) and not served.compilation.operations:
                raise DocumentError("the document has no operations", where=redact(served.config.source))
            server = _server(served, self._feed, self._sign_ins)
            same = server.catalog.lists_same_tools(self.live.server.catalog)
            return _Loaded(served, server, same, list(_reloaded(self.served, served)))


class _Loaded(NamedTuple):
    """The documents as they are now, their server, whether it has the list of the one before, and lines about it."""

    served: "Served"
    server: Server
    lists_same_tools: bool
    lines: list[str]


@contextlib.contextmanager
def _garbage_collection_deferred() -> Iterator[None]:
    """Collect no garbage while tools are made: each look at those of 20,000 operations stops all threads for 0.5 s.

    Nor are they looked at later, like those of the start: they go with the last reference to their server.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _reloaded(old: "Served", new: "Served") -> Iterable[str]:
    """Return lines about a reload."""
    if isinstance(old, Bridge) and isinstance(new, Bridge):
        return [report.reloaded(old, new)]
    if isinstance(old, Bridge) or isinstance(new, Bridge):
        return [f"reloaded: {report.plural(len(new.tools), 'tool')}"]
    from . import gateway_report

    return gateway_report.reloaded(old, new)


def _server(served: "Served", feed: "CallFeed | None", sign_ins: "UserSignIns | None" = None) -> Server:
    """Make a server that declares whether its tools may change: a document from stdin cannot be read twice.

    Raises HostChanged: neither at the start nor on a reload does a document take a credential to another host.
    """
    can_change = served.config.source != "-" and (served.config.watch or HANGUP is not None)
    monitor = _monitor(served.config, several=not isinstance(served, Bridge))
    monitor = feed.monitor(monitor) if feed else monitor
    of_api = _sign_ins_of(sign_ins)

    def observer(bridge: Bridge) -> Observer | None:
        return feed.observer(bridge.drift.observe if bridge.drift else None) if feed else None

    if not isinstance(served, Bridge):
        return served.server(list_changed=can_change, monitor=monitor, observer=observer, sign_ins=of_api)
    destinations.check(served)
    return served.server(list_changed=can_change, monitor=monitor, observer=observer(served), sign_ins=of_api(""))


def _sign_ins_of(users: "UserSignIns | None") -> "Callable[[str], ApiSignIns | None]":
    """Return a function that returns the sign-ins of users for an API of some name; None without `--sign-in-url`."""
    if users is None:
        return lambda _: None
    from ...oauth.sign_ins import ApiSignIns

    return lambda api: ApiSignIns(users, api)


def _monitor(config: Config, *, several: bool = False) -> Monitor | None:
    """Return the observer of calls that the options ask for; at a terminal, one that prints a line for each call.

    `several` APIs are told apart in metrics. Raises UsageError.
    """
    call_log = "" if config.quiet else config.log_format or ("text" if console.terminal() else "")
    if not (call_log or config.audit or config.metrics or any(name.startswith("OTEL_") for name in os.environ)):
        return None
    from ...telemetry.monitor import monitor

    return monitor(
        call_log=call_log,
        audit=config.audit,
        audit_arguments=config.audit_arguments,
        metrics=config.metrics is not None,
        several=several,
        write=console.err_line,
        redact=console.safe,
    )


async def _first(waits: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Return when the first of these functions returns; raises its exception."""
    tasks = [asyncio.ensure_future(wait()) for wait in waits]
    try:
        finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in finished:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
