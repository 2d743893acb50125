"""Limits on incoming messages: size, time to arrive, and how many are handled at once. Beyond them: 413, 408, 429, 503.

A limit is checked before the work that it limits begins, so a refused request costs nothing.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from .. import background
from ..protocol import jsonrpc
from ..upstream.shares import ADDRESS_RATIO, CLIENT_RATIO, NO_LIMIT, Caller, Shares
from .responses import HTTPError

RECEIVE_TIMEOUT: Final = 30.0
"""Seconds that a message may take to arrive: 4 MiB in that time is a poor line."""

MAX_CONCURRENCY: Final = 320
"""Calls that one process makes at once, and messages that it receives at once; 256 of them for one client."""

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
            if jsonrpc.takes_long(body):
                return await background.run("large", jsonrpc.decode_in_steps, body)
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
    """Places for at most `limit` requests at once, shared among callers; None admits any number.

    `noun` (plural) names what has a place.
    """

    def __init__(self, limit: int | None, noun: str) -> None:
        self._shares: Shares[Caller] = Shares(
            NO_LIMIT if limit is None else limit, (ADDRESS_RATIO, CLIENT_RATIO), tuple
        )
        self._noun = noun

    def place(self, caller: Caller, request_id: jsonrpc.RequestId | None = None) -> "TakenPlace":
        """Give a caller a place, and return the context at whose end it is given back.

        Raises HTTPError, for the request of this id: 503 where there is none, 429 where the rest is for others.
        """
        if not self._shares.take(caller):
            raise self._refusal(caller, request_id)
        return TakenPlace(self._shares, caller)

    def _refusal(self, caller: Caller, request_id: jsonrpc.RequestId | None) -> HTTPError:
        status, message = 503, f"The server handles at most {self._shares.limit} {self._noun}; try again later."
        if self._shares.free > 0:
            count = self._shares.counts(caller, self._shares.numbers())[-1]
            status = 429
            message = (
                f"The rest of the server's {self._shares.limit} {self._noun} is for other clients; this client has "
                f"{count}: wait until some of them end, and try again."
            )
        headers = {"Retry-After": _RETRY_AFTER}
        return HTTPError(status, message, code=jsonrpc.INTERNAL_ERROR, request_id=request_id, headers=headers)


class TakenPlace:
    """A context at whose end a caller gives its place back."""

    __slots__ = ("_caller", "_shares")

    def __init__(self, shares: Shares[Caller], caller: Caller) -> None:
        self._shares = shares
        self._caller = caller

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._shares.give_back(self._caller)
