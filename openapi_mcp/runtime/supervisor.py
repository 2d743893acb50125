"""`Supervisor`: what the parent of several serving processes does with signals; it lies over uvicorn's `Multiprocess`.

SIGHUP is passed on to the processes, where uvicorn would begin them anew. SIGINT and SIGTERM end all of them, and are
all that ends them well.
"""

import inspect
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp

from . import terminal

if TYPE_CHECKING:
    from uvicorn.supervisors import Multiprocess as _Base
else:
    _Base = object


class Supervisor(_Base):
    """`stopped` is whether it was told to end; if not, a process could not begin."""

    stopped = False

    def init_processes(self) -> None:
        """Begin all processes."""
        with _without_sighup():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Begin another process for each that died."""
        with _without_sighup():
            super().keep_subprocess_alive()

    def handle_hup(self) -> None:
        """Each process may do with it what it likes, unless it means that nobody is there any more."""
        if terminal.is_gone():
            self.handle_term()
            return
        for process in self.processes:
            if process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)

    def handle_int(self) -> None:
        """End."""
        self._stop()
        super().handle_int()

    def handle_term(self) -> None:
        """End."""
        self._stop()
        super().handle_term()

    def _stop(self) -> None:
        """As long as any process had the socket open, clients would wait in vain instead of being refused."""
        self.stopped = True
        for listener in self.sockets:
            listener.close()


@dataclass(frozen=True, slots=True)
class Ready:
    """A factory in a process of its own, which hears SIGHUP once its application is there to deal with it."""

    factory: Callable[[], ASGIApp]

    def __call__(self) -> ASGIApp:
        """The application."""
        app = self.factory()
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        return app


def supervise(config: Any, listener: socket.socket) -> Supervisor:
    """A supervisor, of whatever uvicorn there is, for its `Config`."""
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    class Made(Supervisor, Multiprocess):
        """Both."""

    wanted = inspect.signature(Multiprocess.__init__).parameters  # older versions want to know what to run
    target: dict[str, Any] = {"target": uvicorn.Server(config).run} if "target" in wanted else {}
    return Made(config, sockets=[listener], **target)


@contextmanager
def _without_sighup() -> Iterator[None]:
    """Processes that are started within the block hold SIGHUP back, which would end them before they can hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
