"""Measure cold starts: process start to first complete tools/list on stdio, bytes of the list, peak memory.

    python -m benchmarks.cold_start                                all documents of `DOCUMENTS`
    python -m benchmarks.cold_start petstore github                some
    python -m benchmarks.cold_start --fastmcp VENV/bin/python      beside FastMCP, with ratios of the same run

Each figure is the median of five. Compared servers alternate, so that other load on the machine affects all alike. The
list is complete when the last byte of its last page has arrived. `cached` is every start after the first. All tools are
listed (`--mode all`). The last document, `large`, has the size of Microsoft Graph's (see `synthetic.py`); it is also
served with default options (row `as it is`: search mode) and searched. Exit code: 2 if a document is missing, 1 if the
large one misses its limits.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import synthetic

ROOT: Final = Path(__file__).parents[1]
CORPUS: Final = ROOT.parent / "shared" / "corpus"
RUNS: Final = 5
BUFFER: Final = 1 << 20
"""Bytes that are read at once: a client that reads in crumbs would be measured, not the server."""
REVISION: Final = "2025-11-25"
"""Revision that all servers compared here support."""

DOCUMENTS: Final = {
    "petstore": ROOT / "specs" / "petstore.yaml",
    "github": CORPUS / "github-rest" / "api.github.com.json",
    "stripe": CORPUS / "stripe" / "openapi" / "spec3.yaml",
    "kubernetes": CORPUS / "kubernetes" / "kubernetes" / "swagger.json.unprocessed",
}
LARGE: Final = "large"
AS_IT_IS: Final = "as it is"
NAMES: Final = (*DOCUMENTS, LARGE)

UNCACHED_SECONDS, CACHED_SECONDS, SEARCH_SECONDS = 20.0, 2.0, 0.020
MOST_MEMORY: Final = 1_000_000_000
"""At most, for the large document; searches after the first, which makes the index."""

REQUESTS: Final = (
    "delete the archived channel of my team",
    "add a member to the group Marketing",
    "which shared attachments does the message from Bob have",
    "list pending reviews",
    "what alerts came for the printers today",
)

FASTMCP: Final = """
import json, sys
import httpx2
from fastmcp import FastMCP
text = open(sys.argv[1]).read()
if sys.argv[1].endswith(".yaml"):
    import yaml
    document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
else:
    document = json.loads(text)
client = httpx2.AsyncClient(base_url="http://127.0.0.1:9")
FastMCP.from_openapi(openapi_spec=document, client=client).run(transport="stdio", show_banner=False)
"""


@dataclass(frozen=True)
class Start:
    """The figures of one start.

    Seconds to the first list, CPU seconds until then, seconds of the second list and of the slowest search; the number
    of tools, bytes of the list, bytes of peak memory.
    """

    seconds: float
    processor: float
    again: float
    tools: int
    size: int
    memory: int
    search: float = 0.0


def main() -> int:
    """Measure the requested documents and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_start", description="Cold starts on stdio.")
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--fastmcp", metavar="PYTHON", help="a Python that has FastMCP 4")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    if missing := [name for name in options.names if name != LARGE and not DOCUMENTS.get(name, Path("-")).exists()]:
        print(f"There is no document for {', '.join(missing)}.", file=sys.stderr)
        return 2
    print("| document | server | tools | list | first list | processor | again | peak memory |  |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    missed: list[str] = []
    for name in options.names:
        with document(name) as path:
            measured = measure(path, options.runs, options.fastmcp if name != LARGE else None, as_it_is=name == LARGE)
        theirs = measured.get("FastMCP")
        for server, start in measured.items():
            print(row(name, server, start, theirs), flush=True)
        missed += misses(measured) if name == LARGE else []
    print("\n".join(missed), end="\n" if missed else "", file=sys.stderr)
    return 1 if missed else 0


@contextmanager
def document(name: str) -> Iterator[Path]:
    """Yield the file of a document; the large one is temporary."""
    if name != LARGE:
        yield DOCUMENTS[name]
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.json")
        path.write_text(json.dumps(synthetic.document()))
        yield path


def measure(document: Path, runs: int, fastmcp: str | None, *, as_it_is: bool = False) -> Mapping[str, Start | None]:
    """Return the medians of each server; None for a server that cannot serve the document."""
    with tempfile.TemporaryDirectory() as cache:
        plain = [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--transport", "stdio"]
        ours = [*plain, "--mode", "all"]
        environment = os.environ | {"OPENAPI_MCP_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""}
        starts: dict[str, Callable[[], Start]] = {
            "openapi-mcp": lambda: started([*ours, "--no-cache"], environment),
            "openapi-mcp, cached": lambda: started(ours, environment),
        }
        if as_it_is:
            starts[AS_IT_IS] = lambda: started([*plain, "--no-cache"], environment, REQUESTS)
            starts[f"{AS_IT_IS}, cached"] = lambda: started(plain, environment, REQUESTS)
        if fastmcp:
            theirs = [fastmcp, "-c", FASTMCP, str(document)]
            starts["FastMCP"] = lambda: started(theirs, {**environment, "PYTHONPATH": ""})
        return {name: median(rounds) for name, rounds in in_turns(starts, runs).items()}


def in_turns(starts: Mapping[str, Callable[[], Start]], runs: int) -> Mapping[str, Sequence[Start]]:
    """Start each server in turn, in every round; the first round fills caches and is not counted."""
    results: dict[str, list[Start]] = {name: [] for name in starts}
    for number in range(runs + 1):
        for name, start in starts.items():
            try:
                measured = start()
            except (OSError, EOFError, KeyError, ValueError) as error:
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            if number:
                results[name].append(measured)
    return results


def misses(measured: Mapping[str, Start | None]) -> Iterator[str]:
    """Return the figures above their limits. Reading a list of all tools takes the client alone about a second."""
    for server, start in measured.items():
        most = CACHED_SECONDS if server == f"{AS_IT_IS}, cached" else UNCACHED_SECONDS
        if start is None or start.seconds > most or start.memory > MOST_MEMORY or start.search > SEARCH_SECONDS:
            yield f"{server} misses its aims: {start}"


def started(command: Sequence[str], environment: Mapping[str, str], requests: Sequence[str] = ()) -> Start:
    """Start a server, list its tools twice, search, and end it. Raises EOFError if it does not answer."""
    begin = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=dict(environment), cwd=ROOT, bufsize=BUFFER, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        client = Client(process)
        about = {"name": "benchmark", "version": "1"}
        client.ask("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about})
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools, size = client.list()
        first, busy, asked = client.heard, processor_time(process.pid), time.perf_counter()
        client.list()
        again = client.heard - asked
        searches = [client.search(request) for request in [*requests[:1], *requests]]
        memory = peak(process.pid)
        client.end()
    return Start(first - begin, busy, again, tools, size, memory, max(searches[1:], default=0.0))


class Client:
    """A client on a server's pipes. `heard` is the time at which the last answer was complete."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise EOFError("the process has no pipes")
        self.heard = 0.0
        self._stdin, self._stdout = process.stdin, process.stdout

    def list(self) -> tuple[int, int]:
        """Read all pages of the list; return the number of tools and of bytes."""
        tools = size = 0
        cursor: str | None = None
        while True:
            result, length = self.ask("tools/list", {"cursor": cursor} if cursor else {})
            tools, size = tools + len(result["tools"]), size + length
            cursor = result.get("nextCursor")
            if not cursor:
                return tools, size

    def search(self, request: str) -> float:
        """Search for tools; return the seconds until the answer."""
        begin = time.perf_counter()
        self.ask("tools/call", {"name": "search_tools", "arguments": {"query": request}})
        return self.heard - begin

    def ask(self, method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """Return the result of a request and the bytes of the answer. Raises EOFError."""
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while line := self._stdout.readline():
            self.heard = time.perf_counter()
            message = json.loads(line)
            if message.get("id") == 1:
                return message["result"], len(line)
        raise EOFError("the server ended")

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message."""
        self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()

    def end(self) -> None:
        """Close the server's stdin."""
        self._stdin.close()


def peak(process: int) -> int:
    """Return the peak memory of a process so far (Linux). `wait4` would count this program's memory too."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def processor_time(process: int) -> float:
    """Return the CPU seconds of a process (Linux), which other load on the machine does not change."""
    status = Path(f"/proc/{process}/stat")
    fields = status.read_text().rpartition(") ")[2].split() if status.exists() else ["0"] * 13
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median(starts: Iterable[Start]) -> Start | None:
    """Return the median of each figure."""
    measured = list(starts)
    if not measured:
        return None
    middle = {name: statistics.median(getattr(start, name) for start in measured) for name in Start.__annotations__}
    whole = {name: int(middle[name]) for name in ("tools", "size", "memory")}
    return Start(**{**middle, **whole})


def row(name: str, server: str, start: Start | None, theirs: Start | None) -> str:
    """Return a row of the table, with ratios to FastMCP if it was measured."""
    if start is None:
        return f"| {name} | {server} | | | cannot | | | | |"
    ratio = ""
    if theirs and start is not theirs:
        ratio = f"{start.seconds / theirs.seconds:.3f} of the time, {start.memory / theirs.memory:.2f} of the memory"
    elif start.search:
        ratio = f"searches in {start.search * 1000:.0f} ms at most"
    return (
        f"| {name} | {server} | {start.tools:,} | {start.size / 1e6:.3f} MB | {start.seconds:.2f} s"
        f" | {start.processor:.2f} s | {start.again * 1000:.0f} ms | {start.memory / 1e6:.0f} MB | {ratio} |"
    )


if __name__ == "__main__":
    sys.exit(main())
