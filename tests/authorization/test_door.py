"""The door over HTTP: metadata, challenges, statuses, sessions of subjects, and the names that limits count by."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from openapi_mcp.authorization.resource import MAX_SCOPE_CHARACTERS, ProtectedResource, canonical
from openapi_mcp.authorization.settings import DoorSettings
from openapi_mcp.authorization.tokens import LEEWAY
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.http.callers import Callers, TrustedProxies
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.server.grants import GRANT, Grant
from tests.authorization.doors import DOCUMENT, HELLO, World, parameters, within
from tests.authorization.issuing import AUDIENCE, Issuer, issuing

METADATA = "https://mcp.example.test/.well-known/oauth-protected-resource/mcp"
OFFERED = "admin pets:read pets:write"
SESSION = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
BOTH = "application/json, text/event-stream"
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as one:
        yield one


def test_metadata_is_served_at_both_well_known_places_to_anybody(tmp_path: Path, issuer: Issuer) -> None:
    async def read(world: World) -> list[httpx.Response]:
        well_known = "/.well-known/oauth-protected-resource"
        return [await world.client.get(path) for path in (well_known, f"{well_known}/mcp", f"{well_known}/other")]

    *found, missing = within(tmp_path, issuer, read)
    for response in found:
        assert response.json() == {
            "resource": AUDIENCE,
            "authorization_servers": [issuer.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": OFFERED.split(),
        }
        assert response.headers["access-control-allow-origin"] == "*"
        assert response.headers["content-type"] == "application/json"
    assert missing.status_code == 404


def test_metadata_behind_a_proxy_is_at_the_public_path_too(issuer: Issuer) -> None:
    resource = ProtectedResource("https://example.com/public/mcp", issuer.issuer, "/mcp")
    base = "/.well-known/oauth-protected-resource"
    assert resource.metadata_paths == (f"{base}/public/mcp", f"{base}/mcp", base)
    assert resource.metadata_url == f"https://example.com{base}/public/mcp"
    assert ProtectedResource("https://example.com", issuer.issuer, "/").metadata_paths == (base,)


def test_request_without_a_token_is_challenged_with_metadata_and_scopes(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[httpx.Response]:
        return [
            await world.ask(None, "tools/list"),
            await world.client.get("/mcp"),
            await world.client.delete("/mcp", headers={"authorization": "Basic eDp5"}),
        ]

    for response in within(tmp_path, issuer, ask):
        assert response.status_code == 401
        assert parameters(response) == {"resource_metadata": METADATA, "scope": OFFERED}


def test_invalid_token_is_challenged_with_its_reason_but_never_repeated(tmp_path: Path, issuer: Issuer) -> None:
    token = issuer.token(aud="https://other.test")

    async def ask(world: World) -> httpx.Response:
        return await world.ask(token, "tools/list")

    response = within(tmp_path, issuer, ask)
    assert response.status_code == 401
    assert parameters(response) == {
        "error": "invalid_token",
        "error_description": "the token was issued for another server",
        "resource_metadata": METADATA,
        "scope": OFFERED,
    }
    assert token not in response.text + str(response.headers)


def test_malformed_authorization_is_400(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[httpx.Response]:
        given = ("Bearer", "Bearer a b", f"Bearer {issuer.token()}, Bearer {issuer.token()}")
        return [await world.ask(None, "tools/list", authorization=each) for each in given]

    for response in within(tmp_path, issuer, ask):
        assert (response.status_code, parameters(response)["error"]) == (400, "invalid_request")
        assert parameters(response)["resource_metadata"] == METADATA


@pytest.mark.parametrize("header", [True, False])
def test_token_in_the_query_is_refused(tmp_path: Path, issuer: Issuer, header: bool) -> None:
    async def ask(world: World) -> list[httpx.Response]:
        token = issuer.token()
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        paths = (f"/mcp?access_token={token}", f"/mcp?x=1&access%5Ftoken={token}", "/mcp?access_token=")
        return [await world.post(token if header else None, message, path) for path in paths]

    for response in within(tmp_path, issuer, ask):
        assert (response.status_code, parameters(response)["error"]) == (400, "invalid_request")


def test_other_queries_do_not_matter(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> int:
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        return (await world.post(issuer.token(), message, "/mcp?tenant=access_token")).status_code

    assert within(tmp_path, issuer, ask) == 200


def test_every_request_needs_the_token_also_in_a_session(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[int]:
        token = issuer.token(scope="pets:read")
        opened = await world.post(token, SESSION)
        session = opened.headers["mcp-session-id"]
        with_token = await world.post(token, LIST, mcp_session_id=session)
        without = await world.post(None, LIST, mcp_session_id=session)
        return [opened.status_code, with_token.status_code, without.status_code]

    assert within(tmp_path, issuer, ask) == [200, 200, 401]


def test_session_belongs_to_its_subject(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[int]:
        session = (await world.post(issuer.token(sub="ann"), SESSION)).headers["mcp-session-id"]
        later = issuer.token(sub="ann", scope="pets:read", jti="another")
        posted = [
            await world.post(token, LIST, mcp_session_id=session)
            for token in (later, issuer.token(sub="bob"), issuer.token(sub=None, client_id="ann2"))
        ]
        headers = {"authorization": f"Bearer {issuer.token(sub='bob')}", "mcp-session-id": session}
        ended = await world.client.delete("/mcp", headers=headers)
        again = await world.post(later, LIST, mcp_session_id=session)
        return [each.status_code for each in (*posted, ended, again)]

    assert within(tmp_path, issuer, ask) == [200, 404, 404, 404, 200]


def test_streams_end_with_the_time_of_their_token(tmp_path: Path, issuer: Issuer) -> None:
    async def listen(world: World) -> list[int]:
        """Open both kinds of streams with a token whose time is nearly over; the transport waits for their ends."""
        end = int(time.time()) - int(LEEWAY) + 2
        token = issuer.token(exp=end)
        session = (await world.post(token, SESSION)).headers["mcp-session-id"]
        headers = {"authorization": f"Bearer {token}", "mcp-session-id": session, "accept": "text/event-stream"}
        streams = (
            world.client.get("/mcp", headers=headers),
            world.ask(token, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, accept=BOTH),
        )
        ended = await asyncio.wait_for(asyncio.gather(*streams), 60)
        assert all(each.headers["content-type"].startswith("text/event-stream") for each in ended)
        return [each.status_code for each in ended]

    assert within(tmp_path, issuer, listen, list_changed=True) == [200, 200]


def test_limits_count_a_subject_as_one_client_wherever_it_is() -> None:
    callers = Callers(TrustedProxies(), has_token=False)
    scopes: list[Any] = [{"client": (address, 1)} for address in ("192.0.2.1", "192.0.2.2")]

    def seen(subject: str, scope: Any, session: str) -> tuple[str, str]:
        GRANT.set(Grant(subject))
        caller = callers.caller(scope, {"mcp-session-id": session})
        return caller.client.partition(" ")[2], callers.counted_as(caller, Session(id=session))

    try:
        assert seen("ann", scopes[0], "1") == seen("ann", scopes[1], "2") == ("ann", "subject ann")
        assert seen("bob", scopes[0], "1") == ("bob", "subject bob")
    finally:
        GRANT.set(None)


def test_list_is_private_and_not_shared_between_tokens(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[Any]:
        answers = [await world.ask(issuer.token(scope=scope), "tools/list") for scope in ("pets:read", "", "pets:read")]
        discovered = await world.ask(issuer.token(), "server/discover")
        return [each.json()["result"] for each in (*answers, discovered)]

    *lists, discovered = within(tmp_path, issuer, ask)
    assert [[tool["name"] for tool in each["tools"]] for each in lists] == [
        ["listPets", "getStatus"],
        ["getStatus"],
        ["listPets", "getStatus"],
    ]
    assert {each["cacheScope"] for each in (*lists, discovered)} == {"private"}


def test_refusal_names_all_scopes_at_once_with_the_metadata(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[httpx.Response]:
        return [
            await world.call(issuer.token(scope="openid"), "createPet"),
            await world.call(issuer.token(scope="pets:write"), "createPet"),
            await world.call(issuer.token(scope="pets:write"), "deletePets"),
            await world.call(issuer.token(scope="other"), "deletePets"),
        ]

    responses = within(tmp_path, issuer, ask)
    assert [response.status_code for response in responses] == [403] * 4
    expected = {"error": "insufficient_scope", "resource_metadata": METADATA}
    scopes = ["pets:read pets:write", "pets:read pets:write", "pets:purge pets:write", "admin"]
    for response, scope in zip(responses, scopes, strict=True):
        assert parameters(response).items() >= {**expected, "scope": scope}.items()
        assert response.json()["id"] == 1
        assert all(each in response.json()["error"]["message"] for each in scope.split())


def test_refusal_has_the_same_form_in_a_session_and_covers_a_whole_batch(tmp_path: Path, issuer: Issuer) -> None:
    def call(name: str, number: int) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": {}}}

    async def ask(world: World) -> list[httpx.Response]:
        token = issuer.token(scope="pets:read")
        hello = {**SESSION, "params": {**HELLO, "protocolVersion": "2025-03-26"}}
        session = (await world.post(token, hello)).headers["mcp-session-id"]
        batch = [call("listPets", 1), call("createPet", 2), call("deletePets", 3)]
        return [
            await world.post(token, call("createPet", 1), mcp_session_id=session),
            await world.post(token, batch, mcp_session_id=session),
        ]

    one, batch = within(tmp_path, issuer, ask)
    assert (one.status_code, parameters(one)["scope"]) == (403, "pets:read pets:write")
    assert (batch.status_code, set(parameters(batch)["scope"].split())) == (
        403,
        {"pets:read", "pets:write", "admin"},
    )


def test_refresh_tokens_and_texts_that_are_no_scopes_are_in_no_challenge(issuer: Issuer) -> None:
    resource = ProtectedResource(AUDIENCE, issuer.issuer)
    odd = ["read", "offline_access", 'quo"te', "two words", "line\r\nend", "ünicode", "read"]
    assert resource.challenge(odd) == f'resource_metadata="{METADATA}", scope="read"'
    assert resource.metadata(odd)["scopes_supported"] == ["read"]
    assert "scope" not in resource.challenge([])
    assert len(resource.challenge([f"scope-{number}" for number in range(10_000)])) < MAX_SCOPE_CHARACTERS + 200


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("HTTPS://MCP.Example.com/Mcp/", "https://mcp.example.com/Mcp"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com/", "https://example.com"),
        ("http://[::1]:8000/mcp", "http://[::1]:8000/mcp"),
        ("https://example.com:8443/mcp", "https://example.com:8443/mcp"),
        ("api://00000000-0000", "api://00000000-0000"),
        ("https://[broken", "https://[broken"),
    ],
)
def test_canonical_uri_has_lower_case_and_no_slash_at_its_end(uri: str, expected: str) -> None:
    assert canonical(uri) == expected


GOOD = {"auth_issuer": "https://id.test", "auth_audience": ["https://mcp.test/mcp"]}


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"auth_issuer": "https://id.test"}, "--auth-audience"),
        ({"auth_audience": ["https://mcp.test"]}, "--auth-audience"),
        ({"auth_introspection": True}, "--auth-introspection"),
        (GOOD | {"auth_issuer": "http://id.test"}, "--auth-issuer"),
        (GOOD | {"auth_issuer": "id.test"}, "--auth-issuer"),
        (GOOD | {"auth_issuer": "https://ann@id.test"}, "--auth-issuer"),
        (GOOD | {"auth_issuer": "https://id.test?x=1"}, "--auth-issuer"),
        (GOOD | {"auth_audience": ["https://mcp.test#part"]}, "--auth-audience"),
        (GOOD | {"auth_audience": ['https://mcp.test/"']}, "--auth-audience"),
        (GOOD | {"auth_audience": ["mcp.test"]}, "--auth-audience"),
        (GOOD | {"auth_token": "open-sesame"}, "--auth-token and --auth-issuer"),
        (GOOD | {"auth_introspection": True}, "--auth-introspection"),
        (GOOD | {"auth_introspection": True, "auth_client_id": "door"}, "--auth-introspection"),
        (GOOD | {"auth_client_id": "door", "no_ui": True}, "--auth-client-id"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], where: str) -> None:
    with pytest.raises(UsageError) as caught:
        DoorSettings.from_options(options, "/mcp")
    assert caught.value.where == where
    assert "open-sesame" not in str(caught.value)


def test_further_audiences_are_accepted_as_they_are(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[int]:
        return [await world.status(issuer.token(aud=aud)) for aud in ("api://pets", AUDIENCE, "api://other")]

    assert within(tmp_path, issuer, ask, audience=[AUDIENCE, "api://pets"]) == [200, 200, 401]


def test_without_scopes_in_the_document_every_valid_token_may_do_all(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> tuple[dict[str, str], set[str]]:
        return parameters(await world.ask(None, "tools/list")), await world.listed(issuer.token())

    plain = {name: value for name, value in DOCUMENT.items() if name != "security"}
    plain["paths"] = {"/pets": {"get": {"operationId": "listPets", "responses": {}}}}
    assert within(tmp_path, issuer, ask, document=plain) == ({"resource_metadata": METADATA}, {"listPets"})


def test_token_is_checked_before_the_body_is_read(tmp_path: Path, issuer: Issuer) -> None:
    async def body() -> AsyncIterator[bytes]:
        read.append(True)
        yield b"{}"

    read: list[bool] = []

    async def ask(world: World) -> list[int]:
        headers = [{"content-type": "text/plain"}, {"authorization": f"Bearer {issuer.token(iss='https://evil.test')}"}]
        return [(await world.client.post("/mcp", content=body(), headers=each)).status_code for each in headers]

    assert within(tmp_path, issuer, ask) == [401, 401]
    assert not read


def test_no_token_is_kept_or_logged(tmp_path: Path, issuer: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    good, bad = issuer.token(scope="pets:read"), issuer.token(exp=1)

    async def ask(world: World) -> str:
        assert [await world.status(good), await world.status(bad)] == [200, 401]
        issuer.answers["/keys"] = Response(status_code=500)
        assert (await world.ask(issuer.token(header={"kid": "new"}), "tools/list")).status_code == 503
        issuer.answers.clear()
        door = world.door
        return f"{door._known} {door._refused} {door._verifying} {vars(door)} {door._verifier!r}"

    kept = within(tmp_path, issuer, ask) + caplog.text
    assert "Tokens cannot be verified" in caplog.text
    for token in (good, bad):
        assert not any(part in kept for part in token.split("."))


def test_metadata_and_health_are_all_that_is_served_without_a_token(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[int]:
        paths = ("/health", "/mcp/", "/mcp", "/other", "/.well-known/oauth-authorization-server")
        return [(await world.client.get(path)).status_code for path in paths]

    assert within(tmp_path, issuer, ask) == [200, 401, 401, 404, 404]
