"""Write a generated package to disk, also over an earlier one: changes of its owner stay, the rest is updated.

The change of each file is planned from three versions: generated last, on disk, and generated now. A line of the owner
is never dropped. Where both sides changed the same lines, both stay between the conflict markers of git; where a file
cannot hold markers, the generated version is written beside it.

All changes are planned before the first one is written. Files are written atomically, the lock before and after them:
running again completes an interrupted run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from ..errors import UnresolvedConflicts, UsageError
from . import lock
from .folder import Folder
from .lock import Lock, LockedFile, digest
from .merge import GENERATED_SUFFIX, MARKERS, MergeResult, can_hold_markers, defects, merge
from .python_merge import resolver, statements

Kind = Literal["written", "updated", "merged", "conflict", "kept", "unchanged", "deleted", "removed", "left"]
"""Explained at `FileOutcome`."""

MAX_LISTED_CONFLICTS: Final = 5
"""Conflicts of a file that are listed; an editor finds the others by their markers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The change of a file: its new content, if any, the content of a file beside it, if any, and a note."""

    kind: Kind
    content: bytes | None = None
    beside: bytes | None = None
    note: str = ""


def plan_file(
    path: PurePosixPath, base: LockedFile | None, yours: bytes | None, generated: bytes | None
) -> FileChange | None:
    """Return the change of a file; None where its owner has deleted it and it is no longer generated."""
    if generated is None:
        return _no_longer_generated(base, yours)
    new = base is None or base.digest != digest(generated)
    if yours is None and base is None:
        return FileChange(kind="written", content=generated)
    if yours is None:
        return (
            _put_beside(path, "you deleted it, but its generated version has changed", generated)
            if new
            else FileChange(kind="deleted")
        )
    if _has_digest(yours, digest(generated)):
        return FileChange(kind="unchanged")
    if base is None:
        return _put_beside(path, "a file that was not generated has this name", generated)
    if _has_digest(yours, base.digest):
        return FileChange(kind="updated", content=_with_line_ends_of(yours, generated))
    return _merged(path, base, yours, generated) if new else FileChange(kind="kept")


def _no_longer_generated(base: LockedFile | None, yours: bytes | None) -> FileChange | None:
    if yours is None or base is None:
        return None
    return (
        FileChange(kind="removed")
        if _has_digest(yours, base.digest)
        else FileChange(kind="left", note="no longer generated; it is yours now")
    )


def _merged(path: PurePosixPath, base: LockedFile, yours: bytes, generated: bytes) -> FileChange:
    """Return the change of a file that both sides changed: merged, with conflicts marked, or put beside."""
    original, mine, theirs = _text(base.text()), _text(yours), _text(generated)
    if original is None or mine is None or theirs is None:
        return _put_beside(path, "both sides changed it, and it cannot be merged", generated)
    result = _merge(path, original, mine, theirs)
    text = "\n".join(result.lines)
    if result.conflicts and can_hold_markers(path):
        return FileChange(
            kind="conflict", content=_with_line_ends_of(yours, text.encode()), note=_conflict_note(result.conflicts)
        )
    if result.conflicts:
        return _put_beside(path, "both sides changed the same lines", generated)
    broken = defects(path, text) - defects(path, mine)
    if broken:
        return _put_beside(path, "merged, " + " and ".join(sorted(broken)), generated)
    return (
        FileChange(kind="kept")
        if text == mine
        else FileChange(kind="merged", content=_with_line_ends_of(yours, text.encode()))
    )


def _merge(path: PurePosixPath, base: str, yours: str, generated: str) -> MergeResult:
    texts = base.split("\n"), yours.split("\n"), generated.split("\n")
    if path.suffix == ".py":
        return merge(*texts, split=statements, resolve=resolver(texts[0], texts[1]))
    return merge(*texts)


def _conflict_note(lines: tuple[int, ...]) -> str:
    """Return the note about conflicts: the first line numbers and how many more there are."""
    shown = ", ".join(map(str, lines[:MAX_LISTED_CONFLICTS]))
    more = f" and {len(lines) - MAX_LISTED_CONFLICTS} more" if len(lines) > MAX_LISTED_CONFLICTS else ""
    return f"both sides changed line {shown}{more}"


def _put_beside(path: PurePosixPath, reason: str, generated: bytes) -> FileChange:
    return FileChange(kind="conflict", beside=generated, note=f"{reason}: see {path.name}{GENERATED_SUFFIX}")


def _has_digest(content: bytes, expected: str) -> bool:
    """Return whether content has a digest, as it is or with the line ends that git replaces on Windows."""
    return expected in {digest(content), digest(content.replace(b"\r\n", b"\n"))}


def _with_line_ends_of(model: bytes, content: bytes) -> bytes:
    """Return content with the line ends of the owner's file."""
    windows = b"\r\n" in model and b"\0" not in model
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if windows else content


def _text(content: bytes | None) -> str | None:
    """Return a text with Unix line ends, or None for binary content."""
    try:
        return None if content is None or b"\0" in content else content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


RUNTIME: Final = "_runtime"
"""The folder of the vendored runtime. Its files are never merged, so the lock holds digests only."""

Files = Mapping[PurePosixPath, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """The outcome for one file.

    written     the file is new
    updated     replaced; its owner had not changed it
    unchanged   it has the generated content already
    kept        its owner changed it; the generated content is the same as before
    merged      both sides changed it, in different lines
    conflict    both sides changed the same lines, and both versions are there; `note` tells where
    deleted     its owner deleted it; the generated content is the same as before
    removed     no longer generated; its owner had not changed it
    left        no longer generated, but its owner had changed it; it belongs to the owner alone
    """

    path: PurePosixPath
    kind: Kind
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of a regeneration by path, the lock before it, and the entries of the lock after it."""

    changes: Mapping[PurePosixPath, FileChange]
    known: Lock
    entries: Mapping[PurePosixPath, LockedFile]


def regenerate(files: Files, folder: Path, *, force: bool = False) -> list[FileOutcome]:
    """Write the files of a package into a folder, which need not exist. Return the outcomes in the order of paths.

    With `force`, a folder without a lock may hold files: they stay, and where one differs, the generated file is put
    beside it, a conflict. Raises UsageError for such a folder without `force` and for paths that lead out of the
    folder, UnresolvedConflicts for conflicts of an earlier run, both before anything is written.
    """
    target = Folder(folder)
    plan = _plan(files, target, force=force)
    _apply(plan, target)
    return _outcomes(plan)


def check(files: Files, folder: Path) -> list[FileOutcome]:
    """Return the outcomes that `regenerate` would have, without writing; an empty list means up to date.

    Files that only their owner changed or deleted are up to date. Raises the errors of `regenerate`.
    """
    up_to_date = {"kept", "unchanged", "deleted"}
    return [
        outcome for outcome in _outcomes(_plan(files, Folder(folder), force=False)) if outcome.kind not in up_to_date
    ]


def _outcomes(plan: Plan) -> list[FileOutcome]:
    return [FileOutcome(path=path, kind=change.kind, note=change.note) for path, change in plan.changes.items()]


def _plan(files: Files, folder: Folder, *, force: bool) -> Plan:
    known = lock.read(folder)
    if known is None and not force and not folder.is_empty():
        raise UsageError(
            "folder has files, but no lock file of an earlier generation",
            where=str(folder.path),
            hint="choose another, or use --force: existing files stay, and generated ones are put beside them",
        )
    known = known or Lock()
    planned = {path: _change(path, files, known, folder) for path in sorted({*files, *known.files})}
    changes = {path: change for path, change in planned.items() if change is not None}
    _refuse_unresolved(changes, known, folder)
    return Plan(changes, known, {path: _entry(path, files[path], known) for path in sorted(files)})


def _change(path: PurePosixPath, files: Files, known: Lock, folder: Folder) -> FileChange | None:
    if path == lock.NAME:
        raise UsageError("a generated package must not contain a lock file", where=str(path))
    return plan_file(path, known.files.get(path), folder.read(path), files.get(path))


def _entry(path: PurePosixPath, content: bytes, known: Lock) -> LockedFile:
    """Return the lock's entry of a file. One with the same digest stays: versions of zlib pack differently."""
    base = known.files.get(path)
    if base is not None and base.digest == digest(content):
        return base
    return LockedFile.of(content, merged=RUNTIME not in path.parts)


def _refuse_unresolved(changes: Mapping[PurePosixPath, FileChange], known: Lock, folder: Folder) -> None:
    """Raise UnresolvedConflicts if a conflict of an earlier run is left: merging it again makes it illegible."""
    unresolved = [
        str(path) for path in changes if path in known.files and _has_new_markers(folder.read(path), known.files[path])
    ]
    for path, change in changes.items():
        beside = _beside(path)
        if folder.read(beside) not in {None, change.beside}:
            unresolved.append(str(beside))
    if unresolved:
        raise UnresolvedConflicts(
            "unresolved conflicts of an earlier run: " + ", ".join(unresolved),
            where=str(folder.path),
            hint=f"edit the lines from {MARKERS[0]} to {MARKERS[2]}, delete {GENERATED_SUFFIX} files, and run again",
        )


def _has_new_markers(content: bytes | None, base: LockedFile) -> bool:
    """Return whether an owner's file holds conflict markers that were not generated."""
    marks = set((content or b"").splitlines()) & {MARKERS[0].encode(), MARKERS[2].encode()}
    return bool(marks) and not marks <= set((base.text() or b"").splitlines())


def _beside(path: PurePosixPath) -> PurePosixPath:
    return path.with_name(path.name + GENERATED_SUFFIX)


def _apply(plan: Plan, folder: Folder) -> None:
    """Write files beside others, the lock with the pending changes, these changes, and the final lock."""
    for path in plan.known.pending:
        folder.sweep(path)
    for path, change in plan.changes.items():
        if change.beside is not None:
            folder.write(_beside(path), change.beside)
    contents = {path: change.content for path, change in plan.changes.items() if _writes_or_removes(change)}
    if contents:
        pending = {
            path: (None if content is None else digest(content), plan.entries.get(path))
            for path, content in contents.items()
        }
        lock.write(folder, Lock(plan.known.files, pending))
    for path, content in contents.items():
        if content is None:
            folder.remove(path)
        else:
            folder.write(path, content)
    lock.write(folder, Lock(plan.entries))


def _writes_or_removes(change: FileChange) -> bool:
    return change.content is not None or change.kind == "removed"
