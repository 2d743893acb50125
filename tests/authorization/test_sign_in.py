"""The official client signs in at a real authorization server and calls tools, in both eras; a step-up; two workers."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.authorization.doors import DOCUMENT, SCOPES
from tests.oauth.user_sign_ins import serving
from tests.oidc import CLIENT_ID, CLIENT_REDIRECT, CLIENT_SECRET, authorization_server, sign_in, user_token
from tests.runtime.echo import Echo, answer, echoing
from tests.servers import free_port

pytestmark = pytest.mark.process

ALL: Final = {"listPets", "createPet", "deletePets", "getStatus"}


@dataclass(frozen=True)
class Stage:
    """An API, an authorization server, and the bridge between an MCP client and the API."""

    api: Echo
    issuer: str
    url: str

    def token(self, *scopes: str, resource: str = "") -> str:
        """Return a token of the client `bridge` itself, for this server or another one."""
        form = {"grant_type": "client_credentials", "scope": " ".join(scopes), "resource": resource or self.url}
        answered = httpx.post(f"{self.issuer}/token", data=form, auth=(CLIENT_ID, CLIENT_SECRET))
        return str(answered.raise_for_status().json()["access_token"])

    def token_of_user(self, name: str, *scopes: str) -> str:
        """Return a token of a user who signed in and consented to some scopes only."""
        return user_token(self.issuer, name, " ".join(scopes), self.url)


@pytest.fixture(scope="module")
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    try:
        node: Path = request.getfixturevalue("node")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the packages of npm cannot be installed: {error}")
    folder = tmp_path_factory.mktemp("sign-in")
    with echoing() as api, authorization_server(node, scopes=sorted(SCOPES)) as issuer:
        api.respond = lambda _: answer(b'["Minka"]', "Content-Type: application/json")
        (folder / "pets.json").write_text(json.dumps({**DOCUMENT, "servers": [{"url": api.url}]}))
        with bridge(folder / "pets.json", issuer) as url:
            yield Stage(api, issuer, url)


@contextmanager
def bridge(document: Path, issuer: str, *options: str) -> Iterator[str]:
    """Run `openapi-mcp serve` with a door on a free port; yield its URL, which is its canonical URI."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with serving(str(document), document.parent, port, "--auth-issuer", issuer, "--auth-audience", url, *options):
        yield url


@dataclass
class Storage(TokenStorage):
    """The memory of a client for its tokens and its registration."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    signed_in: list[dict[str, str]] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def signing_in(url: str, storage: Storage, name: str = "alice") -> OAuthClientProvider:
    """Return the official client's sign-in, whose user walks through the pages as `name`."""
    reached: list[str] = []

    async def redirect(address: str) -> None:
        query = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        storage.signed_in.append(query)
        reached.append(await asyncio.to_thread(sign_in, address, name, until=CLIENT_REDIRECT))

    async def callback() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(reached.pop()).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])

    metadata = OAuthClientMetadata(
        client_name="the client of the tests",
        redirect_uris=[AnyUrl(CLIENT_REDIRECT)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
    return OAuthClientProvider(url, metadata, storage, redirect, callback)


async def use(stage: Stage, storage: Storage, mode: str, *calls: str) -> tuple[set[str], list[bool]]:
    """List and call tools with the official client; return the tools, and of each call whether it succeeded."""
    auth = signing_in(stage.url, storage)
    http = httpx2.AsyncClient(auth=auth, timeout=30)
    async with (
        http,
        Client(streamable_http_client(stage.url, http_client=http), mode=mode, read_timeout_seconds=30) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        results = [await client.call_tool(name, {}) for name in calls]
        return listed, [not result.is_error for result in results]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_official_client_signs_in_lists_and_calls(stage: Stage, mode: str) -> None:
    storage = Storage()
    before = len(stage.api.requests)
    listed, succeeded = asyncio.run(use(stage, storage, mode, "listPets", "createPet"))
    assert (listed, succeeded) == (ALL, [True, True])
    assert [request.method for request in stage.api.requests[before:]] == ["GET", "POST"]
    (asked,) = storage.signed_in
    assert (asked["resource"], asked["code_challenge_method"]) == (stage.url, "S256")
    assert set(asked["scope"].split()) >= {"admin", "pets:read", "pets:write"}
    assert storage.tokens is not None
    token = storage.tokens.access_token
    assert token not in str(stage.api.requests), "the client's token stays at the door"


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_official_client_steps_up_for_a_call_that_needs_more(stage: Stage, mode: str) -> None:
    token = stage.token_of_user("alice", "pets:read")
    storage = Storage(OAuthToken(access_token=token, scope="pets:read", expires_in=300))
    listed, succeeded = asyncio.run(use(stage, storage, mode, "listPets", "createPet"))
    assert listed == {"listPets", "getStatus"}
    assert succeeded == [True, True]
    (asked,) = storage.signed_in
    assert {"pets:read", "pets:write"} <= set(asked["scope"].split())


def ask(url: str, token: str | None, name: str = "listPets") -> httpx.Response:
    """Call a tool without a session."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {"name": name, "arguments": {}, "_meta": meta}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
    headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return httpx.post(url, json=message, headers=headers, timeout=30)


def test_tokens_of_the_same_issuer_for_another_server_are_refused(stage: Stage) -> None:
    answers = [ask(stage.url, stage.token("pets:read", resource=other)) for other in ("http://127.0.0.1:1/mcp", "")]
    assert [answered.status_code for answered in answers] == [401, 200]
    assert ask(stage.url, None).status_code == 401
    assert ask(stage.url, stage.token("pets:read"), "createPet").status_code == 403


def test_every_worker_verifies_tokens(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps({**DOCUMENT, "servers": [{"url": stage.api.url}]}))
    with bridge(tmp_path / "pets.json", stage.issuer, "--workers", "2") as url:
        token = stage.token("pets:read", resource=url)
        statuses = {ask(url, token).status_code for _ in range(8)} | {ask(url, token + "x").status_code for _ in "1234"}
    assert statuses == {200, 401}
