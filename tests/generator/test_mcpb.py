"""Bundles: the same bytes each time, with all files that the package needs and no others."""

import io
import json
import os
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from openapi_mcp.errors import UnresolvedConflicts, UsageError
from openapi_mcp.generator.mcpb import bundle
from openapi_mcp.regeneration.plan import regenerate
from tests.packages import Files, package

MANIFEST = {
    "manifest_version": "0.4",
    "name": "petstore-mcp",
    "version": "1.0.0",
    "description": "Petstore",
    "author": {"name": "Somebody"},
    "server": {"type": "uv", "entry_point": "petstore_mcp/server.py"},
}


def files(**changes: object) -> Files:
    manifest = {name: value for name, value in {**MANIFEST, **changes}.items() if value is not None}
    return package(pet={"get_pet": "Find a pet"}) | {
        PurePosixPath("manifest.json"): json.dumps(manifest).encode(),
        PurePosixPath("petstore_mcp/server.py"): b"print()\n",
    }


def names(archive: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(archive)).namelist()


def test_bundle_holds_generated_and_added_files(tmp_path: Path) -> None:
    regenerate(files(), tmp_path)
    (tmp_path / "icon.png").write_bytes(b"\x89PNG")
    archive = bundle(tmp_path)
    assert names(archive)[0] == "manifest.json"
    assert set(names(archive)) == {*map(str, files()), "icon.png"}
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        assert file.testzip() is None
        assert file.read("petstore_mcp/logo.png") == b"\x89PNG\x001.0.0"


def test_same_files_give_same_archive(tmp_path: Path) -> None:
    for name, time in (("a", 1_000_000_000), ("b", 1_700_000_000)):
        regenerate(dict(sorted(files().items(), reverse=name == "b")), tmp_path / name)
        for path in (tmp_path / name).rglob("*.py"):
            os.utime(path, (time, time))
            path.chmod(0o600 if name == "a" else 0o755)
    assert bundle(tmp_path / "a") == bundle(tmp_path / "b")


@pytest.mark.parametrize(
    "name",
    [
        *(".git/config", ".venv/bin/python", "venv/pyvenv.cfg", "dist/x.whl", "build/lib/x.py", "tests/test_x.py"),
        *(
            ".env",
            ".env.local",
            "petstore_mcp/.env",
            "petstore_mcp/__pycache__/server.cpython-311.pyc",
            ".mypy_cache/x",
        ),
        *("petstore_mcp.egg-info/PKG-INFO", "old.mcpb", ".gitignore", "Dockerfile", "server.py.openapi-mcp-part"),
    ],
)
def test_development_files_are_excluded(tmp_path: Path, name: str) -> None:
    regenerate(files(), tmp_path)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("secret")
    assert set(names(bundle(tmp_path))) == set(map(str, files()))


@pytest.mark.parametrize("name", ["build", "dist", "venv", "tests"])
def test_folders_are_excluded_at_the_root_only(tmp_path: Path, name: str) -> None:
    """A tag may have the name of a folder that is excluded at the root."""
    path = f"petstore_mcp/tools/{name}/x.json"
    regenerate(files() | {PurePosixPath(path): b"{}"}, tmp_path)
    assert path in names(bundle(tmp_path))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"author": None, "version": None}, "lacks required fields: version, author"),
        ({"server": {"type": "uv", "entry_point": "nowhere.py"}}, r"entry_point .* not 'nowhere\.py'"),
        ({"server": "x"}, "entry_point .* not None"),
    ],
)
def test_invalid_manifest_is_refused(tmp_path: Path, changes: dict[str, object], fault: str) -> None:
    regenerate(files(**changes), tmp_path)
    with pytest.raises(UsageError, match=fault):
        bundle(tmp_path)


@pytest.mark.parametrize(("text", "fault"), [(None, "is missing"), ("{", "not JSON"), ("[]", "must be a JSON object")])
def test_missing_or_malformed_manifest_is_refused(tmp_path: Path, text: str | None, fault: str) -> None:
    regenerate(package(), tmp_path)
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=fault):
        bundle(tmp_path)


@pytest.mark.parametrize(("name", "text"), [("README.md", "<<<<<<< yours\n"), ("README.md.generated", "x")])
def test_unresolved_conflicts_are_refused(tmp_path: Path, name: str, text: str) -> None:
    regenerate(files(), tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(UnresolvedConflicts, match=name):
        bundle(tmp_path)


@pytest.mark.parametrize("target", ["outside", "outside/secret"])
def test_links_out_of_the_folder_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    regenerate(files(), tmp_path / "out")
    (tmp_path / "out" / "link").symlink_to(tmp_path / target)
    with pytest.raises(UsageError, match="symbolic link"):
        bundle(tmp_path / "out")
