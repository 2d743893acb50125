"""The commands `generate` and `bundle`: a package for a bridge's tools, on disk, and what they tell of it."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from . import archive, regeneration
from .bridge import Bridge
from .errors import PackageStale, UnresolvedConflicts
from .fates import Kind
from .generator import Runtime, generate
from .regeneration import Outcome

_QUIET: Final[frozenset[Kind]] = frozenset({"unchanged"})
_ROUTINE: Final[frozenset[Kind]] = frozenset({"written", "updated", "unchanged"})
"""What becomes of files that nobody changed; only counted where there are many."""

MANY: Final = 40
"""Lines that a person still reads; of more, only those are printed that somebody has to know."""


def write(
    bridge: Bridge,
    folder: Path,
    *,
    name: str | None = None,
    runtime: Runtime = "vendored",
    templates: Path | None = None,
    force: bool = False,
) -> list[Outcome]:
    """Write the package of a bridge into a folder, or write it again. Raises as generate and regenerate do."""
    package = generate(_placed(bridge), name=name, runtime=runtime, templates=templates)
    return regeneration.regenerate(package.files, folder, force=force)


def check(
    bridge: Bridge,
    folder: Path,
    *,
    name: str | None = None,
    runtime: Runtime = "vendored",
    templates: Path | None = None,
) -> None:
    """Raise PackageStale where the package in a folder is not what would be generated now; nothing is written."""
    package = generate(_placed(bridge), name=name, runtime=runtime, templates=templates)
    stale = regeneration.check(package.files, folder)
    if stale:
        some = ", ".join(str(outcome.path) for outcome in stale[:5]) + (" …" if len(stale) > 5 else "")
        count = f"{len(stale):,} file{'' if len(stale) == 1 else 's'}"
        raise PackageStale(
            f"the package is not what its document says: {count} would change: {some}",
            where=str(folder),
            hint=f"openapi-mcp generate {bridge.config.source} {folder}",
        )


def lines(outcomes: Sequence[Outcome], folder: Path) -> Iterator[str]:
    """What became of the files, a line each, and the sum of it."""
    silent = _ROUTINE if len(outcomes) > MANY else _QUIET
    for outcome in outcomes:
        if outcome.kind not in silent:
            yield f"{outcome.kind:<9} {folder / outcome.path}{f'  {outcome.note}' if outcome.note else ''}"
    counts = Counter(outcome.kind for outcome in outcomes)
    yield f"{folder}: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    if set(counts) == {"written"}:
        yield f"how to run it, and where your own code goes: {folder / 'README.md'}"


def raise_conflicts(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Raise UnresolvedConflicts where there are any, after everything has been written."""
    conflicts = [outcome for outcome in outcomes if outcome.kind == "conflict"]
    if conflicts:
        count = f"{len(conflicts):,} file{'' if len(conflicts) == 1 else 's'}"
        hint = "decide between the marks as after a merge, then generate again"
        raise UnresolvedConflicts(f"both sides changed the same in {count}", where=str(folder), hint=hint)


def bundle(folder: Path, output: Path | None = None) -> Path:
    """Make the `.mcpb` archive of the package in a folder, and return where it is. Raises as archive.bundle does."""
    content = archive.bundle(folder)
    manifest = json.loads((folder / archive.MANIFEST).read_text(encoding="utf-8"))
    path = output or folder / f"{manifest['name']}-{manifest['version']}.mcpb"
    path.write_bytes(content)
    return path


def _placed(bridge: Bridge) -> Bridge:
    """The bridge with its tools at the base URL that was asked for."""
    base_url = bridge.config.base_url
    if base_url is None:
        return bridge
    tools = tuple(replace(tool, base_url=base_url.rstrip("/")) for tool in bridge.tools)
    return replace(bridge, compiled=replace(bridge.compiled, tools=tools))
