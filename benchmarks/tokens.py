"""Measure what tools cost a model: the whole list, the list of a search, a search, and the description of a tool.

    python -m benchmarks.tokens              the 16 documents of steps.json
    python -m benchmarks.tokens box stripe   these documents of the corpus

Columns: tokens of `tools/list`, with the arguments `select` and `pages` where they are offered, with `--mode all` and
with `--mode search`; of a search of ten tools, the median over the document's requests in steps.json (or the titles of
its tools, where that has none) and the largest; of `describe_tool`, the median over every seventh tool and the largest;
milliseconds to write the answer to a search; and the number of searches that cost as much as the whole list. Tokens are
bytes divided by four.
Exit code: 1 if a median over the documents, or the list of a search, exceeds its limit.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from openapi_mcp.answers.arguments import listed
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.search.answers import render_hits, render_tool
from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.runtime.search.tools import DEFAULT_LIMIT, builtin_tools
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.token_budget import tokens, tokens_of_bytes

from .prism import CORPUS
from .retrieval import RETRIEVAL, tools_of

MAX_SEARCH, MAX_DESCRIBE = 900, 700
"""Tokens, in the median over the documents."""

MAX_SEARCH_LIST = 1100
"""Tokens of the list of a search, for every document."""

EVERY: Final = 7
"""One in so many tools is described."""

MAX_REQUESTS: Final = 30
"""Requests of a document that are searched."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of one document: of its lists, its searches and descriptions; seconds to write the answer of a search."""

    search_list: int
    searches: Sequence[int]
    descriptions: Sequence[int]
    seconds: float

    @property
    def search(self) -> float:
        """The median search."""
        return statistics.median(self.searches)

    @property
    def describe(self) -> float:
        """The median description."""
        return statistics.median(self.descriptions)


def main() -> int:
    """Measure and print; return 1 if a limit is missed, 2 without the corpus."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokens", description="Tokens of lists and searches.")
    parser.add_argument("documents", nargs="*", help="names in the corpus; those of steps.json if none are given")
    names = parser.parse_args().documents or sorted(requests_by_document())
    if not CORPUS.is_dir():
        print(f"the corpus of documents is absent ({CORPUS})", file=sys.stderr)
        return 2
    print(
        "| document | tools | whole list | list of a search | search | largest | describe | largest | ms | searches |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    costs = []
    for name in names:
        tools = tools_of(document(name))
        costs.append(measure(tools, requests_by_document().get(name, [])))
        print(row(name, len(tools), whole_list(name), costs[-1]), flush=True)
    search, describe = (statistics.median(each) for each in ([c.search for c in costs], [c.describe for c in costs]))
    print(f"| **median** | | | | **{search:.0f}** | | **{describe:.0f}** | | | |")
    lists = max(each.search_list for each in costs)
    return 0 if search <= MAX_SEARCH and describe <= MAX_DESCRIBE and lists <= MAX_SEARCH_LIST else 1


def row(name: str, tools: int, whole: int, costs: Costs) -> str:
    """Return a line of the table."""
    searches = max((whole - costs.search_list) / costs.search, 0)
    cells = [name, f"{tools:,}", f"{whole:,}", f"{costs.search_list:,}"]
    cells += [
        f"{costs.search:.0f}",
        f"{max(costs.searches):,}",
        f"{costs.describe:.0f}",
        f"{max(costs.descriptions):,}",
    ]
    return f"| {' | '.join([*cells, f'{costs.seconds * 1000:.1f}', f'{searches:,.0f}'])} |"


def measure(tools: Sequence[Tool], requests: Sequence[str]) -> Costs:
    """Return the costs of some tools, searched for these requests."""
    search = Search(tools)
    texts, seconds = [], []
    for request in (requests or [tool.title or tool.name for tool in tools[::EVERY]])[:MAX_REQUESTS]:
        hits = search.find(request, DEFAULT_LIMIT)
        if len(hits) < min(DEFAULT_LIMIT, len(tools)):
            continue  # of a request that finds fewer, an answer is shorter
        started = time.perf_counter()
        texts.append(render_hits(hits, len(tools)))
        seconds.append(time.perf_counter() - started)
    return Costs(
        sum(map(tokens, listed(builtin_tools(tools), tools))),
        [tokens_of_text(text) for text in texts],
        [tokens_of_text(render_tool(tool, tool.name)) for tool in tools[::EVERY]],
        statistics.median(seconds),
    )


def tokens_of_text(text: str) -> int:
    """Return the tokens of a text."""
    return tokens_of_bytes(len(text.encode(errors="replace")))


def whole_list(name: str) -> int:
    """Return the tokens of the list of all tools."""
    return sum(map(tokens, Bridge.open(Config(source=str(document(name)), mode=Mode.ALL)).catalog.tools))


def document(name: str) -> Path:
    """Return the path of a document of the corpus."""
    manifest: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text())
    roots = {str(entry["name"]): str(entry["root"]) for entry in manifest if "root" in entry}
    return CORPUS / name / roots[name]


def requests_by_document() -> dict[str, list[str]]:
    """Return the requests of steps.json."""
    found: dict[str, list[str]] = {}
    for entry in json.loads((RETRIEVAL / "steps.json").read_text()):
        found.setdefault(entry["document"], []).append(entry["query"])
    return found


if __name__ == "__main__":
    sys.exit(main())
