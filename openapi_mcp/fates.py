"""What is to become of one file of a package: from the file as generated last, as its owner has it, as generated now.

Pure: bytes come in and a decision comes out. The rule: a line of the owner's is never dropped. Where both sides changed
the same lines both stay, marked as git marks a conflict; where a file holds no marks, the generated one is put beside.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from .formats import defects, markable
from .lock import Entry, digest
from .merging import BESIDE, Merged, merge
from .python_merging import settlement, statements

Kind = Literal["written", "updated", "merged", "conflict", "kept", "unchanged", "deleted", "removed", "left"]
"""In the words of `regeneration.Outcome`."""


SHOWN: Final = 5
"""Conflicts of a file that are listed; an editor finds the rest by their marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What is to become of a file; the content it gets and the one to be put beside it, if any; where to look."""

    kind: Kind
    content: bytes | None = None
    beside: bytes | None = None
    note: str = ""


def decide(path: PurePosixPath, base: Entry | None, yours: bytes | None, generated: bytes | None) -> Fate | None:
    """Decide; None where there is nothing to say: its owner has deleted what is no longer generated."""
    if generated is None:
        return _vanished(base, yours)
    new = base is None or base.digest != digest(generated)
    if yours is None and base is None:
        return Fate(kind="written", content=generated)
    if yours is None:
        return _beside(path, "you deleted it, and it has changed", generated) if new else Fate(kind="deleted")
    if _is(yours, digest(generated)):
        return Fate(kind="unchanged")
    if base is None:
        return _beside(path, "a file of yours has this name", generated)
    if _is(yours, base.digest):
        return Fate(kind="updated", content=_ended_like(yours, generated))
    return _merged(path, base, yours, generated) if new else Fate(kind="kept")


def _vanished(base: Entry | None, yours: bytes | None) -> Fate | None:
    if yours is None or base is None:
        return None
    return Fate(kind="removed") if _is(yours, base.digest) else Fate(kind="left", note="it is yours now")


def _merged(path: PurePosixPath, base: Entry, yours: bytes, generated: bytes) -> Fate:
    """Both sides changed it: one text, marked where they disagree, if that can be had."""
    original, mine, theirs = _text(base.text()), _text(yours), _text(generated)
    if original is None or mine is None or theirs is None:
        return _beside(path, "both sides changed it, and it cannot be merged", generated)
    result = _merge(path, original, mine, theirs)
    text = "\n".join(result.lines)
    if result.conflicts and markable(path):
        return Fate(kind="conflict", content=_ended_like(yours, text.encode()), note=_places(result.conflicts))
    if result.conflicts:
        return _beside(path, "both sides changed the same lines", generated)
    broken = defects(path, text) - defects(path, mine)
    if broken:
        return _beside(path, "merged, " + " and ".join(sorted(broken)), generated)
    return Fate(kind="kept") if text == mine else Fate(kind="merged", content=_ended_like(yours, text.encode()))


def _merge(path: PurePosixPath, base: str, yours: str, generated: str) -> Merged:
    texts = base.split("\n"), yours.split("\n"), generated.split("\n")
    if path.suffix == ".py":
        return merge(*texts, cut=statements, settle=settlement(texts[0], texts[1]))
    return merge(*texts)


def _places(lines: tuple[int, ...]) -> str:
    """Where to look: the first lines, and how many more there are."""
    shown = ", ".join(map(str, lines[:SHOWN]))
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return f"both sides changed line {shown}{more}"


def _beside(path: PurePosixPath, why: str, generated: bytes) -> Fate:
    return Fate(kind="conflict", beside=generated, note=f"{why}: see {path.name}{BESIDE}")


def _is(content: bytes, told_by: str) -> bool:
    """Whether content has a digest, as it is or as it was before git gave its lines the ends of Windows."""
    return told_by in {digest(content), digest(content.replace(b"\r\n", b"\n"))}


def _ended_like(model: bytes, content: bytes) -> bytes:
    """Content with the ends of lines that the owner's file has."""
    windows = b"\r\n" in model and b"\0" not in model
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if windows else content


def _text(content: bytes | None) -> str | None:
    """A text with plain ends of lines; None for what is none."""
    try:
        return None if content is None or b"\0" in content else content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
