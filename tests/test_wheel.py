"""The built wheel works in an empty environment, as users install it."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True)
    assert [path.suffix for path in sorted(folder.iterdir())] == [".whl", ".gz"]
    return next(folder.glob("*.whl"))


def test_wheel_holds_only_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"openapi_mcp"}
    assert "openapi_mcp/py.typed" in names
    page = {
        "openapi_mcp/templates/ui/base.html",
        "openapi_mcp/ui/static/htmx.min.js",
        "openapi_mcp/ui/static/vendored.json",
    }
    assert page <= set(names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_command_of_the_installed_wheel_works(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(tmp_path), "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [tmp_path / "bin" / "openapi-mcp", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout

    document = str(ROOT / "specs" / "petstore.yaml")
    assert run("--version").startswith("openapi-mcp ")
    assert len(json.loads(run("inspect", document, "--json"))["tools"]) == 9
    assert "GET http://127.0.0.1:8020/pets/7 " in run("call", document, "getPet", "petId=7", "--dry-run")
