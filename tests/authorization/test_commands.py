"""The options of the door on the command line and in a settings file, as `serve` takes them."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.console import secrets_of_options
from openapi_mcp.cli.inspect import output
from openapi_mcp.cli.settings import HttpSettings
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.options.table import settings_schema
from openapi_mcp.settings.file import read_file
from tests.authorization.doors import DOCUMENT, HELLO
from tests.command import ROOT

DOOR = ("--auth-issuer", "https://id.test", "--auth-audience", "https://mcp.test/mcp")


def serve(folder: Path, *options: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    document = folder / "pets.json"
    document.write_text(json.dumps(DOCUMENT))
    program = [sys.executable, "-m", "openapi_mcp", "serve", str(document), *options]
    environment = {**os.environ, "OPENAPI_MCP_AUTH_TOKEN": "", "OPENAPI_MCP_AUTH_CLIENT_SECRET": ""}
    return subprocess.run(
        program, cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=90, env=environment, check=False
    )


@pytest.mark.process
def test_on_stdio_no_token_is_asked_for(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    stdin = "".join(json.dumps(message) + "\n" for message in messages)
    finished = serve(tmp_path, *DOOR, "--transport", "stdio", stdin=stdin)
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    assert {tool["name"] for tool in answers[-1]["result"]["tools"]} == {
        "listPets", "createPet", "deletePets", "getStatus",
    }  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (DOOR[:2], "--auth-audience"),
        (("--auth-issuer", "http://id.test", *DOOR[2:]), "must be https"),
        ((*DOOR, "--auth-token", "open-sesame"), "cannot be used together"),
        ((*DOOR, "--auth-scopes", "nothing*=a"), "no tool matches nothing*"),
        ((*DOOR, "--auth-includes", "a"), "SCOPE=SCOPES"),
    ],
)
def test_wrong_options_end_the_start_with_a_cure(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    finished = serve(tmp_path, *options, "--port", "0")
    assert finished.returncode == 2
    assert words in finished.stderr
    assert "what to do" in finished.stderr
    assert "open-sesame" not in finished.stderr


def test_settings_file_has_the_same_options(tmp_path: Path) -> None:
    file = tmp_path / "pets.toml"
    file.write_text(
        'auth-issuer = "https://id.test"\nauth-audience = ["https://MCP.test/mcp/", "api://pets"]\n'
        '[auth-scopes]\n"method:get" = "read"\n"*" = "write|admin"\n[auth-includes]\nadmin = "*"\n'
    )
    options = read_file(file).options
    door = HttpSettings.from_options(options).door
    assert door is not None
    assert (door.resource.uri, door.resource.audiences, door.client_id) == (
        "https://mcp.test/mcp",
        ("api://pets",),
        None,
    )
    rights = Config.from_options("pets.json", options).auth_rights
    assert [(each.pattern, each.alternatives) for each in rights.patterns] == [
        ("method:get", (("read",),)),
        ("*", (("write",), ("admin",))),
    ]
    assert rights.includes == {"admin": ("*",)}


def test_table_of_the_settings_file_holds_all_of_the_door(tmp_path: Path) -> None:
    file = tmp_path / "pets.toml"
    file.write_text(
        '[auth]\nkey = "env:KEY"\n[auth.server]\nissuer = "https://id.test"\naudience = "https://mcp.test/mcp"\n'
        '[auth.server.scopes]\n"*" = "write"\n[auth.server.includes]\nadmin = "write"\n'
    )
    options = read_file(file).options
    jsonschema.validate(tomllib.loads(file.read_text()), settings_schema())
    assert options == {
        "auth": {"key": "env:KEY"},
        "auth_issuer": "https://id.test",
        "auth_audience": "https://mcp.test/mcp",
        "auth_scopes": {"*": "write"},
        "auth_includes": {"admin": "write"},
    }
    door = HttpSettings.from_options(options).door
    assert door is not None
    assert door.resource.uri == "https://mcp.test/mcp"
    file.write_text('[auth.server]\nissuers = "https://id.test"\n')
    with pytest.raises(UsageError, match="unknown setting: auth-issuers"):
        read_file(file)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(file.read_text()), settings_schema())


def test_secret_of_the_client_is_hidden() -> None:
    options = {"auth_client_secret": "a-secret", "auth_issuer": "https://id.test"}
    assert "a-secret" in set(secrets_of_options("pets.json", options))
    settings = HttpSettings.from_options(
        options | {"auth_audience": ["https://mcp.test"], "auth_introspection": True, "auth_client_id": "door"}
    )
    assert "a-secret" not in f"{settings!r} {settings.door!r}"


def test_scopes_come_from_the_cache_as_they_were_and_inspect_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openapi_mcp.bridge.folder", lambda: tmp_path / "cache")
    document = tmp_path / "pets.json"
    document.write_text(json.dumps(DOCUMENT))
    config = Config.from_options(str(document), {})
    compiled, cached = Bridge.open(config), Bridge.open(config)
    assert cached.compilation is not compiled.compilation
    scopes = {tool.name: tool.scopes for tool in cached.tools}
    assert scopes == {tool.name: tool.scopes for tool in compiled.tools}
    assert scopes["deletePets"] == (("pets:purge", "pets:write"), ("admin",))
    tool = cached.tool("deletePets")
    assert output.tool_json(tool)["scopes"] == [["pets:purge", "pets:write"], ["admin"]]
    assert "  scopes of a caller's token: pets:purge and pets:write" in list(output.tool_page(tool))
