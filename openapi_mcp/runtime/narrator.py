"""`Narrator`: tells a client of its call: the progress it gave a token for, the events of the levels it wants to hear.

Nothing is said to who did not ask, nothing after the answer, and never a credential or the value of a query.
Specification: basic/utilities/progress, server/utilities/logging.
"""

import time
from typing import Any

import httpx

from . import media_types, streams
from .listener import Listener
from .progress import Notify, Progress
from .protocol import LogLevel, ToolCall, jsonrpc


class Narrator(Listener):
    """A listener for the client of one call.

    An answer that is no text is not spoken of while it comes if it has at most `max_binary_bytes`: so many are part of
    the result, which after a notification might have no room for them.
    """

    def __init__(self, call: ToolCall, notify: Notify, *, max_binary_bytes: int = 0) -> None:
        self.told = False
        self._call = call
        self._tool = call.name
        self._notify = notify
        self._max_binary_bytes = max_binary_bytes
        self._progress = None if call.progress_token is None else Progress(call, self._say)
        self.counts = self._progress is not None
        self._asked_at = 0.0

    def hears(self, level: LogLevel, /) -> bool:
        """As of Listener."""
        return self._call.hears(level)

    def calling(self, tool: str) -> None:
        """As of Listener."""
        self._tool = tool

    async def note(self, level: LogLevel, message: str, **facts: Any) -> None:
        """As of Listener."""
        notification = self._call.log(level, {"message": message, "tool": self._tool, **facts})
        if notification is not None:
            await self._say(jsonrpc.encode(notification))

    async def asked(self, request: httpx.Request) -> None:
        """As of Listener."""
        self._asked_at = time.monotonic()
        if self._progress is not None:
            self._progress.begin("sent", len(request.content))
        if self.hears("debug"):
            await self.note("debug", "The request is sent.", method=request.method, url=_shown(request.url))

    async def sent(self, count: int) -> None:
        """As of Listener."""
        if self._progress is not None:
            await self._progress.move(count)

    async def answering(self, response: httpx.Response) -> None:
        """As of Listener."""
        if self._progress is None:
            return
        content_type, total = response.headers.get("content-type", ""), _length(response)
        if streams.kind_of(content_type) or (self._is_kept(total) and not media_types.is_text(content_type)):
            self._progress.leave()
        else:
            self._progress.begin("received", total)

    async def received(self, count: int) -> None:
        """As of Listener."""
        if self._progress is not None:
            await self._progress.move(count)

    async def entry(self, text: str) -> None:
        """As of Listener."""
        if self._progress is not None:
            await self._progress.entry(text)

    async def answered(self, response: httpx.Response) -> None:
        """As of Listener."""
        if not self.hears("info"):
            return
        seconds = round(time.monotonic() - self._asked_at, 3)
        facts = {"status": response.status_code, "bytes": len(response.content), "seconds": seconds}
        await self.note("info", "The API answered.", **facts)

    async def retrying(self, tried: int, why: str, wait: float) -> None:
        """As of Listener."""
        message = f"The API did not do it ({why}); it is asked again in {wait:.1f} seconds."
        await self.note("warning", message, attempt=tried, why=why, wait_seconds=round(wait, 3))

    def _is_kept(self, total: int | None) -> bool:
        return total is None or total <= self._max_binary_bytes

    async def _say(self, message: bytes) -> None:
        self.told = True
        await self._notify(message)


def _length(response: httpx.Response) -> int | None:
    """How many bytes will be transferred, where the answer says so."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _shown(url: httpx.URL) -> str:
    """A URL without user, password and the values of its query, any of which may be a secret."""
    names = [pair.partition("=")[0] for pair in url.query.decode("ascii").split("&") if pair]
    query = "?" + "&".join(f"{name}=…" for name in names) if names else ""
    path = url.raw_path.decode("ascii").partition("?")[0]
    return f"{url.scheme}://{url.netloc.decode('ascii')}{path}{query}"
