"""The commands `install` and `uninstall`: what is written for a document, and what is refused before."""

import json
import re
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp import Bridge, Config
from openapi_mcp.cli.main import app
from openapi_mcp.cli.report import connections
from openapi_mcp.cli.settings import drop_placeholders
from openapi_mcp.clients.server import InstalledServer
from openapi_mcp.clients.snippets import snippet
from openapi_mcp.clients.table import CLIENTS
from openapi_mcp.options.commands import COMMAND_OPTIONS
from openapi_mcp.options.table import of_command
from tests.conftest import ROOT

SPEC = str(ROOT / "specs" / "petstore.yaml")
KEY = "API_PETSTORE_SHOPKEY"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "APPDATA", "CODEX_HOME", "CLAUDE_CONFIG_DIR", KEY):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".cursor").mkdir()
    return tmp_path


def run(*words: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result


def printed(*words: str) -> dict[str, Any]:
    """Return the entry that `--print` shows for Cursor."""
    out = run("install", SPEC, "--client", "cursor", "--print", *words).stdout
    (entry,) = json.loads(out[: out.rindex("}") + 1])["mcpServers"].values()
    assert isinstance(entry, dict)
    return entry


def test_installs_and_uninstalls(home: Path) -> None:
    said = run("install", SPEC, "--client", "cursor", "--compact", "--retries", "0")
    file = home / ".cursor" / "mcp.json"
    assert json.loads(file.read_bytes()) == {
        "mcpServers": {
            "pet-store": {
                "command": sys.executable,
                "args": ["-m", "openapi_mcp", "serve", SPEC, "--compact", "--retries", "0"],
                "env": {KEY: f"${{env:{KEY}}}"},
            }
        }
    }
    assert f"pet-store: written to {file}" in said.stderr
    assert f"Set {KEY} in the environment that Cursor starts from" in said.stderr
    assert "is already in" in run("install", SPEC, "--client", "cursor", "--compact", "--retries", "0").stderr
    assert "pet-store: removed from" in run("uninstall", SPEC, "--client", "cursor").stderr
    assert not file.exists()


@pytest.mark.usefixtures("home")
def test_paths_are_absolute_and_lists_are_repeated(home: Path) -> None:
    (home / "a.yaml").write_text("overlay: 1.0.0\ninfo: {title: a, version: '1'}\nactions: [{target: $, update: {}}]\n")
    (home / "settings.toml").write_text('timeout = 5\nheader = ["X-A: $${B} ${PATH}"]\n')
    words = ["--overlay", "a.yaml", "--header", "X-A: 1", "--header", "X-B: 2", "--config", "settings.toml"]
    entry = printed(*words, "--retries", "0", "--allow-files", ".")
    args = entry["args"][4:]
    assert args[:2] == ["--config", str(home / "settings.toml")]
    rest = [args[index : index + 2] for index in range(2, len(args), 2)]
    assert sorted(rest) == sorted(
        [
            *(["--header", "X-A: 1"], ["--header", "X-B: 2"], ["--overlay", str(home / "a.yaml")]),
            *(["--retries", "0"], ["--allow-files", str(home)]),
        ]
    )
    assert list(entry["env"]) == ["PATH", KEY]


@pytest.mark.usefixtures("home")
def test_variables_are_named_and_their_values_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret")
    entry = printed("--auth", "shopKey=env:MY_KEY")
    assert "MY_KEY" in entry["env"]
    assert "s3cret" not in json.dumps(entry)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([SPEC, "--client", "cursor", "--auth", "shopKey=s3cret"], "a credential would be written"),
        ([SPEC, "--client", "cursor", "--header", "Authorization: Bearer s3cret"], "a credential would be written"),
        (["https://u:s3cret@example.com/a.json", "--client", "cursor"], "a credential would be written"),
        (["-", "--client", "cursor"], "a client cannot give the document on stdin"),
        ([SPEC, "--client", "cursr"], "did you mean cursor?"),
        ([SPEC, "--client", "cursor", "--name", "a b"], "not a name"),
        ([SPEC, "--client", "cursor", "--http", "localhost:8000"], "not the URL of a server"),
        ([SPEC, "--client", "cursor", "--http-token", "A"], "--http-token names an environment variable"),
        ([SPEC, "--client", "zed"], "Zed is not installed"),
    ],
)
def test_what_is_refused(words: list[str], message: str) -> None:
    result = run("install", *words, code=2)
    assert message in result.stderr
    assert "s3cret" not in result.output
    assert "what to do" in result.stderr


@pytest.mark.usefixtures("home")
def test_client_that_is_absent_can_be_printed_for() -> None:
    for client in CLIENTS:
        assert "pet-store" in run("install", SPEC, "--client", client, "--print").stdout
    assert [path.name for path in Path().iterdir()] == [".cursor"]


def test_server_at_a_url(home: Path) -> None:
    url = "http://127.0.0.1:8000/mcp"
    out = run("install", SPEC, "--client", "claude-code", "--http", url, "--print").stdout
    assert out == f"claude mcp add --transport http pet-store {url}\n"
    run("install", SPEC, "--client", "cursor", "--http", url, "--http-token", "TOKEN")
    entry = json.loads((home / ".cursor" / "mcp.json").read_bytes())["mcpServers"]["pet-store"]
    assert entry == {"url": url, "headers": {"Authorization": "Bearer ${env:TOKEN}"}}
    assert "with --http URL" in run("uninstall", "pet-store", "--client", "cursor", code=2).stderr
    run("uninstall", "pet-store", "--client", "cursor", "--http", url)
    said = run("install", SPEC, "--client", "claude-desktop", "--http", url, "--print")
    assert "takes no server at a URL" in said.stderr
    assert '"command"' in said.stdout


def test_project(home: Path) -> None:
    run("install", SPEC, "--client", "vscode", "--scope", "project", "--name", "shop")
    assert "shop" in json.loads((home / ".vscode" / "mcp.json").read_bytes())["servers"]
    run("uninstall", "shop", "--client", "vscode", "--scope", "project")
    assert not (home / ".vscode").exists()


def test_placeholders_that_were_not_replaced_are_not_values() -> None:
    environment = {"A": "${A}", "B": "${env:B}", "C": "$C", "D": "${A}", "E": "$", "F": "x"}
    drop_placeholders(environment)
    assert environment == {"D": "${A}", "E": "$", "F": "x"}


def test_help_names_every_client_and_serve_s_options() -> None:
    (help_text,) = {option.help for option in COMMAND_OPTIONS if option.name == "client"}
    assert all(name in help_text for name in CLIENTS)
    passed_on = {option.name for option in of_command("install")}
    assert {"base_url", "auth", "overlay", "include", "mode", "rate_limit", "config"} <= passed_on
    assert not {"port", "transport", "auth_token", "workers"} & passed_on


def test_documentation_shows_what_is_written() -> None:
    text = (ROOT / "docs" / "install.md").read_text()
    server = InstalledServer.started(
        "pet-store", ["/home/ada/petstore.yaml"], variables=[KEY], command="/home/ada/.venv/bin/python"
    )
    shown = indent(snippet(CLIENTS["claude-desktop"], server), "    ")
    assert f"    $ openapi-mcp install petstore.yaml --client claude-desktop --print\n{shown}" in text
    assert all(f"| `{name}` |" in text and client.project in text for name, client in CLIENTS.items())


def test_nothing_else_writes_settings_of_clients_by_hand() -> None:
    texts = [ROOT / "README.md", *(ROOT / "openapi_mcp" / "cli").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
    for path in texts:
        assert not re.search(r"mcpServers|mcp add\b", path.read_text()), path


def test_start_shows_the_command_that_connects_a_client() -> None:
    bridge = Bridge.open(Config(source=SPEC))
    lines = connections(bridge, "http://127.0.0.1:8000/mcp")
    assert lines == [
        "http://127.0.0.1:8000/mcp",
        "claude mcp add --transport http pet-store http://127.0.0.1:8000/mcp",
        f"openapi-mcp install {SPEC} --http http://127.0.0.1:8000/mcp --client cursor|vscode|codex|…",
    ]
