"""An API and a token endpoint of the tests in one application, which remembers what it received; calls by callers."""

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.runtime.server.grants import SUBJECT_TOKEN
from openapi_mcp.runtime.types import CallToolResult


@dataclass
class Backend:
    """`answers` are those of the token endpoint, the last one for all later requests; the API takes `valid` tokens."""

    answers: list[Response | Mapping[str, Any]]
    valid: set[str] = field(default_factory=set)
    delay: float = 0.0
    grants: list[dict[str, str]] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The application of both."""
        return Starlette(routes=[Route("/token", self._token, methods=["POST"]), Route("/pets", self._pets)])

    async def _token(self, request: Request) -> Response:
        self.grants.append(dict(parse_qsl((await request.body()).decode())))
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        self.clients.append(base64.b64decode(value).decode() if scheme == "Basic" else "")
        answer = self.answer()
        await asyncio.sleep(self.delay)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    def answer(self) -> Response | Mapping[str, Any]:
        """Return the answer of the token endpoint to the newest request."""
        return self.answers[min(len(self.grants), len(self.answers)) - 1]

    async def _pets(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.calls.append(token)
        return JSONResponse({"token": token}) if token in self.valid else JSONResponse({"error": "no"}, 401)


def write_document(folder: Path, api: str, flows: Mapping[str, Any], **scheme: Any) -> str:
    """Write a document with one operation that needs the scheme `key`; return its path."""
    node = scheme or {"type": "oauth2", "flows": flows}
    root = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": api}],
        "security": [{"key": ["pets:read"]}],
        "components": {"securitySchemes": {"key": node}},
        "paths": {"/pets": {"get": {"operationId": "listPets", "responses": {"200": {"description": "ok"}}}}},
    }
    path = folder / "pets.json"
    path.write_text(json.dumps(root))
    return str(path)


def call_as(bridge: Bridge, *tokens: str) -> list[CallToolResult]:
    """Call `listPets` as the callers that have these tokens, all at once."""

    async def run() -> list[CallToolResult]:
        server = bridge.server()

        async def as_caller(token: str) -> CallToolResult:
            SUBJECT_TOKEN.set(token)
            return await server.call("listPets", {})

        try:
            return list(await asyncio.gather(*map(as_caller, tokens)))
        finally:
            await server.aclose()

    return asyncio.run(run())
