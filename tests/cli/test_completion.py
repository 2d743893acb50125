"""Completion in a shell: tools of documents that a command has read, at once and without reading them again."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli.main import app
from openapi_mcp.document import loader
from tests.conftest import ROOT

PETSTORE = str(ROOT / "specs" / "petstore.yaml")


def completed(*words: str) -> list[str]:
    """Return the words that bash is offered for the last one."""
    environment = {
        "_OPENAPI_MCP_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["openapi-mcp", *words]),
        "COMP_CWORD": str(len(words)),
    }
    shown = CliRunner().invoke(app, [], env=environment, prog_name="openapi-mcp")
    return shown.stdout.split()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def read(*options: str) -> None:
    assert CliRunner().invoke(app, ["inspect", *options, "--no-validate"]).exit_code == 0


def test_tools_of_a_document_that_was_read_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed("call", PETSTORE, "get") == []
    read(PETSTORE)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a shell waits")

    monkeypatch.setattr(loader, "load", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert completed("call", PETSTORE, "get") == ["getPet", "getPhoto", "getInventory"]
    assert completed("inspect", PETSTORE, "list") == ["listPets"]
    assert completed("call", PETSTORE, "nothing") == []


def test_options_before_the_word_count() -> None:
    read(PETSTORE, "--include", "tag:shop", "--prefix", "my")
    assert completed("inspect", "--include", "tag:shop", "--prefix", "my", PETSTORE, "my_get") == ["my_getInventory"]


@pytest.mark.parametrize("spec", ["missing.yaml", "-", "https://127.0.0.1:9/openapi.json", "ftp://nowhere"])
def test_what_cannot_be_known_is_no_completion(spec: str) -> None:
    assert completed("call", spec, "") == []


def test_a_changed_document_is_not_completed_with_old_names(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    operation = {"operationId": "old", "responses": {"200": {"description": "OK"}}}
    value = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/": {"get": operation}}}
    file.write_text(json.dumps(value))
    read(str(file))
    assert completed("inspect", str(file), "") == ["old"]
    file.write_text(json.dumps(value).replace("old", "new"))
    assert completed("inspect", str(file), "") == []
