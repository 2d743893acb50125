"""Tokens of users who have signed in: renewed, forgotten when they are worth nothing, and asked for again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse

from openapi_mcp.bridge import Bridge
from openapi_mcp.compilation import OAuthScheme
from openapi_mcp.config import Config
from openapi_mcp.oauth.clients import OAuthClient
from openapi_mcp.oauth.endpoints import AccessToken, AuthorizationServer
from openapi_mcp.oauth.pages import SignInPages
from openapi_mcp.oauth.sealed_store import InMemory, SealedStore
from openapi_mcp.oauth.sign_ins import ApiSignIns, UserSignIns
from openapi_mcp.oauth.store import VARIABLE
from openapi_mcp.runtime.server.grants import GRANT, Grant
from openapi_mcp.runtime.server.server import Server
from tests.oauth.apis import Backend, write_document
from tests.servers import running

URL = "http://127.0.0.1:8000"
REFUSED = JSONResponse({"error": "invalid_grant"}, 400)
RENEWED = {"access_token": "new-token", "token_type": "Bearer", "expires_in": 300, "refresh_token": "next"}


def within(
    folder: Path,
    backend: Backend,
    test: Callable[[Server, UserSignIns], Awaitable[None]],
    *flows: str,
    public: str = URL,
) -> None:
    """Run a test with a server whose users sign in, if the document has the flow for that."""

    async def run(bridge: Bridge) -> None:
        sign_ins = UserSignIns(public, SealedStore(InMemory(), b"secret"), None)
        server = bridge.server(sign_ins=ApiSignIns(sign_ins))
        try:
            await test(server, sign_ins)
        finally:
            await server.aclose()

    with running(backend.app) as url:
        flow = {"authorizationUrl": f"{url}/auth", "tokenUrl": f"{url}/token", "scopes": {}}
        path = write_document(folder, url, dict.fromkeys(flows or ["authorizationCode"], flow))
        options = {"no_cache": True, "oauth": ["key.client-id=me"], "sign_in_url": public}
        asyncio.run(run(Bridge.open(Config.from_options(path, options))))


async def call(server: Server, user: str) -> str:
    """Call as a user; return the text of the result."""
    GRANT.set(Grant(user, frozenset({"pets:read"})))
    result = await server.call("listPets", {})
    return "".join(block.get("text", "") for block in result.content)


def sign_in(sign_ins: UserSignIns, user: str, token: AccessToken) -> None:
    sign_ins.store.put(sign_ins.sources["", "key"].of_user(user).key, token)


def test_token_that_the_api_refuses_is_renewed_for_its_user_alone(tmp_path: Path) -> None:
    backend = Backend([RENEWED], {"new-token", "other-token"})

    async def test(server: Server, sign_ins: UserSignIns) -> None:
        sign_in(sign_ins, "ann", AccessToken("old-token", None, "refreshing"))
        sign_in(sign_ins, "bob", AccessToken("other-token"))
        assert "***" in await call(server, "ann")
        assert "***" in await call(server, "bob")
        assert backend.calls == ["old-token", "new-token", "other-token"]
        assert backend.grants[0]["refresh_token"] == "refreshing"
        stored = sign_ins.store.get(sign_ins.sources["", "key"].of_user("ann").key)
        assert stored is not None
        assert (stored.value, stored.refresh_token) == ("new-token", "next")

    within(tmp_path, backend, test)


def test_user_whose_token_is_worth_nothing_any_more_is_asked_again(tmp_path: Path) -> None:
    backend = Backend([REFUSED])

    async def test(server: Server, sign_ins: UserSignIns) -> None:
        for token in (AccessToken("revoked", None, "revoked too"), AccessToken("without a refresh token")):
            sign_in(sign_ins, "ann", token)
            assert "401" in await call(server, "ann")
            text = await call(server, "ann")
            assert f"{URL}/oauth/start?id=" in text
            assert await call(server, "ann") == text, "one page for all calls that wait"
        backend.valid.add("fresh")
        sign_in(sign_ins, "ann", AccessToken("fresh"))
        assert "***" in await call(server, "ann")

    within(tmp_path, backend, test)


def test_token_of_another_client_or_server_is_not_used(tmp_path: Path) -> None:
    backend = Backend([REFUSED], {"token"})

    async def test(server: Server, sign_ins: UserSignIns) -> None:
        source = sign_ins.sources["", "key"]
        keys = {source.of_user(user).key for user in ("ann", "bob", "ann ", "session ann", "")}
        assert len(keys) == 5
        assert source.of_user("ann").key == source.of_user("ann").key
        sign_in(sign_ins, "ann", AccessToken("token"))
        assert "has not signed in" in await call(server, "bob")
        assert backend.calls == []

    within(tmp_path, backend, test)


def test_scheme_without_pages_has_one_sign_in_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "tokens"))
    backend = Backend([REFUSED], {"token"})

    async def test(server: Server, sign_ins: UserSignIns) -> None:
        assert not sign_ins.sources
        text = await call(server, "ann")
        assert "Run `openapi-mcp login" in text
        assert "/oauth/start" not in text

    within(tmp_path, backend, test, "deviceAuthorization")


def test_cookie_of_an_https_server_is_for_its_host_alone(tmp_path: Path) -> None:
    public = "https://mcp.example.com"

    async def test(server: Server, sign_ins: UserSignIns) -> None:
        page = (await call(server, "ann")).rpartition(" ")[2]
        assert page.startswith(f"{public}/oauth/start?id=")
        transport = httpx.ASGITransport(Starlette(routes=SignInPages(sign_ins).routes()))
        async with httpx.AsyncClient(transport=transport) as browser:
            begun = await browser.get(page)
        assert f"redirect_uri={quote(public, safe='')}%2Foauth%2Fcallback" in begun.headers["location"]
        cookie = begun.headers["set-cookie"]
        assert cookie.startswith("__Host-openapi-mcp-")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
        assert "Domain" not in cookie

    within(tmp_path, Backend([REFUSED]), test, public=public)


def test_sign_in_does_not_go_on_at_a_server_that_the_document_did_not_name_then(tmp_path: Path) -> None:
    async def test(server: Server, sign_ins: UserSignIns) -> None:
        page = (await call(server, "ann")).rpartition(" ")[2]
        scheme = OAuthScheme(
            name="key", authorization_url="https://evil.test/auth", token_url="https://evil.test/token"
        )
        other = AuthorizationServer(scheme, OAuthClient(client_id="me"))
        sign_ins.sources = {("", "key"): replace(sign_ins.sources["", "key"], server=other)}
        transport = httpx.ASGITransport(Starlette(routes=SignInPages(sign_ins).routes()))
        async with httpx.AsyncClient(transport=transport) as browser:
            refused = await browser.get(page)
        assert (refused.status_code, "has changed since" in refused.text) == (502, True)

    within(tmp_path, Backend([REFUSED]), test)


def test_pages_behind_a_proxy_are_at_the_public_path_too() -> None:
    def paths(url: str) -> list[str]:
        return [route.path for route in SignInPages(UserSignIns(url, SealedStore(InMemory(), b"x"), None)).routes()]

    own = ["/oauth/start", "/oauth/callback"]
    assert paths("https://example.com") == own
    assert paths("https://example.com/pets/") == [*own, "/pets/oauth/start", "/pets/oauth/callback"]
