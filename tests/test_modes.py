"""What `serve` lists unless it is told: all tools of a small document, a search of a large one, which it says."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.budget import total
from openapi_mcp.config import Config
from openapi_mcp.mode import Mode
from openapi_mcp.offering import MOST_TOKENS, MOST_TOOLS
from openapi_mcp.runtime.search_tools import NAMES
from openapi_mcp.savings import with_options
from tests.conftest import ROOT

LIMIT = 60.0
"""Seconds after which a test has failed."""


def written(folder: Path, operations: int, arguments: int = 1, text: str = "") -> str:
    """A document of so many operations with so many arguments each, described by a text."""
    parameters = [
        {"name": f"argument{number}", "in": "query", "schema": {"type": "string", "enum": ["one way", "another"]}}
        for number in range(arguments)
    ]
    operation = {"description": text, "parameters": parameters, "responses": {"200": {"description": "Done."}}}
    paths = {f"/things/{number}": {"get": operation} for number in range(operations)}
    path = folder / f"{operations}-{arguments}.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": paths}))
    return str(path)


def command(*arguments: str, stdin: str = "") -> tuple[str, str]:
    """What a command says on stdout and on stderr."""
    program = [sys.executable, "-m", "openapi_mcp", *arguments]
    done = subprocess.run(program, cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=LIMIT, check=True)
    return done.stdout, done.stderr


def listed(document: str, *options: str) -> tuple[set[str], str]:
    """The names of the tools that a client is told, and what whoever runs the server is."""
    stdout, stderr = command("serve", document, *options, stdin=requests({"id": 2, "method": "tools/list"}))
    answers = {answer.get("id"): answer for answer in map(json.loads, stdout.splitlines())}
    assert "nextCursor" not in answers[2]["result"]
    return {tool["name"] for tool in answers[2]["result"]["tools"]}, stderr


def requests(request: dict[str, Any]) -> str:
    """What a client writes: it begins, and asks."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
    messages: Sequence[dict[str, Any]] = (
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        request,
    )
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


def test_a_small_document_is_listed_whole_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    names, said = listed(written(tmp_path, MOST_TOOLS))
    assert len(names) == MOST_TOOLS
    assert not names & NAMES
    assert not {"mode", "--mode"} & set(said.split())


@pytest.mark.parametrize(
    ("operations", "arguments", "why"),
    [
        (MOST_TOOLS + 1, 1, "129 tools are more than the 128 that many clients take"),
        (20, 130, "tokens, more than 40,000"),
    ],
)
def test_a_large_document_is_searched_and_that_is_said(
    tmp_path: Path, operations: int, arguments: int, why: str
) -> None:
    document = written(tmp_path, operations, arguments)
    names, said = listed(document)
    assert names == NAMES
    assert f"{why}; --mode all lists every tool" in said
    assert f"{operations} tools from {operations} operations" in said


@pytest.mark.parametrize(("operations", "arguments"), [(MOST_TOOLS + 1, 1), (20, 130)])
def test_every_tool_is_listed_where_that_is_asked_for(tmp_path: Path, operations: int, arguments: int) -> None:
    names, said = listed(written(tmp_path, operations, arguments), "--mode", "all")
    assert len(names) == operations
    assert not names & NAMES
    assert "--mode" not in said


def test_a_document_of_few_operations_is_the_large_one_that_it_is_meant_to_be(tmp_path: Path) -> None:
    bridge = Bridge.open(Config(source=written(tmp_path, 20, 130), mode=Mode.ALL))
    assert total(bridge.compiled.sizes) > MOST_TOKENS


def test_settings_may_say_the_mode_too_and_the_command_line_wins(tmp_path: Path) -> None:
    document, settings = written(tmp_path, MOST_TOOLS + 1), tmp_path / "settings.toml"
    settings.write_text("mode = 'all'")
    assert len(listed(document, "--config", str(settings))[0]) == MOST_TOOLS + 1
    assert listed(document, "--config", str(settings), "--mode", "auto")[0] == NAMES


def test_inspect_shows_how_tools_would_be_offered(tmp_path: Path) -> None:
    few, many = written(tmp_path, 3), written(tmp_path, MOST_TOOLS + 1)
    assert "serve: 3 tools listed, about" in command("inspect", few, "--no-validate")[0]
    shown = command("inspect", many, "--no-validate")[0]
    assert "serve: 3 tools listed, about" in shown
    assert "129 tools are more than the 128 that many clients take; --mode all lists every tool" in shown
    assert "with --mode all --compact: about" in shown
    assert "serve: 129 tools listed" in command("inspect", many, "--mode", "all", "--no-validate")[0]
    served = json.loads(command("inspect", many, "--json", "--no-validate")[0])["served"]
    assert (served["searched"], served["tools"]) == (True, 3)
    assert 500 < served["tokens"] <= 1100


def test_options_of_a_search_are_tried_on_the_list_of_all(tmp_path: Path) -> None:
    source = written(tmp_path, 300, 10)
    searched, whole = (
        dict(with_options(Bridge.open(Config(source=source, mode=mode)))) for mode in (Mode.AUTO, Mode.ALL)
    )
    assert searched.pop("--mode all") == total(Bridge.open(Config(source=source, mode=Mode.ALL)).compiled.sizes)
    assert searched.pop("--mode all --compact") == whole.pop("--compact")
    assert searched.pop("--mode all --read-only") == whole.pop("--read-only")
    assert whole.pop("--mode search") < 1100
    assert {name.removeprefix("--mode all and "): tokens for name, tokens in searched.items()} == whole


def test_a_generated_package_has_the_tools_of_a_whole_list(tmp_path: Path) -> None:
    document, package = written(tmp_path, 600, text="Sentences that say something. " * 40), tmp_path / "package"
    settings = tmp_path / "settings.toml"
    settings.write_text("mode = 'search'")
    command("generate", document, str(package), "--config", str(settings))
    assert "is what" in command("generate", document, str(package), "--check")[0]
    said = sum(path.read_text().count("Sentences") for path in package.glob("*/tools/*.py"))
    assert 600 < said < 600 * 10, "descriptions share a budget"


def test_clients_hear_that_a_document_is_searched_once_it_is_large(tmp_path: Path) -> None:
    path = Path(written(tmp_path, 2))
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(path), "--transport", "stdio", "--watch"]
    pipe = subprocess.PIPE
    with subprocess.Popen(serve, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(LIMIT, process.kill)
        watchdog.start()
        try:
            process.stdin.write(requests({"id": 2, "method": "tools/list"}))
            process.stdin.flush()
            assert len(until(process.stdout, id=2)["result"]["tools"]) == 2
            larger = Path(written(tmp_path, MOST_TOOLS + 1))
            larger.replace(path)
            until(process.stdout, method="notifications/tools/list_changed")
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}) + "\n")
            process.stdin.flush()
            assert {tool["name"] for tool in until(process.stdout, id=3)["result"]["tools"]} == NAMES
        finally:
            watchdog.cancel()
            process.kill()


def until(lines: Iterable[str], **having: object) -> dict[str, Any]:
    """The first message that has these members."""
    found: dict[str, Any] = next(
        message
        for message in map(json.loads, lines)
        if all(message.get(name) == value for name, value in having.items())
    )
    return found
