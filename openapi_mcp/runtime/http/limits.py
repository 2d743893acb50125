"""Limits on incoming messages: size, time to arrive, and how many are handled at once. Beyond them: 413, 408, 429, 503.

A limit is checked before the work that it limits begins, so a refused request costs nothing.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from .. import background
from ..protocol import jsonrpc
from ..types import MISSING, Missing
from ..upstream.shares import ADDRESS_RATIO, CLIENT_RATIO, NO_LIMIT, Caller, SharedSlots, Shares
from ..upstream.timers import TimeLimit, Timers
from .direct import DirectRequest
from .responses import HTTPError

RECEIVE_TIMEOUT: Final = 30.0
"""Seconds that a message may take to arrive: 4 MiB in that time is a poor line."""

MAX_CONCURRENCY: Final = 320
"""Calls that one process makes at once, and messages that it receives at once; 256 of them for one client."""

MAX_BEGINNING: Final = 32
"""Calls that begin in one turn of the event loop, or within `_TURN_SECONDS`: about 0.01 s of work."""

_TURN_SECONDS: Final = 0.002
"""Seconds after which calls count for another turn: the time of a turn that begins ten calls."""

MAX_STREAMS: Final = 512
"""Streams that one process holds open: half the files that a process usually may have open."""

MAX_MEMORY_FACTOR: Final = 34
"""Messages of the largest size whose bytes all messages in progress may take together, as they are estimated: 136 MiB,
for one that is nothing but lists, or for fifteen that are text. With what judging them takes and what an idle server
holds, a server stays below 300 MiB."""

_DECODE_SECONDS: Final = 0.02
"""Seconds in which one message that is not small is decoded at once, in about 0.001 s; each further one waits for
another turn of the event loop."""

_LOOK_SECONDS: Final = 1.0
"""Seconds between two looks for calls whose clients have left, while places are scarce."""

_SMALL_BYTES: Final = 16 * 1024
"""Messages of less bytes do not count: as many as may be in progress are 10 MiB."""

_BYTES_PER_BYTE: Final = 2
"""A message is there twice while it is decoded, and what it holds again while it is sent to the API."""

_BYTES_PER_VALUE: Final = 32
"""Half of an empty list and the pointer to it, which are two signs; most values take less."""

_BYTES_PER_CONTAINER: Final = 64
"""Memory of an array or object that is not empty beyond its values: an array of one takes what two empty ones take."""

_RETRY_AFTER: Final = "1"
"""Seconds; most calls take less."""


class MessageReader:
    """Reads messages of at most `max_bytes` that arrive within `seconds`."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self.max_bytes = max_bytes
        self._seconds = seconds
        self._timers = Timers(seconds)
        self._turns = Turns(1, _DECODE_SECONDS)

    def read_arrived(self, direct: DirectRequest | None) -> Any | Missing:
        """Return the JSON value in a body that has arrived and is small, as `read` does; MISSING for any other body.

        Nothing is waited for, and no memory counts.
        """
        body = None if direct is None else direct.take_body(min(self.max_bytes + 1, _SMALL_BYTES))
        return MISSING if body is None else _decode(body)

    async def read(self, receive: Receive, headers: Mapping[str, str], memory: "TakenMemory") -> Any:
        """Return the JSON value in the body of a request, which takes some `memory`.

        Raises HTTPError: 413 for a body beyond `max_bytes`, 408 for one that does not arrive in time, 400 for one that
        is not JSON, 429 or 503 where memory is scarce. Raises ClientDisconnect.

        A body of known length is not read before there is memory for it, which is waited for.
        """
        announced = headers.get("content-length", "")
        if announced.isdecimal():
            if int(announced) > self.max_bytes:
                raise self._too_large()
            await memory.reserve(int(announced), self._seconds)
        body = await self._body_in_time(receive, memory)
        if len(body) <= jsonrpc.MAX_QUICK_VALUES:
            if len(body) > _SMALL_BYTES and (turn := self._turns.begin()) is not None:
                await turn
            return _decode(body)
        # A text of 4 MiB is counted and decoded in 0.02 s, and a client may send many at once.
        values, containers = await background.run("small", jsonrpc.count_values, body)
        memory.grow(len(body), values, containers)
        if values > jsonrpc.MAX_QUICK_VALUES:
            return await background.run("large", _decode, body, jsonrpc.decode_in_steps)
        return await background.run("small", _decode, body, jsonrpc.decode_aside)

    async def _body_in_time(self, receive: Receive, memory: "TakenMemory") -> bytes:
        try:
            with TimeLimit(self._timers):
                return await self._body(receive, memory)
        except TimeoutError:
            message = f"The message did not arrive within {self._seconds:g} seconds."
            raise HTTPError(408, message, headers={"Connection": "close"}) from None

    async def _body(self, receive: Receive, memory: "TakenMemory") -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self.max_bytes:
                raise self._too_large()
            memory.grow(len(body))
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> HTTPError:
        return HTTPError(413, f"A message may have at most {self.max_bytes} bytes.")


def _decode(body: bytes, decode: Callable[[bytes], Any] = jsonrpc.decode) -> Any:
    """Return the JSON value in a body. Raises HTTPError (400)."""
    try:
        return decode(body)
    except jsonrpc.InvalidJson as problem:
        raise HTTPError(400, str(problem), code=jsonrpc.PARSE_ERROR, request_id=problem.request_id) from None


class Capacity:
    """Places for at most `limit` requests at once, shared among callers; None admits any number.

    `noun` (plural) names what has a place. A client that leaves does not cancel its calls in the handshake era
    ("Disconnection SHOULD NOT be interpreted as the client cancelling its request"), so they keep their places, though
    nobody gets their answers. They are stopped only where another call finds no place.
    """

    def __init__(self, limit: int | None, noun: str) -> None:
        self._left: dict[TakenPlace, tuple[Receive, Callable[[], object]]] = {}
        self._looked = -math.inf
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
        return TakenPlace(self._shares, caller, self._left)

    async def stop_abandoned(self) -> bool:
        """Stop the calls whose clients have left, at most once in `_LOOK_SECONDS`; return whether there was any."""
        now = asyncio.get_running_loop().time()
        if now - self._looked < _LOOK_SECONDS:
            return False
        self._looked = now
        looks = {asyncio.create_task(_left(receive)): (place, stop) for place, (receive, stop) in self._left.items()}
        if looks:
            await asyncio.wait(looks, timeout=0)
        left = [look for look in looks if look.done() and not look.cancelled() and look.exception() is None]
        for look in looks:
            look.cancel()
        for place, stop in map(looks.__getitem__, left):
            place.give_back()
            stop()
        return bool(left)

    def _refusal(self, caller: Caller, request_id: jsonrpc.RequestId | None) -> HTTPError:
        shares = self._shares
        if shares.free == 0:
            return busy(503, f"The server handles at most {shares.limit} {self._noun}; try again later.", request_id)
        count = shares.counts(caller, shares.numbers())[-1]
        message = (
            f"The rest of the server's {shares.limit} {self._noun} is for other clients; this client has {count}: wait "
            "until some of them end, and try again."
        )
        return busy(429, message, request_id)


def busy(status: int, message: str, request_id: jsonrpc.RequestId | None = None) -> HTTPError:
    """Return the error for a request that can be tried again soon."""
    headers = {"Retry-After": _RETRY_AFTER}
    return HTTPError(status, message, code=jsonrpc.INTERNAL_ERROR, request_id=request_id, headers=headers)


async def _left(receive: Receive) -> None:
    """Return when a client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class TakenPlace:
    """A context at whose end a caller gives its place back."""

    __slots__ = ("_caller", "_is_held", "_left", "_shares")

    def __init__(
        self, shares: Shares[Caller], caller: Caller, left: "dict[TakenPlace, tuple[Receive, Callable[[], object]]]"
    ) -> None:
        self._shares = shares
        self._caller = caller
        self._left = left
        self._is_held = True

    def may_be_left(self, receive: Receive, stop: Callable[[], object]) -> None:
        """Let the call be stopped where its client has left, which `receive` tells, and its place is needed."""
        self._left[self] = receive, stop

    def give_back(self) -> None:
        """Give the place back; a second time does nothing."""
        self._left.pop(self, None)
        if self._is_held:
            self._is_held = False
            self._shares.give_back(self._caller)

    def __enter__(self) -> "TakenPlace":
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


class Turns:
    """Lets few calls, `size` in `seconds`, begin at a time: between them the event loop serves what arrived meanwhile.

    A client that makes hundreds of calls at once would hold it up for tenths of a second.
    """

    def __init__(self, size: int = MAX_BEGINNING, seconds: float = _TURN_SECONDS) -> None:
        self._size = size
        self._seconds = seconds
        self._begun = 0
        self._since = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def begin(self) -> "asyncio.Future[None] | None":
        """Return what a call has to wait for until its turn; None where few calls begin."""
        if not self._waiting:
            now = time.monotonic()  # to find the event loop takes a system call
            if now - self._since > self._seconds:
                self._since, self._begun = now, 0
            self._begun += 1
            if self._begun <= self._size:
                return None
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._next_turn, loop)
        turn = loop.create_future()
        self._waiting.append(turn)
        return turn

    def _next_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        for _ in range(min(self._size, len(self._waiting))):
            turn = self._waiting.popleft()
            if not turn.done():  # it is if the call was cancelled
                turn.set_result(None)
        if self._waiting:
            loop.call_soon(self._next_turn, loop)
        else:
            self._since, self._begun = time.monotonic(), self._size


class MessageMemory:
    """The memory of all messages in progress, shared among callers."""

    def __init__(self, limit: int) -> None:
        self._slots: SharedSlots[Caller] = SharedSlots(limit, (ADDRESS_RATIO, CLIENT_RATIO), tuple)

    def of(self, caller: Caller) -> "TakenMemory":
        """Return a context for one message of a caller."""
        return TakenMemory(self._slots, caller)


class TakenMemory:
    """A context at whose end the memory of a message is given back."""

    __slots__ = ("__weakref__", "_bytes", "_caller", "_slots")

    def __init__(self, slots: SharedSlots[Caller], caller: Caller) -> None:
        self._slots = slots
        self._caller = caller
        self._bytes = 0

    async def reserve(self, size: int, seconds: float) -> None:
        """Wait for what a message of so many bytes needs. Raises HTTPError (503) after `seconds`."""
        if size >= _SMALL_BYTES:
            try:
                await self._slots.acquire(self._caller, seconds, size * _BYTES_PER_BYTE)
            except TimeoutError:
                raise _no_memory(503) from None
            self._bytes = size * _BYTES_PER_BYTE

    def grow(self, size: int, values: int = 0, containers: int = 0) -> None:
        """Take what a message of so many bytes, values, and full containers needs, beyond what it has.

        Raises HTTPError: 429 where the rest is for others, 503 where it is not free, 413 where it never is.
        """
        if size < _SMALL_BYTES:
            return
        needed = size * _BYTES_PER_BYTE + values * _BYTES_PER_VALUE + containers * _BYTES_PER_CONTAINER
        more = needed - self._bytes
        if more <= 0:
            return
        if needed > self._slots.shares.limit:
            raise HTTPError(413, "The message holds more values than this server has memory for; send fewer at a time.")
        if not self._slots.shares.take(self._caller, more):
            raise _no_memory(503 if self._slots.shares.free < more else 429)
        self._bytes += more
        if values > jsonrpc.MAX_QUICK_VALUES:
            background.hold_large_value(self)

    def __enter__(self) -> "TakenMemory":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bytes:
            self._slots.release(self._caller, self._bytes)
            self._bytes = 0
            background.give_back_large_value(self)


def _no_memory(status: int) -> HTTPError:
    message = "Large messages in progress take the memory there is for them; wait until some end, and try again."
    return busy(status, message)
