"""Completion in a shell: tools of documents that a command has read, at once and without reading them again."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli.main import app
from openapi_mcp.cli.shell import completion
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


VALUES: dict[str, Any] = {
    "sort": {"enum": ["name", "-name", "new first"]},
    "limit": {"type": "integer"},
    "full": {"type": "boolean"},
    "tags": {"type": "array", "items": {"$ref": "#/components/schemas/Tag"}},
    "either": {"anyOf": [{"enum": [1, 2]}, {"const": "all"}]},
}


@pytest.fixture
def pets(tmp_path: Path) -> str:
    """A document that was read, whose tool has arguments of all kinds."""
    parameters = [
        {"name": name, "in": "query", "required": name == "limit", "description": f"About {name}.", "schema": schema}
        for name, schema in VALUES.items()
    ]
    operation = {"operationId": "find", "parameters": parameters, "responses": {"200": {"description": "OK"}}}
    value = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {"/": {"get": operation}},
        "components": {"schemas": {"Tag": {"type": "string", "enum": ["cat", "dog"]}}},
    }
    (tmp_path / "api.json").write_text(json.dumps(value))
    read("api.json")
    return "api.json"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([""], ["sort=", "limit=", "full=", "tags=", "either="]),
        (["l"], ["limit="]),
        (["s"], ["sort=name", "sort=-name"]),  # its values at once, and none that is no word of a shell
        (["full"], ["full=true", "full=false"]),
        (["tags="], ["tags=cat", "tags=dog"]),
        (["tags=d"], ["tags=dog"]),
        (["either="], ["either=1", "either=2", "either=all"]),
        (["limit="], []),
        (["none="], []),
        (["limit=1", ""], ["sort=", "full=", "tags=", "either="]),
        (["tags", "="], ["cat", "dog"]),  # as bash divides it
        (["tags", "=", "d"], ["dog"]),
        (["limit", "=", "5", "so"], ["sort=name", "sort=-name"]),
    ],
)
def test_arguments_of_a_tool_and_their_values_are_completed(pets: str, words: list[str], offered: list[str]) -> None:
    assert completed("call", pets, "find", *words) == offered
    Path("openapi-mcp.toml").write_text(f'spec = "{pets}"\n')
    assert completed("call", "find", *words) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_arguments_are_shown_with_what_they_are_for(pets: str, shell: str) -> None:
    line = f"openapi-mcp call {pets} find li"
    environment = {"_OPENAPI_MCP_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line}
    environment["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    shown = CliRunner().invoke(app, [], env=environment, prog_name="openapi-mcp").stdout
    assert "limit=" in shown
    assert "required About limit." in shown


def test_first_word_is_a_tool_or_an_api_of_the_settings_file(pets: str) -> None:
    assert completed("call", "f") == []
    Path("openapi-mcp.toml").write_text(f'spec = "{pets}"\n')
    assert completed("call", "f") == completed("inspect", "f") == ["find"]
    assert completed("generate", "f") == [], "which takes no tool"
    Path("openapi-mcp.toml").write_text(f'[apis.pets]\nspec = "{pets}"\n[apis.gone]\nspec = "gone.yaml"\n')
    assert completed("inspect", "") == completed("generate", "") == ["pets", "gone"]
    assert completed("call", "pets", "f") == ["find"]


def test_values_of_recursive_schemas_end() -> None:
    node = {"$ref": "#/$defs/node"}
    schema = {"properties": {"tree": node}, "$defs": {"node": {"anyOf": [node, node, {"const": "leaf"}]}}}
    assert completion._values(schema, node) == ["leaf"]
