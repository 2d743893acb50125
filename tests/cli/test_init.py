"""`openapi-mcp init`: the file that it writes is valid, serves at once, and never replaces another."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.cli.settings import Settings
from openapi_mcp.options.table import settings_schema
from openapi_mcp.settings.starter import Starter
from tests.conftest import ROOT

DOCUMENTS = ("petstore.yaml", "library.yaml", "museum.yaml", "petstore-2.0.json")
ODD = 'A "quoted"\nkey = 1\n[apis.x] \\ \x7f\u2028 é😀'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["init", *words])
    assert result.exit_code == code, result.output
    return result


def checked(text: str) -> dict[str, Any]:
    """The settings of a text, with all that stands in comments, too."""
    jsonschema.validate(tomllib.loads(text), settings_schema())
    everything = tomllib.loads(re.sub(r'^# (?=(?:"|[A-Za-z-]+ = ))', "", text, flags=re.MULTILINE))
    jsonschema.validate(everything, settings_schema())
    return tomllib.loads(text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_file_is_valid_and_serves_at_once(folder: Path, name: str) -> None:
    (folder / name).write_text((ROOT / "specs" / name).read_text())
    init("--from", name)
    assert checked((folder / "openapi-mcp.toml").read_text())["spec"] == name
    bridge = Settings.find(None, {}).open()
    assert isinstance(bridge, Bridge)
    assert bridge.server().catalog.tools


def test_another_file_stays_without_force(folder: Path) -> None:
    document = str(ROOT / "specs" / "petstore.yaml")
    path = folder / "openapi-mcp.toml"
    path.write_text("quiet = true\n")
    assert "replace it with --force" in init("--from", document, code=2).output
    assert path.read_text() == "quiet = true\n"
    printed = init("--from", document, "--print").stdout
    assert path.read_text() == "quiet = true\n"
    init("--from", document, "--force")
    assert path.read_text() == printed


def test_without_a_terminal_the_document_must_be_named(folder: Path) -> None:
    assert "--from" in init(code=2).output
    assert "secret" in init("--from", "https://user:hunter2@api.test/openapi.json", code=2).output
    assert not (folder / "openapi-mcp.toml").exists()


def test_texts_of_a_document_stay_texts() -> None:
    starter = Starter(
        spec=ODD,
        title=ODD,
        tags=[ODD, "b"],
        base_url=ODD,
        variables={ODD: "API_X"},
        own_variables={ODD: "MINE"},
        transport="http",
        read_only=True,
    )
    settings = checked(starter.text())
    assert settings["spec"] == ODD
    assert settings["auth"] == {ODD: "env:MINE"}
    assert settings.keys() == {"spec", "read-only", "transport", "auth"}


@pytest.mark.process
@pytest.mark.skipif(not hasattr(pty, "openpty"), reason="terminals of Unix")
def test_questions_at_a_terminal(tmp_path: Path) -> None:
    document = ROOT / "specs" / "petstore.yaml"
    answers = [str(document), "http", "y", "MY_KEY", "no"]
    terminal, end = pty.openpty()
    environment = os.environ | {"OPENAPI_MCP_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "openapi_mcp", "init"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdin=end, stdout=end, stderr=end) as process:
        os.write(terminal, "".join(f"{answer}\n" for answer in answers).encode())
        shown = b""
        while process.poll() is None or not shown.endswith(b"\n"):
            shown += os.read(terminal, 4096)
            if b"Install into" in shown:
                break
        assert process.wait(30) == 0, shown
    os.close(terminal)
    os.close(end)
    settings = checked((tmp_path / "openapi-mcp.toml").read_text())
    assert settings["transport"] == "http"
    assert settings["read-only"] is True
    # The petstore's only credential is needed for what changes something, and is asked for all the same.
    assert json.dumps(settings["auth"]) == '{"shopKey": "env:MY_KEY"}'
