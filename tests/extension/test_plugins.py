"""Plugins: installed hooks, of which only those that are named are loaded."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openapi_mcp import Bridge, UsageError
from openapi_mcp.cli.main import app
from openapi_mcp.cli.settings import Settings
from openapi_mcp.gateway.gateway import Gateway
from tests.conftest import ROOT

PETSTORE = str(ROOT / "specs" / "petstore.yaml")
MODULE = """
from dataclasses import replace
from openapi_mcp import CallFailed, Hooks

def _refuse(tool, request):
    raise CallFailed(f"{tool.name}: not by this house")

hooks = Hooks(tool=lambda tool: None if tool.method == "DELETE" else replace(tool, name="house_" + tool.name))
def strict(): return Hooks(request=_refuse)
nonsense = 7
"""
ENTRIES = """[openapi_mcp.plugins]
house-rules = house_rules:hooks
strict = house_rules:strict
broken = house_rules_of_nobody:hooks
nonsense = house_rules:nonsense
wrong = house_rules:Hooks.from_nowhere
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with plugins in a folder of the path."""
    folder = tmp_path / "site"
    information = folder / "house_rules-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "house_rules.py").write_text(MODULE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("house_rules", None)


def test_a_plugin_is_loaded_only_where_it_is_named() -> None:
    assert "listPets" in {tool.name for tool in Bridge.open(PETSTORE).tools}
    assert "house_rules" not in sys.modules
    names = {tool.name for tool in Bridge.open(PETSTORE, plugin="house-rules").tools}
    assert "house_listPets" in names
    assert not {"deletePet", "house_deletePet"} & names


def test_plugins_run_in_the_order_of_their_names_and_in_calls() -> None:
    bridge = Bridge.open(PETSTORE, plugin=["house-rules", "strict"], base_url="http://127.0.0.1:9")
    result = asyncio.run(bridge.call("house_getInventory"))
    assert (result.is_error, result.content[0]["text"]) == (True, "house_getInventory: not by this house")


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("house-rule", "no such plugin: house-rule", "house-rules"),
        ("broken", "cannot be loaded: ModuleNotFoundError", "house_rules_of_nobody"),
        ("wrong", "cannot be loaded: AttributeError", "house_rules"),
        ("nonsense", "the plugin nonsense", "house_rules:nonsense"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_an_error(name: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        Bridge.open(PETSTORE, plugin=name)
    assert hint in error.value.hint


def test_the_command_line_and_settings_files_name_plugins(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["inspect", PETSTORE, "--plugin", "house-rules", "--json", "--no-validate"])
    assert "house_listPets" in {tool["name"] for tool in json.loads(shown.stdout)["tools"]}
    file = tmp_path / "openapi-mcp.toml"
    table = f'spec = {json.dumps(PETSTORE)}\nbase-url = "http://127.0.0.1:9"\n'
    first = f'[apis.a]\n{table}plugin = ["house-rules", "strict"]\n'
    file.write_text(f'{first}[apis.b]\n{table}auth = {{shopKey = "b"}}\n')
    served = Settings.find(None, {}, file).open()
    assert isinstance(served, Gateway)
    names = {tool.name for tool in served.tools}
    assert {"a_house_listPets", "b_listPets", "b_deletePet"} <= names

    async def call() -> str:
        server = served.server()
        try:
            return str((await server.call("a_house_getInventory", {})).content[0]["text"])
        finally:
            await server.aclose()

    assert asyncio.run(call()).endswith("house_getInventory: not by this house")
