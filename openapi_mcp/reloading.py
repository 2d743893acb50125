"""Keeps a live server at the newest good version of its document; the old tools serve until the new ones are ready.

A new version that cannot be read, or has no operations, changes nothing but says so: it may be half written.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from . import report
from .bridge import Bridge
from .errors import BridgeError, DocumentError
from .opening import Opening
from .runtime import terminal
from .runtime.live import Live
from .runtime.server import Server
from .watching import changes, digest_of

HANGUP: Final = getattr(signal, "SIGHUP", None)
"""By convention the signal to read one's settings again; Windows has none."""


class Reloader:
    """The bridge that serves now, and how it becomes another one. `say` tells whoever runs the server."""

    def __init__(self, opening: Opening, bridge: Bridge, say: Callable[[str], object]) -> None:
        self.bridge = bridge
        self.live = Live(_server(bridge))
        self._opening = opening
        self._say = say
        self._asked = asyncio.Event()
        self._waits = self._sources(self._settings())
        if HANGUP is not None:
            signal.signal(HANGUP, lambda *_: self._asked.set())  # until an event loop runs, which hears it at once

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the document again meanwhile, whenever SIGHUP asks for it or, if that was wanted, when it changes."""
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
        if terminal.is_gone():
            signal.raise_signal(signal.SIGTERM)
        else:
            self._asked.set()

    async def _run(self) -> None:
        while True:
            await _first([self._asked.wait, *self._waits])
            self._asked.clear()
            await self._reload()

    def _settings(self) -> Mapping[Path, str | None]:
        """The settings file as it is now."""
        return {self._opening.file: digest_of(self._opening.file)} if self._opening.file else {}

    def _sources(self, settings: Mapping[Path, str | None]) -> Sequence[Callable[[], Awaitable[object]]]:
        return changes(self.bridge, settings) if self.bridge.config.watch else ()

    async def _reload(self) -> None:
        """Serve what the document says now, if it says anything."""
        settings = self._settings()  # before it is read: what changes meanwhile is a change
        try:
            bridge = await asyncio.to_thread(self._opening.bridge)
            if not bridge.compiled.operations:
                raise DocumentError("the document has no operations", where=bridge.config.source)
            server = _server(bridge)
        except BridgeError as error:
            self._say(f"the old tools stay, for the document cannot be loaded: {report.one_line(error)}")
            return
        old, self.bridge = self.bridge, bridge
        self.live.replace(server)
        self._waits = self._sources(settings)
        self._say(report.reloaded(old, bridge))


def _server(bridge: Bridge) -> Server:
    """A server that says whether its tools may change: a document from stdin cannot be read twice."""
    can_change = bridge.config.source != "-" and (bridge.config.watch or HANGUP is not None)
    return bridge.server(list_changed=can_change)


def on_stderr(text: str) -> None:
    """Say something to whoever runs the server."""
    sys.stderr.write(f"openapi-mcp: {text}\n")
    sys.stderr.flush()


async def _first(waits: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Return when the first of these does; raises what it raises."""
    tasks = [asyncio.ensure_future(wait()) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
