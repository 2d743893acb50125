"""`serve --mode auto` lists all tools of a small document and searches those of a large one, and reports it."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.inspect.output import savings
from openapi_mcp.config import Config
from openapi_mcp.modes import MAX_LISTED_TOKENS, MAX_LISTED_TOOLS, Mode
from openapi_mcp.runtime.search.tools import NAMES
from openapi_mcp.token_budget import total
from tests.conftest import ROOT

pytestmark = pytest.mark.process

LIMIT = 60.0
"""Seconds after which a test has failed."""


def write_document(folder: Path, operations: int, arguments: int = 1, text: str = "") -> str:
    """Write a document of so many operations with so many arguments each; return its path."""
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
    """Run a command; return its stdout and stderr."""
    program = [sys.executable, "-m", "openapi_mcp", *arguments]
    result = subprocess.run(program, cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=LIMIT, check=True)
    return result.stdout, result.stderr


def listed(document: str, *options: str) -> tuple[set[str], str]:
    """Return the names of the tools that a client gets, and the stderr of the server."""
    stdout, stderr = command("serve", document, *options, stdin=requests({"id": 2, "method": "tools/list"}))
    answers = {answer.get("id"): answer for answer in map(json.loads, stdout.splitlines())}
    assert "nextCursor" not in answers[2]["result"]
    return {tool["name"] for tool in answers[2]["result"]["tools"]}, stderr


def requests(request: dict[str, Any]) -> str:
    """Return the lines of a client: the handshake and a request."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
    messages: Sequence[dict[str, Any]] = (
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        request,
    )
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


def test_small_document_is_listed_without_a_report_of_the_mode(tmp_path: Path) -> None:
    names, stderr = listed(write_document(tmp_path, MAX_LISTED_TOOLS))
    assert len(names) == MAX_LISTED_TOOLS
    assert not names & NAMES
    assert not {"mode", "--mode"} & set(stderr.split())


@pytest.mark.parametrize(
    ("operations", "arguments", "why"),
    [
        (MAX_LISTED_TOOLS + 1, 1, "129 tools are more than the 128 that many clients accept"),
        (20, 130, "tokens, more than 20,000"),
    ],
)
def test_large_document_is_searched_and_the_reason_is_reported(
    tmp_path: Path, operations: int, arguments: int, why: str
) -> None:
    document = write_document(tmp_path, operations, arguments)
    names, stderr = listed(document)
    assert names == NAMES
    assert f"{why}; --mode all lists every tool" in stderr
    assert f"{operations} tools from {operations} operations" in stderr


@pytest.mark.parametrize(("operations", "arguments"), [(MAX_LISTED_TOOLS + 1, 1), (20, 130)])
def test_mode_all_lists_every_tool(tmp_path: Path, operations: int, arguments: int) -> None:
    names, stderr = listed(write_document(tmp_path, operations, arguments), "--mode", "all")
    assert len(names) == operations
    assert not names & NAMES
    assert "--mode" not in stderr


def test_document_with_many_arguments_exceeds_the_token_limit(tmp_path: Path) -> None:
    bridge = Bridge.open(Config(source=write_document(tmp_path, 20, 130), mode=Mode.ALL))
    assert total(bridge.compilation.sizes) > MAX_LISTED_TOKENS


def test_command_line_overrides_the_mode_of_a_settings_file(tmp_path: Path) -> None:
    document, settings = write_document(tmp_path, MAX_LISTED_TOOLS + 1), tmp_path / "settings.toml"
    settings.write_text("mode = 'all'")
    assert len(listed(document, "--config", str(settings))[0]) == MAX_LISTED_TOOLS + 1
    assert listed(document, "--config", str(settings), "--mode", "auto")[0] == NAMES


def test_inspect_reports_the_mode_of_serve(tmp_path: Path) -> None:
    few, many = write_document(tmp_path, 3), write_document(tmp_path, MAX_LISTED_TOOLS + 1)
    assert "serve: 3 tools listed, about" in command("inspect", few, "--no-validate", "--format", "text")[0]
    stdout = command("inspect", many, "--no-validate", "--format", "text")[0]
    assert "serve: 3 tools listed, about" in stdout
    assert "129 tools are more than the 128 that many clients accept; --mode all lists every tool" in stdout
    assert "with --mode all --compact: about" in stdout
    all_listed = command("inspect", many, "--mode", "all", "--no-validate", "--format", "text")[0]
    assert "serve: 129 tools listed" in all_listed
    served = json.loads(command("inspect", many, "--json", "--no-validate")[0])["served"]
    assert (served["searched"], served["tools"]) == (True, 3)
    assert 400 < served["tokens"] <= 1100


def test_savings_of_a_search_are_those_of_the_list_of_all_tools(tmp_path: Path) -> None:
    source = write_document(tmp_path, 300, 10)
    searched, listed_all = (
        dict(savings(Bridge.open(Config(source=source, mode=mode)))) for mode in (Mode.AUTO, Mode.ALL)
    )
    assert searched.pop("--mode all") == total(Bridge.open(Config(source=source, mode=Mode.ALL)).compilation.sizes)
    assert searched.pop("--mode all --compact") == listed_all.pop("--compact")
    assert searched.pop("--mode all --read-only") == listed_all.pop("--read-only")
    assert listed_all.pop("--mode search") < 1100
    assert {name.removeprefix("--mode all and "): tokens for name, tokens in searched.items()} == listed_all


def test_generated_package_has_all_tools_in_every_mode(tmp_path: Path) -> None:
    document, package = write_document(tmp_path, 600, text="Sentences that say something. " * 40), tmp_path / "package"
    settings = tmp_path / "settings.toml"
    settings.write_text("mode = 'search'")
    command("generate", document, str(package), "--config", str(settings))
    assert "is up to date with" in command("generate", document, str(package), "--check")[0]
    count = sum(path.read_text().count("Sentences") for path in package.glob("*/tools/*.py"))
    assert 600 < count < 600 * 10, "descriptions share a budget"


def test_clients_are_notified_when_a_growing_document_becomes_searched(tmp_path: Path) -> None:
    path = Path(write_document(tmp_path, 2))
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
            larger = Path(write_document(tmp_path, MAX_LISTED_TOOLS + 1))
            larger.replace(path)
            until(process.stdout, method="notifications/tools/list_changed")
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}) + "\n")
            process.stdin.flush()
            assert {tool["name"] for tool in until(process.stdout, id=3)["result"]["tools"]} == NAMES
        finally:
            watchdog.cancel()
            process.kill()


def until(lines: Iterable[str], **having: object) -> dict[str, Any]:
    """Return the first message that has these members."""
    message: dict[str, Any] = next(
        each for each in map(json.loads, lines) if all(each.get(name) == value for name, value in having.items())
    )
    return message
