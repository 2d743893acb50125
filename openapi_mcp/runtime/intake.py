"""Taking messages in: how long one may be and take, and how many things may be done at once; beyond that is refused.

A limit is checked before what it limits is begun, so that who is refused has cost nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from .promptly import within
from .protocol import jsonrpc
from .replies import Refused

RECEIVE_TIMEOUT: Final = 30.0
"""Seconds that a message may take to arrive: 4 MiB in that time is a poor line."""

MAX_CONCURRENCY: Final = 256
"""Messages that are dealt with at once, in each process: a GiB if all are as long as they may be."""

MAX_STREAMS: Final = 512
"""Streams that are held open, in each process: half the files that a process usually may have open."""

_RETRY_AFTER: Final = "1"
"""Seconds; most calls take less."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Reads messages of at most `max_bytes` that arrive within `seconds`."""

    max_bytes: int
    seconds: float

    async def read(self, receive: Receive, headers: Mapping[str, str]) -> Any:
        """The JSON value that was sent. Raises Refused (413, 408, 400), and ClientDisconnect."""
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self.max_bytes:
            raise self._too_long()
        try:
            return jsonrpc.decode(await within(self.seconds, self._body(receive)))
        except TimeoutError:
            message = f"A message has to arrive within {self.seconds:g} seconds."
            raise Refused(408, message, headers={"Connection": "close"}) from None
        except jsonrpc.InvalidJson as problem:
            raise Refused(400, str(problem), code=jsonrpc.PARSE_ERROR) from None

    async def _body(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self.max_bytes:
                raise self._too_long()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_long(self) -> Refused:
        return Refused(413, f"A message has at most {self.max_bytes} bytes.")


class Capacity:
    """How many of a kind (`noun`, in the plural) there may be at once; None is any number.

    As a context it is one of them. Raises Refused (503) where there is no place.
    """

    def __init__(self, limit: int | None, noun: str) -> None:
        self._limit = limit
        self._noun = noun
        self._taken = 0

    def __enter__(self) -> None:
        if self._limit is not None and self._taken >= self._limit:
            message = f"The server has as many {self._noun} as it takes ({self._limit})."
            raise Refused(503, message, code=jsonrpc.INTERNAL_ERROR, headers={"Retry-After": _RETRY_AFTER})
        self._taken += 1

    def __exit__(self, *_: object) -> None:
        self._taken -= 1
