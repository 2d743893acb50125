"""Write docs/comparison.md: what this project and its peers make of real documents, and how many calls they answer.

    python -m benchmarks.comparison --fastmcp VENV/bin/python --ivo NODE_MODULES --corpus FOLDER > docs/comparison.md

Each server gets the same documents over stdio and lists its tools; then each answers calls of one tool, 16 at a time. A
list counts as made if all its pages arrive within `MAX_SECONDS`. Tokens are bytes of the list divided by four. What no
program can measure stands in `ASPECTS`, after the documentation of each project.
"""

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from . import cold_start, throughput

ROOT: Final = Path(__file__).parents[1]
OURS: Final = "openapi-mcp"
FASTMCP: Final = "FastMCP"
IVO: Final = "ivo-toby"
MAX_SECONDS: Final = 60.0
"""Longest time that clients wait for a server to start."""
ROUNDS: Final = 3

DOCUMENTS: Final[Mapping[str, tuple[str, int]]] = {
    "Museum (OpenAPI 3.1, YAML)": ("museum/openapi.yaml", 8),
    "Pet store (Swagger 2.0)": ("petstore-v2/petstore.json", 20),
    "Slack (Swagger 2.0)": ("slack-web/web-api/slack_web_openapi_v2.json", 174),
    "Discord (OpenAPI 3.1)": ("discord/specs/openapi.json", 242),
    "Box": ("box/openapi.json", 296),
    "Stripe (YAML)": ("stripe/openapi/spec3.yaml", 468),
    "Jira": ("jira/jira.json", 499),
    "DigitalOcean (1,488 files)": ("digitalocean/DigitalOcean-public.v2.yaml", 659),
    "Kubernetes (Swagger 2.0)": ("kubernetes/kubernetes/swagger.json.unprocessed", 1123),
    "GitHub": ("github-rest/api.github.com.json", 1223),
}
"""Documents by title: the path in the corpus, and the number of operations."""

ASPECTS: Final = """
| | openapi-mcp | FastMCP | ivo-toby |
|---|---|---|---|
| made for | OpenAPI documents | **MCP servers of any kind**, OpenAPI is one source | OpenAPI documents |
| tools written by hand beside those of the document | in a generated package | **yes, its main use** | no |
| sign-in of callers with named identity providers | any, by the standard | **ready-made for many** | no |
| prompts and resources | no | **yes** | **yes** |
| used as a library, without the command line | Python | **Python, with routes and middleware** | Node |
| a package of Python code to own | **yes** | no | no |
| names, texts and arguments changed without code | **overlays, `x-mcp`, options** | in Python | filters |
"""


@dataclass(frozen=True)
class Listing:
    """List that a server made of a document: its number of tools, its tokens, seconds to it; None: no list."""

    tools: int
    tokens: int
    seconds: float


def main() -> int:
    """Measure, and print the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--corpus", type=Path, default=ROOT.parent / "shared" / "corpus", help="folder of the documents"
    )
    parser.add_argument("--fastmcp", required=True, metavar="PYTHON", help="a Python with fastmcp")
    parser.add_argument(
        "--ivo", required=True, metavar="FOLDER", help="a node_modules with @ivotoby/openapi-mcp-server"
    )
    options = parser.parse_args()
    lists = {title: _listings(options, options.corpus / path) for title, (path, _) in DOCUMENTS.items()}
    print(_page(lists, _rates(options), _versions(options)), end="")
    return 0


def _listings(options: argparse.Namespace, document: Path) -> Mapping[str, Listing | None]:
    with _as_json(document) as path:
        found = {name: _listing(command) for name, command in _commands(options, document, path).items()}
    print(document.name, found, file=sys.stderr)
    return found


def _commands(options: argparse.Namespace, document: Path, path: str) -> Mapping[str, Sequence[str]]:
    """Return the command of each server. The peers get JSON, which both read, and an address that nobody listens to."""
    api = "http://127.0.0.1:9"
    fixed = ("--mode", "all", "--transport", "stdio", "--no-cache", "--base-url", api)
    ivo = str(Path(options.ivo) / "@ivotoby/openapi-mcp-server/bin/mcp-server.js")
    return {
        OURS: (sys.executable, "-m", "openapi_mcp", "serve", str(document), *fixed),
        FASTMCP: (options.fastmcp, str(ROOT / "benchmarks" / "fastmcp_server.py"), "stdio", api, path),
        IVO: ("node", ivo, "--api-base-url", api, "--openapi-spec", path, "--transport", "stdio"),
    }


@contextmanager
def _as_json(document: Path) -> Iterator[str]:
    """Yield the path of a document as JSON; the file is temporary where the document is YAML."""
    import yaml  # noqa: PLC0415  # nothing else here needs it

    if document.suffix not in {".yaml", ".yml"}:
        yield str(document)
        return
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    value = yaml.load(document.read_text(), loader)  # noqa: S506  # nosec B506  # a safe loader
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(value, file, default=str)
        file.flush()
        yield file.name


def _listing(command: Sequence[str]) -> Listing | None:
    """Start a server and read its list; return None if it does not make one in time."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        clock = threading.Timer(MAX_SECONDS, process.kill)
        clock.start()
        try:
            return _first_list(process)
        except (OSError, EOFError, KeyError, ValueError):
            return None
        finally:
            clock.cancel()
            process.kill()


def _first_list(process: "subprocess.Popen[bytes]") -> Listing:
    begin = time.perf_counter()
    client = cold_start.Client(process)
    about = {"name": "benchmark", "version": "1"}
    client.ask("initialize", {"protocolVersion": cold_start.REVISION, "capabilities": {}, "clientInfo": about})
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools, size = client.list()
    return Listing(tools, size // 4, client.heard - begin)


def _rates(options: argparse.Namespace) -> Mapping[tuple[str, str], float]:
    """Return calls per second of each server and transport, 16 at a time: medians of the rounds."""
    command = ["--fastmcp", options.fastmcp, "--ivo", options.ivo]
    settings = throughput.parser().parse_args([*command, "--rounds", str(ROUNDS), "--concurrency", "16"])
    figures = throughput.measure(settings, settings.call)
    return {(name, era): statistics.median(rate for rate, _ in rounds) for (name, era, _), rounds in figures.items()}


def _versions(options: argparse.Namespace) -> Mapping[str, str]:
    code = "from importlib.metadata import version; print(version('fastmcp'))"
    fastmcp = subprocess.run([options.fastmcp, "-c", code], capture_output=True, text=True, check=True)
    ivo = json.loads((Path(options.ivo) / "@ivotoby/openapi-mcp-server/package.json").read_text())
    return {OURS: version("mcp-openapi-bridge"), FASTMCP: fastmcp.stdout.strip(), IVO: ivo["version"]}


def _page(
    lists: Mapping[str, Mapping[str, Listing | None]],
    rates: Mapping[tuple[str, str], float],
    versions: Mapping[str, str],
) -> str:
    today = dt.datetime.now(tz=dt.UTC).date()
    names = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""# Comparison

Made by `python -m benchmarks.comparison` on {today:%-d %B %Y}, on one machine of {os.cpu_count()} cores, with {names}.
FastMCP is [a framework for MCP servers](https://gofastmcp.com) in Python that takes OpenAPI documents too, ivo-toby is
[openapi-mcp-server](https://github.com/ivo-toby/mcp-openapi-server) for Node. The best of a row is bold.

## Tools of real documents

Tools made of all operations, over stdio; the seconds until the list is complete, without a cache; tokens of the whole
list (bytes divided by four). A dash: it made no list, or none within {MAX_SECONDS:.0f} seconds.

| document | operations | {" | ".join(versions)} |
|---|--:|{"--:|" * len(versions)}
{"".join(_row(title, lists[title]) for title in lists)}
A longer list is not better. Here all tools are listed (`--mode all`); by default openapi-mcp lists three tools
instead of more than 128.

## Calls

`tools/call` of one GET, 16 at a time, calls per second; API, load generator and server on the same cores.

| | {" | ".join(versions)} |
|---|{"--:|" * len(versions)}
{_rate_rows(rates)}
## What else to compare
{ASPECTS}"""


def _row(title: str, found: Mapping[str, Listing | None]) -> str:
    cells = " | ".join(_cell(listing) for listing in found.values())
    return f"| {title} | {DOCUMENTS[title][1]:,} | {cells} |\n"


def _cell(listing: Listing | None) -> str:
    if listing is None:
        return "-"
    return f"{listing.tools:,} in {listing.seconds:.1f} s, {listing.tokens:,} tokens"


def _rate_rows(rates: Mapping[tuple[str, str], float]) -> str:
    """Return a row for each transport, the best of it in bold."""
    rows = {
        "HTTP, MCP to 2025-11-25": (("openapi-mcp serve", "handshake"), (FASTMCP, "handshake"), (IVO, "handshake")),
        "HTTP, MCP 2026-07-28": (("openapi-mcp serve", "stateless"), (FASTMCP, "stateless"), (IVO, "stateless")),
        "stdio": (
            ("openapi-mcp serve, stdio", "handshake"),
            (f"{FASTMCP}, stdio", "handshake"),
            (f"{IVO}, stdio", "handshake"),
        ),
    }
    return "".join(f"| {title} | {_rate_cells([rates.get(key) for key in keys])} |\n" for title, keys in rows.items())


def _rate_cells(found: Sequence[float | None]) -> str:
    best = max(rate for rate in found if rate)
    shown = ("-" if not rate else f"**{rate:,.0f}**" if rate == best else f"{rate:,.0f}" for rate in found)
    return " | ".join(shown)


if __name__ == "__main__":
    sys.exit(main())
