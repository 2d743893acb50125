"""`Listener`: what can be heard of one call while it is made; this one is told all of it and does nothing with it.

Whoever tells waits until it is heard, so that a slow client slows its call and nothing piles up.
"""

from typing import Any, Final

import httpx

from .protocol import LogLevel


class Listener:
    """Hears of one call. What is sent and received is only counted for a listener that `counts`.

    `told` is whether it passed anything on to the client, so that the answer will be one event of a stream.
    """

    counts = False
    told = False

    def hears(self, _level: LogLevel, /) -> bool:
        """Whether the client wants to hear of events of this level."""
        return False

    async def note(self, level: LogLevel, message: str, **facts: Any) -> None:
        """Something happened that the client may want to hear of; the facts are JSON values."""

    def calling(self, tool: str) -> None:
        """A call of this tool begins, and what is heard from now on is about it."""

    async def asked(self, request: httpx.Request) -> None:
        """A request is about to be sent: the first, or after a redirect or a failure the next."""

    async def sent(self, count: int) -> None:
        """So many bytes of the request's body are on their way."""

    async def answering(self, response: httpx.Response) -> None:
        """The head of an answer is there; its body is still to come."""

    async def received(self, count: int) -> None:
        """So many bytes of the answer's body have come, as they were transferred."""

    async def entry(self, text: str) -> None:
        """One more entry of a successful answer that is a stream (see `streams`)."""

    async def answered(self, response: httpx.Response) -> None:
        """An answer is there with its body."""

    async def retrying(self, tried: int, why: str, wait: float) -> None:
        """Attempt number `tried` failed, and why; there will be another one in `wait` seconds."""


SILENT: Final = Listener()
"""For calls of which nobody wants to hear."""
