"""Call every tool of real documents against Stoplight Prism, which validates each request against the document.

    python -m benchmarks.prism                 all documents of `DOCUMENTS`
    python -m benchmarks.prism stripe box      some
    python -m benchmarks.prism -v stripe       with every refusal

The documents are those of the corpus and a few of this project's own (`prism/documents`), each about one feature that
real documents use against the letter of the specification.
Each tool is called twice through the whole runtime, with its required arguments only and with all of them; the values
are made from its inputSchema. Exit code: 1 if fewer than 99 % of the calls are accepted or a refusal has no explanation
(`explanations.py`), 2 if the corpus is missing.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from .driving import Refusal, Tally, drive
from .explanations import explain
from .referee import install

CORPUS: Final = Path(__file__).parents[2] / "shared" / "corpus"
OWN_DOCUMENTS: Final = {path.stem: path for path in sorted(Path(__file__).with_name("prism").glob("documents/*.yaml"))}
"""The paths of this project's documents by name."""

DOCUMENTS: Final = (
    "stripe", "github-rest", "box", "twilio-api-v2010", "slack-web", "kubernetes", "discord", "digitalocean",
    "petstore-v3", "petstore-v2", "museum", "redocly-pets", "openai", "netbox", "jira", "figma", "star-trek",
    "scalar-galaxy", "qdrant", "gitea", "docker-engine", *OWN_DOCUMENTS,
)  # fmt: skip

WANTED: Final = 0.99
"""The share of all calls that the referee must accept."""

SHOWN: Final = 300
"""Characters of an example's arguments and request."""


def main() -> int:
    """Call the tools of the requested documents and print the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prism", description="Requests before a referee.")
    parser.add_argument("names", nargs="*", metavar="NAME", default=DOCUMENTS, help="documents of the corpus")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every refusal, not one of each kind")
    options = parser.parse_args()
    if not CORPUS.is_dir():
        print(f"The corpus of documents is not there ({CORPUS}): nothing was driven.", file=sys.stderr)
        return 2
    manifest: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text())
    corpus = {str(entry["name"]): CORPUS / entry["name"] / entry["root"] for entry in manifest if "root" in entry}
    paths = corpus | OWN_DOCUMENTS
    if unknown := [name for name in options.names if name not in paths]:
        parser.error(f"there is no document of the name {', '.join(unknown)}")
    install()
    tallies = []
    for name in options.names:
        tallies.append(drive(name, str(paths[name])))
        show(tallies[-1], verbose=options.verbose)
    return summary(tallies)


def show(tally: Tally, *, verbose: bool) -> None:
    """Print one document: its counts, and each kind of refusal with an example."""
    print(
        f"{tally.name}: {tally.tools} tools, {tally.driven} calls, {tally.accepted} accepted, "
        f"{len(tally.refusals)} refused, {len(tally.not_driven)} not driven; "
        f"{tally.emptied - len(tally.overlooked)} of {tally.emptied} emptied requests refused ({tally.seconds:.0f} s)"
    )
    for whose, refusals in _grouped(tally):
        print(f"    {len(refusals):4} refused: {whose}")
        for refusal in refusals if verbose else refusals[:1]:
            _show_refusal(refusal)
    for why, count in Counter(tally.not_driven).items():
        print(f"    {count:4} not driven: {why}")
    if tally.overlooked:
        print(f"    accepted although emptied: {', '.join(tally.overlooked)[:SHOWN]}")
    sys.stdout.flush()


def _show_refusal(refusal: Refusal) -> None:
    print(f"           {refusal.tool} {json.dumps(refusal.arguments)[:SHOWN]}")
    if refusal.request is not None:
        body = refusal.request.content.decode("utf-8", "replace").replace("\r\n", " ")
        kind = refusal.request.headers.get("content-type", "")
        print(f"           {refusal.request.method} {refusal.request.url.raw_path.decode()} {kind} {body}"[:SHOWN])
    for reason in refusal.reasons[:3]:
        print(f"           ! {reason}"[:SHOWN])


def _grouped(tally: Tally) -> Iterator[tuple[str, list[Refusal]]]:
    """Group refusals by explanation, else by the general form of the first reason; the most frequent first."""
    groups: dict[str, list[Refusal]] = {}
    for refusal in tally.refusals:
        explanations = explain(tally.name, refusal)
        causes = [f"{item.whose}: {item.why}" for item in explanations]
        causes = causes or [f"UNEXPLAINED: {_general(str(refusal.reasons[0]))}"]
        groups.setdefault("; ".join(causes), []).append(refusal)
    yield from sorted(groups.items(), key=lambda item: -len(item[1]))


def _general(reason: str) -> str:
    """Return a reason with its numbers replaced."""
    return re.sub(r"\b\d+\b", "N", reason)


def summary(tallies: Iterable[Tally]) -> int:
    """Print the table and return the exit code."""
    rows = [*map(_row, tallies)]
    total = [sum(row[column] for row in rows) for column in range(7)]
    names = [tally.name for tally in tallies]
    print("\n| document | tools | calls | accepted | refused | unexplained | not driven | seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, row in [*zip(names, rows, strict=True), ("**all**", total)]:
        print(f"| {name} | {' | '.join(f'{number:,}' for number in row)} |")
    share = total[2] / total[1] if total[1] else 0.0
    print(f"\n{total[2]:,} of {total[1]:,} calls accepted: {share:.2%}; {total[4]} refusals without an explanation")
    return int(share < WANTED or total[4] > 0)


def _row(tally: Tally) -> list[int]:
    unexplained = sum(not explain(tally.name, refusal) for refusal in tally.refusals)
    return [tally.tools, tally.driven, tally.accepted, len(tally.refusals), unexplained, len(tally.not_driven),
            round(tally.seconds)]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
