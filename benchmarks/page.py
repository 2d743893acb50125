"""Measure the page of a server: its first byte, cold and warm, the whole, a list and a search.

    python -m benchmarks.page [DOCUMENT]

DOCUMENT is GitHub's of the corpus by default, with 1,223 tools. A program that has found no worse than the bounds ends
with exit code 0: the first byte within 50 ms, the first one of all included, and a search within one second.
"""

import sys
import time
from pathlib import Path

import httpx

from openapi_mcp import Bridge, Config
from tests.command import command, serving_http

GITHUB = Path(__file__).parents[2] / "shared" / "corpus" / "github-rest" / "api.github.com.json"
API = "http://127.0.0.1:1"
MAX_FIRST_BYTE = 50.0
"""Milliseconds to the first byte of the page."""

MAX_SEARCH = 1000.0
"""Milliseconds to the rows of a search."""


def first_byte(client: httpx.Client, path: str) -> tuple[float, float]:
    """Return the milliseconds to the first byte of the body and to the last one."""
    start = time.perf_counter()
    with client.stream("GET", path) as response:
        chunks = response.iter_raw()
        next(chunks)
        first = time.perf_counter()
        for _ in chunks:
            pass
    return (first - start) * 1000, (time.perf_counter() - start) * 1000


def main() -> int:
    """Print a line for each measurement."""
    document = Path(sys.argv[1]) if len(sys.argv) > 1 else GITHUB
    bridge = Bridge.open(Config.from_options(str(document), {"base_url": API}))
    print(f"{len(bridge.tools):,} tools")
    worst = {"first byte": 0.0, "search": 0.0}
    with serving_http(command(document, API)) as url, httpx.Client(base_url=url.removesuffix("/mcp")) as client:
        client.get("/healthz")
        for name in ("cold", "warm", "warm"):
            first, whole = first_byte(client, "/")
            worst["first byte"] = max(worst["first byte"], first)
            print(f"page, {name}: first byte {first:.1f} ms, whole {whole:.1f} ms")
        for query in ("create an issue", "delete a repository", "who starred it"):
            _, whole = first_byte(client, f"/ui/list?query={query}")
            worst["search"] = max(worst["search"], whole)
            print(f"search for {query!r}: {whole:.1f} ms")
    return int(worst["first byte"] > MAX_FIRST_BYTE or worst["search"] > MAX_SEARCH)


if __name__ == "__main__":
    sys.exit(main())
