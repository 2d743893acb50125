"""A server over HTTP whose users sign in at the API's authorization server, and calls of its users, for tests."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.command import ROOT
from tests.oauth.apis import Backend, write_document
from tests.oidc import CLIENT_ID, CLIENT_REDIRECT, CLIENT_SECRET, authorization_server, claims, user_token
from tests.servers import free_port, running

MAX_START_SECONDS: Final = 60.0
"""Time until a server answers: the machine may be busy."""

HANDSHAKE: Final = "2025-11-25"
STATELESS: Final = "2026-07-28"
URL_MODE: Final[dict[str, Any]] = {"elicitation": {"url": {}}}


class AnyToken(set[str]):
    """All JSON Web Tokens."""

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token.startswith("eyJ")


@dataclass
class World:
    """An API, its authorization server, the door's one, and the address of the bridge."""

    api: Backend
    issuer: str
    door: str
    url: str
    tokens: dict[str, str] = field(default_factory=dict)
    secret: str = CLIENT_SECRET

    @property
    def subjects(self) -> list[str]:
        """The users whose tokens the API got, in order."""
        return [claims(token)["sub"] for token in self.api.calls]

    def token_of(self, name: str) -> str:
        """Return the token of a user for the bridge, as an MCP client gets it."""
        if name not in self.tokens:
            self.tokens[name] = user_token(self.door, name, "pets:read", f"{self.url}/mcp", secret=self.secret)
        return self.tokens[name]

    def client(self, name: str | None, era: str, capabilities: Any = URL_MODE, **headers: str) -> "Caller":
        """Return an MCP client of a user."""
        token = None if name is None else self.token_of(name)
        return Caller(f"{self.url}/mcp", token, era, capabilities, **headers)


class Caller:
    """An MCP client of a user that sends what a test says."""

    def __init__(self, url: str, token: str | None, era: str, capabilities: Any, **headers: str) -> None:
        self._url = url
        self._era = era
        self._capabilities = capabilities
        self._headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": era}
        self._headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
        self._headers |= headers
        if era == HANDSHAKE:
            hello = {"protocolVersion": era, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}
            answered = self._post("initialize", hello)
            self._headers["Mcp-Session-Id"] = answered.raise_for_status().headers["mcp-session-id"]

    def call(self, url: str | None = None, name: str = "listPets", **more: Any) -> dict[str, Any]:
        """Call a tool, at another process if `url` is given; `more` is added to the parameters."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": self._era,
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        params = {"name": name, "arguments": {}, **({"_meta": meta} if self._era == STATELESS else {}), **more}
        answer: dict[str, Any] = self._post("tools/call", params, url).json()
        return answer

    @contextmanager
    def listening(self) -> Iterator[Iterator[dict[str, Any]]]:
        """Open the stream of a session; yield its messages."""
        headers = self._headers | {"Accept": "text/event-stream"}
        with httpx.stream("GET", self._url, headers=headers, timeout=60) as stream:
            stream.raise_for_status()
            lines = stream.iter_lines()
            yield (json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data: {"))

    def page(self, url: str | None = None) -> str:
        """Call a tool that needs a sign-in; return the address of its page."""
        return page_of(self.call(url))

    def retry(self, asked: Mapping[str, Any], action: str = "accept", url: str | None = None) -> dict[str, Any]:
        """Repeat a call with the answer to its question (2026-07-28)."""
        state = asked["result"]["requestState"]
        return self.call(url, inputResponses={"question": {"action": action}}, requestState=state)

    def _post(self, method: str, params: Any, url: str | None = None) -> httpx.Response:
        headers = self._headers | ({"Mcp-Method": method} if self._era == STATELESS else {})
        headers |= {"Mcp-Name": params["name"]} if method == "tools/call" and self._era == STATELESS else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        target = self._url if url is None else f"{url}/mcp"
        return httpx.post(target, json=message, headers=headers, timeout=60)


def page_of(answer: Mapping[str, Any]) -> str:
    """Return the address of the page that an answer asks the user to open."""
    if "error" in answer:
        (elicitation,) = answer["error"]["data"]["elicitations"]
    else:
        elicitation = answer["result"]["inputRequests"]["question"]["params"]
    return str(elicitation["url"])


def oauth_flow(issuer: str) -> dict[str, Any]:
    return {"authorizationCode": {"authorizationUrl": f"{issuer}/auth", "tokenUrl": f"{issuer}/token", "scopes": {}}}


def example(url: str, issuer: str) -> list[str]:
    """Return the options of the example in docs/oauth.md, with the addresses and the clients of the tests."""
    text = (ROOT / "docs" / "oauth.md").read_text().replace("\\\n", "")
    (line,) = (
        line for line in text.splitlines() if line.startswith("    openapi-mcp serve") and "--sign-in-url" in line
    )
    for documented, used in {
        "https://mcp.example.com": url,
        "https://id.example.com": issuer,
        "oauth.client-id=my-client": f"key.client-id={CLIENT_ID}",
        "mcp-server": CLIENT_ID,
        "openapi-mcp serve petstore.yaml --port 8000": "",
    }.items():
        assert documented in line
        line = line.replace(documented, used)
    return shlex.split(line)


@contextmanager
def serving(document: str, folder: Path, port: int, *options: str, **variables: str) -> Iterator[Path]:
    """Run `openapi-mcp serve` on a port; yield the file of what it prints, which has no traceback at the end."""
    printed = folder / f"printed-{port}"
    command = [sys.executable, "-m", "openapi_mcp", "serve", document, "--port", str(port), *options]
    with printed.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env={**os.environ, "OPENAPI_MCP_AUTH_TOKEN": "", **variables}
        )
    try:
        deadline = time.monotonic() + MAX_START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz")
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                break
        assert process.poll() is None, printed.read_text()
        yield printed
    finally:
        process.terminate()
        process.wait(30)
    assert "Traceback" not in printed.read_text(), printed.read_text()


@contextmanager
def world(node: Path, folder: Path, *options: str, door: bool = True, tokens: str = "jwt") -> Iterator[World]:
    """Run everything; `tokens` is the format of those at the door, if there is one."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    redirects = [f"{url}/oauth/callback", CLIENT_REDIRECT]
    with ExitStack() as stack:
        issuer = stack.enter_context(authorization_server(node, redirects=redirects, cookies="api"))
        gate = stack.enter_context(
            authorization_server(node, redirects=redirects, cookies="door", resource=f"{url}/mcp", format=tokens)
        )
        api = Backend([{}], AnyToken())
        document = write_document(folder, stack.enter_context(running(api.app)), oauth_flow(issuer))
        given = example(url, gate) if door else ["--sign-in-url", url, "--oauth", f"key.client-id={CLIENT_ID}"]
        secrets = {"API_PETS_KEY_CLIENT_SECRET": CLIENT_SECRET, "OPENAPI_MCP_AUTH_CLIENT_SECRET": CLIENT_SECRET}
        stack.enter_context(serving(document, folder, port, *given, *options, **secrets))
        yield World(api, issuer, gate, url)
