"""Packages of the documents in specs/ equal the golden packages and live servers, and pass ruff and mypy."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.generator.modules import import_line
from openapi_mcp.generator.package import RUNTIMES, generate
from openapi_mcp.generator.python_names import constants
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from tests.conftest import ROOT
from tests.generating import GOLDEN, SPECS, bridge, generated, imported, without_runtime, write

PETSTORE = ROOT / "specs" / "petstore.yaml"

each_document = pytest.mark.parametrize("document", SPECS, ids=lambda path: path.stem)


def list_of_tools(server: Any, make_session: Callable[[str], Any], revision: str) -> bytes:
    """Return the bytes of `tools/list` in one revision."""

    async def ask() -> bytes:
        meta = {"_meta": {f"io.modelcontextprotocol/{key}": value for key, value in client.items()}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": meta if revision in modern else {}}
        answer = await server.handle(message, make_session(revision))
        await server.aclose()
        return bytes(answer.body)

    modern = set(STATELESS)
    client = {"protocolVersion": revision, "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}
    return asyncio.run(ask())


def session_of(revision: str) -> Session:
    return Session(revision)


def compared(tool: Any) -> dict[str, Any]:
    """The fields of a tool that a package has too: without the scopes of callers, whom only a live server knows."""
    names = {field.name for field in fields(tool) if field.compare}
    return {name: value for name, value in asdict(tool).items() if name in names}


@pytest.mark.slow
@each_document
def test_tools_equal_those_of_the_live_server(document: Path, tmp_path: Path) -> None:
    live = bridge(document)
    generated_package = generated(document, tmp_path)
    with imported(generated_package, tmp_path) as module:
        tools = module.create_server().catalog.tools
        assert list(map(compared, tools)) == list(map(compared, live.tools))
        # The live server lists some tools with `select` and `pages`, which belong to no tool (docs/projection.md).
        live = replace(live, config=replace(live.config, select="never"))
        own_session = sys.modules[f"{module.__package__}._runtime.protocol"].Session
        for revision in [*HANDSHAKE, *STATELESS]:
            mine = list_of_tools(module.create_server(), own_session, revision)
            assert mine == list_of_tools(live.server(), session_of, revision)
            assert b'"error"' not in mine


@pytest.mark.parametrize("title", ["", "\u202e\x07", "\\", '"""', "日" * 200, "x" * 300, "A \x00 b"])
def test_docstrings_never_refer_to_a_description_elsewhere(title: str, tmp_path: Path) -> None:
    operation = {"summary": title, "description": f"{title}\n\n\t{title}", "tags": [title], "responses": {}}
    tags = [{"name": title, "description": title}]
    root = {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": {"/pets": {"get": operation}}}
    document = tmp_path / "texts.json"
    document.write_text(json.dumps(root | {"tags": tags}))
    for path, content in generate(bridge(document), name="texts-mcp").files.items():
        if path.suffix == ".py" and "_runtime" not in path.parts:
            tree = ast.parse(content)
            nodes: list[ast.Module | ast.AsyncFunctionDef] = [tree]
            nodes += [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
            for node in nodes if "tools" in path.parts else ():
                docstring = ast.get_docstring(node)
                assert docstring
                assert "See `description`" not in docstring


def test_annotations_equal_where_names_and_overrides_disagree(tmp_path: Path) -> None:
    post: dict[str, Any] = {"responses": {}}
    marked = {"annotations": {"destructiveHint": True}}
    paths = {
        "/a": {"post": {**post, "operationId": "deleteA", "x-mcp": {"name": "hide_a"}}},
        "/b": {"post": {**post, "operationId": "hideB", "x-mcp": {"name": "delete_b"}}},
        "/c": {"post": {**post, "operationId": "hideC", "x-mcp": {"name": "delete_c", **marked}}},
        "/d/search": {"post": {**post, "x-mcp": {"annotations": {"readOnlyHint": True}}}},
        "/e/purge": {"post": post},
    }
    document = tmp_path / "names.json"
    document.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "Names", "version": "1"}, "paths": paths}))
    live = bridge(document)
    with imported(generated(document, tmp_path / "out"), tmp_path / "out") as module:
        tools = module.create_server().catalog.tools
        assert list(map(compared, tools)) == list(map(compared, live.tools))
    destructive = [tool.annotations.get("destructiveHint") for tool in live.tools]
    assert destructive == [True, None, True, None, True]


@pytest.mark.process
def test_package_has_required_schemes_and_negotiated_headers_and_its_tests_pass(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(OR_SECURITY, encoding="utf-8")
    document = tmp_path / "api.yaml"
    with imported(generated(document, tmp_path), tmp_path) as module:
        tools = module.create_server().catalog.tools
        assert list(map(compared, tools)) == list(map(compared, bridge(document).tools))
        assert [argument.wire_name for argument in tools[1].arguments] == ["Accept"]
        assert tools[1].content_type == "application/json"
        assert [scheme.name for scheme in tools[0].required_schemes] == ["APIKey", "APIToken"]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout


OR_SECURITY = """
openapi: 3.0.4
info: {title: Boards, version: '1'}
servers: [{url: https://boards.example}]
security: [{APIKey: []}, {APIToken: []}]
paths:
  /boards:
    get:
      operationId: listBoards
      parameters:
      - {name: key, in: query, required: true, schema: {type: string}}
      - {name: token, in: query, required: true, schema: {type: string}}
      responses: {'200': {description: OK}}
  /report:
    get:
      operationId: getReport
      security: []
      parameters:
      - {name: Content-Type, in: header, schema: {type: string, default: application/json}}
      responses: {'200': {description: OK, content: {application/json: {}, text/csv: {}}}}
components:
  securitySchemes:
    APIKey: {type: apiKey, in: query, name: key}
    APIToken: {type: apiKey, in: query, name: token}
"""


@each_document
def test_files_equal_the_golden_package(document: Path) -> None:
    files = without_runtime(generate(bridge(document)).files)
    folder = GOLDEN / document.stem
    golden = {PurePosixPath(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file()}
    assert set(files) == {path for path in golden if "__pycache__" not in path.parts}, "run `make golden`"
    for path, content in files.items():
        assert (folder / path).read_bytes().decode() == content.decode(), f"{path}: run `make golden` and review it"


@pytest.mark.process
@each_document
@pytest.mark.parametrize("runtime", ["vendored", "installed"])
def test_package_passes_ruff_and_mypy(document: Path, runtime: Any, tmp_path: Path) -> None:
    generated(document, tmp_path, runtime=runtime)
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        process = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout + process.stderr


def unused_declarations(source: str) -> set[str]:
    """Return the classes and aliases of a module that none of its functions uses, directly or by others."""
    tree = ast.parse(source)
    functions = [ast.unparse(each) for each in tree.body if isinstance(each, ast.AsyncFunctionDef)]
    declared = {
        next(iter(re.findall(r"^(?:class )?(\w+)", text))): text
        for text in map(ast.unparse, tree.body)
        if re.match(r"class \w+\(TypedDict\)|\w+: TypeAlias = |\w+ = TypedDict\(", text)
    }
    used: set[str] = set()
    waiting = functions
    while waiting:
        words = set(re.findall(r"\w+", waiting.pop()))
        new = (words & declared.keys()) - used
        used |= new
        waiting += [declared[name] for name in new]
    return set(declared) - used


@each_document
def test_every_class_and_alias_is_used(document: Path) -> None:
    for path, content in without_runtime(generate(bridge(document)).files).items():
        if path.match("*/tools/*.py"):
            assert unused_declarations(content.decode()) == set(), path


OWN_CODE = """
from petstore_mcp.runtime import Api
from petstore_mcp.tools.pets import get_pet, list_pets

async def names(api: Api) -> list[str]:
    page = (await list_pets(api, limit=5)).json()
    return [pet["name"] for pet in page.get("pets", []) if "name" in pet]

async def wrong(api: Api) -> object:
    return (await get_pet(api, pet_id=1)).json()["nmae"]
"""


@pytest.mark.process
def test_answers_are_typed_as_the_document_says(tmp_path: Path) -> None:
    generated(PETSTORE, tmp_path, name="petstore-mcp")
    (tmp_path / "own.py").write_text(OWN_CODE)
    process = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    errors = [line for line in process.stdout.splitlines() if "error:" in line]
    assert len(errors) == 1, process.stdout
    assert "own.py:10" in errors[0]
    assert '"nmae"' in errors[0]
    assert "TypedDict" in errors[0]


def test_vendored_and_installed_differ_in_import_readme_and_project_file() -> None:
    vendored, installed = (
        without_runtime(generate(bridge(PETSTORE), runtime=runtime).files) for runtime in ("vendored", "installed")
    )
    assert set(vendored) == set(installed)
    different = {str(path) for path in vendored if vendored[path] != installed[path]}
    assert different == {".gitattributes", "README.md", "pyproject.toml", "pet_store_mcp/runtime.py"}
    folded = vendored[PurePosixPath(".gitattributes")]
    assert b"pet_store_mcp/_runtime/** linguist-generated linguist-vendored" in folded
    lines = [
        set(files[PurePosixPath("pet_store_mcp/runtime.py")].decode().splitlines()) for files in (vendored, installed)
    ]
    assert lines[0] ^ lines[1] == {f"from {module} import (" for module in RUNTIMES.values()}


def test_same_document_gives_same_bytes() -> None:
    assert generate(bridge(PETSTORE)) == generate(bridge(PETSTORE))


@pytest.mark.parametrize("name", ["", "../petstore", "a/b", "httpx", "pet store", ".hidden", "x" * 61, "tests", "con"])
def test_invalid_package_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="package"):
        generate(bridge(PETSTORE), name=name)


@pytest.mark.parametrize(
    ("name", "package"), [("petstore-mcp", "petstore_mcp"), ("Pet.Store", "pet_store"), ("2x", "n2x")]
)
def test_package_has_the_requested_name(name: str, package: str) -> None:
    generated_package = generate(bridge(PETSTORE), name=name)
    assert generated_package.name == name
    assert PurePosixPath(package, "server.py") in generated_package.files


def test_templates_of_a_folder_replace_and_add_files(tmp_path: Path) -> None:
    write({PurePosixPath("README.md.jinja"): b"# {{ title }}\n", PurePosixPath("docs/{{}}.md.jinja"): b"*\n"}, tmp_path)
    files = generate(bridge(PETSTORE), templates=tmp_path).files
    assert files[PurePosixPath("README.md")] == b"# Pet Store\n"
    assert files[PurePosixPath("docs/{{}}.md")] == b"*\n"
    assert PurePosixPath("pyproject.toml") in files


def test_template_error_names_the_template(tmp_path: Path) -> None:
    write({PurePosixPath("README.md.jinja"): b"{{ nothing_of_that_name }}"}, tmp_path)
    with pytest.raises(UsageError) as caught:
        generate(bridge(PETSTORE), templates=tmp_path)
    assert caught.value.where == "README.md.jinja"


def test_ambiguous_names_are_avoided_and_imports_sorted() -> None:
    names = constants({name: (name,) for name in ("o", "b", "I")})
    assert names == {"o": "O_", "b": "B", "I": "I_"}
    assert import_line("..api", names.values()) == "from ..api import I_, O_, B"
