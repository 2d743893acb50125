"""A bridge within an application: the endpoint beside its own routes, with real servers and the official client."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, HTTPException
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from examples.petstore.api import create_app
from openapi_mcp import Bridge, Config, DocumentError, UsageError
from openapi_mcp.extension.app import mount
from tests.conftest import ROOT
from tests.servers import running

PETSTORE = ROOT / "specs" / "petstore.yaml"


@pytest.fixture(scope="module")
def sample_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(create_app(tmp_path_factory.mktemp("pets") / "pets.sqlite3")) as url:
        yield url


def shop() -> FastAPI:
    app = FastAPI(title="Shop")

    @app.get("/orders/{number}", operation_id="getOrder")
    async def get_order(number: int) -> dict[str, int]:
        if number == 0:
            raise HTTPException(404, "there is no order 0")
        return {"number": 100 // (number - 1)}

    return app


async def used(url: str, name: str, arguments: Mapping[str, Any]) -> tuple[list[str], Any]:
    """Return the tools of an endpoint, and the structured content of a call's result."""
    async with Client(url) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        return tools, (await client.call_tool(name, dict(arguments))).structured_content


@pytest.mark.parametrize("kind", [FastAPI, Starlette])
def test_the_endpoint_stands_beside_own_routes_and_lifespans(kind: type[Starlette], sample_api: str) -> None:
    events = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[Mapping[str, str]]:
        events.append("begin")
        yield {"motto": "mine"}
        events.append("end")

    async def own(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.state.motto)

    app = kind(lifespan=lifespan, routes=[Route("/own", own)])
    pets = Bridge.open(PETSTORE, base_url=sample_api, include="tag:pets")
    pets.mount(app, "/pets")
    Bridge.from_app(shop()).mount(app, "/shop/")
    with running(app) as url:
        tools, pet = asyncio.run(used(f"{url}/pets/mcp", "getPet", {"petId": 1}))
        assert "getPet" in tools
        assert pet["id"] == 1
        assert asyncio.run(used(f"{url}/shop/mcp", "getOrder", {"number": 3})) == (["getOrder"], {"number": 50})
        assert httpx.get(f"{url}/own").text == "mine"
        assert httpx.get(f"{url}/mcp").status_code == 404
    assert events == ["begin", "end"]


def test_the_end_of_the_application_closes_the_connections_to_the_api() -> None:
    class Api(httpx.AsyncBaseTransport):
        """A transport that says when it is closed."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json={}, request=request)

    app, bridge = Starlette(), Bridge.open(PETSTORE, base_url="http://127.0.0.1:9", transport=Api())
    closed = []
    inner = bridge.asgi()
    own = inner.router.lifespan_context

    @asynccontextmanager
    async def lifespan(each: Any) -> AsyncIterator[Any]:
        async with own(each) as state:
            yield state
        closed.append(True)

    inner.router.lifespan_context = lifespan
    mount(app, "/", inner)
    with running(app) as url:
        assert not closed
        assert asyncio.run(used(f"{url}/mcp", "getInventory", {}))[1] == {}
    assert closed == [True]


def test_an_application_may_serve_its_own_routes_as_tools() -> None:
    app = shop()
    Bridge.from_app(app).mount(app)
    with running(app) as url:
        assert asyncio.run(used(f"{url}/mcp", "getOrder", {"number": 2})) == (["getOrder"], {"number": 100})
        assert httpx.get(f"{url}/orders/2").json() == {"number": 100}


def test_errors_of_an_application_in_memory_are_results() -> None:
    bridge = Bridge.from_app(shop())
    missing = asyncio.run(bridge.call("getOrder", {"number": 0}))
    assert missing.is_error
    assert "there is no order 0" in str(missing.content)
    broken = asyncio.run(bridge.call("getOrder", {"number": 1}))
    assert broken.is_error
    assert "500" in str(broken.content)


def test_any_application_will_do_if_its_document_is_given() -> None:
    async def ping(_: Request) -> PlainTextResponse:
        return PlainTextResponse("pong")

    app = Starlette(routes=[Route("/ping", ping)])
    operation = {"operationId": "ping", "responses": {"200": {"description": "OK"}}}
    info = {"title": "Ping", "version": "1"}
    servers = [{"url": "https://ping.example/v1"}]
    document = {"openapi": "3.1.0", "info": info, "servers": servers, "paths": {"/ping": {"get": operation}}}
    with pytest.raises(DocumentError, match="no method openapi") as error:
        Bridge.from_app(app)
    assert "from_app(app, document)" in error.value.hint
    result = asyncio.run(Bridge.from_app(app, document).call("ping"))
    assert result.content[0]["text"] == "pong"


def test_the_endpoint_is_closed_to_others_until_they_are_named(sample_api: str) -> None:
    bridge = Bridge.open(PETSTORE, base_url=sample_api)

    def status(headers: Mapping[str, str], **access: Any) -> int:
        transport = httpx.ASGITransport(app=bridge.asgi(**access))
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        accepted = {"Accept": "application/json, text/event-stream", **headers}

        async def post() -> int:
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return (await client.post("/mcp", json=message, headers=accepted)).status_code

        return asyncio.run(post())

    foreign = {"Host": "mcp.example.com"}
    assert status(foreign) == 421
    assert status(foreign, allowed_hosts=["mcp.example.com"]) != 421
    assert status(foreign, allowed_hosts=None) != 421
    assert status({"Origin": "https://app.example.com"}) == 403
    assert status({}, auth_token="t0ken") == 401  # of this test
    assert status({"Authorization": "Bearer t0ken"}, auth_token="t0ken") != 401


def test_options_for_clients_of_this_machine_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="other machines"):
        Bridge.open(PETSTORE, allow_files=tmp_path).asgi()
    with pytest.raises(UsageError, match="sign-ins"):
        Bridge.open(Config(source=str(PETSTORE), sign_in_url="https://mcp.example.com")).asgi()
