"""What `generate` makes of the documents in specs/: golden packages, type-checked, and equal to live servers."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.generator import RUNTIME, RUNTIMES, generate
from openapi_mcp.python_names import constants
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from openapi_mcp.tool_modules import import_line
from tests.conftest import ROOT
from tests.generating import GOLDEN, SPECS, bridge, generated, imported, without_runtime, write

PETSTORE = ROOT / "specs" / "petstore.yaml"

each_document = pytest.mark.parametrize("document", SPECS, ids=lambda path: path.stem)


def list_of_tools(server: Any, make_session: Callable[[str], Any], revision: str) -> bytes:
    """The bytes of `tools/list` in one revision."""

    async def ask() -> bytes:
        meta = {"_meta": {f"io.modelcontextprotocol/{key}": value for key, value in said.items()}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": meta if revision in modern else {}}
        answer = await server.handle(message, make_session(revision))
        await server.aclose()
        return bytes(answer.body)

    modern = set(STATELESS)
    said = {"protocolVersion": revision, "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}
    return asyncio.run(ask())


def session_of(revision: str) -> Session:
    return Session(revision)


@each_document
def test_the_tools_of_the_package_are_those_of_the_live_server(document: Path, tmp_path: Path) -> None:
    live = bridge(document)
    made = generated(document, tmp_path)
    with imported(made, tmp_path) as module:
        tools = module.create_server().catalog.tools
        assert [asdict(tool) for tool in tools] == [asdict(tool) for tool in live.tools]
        own_session = sys.modules[f"{module.__package__}._runtime.protocol"].Session
        for revision in [*HANDSHAKE, *STATELESS]:
            mine = list_of_tools(module.create_server(), own_session, revision)
            assert mine == list_of_tools(live.server(), session_of, revision)
            assert b'"error"' not in mine


@each_document
def test_the_package_is_the_golden_one(document: Path) -> None:
    made = without_runtime(generate(bridge(document)).files)
    folder = GOLDEN / document.stem
    there = {PurePosixPath(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file()}
    assert set(made) == there - {path for path in there if "__pycache__" in path.parts}, "run `make golden`"
    for path, content in made.items():
        assert (folder / path).read_bytes().decode() == content.decode(), f"{path}: run `make golden` and review it"


@each_document
@pytest.mark.parametrize("runtime", ["vendored", "installed"])
def test_the_package_passes_its_own_checks(document: Path, runtime: Any, tmp_path: Path) -> None:
    generated(document, tmp_path, runtime=runtime)
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_runtime_is_copied_byte_for_byte() -> None:
    files = generate(bridge(PETSTORE)).files
    folder = PurePosixPath("pet_store_mcp/_runtime")
    copied = {path.relative_to(folder): content for path, content in files.items() if path.is_relative_to(folder)}
    assert set(copied) - {PurePosixPath("VENDORED")} == {
        PurePosixPath(path.relative_to(RUNTIME).as_posix()) for path in RUNTIME.rglob("*.py")
    }
    assert all(copied[path] == (RUNTIME / path).read_bytes() for path in copied if path.suffix)
    assert copied[PurePosixPath("VENDORED")].startswith(b"mcp-openapi-bridge ")


def test_vendored_and_installed_differ_in_one_line_and_in_the_project_file() -> None:
    vendored, installed = (
        without_runtime(generate(bridge(PETSTORE), runtime=runtime).files) for runtime in ("vendored", "installed")
    )
    assert set(vendored) == set(installed)
    different = {str(path) for path in vendored if vendored[path] != installed[path]}
    assert different == {"pyproject.toml", "pet_store_mcp/runtime.py"}
    lines = [
        set(files[PurePosixPath("pet_store_mcp/runtime.py")].decode().splitlines()) for files in (vendored, installed)
    ]
    assert lines[0] ^ lines[1] == {f"from {module} import (" for module in RUNTIMES.values()}


def test_the_same_document_makes_the_same_bytes() -> None:
    assert generate(bridge(PETSTORE)) == generate(bridge(PETSTORE))


@pytest.mark.parametrize("name", ["", "../petstore", "a/b", "httpx", "pet store", ".hidden", "x" * 61, "tests", "con"])
def test_a_name_that_no_package_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="package"):
        generate(bridge(PETSTORE), name=name)


@pytest.mark.parametrize(
    ("name", "package"), [("petstore-mcp", "petstore_mcp"), ("Pet.Store", "pet_store"), ("2x", "n2x")]
)
def test_a_package_has_the_name_that_was_asked_for(name: str, package: str) -> None:
    made = generate(bridge(PETSTORE), name=name)
    assert made.name == name
    assert PurePosixPath(package, "server.py") in made.files


def test_templates_are_replaced_and_added_file_by_file(tmp_path: Path) -> None:
    write({PurePosixPath("README.md.jinja"): b"# {{ title }}\n", PurePosixPath("docs/{{}}.md.jinja"): b"*\n"}, tmp_path)
    files = generate(bridge(PETSTORE), templates=tmp_path).files
    assert files[PurePosixPath("README.md")] == b"# Pet Store\n"
    assert files[PurePosixPath("docs/{{}}.md")] == b"*\n"
    assert PurePosixPath("pyproject.toml") in files


def test_a_template_that_fails_says_where(tmp_path: Path) -> None:
    write({PurePosixPath("README.md.jinja"): b"{{ nothing_of_that_name }}"}, tmp_path)
    with pytest.raises(UsageError) as caught:
        generate(bridge(PETSTORE), templates=tmp_path)
    assert caught.value.where == "README.md.jinja"


def test_names_that_linters_confuse_with_digits_are_not_used_and_imports_are_in_their_order() -> None:
    names = constants({name: (name,) for name in ("o", "b", "I")})
    assert names == {"o": "O_", "b": "B", "I": "I_"}
    assert import_line("..api", names.values()) == "from ..api import I_, O_, B"
