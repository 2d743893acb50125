"""Run one of the servers that `throughput` measures, in a process of its own.

    python -m benchmarks.measured ROLE PORT API [DOCUMENT]

`backend` is the REST API behind all of them. `httpx`, `aiohttp` and `bare` are routes that make one request and pass
its JSON on: the upper bound. `bridge-…` is this project over one transport or another.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import httpx
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

PET = json.dumps(
    {"id": 7, "name": "Rex", "species": "dog", "tags": ["good", "old"], "owner": {"id": 3, "name": "Ada"}, "age": 11}
).encode()
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(PET), PET)


class Backend(asyncio.Protocol):
    """An API that answers every request with the same pet, fast enough not to be the bottleneck."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer each request; they have no body and arrive in one piece."""
        self._transport.write(_ANSWER * data.count(b"\r\n\r\n"))


async def backend(port: int) -> None:
    """Serve until the process ends."""
    server = await asyncio.get_running_loop().create_server(Backend, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


def route(get: Callable[[str], Any]) -> Starlette:
    """Serve the least that a bridge does: read a message, call the API, answer with its JSON."""

    async def call(request: Request) -> JSONResponse:
        message = await request.json()
        pet = await get(f"/pets/{message['params']['arguments']['petId']}")
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": {"structuredContent": pet}})

    return Starlette(routes=[Route("/mcp", call, methods=["POST"])])


def over_httpx(api: str, transport: httpx.AsyncBaseTransport | None = None) -> Starlette:
    """Call the API with `httpx.AsyncClient` over the given transport."""
    client = httpx.AsyncClient(transport=transport, base_url=api)

    async def get(path: str) -> Any:
        return (await client.get(path)).json()

    return route(get)


def over_aiohttp(api: str) -> Starlette:
    """Call the API with aiohttp, the fastest widely used client."""
    aiohttp: Any = import_module("aiohttp")  # perhaps it is not installed
    sessions: list[Any] = []

    async def get(path: str) -> Any:
        if not sessions:
            sessions.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=200)))
        async with sessions[0].get(api + path) as response:
            return await response.json()

    return route(get)


def over_transport(api: str) -> Starlette:
    """Call the API with this project's transport and no client."""
    from openapi_mcp.runtime.upstream.transport import Transport  # noqa: PLC0415

    transport = Transport()

    async def get(path: str) -> Any:
        response = await transport.handle_async_request(httpx.Request("GET", api + path))
        await response.aread()
        return response.json()

    return route(get)


def bridge(api: str, document: str, transport: httpx.AsyncBaseTransport | None) -> Starlette:
    """Serve with this project, as `serve --mode all` does."""
    from openapi_mcp.bridge import Bridge  # noqa: PLC0415
    from openapi_mcp.config import Config  # noqa: PLC0415
    from openapi_mcp.modes import Mode  # noqa: PLC0415
    from openapi_mcp.runtime.http.app import create_app  # noqa: PLC0415
    from openapi_mcp.runtime.protocol import ServerDescription  # noqa: PLC0415
    from openapi_mcp.runtime.request.build import RequestOptions  # noqa: PLC0415
    from openapi_mcp.runtime.server.server import Server  # noqa: PLC0415
    from openapi_mcp.runtime.upstream.client import Upstream  # noqa: PLC0415

    bridge = Bridge.open(Config(source=document, mode=Mode.ALL))
    description = ServerDescription(implementation=bridge.implementation)
    upstream = Upstream(transport=transport)
    return create_app(Server(bridge.catalog, description, upstream, options=RequestOptions(base_url=api)))


def _aiohttp_transport() -> httpx.AsyncBaseTransport:
    # It may not be installed.
    transport: httpx.AsyncBaseTransport = import_module("httpx_aiohttp").AiohttpTransport()
    return transport


def main() -> None:
    """Run the command line."""
    role, port, api, document = [*sys.argv[1:], "", ""][:4]
    if role == "backend":
        uvloop.run(backend(int(port)))
        return
    apps: dict[str, Callable[[], Starlette]] = {
        "httpx": lambda: over_httpx(api),
        "httpx-aiohttp": lambda: over_httpx(api, _aiohttp_transport()),
        "aiohttp": lambda: over_aiohttp(api),
        "bare": lambda: over_transport(api),
        "bridge": lambda: bridge(api, document, None),
        "bridge-httpx": lambda: bridge(api, document, httpx.AsyncHTTPTransport()),
        "bridge-httpx-aiohttp": lambda: bridge(api, document, _aiohttp_transport()),
    }
    config = uvicorn.Config(
        apps[role](), port=int(port), log_level="error", access_log=False, http="httptools", loop="uvloop"
    )
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
