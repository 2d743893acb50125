"""`openapi-mcp generate` and `openapi-mcp bundle`: write a package or its archive, and report what changed.

A package that is generated again keeps its name and its kind of runtime, unless options name others.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from ..base_url_map import BaseUrlMap
from ..bridge import Bridge
from ..errors import PackageStale, UnresolvedConflicts, UsageError
from ..generator import mcpb, metadata
from ..generator.package import Package, Runtime, generate
from ..regeneration import lock
from ..regeneration.folder import Folder
from ..regeneration.plan import FileOutcome, check, regenerate
from ..runtime.request.redaction import redact, without_secrets, without_user
from . import console
from .report import plural, printable, totals

_PROJECT: Final = PurePosixPath("pyproject.toml")
_REPORTED: Final = frozenset({"conflict", "merged", "left", "deleted"})
"""Outcomes that are reported file by file: those of files with edits of their owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """Options of `generate`. `name` and `runtime` None: those of the package in `out`, else the default ones."""

    out: Path
    name: str | None = None
    runtime: Runtime | None = None
    templates: Path | None = None
    force: bool = False


def package(bridge: Bridge, options: GenerateOptions) -> Package:
    """Generate the package in memory. Raises UsageError."""
    existing = _existing_package(options.out)
    runtime: Runtime = options.runtime or (existing.runtime if existing else "vendored")
    name = options.name or (existing.name if existing else None)
    return generate(_with_base_url(bridge), name=name, runtime=runtime, templates=options.templates)


def write(bridge: Bridge, options: GenerateOptions) -> Iterator[str]:
    """Write the package; yield lines about its files. Raises UnresolvedConflicts after the last line."""
    new = package(bridge, options)
    if bridge.workflows and (names := [printable(tool.name) for tool in bridge.workflows.tools]):
        console.err(f"note: workflows are not written into packages: {', '.join(names)}")
    outcomes = regenerate(new.files, options.out, force=options.force)
    yield from _outcome_lines(outcomes)
    yield f"{new.name} in {options.out}: {totals(bridge, bridge.problems)}"
    conflicts = [outcome for outcome in outcomes if outcome.kind == "conflict"]
    if conflicts:
        raise UnresolvedConflicts(
            f"{plural(len(conflicts), 'conflict')} with your edits, marked in the files",
            where=str(options.out),
            hint="resolve them as in git; none of your edits is lost",
        )


def changes(bridge: Bridge, options: GenerateOptions) -> Iterator[str]:
    """Yield a line for each file that `write` would change. Raises PackageStale after the last line."""
    pending = check(package(bridge, options).files, options.out)
    yield from (f"{change.kind}: {printable(str(change.path))}" for change in pending)
    if pending:
        raise PackageStale(
            f"{plural(len(pending), 'file')} would change", where=str(options.out), hint="run it without --check"
        )
    yield f"{options.out} is up to date with {redact(bridge.config.source)}"


def bundle(folder: Path, output: Path | None = None) -> Path:
    """Write the `.mcpb` archive of a package on disk, by default into its folder; return the archive's path.

    Files that are left out because they may be secret, or are none of the program, are named on stderr.
    """
    content = mcpb.bundle(folder, console.err)
    existing = _existing_package(folder)
    path = output or folder / f"{existing.name if existing else folder.resolve().name}.mcpb"
    try:
        path.write_bytes(content)
    except OSError as error:
        message = f"cannot write the archive: {error.strerror}"
        raise UsageError(message, where=str(path), hint="choose another --output") from None
    return path


@dataclass(frozen=True, slots=True)
class _ExistingPackage:
    """Name and runtime of a package that was generated before."""

    name: str
    runtime: Runtime


def _existing_package(path: Path) -> _ExistingPackage | None:
    """Read name and runtime of the package in a folder; None if there is no package."""
    folder = Folder(path)
    manifest = lock.read(folder)
    content = folder.read(_PROJECT) if manifest else None
    if manifest is None or content is None:
        return None
    try:
        name = tomllib.loads(content.decode("utf-8"))["project"]["name"]
    except (ValueError, KeyError, TypeError):
        return None
    is_vendored = any("_runtime" in path.parts for path in manifest.files)
    return _ExistingPackage(name, "vendored" if is_vendored else "installed") if isinstance(name, str) else None


def _outcome_lines(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    """Yield a line for each file with edits of its owner, then the number of files by outcome."""
    for outcome in outcomes:
        if outcome.kind in _REPORTED:
            note = f" ({outcome.note})" if outcome.note else ""
            yield f"{outcome.kind}: {printable(str(outcome.path) + note)}"
    counts = Counter(outcome.kind for outcome in outcomes)
    yield ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def _with_base_url(bridge: Bridge) -> Bridge:
    """Return the bridge with the base URLs that its package gets: --base-url if it is set, and no credentials.

    User and password are left out of every URL, and of the user's also pairs of a query with a secret's name: the
    package is given to others. A note on stderr names the variable that it reads them from.
    """
    base_url = bridge.config.only_base_url
    tools, has_secrets = [], False
    for tool, original in zip(bridge.tools, bridge.compilation.tools, strict=True):
        url = tool.base_url if base_url is None else base_url.rstrip("/")
        public = url and (without_user(url) if url == original.base_url else without_secrets(url))
        is_guess = tool.base_url_is_guess and base_url is None
        tools.append(replace(tool, base_url=public, base_url_is_guess=is_guess))
        has_secrets |= public != url
    if has_secrets:
        console.err(_CREDENTIALS_NOTE)
    config = replace(bridge.config, base_url=None, base_url_map=BaseUrlMap(), argument_values=None)
    config = replace(config, prefix=None, client="generic")  # the tools have their names
    return replace(bridge, config=config, compilation=replace(bridge.compilation, tools=tuple(tools)))


_CREDENTIALS_NOTE: Final = (
    "note: the credentials of the base URL are not written into the package; where it runs, set "
    f"{metadata.BASE_URL_VARIABLE} to the whole URL"
)
