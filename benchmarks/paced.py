"""Time every call of a load, from a process of its own: closed (so many at a time) or open (so many a second).

    python -m benchmarks.paced < plan.json

In an open load each call has a time at which it is due, on a grid of milliseconds, and its latency counts from then:
a server that is late is not asked less often (no coordinated omission). A call that finds no idle connection makes one.
The plan is a `Plan` as JSON; the answer are `Times` of the usual calls and of the slow ones, and calls per second.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

import httptools

from .load import Question, address, begin, post

SHARES: Final = (0.5, 0.99, 0.999, 1.0)
"""The shares of calls whose latency is reported: the last is the slowest."""

_TICK: Final = 0.001
_MAX_CONNECTIONS: Final = 1_000
"""Beyond these a call waits in the generator; its latency still counts from the time at which it was due."""

_DRAIN_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Plan:
    """A load: `request` is as `load` has it, `bodies` the usual call and a slow one, which one call in `every` is.

    `rate` calls a second, or `concurrency` at a time. The first `warming` seconds are not counted. With `churns` each
    call has a connection of its own, and there are so many calls instead of `seconds`.
    """

    url: str
    request: dict[str, Any]
    bodies: list[str]
    seconds: float
    concurrency: int = 0
    rate: float = 0.0
    every: int = 0
    warming: float = 0.5
    churns: int = 0


@dataclass
class Times:
    """Latencies in seconds."""

    values: list[float] = field(default_factory=list)

    def shares(self) -> list[float]:
        """Return the latency of each of `SHARES`; empty without calls."""
        ordered = sorted(self.values)
        return [ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in SHARES] if ordered else []


class Connection(asyncio.Protocol):
    """A connection with one call at a time; `done` is called with the time at which its answer was complete."""

    def __init__(self, done: "Callable[[Connection, float], None]", failed: Callable[[str], None]) -> None:
        self._done = done
        self._failed = failed
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.WriteTransport", transport)

    def send(self, request: bytes) -> None:
        """Send a call."""
        self._parser = httptools.HttpResponseParser(self)
        if self.transport is not None:
            self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Parse a part of an answer."""
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Fail where the answer is an error."""
        if b'"isError":true' in body or b'"error":{' in body:
            self._failed(body.decode("utf-8", "replace")[:300])

    def on_message_complete(self) -> None:
        """Report the answer, or the status that is none of success."""
        if self._parser.get_status_code() != 200:
            self._failed(f"status {self._parser.get_status_code()}")
        self._done(self, time.perf_counter())

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the signature is asyncio's
        """Note that no call can be sent."""
        self.transport = None


class Load:
    """The calls of a plan in progress."""

    def __init__(self, plan: Plan, questions: Sequence[Question]) -> None:
        self._plan = plan
        self._questions = questions
        self._idle: list[Connection] = []
        self._waiting: list[tuple[float, int]] = []
        self._due: dict[Connection, tuple[float, int]] = {}
        self._open = self._count = 0
        self.times = (Times(), Times())
        self.failure = ""
        self._counted_from = float("inf")
        self._ends_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> float:
        """Carry out the plan; return calls per second. Raises RuntimeError if an answer was an error."""
        began = time.perf_counter()
        self._counted_from = began + self._plan.warming
        self._ends_at = self._counted_from + self._plan.seconds
        for _ in range(self._plan.concurrency):
            self._ask(time.perf_counter())
        tick = 0
        while not self.failure and self._goes_on():
            tick += 1
            due = began + tick * _TICK
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            while self._plan.rate and self._count < tick * _TICK * self._plan.rate:
                self._ask(due)
        async with asyncio.timeout(_DRAIN_SECONDS):
            while self._due or self._tasks:  # noqa: ASYNC110  # it ends by itself
                await asyncio.sleep(_TICK)
        if self.failure:
            raise RuntimeError(self.failure)
        return sum(len(times.values) for times in self.times) / (self._ends_at - self._counted_from)

    def _goes_on(self) -> bool:
        if self._plan.churns:
            return self._count < self._plan.churns
        return time.perf_counter() < self._ends_at

    def _ask(self, due: float) -> None:
        """Send the next call, on an idle connection or on a new one."""
        self._count += 1
        kind = int(bool(self._plan.every) and self._count % self._plan.every == 0)
        while self._idle:
            connection = self._idle.pop()
            if connection.transport is not None:
                self._send(connection, due, kind)
                return
        if len(self._due) + len(self._tasks) >= _MAX_CONNECTIONS:
            self._waiting.append((due, kind))
            return
        task = asyncio.get_running_loop().create_task(self._connect(due, kind))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, due: float, kind: int) -> None:
        connection = Connection(self._answered, self._fail)
        try:
            await asyncio.get_running_loop().create_connection(lambda: connection, *address(self._plan.url))
        except OSError as error:
            self._fail(str(error))
        else:
            self._send(connection, due, kind)

    def _send(self, connection: Connection, due: float, kind: int) -> None:
        self._due[connection] = due, kind
        connection.send(self._questions[kind].next()[1])

    def _answered(self, connection: Connection, at: float) -> None:
        due, kind = self._due.pop(connection)
        if self._counted_from <= due < self._ends_at or self._plan.churns:
            self.times[kind].values.append(at - due)
        if self._plan.churns and connection.transport is not None:
            connection.transport.close()
        else:
            self._idle.append(connection)
        if self._waiting:
            self._send(connection, *self._waiting.pop(0))
        elif self._plan.concurrency and not self.failure and self._goes_on():
            asyncio.get_running_loop().call_soon(self._ask, at)

    def _fail(self, text: str) -> None:
        self.failure = self.failure or text


async def carry_out(plan: Plan) -> dict[str, Any]:
    """Return the calls per second, the number of calls, and the latencies of usual and slow calls by `SHARES`."""
    headers = await begin(plan.url, plan.request)
    load = Load(plan, [post(plan.url, headers, body) for body in plan.bodies])
    rate = await load.run()
    usual, slow = load.times
    return {"rate": rate, "calls": len(usual.values) + len(slow.values), "usual": usual.shares(), "slow": slow.shares()}


def as_json(plan: Plan) -> str:
    """Return the input of this program."""
    return json.dumps(asdict(plan))


def main() -> None:
    """Run the command line."""
    import uvloop  # noqa: PLC0415  # the servers have it too

    print(json.dumps(uvloop.run(carry_out(Plan(**json.load(sys.stdin))))))


if __name__ == "__main__":
    main()
