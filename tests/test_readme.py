"""The commands of the README work, and its options exist."""

import re
import shlex
import subprocess
import sys

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    openapi-mcp ((?:inspect|call) .+?)(?:  +\S.*)?$", README, re.MULTILINE)


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "openapi_mcp", *arguments]
    return subprocess.run(command, cwd=ROOT / "specs", capture_output=True, text=True, check=True).stdout


@pytest.mark.process
@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_the_readme_works(command: str) -> None:
    words = shlex.split(command, comments=True)
    assert run(*words, *(["--dry-run"] if words[0] == "call" and "--dry-run" not in words else []))


def test_readme_has_commands() -> None:
    assert len(COMMANDS) >= 5


@pytest.mark.process
def test_every_option_of_the_readme_is_an_option_of_a_command() -> None:
    commands = ("serve", "inspect", "search", "call", "generate", "bundle", "login", "install")
    helps = [run(command, "--help") for command in commands]
    existing = set(re.findall(r"--[a-z][a-z-]+", "".join(helps)))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - existing <= {"--help", "--version"}


def test_no_text_installs_the_package_of_another_project() -> None:
    for path in (*ROOT.glob("*.md"), *(ROOT / "openapi_mcp").rglob("*.py"), *(ROOT / "examples").rglob("*.py")):
        assert not re.search(r"(pip|uvx|pipx|uv)[a-z ]* openapi-mcp\b", path.read_text()), path
