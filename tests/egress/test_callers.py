"""Documents, token requests, keys and calls ask one policy; real servers on addresses of the loopback network."""

import asyncio
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.authorization.discovery import AuthorizationServerError, fetch
from openapi_mcp.authorization.keys import SigningKeys
from openapi_mcp.bridge import Bridge
from openapi_mcp.compilation import CompileOptions, OAuthScheme
from openapi_mcp.config import Config
from openapi_mcp.document.fetcher import Fetcher
from openapi_mcp.egress.policy import EgressPolicy, EgressRules
from openapi_mcp.errors import DocumentError, ReferenceRefused
from openapi_mcp.oauth.clients import OAuthClient
from openapi_mcp.oauth.endpoints import AuthorizationServer, OAuthFailure
from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from openapi_mcp.runtime.upstream.transport import Transport
from openapi_mcp.tools import compiler
from tests.egress.listening import answering
from tests.runtime.echo import Echo, answer, echoing

pytestmark = pytest.mark.slow

ONCE = Retries(attempts=1)


def document(api: str, **operation: Any) -> bytes:
    root = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": api}],
        "paths": {"/pets": {"get": {"operationId": "listPets", "responses": {"200": {"description": "ok"}}}}},
    }
    return json.dumps(root | operation).encode()


def resolving(monkeypatch: pytest.MonkeyPatch, answers: Callable[[str], list[str]]) -> list[str]:
    """Let names of `.test` be resolved by a function; return the names that were asked for."""
    asked: list[str] = []
    usual = socket.getaddrinfo

    def resolve(host: Any, port: Any, *arguments: Any, **options: Any) -> list[Any]:
        if not str(host).endswith(".test"):
            return usual(host, port, *arguments, **options)
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answers(host)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def call(bridge: Bridge) -> str:
    async def run() -> str:
        server = bridge.server()
        try:
            result = await server.call("listPets", {})
        finally:
            await server.aclose()
        return ("error: " if result.is_error else "") + "\n".join(block["text"] for block in result.content)

    return asyncio.run(run())


def opened(folder: Path, content: bytes, *, is_private: bool, **options: Any) -> Bridge:
    """A bridge of a document that came from a private or a public address."""
    path = folder / "api.json"
    path.write_bytes(content)
    bridge = Bridge.open(Config.from_options(str(path), {"no_cache": True, "retries": 0, **options}))
    assert bridge.document_info.is_private
    return replace(bridge, document_info=replace(bridge.document_info, is_private=is_private))


def test_public_document_does_not_reach_this_machine(tmp_path: Path) -> None:
    with echoing() as api:
        api.respond = lambda _: answer(b'"pets"', "Content-Type: application/json")
        text = call(opened(tmp_path, document(api.url), is_private=False))
        assert "127.0.0.1 is not contacted: it is at a private address" in text
        assert "--egress-allow 127.0.0.1" in text
        assert api.requests == []
        for options in (
            {"egress_allow": ["127.0.0.1"]},
            {"egress_allow": ["127.0.0.0/8"]},
            {"egress_only": [api.url.removeprefix("http://")]},
            {"base_url": api.url},
            {"base_url": [f"{api.url}={api.url}"]},
        ):
            assert "pets" in call(opened(tmp_path, document(api.url), is_private=False, **options))
        assert "pets" in call(opened(tmp_path, document(api.url), is_private=True))


def test_server_variable_of_the_user_names_a_host(tmp_path: Path) -> None:
    with echoing() as api:
        host = api.url.removeprefix("http://")
        servers = [{"url": "http://{host}", "variables": {"host": {"default": "api.example"}}}]
        content = document("", servers=servers)
        text = call(opened(tmp_path, content, is_private=False, server_var=[f"host={host}"]))
        assert not text.startswith("error")


def test_local_document_does_not_name_a_metadata_service(tmp_path: Path) -> None:
    text = call(opened(tmp_path, document("http://169.254.169.254/latest"), is_private=True))
    assert "is at the address of a metadata service" in text


def test_document_from_this_machine_is_private_and_from_elsewhere_is_not() -> None:
    with echoing() as server:
        server.respond = lambda _: answer(document("/v1"))
        loaded = compiler.load(f"{server.url}/openapi.json", CompileOptions())
        assert loaded.is_private
        assert compiler.document_info(loaded, CompileOptions()).is_private
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=document("/v1")))
    for url, is_private in (
        ("https://example.com/a", False),
        ("http://10.0.0.5/a", True),
        ("http://localhost/a", True),
    ):
        assert Fetcher(url, transport=transport).get(url, 10_000).is_private is is_private


@pytest.mark.parametrize(
    ("part", "is_private"),
    [
        ({"type": "object", "properties": {"name": {}}}, True),
        ({"get": {"servers": [{"url": "http://10.0.0.1"}]}}, False),
    ],
)
def test_public_file_that_names_hosts_makes_a_local_document_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: dict[str, Any], is_private: bool
) -> None:
    usual = httpx.Client

    def client(**_: Any) -> httpx.Client:
        return usual(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=part)))

    monkeypatch.setattr(httpx, "Client", client)
    resolving(monkeypatch, lambda _: ["93.184.216.34"])
    path = tmp_path / "api.json"
    path.write_bytes(document("http://10.0.0.1", paths={"/a": {"$ref": "https://parts.test/part.json"}}))
    loaded = compiler.load(str(path), CompileOptions(allow_remote_refs=True))
    assert "https://parts.test/part.json" in loaded.digests
    assert loaded.is_private is is_private


def test_reference_to_a_private_host_needs_egress_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, lambda _: ["127.0.0.2"])
    with answering("127.0.0.2", b'{"type": "string"}') as (port, seen):
        url = f"http://schemas.test:{port}/a.json"
        with pytest.raises(ReferenceRefused, match="is at a private address") as refused:
            Fetcher().get(url, 1000)
        assert refused.value.hint == "to allow it: `--egress-allow schemas.test`"
        assert seen == []
        policy = EgressPolicy(EgressRules.parse_options(["127.0.0.2"], []))
        assert Fetcher(egress=policy).get(url, 1000).data == b'{"type": "string"}'


def test_document_is_fetched_from_hosts_of_egress_only() -> None:
    with echoing() as server:
        server.respond = lambda _: answer(document("/v1"))
        host = server.url.removeprefix("http://")
        for only, is_fetched in (([host], True), (["127.0.0.0/8"], True), (["example.com"], False)):
            config = Config.from_options(server.url, {"no_cache": True, "egress_only": only})
            if is_fetched:
                assert len(Bridge.open(config).tools) == 1
            else:
                with pytest.raises(DocumentError, match="is not among the hosts of `--egress-only`"):
                    Bridge.open(config)


def test_overlay_is_fetched_from_hosts_of_egress_only(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_bytes(document("http://api.test"))
    with echoing() as server:
        options = {"no_cache": True, "overlay": [server.url], "egress_only": ["example.com"]}
        with pytest.raises(DocumentError, match="is not among the hosts of `--egress-only`"):
            Bridge.open(Config.from_options(str(path), options))
        assert server.requests == []


def test_redirect_of_a_document_to_a_metadata_service_is_refused() -> None:
    with echoing() as server:
        server.respond = lambda _: answer(b"", "Location: http://169.254.169.254/latest", status="302 Found")
        with pytest.raises(ReferenceRefused, match="is at a private address"):
            Fetcher(server.url).get(server.url, 1000)


def test_redirect_of_the_api_to_a_metadata_service_is_refused() -> None:
    async def run(api: Echo) -> str:
        hosts = ["metadata.test", api.url.removeprefix("http://")]
        policy = EgressPolicy().naming(api.url).naming_hosts(hosts)
        upstream = Upstream(retries=ONCE, follow_redirects_to=hosts, egress=policy)
        try:
            with pytest.raises(UpstreamError) as refused:
                await upstream.send(httpx.Request("GET", api.url))
        finally:
            await upstream.aclose()
        return str(refused.value)

    with echoing() as api, pytest.MonkeyPatch.context() as patch:
        resolving(patch, lambda _: ["169.254.169.254"])
        api.respond = lambda _: answer(b"", "Location: http://metadata.test/latest", status="302 Found")
        assert "metadata.test is not contacted: it is at the address of a metadata service" in asyncio.run(run(api))


def test_connection_goes_to_the_address_that_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is resolved to an allowed address first, and to another one later."""
    waiting = ["127.0.0.2"]
    asked = resolving(monkeypatch, lambda _: [waiting.pop()] if waiting else ["127.0.0.3"])

    async def run(port: int) -> list[str]:
        policy = EgressPolicy(EgressRules.parse_options(["127.0.0.2"], []))
        upstream, answers = Upstream(retries=ONCE, egress=policy), []
        for _ in range(2):
            try:
                answers.append((await upstream.send(httpx.Request("GET", f"http://api.test:{port}/"))).text)
            except UpstreamError as error:
                answers.append(str(error))
        await upstream.aclose()
        return answers

    with answering("127.0.0.2", b"allowed") as (port, _), answering("127.0.0.3", b"private", port=port) as (_, seen):
        first, second = asyncio.run(run(port))
    assert first == "allowed"
    assert "api.test (127.0.0.3)" in second
    assert seen == []
    assert asked == ["api.test", "api.test"]  # once for each connection


def test_reference_goes_to_the_address_that_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = ["127.0.0.2"]
    asked = resolving(monkeypatch, lambda _: [waiting.pop()] if waiting else ["127.0.0.3"])
    policy = EgressPolicy(EgressRules.parse_options(["127.0.0.2"], []))
    with answering("127.0.0.2", b"{}") as (port, _), answering("127.0.0.3", b"private", port=port) as (_, seen):
        assert Fetcher(egress=policy).get(f"http://schemas.test:{port}/", 1000).data == b"{}"
    assert (asked, seen) == (["schemas.test"], [])


def test_refused_target_is_not_tried_again() -> None:
    async def wait(_: float) -> None:
        raise AssertionError("a refusal is final")

    async def run() -> None:
        upstream = Upstream(retries=Retries(attempts=3, sleep=wait), egress=EgressPolicy())
        with pytest.raises(UpstreamError, match="is not contacted"):
            await upstream.send(httpx.Request("GET", "http://127.0.0.1:9/"))
        await upstream.aclose()

    asyncio.run(run())


def test_proxy_is_not_asked_for_a_private_target() -> None:
    async def run(proxy: str) -> list[str]:
        transport = Transport(environment={"http": proxy}, egress=EgressPolicy())
        upstream, answers = Upstream(transport=transport, retries=ONCE), []
        for url in ("http://api.test/", "http://169.254.169.254/", "http://localhost:9/"):
            try:
                answers.append((await upstream.send(httpx.Request("GET", url))).text)
            except UpstreamError as error:
                answers.append(str(error))
        await upstream.aclose()
        return answers

    with echoing() as proxy:
        proxy.respond = lambda _: answer(b"through the proxy")
        through, *refused = asyncio.run(run(proxy.url))
        assert through == "through the proxy"
        assert all("is not contacted" in text for text in refused)
        assert [request.target for request in proxy.requests] == ["http://api.test/"]


def token_request(policy: EgressPolicy, url: str) -> None:
    scheme = OAuthScheme(name="key", token_url=url)
    server = AuthorizationServer(scheme, OAuthClient(client_id="me", client_secret="hush"), egress=policy)
    asyncio.run(server.token("client_credentials", {}))


def test_public_document_does_not_name_a_private_token_endpoint() -> None:
    with echoing() as server:
        server.respond = lambda _: answer(b'{"access_token": "x"}', "Content-Type: application/json")
        with pytest.raises(OAuthFailure, match="is at a private address"):
            token_request(EgressPolicy(), f"{server.url}/token")
        assert server.requests == []
        for policy in (EgressPolicy(trusts_document=True), EgressPolicy().naming(server.url)):
            token_request(policy, f"{server.url}/token")


def test_private_token_endpoint_of_a_document_is_refused_where_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_PETS_KEY_CLIENT_ID", "me")
    monkeypatch.setenv("API_PETS_KEY_CLIENT_SECRET", "hush-hush-hush")
    monkeypatch.setenv("OPENAPI_MCP_TOKENS", str(tmp_path / "tokens"))
    with echoing() as server:
        server.respond = lambda _: answer(b'{"access_token": "x"}', "Content-Type: application/json")
        flows = {"clientCredentials": {"tokenUrl": f"{server.url}/token", "scopes": {}}}
        content = document(
            "http://127.0.0.1:9",
            security=[{"key": []}],
            components={"securitySchemes": {"key": {"type": "oauth2", "flows": flows}}},
        )
        text = call(opened(tmp_path, content, is_private=False))
        assert "No request was sent to the authorization server. 127.0.0.1 is not contacted" in text
        assert server.requests == []
        named = opened(tmp_path, content, is_private=False, oauth=[f"key.token-url={server.url}/token"])
        assert "127.0.0.1 is not contacted" in call(named)  # the API itself, at another port
        assert len(server.requests) == 1


def test_public_issuer_does_not_name_private_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An issuer at a private address may name them, one at a public address may not."""
    resolving(monkeypatch, lambda host: ["127.0.0.1"] if host == "inside.test" else ["93.184.216.34"])

    async def run(url: str) -> list[str]:
        policies = [await EgressPolicy().inside(f"https://{name}.test", url) for name in ("inside", "outside")]
        answers = []
        for policy in policies:
            try:
                answers.append(str(await fetch(url, lambda: True, egress=policy)))
            except AuthorizationServerError as error:
                answers.append(str(error))
        return answers

    with echoing() as server:
        server.respond = lambda _: answer(b"{}")
        found, refused = asyncio.run(run(f"{server.url}/keys"))
        assert found == "{}"
        assert "is at a private address" in refused
        assert "--egress-allow 127.0.0.1" in refused
        assert len(server.requests) == 1


def test_keys_of_an_issuer_on_this_machine_are_fetched() -> None:
    with echoing() as server:
        metadata = {"issuer": server.url, "jwks_uri": f"{server.url}/keys"}
        key = {"kty": "EC", "crv": "P-256", "kid": "1", "x": "eA", "y": "eQ"}
        server.respond = lambda request: answer(
            json.dumps(metadata if "well-known" in request.path else {"keys": [key]}).encode()
        )
        keys = asyncio.run(SigningKeys(server.url, lambda: True).current())
        assert len(keys.keys) == 1
        only = EgressPolicy(EgressRules.parse_options([], ["example.com"]))
        with pytest.raises(AuthorizationServerError, match="is not among the hosts of `--egress-only`"):
            asyncio.run(SigningKeys(server.url, lambda: True, egress=only).current())
