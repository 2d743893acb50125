"""Tokens of callers that are exchanged for tokens of the API, and headers of callers that the API gets."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.settings import HttpSettings
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.http.app import create_app
from tests.oauth.apis import Backend, call_as, write_document
from tests.servers import running

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


class ExchangingBackend(Backend):
    """A token endpoint whose tokens are those of the caller, with a prefix."""

    @property
    def tokens(self) -> list[str]:
        """The tokens of callers that it received."""
        return [grant.get("subject_token") or grant["assertion"] for grant in self.grants]

    def answer(self) -> Response | Mapping[str, Any]:
        """Return the answer to the newest request."""
        return {"access_token": f"api-token-of-{self.tokens[-1]}", "token_type": "Bearer", "expires_in": 300}


def bridge(folder: Path, url: str, exchange: str = "token-exchange") -> Bridge:
    path = write_document(folder, url, {"clientCredentials": {"tokenUrl": f"{url}/token"}})
    settings = ["key.client-id=me", "key.client-secret=hush-hush-hush", f"key.exchange={exchange}"]
    return Bridge.open(
        Config.from_options(path, {"no_cache": True, "oauth": [*settings, "key.audience=https://api.test"]})
    )


def test_each_caller_has_a_token_of_its_own(tmp_path: Path) -> None:
    backend = ExchangingBackend([], {"api-token-of-alice-token", "api-token-of-bob-token"}, delay=0.05)
    with running(backend.app) as url:
        results = call_as(bridge(tmp_path, url), "alice-token", "bob-token", "alice-token")
    assert not any(result.is_error for result in results)
    assert sorted(backend.tokens) == ["alice-token", "bob-token"]
    assert sorted(backend.calls) == ["api-token-of-alice-token"] * 2 + ["api-token-of-bob-token"]
    assert backend.grants[0] == {
        "grant_type": EXCHANGE,
        "audience": "https://api.test",
        "subject_token": backend.tokens[0],
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "scope": "pets:read",
    }


def test_a_token_may_be_an_assertion(tmp_path: Path) -> None:
    backend = ExchangingBackend([], {"api-token-of-alice-token"})
    with running(backend.app) as url:
        call_as(bridge(tmp_path, url, "jwt-bearer"), "alice-token")
    assert backend.grants[0]["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert backend.tokens == ["alice-token"]


def test_a_caller_without_a_token_gets_an_error_that_says_so(tmp_path: Path) -> None:
    backend = ExchangingBackend([])
    with running(backend.app) as url:
        (result,) = call_as(bridge(tmp_path, url), "")
    assert result.is_error
    assert "this caller has none: start the server with --auth-issuer" in json.dumps(result.content)
    assert backend.calls == []


def test_the_token_of_the_caller_never_reaches_the_api_or_a_result(tmp_path: Path) -> None:
    class Refusing(ExchangingBackend):
        def answer(self) -> Response | Mapping[str, Any]:
            return JSONResponse({"error": "invalid_grant"}, 400)

    backend = Refusing([])
    with running(backend.app) as url:
        (result,) = call_as(bridge(tmp_path, url), "alice-token")
    assert result.is_error
    assert "alice-token" not in json.dumps(result.content)
    assert backend.calls == []


HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def test_named_headers_of_the_client_reach_the_api(tmp_path: Path) -> None:
    received: list[dict[str, str]] = []

    class Listening(Backend):
        async def _pets(self, request: Any) -> Response:
            received.append(dict(request.headers))
            return JSONResponse([])

    with running(Listening([]).app) as url:
        path = write_document(tmp_path, url, {})
        server = Bridge.open(Config.from_options(path, {"no_cache": True})).server()
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "listPets", "arguments": {}}}
        with running(create_app(server, forwarded_headers=["X-Tenant", "X-Absent"])) as endpoint:
            for tenant in ("one", "two"):
                headers = {**HEADERS, "X-Tenant": tenant, "X-Other": "no", "Authorization": "Bearer mine"}
                httpx.post(f"{endpoint}/mcp", json=body, headers=headers).raise_for_status()
    assert [each.get("x-tenant") for each in received] == ["one", "two"]
    assert not any("x-other" in each or "x-absent" in each or "authorization" in each for each in received)


@pytest.mark.parametrize("name", ["Authorization", "cookie", "Host", "Mcp-Session-Id", "Content-Type", "X Y", ""])
def test_headers_for_this_server_cannot_be_forwarded(name: str) -> None:
    with pytest.raises(UsageError):
        HttpSettings.from_options({"forward_header": [name]})
