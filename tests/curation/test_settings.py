"""`--set` fixes arguments, and no model gets their names as arguments, their values, or what is read from variables."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path, PurePosixPath
from threading import Thread
from typing import Any

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.cli.call import request_text
from openapi_mcp.cli.destinations import document_origins
from openapi_mcp.errors import UsageError
from openapi_mcp.generator.package import generate
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.request.build import build_request
from openapi_mcp.runtime.types import CallToolResult
from tests.generating import imported, write

SECRET = "xoxb-913-secret"
FORM = "application/x-www-form-urlencoded"
REQUIRED = {"type": "string", "required": True}

SLACK: dict[str, Any] = {
    "/chat.postMessage": {
        "post": {
            "operationId": "chat_postMessage",
            "consumes": [FORM, "application/json"],
            "parameters": [
                {"name": "token", "in": "header", **REQUIRED},
                {"name": "text", "in": "formData", "type": "string"},
            ],
        }
    },
    "/files.upload": {
        "post": {
            "operationId": "files_upload",
            "consumes": [FORM],
            "parameters": [{"name": name, "in": "formData", "type": "string"} for name in ("token", "title")],
        }
    },
    "/users.list": {
        "get": {
            "operationId": "users_list",
            "parameters": [
                {"name": "token", "in": "query", **REQUIRED},
                {"name": "limit", "in": "query", "type": "integer"},
            ],
        }
    },
}


def parameter(name: str, place: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": kind}}


POWERDNS: dict[str, Any] = {
    "/servers/{server_id}/zones": {
        "parameters": [parameter("server_id", "path")],
        "get": {"operationId": "listZones"},
        "post": {
            "operationId": "createZone",
            "requestBody": {
                "content": {
                    "application/json": {
                        "schema": {"type": "object", "properties": {"name": {}, "dnssec": {"type": "boolean"}}}
                    }
                }
            },
        },
    },
    "/servers": {"get": {"operationId": "listServers"}},
}


class Echo(BaseHTTPRequestHandler):
    """Answers with what it got."""

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        sent = {"path": self.path, "headers": dict(self.headers), "body": self.rfile.read(length).decode()}
        data = json.dumps(sent).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815  the name that the server calls

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def slack(folder: Path, host: str = "127.0.0.1:9", paths: Any = SLACK) -> str:
    root = {
        "swagger": "2.0",
        "info": {"title": "Slack", "version": "1"},
        "host": host,
        "schemes": ["http"],
        "paths": paths,
    }
    (folder / "slack.json").write_text(json.dumps(root))
    return str(folder / "slack.json")


def powerdns(folder: Path) -> str:
    servers = [{"url": "http://127.0.0.1:9/api/v1"}]
    root = {"openapi": "3.0.0", "info": {"title": "PowerDNS", "version": "1"}, "servers": servers, "paths": POWERDNS}
    (folder / "powerdns.json").write_text(json.dumps(root))
    return str(folder / "powerdns.json")


def opened(source: str, *texts: str, **options: Any) -> Bridge:
    return Bridge.open(Config.from_options(source, {"set": list(texts), "no_cache": True, **options}))


def seen_by_models(bridge: Bridge) -> str:
    """All that a model can read of the tools: the list, the instructions, and the answers of a search."""
    searched = replace(bridge, config=replace(bridge.config, mode=Mode.SEARCH))
    answers = [str(call(searched, "search_tools", {"query": "token text server localhost"}))]
    answers += [str(call(searched, "describe_tool", {"name": tool.name})) for tool in bridge.tools]
    listed = json.dumps([[tool.input_schema, tool.description, tool.title] for tool in bridge.tools])
    return "".join([listed, bridge.instructions().text or "", *answers])


def call(bridge: Bridge, name: str, arguments: dict[str, Any]) -> CallToolResult:
    async def ask() -> CallToolResult:
        server = bridge.server()
        try:
            return await server.call(name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(ask())


def test_slack_token_reaches_the_api_and_no_model(
    tmp_path: Path, api: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    bridge = opened(slack(tmp_path, api), "token=env:SLACK_TOKEN")
    shown = seen_by_models(bridge)
    assert SECRET not in shown
    assert all("token" not in tool.input_schema["properties"] for tool in bridge.tools)
    sent = [
        build_request(bridge.tool(name), arguments, bridge.request_options())
        for name, arguments in (
            ("chat_postMessage", {"text": "hi"}),
            ("files_upload", {"title": "T"}),
            ("users_list", {"limit": 2}),
        )
    ]
    assert sent[0].headers["token"] == SECRET
    assert sent[1].read() == f"token={SECRET}&title=T".encode()
    assert str(sent[2].url) == f"http://{api}/users.list?token={SECRET}&limit=2"
    for tool in bridge.tools:
        result = call(bridge, tool.name, {})
        assert not result.is_error
        assert SECRET not in str(result)  # the API echoes it
        assert "***" in str(result)
        assert SECRET not in request_text(bridge, tool, {})[0]
        assert "***" in request_text(bridge, tool, {})[0]
    assert SECRET not in caplog.text
    assert SECRET not in repr((bridge, bridge.request_options(), bridge.tools))
    assert set(document_origins(bridge)) == {"SLACK_TOKEN"}


def test_a_model_that_sends_a_fixed_argument_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    bridge = opened(slack(tmp_path), "token=env:SLACK_TOKEN")
    for name in ("files_upload", "chat_postMessage", "users_list"):
        request = build_request(bridge.tool(name), {"token": "mine"}, bridge.request_options())
        assert "mine" not in f"{request.url} {request.headers} {request.read()!r}"


def test_powerdns_server_is_fixed_in_every_path(tmp_path: Path) -> None:
    bridge = opened(powerdns(tmp_path), "server_id=localhost", "createZone:dnssec=true")
    zones, create = bridge.tool("listZones"), bridge.tool("createZone")
    assert zones.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert "server_id" not in json.dumps(create.input_schema)
    assert "localhost" not in seen_by_models(bridge).replace("token text server localhost", "")
    request = build_request(create, {"name": "a."}, bridge.request_options())
    assert str(request.url) == "http://127.0.0.1:9/api/v1/servers/localhost/zones"
    assert json.loads(request.read()) == {"dnssec": True, "name": "a."}


def test_values_for_some_tools_and_later_values_win(tmp_path: Path) -> None:
    bridge = opened(slack(tmp_path), "token=a", "users_*:token=b", "token=c", "limit=5")
    urls = [str(build_request(tool, {}, bridge.request_options()).url) for tool in bridge.tools]
    assert urls[2].endswith("token=b&limit=5")
    assert build_request(bridge.tools[0], {}, bridge.request_options()).headers["token"] == "c"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tokn=secret-9", "did you mean token?"),
        ("user_*:token=secret-9", "users_list"),
        ("users_list:text=secret-9", "token, limit"),
        ("limit=secret-9", "inspect"),
        ("secret-9", "--set"),
        ("=secret-9", "--set"),
    ],
)
def test_a_value_of_no_argument_is_an_error_with_the_nearest_names(tmp_path: Path, text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        _ = opened(slack(tmp_path), text).tools
    assert hint in caught.value.hint
    assert "secret-9" not in str(caught.value)


def test_a_variable_that_is_not_set_is_an_error_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_TOKEN", raising=False)
    with pytest.raises(UsageError, match="SLACK_TOKEN"):
        opened(slack(tmp_path), "token=env:SLACK_TOKEN").server()


def test_a_table_of_a_settings_file_has_values_too(tmp_path: Path) -> None:
    config = Config.from_options(slack(tmp_path), {"set": {"token": "a", "users_list:limit": 3}, "no_cache": True})
    tool = Bridge.open(config).tool("users_list")
    assert [(preset.argument.name, preset.value) for preset in tool.presets] == [("token", "a"), ("limit", 3)]


def test_tools_are_cached_without_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    source = slack(tmp_path)
    for text in ("token=constant-77", "token=env:SLACK_TOKEN"):
        bridge = opened(source, text, no_cache=False)
        _ = bridge.catalog, bridge.server()
    files = [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files
    assert not any(SECRET.encode() in data or b"constant-77" in data for data in files)


def test_packages_name_the_variable_and_have_the_same_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    live = opened(slack(tmp_path), "token=env:SLACK_TOKEN", "limit=5")
    package = generate(live)
    write(package.files, tmp_path / "out")
    with imported(package, tmp_path / "out") as module:
        tools = module.create_server().catalog.tools
    assert [asdict(tool) for tool in tools] == [asdict(tool) for tool in live.tools]
    text = b"\n".join(package.files.values())
    assert SECRET.encode() not in text
    assert b'variable="SLACK_TOKEN"' in text
    assert b"variables=server.variables()" in text
    (listed,) = json.loads(package.files[PurePosixPath("server.json")])["packages"][0]["environmentVariables"]
    assert listed == {"name": "SLACK_TOKEN", "description": "Value of the argument token of the API.", "isSecret": True}
    manifest = json.loads(package.files[PurePosixPath("manifest.json")])
    assert manifest["server"]["mcp_config"]["env"] == {"SLACK_TOKEN": "${user_config.slack_token}"}
    assert manifest["user_config"]["slack_token"]["sensitive"]
    assert b'"SLACK_TOKEN": "\xe2\x80\xa6"' in package.files[PurePosixPath("README.md")]


@pytest.mark.process
def test_the_tests_of_such_a_package_pass(tmp_path: Path) -> None:
    package = generate(opened(slack(tmp_path), "token=env:SLACK_TOKEN", "limit=5"))
    write(package.files, tmp_path / "package")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(command, cwd=tmp_path / "package", capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout
