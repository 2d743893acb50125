"""Calls per second of `tools/call` over HTTP: this project, what there is to reach, and its peers, side by side.

    python -m benchmarks.throughput                                 petstore
    python -m benchmarks.throughput --document github.json --call '{"name": …, "arguments": {…}}'
    python -m benchmarks.throughput --fastmcp /venv/bin/python --ivo /folder/node_modules

The API, each server and the load generator are processes of their own on this machine. Every server is measured in
every round, one after the other, so that what the machine does besides falls on all; what is shown are medians of the
rounds, and ratios of one run only. A server that is not installed is said to be absent.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
REFERENCE: Final = "aiohttp"
"""The route to which all are compared: bare Starlette and one call of aiohttp."""

_CALL: Final = {"name": "getPet", "arguments": {"petId": 7}}
_JSON: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
_ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
}


@dataclass(frozen=True)
class Measured:
    """One server: how it is started (`PORT` and `API` stand for what they are), and in which eras it is asked."""

    name: str
    command: tuple[str, ...]
    eras: tuple[str, ...] = ("handshake",)
    path: str = "/mcp"
    tool: str | None = None
    streamed: bool = False


def request(one: Measured, era: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """What the load generator sends, as it takes it (see `load`)."""
    call = {**call, "name": one.tool or call["name"]}

    def message(method: str, params: Mapping[str, Any]) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    if era == "stateless":
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": call["name"]}
        return {"headers": _JSON | headers, "body": message("tools/call", {**call, "_meta": _ENVELOPE})}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
    return {
        "headers": _JSON | {"MCP-Protocol-Version": "2025-06-18"},
        "first": [message("initialize", hello)],
        "body": message("tools/call", call),
        "streamed": one.streamed,
    }


def servers(document: str, peers: argparse.Namespace) -> Iterator[Measured]:
    """All that can be measured here; says what is absent."""
    ours = (sys.executable, "-m", "benchmarks.measured")
    both = ("handshake", "stateless")
    serve = (
        sys.executable,
        "-m",
        "openapi_mcp",
        "serve",
        document,
        "--transport",
        "http",
        "--port",
        "PORT",
        "--base-url",
        "API",
    )
    yield Measured("openapi-mcp serve", serve, both)
    yield Measured("bridge over httpx", (*ours, "bridge-httpx", "PORT", "API", document))
    yield Measured("bare, our transport", (*ours, "bare", "PORT", "API"))
    yield Measured("bare, httpx", (*ours, "httpx", "PORT", "API"))
    python = peers.fastmcp or peers.aiohttp or sys.executable
    if _imports(peers.aiohttp or sys.executable, "aiohttp"):
        theirs = (peers.aiohttp or sys.executable, "-m", "benchmarks.measured")
        yield Measured(REFERENCE, (*theirs, "aiohttp", "PORT", "API"))
        if _imports(theirs[0], "httpx_aiohttp"):
            yield Measured("bare, httpx-aiohttp", (*theirs, "httpx-aiohttp", "PORT", "API"))
    else:
        print("absent: aiohttp (pip install aiohttp httpx-aiohttp; --aiohttp PYTHON)", file=sys.stderr)
    if peers.fastmcp and _imports(python, "fastmcp"):
        script = str(ROOT / "benchmarks" / "fastmcp_server.py")
        yield Measured("FastMCP", (python, script, "PORT", "API", "JSON"), both)
    else:
        print("absent: FastMCP (pip install fastmcp; --fastmcp PYTHON)", file=sys.stderr)
    program = Path(peers.ivo or "") / "@ivotoby/openapi-mcp-server/bin/mcp-server.js"
    if peers.ivo and program.is_file():
        options = ("--transport", "http", "--port", "PORT", "--api-base-url", "API", "--openapi-spec", "JSON")
        # It renames the tools, and its answers come on the stream of a session.
        yield Measured("ivo-toby", (peers.node, str(program), *options), tool=peers.ivo_tool, streamed=True)
    else:
        print("absent: ivo-toby (npm install @ivotoby/openapi-mcp-server; --ivo NODE_MODULES)", file=sys.stderr)


def _imports(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


@contextmanager
def running(command: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """A process that listens on `PORT`: its id, and where it is."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [port if part == "PORT" else part for part in command],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            _wait(process, int(port), command)
            yield process.pid, f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: "subprocess.Popen[bytes]", port: int, command: tuple[str, ...]) -> None:
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}") from None
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{' '.join(command)} does not listen")


def load(url: str, concurrency: int, seconds: float, said: Mapping[str, Any]) -> float:
    """Calls per second. Raises RuntimeError where they fail."""
    command = [sys.executable, "-m", "benchmarks.load", url, str(concurrency), str(seconds)]
    done = subprocess.run(command, input=json.dumps(said), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def cpu(pid: int) -> float:
    """Seconds that a process has worked; 0 where the system does not say (only Linux is asked)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


Figures = dict[tuple[str, str, int], list[tuple[float, float]]]
"""By server, era and concurrency: of each round the calls per second and the processor time of one call."""


def measure_once(pid: int, url: str, concurrency: int, seconds: float, said: Mapping[str, Any]) -> tuple[float, float]:
    """Calls per second, and the processor time of one; no calls where they fail, which is said."""
    before = cpu(pid)
    try:
        rate = load(url, concurrency, seconds, said)
    except RuntimeError as error:
        print(f"{url}, {concurrency} at a time: {error}", file=sys.stderr)
        return 0.0, 0.0
    return rate, (cpu(pid) - before) / (rate * seconds)


def measure(options: argparse.Namespace, call: Mapping[str, Any]) -> Figures:
    """All servers, all rounds."""
    figures: Figures = {}
    with ExitStack() as stack:
        backend = (sys.executable, "-m", "benchmarks.measured", "backend", "PORT")
        _, api = stack.enter_context(running(backend))
        document = stack.enter_context(as_json(options.document))
        places = {"API": api, "JSON": document}
        up: list[tuple[Measured, Callable[[], AbstractContextManager[tuple[int, str]]]]] = []
        for one in servers(options.document, options):
            start = partial(running, tuple(places.get(part, part) for part in one.command))
            # A server of one session only is started anew each time.
            up.append((one, start if one.streamed else _kept(stack.enter_context(start()))))
        for _ in range(options.rounds):
            for one, where in up:
                for era, concurrency in product(one.eras, options.concurrency):
                    with where() as (pid, url):
                        said = request(one, era, call)
                        figure = measure_once(pid, url + one.path, concurrency, options.seconds, said)
                    figures.setdefault((one.name, era, concurrency), []).append(figure)
    return figures


def _kept(server: tuple[int, str]) -> Callable[[], AbstractContextManager[tuple[int, str]]]:
    return lambda: nullcontext(server)


@contextmanager
def as_json(document: str) -> Iterator[str]:
    """The document as JSON, which all peers read."""
    import yaml  # noqa: PLC0415  # nothing else here needs it

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(yaml.safe_load(Path(document).read_text(encoding="utf-8")), file, default=str)
        file.flush()
        yield file.name


def show(figures: Figures, concurrency: list[int]) -> None:
    """A row for each server and era; ratios are to the reference at the same concurrency."""
    medians = {key: statistics.median(rate for rate, _ in rounds) for key, rounds in figures.items()}
    print("| server | era |" + "".join(f" {c} |" for c in concurrency) + f" of {REFERENCE} at 16 | µs CPU at 16 |")
    print("|---|---|" + "--:|" * (len(concurrency) + 2))
    for name, era in dict.fromkeys((name, era) for name, era, _ in figures):
        rates = "".join(f" {medians[name, era, c]:,.0f} |" for c in concurrency)
        reference = medians.get((REFERENCE, "handshake", 16))
        ratio = f"{medians[name, era, 16] / reference:.2f}" if reference and 16 in concurrency else "-"
        spent = statistics.median(used for _, used in figures[name, era, 16 if 16 in concurrency else concurrency[0]])
        print(f"| {name} | {era} |{rates} {ratio} | {spent * 1e6:,.0f} |")


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", default=str(ROOT / "specs" / "petstore.yaml"))
    parser.add_argument("--call", type=json.loads, default=_CALL, help="the name and arguments of the call, as JSON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--aiohttp", help="a Python with aiohttp, httpx-aiohttp, starlette, uvicorn and uvloop")
    parser.add_argument("--fastmcp", help="a Python with fastmcp")
    parser.add_argument("--ivo", help="a node_modules with @ivotoby/openapi-mcp-server")
    parser.add_argument("--ivo-tool", default="get-pet", help="its name for the tool")
    parser.add_argument("--node", default="node")
    options = parser.parse_args()
    show(measure(options, options.call), options.concurrency)


if __name__ == "__main__":
    main()
