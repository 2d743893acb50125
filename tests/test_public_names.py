"""The public names of the package: imported on first use, the right objects, and typed."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import openapi_mcp
from tests.conftest import ROOT

MODULES = {
    "Bridge": "bridge",
    "Config": "config",
    "Hooks": "extension.hooks",
    "Tool": "runtime.tool",
    "CallToolResult": "runtime.types",
    "BridgeError": "errors",
    "CallFailed": "errors",
    "DocumentError": "errors",
    "HostChanged": "errors",
    "PackageStale": "errors",
    "Problem": "errors",
    "ReferenceRefused": "errors",
    "UnknownTool": "errors",
    "UnresolvedConflicts": "errors",
    "UsageError": "errors",
}


def loaded_modules(statement: str) -> set[str]:
    """Run a statement in a new process; return the modules of the package that it imports."""
    program = f"{statement}\nimport sys\nprint(*(name for name in sys.modules if name.startswith('openapi_mcp')))"
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return set(result.stdout.split())


def test_public_names_are_those_of_their_modules() -> None:
    assert {*MODULES, "__version__"} == set(openapi_mcp.__all__) == set(dir(openapi_mcp))
    for name, module in MODULES.items():
        value = getattr(openapi_mcp, name)
        assert value is getattr(importlib.import_module(f"openapi_mcp.{module}"), name)
        assert value.__module__ == f"openapi_mcp.{module}"


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'openapi_mcp' has no attribute 'Brigde'"):
        _ = openapi_mcp.Brigde  # type: ignore[attr-defined]  # the wrong name is the test
    with pytest.raises(ImportError):
        exec("from openapi_mcp import nonsense", {})  # noqa: S102  # the text is constant


@pytest.mark.process
def test_import_of_the_package_imports_nothing_else() -> None:
    assert loaded_modules("import openapi_mcp") == {"openapi_mcp"}
    assert loaded_modules("from openapi_mcp import __version__") == {"openapi_mcp"}
    assert loaded_modules("from openapi_mcp import Problem, UsageError") == {"openapi_mcp", "openapi_mcp.errors"}
    assert "openapi_mcp.bridge" in loaded_modules("from openapi_mcp import Bridge")


@pytest.mark.process
def test_public_names_are_typed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from openapi_mcp import Bridge, Config, Tool, UsageError\n"
        "def names(source: str) -> list[str]:\n"
        "    tools: tuple[Tool, ...] = Bridge.open(Config(source=source)).tools\n"
        "    return [tool.name for tool in tools]\n"
        "number: int = names('a')\n"
        "from openapi_mcp import Brigde\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path)]
    result = subprocess.run(
        [*command, str(program)], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    wrong_type, wrong_name = [line for line in result.stdout.splitlines() if "program.py" in line and "error" in line]
    assert f"{program}:5: error: " in wrong_type
    assert 'expression has type "list[str]", variable has type "int"' in wrong_type
    assert f'{program}:6: error: Module "openapi_mcp" has no attribute "Brigde"' in wrong_name
