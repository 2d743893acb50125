"""Users of a server of several APIs: each signs in for each API that needs it, on the pages of one server."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.applications import Starlette

from openapi_mcp.cli.serve import sign_ins as at_start
from openapi_mcp.cli.settings import HttpSettings, Settings
from openapi_mcp.elicitation.confirmation import Confirmation
from openapi_mcp.errors import UsageError
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.oauth.pages import SignInPages
from openapi_mcp.oauth.sealed_store import InMemory, SealedStore
from openapi_mcp.oauth.sign_ins import ApiSignIns, UserSignIns
from openapi_mcp.runtime.server.grants import GRANT, Grant
from openapi_mcp.runtime.server.server import Server
from tests.oauth.apis import Backend, write_document
from tests.servers import running

URL = "http://127.0.0.1:8000"


def opened(folder: Path, urls: dict[str, str], *, client: str = "client-id", **options: Any) -> Gateway:
    """Open the gateway of an API at each URL; all have the same scheme, authorization server and client."""
    flow = {"authorizationUrl": f"{urls['cats']}/auth", "tokenUrl": f"{urls['cats']}/token", "scopes": {}}
    tables = [f'sign-in-url = "{URL}"']
    for name, url in urls.items():
        (folder / name).mkdir(exist_ok=True)
        path = write_document(folder / name, url, {"authorizationCode": flow})
        tables += [f"[apis.{name}]", f"spec = {json.dumps(path)}", f'oauth = {{"key.{client}" = "me"}}']
    file = folder / "openapi-mcp.toml"
    file.write_text("\n".join(tables))
    gateway = Settings("", {"no_cache": True, **options}, file).open()
    assert isinstance(gateway, Gateway)
    return gateway


async def call(server: Server, name: str, user: str) -> str:
    """Call a tool as a user; return the text of the result."""
    GRANT.set(Grant(user, frozenset({"pets:read"})))
    result = await server.call(name, {})
    return "".join(block.get("text", "") for block in result.content)


async def sign_in(users: UserSignIns, page: str) -> None:
    """Open a page, and return from the authorization server with a code."""
    transport = httpx.ASGITransport(Starlette(routes=SignInPages(users).routes()))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as browser:
        begun = await browser.get(page)
        state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
        done = await browser.get("/oauth/callback", params={"code": "any", "state": state})
    assert "Signed in" in done.text, done.text


def within(folder: Path, test: Callable[[Server, UserSignIns, dict[str, Backend]], Awaitable[None]]) -> None:
    """Run a test with a server of two APIs."""
    tokens: list[Any] = [{"access_token": f"token-{number}", "token_type": "Bearer"} for number in (1, 2, 3)]
    cats, dogs = Backend(tokens, {"token-1", "token-3"}), Backend([{}], {"token-2"})

    async def run(gateway: Gateway) -> None:
        users = UserSignIns(URL, SealedStore(InMemory(), b"secret"), None)
        server = gateway.server(sign_ins=lambda api: ApiSignIns(users, api))
        try:
            await test(server, users, {"cats": cats, "dogs": dogs})
        finally:
            await server.aclose()

    with running(cats.app) as first, running(dogs.app) as second:
        asyncio.run(run(opened(folder, {"cats": first, "dogs": second})))


def test_user_signs_in_for_each_api_and_no_api_gets_the_token_of_another(tmp_path: Path) -> None:
    async def test(server: Server, users: UserSignIns, apis: dict[str, Backend]) -> None:
        for name in ("cats", "dogs"):
            text = await call(server, f"{name}_listPets", "ann")
            page = text.rpartition(" ")[2]
            assert page.startswith(f"{URL}/oauth/start?id=")
            assert await call(server, f"{name}_listPets", "ann") == text, "one page for all calls that wait"
            await sign_in(users, page)
            assert "***" in await call(server, f"{name}_listPets", "ann")
        assert (apis["cats"].calls, apis["dogs"].calls) == (["token-1"], ["token-2"])
        assert "has not signed in" in await call(server, "cats_listPets", "bob"), "others sign in for themselves"

    within(tmp_path, test)


def test_page_of_one_api_stays_valid_when_another_is_loaded_again(tmp_path: Path) -> None:
    async def test(server: Server, users: UserSignIns, _apis: dict[str, Backend]) -> None:
        page = (await call(server, "cats_listPets", "ann")).rpartition(" ")[2]
        ApiSignIns(users, "dogs").learn({})
        assert [api for api, _ in users.sources] == ["cats"]
        await sign_in(users, page)
        assert "***" in await call(server, "cats_listPets", "ann")

    within(tmp_path, test)


def test_server_starts_where_users_can_sign_in_for_one_of_its_apis(tmp_path: Path) -> None:
    http = HttpSettings(sign_in_url=URL)
    urls = {"cats": "http://127.0.0.1:9", "dogs": "http://127.0.0.1:9"}
    gateway = opened(tmp_path, urls)
    at_start.check(gateway.config, gateway.bridges.values(), http, local=True)
    gateway = opened(tmp_path, urls, client="audience")
    with pytest.raises(UsageError, match="lets users sign in"):
        at_start.check(gateway.config, gateway.bridges.values(), http, local=True)


def test_users_are_asked_before_calls_too_where_one_api_wants_it(tmp_path: Path) -> None:
    """The first API only signs users in; the document of the second one asks for confirmation."""
    gateway = opened(tmp_path, {"cats": "http://127.0.0.1:9", "dogs": "http://127.0.0.1:9"})
    path = tmp_path / "dogs" / "pets.json"
    root = json.loads(path.read_text())
    root["paths"]["/pets"]["get"]["x-mcp"] = {"confirm": True}
    path.write_text(json.dumps(root))
    reopened = Settings("", {"no_cache": True}, tmp_path / "openapi-mcp.toml").open()
    assert not isinstance(gateway.elicitor, Confirmation)
    assert isinstance(reopened, Gateway)
    assert isinstance(reopened.elicitor, Confirmation)
