"""What `openapi-mcp generate` and `openapi-mcp bundle` do, and what they say about it; they decide nothing else.

A package that is generated again keeps its name and its kind of runtime, unless others are asked for.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from . import archive, lock
from .bridge import Bridge
from .errors import PackageStale, UnresolvedConflicts, UsageError
from .folder import Folder
from .generator import Package, Runtime, generate
from .regeneration import Outcome, check, regenerate
from .report import plural, printable, totals

_PROJECT: Final = PurePosixPath("pyproject.toml")
_SHOWN: Final = frozenset({"conflict", "merged", "left", "deleted"})
"""What becomes of files that their owner wants to hear of one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be generated, and where. `name` and `runtime` None: as they are there, else the usual ones."""

    out: Path
    name: str | None = None
    runtime: Runtime | None = None
    templates: Path | None = None
    force: bool = False


def package(bridge: Bridge, order: Order) -> Package:
    """The package that is ordered, not yet on disk. Raises UsageError."""
    there = _there(order.out)
    runtime: Runtime = order.runtime or (there.runtime if there else "vendored")
    name = order.name or (there.name if there else None)
    return generate(_placed(bridge), name=name, runtime=runtime, templates=order.templates)


def write(bridge: Bridge, order: Order) -> Iterator[str]:
    """Write the package; the lines that say what became of it. UnresolvedConflicts at the end if there are some."""
    made = package(bridge, order)
    outcomes = regenerate(made.files, order.out, force=order.force)
    yield from _told(outcomes)
    yield f"{made.name} in {order.out}: {totals(bridge, bridge.problems)}"
    conflicts = [outcome for outcome in outcomes if outcome.kind == "conflict"]
    if conflicts:
        raise UnresolvedConflicts(
            f"{plural(len(conflicts), 'conflict')} with edits of yours, marked in the files",
            where=str(order.out),
            hint="resolve them as in git; nothing of yours is lost",
        )


def stale(bridge: Bridge, order: Order) -> Iterator[str]:
    """Write nothing; the lines that say what would change. PackageStale at the end if anything would."""
    changes = check(package(bridge, order).files, order.out)
    yield from (f"{change.kind}: {printable(str(change.path))}" for change in changes)
    if changes:
        raise PackageStale(
            f"{plural(len(changes), 'file')} would change", where=str(order.out), hint="run it without --check"
        )
    yield f"{order.out} is what {bridge.config.source} generates"


def bundle(folder: Path, output: Path | None = None) -> Path:
    """Write the `.mcpb` archive of a package on disk, into its folder if nothing else is said; where it is then."""
    content = archive.bundle(folder)
    there = _there(folder)
    place = output or folder / f"{there.name if there else folder.resolve().name}.mcpb"
    try:
        place.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(place), hint="choose another --output"
        ) from None
    return place


@dataclass(frozen=True, slots=True)
class _There:
    """What is known of a package that was generated before."""

    name: str
    runtime: Runtime


def _there(folder: Path) -> _There | None:
    """The package in a folder, if there is one."""
    place = Folder(folder)
    known = lock.read(place)
    content = place.read(_PROJECT) if known else None
    if known is None or content is None:
        return None
    try:
        name = tomllib.loads(content.decode("utf-8"))["project"]["name"]
    except (ValueError, KeyError, TypeError):
        return None
    copied = any("_runtime" in path.parts for path in known.files)
    return _There(name, "vendored" if copied else "installed") if isinstance(name, str) else None


def _told(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A line for each file that its owner had a hand in, and a count of the others."""
    for outcome in outcomes:
        if outcome.kind in _SHOWN:
            note = f" ({outcome.note})" if outcome.note else ""
            yield f"{outcome.kind}: {printable(str(outcome.path) + note)}"
    counts = Counter(outcome.kind for outcome in outcomes)
    yield ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def _placed(bridge: Bridge) -> Bridge:
    """The bridge with its tools at the base URL that was asked for, if one was."""
    base_url = bridge.config.base_url
    if base_url is None:
        return bridge
    tools = tuple(replace(tool, base_url=base_url.rstrip("/")) for tool in bridge.tools)
    return replace(bridge, compiled=replace(bridge.compiled, tools=tools))
