"""An MCP server with a door, for tests: the application of a document, and requests to it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx

from openapi_mcp.authorization.door import OAuthDoor
from openapi_mcp.authorization.settings import DoorSettings
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime.http.app import create_app
from tests.authorization.issuing import AUDIENCE, Issuer

T = TypeVar("T")

SCOPES = {name: name for name in ("pets:read", "pets:write", "pets:purge", "admin")}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "http://api.test"}],
    "components": {
        "securitySchemes": {
            "oauth": {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "https://id.test/token", "scopes": SCOPES}},
            }
        }
    },
    "security": [{"oauth": ["pets:read"]}],
    "paths": {
        "/pets": {
            "get": {"operationId": "listPets", "responses": {}},
            "post": {"operationId": "createPet", "security": [{"oauth": ["pets:read", "pets:write"]}], "responses": {}},
            "delete": {
                "operationId": "deletePets",
                "security": [{"oauth": ["pets:write", "pets:purge"]}, {"oauth": ["admin"]}],
                "responses": {},
            },
        },
        "/status": {"get": {"operationId": "getStatus", "security": [], "responses": {}}},
    },
}
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


class World:
    """A server of a document behind a door, and a client; used within one event loop."""

    def __init__(self, folder: Path, issuer: Issuer, options: dict[str, Any], base_url: str) -> None:
        list_changed = bool(options.pop("list_changed", False))
        document = folder / "pets.json"
        document.write_text(json.dumps(options.pop("document", DOCUMENT)))
        door_options = {name: options.pop(name) for name in list(options) if name.startswith("auth_client")}
        door_options["auth_introspection"] = bool(door_options)
        self.issuer = issuer
        self.bridge = Bridge.open(Config.from_options(str(document), {"no_cache": True, **options}))
        audiences = options.get("audience") or [AUDIENCE]
        settings = DoorSettings.from_options(
            {"auth_issuer": issuer.issuer, "auth_audience": audiences, **door_options}, "/mcp"
        )
        assert settings is not None
        self.door: OAuthDoor = settings.door(lambda: True, lambda: self.bridge.rights.offered)
        self.server = self.bridge.server(list_changed=list_changed)
        self.app = create_app(self.server, door=self.door, allowed_hosts=None)
        self.app.router.routes.extend(self.door.routes())
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=base_url)

    async def post(self, token: str | None, message: Any, path: str = "/mcp", **headers: str) -> httpx.Response:
        """Send a message with a token."""
        given = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        authorization = {} if token is None else {"authorization": f"Bearer {token}"}
        return await self.client.post(path, json=message, headers={**authorization, **given})

    async def ask(self, token: str | None, method: str, params: Any = None, **headers: str) -> httpx.Response:
        """Send a request of the stateless era."""
        named = {"mcp_name": params["name"]} if method == "tools/call" else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": STATELESS}}
        fields = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, **named}
        return await self.post(token, message, **fields, **headers)

    async def call(self, token: str, name: str, arguments: Any = None) -> httpx.Response:
        return await self.ask(token, "tools/call", {"name": name, "arguments": arguments or {}})

    async def listed(self, token: str) -> set[str]:
        """Return the names of the tools that a token lists."""
        answer = (await self.ask(token, "tools/list")).json()
        return {tool["name"] for tool in answer["result"]["tools"]}

    async def status(self, token: str | None) -> int:
        """Return the status of an answer to a token."""
        return (await self.ask(token, "tools/list")).status_code


def within(
    folder: Path,
    issuer: Issuer,
    test: Callable[[World], Awaitable[T]],
    base_url: str = "http://localhost:8000",
    **options: Any,
) -> T:
    """Return what a test returns that runs in the world of these options."""

    async def run() -> T:
        world = World(folder, issuer, options, base_url)
        try:
            return await test(world)
        finally:
            await world.client.aclose()
            await world.server.aclose()

    return asyncio.run(run())


def parameters(response: httpx.Response) -> dict[str, str]:
    """Return the parameters of the challenge of a response."""
    scheme, _, rest = response.headers["www-authenticate"].partition(" ")
    assert scheme == "Bearer"
    pairs: Sequence[str] = [pair for pair in rest.split(", ") if pair]
    return {name: value.strip('"') for name, _, value in (pair.partition("=") for pair in pairs)}
