"""Puts a bridge's server on stdio until it is told to stop, and keeps its tools at what the document says.

Whoever runs it is told on stderr what is served, and what becomes of that; stdout belongs to the client. A server on
stdio starts without what listens on a port (`listening`).
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from . import report
from .bridge import Bridge
from .opening import Opening
from .reloading import HANGUP, Reloader, on_stderr
from .runtime import stdio


class Ending:
    """What SIGINT and SIGTERM do while no transport has handlers of its own: they end the process with 0.

    Being stopped is how a server ends, and not a failure. Until an event loop runs (`begun`) there is nothing to be
    tidied up, and an exception that comes from nowhere would only leave half of one behind.
    """

    begun = False

    def __call__(self, _number: int, _frame: object) -> None:
        """End."""
        if self.begun:
            sys.exit(0)
        sys.stderr.flush()
        os._exit(0)


ENDING: Final = Ending()


def end_on_signals() -> None:
    """From now on signals end the process as ENDING says, and SIGHUP waits for who can do something about it.

    While a transport serves it has handlers of its own, which finish what is in flight; uvicorn raises the signal again
    once it has stopped, and then it arrives here.
    """
    if HANGUP is not None:
        signal.signal(HANGUP, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ENDING)


def over_stdio(opening: Opening, bridge: Bridge) -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""

    async def serve() -> None:
        async with reloader.running():
            await stdio.serve(reloader.live)

    reloader = Reloader(opening, bridge, on_stderr)
    say(bridge, ["stdio: this process's stdin and stdout"])
    with drift_summed_up(reloader):
        _run(serve())


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run it on the faster event loop where there is one (see `pyproject.toml`): it makes half as many calls again."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def say(bridge: Bridge, connection: Sequence[str]) -> None:
    """Tell whoever runs the server what is served and how to connect."""
    sys.stderr.write(report.serving(bridge, connection) + "\n")
    sys.stderr.flush()


@contextmanager
def drift_summed_up(reloader: Reloader) -> Iterator[None]:
    """Say on stderr at the end, however it comes, what a contract check found."""
    try:
        yield
    finally:
        if drift := reloader.bridge.drift:
            drift.close()
            sys.stderr.write("\n".join([*drift.summary(), ""]))
