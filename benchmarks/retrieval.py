"""Measure how well and how fast search mode finds the operations that requests in plain English need.

    python -m benchmarks.retrieval        all of it
    python -m benchmarks.retrieval -v     with every request that misses an operation among the first ten

Three sets of requests. RestBench's for TMDB, on its document alone and among GitHub's operations; our own for eight
documents of the corpus (retrieval.json); and steps.json, single steps and tasks for 16 documents, as somebody writes
them who does not know the API's words. Recall@k is the share of needed operations among the first k hits; *all* is the
share of requests whose needed operations are all among them. In the first two sets, whose requests are chains, the
tools that find a value for a hit count with it. The last part searches a document of 11,000 operations.
Where the extra `search` is installed, steps.json is measured with its sentence model too, which reads 17,000 texts
first: two minutes. Sets that are missing are skipped with a message. Exit code: 1 if a figure misses its limit.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.search.index_store import sentences
from openapi_mcp.runtime.search.ranking import Hit, Search
from openapi_mcp.runtime.search.vectors import sentence_model
from openapi_mcp.runtime.tool import Tool

from .prism import CORPUS
from .synthetic import document

RETRIEVAL: Final = CORPUS.parent / "retrieval"
OWN: Final = Path(__file__).with_name("retrieval.json")
DEPTHS: Final = (5, 10, 20)
AIMS: Final = {"TMDB": 0.86, "TMDB among GitHub's": 0.80}
"""Recall@10, at least."""

STEP_DEPTHS: Final = (1, 3, 10)
STEP_AIMS: Final = {"English steps": (0.43, 0.66, 0.84), "tasks": (0.0, 0.0, 0.66)}
"""Recall at STEP_DEPTHS, at least."""
SENTENCE_AIMS: Final = {
    "English steps": (0.43, 0.66, 0.87),
    "other languages": (0.0, 0.0, 0.40),
    "tasks": (0.0, 0.0, 0.66),
}
"""The same with the sentence model."""

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
    """The operations that the search returned for a request: those of each hit, best first."""

    request: Request
    tools: tuple[tuple[str, ...], ...]

    def first(self, depth: int) -> list[str]:
        """Return the operations of the first hits."""
        return list(chain.from_iterable(self.tools[:depth]))

    def hits(self, depth: int) -> int:
        """Return the number of needed operations among the first hits."""
        return len(self.request.needs & set(self.first(depth)))


def main() -> int:
    """Measure and print; return 1 if a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description="Search quality and speed.")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed")
    verbose = parser.parse_args().verbose
    print(f"{'requests for':<28}{'tools':>7}{'requests':>10}" + "".join(f"{f'@{k}':>8}{'all':>6}" for k in DEPTHS))
    reached = [*restbench(verbose=verbose), *own(verbose=verbose), *steps(verbose=verbose)]
    reached += [*steps(verbose=verbose, with_model=True), speed()]
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


def steps(*, verbose: bool, with_model: bool = False) -> Iterable[bool]:
    """Measure single steps and tasks, by the halves of the documents: a choice is made on one, and judged on both."""
    if with_model and not sentence_model():
        print("skipped: the sentence model of the extra `search` is not installed", file=sys.stderr)
        return
    if not (RETRIEVAL.is_dir() and CORPUS.is_dir()):
        print(f"skipped: steps.json or the corpus is absent ({RETRIEVAL})", file=sys.stderr)
        return
    entries: list[dict[str, Any]] = json.loads((RETRIEVAL / "steps.json").read_text())
    manifest: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text())
    roots = {str(entry["name"]): CORPUS / entry["name"] / entry["root"] for entry in manifest if "root" in entry}
    documents = sorted({entry["document"] for entry in entries})
    found = {document: search_of(tools_of(roots[document]), with_model=with_model) for document in documents}
    shares = [(entry, step_shares(found[entry["document"]], entry, verbose=verbose)) for entry in entries]
    english = [(entry, share) for entry, share in shares if entry["kind"] == "step" and entry["language"] == "en"]
    sets = {
        "English steps": [share for _, share in english],
        "  one half": [share for entry, share in english if entry["document"] in documents[::2]],
        "  other half": [share for entry, share in english if entry["document"] in documents[1::2]],
        "other languages": [s for entry, s in shares if entry["kind"] == "step" and entry["language"] != "en"],
        "tasks": [share for entry, share in shares if entry["kind"] == "task"],
    }
    title, aims = ("steps.json with the model", SENTENCE_AIMS) if with_model else ("steps.json", STEP_AIMS)
    print(f"\n{title:<28}{'requests':>17}" + "".join(f"{f'@{k}':>8}" for k in STEP_DEPTHS))
    for name, rows in sets.items():
        means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
        print(f"{name:<28}{len(rows):>17,}" + "".join(f"{mean:>8.3f}" for mean in means))
        yield all(mean >= aim for mean, aim in zip(means, aims.get(name, (0.0, 0.0, 0.0)), strict=True))


def search_of(tools: Sequence[Tool], *, with_model: bool) -> Search:
    """Return a search among tools, with the sentence model or without."""
    return Search(tools, sentences=sentences(tools, seconds=math.inf) if with_model else None)


def step_shares(search: Search, entry: dict[str, Any], *, verbose: bool) -> tuple[float, ...]:
    """Return the shares of the needed operations, or alternatives to them, among the first hits at STEP_DEPTHS."""
    found = [operation(hit.tool) for hit in search.find(entry["query"], max(STEP_DEPTHS))]
    needs: list[list[str]] = entry.get("accept") or [[need] for need in entry["needs"]]
    if verbose and not all(set(need) & set(found) for need in needs):
        print(f"    {entry['document']}: {entry['query']}\n        needs {needs}\n        found {found}")
    return tuple(sum(bool(set(need) & set(found[:depth])) for need in needs) / len(needs) for depth in STEP_DEPTHS)


def show(name: str, tools: Sequence[Tool], requests: Sequence[Request], *, verbose: bool) -> bool:
    """Print a row; return whether its limit is met."""
    outcomes = searched(tools, requests)
    cells = "".join(f"{recall(outcomes, k):>8.3f}{complete(outcomes, k):>6.2f}" for k in DEPTHS)
    print(f"{name:<28}{len(tools):>7,}{len(requests):>10,}{cells}")
    for outcome in outcomes if verbose else ():
        if missed := sorted(outcome.request.needs - set(outcome.first(10))):
            print(f"    {outcome.request.text}\n        missed {missed}\n        found {outcome.first(10)}")
    return recall(outcomes, 10) >= AIMS.get(name, 0.0)


def searched(tools: Sequence[Tool], requests: Iterable[Request]) -> list[Outcome]:
    """Return the outcomes of all requests."""
    search = Search(tools)
    return [
        Outcome(each, tuple(tuple(map(operation, shown(hit))) for hit in search.find(each.text, max(DEPTHS))))
        for each in requests
    ]


def shown(hit: Hit) -> list[Tool]:
    """Return the tools that an answer shows for a hit."""
    return [hit.tool, *(tool for _, tool in hit.producers)]


def operation(tool: Tool) -> str:
    """Return the operation of a tool, `METHOD /path`."""
    return f"{tool.method} {tool.path}"


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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.json"
        path.write_text(json.dumps(document()))
        tools = tools_of(path)
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
