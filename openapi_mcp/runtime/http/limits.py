"""Limits on incoming messages: size, time to arrive, and how many are handled at once. Beyond them: 413, 408, 503.

A limit is checked before the work that it limits begins, so a refused request costs nothing.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from ..protocol import jsonrpc
from .responses import HTTPError

RECEIVE_TIMEOUT: Final = 30.0
"""Seconds that a message may take to arrive: 4 MiB in that time is a poor line."""

MAX_CONCURRENCY: Final = 256
"""Messages that one process handles at once: a GiB if all are as long as they may be."""

MAX_STREAMS: Final = 512
"""Streams that one process holds open: half the files that a process usually may have open."""

_RETRY_AFTER: Final = "1"
"""Seconds; most calls take less."""


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads messages of at most `max_bytes` that arrive within `seconds`."""

    max_bytes: int
    seconds: float

    async def read(self, receive: Receive, headers: Mapping[str, str]) -> Any:
        """Return the JSON value in the body of a request.

        Raises HTTPError: 413 for a body beyond `max_bytes`, 408 for one that does not arrive in time, 400 for one that
        is not JSON. Raises ClientDisconnect.
        """
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self.max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.seconds):
                body = await self._body(receive)
        except TimeoutError:
            message = f"The message did not arrive within {self.seconds:g} seconds."
            raise HTTPError(408, message, headers={"Connection": "close"}) from None
        try:
            return jsonrpc.decode(body)
        except jsonrpc.InvalidJson as problem:
            raise HTTPError(400, str(problem), code=jsonrpc.PARSE_ERROR, request_id=problem.request_id) from None

    async def _body(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self.max_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> HTTPError:
        return HTTPError(413, f"A message may have at most {self.max_bytes} bytes.")


class Capacity:
    """A context manager that admits at most `limit` at once; None admits any number. `noun` (plural) names them.

    Entering raises HTTPError (503) when `limit` is reached.
    """

    def __init__(self, limit: int | None, noun: str) -> None:
        self._limit = limit
        self._noun = noun
        self._count = 0

    def __enter__(self) -> None:
        if self._limit is not None and self._count >= self._limit:
            message = f"The server handles at most {self._limit} {self._noun}; try again later."
            raise HTTPError(503, message, code=jsonrpc.INTERNAL_ERROR, headers={"Retry-After": _RETRY_AFTER})
        self._count += 1

    def __exit__(self, *_: object) -> None:
        self._count -= 1
