"""Imports of a start: only what the command needs, so that it starts quickly."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openapi_mcp.cache.compilations import PACKAGE
from tests.conftest import ROOT

pytestmark = pytest.mark.process

RUN = """
import json, sys
from openapi_mcp.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

NEVER_AT_START = {
    "jinja2",
    "limits",
    "openapi_core",
    "openapi_spec_validator",
    "prance",
    "pydantic_monty",
    "watchfiles",
}
NEVER_AT_START |= {"pydantic", "pygments", "rich"}
NEVER_AT_START |= {"jsonschema", "referencing"}
VERDICTS = {"jsonschema_rs"}
RARE = {
    "cache.encoder",
    "cli.inspect.output",
    "cli.serve.watcher",
    "document.fetcher",
    "document.sources",
    "runtime.arguments.validation",
    "runtime.json_schema.judge",
    "runtime.protocol.header_arguments",
    "runtime.protocol.trace_context",
    "runtime.result.build",
    "runtime.search.ranking",
    "runtime.search.index_store",
    "runtime.server.deviations",
    "runtime.server.functions",
    "tools.names",
    "workflows.loader",
}
"""Modules that few starts need, or that only a call needs: imported where they are used."""
HTTP_SERVER = {"starlette", "uvicorn"}
YAML = {"yaml", "ruamel"}
COMPILING = {
    "document.bundle",
    "document.loader",
    "document.parser",
    "document.resolver",
    "document.swagger2.conversion",
    "schemas.definitions",
    "tools.compiler",
    "tools.operations",
    "tools.server_info",
}


def imported(command: str, document: Path, folder: Path, *options: str) -> set[str]:
    """Run a command; return the packages it imports, and the modules of this package by their names in it."""
    result = subprocess.run(
        [sys.executable, "-c", RUN, command, str(document), *options],
        cwd=ROOT,
        env=os.environ | {"OPENAPI_MCP_CACHE": str(folder / "cache")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modules: list[str] = json.loads(result.stderr.splitlines()[-1])
    own = {module.removeprefix("openapi_mcp.") for module in modules if module.startswith("openapi_mcp.")}
    return own | {module.split(".")[0] for module in modules}


@pytest.fixture
def json_document(tmp_path: Path) -> Path:
    import yaml

    path = tmp_path / "petstore.json"
    path.write_text(json.dumps(yaml.safe_load((ROOT / "specs" / "petstore.yaml").read_text())))
    return path


def test_json_document_needs_no_yaml(json_document: Path, tmp_path: Path) -> None:
    modules = imported("serve", json_document, tmp_path)
    assert not modules & (NEVER_AT_START | HTTP_SERVER | YAML | VERDICTS)
    assert modules >= COMPILING, "the names in COMPILING are those of modules"


def test_cached_tools_need_nothing_of_the_compile_side(tmp_path: Path) -> None:
    document = ROOT / "specs" / "petstore.yaml"
    assert YAML & imported("serve", document, tmp_path)
    modules = imported("serve", document, tmp_path)
    assert not modules & (NEVER_AT_START | HTTP_SERVER | YAML | VERDICTS | COMPILING | RARE)


def test_call_with_cached_tools_needs_no_more(json_document: Path, tmp_path: Path) -> None:
    imported("serve", json_document, tmp_path)
    modules = imported("call", json_document, tmp_path, "getPet", "--json", '{"petId": 1}', "--dry-run")
    assert not modules & (NEVER_AT_START | HTTP_SERVER | YAML | COMPILING)


def test_inspect_needs_rich_at_a_terminal_only(json_document: Path, tmp_path: Path) -> None:
    assert "rich" not in imported("inspect", json_document, tmp_path, "--no-validate")


def test_rare_modules_are_there() -> None:
    files = {".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    assert files >= RARE
