"""Serve a bridge on stdio until stdin ends or a signal comes; signals and messages are shared with `http`.

Messages for the user go to stderr; stdout belongs to the client. A start on stdio imports nothing of `http`.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ...bridge import Bridge
from ...errors import UsageError
from ...runtime import stdio
from .. import console, report
from ..settings import Settings
from .reload import HANGUP, Reloader, warn

if TYPE_CHECKING:
    from ...gateway.gateway import Served


class StopHandler:
    """Handler of SIGINT and SIGTERM while no transport has handlers of its own: the process ends with exit code 0.

    Being stopped is how a server ends, not a failure. Before an event loop runs (`loop_runs`) there is nothing to clean
    up, and the process ends at once: an exception out of nowhere would leave half of an object behind.
    """

    loop_runs = False

    def __call__(self, _number: int, _frame: object) -> None:
        """End the process."""
        if self.loop_runs:
            sys.exit(0)
        os._exit(
            0
        )  # without a flush: the signal may have come within a write to stderr, which flushes each line itself


STOP_HANDLER: Final = StopHandler()


def handle_signals() -> None:
    """Install STOP_HANDLER, and ignore SIGHUP until a Reloader handles it.

    While a transport serves it has handlers of its own, which finish calls in flight; uvicorn raises the signal again
    once it has stopped, and then it arrives here.
    """
    if HANGUP is not None:
        signal.signal(HANGUP, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, STOP_HANDLER)


def serve(settings: Settings, served: "Served") -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""

    async def run() -> None:
        async with reloader.running():
            await stdio.serve(reloader.live)

    console.use_format(served.config.log_format, quiet=served.config.quiet)
    if served.config.metrics:
        raise UsageError("metrics are served over HTTP only", where="--metrics", hint="add --transport http")
    if served.config.sign_in_url:
        hint = "use --sign-in-port over stdio, or add --transport http"
        raise UsageError(
            "--sign-in-url needs a server over HTTP, which has the pages", where="--sign-in-url", hint=hint
        )
    reloader = Reloader(settings, served)
    print_start(served, ["stdio: this process's stdin and stdout"])
    with drift_summary(reloader):
        _run(run())


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on uvloop where it is installed (see `pyproject.toml`): half as many calls again."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def print_start(served: "Served", connection: Sequence[str]) -> None:
    """Print on stderr what is served and how to connect; an API that is not served is an error."""
    if isinstance(served, Bridge):
        console.info(report.serving(served, connection))
        return
    from . import gateway_report

    console.info(gateway_report.serving(served, connection))
    for failure in served.failures:
        warn(f"{failure.name} {gateway_report.failure_line(failure)}")


@contextmanager
def drift_summary(reloader: Reloader) -> Iterator[None]:
    """Print the summary of a contract check on stderr when the block ends, in whatever way."""
    try:
        yield
    finally:
        for drift in reloader.served.drifts:
            drift.close()
            console.err("\n".join(drift.summary()), "warning")
