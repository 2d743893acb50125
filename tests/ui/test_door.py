"""The page behind an authorization server: who gets in, what they may see and call, and how that ends."""

import asyncio
import base64
import hashlib
import json
import re
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from openapi_mcp.authorization import tokens
from openapi_mcp.cli.serve import page
from openapi_mcp.cli.serve.http import _app
from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.settings import HttpSettings, Settings
from openapi_mcp.runtime.server.grants import Grant
from openapi_mcp.telemetry.records import CallRecord
from openapi_mcp.ui.call import named
from tests.authorization.doors import DOCUMENT
from tests.authorization.issuing import AUDIENCE, Issuer, issuing
from tests.chromium import chromium
from tests.oauth.apis import write_document
from tests.oauth.user_sign_ins import serving
from tests.oidc import CLIENT_ID, CLIENT_SECRET, authorization_server
from tests.servers import free_port, running

BASE = "https://mcp.example.test"
CALLBACK = f"{BASE}/ui/callback"
PAGES = ("/", "/ui/", "/ui/list", "/ui/calls", "/ui/calls/events", "/ui/problems", "/ui/connect", "/ui/tools/listPets")


class Provider(Issuer):
    """An authorization server with people; the claim `lives` are the seconds that it says a token lives."""

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, dict[str, Any]] = {}
        self.refreshing: dict[str, dict[str, Any]] = {}
        self.answered: list[dict[str, str]] = []
        self.revoked: list[str] = []

    def metadata(self) -> dict[str, Any]:
        endpoints = {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
        endpoints["revocation_endpoint"] = f"{self.url}/revoke"
        return {**super().metadata(), **endpoints, "authorization_response_iss_parameter_supported": True}

    def visit(self, address: str, **claims: Any) -> dict[str, str]:
        """Let a person sign in; return the parameters with which their browser goes back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code-{len(self.people)}"
        self.people[code] = {"asked": asked, "claims": claims}
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    async def respond(self, request: Request) -> Response:
        if request.url.path not in {"/token", "/revoke"} or request.url.path in self.answers:
            return await super().respond(request)
        form = {name: str(value) for name, value in (await request.form()).items()}
        if request.url.path == "/revoke":
            self.revoked.append(form["token"])
            return Response()
        self.answered.append(form)
        if form["grant_type"] == "refresh_token":
            claims = self.refreshing.pop(form["refresh_token"], None)
            if claims is None:
                return JSONResponse({"error": "invalid_grant"}, 400)
        else:
            person = self.people.pop(form["code"])
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
            assert person["asked"]["code_challenge"] == digest.decode().rstrip("=")
            assert person["asked"]["redirect_uri"] == form["redirect_uri"] == CALLBACK
            claims = {"scope": person["asked"].get("scope", ""), **person["claims"]}
        refresh = f"refresh-{len(self.answered)}"
        self.refreshing[refresh] = claims
        lives = int(claims.pop("lives", 600))
        token = self.token(**claims)
        return JSONResponse(
            {"access_token": token, "token_type": "Bearer", "expires_in": lives, "refresh_token": refresh}
        )


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with issuing(Provider()) as one:
        assert isinstance(one, Provider)
        yield one


class Browser:
    """A browser that keeps cookies and knows the token of the page."""

    def __init__(self, app: Any) -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE)
        self.csrf = ""

    async def get(self, path: str, **headers: str) -> httpx.Response:
        response = await self.client.get(path, headers=headers)
        if found := re.search(r"X-CSRF-Token&#34;|X-CSRF-Token\": \"(\w+)\"", response.text):
            self.csrf = found[1]
        return response

    async def post(self, path: str, inputs: Mapping[str, str] = {}) -> httpx.Response:
        own = {"origin": BASE, "x-csrf-token": self.csrf, "content-type": "application/x-www-form-urlencoded"}
        return await self.client.post(path, content=urlencode(inputs), headers=own)

    async def sign_in(self, provider: Provider, sub: str = "ann", **claims: Any) -> httpx.Response:
        """Sign in as a person; return the answer to the browser that comes back."""
        sent = await self.client.get("/ui/sign-in")
        return await self.client.get("/ui/callback", params=provider.visit(sent.headers["location"], sub=sub, **claims))


@contextmanager
def api() -> Iterator[tuple[str, list[str]]]:
    """An API; yields its address and the requests."""
    requests: list[str] = []

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        requests.append(f"{scope['method']} {scope['path']}")
        await JSONResponse({})(scope, receive, send)

    with running(respond) as url:
        yield url, requests


def within(
    folder: Path,
    provider: Provider,
    test: Callable[[Any], Awaitable[None]],
    url: str = "http://127.0.0.1:1",
    records: list[CallRecord] | None = None,
    **options: Any,
) -> None:
    """Run a test with the application of a server behind the door."""
    (folder / "pets.json").write_text(json.dumps(DOCUMENT))
    names = {"auth_issuer": provider.issuer, "auth_audience": (AUDIENCE,), "auth_client_id": "the-page", **options}

    async def run() -> None:
        http = HttpSettings.from_options(names)
        settings = Settings(str(folder / "pets.json"), {"no_cache": True, "base_url": [url]})
        calls = page.feed(http, local=True)
        assert calls is not None
        reloader = Reloader(settings, settings.open(), feed=calls)
        try:
            with calls.listen((list[CallRecord]() if records is None else records).append):
                await test(_app(reloader, http, None, calls, local=True))
        finally:
            await reloader.live.aclose()

    asyncio.run(run())


def test_nobody_gets_in_without_a_sign_in(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        for path in PAGES:
            refused = await Browser(app).get(path)
            assert refused.status_code == 401
            assert "listPets" not in refused.text
            assert f'href="{BASE}/ui/sign-in"' in refused.text
        assert (await Browser(app).post("/ui/tools/listPets/call")).status_code == 403
        assert (await Browser(app).post("/ui/sign-in", {"token": ""})).status_code == 403
        token = provider.token(scope="pets:read")
        assert (await Browser(app).get("/", authorization=f"Bearer {token}")).status_code == 401

    within(tmp_path, provider, test)


def test_person_signs_in_and_calls_with_their_own_rights(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        ann = Browser(app)
        done = await ann.sign_in(provider, scope="pets:read")
        assert (done.status_code, done.headers["referrer-policy"]) == (200, "no-referrer")
        shown = (await ann.get("/")).text
        assert re.findall(r'class="name">(\w+)<', shown) == ["listPets", "getStatus"], "others need further scopes"
        assert "2 tools" in (await ann.get("/ui/list")).text
        assert (await ann.get("/ui/tools/deletePets")).status_code == 404
        assert (await ann.post("/ui/tools/deletePets/call", {"confirmed": "yes"})).text.count("no tool of this name")
        assert "200 OK" in (await ann.post("/ui/tools/listPets/call")).text
        assert requests == ["GET /pets"]
        assert f"{AUDIENCE}" in (await ann.get("/ui/connect")).text, "clients get the public address"
        boss = Browser(app)
        await boss.sign_in(provider, "boss")  # who gets all scopes that are asked for
        shown = (await boss.get("/")).text
        assert re.findall(r'class="name">(\w+)<', shown) == ["listPets", "createPet", "deletePets", "getStatus"]

    with api() as (url, requests):
        within(tmp_path, provider, test, url)


def test_browser_is_sent_to_the_authorization_server_with_pkce_and_the_scopes_of_the_tools(
    tmp_path: Path, provider: Provider
) -> None:
    async def test(app: Any) -> None:
        sent = await Browser(app).client.get("/ui/sign-in")
        assert (sent.status_code, sent.headers["cache-control"]) == (303, "no-store")
        address = urlsplit(sent.headers["location"])
        assert sent.headers["location"].startswith(f"{provider.url}/authorize?")
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        assert asked["scope"] == "admin pets:read pets:write"
        assert (asked["resource"], asked["redirect_uri"]) == (AUDIENCE, CALLBACK)
        assert (asked["client_id"], asked["code_challenge_method"]) == ("the-page", "S256")
        assert "set-cookie" not in (await Browser(app).client.head("/ui/sign-in")).headers, "a preview is no visit"

    within(tmp_path, provider, test)


def test_cookies_are_for_this_host_and_its_page_alone(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        ann = Browser(app)
        sent = await ann.client.get("/ui/sign-in")
        back = await ann.client.get("/ui/callback", params=provider.visit(sent.headers["location"], sub="ann"))
        begun = SimpleCookie(sent.headers["set-cookie"])
        for name, morsel in SimpleCookie("\n".join(back.headers.get_list("set-cookie"))).items():
            assert name.startswith("__Host-openapi-mcp-page-")
            assert (morsel["secure"], morsel["httponly"], morsel["path"], morsel["domain"]) == (True, True, "/", "")
        kept = dict(each.split("=", 1) for each in (line.split(";")[0] for line in back.headers.get_list("set-cookie")))
        (sign_in,) = begun
        assert "SameSite=Lax" in sent.headers["set-cookie"], "the redirect of another site brings it"
        assert kept[sign_in] == "", "and it counts once"
        assert any("SameSite=Strict" in line for line in back.headers.get_list("set-cookie"))
        again = await ann.client.get("/ui/callback", params={"code": "x", "state": "x"})
        assert again.status_code == 403
        text = "".join([*back.headers.get_list("set-cookie"), back.text])
        assert "eyJ" not in text, "no browser sees a token"

    within(tmp_path, provider, test)


def test_answer_counts_only_in_the_browser_that_was_sent_away(tmp_path: Path, provider: Provider) -> None:
    """Mallory's answer does not sign Ann in as Mallory, nor does a guessed or empty state."""

    async def test(app: Any) -> None:
        mallory, ann = Browser(app), Browser(app)
        sent = await mallory.client.get("/ui/sign-in")
        answer = provider.visit(sent.headers["location"], sub="mallory")
        assert (await ann.client.get("/ui/callback", params=answer)).status_code == 403
        await ann.client.get("/ui/sign-in")
        for state in (answer["state"], "", "é", "0" * 64):
            refused = await ann.client.get("/ui/callback", params={**answer, "state": state})
            assert refused.status_code == 403
            assert "another browser" in refused.text
        assert (await ann.get("/")).status_code == 401
        assert (
            await mallory.client.get("/ui/callback", params={**answer, "iss": "https://evil.test"})
        ).status_code == 502
        assert (await mallory.client.get("/ui/callback", params=answer)).status_code == 200

    within(tmp_path, provider, test)


def test_refusal_of_the_authorization_server_is_shown_without_its_markup(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        ann = Browser(app)
        sent = await ann.client.get("/ui/sign-in")
        answer = provider.visit(sent.headers["location"])
        refused = await ann.client.get(
            "/ui/callback",
            params={"state": answer["state"], "iss": provider.issuer, "error": "access_denied<script>"},
        )
        assert refused.status_code == 502
        assert "access_denied&lt;script&gt;" in refused.text
        assert (await ann.get("/")).status_code == 401

    within(tmp_path, provider, test)


@pytest.mark.parametrize("claims", [{"aud": "https://other.test"}, {"iss": "https://other.test"}, {"exp": 1}])
def test_token_for_another_server_opens_no_page(tmp_path: Path, provider: Provider, claims: dict[str, Any]) -> None:
    async def test(app: Any) -> None:
        ann = Browser(app)
        refused = await ann.sign_in(provider, **claims)
        assert refused.status_code == 502
        assert "No access: the token" in refused.text
        assert (await ann.get("/")).status_code == 401

    within(tmp_path, provider, test)


def test_session_is_renewed_with_its_token_and_ends_with_it(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        ann = Browser(app)
        await ann.sign_in(provider, lives=0)  # it is renewed before each use
        before = len(provider.answered)
        assert (await ann.get("/")).status_code == 200
        assert [form["grant_type"] for form in provider.answered[before:]] == ["refresh_token"]
        await ann.sign_in(provider, lives=0)
        provider.refreshing.clear()
        assert (await ann.get("/")).status_code == 401, "it was revoked"

    within(tmp_path, provider, test)


def test_page_works_behind_a_proxy_that_names_another_host(tmp_path: Path, provider: Provider) -> None:
    """As nginx does it by default: Host is the address of this server, Origin that in the browser."""

    async def test(app: Any) -> None:
        ann = Browser(app)
        ann.client.headers["host"] = "127.0.0.1:8000"
        await ann.sign_in(provider)
        await ann.get("/")
        assert (await ann.post("/ui/tools/listPets/dry-run")).status_code == 200
        own = {"origin": "https://evil.test", "x-csrf-token": ann.csrf}
        assert (await ann.client.post("/ui/tools/listPets/dry-run", headers=own)).status_code == 403

    within(tmp_path, provider, test)


def test_sign_out_ends_the_session_and_not_only_its_cookie(tmp_path: Path, provider: Provider) -> None:
    async def test(app: Any) -> None:
        ann, thief = Browser(app), Browser(app)
        await ann.sign_in(provider)
        await ann.get("/")
        thief.client.cookies.update(ann.client.cookies)
        assert (await thief.get("/")).status_code == 200
        assert (await ann.post("/ui/sign-out")).status_code == 204
        assert (await thief.get("/")).status_code == 401
        assert provider.revoked[-1] == f"refresh-{len(provider.answered)}", "RFC 7009: with its access token"

    within(tmp_path, provider, test)


def test_sign_out_ends_the_session_where_the_token_cannot_be_revoked(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(provider.answers, "/revoke", JSONResponse({"error": "unsupported_token_type"}, 503))

    async def test(app: Any) -> None:
        ann = Browser(app)
        await ann.sign_in(provider)
        await ann.get("/")
        assert (await ann.post("/ui/sign-out")).status_code == 204
        assert (await ann.get("/")).status_code == 401

    within(tmp_path, provider, test)


def test_revoked_token_ends_the_session(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """With introspection the door asks again after a minute; here it asks about each request."""
    monkeypatch.setattr(tokens, "MAX_INTROSPECTED_SECONDS", 0.0)
    monkeypatch.setitem(provider.answers, "/token", JSONResponse({"access_token": "opaque", "token_type": "Bearer"}))

    async def test(app: Any) -> None:
        ann = Browser(app)
        claims = {**provider.claims(), "active": True, "scope": "pets:read"}
        sent = await ann.client.get("/ui/sign-in")
        answer = provider.visit(sent.headers["location"])
        provider.introspections["opaque"] = claims
        assert (await ann.client.get("/ui/callback", params=answer)).status_code == 200
        assert (await ann.get("/")).status_code == 200
        provider.introspections.clear()
        assert (await ann.get("/")).status_code == 401
        provider.introspections["opaque"] = claims
        assert (await ann.get("/")).status_code == 401, "it does not come back"

    within(tmp_path, provider, test, auth_introspection=True, auth_client_secret="of the page")


def test_authorization_server_that_fails_is_not_asked_by_everybody_who_opens_the_page(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [f"/.well-known/{name}" for name in ("oauth-authorization-server", "openid-configuration")]
    for place in places:
        monkeypatch.setitem(provider.answers, place, Response(status_code=500))

    async def test(app: Any) -> None:
        before = [provider.requests[place] for place in places]
        refused = await asyncio.gather(*(Browser(app).get("/ui/sign-in") for _ in range(20)))
        assert {each.status_code for each in refused} == {502}
        assert "cannot be used" in refused[0].text
        assert [provider.requests[place] for place in places] == [count + 1 for count in before]

    within(tmp_path, provider, test)


def test_page_says_when_the_authorization_server_cannot_be_asked(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_INTROSPECTED_SECONDS", 0.0)
    monkeypatch.setitem(provider.answers, "/token", JSONResponse({"access_token": "opaque", "token_type": "Bearer"}))

    async def test(app: Any) -> None:
        ann = Browser(app)
        sent = await ann.client.get("/ui/sign-in")
        answer = provider.visit(sent.headers["location"])
        provider.introspections["opaque"] = {**provider.claims(), "active": True}
        await ann.client.get("/ui/callback", params=answer)
        monkeypatch.setitem(provider.answers, "/introspect", Response(status_code=500))
        assert (await ann.get("/")).status_code == 503
        monkeypatch.delitem(provider.answers, "/introspect")
        assert (await ann.get("/")).status_code == 200, "nobody was signed out by that"

    within(tmp_path, provider, test, auth_introspection=True, auth_client_secret="of the page")


def test_calls_of_the_page_have_the_name_of_the_person(tmp_path: Path, provider: Provider) -> None:
    """Live calls are those of one's own name, which is also that of one's other clients in limits and logs."""
    records = list[CallRecord]()

    async def test(app: Any) -> None:
        ann = Browser(app)
        await ann.sign_in(provider)
        assert "Your own calls" in (await ann.get("/ui/calls")).text
        await ann.get("/")
        await ann.post("/ui/tools/listPets/call")

    with api() as (url, _):
        within(tmp_path, provider, test, url, records)
    (record,) = records
    assert record.caller == f"subject {provider.issuer} ann" == named(Grant(f"{provider.issuer} ann"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"auth_client_id": None},
            "no page for browsers: people sign in to it with --auth-client-id; see docs/page.md",
        ),
        ({}, f"{BASE}/ in a browser: the tools, and a form to try each (register {CALLBACK} for the-page)"),
        ({"no_ui": True, "auth_client_id": None}, ""),
    ],
)
def test_start_says_where_the_page_is_or_what_it_lacks(options: dict[str, Any], says: str) -> None:
    given = {"auth_issuer": "https://id.test", "auth_audience": (AUDIENCE,), "auth_client_id": "the-page"} | options
    http = HttpSettings.from_options({name: value for name, value in given.items() if value is not None})
    assert page.connection(http, "http://127.0.0.1:8000/mcp", local=True) == ([says] if says else [])
    assert page.is_served(http, local=False) is (says.startswith(BASE))


@pytest.mark.process
def test_real_browser_comes_back_from_a_real_authorization_server_of_another_site(node: Path, tmp_path: Path) -> None:
    """The cookie of the page is SameSite=Strict, and the redirect that brings the browser back is of another site."""
    port = free_port()
    url = f"http://localhost:{port}"
    person = chromium(node, tmp_path / "profile", "ann")
    with authorization_server(node, redirects=[f"{url}/ui/callback"], resource=f"{url}/mcp", cookies="door") as issuer:
        document = write_document(
            tmp_path, "http://127.0.0.1:9", {"clientCredentials": {"tokenUrl": f"{issuer}/token"}}
        )
        door = ["--auth-issuer", issuer, "--auth-audience", f"{url}/mcp", "--auth-client-id", CLIENT_ID]
        door += ["--workers", "2"] if hasattr(socket, "AF_UNIX") else []  # either of which knows who has signed in
        with serving(document, tmp_path, port, *door, OPENAPI_MCP_AUTH_CLIENT_SECRET=CLIENT_SECRET) as printed:
            shown = person.open(f"{url}/ui/sign-in")
            started = printed.read_text()
    assert shown["url"] == f"{url}/ui/"
    assert "listPets" in shown["text"]
    assert any(address.startswith(f"{issuer}/") for address in shown["visited"])
    assert f"(register {url}/ui/callback for {CLIENT_ID})" in started
