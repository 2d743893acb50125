"""Tokens of callers that become tokens of the API by an assertion of their identity provider (ID-JAG)."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from tests.oauth.apis import Backend, call_as, write_document
from tests.oauth.user_sign_ins import AnyToken
from tests.oidc import CLIENT_ID, CLIENT_SECRET, authorization_server, claims
from tests.servers import running

pytestmark = pytest.mark.process

API = "https://api.test/pets"


@dataclass
class World:
    """The callers' identity provider, the authorization server of the API, and the API."""

    idp: str
    issuer: str
    api: Backend
    folder: Path
    url: str

    def token(self) -> str:
        """Return a token that the identity provider gave a caller of the bridge."""
        form = {"grant_type": "client_credentials", "scope": "pets:read", "resource": "http://127.0.0.1:8000/mcp"}
        answered = httpx.post(f"{self.idp}/token", data=form, auth=(CLIENT_ID, CLIENT_SECRET))
        return str(answered.raise_for_status().json()["access_token"])

    def bridge(self, *fields: str) -> Bridge:
        metadata = f"{self.issuer}/.well-known/openid-configuration"
        path = write_document(self.folder, self.url, {}, type="openIdConnect", openIdConnectUrl=metadata)
        client = [f"key.client-id={CLIENT_ID}", f"key.client-secret={CLIENT_SECRET}", "key.exchange=id-jag"]
        return Bridge.open(Config.from_options(path, {"no_cache": True, "oauth": [*client, *fields]}))


@contextmanager
def _world(node: Path, folder: Path) -> Iterator[World]:
    api = Backend([{}], AnyToken())
    with (
        authorization_server(node, exchange=True) as idp,
        authorization_server(node, exchange=True, idp=idp, resource=API) as issuer,
        running(api.app) as url,
    ):
        yield World(idp, issuer, api, folder, url)


@pytest.fixture(scope="module")
def it(node: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with _world(node, tmp_path_factory.mktemp("id-jag")) as running_world:
        yield running_world


def test_the_api_gets_a_token_of_its_own_issuer_for_the_subject_of_the_caller(it: World) -> None:
    caller = it.token()
    bridge = it.bridge(f"key.idp-token-url={it.idp}/token", f"key.resource={API}")
    first, again = call_as(bridge, caller, caller)
    assert not first.is_error, first.content
    assert not again.is_error
    (token,) = set(it.api.calls)
    assert (claims(token)["iss"], claims(token)["aud"]) == (it.issuer, API)
    assert claims(token)["sub"] == claims(caller)["sub"]
    assert caller not in json.dumps(it.api.calls)
    assert not any(secret in repr((first, again)) for secret in (caller, token))


def test_a_caller_whom_the_identity_provider_does_not_know_is_refused(it: World) -> None:
    before = len(it.api.calls)
    (refused,) = call_as(it.bridge(f"key.idp-token-url={it.idp}/token"), it.token()[:-8] + "AAAAAAAA")
    assert refused.is_error
    assert "invalid_grant" in repr(refused.content)
    assert len(it.api.calls) == before


def test_a_server_that_gives_another_kind_of_token_is_no_identity_provider(it: World) -> None:
    async def give_another() -> None:
        source = it.bridge(f"key.idp-token-url={it.idp}/token").oauth_tokens()
        assert source is not None
        provider = source.sources["key"].identity_provider
        assert provider is not None
        kind = "urn:ietf:params:oauth:token-type:access_token"
        await provider.assertion({"subject_token": it.token(), "subject_token_type": kind}, "urn:example:other")

    with pytest.raises(Exception, match="gave no other"):
        asyncio.run(give_another())


def test_an_identity_provider_is_needed(it: World) -> None:
    with pytest.raises(UsageError, match="needs an identity provider"):
        it.bridge().server()
