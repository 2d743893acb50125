"""Real clients read the settings that `install` writes, start the server or reach it, and say so.

They are taken from the PATH, or from the folder that OPENAPI_MCP_CLIENTS names (`npm install @anthropic-ai/claude-code
@google/gemini-cli @openai/codex` makes one, `node_modules/.bin`), and need no account and no network.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import serving_http
from tests.conftest import ROOT

pytestmark = [pytest.mark.process, pytest.mark.slow]

SPEC = str(ROOT / "specs" / "petstore.yaml")
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "NO_COLOR": "1",
}


class Home:
    """A home folder in which one client has been started once."""

    def __init__(self, folder: Path, program: str, home: str) -> None:
        path = os.environ.get("OPENAPI_MCP_CLIENTS", "") + os.pathsep + os.environ["PATH"]
        self.program = shutil.which(program, path=path) or ""
        if not self.program:
            pytest.skip(f"{program} is not installed; OPENAPI_MCP_CLIENTS names the folder that has it")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "CODEX", "XDG"))}
        self.environment = {**kept, **QUIET, "HOME": str(folder), "USERPROFILE": str(folder), "PATH": path}
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        (folder / home).mkdir()

    def listed(self) -> str:
        """Return what `mcp list` prints."""
        done = subprocess.run(
            [self.program, "mcp", "list"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        return done.stdout

    def openapi_mcp(self, *words: str) -> None:
        """Run a command of this program."""
        command = [sys.executable, "-m", "openapi_mcp", *words]
        subprocess.run(command, cwd=self.project, env=self.environment, check=True, capture_output=True, timeout=60)


def test_claude_code_connects_to_both_kinds_of_entry(tmp_path: Path) -> None:
    home = Home(tmp_path, "claude", ".claude")
    with serving_http([sys.executable, "-m", "openapi_mcp", "serve", SPEC]) as url:
        home.openapi_mcp("install", SPEC, "--client", "claude-code")
        home.openapi_mcp("install", SPEC, "--client", "claude-code", "--name", "reached", "--http", url)
        lines = home.listed().splitlines()
        connected = [line.partition(":")[0] for line in lines if "Connected" in line]
        assert connected == ["pet-store", "reached"], lines
        home.openapi_mcp("uninstall", SPEC, "--client", "claude-code")  # Claude Code has changed the file meanwhile
        home.openapi_mcp("uninstall", "reached", "--client", "claude-code", "--http", url)
    assert json.loads((tmp_path / ".claude.json").read_bytes()).get("mcpServers", {}) == {}
    assert "Connected" not in home.listed()


def test_claude_code_connects_to_the_entry_of_a_project(tmp_path: Path) -> None:
    home = Home(tmp_path, "claude", ".claude")
    home.openapi_mcp("install", SPEC, "--client", "claude-code", "--scope", "project")
    assert "pet-store" in home.listed()


def test_gemini_connects(tmp_path: Path) -> None:
    home = Home(tmp_path, "gemini", ".gemini")
    home.openapi_mcp("install", SPEC, "--client", "gemini")
    (line,) = [line for line in home.listed().splitlines() if "pet-store" in line]
    assert line.endswith("(stdio) - Connected")


def test_codex_reads_the_entry(tmp_path: Path) -> None:
    home = Home(tmp_path, "codex", ".codex")
    home.openapi_mcp("install", SPEC, "--client", "codex")
    home.openapi_mcp("install", SPEC, "--client", "codex", "--name", "reached", "--http", "http://127.0.0.1:1/mcp")
    listed = home.listed()
    (line,) = [line for line in listed.splitlines() if line.startswith("pet-store")]
    assert sys.executable in line
    assert f"-m openapi_mcp serve {SPEC}" in line
    assert "API_PETSTORE_SHOPKEY" in line
    assert "http://127.0.0.1:1/mcp" in listed
