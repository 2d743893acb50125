"""Users of a server over HTTP who sign in at the API's authorization server during calls, each for themselves."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, UrlElicitationRequiredError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from tests.oauth.apis import write_document
from tests.oauth.user_sign_ins import HANDSHAKE, STATELESS, World, oauth_flow, page_of, world
from tests.oidc import Person

pytestmark = pytest.mark.process

BOTH = pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])


@pytest.fixture(scope="module")
def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    try:
        node: Path = request.getfixturevalue("node")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the packages of npm cannot be installed: {error}")
    with world(node, tmp_path_factory.mktemp("user-sign-ins")) as running:
        yield running


def signed_in(page: httpx.Response) -> bool:
    return page.status_code == 200 and "Signed in" in page.text


def test_call_is_answered_with_a_page_in_2025_11_25_and_made_after_the_sign_in(it: World) -> None:
    client, before = it.client("ann", HANDSHAKE), len(it.api.calls)
    answer = client.call()
    error = answer["error"]
    assert error["code"] == -32042
    (elicitation,) = error["data"]["elicitations"]
    assert elicitation.keys() == {"mode", "message", "url", "elicitationId"}
    assert elicitation["mode"] == "url"
    assert elicitation["url"].startswith(f"{it.url}/oauth/start?")
    assert client.page() == elicitation["url"], "one sign-in for all calls that wait for it"
    assert len(it.api.calls) == before
    assert signed_in(Person("ann").open(elicitation["url"]))
    assert "error" not in client.call()["result"]
    assert it.subjects[before:] == ["ann"]


def test_client_that_listens_is_notified_when_the_user_has_signed_in(it: World) -> None:
    client = it.client("olga", HANDSHAKE)
    (elicitation,) = client.call()["error"]["data"]["elicitations"]
    with client.listening() as messages:
        assert signed_in(Person("olga").open(elicitation["url"]))
        told = next(messages)
    assert told["method"] == "notifications/elicitation/complete"
    assert told["params"] == {"elicitationId": elicitation["elicitationId"]}


def test_call_is_answered_with_a_page_in_2026_07_28_and_made_when_it_is_repeated(it: World) -> None:
    client, before = it.client("ben", STATELESS), len(it.api.calls)
    asked = client.call()
    assert asked["result"]["resultType"] == "input_required"
    declined = client.retry(asked, "decline")["result"]
    assert declined["isError"]
    assert "did not open its page" in declined["content"][0]["text"]
    assert signed_in(Person("ben").open(page_of(asked)))
    assert not client.retry(asked)["result"].get("isError")
    assert not client.call()["result"].get("isError"), "later calls ask nothing"
    assert it.subjects[before:] == ["ben", "ben"]


@BOTH
def test_client_without_elicitation_by_url_gets_a_sentence_with_the_page(it: World, era: str) -> None:
    name = f"cleo{era}"
    client = it.client(name, era, {"elicitation": {"form": {}}})
    refused = client.call()["result"]
    assert refused["isError"]
    text = refused["content"][0]["text"]
    page = text.rpartition(" ")[2]
    assert "make the call again" in text
    assert signed_in(Person(name).open(page))
    assert not client.call()["result"].get("isError")
    assert it.subjects[-1] == name


@BOTH
def test_no_user_gets_the_token_of_another(it: World, era: str) -> None:
    mine, other = f"dora{era}", f"emil{era}"
    assert signed_in(Person(mine).open(it.client(mine, era).page()))
    before = len(it.api.calls)
    stranger = it.client(other, era)
    page = stranger.page()
    assert len(it.api.calls) == before, "no call is made with the token of somebody else"
    assert signed_in(Person(other).open(page))
    assert not it.client(mine, era).call()["result"].get("isError")
    assert not stranger.call()["result"].get("isError")
    assert it.subjects[before:] == [mine, other]


@BOTH
def test_page_that_somebody_else_opens_does_nothing(it: World, era: str) -> None:
    """The specification's case: Alice sends her link to Bob, who has an account at both servers."""
    alice, bob = f"alice{era}", Person(f"bob{era}")
    attacker, before = it.client(alice, era), len(it.api.calls)
    page = attacker.page()
    refused = bob.open(page)
    assert (refused.status_code, "Somebody else asked for this sign-in" in refused.text) == (403, True)
    assert not any(address.startswith(it.issuer) for address in bob.addresses), "Bob is not sent to the API"
    assert attacker.page() == page, "Alice has got nothing"
    assert len(it.api.calls) == before
    assert signed_in(Person(alice).open(page)), "and can still sign in herself"


def test_address_that_the_page_leads_to_does_nothing_in_another_browser(it: World) -> None:
    """Alice goes on alone, as far as the API's authorization server, and sends Bob there."""
    alice, bob = Person("alice"), Person("bob")
    attacker = it.client("alice", HANDSHAKE)
    alice.open(attacker.page(), until=f"{it.issuer}/auth")
    refused = bob.open(alice.addresses[-1])
    assert (refused.status_code, "begun in another browser" in refused.text) == (403, True)
    assert it.client("alice", HANDSHAKE).call()["error"]["code"] == -32042


def test_answer_of_one_browser_does_nothing_in_another(it: World) -> None:
    """Alice's answer of her own authorization server, opened by Bob, does not sign Bob in as Alice."""
    alice, bob = Person("fay"), Person("gus")
    alice.open(it.client("fay", HANDSHAKE).page(), until=f"{it.url}/oauth/callback")
    answer = alice.addresses[-1]
    assert "code=" in answer
    assert bob.get(answer).status_code == 403
    assert bob.get(answer.replace("state=", "state=x")).status_code == 400
    assert signed_in(alice.open(answer)), "the browser that began it goes on"
    assert alice.get(answer).status_code == 400, "and an answer counts once"


def test_page_shows_nothing_and_cannot_be_framed_or_kept(it: World) -> None:
    page = it.client("hugo", HANDSHAKE).page()
    begun = httpx.get(page)
    assert begun.status_code == 303
    assert begun.headers["location"].startswith(f"{it.door}/auth?")
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["resource"] == [f"{it.url}/mcp"]
    (cookie,) = SimpleCookie(begun.headers["set-cookie"]).values()
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "lax", "/")
    gone = httpx.get(page + "x")
    assert gone.status_code == 404
    for answered in (begun, gone):
        assert answered.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answered.headers["content-security-policy"]
        assert answered.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in httpx.head(page).headers, "a preview is no visit"
    assert "hugo" not in page


def test_refusal_of_the_authorization_server_is_shown_and_the_link_stays_valid(it: World) -> None:
    ida = Person("ida")
    page = it.client("ida", HANDSHAKE).page()
    ida.open(page, until=f"{it.issuer}/auth")
    state = parse_qs(urlsplit(ida.addresses[-1]).query)["state"][0]
    parameters = {"error": "access_denied", "error_description": "<b>no</b>", "state": state, "iss": it.issuer}
    refused = ida.get(f"{it.url}/oauth/callback", **parameters)
    assert refused.status_code == 502
    assert "access_denied: &lt;b&gt;no&lt;/b&gt;" in refused.text
    assert signed_in(ida.open(page))


def test_either_of_two_workers_takes_the_next_request_of_a_sign_in(node: Path, tmp_path: Path) -> None:
    """The door asks about tokens here, which say nothing by themselves."""
    with world(node, tmp_path, "--workers", "2", "--auth-introspection", tokens="opaque") as it:
        for era in (HANDSHAKE, STATELESS):
            client = it.client(f"jo{era}", era)
            assert signed_in(Person(f"jo{era}").open(client.page()))
            assert not any(client.call()["result"].get("isError") for _ in range(8))
            assert set(it.subjects[-8:]) == {f"jo{era}"}


def test_without_identities_each_session_on_this_machine_signs_in_for_itself(node: Path, tmp_path: Path) -> None:
    with world(node, tmp_path, door=False) as it:
        started = (tmp_path / f"printed-{urlsplit(it.url).port}").read_text()
        assert f"the sign-in of each user, which returns to {it.url}/oauth/callback" in started
        first, second = it.client(None, HANDSHAKE), it.client(None, HANDSHAKE)
        assert signed_in(Person("kim").open(first.page()))
        assert signed_in(Person("lea").open(second.page()))
        for client in (first, second, first):
            assert not client.call()["result"].get("isError")
        assert it.subjects == ["kim", "lea", "kim"]
        whoever = it.client(None, STATELESS)
        assert signed_in(Person("max").open(whoever.page()))
        assert not it.client(None, STATELESS).call()["result"].get("isError"), "calls without a session have one user"
        assert it.subjects[-1] == "max"


def test_redis_that_cannot_be_used_is_reported_at_the_start(tmp_path: Path) -> None:
    spec = write_document(tmp_path, "http://127.0.0.1:9", oauth_flow("https://id.test"))
    given = ["--sign-in-url", "http://127.0.0.1:8000", "--oauth", "key.client-id=me", "--session-secret", "s" * 32]
    serve = [sys.executable, "-m", "openapi_mcp", "serve", spec, "--port", "0", *given, "--redis", "nonsense"]
    refused = subprocess.run(serve, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "the Redis server cannot be used" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sign-in-url", "https://mcp.example.com"], "callers have no identities here"),
        (
            ["--sign-in-url", "http://127.0.0.1:8000", "--host", "0.0.0.0", "--auth-token", "t0ken"],
            "callers have no identities",
        ),
        (["--sign-in-url", "http://mcp.example.com"], "must be https"),
        (
            [
                "--sign-in-url",
                "https://a.test",
                "--auth-issuer",
                "https://id.test",
                "--auth-audience",
                "https://a.test",
            ],
            "--auth-client-id",
        ),
        (["--sign-in-url", "http://127.0.0.1:8000"], "no security scheme of the document lets users sign in"),
        (["--sign-in-url", "http://127.0.0.1:8000", "--transport", "stdio"], "--sign-in-port over stdio"),
    ],
)
def test_server_that_cannot_tell_users_apart_does_not_start(tmp_path: Path, options: list[str], message: str) -> None:
    document = tmp_path / "pets.json"
    document.write_text(
        '{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}],'
        ' "paths": {"/pets": {"get": {"operationId": "listPets", "responses": {}}}}}'
    )
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--port", "0", *options]
    refused: Any = subprocess.run(serve, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert message in refused.stderr


@BOTH
def test_official_client_gets_an_answer_after_the_sign_in(it: World, era: str) -> None:
    name = f"nina{era}"

    async def signs_in(_context: Any, params: Any) -> ElicitResult:
        assert params.mode == "url"
        assert signed_in(await asyncio.to_thread(Person(name).open, params.url))
        return ElicitResult(action="accept")

    async def call() -> Any:
        asked: Any = signs_in
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {it.token_of(name)}"}, timeout=60)
        transport = streamable_http_client(f"{it.url}/mcp", http_client=http)
        mode = era if era == STATELESS else "legacy"
        async with http, Client(transport, mode=mode, elicitation_callback=asked, read_timeout_seconds=60) as client:
            try:
                return await client.call_tool("listPets", {})
            except MCPError as error:  # 2025-11-25: the client opens the page, and makes the call again
                (demanded,) = UrlElicitationRequiredError.from_error(error.error).elicitations
                await signs_in(None, demanded)
                return await client.call_tool("listPets", {})

    assert not asyncio.run(call()).is_error
    assert it.subjects[-1] == name
