"""Measure the latency of `tools/call` over HTTP: p50, p99, p99.9 and the slowest call.

    python -m benchmarks.latency                                 all rows, some three minutes
    python -m benchmarks.latency --seconds 2 --rounds 1          sooner, and less exact
    python -m benchmarks.latency --era stateless

First so many calls at a time (closed). Then, open, half as many a second as were answered at 64: each call is due at a
time of its own, whatever became of those before. Then, at half of their own rates, answers of 64 kB and 1 MB. Last, one
call in twenty whose answer the API delays: only those may take longer.

The API, the server and the generator of the load (`paced.py`) are processes of their own on this machine. Each row is
the median of the rounds. Exit code: 1 if the p99 of 64 at a time is more than twice the p50, or if calls are slower
beside slow ones.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from .paced import Plan, as_json
from .throughput import ROOT, Measured, request, running

SMALL, MEDIUM, LARGE = 1_000, 64_000, 1_000_000
"""Bytes of answers: also the ids of the pets that they describe. One more is the id of a pet whose answer is late."""

DELAY: Final = 0.5
"""Seconds after which the API answers a slow call."""

EVERY: Final = 20
"""One call in so many is slow."""

MAX_RATIO: Final = 2.0
"""Of the p99 to the p50, 64 at a time."""

MAX_SLOWER: Final = 1.5
"""Of the p99 of usual calls beside slow ones to that without any: they share connections and processors with more
calls in progress."""

BACKEND: Final = ("-c", "import sys; from benchmarks.latency import main_of_api; main_of_api(int(sys.argv[1]))", "PORT")


class Api(asyncio.Protocol):
    """An API whose pets are as large as their ids say, and late if those are odd."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer a request, which has no body and arrives in one piece."""
        number = int(data[: data.index(b" HTTP/")].rpartition(b"/")[2])
        answer = ANSWERS[number - number % 2]
        if number % 2:
            asyncio.get_running_loop().call_later(DELAY, self._transport.write, answer)
        else:
            self._transport.write(answer)


def _answer(size: int) -> bytes:
    tags = [f"tag number {number:09}" for number in range(max(size - 70, 0) // 23)]
    body = json.dumps({"id": size, "name": "Rex", "species": "dog", "tags": tags}, separators=(",", ":")).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


ANSWERS: Final = {size: _answer(size) for size in (SMALL, MEDIUM, LARGE)}


def main_of_api(port: int) -> None:
    """Serve the API until the process ends."""
    import uvloop  # noqa: PLC0415  # the servers have it too

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Api, "127.0.0.1", port, backlog=512)
        await server.serve_forever()

    uvloop.run(serve())


@dataclass(frozen=True)
class Row:
    """A row of the table: the medians of its rounds. `usual` and `slow` are seconds by `paced.SHARES`."""

    name: str
    rate: float
    usual: Sequence[float]
    slow: Sequence[float] = ()

    def __str__(self) -> str:
        """Return the row, in milliseconds."""
        columns = [f"{seconds * 1000:,.1f}" for seconds in (*self.usual, *self.slow[:2])]
        return f"| {self.name} | {self.rate:,.0f} | {' | '.join(columns + ['-'] * (6 - len(columns)))} |"


def plan_of(url: str, era: str, size: int = SMALL, **load: Any) -> Plan:
    """Return a plan of calls that get a pet of a size, or its slow sister."""
    bodies = []
    for number in (size, size + 1):
        spec = request(Measured("", ()), era, {"name": "getPet", "arguments": {"petId": number}})
        bodies.append(spec.pop("body"))
    return Plan(url, spec, bodies, **load)


def carried_out(plan: Plan) -> Mapping[str, Any]:
    """Return what `paced` measures. Raises RuntimeError if a call failed."""
    command = [sys.executable, "-m", "benchmarks.paced"]
    done = subprocess.run(command, input=as_json(plan), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return cast("Mapping[str, Any]", json.loads(done.stdout))


def measured(name: str, plan: Plan, rounds: int) -> Row:
    """Return the medians of some rounds."""
    results = [carried_out(plan) for _ in range(rounds)]

    def medians(kind: str) -> Sequence[float]:
        return [statistics.median(values) for values in zip(*(each[kind] for each in results), strict=True)]

    return Row(name, statistics.median(each["rate"] for each in results), medians("usual"), medians("slow"))


def rows(url: str, options: argparse.Namespace) -> Iterator[Row]:
    """Measure all rows."""
    plan = plan_of(url, options.era, seconds=options.seconds)
    top = 0.0
    for concurrency in options.concurrency:
        row = measured(f"{concurrency} at a time", replace(plan, concurrency=concurrency), options.rounds)
        top = max(top, row.rate)
        yield row
    half = replace(plan, rate=top / 2)
    yield measured("half of that a second", half, options.rounds)
    for size, name in ((MEDIUM, "64 kB"), (LARGE, "1 MB")):
        sized = plan_of(url, options.era, size, seconds=options.seconds)
        most = carried_out(replace(sized, concurrency=16))["rate"]
        yield measured(f"answers of {name}, half of their rate", replace(sized, rate=most / 2), options.rounds)
    yield measured("5 % slow, half of the top rate", replace(half, every=EVERY), options.rounds)


def misses(table: Sequence[Row]) -> Iterator[str]:
    """Return what exceeds its limit."""
    for row in table:
        if row.name == "64 at a time" and row.usual[1] > MAX_RATIO * row.usual[0]:
            yield f"{row.name}: p99 is {row.usual[1] / row.usual[0]:.2f} times p50, more than {MAX_RATIO}"
    alone = next(row for row in table if row.name.startswith("half"))
    beside = table[-1]
    if beside.usual[1] > MAX_SLOWER * alone.usual[1]:
        ratio = beside.usual[1] / alone.usual[1]
        yield f"{beside.name}: the p99 of usual calls is {ratio:.2f} times that without slow ones"


def parser() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", default=str(ROOT / "specs" / "petstore.yaml"))
    parser.add_argument("--era", choices=("handshake", "stateless"), default="handshake")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64, 256])
    return parser


def server_of(document: str, api: str, *options: str) -> tuple[str, ...]:
    """Return the command of the measured server."""
    serve = (sys.executable, "-m", "openapi_mcp", "serve", document, "--base-url", api, "--mode", "all")
    return (*serve, "--transport", "http", "--port", "PORT", *options)


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    table = []
    print("| load | calls/s | p50 ms | p99 | p99.9 | slowest | slow calls: p50 | p99 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with running((sys.executable, *BACKEND)) as (_, api), running(server_of(options.document, api)) as (_, url):
        for row in rows(f"{url}/mcp", options):
            print(row, flush=True)
            table.append(row)
    missed = list(misses(table))
    print("\n".join(missed), end="\n" if missed else "", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
