"""Slack, PowerDNS and Prefect: no tool asks a model for the credential or the constant that every call needs."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.request.build import build_request
from tests.conftest import shared_folder

SECRET = "xoxb-204-secret"

PREFECT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Prefect", "version": "3"},
    "servers": [{"url": "http://127.0.0.1:9/api"}],
    "paths": {
        f"/{name}/": {
            "post": {
                "operationId": f"create_{name}_{name}__post",
                "summary": f"Create {name}",
                "parameters": [
                    {
                        "name": "x-prefect-api-version",
                        "in": "header",
                        "required": False,
                        "schema": {"type": "string", "title": "X-Prefect-Api-Version"},
                    }
                ],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"type": "object", "properties": {"name": {}}}}},
                },
            }
        }
        for name in ("flows", "deployments")
    },
}
"""A document as FastAPI makes it for Prefect: each operation has the header of the API's version."""

POWERDNS: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "PowerDNS", "version": "0.0.16"},
    "host": "127.0.0.1:9",
    "basePath": "/api/v1",
    "securityDefinitions": {"APIKeyHeader": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
    "security": [{"APIKeyHeader": []}],
    "paths": {
        path: {
            "get": {
                "operationId": name,
                "parameters": [
                    {"name": each, "in": "path", "required": True, "type": "string"}
                    for each in ("server_id", "zone_id")
                    if each in path
                ],
            }
        }
        for path, name in (
            ("/servers", "listServers"),
            ("/servers/{server_id}", "listServer"),
            ("/servers/{server_id}/zones", "listZones"),
            ("/servers/{server_id}/zones/{zone_id}", "listZone"),
        )
    },
}
"""A document as PowerDNS publishes it: the server, which is always `localhost`, is in nearly every path."""


def opened(folder: Path, root: dict[str, Any] | Path, **options: Any) -> Bridge:
    source = root if isinstance(root, Path) else folder / "openapi.json"
    if not isinstance(root, Path):
        source.write_text(json.dumps(root))
    return Bridge.open(Config.from_options(str(source), {"no_cache": True, "mode": "all", **options}))


def listed(bridge: Bridge) -> str:
    return json.dumps([[tool.name, tool.description, tool.input_schema] for tool in bridge.catalog.tools])


def asks_for(bridge: Bridge, name: str) -> list[str]:
    return [tool.name for tool in bridge.tools if any(name in (a.name, a.wire_name) for a in tool.arguments)]


@pytest.mark.slow
def test_slack_with_its_own_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    source = shared_folder("corpus") / "slack-web/web-api/slack_web_openapi_v2.json"
    before = opened(tmp_path, source)
    assert before.config.mode is Mode.ALL
    assert len(asks_for(before, "token")) > 100
    bridge = opened(tmp_path, source, set=["token=env:SLACK_TOKEN"])
    assert asks_for(bridge, "token") == []
    assert SECRET not in listed(bridge)
    request = build_request(bridge.tool("users_list"), {}, bridge.request_options())
    assert SECRET in f"{request.url} {dict(request.headers)}"


@pytest.mark.parametrize("way", ["set", "overlay"])
def test_powerdns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("API_POWERDNS_APIKEYHEADER", SECRET)
    overlay = tmp_path / "curated.yaml"
    overlay.write_text(
        "overlay: 1.0.0\ninfo: {title: PowerDNS, version: '1'}\nactions:\n"
        "- target: $.paths.*.*.parameters[?@.name == 'server_id']\n  update: {x-mcp: {fixed: localhost}}\n"
    )
    options = {"set": ["server_id=localhost"]} if way == "set" else {"overlay": [str(overlay)]}
    bridge = opened(tmp_path, POWERDNS, **options)
    assert not bridge.problems
    assert asks_for(bridge, "server_id") == []
    assert SECRET not in listed(bridge)
    assert "localhost" not in listed(bridge)
    request = build_request(bridge.tool("listZone"), {"zone_id": "a.org."}, bridge.request_options())
    assert request.url.path == "/api/v1/servers/localhost/zones/a.org."
    assert request.headers["X-API-Key"] == SECRET


def test_prefect(tmp_path: Path) -> None:
    assert len(asks_for(opened(tmp_path, PREFECT), "x-prefect-api-version")) == 2
    bridge = opened(tmp_path, PREFECT, set=["x-prefect-api-version=0.8.4"])
    assert asks_for(bridge, "x-prefect-api-version") == []
    assert "prefect-api-version" not in listed(bridge).lower()
    for tool in bridge.tools:
        request = build_request(tool, {"name": "x"}, bridge.request_options())
        assert request.headers["x-prefect-api-version"] == "0.8.4"
        assert json.loads(request.read()) == {"name": "x"}
