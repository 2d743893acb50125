"""Commands without SPEC: the settings file of the folder says which document or which APIs they are about."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.cli.main import app
from tests.conftest import ROOT

ONE = 'spec = "petstore.yaml"\nbase-url = "http://127.0.0.1:8020"\n'
TWO = '[apis.shop]\nspec = "petstore.yaml"\n\n[apis.books]\nspec = "library.yaml"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("petstore.yaml", "library.yaml"):
        (tmp_path / name).write_text((ROOT / "specs" / name).read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result


def test_words_after_spec_need_no_spec(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(ONE)
    assert "getPet\t" in run("inspect", "--no-validate").output
    assert run("inspect", "getPet").output.startswith("getPet — ")
    assert "GET http://127.0.0.1:8020/pets/7" in run("call", "getPet", "petId=7", "--dry-run").output
    assert (
        "GET http://127.0.0.1:8020/pets?tag=a&limit=2"
        in run("call", "listPets", "limit=2", "tag=a", "--dry-run").output
    )
    assert "listPets" in run("search", "list the pets").output
    assert "pets" in run("search").output


def test_a_document_wins_over_the_file_of_the_folder(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(ONE)
    output = run("inspect", "library.yaml", "--no-validate").output
    assert "Town Library" in output
    assert "8020" not in output


def test_the_command_line_wins_over_the_file(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(ONE)
    words = ("call", "getPet", "petId=7", "--dry-run", "--base-url", "https://other.test")
    assert "GET https://other.test/pets/7" in run(*words).output


@pytest.mark.process
def test_several_apis_are_shown_together_and_one_alone(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(TWO)
    output = run("inspect").output
    assert "[shop] Pet Store" in output
    assert "shop_getPet" in output
    assert "books_books_list" in output
    assert "8 tools" not in run("inspect", "books", "--no-validate").output.splitlines()[0]
    assert json.loads(run("inspect", "--json").output)["apis"].keys() == {"shop", "books"}
    assert "GET http://127.0.0.1:8020/pets/7" in run("call", "shop_getPet", "petId=7", "--dry-run").output
    assert "did you mean shop_getPet" in run("inspect", "shop_getPets", code=4).output


def test_commands_for_one_api_ask_which(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(TWO)
    assert "name one: shop, books" in run("generate", "out", code=2).output
    assert "name one: shop, books" in run("login", code=2).output


def test_missing_words_are_errors_that_name_them(folder: Path) -> None:
    assert "openapi-mcp init" in run("serve", code=2).output
    assert "Missing argument TOOL" in run("call", "petstore.yaml", code=2).output
    (folder / "openapi-mcp.toml").write_text(ONE)
    assert "Missing argument TOOL" in run("call", code=2).output
    assert "unexpected extra argument" in run("inspect", "getPet", "listPets", code=2).output
    (folder / "openapi-mcp.toml").write_text("quite = true\n")
    assert "openapi-mcp.toml, line 1" in run("inspect", "getPet", code=2).output


def test_installed_servers_name_the_file(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(TWO + '\n[apis.shop.auth]\nshopKey = "${SHOP_KEY:-none}"\n')
    output = run("install", "--client", "cursor", "--print").output
    entry = json.loads(output[: output.rindex("}") + 1])["mcpServers"]["shop-books"]
    assert entry["args"][2:] == ["serve", "--config", str(folder / "openapi-mcp.toml")]
    assert "SHOP_KEY" in entry["env"]
    (folder / ".cursor").mkdir()
    run("install", "--client", "cursor")
    assert "removed" in run("uninstall", "openapi-mcp.toml", "--client", "cursor").output


@pytest.mark.process
def test_serve_with_no_argument_serves_the_file(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(TWO)
    messages = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages.insert(0, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize})
    result = subprocess.run(
        [sys.executable, "-m", "openapi_mcp", "serve"],
        cwd=folder,
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    replies = {reply["id"]: reply for reply in map(json.loads, result.stdout.splitlines())}
    names = [tool["name"] for tool in replies[2]["result"]["tools"]]
    assert {name.partition("_")[0] for name in names} == {"shop", "books"}
    assert "Pet Store" in result.stderr


def test_a_package_has_the_names_of_the_server(folder: Path) -> None:
    (folder / "openapi-mcp.toml").write_text(ONE + 'prefix = "shop"\nclient = "claude"\n')
    run("generate", "out")
    names = {tool["name"] for tool in json.loads(run("inspect", "--json", "--no-validate").output)["tools"]}
    sources = "".join(path.read_text() for path in (folder / "out" / "pet_store_mcp" / "tools").glob("*.py"))
    assert names == {f"shop_{name}" for name in ("listPets", "createPet", "getPet", "updatePet", "deletePet")} | {
        *("shop_getPhoto", "shop_putPhoto", "shop_sendMessage", "shop_getInventory")
    }
    assert all(f'name="{name}"' in sources for name in names)
