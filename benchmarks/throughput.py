"""Measure calls per second of `tools/call`: this project, upper bounds, and its peers, side by side.

    python -m benchmarks.throughput                                 petstore
    python -m benchmarks.throughput --large github.json --large-call '{"name": …, "arguments": {…}}'
    python -m benchmarks.throughput --fastmcp /venv/bin/python --ivo /folder/node_modules

The API, each server and the load generator are processes of their own on this machine. Every server is measured in
every round, one after the other, so that other load on the machine affects all alike. The table shows medians of the
rounds and ratios within one run. A server that is not installed is reported as absent.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
REFERENCE: Final = "aiohttp"
"""The route to which all are compared: bare Starlette and one call of aiohttp."""

_CALL: Final = {"name": "getPet", "arguments": {"petId": 7}}
_LARGE_CALL: Final = {"name": "apps_get-installation", "arguments": {"installation_id": 7}}
"""Of GitHub's document: as simple a GET as the other, so that only the number of tools differs."""
OURS: Final = "openapi-mcp serve"
BOTH: Final = ("handshake", "stateless")
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
    """A server to measure: its command (with `PORT` and `API` as placeholders) and the eras of its clients.

    Without a `path` it is measured over stdin and stdout. `tool` is its name of the tool, `call` another call.
    """

    name: str
    command: tuple[str, ...]
    eras: tuple[str, ...] = ("handshake",)
    path: str | None = "/mcp"
    tool: str | None = None
    call: Mapping[str, Any] | None = None
    streamed: bool = False


def request(one: Measured, era: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input of the load generator (see `load`)."""
    call = {**(one.call or call)} | ({"name": one.tool} if one.tool else {})

    def message(method: str, params: Mapping[str, Any]) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    if era == "stateless":
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": call["name"]}
        return {"headers": _JSON | headers, "body": message("tools/call", {**call, "_meta": _ENVELOPE})}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
    return {
        "headers": _JSON | {"MCP-Protocol-Version": "2025-06-18"},
        "first": [message("initialize", hello), json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})],
        "body": message("tools/call", call),
        "streamed": one.streamed,
    }


def servers(options: argparse.Namespace) -> Iterator[Measured]:
    """Return the servers that are installed; report those that are absent."""
    yield from _ours(options)
    yield from _references(options.aiohttp or sys.executable)
    yield from _fastmcp(options.fastmcp)
    yield from _ivo_toby(options)


def _ours(options: argparse.Namespace) -> Iterator[Measured]:
    def serve(document: str, *more: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "openapi_mcp", "serve", document, "--base-url", "API", "--mode", "all", *more)

    http = ("--transport", "http", "--port", "PORT")
    yield Measured(OURS, serve(options.document, *http), BOTH)
    yield Measured(f"{OURS} --workers 2", serve(options.document, *http, "--workers", "2"))
    if options.large:
        name = f"{OURS}, {Path(options.large).name}"
        yield Measured(name, serve(options.large, *http), BOTH, call=options.large_call)
    yield Measured(f"{OURS}, stdio", serve(options.document, "--transport", "stdio"), path=None)
    measured = (sys.executable, "-m", "benchmarks.measured")
    yield Measured("bridge over httpx", (*measured, "bridge-httpx", "PORT", "API", options.document))
    yield Measured("bare, our transport", (*measured, "bare", "PORT", "API"))
    yield Measured("bare, httpx", (*measured, "httpx", "PORT", "API"))


def _references(python: str) -> Iterator[Measured]:
    measured = (python, "-m", "benchmarks.measured")
    if _imports(python, "aiohttp"):
        yield Measured(REFERENCE, (*measured, "aiohttp", "PORT", "API"))
    else:
        print("absent: aiohttp (pip install aiohttp httpx-aiohttp; --aiohttp PYTHON)", file=sys.stderr)
    if _imports(python, "httpx_aiohttp"):
        yield Measured("bare, httpx-aiohttp", (*measured, "httpx-aiohttp", "PORT", "API"))


def _fastmcp(python: str | None) -> Iterator[Measured]:
    if not python or not _imports(python, "fastmcp"):
        print("absent: FastMCP (pip install fastmcp; --fastmcp PYTHON)", file=sys.stderr)
        return
    script = str(ROOT / "benchmarks" / "fastmcp_server.py")
    yield Measured("FastMCP", (python, script, "PORT", "API", "JSON"), BOTH)
    yield Measured("FastMCP, stdio", (python, script, "stdio", "API", "JSON"), path=None)


def _ivo_toby(options: argparse.Namespace) -> Iterator[Measured]:
    program = Path(options.ivo or "") / "@ivotoby/openapi-mcp-server/bin/mcp-server.js"
    if not options.ivo or not program.is_file():
        print("absent: ivo-toby (npm install @ivotoby/openapi-mcp-server; --ivo NODE_MODULES)", file=sys.stderr)
        return
    serve = (options.node, str(program), "--api-base-url", "API", "--openapi-spec", "JSON", "--transport")
    # It renames the tools, and its answers come on the stream of a session.
    yield Measured("ivo-toby", (*serve, "http", "--port", "PORT"), tool=options.ivo_tool, streamed=True)
    yield Measured("ivo-toby, stdio", (*serve, "stdio"), path=None, tool=options.ivo_tool)


def _imports(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


@contextmanager
def running(command: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Start a process that listens on `PORT`; yield its id and URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with Path(os.devnull).open("wb") as log:
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


def load(where: Sequence[str], concurrency: int, seconds: float, spec: Mapping[str, Any]) -> float:
    """Return calls per second of a server at a URL, or of `stdio` and a command. Raises RuntimeError if calls fail."""
    target, *program = where
    command = [sys.executable, "-m", "benchmarks.load", target, str(concurrency), str(seconds), *program]
    done = subprocess.run(command, input=json.dumps(spec), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its children; 0 on systems other than Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(cpu(int(child)) for child in children)


Figures = dict[tuple[str, str, int], list[tuple[float, float]]]
"""By server, era and concurrency: of each round the calls per second and the processor time of one call."""


@dataclass(frozen=True)
class Up:
    """A running server: its URL and its process id; no process if the load generator starts it."""

    one: Measured
    where: tuple[str, ...]
    pid: int | None


def measure_once(up: Up, concurrency: int, seconds: float, spec: Mapping[str, Any]) -> tuple[float, float]:
    """Return calls per second and the CPU time of a call; 0 calls if they fail, which is reported."""
    before = 0.0 if up.pid is None else cpu(up.pid)
    try:
        rate = load(up.where, concurrency, seconds, spec)
    except RuntimeError as error:
        print(f"{up.one.name}, {concurrency} at a time: {error}", file=sys.stderr)
        return 0.0, 0.0
    return rate, 0.0 if up.pid is None else (cpu(up.pid) - before) / (rate * seconds)


def measure(options: argparse.Namespace, call: Mapping[str, Any]) -> Figures:
    """Measure all servers in all rounds."""
    figures: Figures = {}
    with ExitStack() as stack:
        backend = (sys.executable, "-m", "benchmarks.measured", "backend", "PORT")
        _, api = stack.enter_context(running(backend))
        arguments = {"API": api, "JSON": stack.enter_context(as_json(options.document))}
        selected = [one for one in servers(options) if not options.only or one.name in (*options.only, REFERENCE)]
        all_up = [stack.enter_context(_up(one, arguments)) for one in selected]
        for _ in range(options.rounds):
            for up in all_up:
                for era, concurrency in product(up.one.eras, options.concurrency):
                    figure = measure_once(up, concurrency, options.seconds, request(up.one, era, call))
                    figures.setdefault((up.one.name, era, concurrency), []).append(figure)
    return figures


@contextmanager
def _up(one: Measured, arguments: Mapping[str, str]) -> Iterator[Up]:
    command = tuple(arguments.get(part, part) for part in one.command)
    if one.path is None:
        yield Up(one, ("stdio", *command), None)
        return
    with running(command) as (pid, url):
        yield Up(one, (url + one.path,), pid)


@contextmanager
def as_json(document: str) -> Iterator[str]:
    """Write the document as JSON, which all peers read."""
    import yaml  # noqa: PLC0415  # nothing else here needs it

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(yaml.safe_load(Path(document).read_text(encoding="utf-8")), file, default=str)
        file.flush()
        yield file.name


def show(figures: Figures, concurrency: list[int]) -> None:
    """Print a row for each server and era; ratios are to the reference at the same concurrency."""
    medians = {key: statistics.median(rate for rate, _ in rounds) for key, rounds in figures.items()}
    print("| server | era |" + "".join(f" {c} |" for c in concurrency) + f" of {REFERENCE} at 16 | µs CPU at 16 |")
    print("|---|---|" + "--:|" * (len(concurrency) + 2))
    for name, era in dict.fromkeys((name, era) for name, era, _ in figures):
        rates = "".join(f" {medians[name, era, c]:,.0f} |" for c in concurrency)
        reference = medians.get((REFERENCE, "handshake", 16))
        ratio = f"{medians[name, era, 16] / reference:.2f}" if reference and 16 in concurrency else "-"
        spent = statistics.median(used for _, used in figures[name, era, 16 if 16 in concurrency else concurrency[0]])
        print(f"| {name} | {era} |{rates} {ratio} | {f'{spent * 1e6:,.0f}' if spent else '-'} |")


def parser() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", default=str(ROOT / "specs" / "petstore.yaml"))
    parser.add_argument("--call", type=json.loads, default=_CALL, help="the name and arguments of the call, as JSON")
    parser.add_argument("--large", help="a document of many tools, such as GitHub's: a row of its own")
    parser.add_argument("--large-call", type=json.loads, default=_LARGE_CALL)
    parser.add_argument("--only", nargs="+", help="the names of rows: these, and what all are compared with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--aiohttp", help="a Python with aiohttp, httpx-aiohttp, starlette, uvicorn and uvloop")
    parser.add_argument("--fastmcp", help="a Python with fastmcp")
    parser.add_argument("--ivo", help="a node_modules with @ivotoby/openapi-mcp-server")
    parser.add_argument("--ivo-tool", default="get-pet", help="its name for the tool")
    parser.add_argument("--node", default="node")
    return parser


def main() -> None:
    """Run the command line."""
    options = parser().parse_args()
    show(measure(options, options.call), options.concurrency)


if __name__ == "__main__":
    main()
