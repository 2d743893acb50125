"""Access tokens of client credentials and of sign-ins: fetched once, renewed in time and after a 401, never shown."""

import asyncio
import gzip
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.oauth.endpoints import AccessToken
from openapi_mcp.oauth.store import VARIABLE, TokenStore, store_key
from openapi_mcp.runtime.types import CallToolResult
from tests.oauth.apis import Backend, write_document
from tests.servers import running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "tokens"))
    monkeypatch.setenv("API_PETS_KEY_CLIENT_ID", "me")
    monkeypatch.setenv("API_PETS_KEY_CLIENT_SECRET", "hush-hush-hush")


def token(value: str, **facts: Any) -> dict[str, Any]:
    return {"access_token": value, "token_type": "Bearer", "expires_in": 3600, **facts}


@contextmanager
def opened(backend: Backend, folder: Path, flow: str = "clientCredentials", **options: Any) -> Iterator[Bridge]:
    """A bridge to an API whose tokens come from its own token endpoint."""
    with running(backend.app) as url:
        path = write_document(folder, url, {flow: {"tokenUrl": f"{url}/token"}})
        yield Bridge.open(Config.from_options(path, {"no_cache": True, **options}))


def call(bridge: Bridge, times: int = 1) -> list[CallToolResult]:
    async def run() -> list[CallToolResult]:
        server = bridge.server()
        try:
            return list(await asyncio.gather(*(server.call("listPets", {}) for _ in range(times))))
        finally:
            await server.aclose()

    return asyncio.run(run())


def text(result: CallToolResult) -> str:
    return "\n".join(block["text"] for block in result.content)


def test_one_token_serves_all_calls_that_wait_for_it(tmp_path: Path) -> None:
    backend = Backend([token("first-token")], {"first-token"}, delay=0.1)
    with opened(backend, tmp_path) as bridge:
        results = call(bridge, 20)
    assert not any(result.is_error for result in results)
    assert backend.calls == ["first-token"] * 20
    assert backend.grants == [{"grant_type": "client_credentials", "scope": "pets:read"}]
    assert backend.clients == ["me:hush-hush-hush"]


def test_no_result_holds_a_token_that_was_fetched(tmp_path: Path) -> None:
    with opened(Backend([token("first-token")], {"first-token"}), tmp_path) as bridge:
        (result,) = call(bridge)
    assert text(result) == '{"token":"***"}'


def test_a_refused_token_is_renewed_once(tmp_path: Path) -> None:
    backend = Backend([token("old-token"), token("new-token")], {"new-token"})
    with opened(backend, tmp_path) as bridge:
        results = call(bridge, 5)
    assert not any(result.is_error for result in results)
    assert len(backend.grants) == 2
    assert backend.calls.count("new-token") == 5


def test_an_api_that_refuses_every_token_is_asked_twice(tmp_path: Path) -> None:
    backend = Backend([token("a-token"), token("b-token"), token("c-token")])
    with opened(backend, tmp_path) as bridge:
        (result,) = call(bridge)
    assert result.is_error
    assert backend.calls == ["a-token", "b-token"]


def test_a_token_is_renewed_before_it_expires(tmp_path: Path) -> None:
    backend = Backend([token("short-token", expires_in=0), token("next-token")], {"short-token", "next-token"})
    with opened(backend, tmp_path) as bridge:

        async def run() -> None:
            server = bridge.server()
            await server.call("listPets", {})
            await server.call("listPets", {})
            await server.aclose()

        asyncio.run(run())
    assert backend.calls == ["short-token", "next-token"]


ANSWERS: Mapping[str, tuple[Any, str]] = {
    "an error": (JSONResponse({"error": "invalid_client", "error_description": "who?"}, 401), "invalid_client: who?"),
    "an error with 200": ({"error": "invalid_scope"}, "invalid_scope"),
    "no token": ({"token_type": "Bearer"}, "no `access_token`"),
    "another type": (token("x", token_type="mac"), "only Bearer"),
    "a line break": (token("a\r\nX-Evil: 1"), "no `access_token`"),
    "HTML": (Response("<html>", media_type="text/html"), "no JSON object"),
    "a list": (JSONResponse([]), "no JSON object"),
    "a redirect": (RedirectResponse("http://127.0.0.1:9/token", 307), "status 307"),
    "a flood": (Response(b" " * 3_000_000), "too large"),
    "a compressed flood": (
        Response(gzip.compress(b" " * 50_000_000), headers={"Content-Encoding": "gzip"}),
        "no JSON object",
    ),
    "control characters": (JSONResponse({"error": "\x1b[2Jbad"}, 400), "\ufffd[2Jbad"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_answer_of_the_token_endpoint_is_an_error_that_says_why(name: str, tmp_path: Path) -> None:
    answer, words = ANSWERS[name]
    backend = Backend([answer])
    with opened(backend, tmp_path) as bridge:
        (result,) = call(bridge)
    assert result.is_error
    assert words in text(result)
    assert "hush" not in text(result)
    assert backend.calls == []


def test_a_failing_token_endpoint_is_not_flooded(tmp_path: Path) -> None:
    backend = Backend([JSONResponse({"error": "server_error"}, 500)])
    with opened(backend, tmp_path) as bridge:
        results = call(bridge, 10)
    assert all(result.is_error for result in results)
    assert len(backend.grants) == 1


def test_no_secret_goes_to_a_token_endpoint_without_https(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "http://127.0.0.1:9", {"clientCredentials": {"tokenUrl": "http://tokens.test/token"}}
    )
    (result,) = call(Bridge.open(Config.from_options(path, {"no_cache": True})))
    assert result.is_error
    assert "tokens.test is not https, so no secret is sent to it" in text(result)


def test_audience_resource_and_scopes_are_sent(tmp_path: Path) -> None:
    backend = Backend([token("a-token")], {"a-token"})
    settings = ["key.audience=https://api.test", "key.resource=urn:pets", "key.scopes=one,two"]
    with opened(backend, tmp_path, oauth=[*settings, "key.auth-method=client_secret_post"]) as bridge:
        call(bridge)
    assert backend.grants == [
        {
            "grant_type": "client_credentials",
            "audience": "https://api.test",
            "resource": "urn:pets",
            "scope": "one two",
            "client_id": "me",
            "client_secret": "hush-hush-hush",
        }
    ]


def test_a_static_credential_needs_no_token(tmp_path: Path) -> None:
    backend = Backend([token("fetched")], {"static-token"})
    with opened(backend, tmp_path, auth=["key=static-token"]) as bridge:
        (result,) = call(bridge)
    assert not result.is_error
    assert backend.grants == []


def test_without_a_client_the_call_is_sent_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_PETS_KEY_CLIENT_ID")
    backend = Backend([token("fetched")])
    with opened(backend, tmp_path) as bridge:
        assert bridge.oauth_tokens() is None
        call(bridge)
    assert backend.calls == [""]


def test_a_sign_in_is_missing_by_name(tmp_path: Path) -> None:
    backend = Backend([token("fetched")])
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        (result,) = call(bridge)
    assert "Nobody has signed in for the security scheme `key`. Run `openapi-mcp login" in text(result)
    assert backend.calls == []


def stored(bridge: Bridge, token: AccessToken) -> str:
    """Store the token of a sign-in; return its key."""
    (scheme,) = bridge.document_info.oauth_schemes
    settings = bridge.oauth_settings
    key = store_key(settings.source, scheme, settings.client("key", "API_PETS_KEY"))
    TokenStore().put(key, token)
    return key


def test_the_token_of_a_sign_in_is_used_until_it_expires(tmp_path: Path) -> None:
    backend = Backend([token("fetched")], {"stored-token"})
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        stored(bridge, AccessToken("stored-token", time.time() + 600, "refresh"))
        (result,) = call(bridge)
    assert not result.is_error
    assert backend.grants == []


def test_an_expired_sign_in_is_renewed_and_stored(tmp_path: Path) -> None:
    backend = Backend([token("new-token", refresh_token="rotated")], {"new-token"})
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        key = stored(bridge, AccessToken("stored-token", time.time() - 1, "refresh"))
        (result,) = call(bridge)
    assert not result.is_error
    assert backend.grants == [{"grant_type": "refresh_token", "refresh_token": "refresh"}]
    renewed = TokenStore().get(key)
    assert renewed is not None
    assert (renewed.value, renewed.refresh_token) == ("new-token", "rotated")


def test_a_refresh_token_that_is_not_replaced_stays(tmp_path: Path) -> None:
    backend = Backend([token("new-token")], {"new-token"})
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        key = stored(bridge, AccessToken("stored-token", time.time() - 1, "refresh"))
        call(bridge)
    renewed = TokenStore().get(key)
    assert renewed is not None
    assert renewed.refresh_token == "refresh"


def test_a_revoked_sign_in_says_what_to_do(tmp_path: Path) -> None:
    backend = Backend([JSONResponse({"error": "invalid_grant"}, 400)])
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        stored(bridge, AccessToken("stored-token", time.time() - 1, "refresh"))
        (result,) = call(bridge)
    assert "is no longer valid. Run `openapi-mcp login" in text(result)


def test_two_servers_renew_a_sign_in_once(tmp_path: Path) -> None:
    backend = Backend([token("new-token", refresh_token="rotated")], {"new-token"}, delay=0.2)
    with opened(backend, tmp_path, "authorizationCode") as bridge:
        stored(bridge, AccessToken("stored-token", time.time() - 1, "refresh"))

        async def run() -> list[CallToolResult]:
            servers = [bridge.server(), bridge.server()]
            results = await asyncio.gather(*(server.call("listPets", {}) for server in servers))
            for server in servers:
                await server.aclose()
            return list(results)

        results = asyncio.run(run())
    assert not any(result.is_error for result in results)
    assert len(backend.grants) == 1


def test_stored_tokens_are_private_and_damaged_ones_are_absent(tmp_path: Path) -> None:
    store = TokenStore()
    store.put("key", AccessToken("a-token"))
    path = tmp_path / "tokens" / "key.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    for damage in ("", "[]", '{"value": "x", "other": 1}', "\udcff"):
        path.write_bytes(damage.encode("utf-8", "surrogateescape"))
        assert store.get("key") is None
    store.drop("key")
    store.drop("key")
    assert not path.exists()
