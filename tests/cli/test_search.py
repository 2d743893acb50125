"""`openapi-mcp search`: what models find, for people and programs."""

import json
import re
import shlex
import sys
from textwrap import indent
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.cli.search import print_rows
from openapi_mcp.config import Config
from openapi_mcp.errors import UnknownTool, UsageError
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.search.answers import render_hits
from openapi_mcp.runtime.search.tools import ToolFinder
from tests.conftest import ROOT
from tests.databases import without_fts5

PETSTORE = "specs/petstore.yaml"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["search", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout


def test_tools_are_printed_with_tabs_into_a_pipe() -> None:
    rows = [line.split("\t") for line in run(PETSTORE, "remove a pet").splitlines()]
    assert [row[0] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert rows[0] == ["1", "deletePet", "DELETE", "/pets/{petId}", "Delete a pet"]
    assert run(PETSTORE, "remove a pet", "--limit", "1").splitlines() == ["\t".join(rows[0])]


def test_explain_adds_the_reason() -> None:
    [row] = [line.split("\t") for line in run(PETSTORE, "remove a pet", "--explain", "--limit", "1").splitlines()]
    assert "pet in name, path" in row[5]
    assert row[5].endswith("deletes, as asked")


def test_json_has_the_tools_that_find_arguments() -> None:
    [found] = json.loads(run(PETSTORE, "remove a pet", "--limit", "1", "--json", "--explain"))
    assert found["tool"] == "deletePet"
    assert found["finders"] == [{"argument": "petId", "tool": "listPets"}]
    assert "deletes, as asked" in found["why"]


def test_topics_and_their_tools() -> None:
    topics = [line.split("\t") for line in run(PETSTORE).splitlines()]
    assert [topic[:2] for topic in topics] == [["pets", "7"], ["shop", "2"]]
    assert len(run(PETSTORE, "--topic", "pets").splitlines()) == 7
    assert "getInventory" in run(PETSTORE, "--topic", "/inventory")
    assert "getInventory" not in run(PETSTORE, "list pets", "--topic", "pets")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--topic", "petz"), "did you mean pets?"),
        (("delete", "--include", "method:get", "--topic", "/nowhere"), "no path begins with it"),
    ],
)
def test_nothing_found_is_an_error_of_its_own(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, ["search", PETSTORE, *arguments])
    assert result.exit_code == UnknownTool.exit_code
    assert said in result.stderr


def test_words_that_are_not_understood_are_named() -> None:
    result = CliRunner().invoke(app, ["search", PETSTORE, "zzyzx"])
    assert "not understood" in result.stderr
    assert "zzyzx" in result.stderr


def test_a_python_without_full_text_search_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    result = CliRunner().invoke(app, ["search", PETSTORE, "pets"])
    assert result.exit_code == UsageError.exit_code
    assert "FTS5" in result.stderr
    assert len(run(PETSTORE, "--topic", "pets").splitlines()) == 7


def test_a_table_at_a_terminal_escapes_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    row: dict[str, Any] = {"rank": 1, "tool": "a", "method": "GET", "path": "/a", "about": "red \x1b[31m"}
    print_rows([{**row, "finders": [{"argument": "x", "tool": "b"}]}])
    shown = capsys.readouterr()
    assert "x: found by b" in shown.out
    assert "\x1b[31m" not in shown.out
    assert "1 tool" in shown.err


def test_commands_of_the_documentation_work() -> None:
    text = (ROOT / "docs" / "search.md").read_text()
    commands = re.findall(r"^    openapi-mcp search petstore.yaml(.*?)(?:  +\S.*)?$", text, re.MULTILINE)
    assert len(commands) == 4
    for options in commands:
        assert run(PETSTORE, *shlex.split(options))


def test_the_example_of_the_documentation_is_what_a_search_answers() -> None:
    tools = Bridge.open(Config(source=PETSTORE, mode=Mode.SEARCH)).tools
    hits, _ = ToolFinder(tools).find("change the price of a pet", 2)
    answer = render_hits(hits, len(tools))
    assert indent(answer, "    ") in (ROOT / "docs" / "search.md").read_text()
