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


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n"

SECRET_FILES = {
    **dict.fromkeys(("id_rsa", "id_ed25519", "petstore_mcp/id_ecdsa", "key.pem", "server.KEY", "store.p12"), "canary"),
    **dict.fromkeys(("secrets.json", "petstore_mcp/secrets.json", "client_secret_12.json", "credentials"), "canary"),
    **dict.fromkeys(("prod.env", "petstore_mcp/local.env", "env.production", ".npmrc", ".ssh/config"), "canary"),
    **dict.fromkeys(("settings.toml", "petstore_mcp/settings.yaml", "config.ini", "tokens.txt", "notes"), "canary"),
    **dict.fromkeys(("service-account.json", "terraform.tfstate", "dump.sql", "data.sqlite3"), "canary"),
    "petstore.toml": '[auth]\nshopKey = "canary"',
    "petstore_mcp/shop.toml": 'header = ["X-Key: canary"]',
    "petstore_mcp/words.txt": f"text\n{KEY}",
    "petstore_mcp/vault.py": f'KEY = """{KEY}"""',
    "petstore_mcp/mixed.pem": f"-----BEGIN CERTIFICATE-----\n{KEY}",
    "deploy/inventory": "canary",
    "README.md.swo": "canary",
}
"""Files that an owner keeps beside or in a package, by name, with a content that says nothing or is a key."""


def test_secrets_and_files_of_no_program_are_left_out_and_reported(tmp_path: Path) -> None:
    regenerate(files(), tmp_path)
    for name, text in SECRET_FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "petstore_mcp" / "link.txt").symlink_to(tmp_path / "prod.env")
    reported: list[str] = []
    archive = bundle(tmp_path, reported.append)
    assert set(names(archive)) == set(map(str, files()))
    assert b"canary" not in b"".join(zipfile.ZipFile(io.BytesIO(archive)).read(name) for name in names(archive))
    left = {line.removeprefix("left out: ").split()[0] for line in reported}
    assert left == {*SECRET_FILES, "petstore_mcp/link.txt"}
    assert "left out: secrets.json may hold a secret; give it another name if it does not" in reported


def test_files_that_the_program_needs_are_packed(tmp_path: Path) -> None:
    """A tag may be named `secrets`, and its generated schemas may quote a key."""
    schemas = PurePosixPath("petstore_mcp/tools/secrets.json")
    generated = files(icon="assets/icon.bin", license="./terms") | {schemas: KEY.encode()}
    added = {
        "petstore_mcp/cities.json": "{}",
        "petstore_mcp/data/tokenizer.json": "{}",
        "petstore_mcp/ca.pem": "-----BEGIN CERTIFICATE-----\nx\n",
        "petstore_mcp/secrets.py": "",
        "extra/__init__.py": "",
        "extra/data.csv": "a,b",
        "assets/icon.bin": "x",
        "terms": "x",
        "LICENSE": "x",
        "uv.lock": "x",
        "docs/use.md": "x",
    }
    regenerate(generated, tmp_path)
    for name, text in added.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    reported: list[str] = []
    assert set(names(bundle(tmp_path, reported.append))) == {*map(str, generated), *added}
    assert reported == []


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
