"""Settings files of clients on the disk: read with limits, written at once, with a backup beside them."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..regular_files import UnfitFile, read_regular
from .edits import Uneditable

MAX_SETTINGS_BYTES: Final = 4 << 20
"""Bytes of a settings file that is changed: Claude Code keeps histories in its own, up to a megabyte or two."""

BACKUP: Final = ".before-openapi-mcp"
"""The end of a backup's name. It holds the file as it was before the first entry of ours."""

BY_HAND: Final = "add what --print shows by hand"


def read(path: Path) -> str | None:
    """Return the text of a settings file; None where there is none. Raises Uneditable."""
    if path.is_symlink():
        raise _refusal(path, f"is a link to {path.readlink()}", f"change that file by hand: {BY_HAND}")
    try:
        data = read_regular(path, MAX_SETTINGS_BYTES)
        if not path.stat().st_mode & stat.S_IWUSR:
            raise _refusal(path, "is read-only", f"make it writable, or {BY_HAND}")
        return data.decode("utf-8")
    except FileNotFoundError:
        return None
    except UnfitFile as error:
        raise _refusal(path, error.reason, BY_HAND) from None
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8", "save it as UTF-8") from None
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}", BY_HAND) from None


def backup_of(path: Path) -> Path:
    """Return the path of the backup of a settings file."""
    return path.with_name(path.name + BACKUP)


def replace(path: Path, before: str | None, after: str | None) -> None:
    """Give a file another text, or remove it (`after` None), unless it is no longer what it was. Raises Uneditable.

    The new text is written to a file beside it, which then takes its place, with the permissions of the old one.
    """
    if read(path) != before:
        raise _refusal(path, "was changed by another program in the meantime", "try it again")
    try:
        if after is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, after, stat.S_IMODE(path.stat().st_mode) if before is not None else None)
    except OSError as error:
        raise _refusal(path, f"cannot be written: {error.strerror}", f"check its folder, or {BY_HAND}") from None


def _write(path: Path, text: str, mode: int | None) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _refusal(path: Path, reason: str, hint: str) -> Uneditable:
    return Uneditable(f"the settings file {reason}", where=str(path), hint=hint)
