"""A request's body in pieces, each counted once it is on its way; it can be sent as often as need be.

Only that a body comes in pieces differs from httpx's own; the length is known and said in the same header.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import httpx

PIECE: Final = 64 * 1024
"""Bytes written at once: as much as a socket takes without waiting."""


class CountedBody(httpx.AsyncByteStream):
    """A body that tells after each piece how many bytes were taken; every iteration begins anew."""

    def __init__(self, content: bytes, tell: Callable[[int], Awaitable[None]]) -> None:
        self._content = content
        self._tell = tell

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), PIECE):
            piece = self._content[start : start + PIECE]
            yield piece
            await self._tell(start + len(piece))


def count(request: httpx.Request, tell: Callable[[int], Awaitable[None]]) -> None:
    """Make the body of a request tell how it is sent, if it is more than one piece."""
    if len(request.content) > PIECE:
        request.stream = CountedBody(request.content, tell)
