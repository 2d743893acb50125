"""Measure what `check --fix` repairs: documents with injected faults, before and after, at the API of the true one.

    python -m benchmarks.repair                  all documents of `DOCUMENTS` (ten minutes)
    python -m benchmarks.repair museum-1 uspto-2 some
    python -m benchmarks.repair -v museum-1      with the faults, the overlay and every refusal

Exit code: 1 if fewer than 95 % of the calls are accepted after the repairs, an overlay has more than 20 lines, or the
median of Redocly's score rises by less than 15 points; 2 if the corpus of real documents is missing.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.referee import install

from . import redocly
from .measurement import Measurement, measure

SPECS: Final = Path(__file__).parents[2] / "specs"
CORPUS: Final = Path(__file__).parents[3] / "shared" / "corpus"

WANTED_SHARE: Final = 0.95
WANTED_LINES: Final = 20
WANTED_RISE: Final = 15.0
"""Share of accepted calls after the repairs, lines of an overlay, and points of Redocly's score in the median."""

SOURCES: Final = {
    "museum": (CORPUS / "museum" / "openapi.yaml", 4),
    "galaxy": (CORPUS / "scalar-galaxy" / "3.1.yaml", 3),
    "petstore-v3": (CORPUS / "petstore-v3" / "src" / "main" / "resources" / "openapi.yaml", 3),
    "uspto": (CORPUS / "oai-uspto" / "examples" / "v3.0" / "uspto.yaml", 3),
    "petstore": (SPECS / "petstore.yaml", 2),
    "library": (SPECS / "library.yaml", 1),
    "redocly-pets": (CORPUS / "redocly-pets" / "resources" / "pets.yaml", 1),
    "links": (CORPUS / "oai-link-example" / "examples" / "v3.0" / "link-example.yaml", 1),
    "tictactoe": (CORPUS / "oai-tictactoe" / "examples" / "v3.1" / "tictactoe.yaml", 1),
    "wikimedia": (CORPUS / "wikimedia" / "wikimedia.org.json", 1),
}
"""Documents of one file, of OpenAPI 3.x, with up to 40 operations; and how many faulty documents are made of each."""

DOCUMENTS: Final = {
    f"{name}-{seed}": (path, seed) for name, (path, count) in SOURCES.items() for seed in range(1, count + 1)
}
"""Faulty documents by their names: the true one, and the seed of its faults."""


def main() -> int:
    """Measure the requested documents and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair", description="Repairs of faulty documents.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="documents; all if none is named")
    parser.add_argument("-v", "--verbose", action="store_true", help="print faults, overlays and refusals")
    options = parser.parse_args()
    if not CORPUS.is_dir():
        print(f"The corpus of documents is not there ({CORPUS}): nothing was measured.", file=sys.stderr)
        return 2
    if unknown := [name for name in options.names if name not in DOCUMENTS]:
        parser.error(f"there is no document of the name {', '.join(unknown)}")
    logging.getLogger("openapi_mcp").addHandler(logging.NullHandler())
    install()
    install(redocly.HERE)
    measured = []
    for name in options.names or DOCUMENTS:
        measured.append(measure(name, *DOCUMENTS[name]))
        print(_row(measured[-1]), flush=True)
        if options.verbose:
            _show(measured[-1])
    return _summary(measured)


def _show(one: Measurement) -> None:
    for line in (*one.faults, *one.refused):
        print(f"    {line}")
    print(one.overlay)


def _row(one: Measurement) -> str:
    before, after = one.redocly
    cells = (one.name, one.operations, len(one.faults), one.calls, one.before, one.at_the_api, one.after,
             f"{one.own_after} of {one.own_calls}", one.lines, one.rounds, f"{before:.1f}", f"{after:.1f}")  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _summary(measured: Sequence[Measurement]) -> int:
    """Print totals and return the exit code."""
    calls = sum(one.calls for one in measured)
    shares = [sum(getattr(one, name) for one in measured) / calls for name in ("before", "at_the_api", "after")]
    own = sum(one.own_after for one in measured) / sum(one.own_calls for one in measured)
    lines = max(one.lines for one in measured)
    rise = median(one.redocly[1] - one.redocly[0] for one in measured)
    print(
        f"\n{len(measured)} documents, {calls:,} calls: accepted {shares[0]:.1%} before, {shares[1]:.1%} with "
        f"--base-url, {shares[2]:.1%} after ({own:.1%} of those that the repaired documents themselves make); "
        f"at most {lines} overlay lines; Redocly's score rises by {rise:.1f} in the median"
    )
    return int(shares[2] < WANTED_SHARE or lines > WANTED_LINES or rise < WANTED_RISE)


if __name__ == "__main__":
    sys.exit(main())
