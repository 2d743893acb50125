"""Messages of `call` about missing credentials, before a request and after one that failed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.cli.main import app

SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "user": {"type": "http", "scheme": "basic"},
    "sealed": {"type": "mutualTLS"},
}


def called(folder: Path, security: list[Mapping[str, list[str]]], *options: str) -> Result:
    operation: dict[str, Any] = {"operationId": "it", "responses": {"200": {"description": "OK"}}, "security": security}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Safe", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "components": {"securitySchemes": SCHEMES},
        "paths": {"/it": {"get": operation}},
    }
    file = folder / "safe.json"
    file.write_text(json.dumps(document))
    return CliRunner().invoke(app, ["call", str(file), "it", "--no-cache", "--retries", "0", *options])


@pytest.mark.parametrize(
    ("security", "options", "missing"),
    [
        ([{"key": []}], [], ["key"]),
        ([{"key": []}], ["--auth", "key=secret"], []),
        ([{"key": []}, {}], [], []),
        ([{"key": [], "user": []}], ["--auth", "key=secret"], ["user"]),
        ([{"key": []}, {"user": []}], ["--auth", "user=a:b"], []),
        ([{"key": []}, {"user": []}], [], ["key", "user"]),
        ([{"sealed": []}], [], ["sealed"]),
        ([], [], []),
    ],
)
def test_a_dry_run_names_the_credentials_that_the_call_lacks(
    tmp_path: Path, security: list[Mapping[str, list[str]]], options: list[str], missing: list[str]
) -> None:
    shown = called(tmp_path, security, "--dry-run", *options)
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith("GET http://127.0.0.1:9/it HTTP/1.1\n")
    notes = [line for line in shown.stderr.splitlines() if line.startswith("note: credential ")]
    assert [note.split()[2].rstrip(":") for note in notes] == missing
    assert all("not set; set " in note for note in notes)
    assert "secret" not in shown.output


def test_a_failed_call_names_the_variable_or_the_next_command(tmp_path: Path) -> None:
    refused = called(tmp_path, [{"key": []}])
    assert refused.exit_code == 5
    assert "what to do: the answer is printed above; credential key: not set; set API_SAFE_KEY" in refused.stderr
    open_call = called(tmp_path, [])
    assert "--dry-run prints the request" in open_call.stderr
    assert "safe.json it` the arguments" in open_call.stderr
