"""Puts a generated package on disk, the first time and again: what its owner changed stays, the rest is renewed.

Everything is computed first and written after, one whole file at a time, with the lock before and behind: what ends in
the middle is finished by running again, and nothing of the owner's is ever lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from . import lock
from .errors import UnresolvedConflicts, UsageError
from .fates import Fate, Kind, decide
from .folder import Folder
from .lock import Entry, Lock, digest
from .merging import BESIDE, MARKERS

RUNTIME: Final = "_runtime"
"""The folder of the vendored runtime: a copy, told by its digest and never merged: the lock holds no text of it."""

Files = Mapping[PurePosixPath, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one file.

    written     it is new
    updated     replaced: nobody had changed it
    unchanged   it is already what is generated now
    kept        its owner changed it, and nothing new came
    merged      both sides changed it, in different places
    conflict    both sides changed the same, and both are there; `note` says where to look
    deleted     its owner deleted it, and nothing new came
    removed     no longer generated, and nobody had changed it
    left        no longer generated, but its owner had changed it: from now on it is theirs alone
    """

    path: PurePosixPath
    kind: Kind
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a regeneration will do, by path; the lock as it was, and the entries it will have."""

    fates: Mapping[PurePosixPath, Fate]
    known: Lock
    entries: Mapping[PurePosixPath, Entry]


def regenerate(files: Files, folder: Path, *, force: bool = False) -> list[Outcome]:
    """Write the files of a package into a folder, which need not exist; what became of each, in the order of paths.

    A folder that has files but no lock is refused, unless `force`: then what is there stays, and where it differs the
    generated file is put beside it, a conflict. UsageError for that, and for paths that lead out of the folder;
    UnresolvedConflicts where those of the last time are still there. Both come before anything is written.
    """
    place = Folder(folder)
    plan = _plan(files, place, force=force)
    _apply(plan, place)
    return _outcomes(plan)


def check(files: Files, folder: Path) -> list[Outcome]:
    """What `regenerate` would change, while nothing is: an empty list is a package that is up to date.

    What only its owner changed or deleted is not out of date. The errors are those of `regenerate`.
    """
    settled = {"kept", "unchanged", "deleted"}
    return [outcome for outcome in _outcomes(_plan(files, Folder(folder), force=False)) if outcome.kind not in settled]


def _outcomes(plan: Plan) -> list[Outcome]:
    return [Outcome(path=path, kind=fate.kind, note=fate.note) for path, fate in plan.fates.items()]


def _plan(files: Files, folder: Folder, *, force: bool) -> Plan:
    known = lock.read(folder)
    if known is None and not force and not folder.empty():
        raise UsageError(
            "this folder has files, and no lock file says that they were generated",
            where=str(folder.path),
            hint="name another, or give --force: files that are there stay, and generated ones are put beside them",
        )
    known = known or Lock()
    decided = {path: _decide(path, files, known, folder) for path in sorted({*files, *known.files})}
    fates = {path: fate for path, fate in decided.items() if fate is not None}
    _refuse_unresolved(fates, known, folder)
    return Plan(fates, known, {path: _entry(path, files[path], known) for path in sorted(files)})


def _decide(path: PurePosixPath, files: Files, known: Lock, folder: Folder) -> Fate | None:
    if path == lock.NAME:
        raise UsageError("a package may not hold a lock file of its own", where=str(path))
    return decide(path, known.files.get(path), folder.read(path), files.get(path))


def _entry(path: PurePosixPath, content: bytes, known: Lock) -> Entry:
    """What the lock will say of a file; what it says already is not packed again, since zlib's versions differ."""
    base = known.files.get(path)
    if base is not None and base.digest == digest(content):
        return base
    return Entry.of(content, merged=RUNTIME not in path.parts)


def _refuse_unresolved(fates: Mapping[PurePosixPath, Fate], known: Lock, folder: Folder) -> None:
    """End here if a conflict of the last time is still there: merged again, it could not be read by anyone."""
    unresolved = [str(path) for path in fates if _marked(folder.read(path), known.files.get(path))]
    for path, fate in fates.items():
        beside = _beside(path)
        if folder.read(beside) not in {None, fate.beside}:
            unresolved.append(str(beside))
    if unresolved:
        raise UnresolvedConflicts(
            "conflicts of the last time are not resolved yet: " + ", ".join(unresolved),
            where=str(folder.path),
            hint=f"edit what is between {MARKERS[0]} and {MARKERS[2]}, delete the {BESIDE} files, then run again",
        )


def _marked(content: bytes | None, base: Entry | None) -> bool:
    """Whether an owner's file holds the beginning or the end of a conflict that was not generated so."""
    marks = set((content or b"").splitlines()) & {MARKERS[0].encode(), MARKERS[2].encode()}
    return bool(marks) and base is not None and not marks <= set((base.text() or b"").splitlines())


def _beside(path: PurePosixPath) -> PurePosixPath:
    return path.with_name(path.name + BESIDE)


def _apply(plan: Plan, folder: Folder) -> None:
    """Write what stands beside, then the lock with all that is to come, then that, then the lock as it shall be."""
    for path in plan.known.pending:
        folder.sweep(path)
    for path, fate in plan.fates.items():
        if fate.beside is not None:
            folder.write(_beside(path), fate.beside)
    coming = {path: fate.content for path, fate in plan.fates.items() if fate.content is not None or _goes(fate)}
    if coming:
        pending = {path: (_told_by(content), plan.entries.get(path)) for path, content in coming.items()}
        lock.write(folder, Lock(plan.known.files, pending))
    for path, content in coming.items():
        if content is None:
            folder.remove(path)
        else:
            folder.write(path, content)
    lock.write(folder, Lock(plan.entries))


def _goes(fate: Fate) -> bool:
    return fate.kind == "removed"


def _told_by(content: bytes | None) -> str | None:
    return None if content is None else digest(content)
