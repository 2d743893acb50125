"""Shows what long work is doing: on a terminal only, on stderr only, and only once it has taken a second."""

import sys
import threading
from types import TracebackType
from typing import Final, Self

PATIENCE: Final = 1.0
"""Seconds before anything is shown: a person takes what is quicker for an immediate answer."""


class Progress:
    """A line on the terminal that says what is being done; call it with each new step.

    with Progress("reading petstore.yaml") as progress:
        progress("checking it")
    """

    def __init__(self, step: str) -> None:
        self.step = step
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __call__(self, step: str) -> None:
        """Say what is done now."""
        self.step = step

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _show(self) -> None:
        if self._done.wait(PATIENCE):
            return
        from rich.console import Console

        with Console(stderr=True).status(self.step) as status:
            while not self._done.wait(0.1):
                status.update(self.step)
