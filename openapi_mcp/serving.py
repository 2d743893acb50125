"""Puts a bridge's server on stdio until it is told to stop, and keeps its tools at what the document says.

Whoever runs it is told on stderr what is served, and what becomes of that; stdout belongs to the client. A server on
stdio starts without what listens on a port (`listening`).
"""

import asyncio
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from . import report
from .bridge import Bridge
from .opening import Opening
from .reloading import HANGUP, Reloader, on_stderr
from .runtime import stdio


def end_on_signals() -> None:
    """From now on SIGINT and SIGTERM end the process with 0: being stopped is how a server ends, and not a failure.

    While a transport serves it has handlers of its own, which finish what is in flight; uvicorn raises the signal again
    once it has stopped, and then it arrives here. SIGHUP waits for who can do something about it.
    """
    if HANGUP is not None:
        signal.signal(HANGUP, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))


def over_stdio(opening: Opening, bridge: Bridge) -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""

    async def serve() -> None:
        async with reloader.running():
            await stdio.serve(reloader.live)

    reloader = Reloader(opening, bridge, on_stderr)
    say(bridge, ["stdio: this process's stdin and stdout"])
    with drift_summed_up(reloader):
        asyncio.run(serve())


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
