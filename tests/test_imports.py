"""What a start imports: what the command needs, and nothing else, so that nobody waits for what is not used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

RUN = """
import json, sys
from openapi_mcp.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

OF_NO_START = {"jinja2", "limits", "openapi_core", "openapi_spec_validator", "prance", "pydantic_monty", "watchfiles"}
OF_NO_START |= {"pydantic", "pygments", "rich"}
OF_EXPLAINING = {"jsonschema", "referencing"}
OF_LISTENING = {"starlette", "uvicorn"}
OF_YAML = {"yaml", "ruamel"}
COMPILING = {
    "about",
    "bundle",
    "compiling",
    "loader",
    "operations",
    "resolver",
    "schemas",
    "swagger2",
    "syntax",
    "tools",
}


def imported(command: str, document: Path, folder: Path, *options: str) -> set[str]:
    """The packages that a command imports, and this package's own modules by their own names."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, command, str(document), *options],
        cwd=ROOT,
        env=os.environ | {"OPENAPI_MCP_CACHE": str(folder / "cache")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modules: list[str] = json.loads(done.stderr.splitlines()[-1])
    own = {module.removeprefix("openapi_mcp.") for module in modules if module.startswith("openapi_mcp.")}
    return own | {module.split(".")[0] for module in modules}


@pytest.fixture
def in_json(tmp_path: Path) -> Path:
    import yaml

    path = tmp_path / "petstore.json"
    path.write_text(json.dumps(yaml.safe_load((ROOT / "specs" / "petstore.yaml").read_text())))
    return path


def test_a_document_in_json_needs_no_yaml(in_json: Path, tmp_path: Path) -> None:
    found = imported("serve", in_json, tmp_path)
    assert not found & (OF_NO_START | OF_LISTENING | OF_YAML | OF_EXPLAINING)
    assert found >= COMPILING, "this test knows the modules by their names"


def test_kept_tools_need_nothing_of_what_makes_them(tmp_path: Path) -> None:
    document = ROOT / "specs" / "petstore.yaml"
    assert OF_YAML & imported("serve", document, tmp_path)
    found = imported("serve", document, tmp_path)
    assert not found & (OF_NO_START | OF_LISTENING | OF_YAML | OF_EXPLAINING | COMPILING)


def test_a_call_needs_no_more(in_json: Path, tmp_path: Path) -> None:
    imported("serve", in_json, tmp_path)
    found = imported("call", in_json, tmp_path, "getPet", "--json", '{"petId": 1}', "--dry-run")
    assert not found & (OF_NO_START | OF_LISTENING | OF_YAML | OF_EXPLAINING | COMPILING)
    assert imported("call", in_json, tmp_path, "getPet", "petId=1", "--dry-run") & OF_EXPLAINING, "text for a number"


def test_only_inspect_draws_tables(in_json: Path, tmp_path: Path) -> None:
    assert "rich" in imported("inspect", in_json, tmp_path, "--no-validate")
