"""Measure how well and how fast search mode finds the operations that requests in plain English need.

    python -m benchmarks.retrieval        all of it
    python -m benchmarks.retrieval -v     with every request that misses an operation among the first ten

Two sets of requests: RestBench's for TMDB, on its document alone and among GitHub's operations, and our own for eight
documents of the corpus (retrieval.json). Recall@k is the share of needed operations among the first k; *all* is the
share of requests whose needed operations are all among them. The last part searches a document of 11,000 operations.
Sets that are missing are skipped with a message. Exit code: 1 if a figure misses its limit.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.document.model import Document
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build

from .prism import CORPUS
from .synthetic import document

RETRIEVAL: Final = CORPUS.parent / "retrieval"
OWN: Final = Path(__file__).with_name("retrieval.json")
DEPTHS: Final = (5, 10, 20)
AIMS: Final = {"TMDB": 0.75, "TMDB among GitHub's": 0.70}
"""Recall@10, at least."""

INDEX_SECONDS, SEARCH_SECONDS = 2.0, 0.020
"""For 11,000 operations, at most."""

SPOKEN: Final = (
    "add a member to the group Marketing",
    "which shared attachments does the message from Bob have",
    "delete the archived channel of my team",
    "list pending reviews",
    "rename the section of the calendar event",
    "who owns the device",
    "list users",
    "create a default permission rule for the site Intranet",
    "what alerts came for the printers today",
)
"""Requests for the document of 11,000 operations, with few and many words, rare and common ones."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request and the operations (`METHOD /path`) that it needs."""

    text: str
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The operations that the search returned for a request, best first."""

    request: Request
    tools: tuple[str, ...]

    def hits(self, depth: int) -> int:
        """Return the number of needed operations among the first `depth`."""
        return len(self.request.needs & set(self.tools[:depth]))


def main() -> int:
    """Measure and print; return 1 if a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description="Search quality and speed.")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed")
    verbose = parser.parse_args().verbose
    print(f"{'requests for':<28}{'tools':>7}{'requests':>10}" + "".join(f"{f'@{k}':>8}{'all':>6}" for k in DEPTHS))
    reached = [*restbench(verbose=verbose), *own(verbose=verbose), speed()]
    return 0 if all(reached) else 1


def restbench(*, verbose: bool) -> Iterable[bool]:
    """Measure RestBench's requests, alone and among GitHub's operations."""
    if not RETRIEVAL.is_dir():
        print(f"skipped: RestBench's requests are absent ({RETRIEVAL})", file=sys.stderr)
        return
    entries: list[dict[str, Any]] = json.loads((RETRIEVAL / "tmdb_queries.json").read_text())
    requests = [Request(one["query"], frozenset(" ".join(step.split()) for step in one["solution"])) for one in entries]
    tools = tools_of(RETRIEVAL / "tmdb_oas.json")
    yield show("TMDB", tools, requests, verbose=verbose)
    github = CORPUS / "github-rest" / "api.github.com.json"
    if github.is_file():
        yield show("TMDB among GitHub's", mixed(tools, tools_of(github)), requests, verbose=verbose)
    else:
        print(f"skipped: GitHub's document is absent ({github})", file=sys.stderr)


def own(*, verbose: bool) -> Iterable[bool]:
    """Measure our own requests, each on its document."""
    if not CORPUS.is_dir():
        print(f"skipped: the corpus of documents is absent ({CORPUS})", file=sys.stderr)
        return
    manifest: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text())
    roots = {str(entry["name"]): CORPUS / entry["name"] / entry["root"] for entry in manifest if "root" in entry}
    by_document: dict[str, list[Request]] = {}
    for each in json.loads(OWN.read_text()):
        by_document.setdefault(each["document"], []).append(Request(each["request"], frozenset(each["needs"])))
    for name, requests in by_document.items():
        yield show(name, tools_of(roots[name]), requests, verbose=verbose)


def show(name: str, tools: Sequence[Tool], requests: Sequence[Request], *, verbose: bool) -> bool:
    """Print a row; return whether its limit is met."""
    outcomes = searched(tools, requests)
    cells = "".join(f"{recall(outcomes, k):>8.3f}{complete(outcomes, k):>6.2f}" for k in DEPTHS)
    print(f"{name:<28}{len(tools):>7,}{len(requests):>10,}{cells}")
    for outcome in outcomes if verbose else ():
        if missed := sorted(outcome.request.needs - set(outcome.tools[:10])):
            print(f"    {outcome.request.text}\n        missed {missed}\n        found {list(outcome.tools[:10])}")
    return recall(outcomes, 10) >= AIMS.get(name, 0.0)


def searched(tools: Sequence[Tool], requests: Iterable[Request]) -> list[Outcome]:
    """Return the outcomes of all requests."""
    search = Search(tools)
    return [
        Outcome(each, tuple(f"{hit.tool.method} {hit.tool.path}" for hit in search.find(each.text, max(DEPTHS))))
        for each in requests
    ]


def recall(outcomes: Sequence[Outcome], depth: int) -> float:
    """Return the share of needed operations among the first `depth`."""
    return sum(each.hits(depth) for each in outcomes) / sum(len(each.request.needs) for each in outcomes)


def complete(outcomes: Sequence[Outcome], depth: int) -> float:
    """Return the share of requests whose needed operations are all among the first `depth`."""
    return sum(each.hits(depth) == len(each.request.needs) for each in outcomes) / len(outcomes)


def tools_of(path: Path) -> tuple[Tool, ...]:
    """Return the tools of a document as search mode has them."""
    return Bridge.open(Config(source=str(path), mode=Mode.SEARCH)).tools


def mixed(*sets: Iterable[Tool]) -> list[Tool]:
    """Return the tools of several documents together, with unique names."""
    return [replace(tool, name=f"{tool.name}_{index}") for index, tools in enumerate(sets) for tool in tools]


def speed() -> bool:
    """Index and search 11,000 operations; return whether both limits are met."""
    tools = build(Document(document(), "file:///synthetic.json", "3.0")).tools
    started = time.perf_counter()
    search = Search(tools)
    index = time.perf_counter() - started
    times = []
    for text in SPOKEN * 5:
        started = time.perf_counter()
        search.find(text, 10)
        times.append(time.perf_counter() - started)
    median, slowest = statistics.median(times), max(times)
    print(f"{len(tools):,} tools: index {index:.2f} s, search {median * 1000:.1f} ms (slowest {slowest * 1000:.1f} ms)")
    return index < INDEX_SECONDS and median < SEARCH_SECONDS


if __name__ == "__main__":
    sys.exit(main())
