"""A document that names another host gets no credential sent there until its user says so."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.bridge import Bridge
from openapi_mcp.cache.files import VARIABLE
from openapi_mcp.cli import destinations, report
from openapi_mcp.cli.main import app
from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.settings import Settings
from openapi_mcp.config import Config
from openapi_mcp.errors import HostChanged

GOOD, EVIL = "https://api.example.com/v1", "https://evil.example/v1"
KEY = "API_SHOP_KEY"


class Started:
    """A document in a folder, and starts of it as separate processes would do them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "api.json"
        self.cache = folder / "cache"

    def write(self, *servers: str, **operations: str) -> None:
        """Write a document with these servers, and operations that have a server of their own."""
        schemes = {name: {"type": "apiKey", "in": "header", "name": f"X-{name}"} for name in ("key", "other")}
        paths = {
            f"/{name}": {"get": {"servers": [{"url": url}], "security": [{"other": []}], "responses": {}}}
            for name, url in operations.items()
        }
        value = {
            "openapi": "3.1.0",
            "info": {"title": "Shop", "version": "1"},
            "servers": [{"url": url} for url in servers],
            "security": [{"key": []}],
            "paths": {"/it": {"get": {"operationId": "it", "responses": {}}}, **paths},
            "components": {"securitySchemes": schemes},
        }
        self.file.write_text(json.dumps(value))

    def bridge(self, **options: Any) -> Bridge:
        destinations._session.clear()
        return Bridge.open(Config.from_options(str(self.file), options))

    def start(self, **options: Any) -> Bridge:
        bridge = self.bridge(**options)
        destinations.check(bridge)
        return bridge

    def refusal(self, **options: Any) -> HostChanged:
        with pytest.raises(HostChanged) as caught:
            self.start(**options)
        return caught.value


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(KEY, "hunter2-canary")
    started = Started(tmp_path)
    started.write(GOOD)
    yield started
    destinations._session.clear()


def test_changed_host_is_refused_until_it_is_accepted(started: Started) -> None:
    started.start()
    started.write(EVIL)
    error = started.refusal()
    assert error.exit_code == 8
    assert f"{KEY} → evil.example (before: api.example.com)" in str(error)
    assert error.where == str(started.file)
    assert "--accept-host evil.example" in error.hint
    assert "--base-url" in error.hint
    started.refusal()
    started.start(accept_host=["evil.example"])
    started.start()
    started.write(GOOD)
    started.start()


@pytest.mark.parametrize(
    "accepted", ["EVIL.example", "evil.example:8443", "https://evil.example:8443/", "https://u:p@evil.example:8443/v1"]
)
def test_host_is_accepted_with_or_without_its_port(started: Started, accepted: str) -> None:
    started.start()
    started.write("https://evil.example:8443")
    started.refusal(accept_host=["other.example", "evil.example:443", "example"])
    started.start(accept_host=[accepted])


@pytest.mark.parametrize(
    ("url", "is_known"),
    [
        ("https://API.example.com:443/v2", True),
        ("https://user:password@api.example.com", True),
        ("http://api.example.com", False),
        ("https://api.example.com:8443", False),
        ("https://api.example.com.evil.example", False),
        ("https://api.example.com@evil.example", False),
        (r"https://evil.example\@api.example.com", True),  # httpx connects to the host after the `@`
    ],
)
def test_origin_counts(started: Started, url: str, is_known: bool) -> None:
    started.start()
    started.write(url)
    if is_known:
        started.start()
    else:
        started.refusal()


def test_https_in_the_place_of_http_is_no_change(started: Started) -> None:
    started.write("http://api.example.com")
    started.start()
    started.write("https://api.example.com")
    started.start()


def test_credential_that_moves_between_known_hosts_is_refused(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_SHOP_OTHER", "x")
    started.write(GOOD, other=EVIL)
    started.start()
    started.write(EVIL, other=EVIL)
    assert f"{KEY} → evil.example" in str(started.refusal())
    started.write(GOOD, other=GOOD)
    assert "API_SHOP_OTHER → api.example.com (before: evil.example)" in str(started.refusal())


@pytest.mark.parametrize(
    ("options", "source"),
    [
        ({"auth": ["key=x"]}, "--auth key"),
        ({"auth": [f"key=env:{KEY}"]}, KEY),
        ({"header": ["Authorization: Bearer x"]}, "--header Authorization"),
    ],
)
def test_options_are_credentials_too(started: Started, options: dict[str, Any], source: str) -> None:
    started.start(**options)
    started.write(EVIL)
    assert f"{source} → evil.example" in str(started.refusal(**options))


def test_what_the_user_says_is_no_change(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    started.start()
    started.start(base_url=["https://mine.example"])
    started.start(base_url=[f"{GOOD}=https://mine.example"])
    started.write(EVIL)
    started.start(base_url=["https://mine.example"])
    started.start(base_url=[f"{EVIL}=https://mine.example"])
    started.refusal()
    monkeypatch.delenv(KEY)
    started.start()
    started.write(EVIL, GOOD)
    monkeypatch.setenv(KEY, "x")
    started.start(server="1")


def test_another_document_is_remembered_by_itself(started: Started, tmp_path: Path) -> None:
    started.start()
    started.file = tmp_path / "other.json"
    started.write(EVIL)
    started.start()
    started.write(GOOD)
    started.refusal()


def test_link_to_another_version_is_the_same_document(started: Started, tmp_path: Path) -> None:
    versions = [tmp_path / name for name in ("1.json", "2.json")]
    for started.file, url in zip(versions, (GOOD, EVIL), strict=True):
        started.write(url)
    started.file = tmp_path / "current.json"
    started.file.symlink_to(versions[0])
    started.start()
    started.file.unlink()
    started.file.symlink_to(versions[1])
    started.refusal()


def test_files_hold_no_secret_and_only_their_owner_can_read_them(started: Started) -> None:
    started.start(no_cache=True, header=["X-Token: canary-token"])
    [file] = (started.cache / "hosts").iterdir()
    assert "canary" not in file.read_text()
    assert json.loads(file.read_text())["hosts"] == {
        KEY: ["https://api.example.com"],
        "--header X-Token": ["https://api.example.com"],
    }
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0
    started.write(EVIL)
    started.refusal(no_cache=True)
    file.write_text("{")
    started.start()


def test_unusable_folder_is_reported_and_a_reload_is_still_refused(started: Started, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    bridge = started.start(no_cache=True)
    assert "cannot remember the hosts" in report.serving(bridge, [])
    started.write(EVIL)
    with pytest.raises(HostChanged):
        destinations.check(Bridge.open(Config.from_options(str(started.file), {"no_cache": True})))


def test_start_names_the_credential_and_its_host(started: Started) -> None:
    text = report.serving(started.start(header=["X-Token: x"]), [])
    assert f"key: set by {KEY}; sent to api.example.com" in text
    assert "X-Token: set by --header; sent to api.example.com" in text
    assert "remembered" not in text
    text = report.serving(started.start(base_url=["https://u:p@mine.example"]), [])
    assert "user and password: set by the base URL; sent to mine.example" in text


@pytest.mark.parametrize("command", [["serve", "--transport", "stdio"], ["call"]])
def test_commands_are_refused_before_anything_is_sent(started: Started, command: list[str]) -> None:
    started.start()
    started.write(EVIL)
    name, *options = command
    arguments = [name, str(started.file), *(["it"] if name == "call" else []), *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 8
    assert "evil.example (before: api.example.com)" in result.stderr
    assert result.stdout == ""
    for harmless in (["inspect", str(started.file), "--no-validate"], ["call", str(started.file), "it", "--dry-run"]):
        assert CliRunner().invoke(app, harmless).exit_code == 0


def test_reload_is_refused_and_the_old_tools_stay(started: Started) -> None:
    lines: list[str] = []
    reloader = Reloader(Settings(str(started.file)), started.bridge(), lines.append, lines.append)
    started.write(EVIL)
    asyncio.run(reloader._reload())
    assert [tool.base_url for tool in reloader.bridge.tools] == [GOOD]
    [line] = lines
    assert line.startswith("reload failed, the old tools stay: the document now sends credentials to another host")
    assert "--accept-host evil.example" in line
