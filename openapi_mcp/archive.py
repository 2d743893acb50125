"""A package as one `.mcpb` file, which desktop clients install: a zip with `manifest.json` at its root.

The same files make the same archive, whenever and wherever it is made. What only concerns the workshop stays out:
version control, environments, caches, builds, tests, files of secrets, the lock. Specification: MCPB's MANIFEST.md.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Final

from . import lock
from .errors import UnresolvedConflicts, UsageError
from .folder import PART, Folder
from .merging import BESIDE, MARKERS

MANIFEST: Final = PurePosixPath("manifest.json")

REQUIRED: Final = ("manifest_version", "name", "version", "description", "author", "server")
"""What every manifest has (MANIFEST.md, Field Definitions)."""

LEFT_OUT: Final = (
    *(".git", ".hg", ".svn", ".gitignore", ".gitattributes", ".github", ".dockerignore", ".idea", ".vscode"),
    *(".venv", "__pycache__", "*.py[co]", ".*_cache", ".tox", ".nox", ".hypothesis", ".coverage*", "*.egg-info"),
    *(".env", ".env.*", ".netrc", ".pypirc", "*.log", ".DS_Store", "Thumbs.db", "*.swp", "*~", f"*{PART}"),
)
"""Names of files and folders that stay out wherever they are: none that a name in a document could lead to."""

LEFT_OUT_OF_THE_ROOT: Final = (str(lock.NAME), "Dockerfile", "tests", "build", "dist", "venv", "node_modules", "*.mcpb")

EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip can hold."""


def bundle(folder: Path) -> bytes:
    """The archive of a package on disk, with what its owner added.

    UsageError without a manifest that a client could use; UnresolvedConflicts where the package holds some.
    """
    place = Folder(folder)
    files = {path: place.read(path) or b"" for path in place.walk(_left_out)}
    unresolved = [str(path) for path, content in files.items() if path.suffix == BESIDE or _marked(content)]
    if unresolved:
        raise UnresolvedConflicts("conflicts are not resolved: " + ", ".join(unresolved), where=str(folder))
    fault = _fault(files)
    if fault:
        raise UsageError(fault, where=str(folder / MANIFEST), hint="see MANIFEST.md of modelcontextprotocol/mcpb")
    return pack(files)


def pack(files: Mapping[PurePosixPath, bytes]) -> bytes:
    """A zip of these files, the manifest first, the others in the order of their names."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(files, key=lambda path: (path != MANIFEST, path)):
            info = zipfile.ZipInfo(str(path), EPOCH)
            info.create_system = 3  # Unix, also where it is made on Windows
            info.external_attr = 0o100644 << 16
            file.writestr(info, files[path], zipfile.ZIP_DEFLATED, compresslevel=9)
    return archive.getvalue()


def _left_out(path: PurePosixPath) -> bool:
    names = LEFT_OUT if len(path.parts) > 1 else (*LEFT_OUT, *LEFT_OUT_OF_THE_ROOT)
    return any(fnmatchcase(path.name, name) for name in names)


def _marked(content: bytes) -> bool:
    return MARKERS[0].encode() in content.splitlines()


def _fault(files: Mapping[PurePosixPath, bytes]) -> str:
    """Why a client could not install these files, or nothing."""
    try:
        manifest: Any = json.loads(files.get(MANIFEST, b"null"))
    except ValueError:
        return "the manifest is not JSON"
    if not isinstance(manifest, dict):
        return "the manifest is missing" if manifest is None else "the manifest is no JSON object"
    missing = [name for name in REQUIRED if name not in manifest]
    if missing:
        return f"the manifest has no {', '.join(missing)}"
    entry = manifest["server"].get("entry_point") if isinstance(manifest["server"], dict) else None
    if not isinstance(entry, str) or PurePosixPath(entry) not in files:
        return f"the manifest's server.entry_point is {entry!r}, which is no file of the package"
    return ""
