"""A user who signs in during a call over stdio, at a real authorization server, with the official client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

from tests.elicitation.pets import HANDSHAKE, STATELESS, OnQuestion
from tests.oauth.apis import Backend
from tests.oauth.test_login import backend, environment
from tests.oidc import authorization_server, sign_in
from tests.servers import free_port

pytestmark = pytest.mark.process

BOTH = pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])


@dataclass
class World:
    """An authorization server, an API that takes its tokens, and a server over stdio that lets its user sign in."""

    api: Backend
    command: list[str]
    environment: dict[str, str]
    redirect: str
    folder: Path
    pages: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def client(self, era: str, user: OnQuestion | None) -> AsyncIterator[Client]:
        asked: Any = user
        program, *arguments = self.command
        server = StdioServerParameters(command=program, args=arguments, env=self.environment)
        mode = era if era == STATELESS else "legacy"
        async with Client(server, mode=mode, elicitation_callback=asked, read_timeout_seconds=60) as client:
            yield client

    def call(self, era: str, user: OnQuestion | None, name: str = "listPets") -> tuple[bool, str]:
        async def once() -> tuple[bool, str]:
            async with self.client(era, user) as client:
                result = await client.call_tool(name, {})
                return not result.is_error, "".join(getattr(block, "text", "") for block in result.content)

        return asyncio.run(once())

    async def signs_in(self, _context: Any, params: Any) -> ElicitResult:
        """Agree, and sign in on the page."""
        if params.mode == "form":
            self.forms.append(params.message)
            return ElicitResult(action="accept", content={"confirm": True})
        self.pages.append(params.url)
        self._later = asyncio.create_task(asyncio.to_thread(self.open, params.url))
        return ElicitResult(action="accept")

    def open(self, page: str) -> None:
        """Sign in on a page, as the browser of the user does."""
        assert "You can close this page" in httpx.get(sign_in(page, until=self.redirect)).text

    def tokens(self) -> list[str]:
        return [json.loads(path.read_text())["value"] for path in (self.folder / "tokens").glob("*.json")]


@contextmanager
def world(node: Path, folder: Path, *options: str) -> Iterator[World]:
    port = free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    with (
        authorization_server(node, redirects=[redirect]) as issuer,
        backend(folder, issuer, oauth_flow(issuer)) as (spec, api),
    ):
        serve = [sys.executable, "-m", "openapi_mcp", "serve", spec, "--transport", "stdio"]
        yield World(api, [*serve, "--sign-in-port", str(port), *options], environment(folder), redirect, folder)


def oauth_flow(issuer: str) -> dict[str, Any]:
    return {"authorizationCode": {"authorizationUrl": f"{issuer}/auth", "tokenUrl": f"{issuer}/token", "scopes": {}}}


@BOTH
def test_call_that_needs_a_sign_in_is_made_when_the_user_has_signed_in(node: Path, tmp_path: Path, era: str) -> None:
    with world(node, tmp_path) as it:
        made, text = it.call(era, it.signs_in)
        assert made, text
        assert len(it.pages) == 1
        assert it.call(era, None)[0], "the next process finds the token"
        (token,) = it.tokens()
        assert it.api.calls == [token, token]
        assert token not in text.replace(f'"{token}"', "") or "***" in text


@BOTH
def test_call_is_not_made_when_the_user_does_not_open_the_page(node: Path, tmp_path: Path, era: str) -> None:
    async def declines(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    with world(node, tmp_path) as it:
        made, text = it.call(era, declines)
        assert (made, it.api.calls, it.tokens()) == (False, [], [])
        assert "did not open its page" in text


@BOTH
def test_client_without_elicitation_gets_the_address_of_the_page(node: Path, tmp_path: Path, era: str) -> None:
    async def later(it: World) -> None:
        async with it.client(era, None) as client:
            refused = await client.call_tool("listPets", {})
            assert refused.is_error
            text: str = getattr(refused.content[0], "text", "")
            again = await client.call_tool("listPets", {})
            assert getattr(again.content[0], "text", "") == text, "one sign-in for both"
            await asyncio.to_thread(it.open, text.rpartition(": ")[2])
            for _ in range(50):
                if it.tokens():
                    break
                await asyncio.sleep(0.1)
            assert not (await client.call_tool("listPets", {})).is_error

    with world(node, tmp_path) as it:
        asyncio.run(later(it))
        assert it.api.calls == it.tokens()


@BOTH
def test_call_that_is_confirmed_and_needs_a_sign_in_asks_for_both(node: Path, tmp_path: Path, era: str) -> None:
    overlay = tmp_path / "changing.json"
    change = {"target": "$.paths['/pets'].get", "update": {"x-mcp": {"annotations": {"readOnlyHint": False}}}}
    overlay.write_text(json.dumps({"overlay": "1.0.0", "info": {"title": "o", "version": "1"}, "actions": [change]}))
    with world(node, tmp_path, "--overlay", str(overlay), "--confirm", "changing") as it:
        made, text = it.call(era, it.signs_in)
        assert made, text
        assert (len(it.forms), len(it.pages), len(it.api.calls)) == (1, 1, 1)


def test_server_ends_at_once_while_a_sign_in_waits(node: Path, tmp_path: Path) -> None:
    with world(node, tmp_path) as it:
        hello = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "listPets", "arguments": {}}},
        ]
        with subprocess.Popen(
            it.command, env=it.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for message in messages:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                assert process.stdout.readline()
            process.stdin.close()
            assert process.wait(30) == 0


def test_sign_in_over_http_is_refused_at_the_start(tmp_path: Path) -> None:
    document = tmp_path / "pets.json"
    paths = {"/pets": {"get": {"operationId": "listPets", "responses": {}}}}
    root = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}]}
    document.write_text(json.dumps({**root, "paths": paths}))
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--port", "0", "--sign-in-port", "0"]
    refused = subprocess.run(serve, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "over stdio only" in refused.stderr
