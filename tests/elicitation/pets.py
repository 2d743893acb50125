"""An API of pets that records its requests, and clients that are asked, for tests of questions to users."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime.http.app import create_app
from tests.servers import running

ROOT = Path(__file__).parents[2]
PETSTORE = ROOT / "specs" / "petstore.yaml"
ERAS = ("2025-06-18", "2025-11-25", "2026-07-28")
HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"

OnQuestion: TypeAlias = Callable[[Any, Any], Awaitable[ElicitResult]]


class PetApi:
    """An API of pets at `url`; `made` are the requests that it received, as `DELETE /pets/3`."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.url = ""
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        self.app = Starlette(routes=[Route("/{rest:path}", self.respond, methods=methods)])

    async def respond(self, request: Request) -> Response:
        self.made.append(f"{request.method} {request.url.path}")
        return Response(status_code=204) if request.method == "DELETE" else JSONResponse({"id": 3, "name": "Minka"})


@contextmanager
def serving_api() -> Iterator[PetApi]:
    api = PetApi()
    with running(api.app) as api.url:
        yield api


def bridge(api: PetApi, **options: Any) -> Bridge:
    settings = {"base_url": [api.url], "no_cache": True, "confirm": "destructive", **options}
    return Bridge.open(Config.from_options(str(PETSTORE), settings))


@contextmanager
def serving(api: PetApi, **options: Any) -> Iterator[str]:
    """Serve the pets over HTTP and yield the URL of the endpoint."""
    with running(create_app(bridge(api, **options).server())) as url:
        yield f"{url}/mcp"


def answering(action: str, content: dict[str, Any] | None = None, seen: list[Any] | None = None) -> OnQuestion:
    """Return a user who answers each question so; the questions are appended to `seen`."""

    async def answer(_context: Any, params: Any) -> ElicitResult:
        if seen is not None:
            seen.append(params)
        return ElicitResult.model_validate({"action": action, "content": content})

    return answer


AGREES = answering("accept", {"confirm": True})


async def never(_context: Any, _params: Any) -> ElicitResult:
    """Wait for a user who does not answer."""
    await asyncio.sleep(60)
    raise AssertionError


@asynccontextmanager
async def connected(target: str | list[str], era: str, user: OnQuestion | None) -> AsyncIterator[Client]:
    """Connect the official client to a URL or a command."""
    if isinstance(target, str):
        transport: Any = streamable_http_client(target)
    else:
        transport = StdioServerParameters(command=target[0], args=target[1:])
    asked: Any = user
    mode = era if era == STATELESS else "legacy"
    async with Client(transport, mode=mode, elicitation_callback=asked, read_timeout_seconds=30) as client:
        yield client


def call(
    target: str | list[str], era: str, user: OnQuestion | None, name: str = "deletePet", /, **arguments: Any
) -> tuple[bool, str]:
    """Call a tool; return whether it succeeded, and the text of its result."""

    async def once() -> tuple[bool, str]:
        async with connected(target, era, user) as client:
            result = await client.call_tool(name, arguments)
            return not result.is_error, "".join(getattr(block, "text", "") for block in result.content)

    return asyncio.run(once())
