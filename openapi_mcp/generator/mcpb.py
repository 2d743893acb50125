"""Bundle a package into one `.mcpb` file, which desktop clients install: a zip with `manifest.json` at its root.

The same files give the same archive at any time on any machine. Files of development are left out: version control,
environments, caches, builds, tests, the lock. `bundled_files` decides about the others, and leaves out those that may
be secret. Specification: MCPB's MANIFEST.md.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ..errors import UnresolvedConflicts, UsageError
from ..regeneration import lock
from ..regeneration.folder import PARTIAL_SUFFIX, Folder
from ..regeneration.merge import GENERATED_SUFFIX, MARKERS
from .bundled_files import PackedFiles

MANIFEST: Final = PurePosixPath("manifest.json")

REQUIRED: Final = ("manifest_version", "name", "version", "description", "author", "server")
"""The required fields of a manifest (MANIFEST.md, Field Definitions)."""

EXCLUDED: Final = (
    *(".git", ".hg", ".svn", ".gitignore", ".gitattributes", ".github", ".dockerignore", ".idea", ".vscode"),
    *(".venv", "__pycache__", "*.py[co]", ".*_cache", ".tox", ".nox", ".hypothesis", ".coverage*", "*.egg-info"),
    *(".env", ".env.*", ".netrc", ".pypirc", "*.log", ".DS_Store", "Thumbs.db", "*.swp", "*~", f"*{PARTIAL_SUFFIX}"),
)
"""Names of files and folders that are left out anywhere; no name in a document can lead to one of them."""

EXCLUDED_AT_ROOT: Final = (str(lock.NAME), "Dockerfile", "tests", "build", "dist", "venv", "node_modules", "*.mcpb")

ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip can hold."""


def bundle(folder: Path, report: Callable[[str], object] = lambda _: None) -> bytes:
    """Return the archive of a package on disk, with files that its owner added; `report` gets a line for each left out.

    Raises UsageError for a missing or invalid manifest, UnresolvedConflicts for unresolved conflicts in the package.
    """
    package = Folder(folder)
    files = {path: package.read(path) or b"" for path in package.walk(_is_excluded)}
    unresolved = [
        str(path)
        for path, content in files.items()
        if path.suffix == GENERATED_SUFFIX or _has_conflict_markers(content)
    ]
    if unresolved:
        raise UnresolvedConflicts("unresolved conflicts: " + ", ".join(unresolved), where=str(folder))
    packed = _packed(package, files, report)
    defect = _manifest_defect(packed)
    if defect:
        raise UsageError(defect, where=str(folder / MANIFEST), hint="see MANIFEST.md of modelcontextprotocol/mcpb")
    return pack(packed)


def _packed(
    package: Folder, files: Mapping[PurePosixPath, bytes], report: Callable[[str], object]
) -> dict[PurePosixPath, bytes]:
    """Return the files that are packed, and report the others."""
    locked = lock.read(package)
    rule = PackedFiles.of(files, locked.files.keys() if locked else ())
    packed = {}
    for path in sorted(files):
        target = package.resolve(path).relative_to(package.path.resolve())
        if reason := rule.refusal(path, PurePosixPath(target.as_posix()), files[path]):
            report(f"left out: {path} {reason}")
        else:
            packed[path] = files[path]
    return packed


def pack(files: Mapping[PurePosixPath, bytes]) -> bytes:
    """Return a zip of these files, the manifest first, the others in the order of their names."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(files, key=lambda path: (path != MANIFEST, path)):
            info = zipfile.ZipInfo(str(path), ZIP_EPOCH)
            info.create_system = 3  # Unix, on Windows too
            info.external_attr = 0o100644 << 16
            file.writestr(info, files[path], zipfile.ZIP_DEFLATED, compresslevel=9)
    return archive.getvalue()


def _is_excluded(path: PurePosixPath) -> bool:
    names = EXCLUDED if len(path.parts) > 1 else (*EXCLUDED, *EXCLUDED_AT_ROOT)
    return any(fnmatchcase(path.name, name) for name in names)


def _has_conflict_markers(content: bytes) -> bool:
    return MARKERS[0].encode() in content.splitlines()


def _manifest_defect(files: Mapping[PurePosixPath, bytes]) -> str:
    """Return the reason why clients refuse the manifest of these files, or an empty text."""
    try:
        manifest: Any = json.loads(files.get(MANIFEST, b"null"))
    except ValueError:
        return "manifest is not JSON"
    if not isinstance(manifest, dict):
        return "manifest is missing" if manifest is None else "manifest must be a JSON object"
    missing = [name for name in REQUIRED if name not in manifest]
    if missing:
        return f"manifest lacks required fields: {', '.join(missing)}"
    entry = manifest["server"].get("entry_point") if isinstance(manifest["server"], dict) else None
    if not isinstance(entry, str) or PurePosixPath(entry) not in files:
        return f"server.entry_point in the manifest must be a file of the package, not {entry!r}"
    return ""
