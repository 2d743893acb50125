"""Work in a thread that neither the event loop nor the end of the process waits for."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[[], T]) -> T:
    """Run a function in a thread, and return or raise what it does; the process ends without waiting for the thread.

    Reading and compiling a document may take minutes, and a signal must end the server within a second.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(deliver_to: Callable[[Any], None], outcome: object) -> None:
        if not future.done():
            deliver_to(outcome)

    def run() -> None:
        try:
            outcome: tuple[Callable[[Any], None], object] = (future.set_result, function())
        except BaseException as error:  # noqa: BLE001  raised where the function is awaited
            outcome = (future.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(deliver, *outcome)

    threading.Thread(target=run, name="document", daemon=True).start()
    return await future
