"""Run an ASGI application in several processes, under a parent that restarts them; uvicorn's `Multiprocess` does it.

SIGHUP is passed on to the processes, which uvicorn would restart instead. SIGINT and SIGTERM end all of them; any other
end of the parent is a failure, which the processes notice by the end of a pipe and end too: nobody would replace them.
"""

import inspect
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.types import ASGIApp

from .. import background, stdio_streams
from . import hosting

if TYPE_CHECKING:
    from uvicorn.supervisors import Multiprocess as _Base
else:
    _Base = object

logger = logging.getLogger("openapi_mcp")


class Supervisor(_Base):
    """The parent of the worker processes. `stopped` after `run`: a signal ended it; else a process could not start."""

    required = ("handle_hup", "handle_int", "handle_term", "init_processes", "keep_subprocess_alive")
    """Methods of uvicorn's `Multiprocess` that this class overrides, which is why it has to have them."""

    stopped = False

    def init_processes(self) -> None:
        """Start all processes."""
        with _without_sighup():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Start a process for each that died."""
        with _without_sighup():
            super().keep_subprocess_alive()

    def handle_hup(self) -> None:
        """Pass SIGHUP on to all processes; end them if it came because the terminal is gone."""
        if stdio_streams.terminal_hung_up():
            self.handle_term()
            return
        for process in self.processes:
            if process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)

    def handle_int(self) -> None:
        """End all processes."""
        self._stop()
        super().handle_int()

    def handle_term(self) -> None:
        """End all processes."""
        self._stop()
        super().handle_term()

    def _stop(self) -> None:
        self.stopped = True
        # While any process has the socket open, clients wait for an answer instead of being refused.
        for listener in self.sockets:
            listener.close()


@dataclass(frozen=True, slots=True)
class ReadyFactory:
    """A factory of an application that unblocks SIGHUP once the application can handle it. It can be pickled."""

    factory: Callable[[], ASGIApp]

    def __call__(self) -> ASGIApp:
        """Return the application."""
        app = self.factory()
        background.collect_rarely()
        threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        return app


_SECONDS_AFTER_PARENT: Final = 2.0
"""Seconds that a process without a parent has besides the grace period for calls."""


def _end_with_parent() -> None:
    """Wait until the parent of this process is dead, however it died; end this process like SIGTERM, or at last so."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    signal.raise_signal(signal.SIGTERM)
    time.sleep(hosting.GRACE_PERIOD + _SECONDS_AFTER_PARENT)
    os._exit(1)


def supervise(config: Any, listener: socket.socket) -> Any:
    """Return a Supervisor for a `uvicorn.Config`; uvicorn's own in a version that lacks what it overrides."""
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    class WorkerSupervisor(Supervisor, Multiprocess):
        """The signal handling of one on the processes of the other."""

    missing = [name for name in Supervisor.required if not hasattr(Multiprocess, name)]
    if missing:
        logger.warning("SIGHUP restarts the workers: not supported with this version of uvicorn (%s).", missing)
    parameters = inspect.signature(Multiprocess.__init__).parameters  # older versions take the function to run
    target: dict[str, Any] = {"target": uvicorn.Server(config).run} if "target" in parameters else {}
    return (Multiprocess if missing else WorkerSupervisor)(config, sockets=[listener], **target)


@contextmanager
def _without_sighup() -> Iterator[None]:
    """Block SIGHUP in processes that are started meanwhile: it would end them before they have a handler."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def serve_workers(factory: Callable[[], ASGIApp], listener: socket.socket, workers: int) -> None:
    """Serve in `workers` processes, each with its own application, until SIGINT or SIGTERM comes.

    `factory` is pickled, and called in each process (in its event loop, on the main thread). A process that dies is
    replaced. Raises RuntimeError after ending all of them when one cannot start.
    """
    supervisor = supervise(hosting.server_config(ReadyFactory(factory), workers=workers), listener)
    supervisor.run()
    if not getattr(supervisor, "stopped", True):  # uvicorn's own does not tell
        raise RuntimeError("A worker could not start; its error is above.")
