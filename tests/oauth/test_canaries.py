"""No credential is anywhere but where it belongs: all bytes of all sockets and all files of a journey are searched.

Two replicas share Redis behind a balancer. One user signs in at the API's authorization server in a real browser (where
one is installed), another in a plain one; a third one's token is exchanged. The API sends all headers back, and refuses
a token, which is renewed. Every credential is a canary; a recording proxy stands in front of every party.
"""

import json
import re
import subprocess
from base64 import b64encode
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.chromium import chromium
from tests.oauth.apis import Backend
from tests.oauth.user_sign_ins import HANDSHAKE, STATELESS, Caller, World, oauth_flow, page_of, serving
from tests.oidc import CLIENT_ID, CLIENT_REDIRECT, Person, authorization_server, claims
from tests.recording import Recorder, places_of, recording
from tests.replicas.servers import redis
from tests.servers import free_port, running

pytestmark = pytest.mark.process

API_SECRET: Final = "canary-of-the-client-at-the-api-0123456789"
DOOR_SECRET: Final = "canary-of-the-client-at-the-door-0123456789"
SESSION_SECRET: Final = "canary-of-all-sessions-0123456789"
REDIS_PASSWORD: Final = "canary-of-redis-0123456789"
API_KEY: Final = "canary-of-the-api-key-0123456789"
PASSWORD: Final = "canary-of-the-password-0123456789"
COOKIE: Final = "canary-of-the-cookie-0123456789"
BEARER: Final = "canary-of-the-bearer-0123456789"
HEADER: Final = "canary-of-a-header-0123456789"
STATIC: Final = "canary-of-the-static-door-token-0123456789"
TENANT: Final = "canary-of-the-tenant-0123456789"

TO_BRIDGE, TO_CLIENT = "client to bridge", "bridge to client"
TO_API, FROM_API = "bridge to API", "API to bridge"
TO_ISSUER, FROM_ISSUER = "to the API's issuer", "from the API's issuer"
TO_DOOR, FROM_DOOR = "to the door's issuer", "from the door's issuer"
TO_REDIS, FROM_REDIS = "bridge to Redis", "Redis to bridge"
API_ALONE: Final = {TO_API, FROM_API}


class EchoingApi:
    """An API that sends the headers of each request back; it refuses the tokens in `refused`."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.refused: set[str] = set()
        self.app = Starlette(routes=[Route("/{rest:path}", self._respond)])

    async def _respond(self, request: Request) -> JSONResponse:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.tokens.append(token)
        echoed = dict(request.headers)
        return JSONResponse({"headers": echoed, "all": str(echoed)}, 401 if token in self.refused else 200)


@dataclass
class Journey:
    """Answers of a whole sign-in, and all bytes of it by place."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    subjects: list[str] = field(default_factory=list)
    places: dict[str, bytes] = field(default_factory=dict)
    door_tokens: dict[str, str] = field(default_factory=dict)
    api_tokens: list[str] = field(default_factory=list)
    replicas: set[int] = field(default_factory=set)
    browser: str = ""

    def found(self, pattern: str, *places: str) -> set[str]:
        """Return the values of a pattern in some places."""
        values = {found.decode() for place in places for found in re.findall(pattern.encode(), self.places[place])}
        assert values, pattern
        return values


def document(folder: Path, api: str, issuer: str) -> str:
    swap = {"clientCredentials": {"tokenUrl": f"{issuer}/token", "scopes": {}}}
    schemes = {
        "key": {"type": "oauth2", "flows": oauth_flow(issuer)},
        "swap": {"type": "oauth2", "flows": swap},
        "apikey": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
    }
    paths = {
        f"/{name}": {
            "get": {
                "operationId": "listPets" if name == "key" else f"by-{name}",
                "security": [{name: ["pets:read"] if name == "key" else []}],
                "responses": {"200": {"description": "ok"}},
            }
        }
        for name in schemes
    }
    root = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": api}],
        "components": {"securitySchemes": schemes},
        "paths": paths,
    }
    path = folder / "pets.json"
    path.write_text(json.dumps(root))
    return str(path)


USERS: Final = {"ann": HANDSHAKE, "bob": STATELESS, "cara": STATELESS}

VARIABLES: Final = {
    "API_PETS_KEY_CLIENT_SECRET": API_SECRET,
    "API_PETS_SWAP_CLIENT_SECRET": API_SECRET,
    "API_PETS_APIKEY": API_KEY,
    "API_PETS_COOKIE": COOKIE,
    "API_PETS_BASIC": f"me:{PASSWORD}",
    "API_PETS_BEARER": BEARER,
    "OPENAPI_MCP_AUTH_CLIENT_SECRET": DOOR_SECRET,
    "OPENAPI_MCP_SESSION_SECRET": SESSION_SECRET,
}


@pytest.fixture(scope="module")
def journey(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Journey:
    try:
        node: Path = request.getfixturevalue("node")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the packages of npm cannot be installed: {error}")
    folder = tmp_path_factory.mktemp("canaries")
    made, api = Journey(), EchoingApi()
    with ExitStack() as stack:
        stack.enter_context(redis(folder, port := free_port(), REDIS_PASSWORD))
        to_redis = stack.enter_context(recording(port))
        to_bridge, to_issuer, to_door = (stack.enter_context(recording()) for _ in range(3))
        to_api = stack.enter_context(recording(int(stack.enter_context(running(api.app)).rpartition(":")[2])))
        public = f"http://localhost:{to_bridge.port}"  # another host than the others', since cookies know no ports
        redirects = [f"{public}/oauth/callback", CLIENT_REDIRECT]
        for recorder, more in (
            (to_issuer, {"exchange": True, "idp": to_door.url, "secret": API_SECRET, "cookies": "api"}),
            (to_door, {"resource": f"{public}/mcp", "secret": DOOR_SECRET, "cookies": "door"}),
        ):
            recorder.targets = [free_port()]
            job = {"port": recorder.targets[0], "issuer": recorder.url, "redirects": redirects, **more}
            stack.enter_context(authorization_server(node, **job))
        spec = document(folder, to_api.url, to_issuer.url)
        printed = [_static_door(spec, folder, to_bridge, made)]
        options = _options(public, to_door.url, folder)
        to_bridge.targets, scraped = [free_port(), free_port()], [free_port(), free_port()]
        for port, metrics in zip(to_bridge.targets, scraped, strict=True):
            variables = VARIABLES | {"OPENAPI_MCP_REDIS": f"redis://:{REDIS_PASSWORD}@127.0.0.1:{to_redis.port}/0"}
            variables |= {"OPENAPI_MCP_CACHE": str(folder / "cache"), "OPENAPI_MCP_TOKENS": str(folder / "tokens")}
            serve = serving(spec, folder, port, *options, "--metrics", str(metrics), **variables)
            printed.append(stack.enter_context(serve))
        world = World(Backend([]), to_issuer.url, to_door.url, public, secret=DOOR_SECRET)
        _travel(made, world, api, node, folder)
        made.door_tokens, made.api_tokens = world.tokens, api.tokens
        made.replicas = to_bridge.ports_of(b"GET /oauth/")
        made.places["metrics"] = b"".join(httpx.get(f"http://127.0.0.1:{port}/metrics").content for port in scraped)
    recorders = {
        (TO_BRIDGE, TO_CLIENT): to_bridge,
        (TO_API, FROM_API): to_api,
        (TO_ISSUER, FROM_ISSUER): to_issuer,
        (TO_DOOR, FROM_DOOR): to_door,
        (TO_REDIS, FROM_REDIS): to_redis,
    }
    for (there, back), recorder in recorders.items():
        made.places |= {there: recorder.sent, back: recorder.received}
    made.places["printed"] = b"".join(path.read_bytes() for path in printed)
    made.places["audit"] = (folder / "audit.jsonl").read_bytes()
    for name in ("cache", "tokens"):
        made.places[name] = b"".join(path.read_bytes() for path in (folder / name).rglob("*") if path.is_file())
    return made


def _options(public: str, door: str, folder: Path) -> list[str]:
    oauth = [f"key.client-id={CLIENT_ID}", f"swap.client-id={CLIENT_ID}", "swap.exchange=token-exchange"]
    return [
        *("--sign-in-url", public, "--auth-issuer", door, "--auth-audience", f"{public}/mcp"),
        *("--auth-client-id", CLIENT_ID, "--header", f"X-Api-Token: {HEADER}", "--forward-header", "X-Tenant"),
        *("--audit", str(folder / "audit.jsonl"), "--audit-arguments", "--log-format", "json"),
        *(part for each in oauth for part in ("--oauth", each)),
    ]


def _static_door(spec: str, folder: Path, to_bridge: Recorder, made: Journey) -> Path:
    """Serve with a fixed token and call it; return what was printed."""
    port = free_port()
    to_bridge.targets = [port]
    with serving(spec, folder, port, **VARIABLES | {"OPENAPI_MCP_AUTH_TOKEN": STATIC}) as printed:
        made.answers["static"] = Caller(f"{to_bridge.url}/mcp", STATIC, STATELESS, {}).call(name="by-apikey")
    return printed


def _travel(made: Journey, world: World, api: EchoingApi, node: Path, folder: Path) -> None:
    """Let three users call, sign in, and call again."""
    ann, bob, cara = (world.client(name, era, **{"X-Tenant": TENANT}) for name, era in USERS.items())
    page = ann.page()
    try:
        shown = chromium(node, folder / "profile", "ann").open(page)
        made.browser = f"{shown['title']} {urlsplit(shown['url']).path}"
    except pytest.skip.Exception as absent:
        made.browser = f"skipped: {absent}"
        Person("ann").open(page)
    made.answers["ann"] = ann.call()
    made.answers["bob, not signed in"] = asked = bob.call()
    Person("bob").open(page_of(asked))
    made.answers["bob"] = bob.retry(asked)
    api.refused.add(api.tokens[-1])
    made.answers["bob, renewed"] = bob.call()
    made.answers["cara"] = cara.call(name="by-swap")
    for name in ("by-apikey", "by-basic", "by-cookie", "by-bearer"):
        made.answers[name] = cara.call(name=name)
    made.subjects = [claims(token)["sub"] for token in api.tokens if token.startswith("eyJ")]


def test_user_consents_in_a_real_browser_and_gets_an_answer(journey: Journey) -> None:
    if journey.browser.startswith("skipped"):
        pytest.skip(journey.browser)
    assert journey.browser == "Signed in /oauth/callback"
    assert not journey.answers["ann"]["result"]["isError"]


def test_each_user_calls_with_their_own_token(journey: Journey) -> None:
    assert journey.answers["bob, not signed in"]["result"]["resultType"] == "input_required"
    for name in ("bob", "bob, renewed", "cara", "static", "by-apikey", "by-basic", "by-cookie", "by-bearer"):
        assert not journey.answers[name]["result"].get("isError"), journey.answers[name]
    assert journey.subjects == ["ann", "bob", "bob", "bob", "cara"], "the third of bob's was refused, and renewed"


def test_both_replicas_served_the_pages(journey: Journey) -> None:
    assert len(journey.replicas) == 2


def test_credentials_of_users_are_only_where_they_belong(journey: Journey) -> None:
    it = journey
    for name, token in it.door_tokens.items():
        exchanged = {TO_ISSUER} if name == "cara" else set()
        assert places_of(token, it.places) == {TO_BRIDGE, FROM_DOOR, *exchanged}, name
    identities = it.found(r'"access_token":"([^"]+)"', FROM_DOOR) - set(it.door_tokens.values())
    for token in identities | it.found(r'"id_token":"([^"]+)"', FROM_DOOR):
        assert places_of(token, it.places) == {FROM_DOOR}, "who opened a page is known, and nothing is kept"
    assert len(identities) == 2
    tokens = it.found(r'"access_token":"([^"]+)"', FROM_ISSUER)
    assert tokens == {token for token in it.api_tokens if token.startswith("eyJ")}
    for token in tokens:
        assert places_of(token, it.places) == {FROM_ISSUER, *API_ALONE}
    refreshing = [places_of(token, it.places) for token in it.found(r'"refresh_token":"([^"]+)"', FROM_ISSUER)]
    assert sorted(refreshing, key=len) == [{FROM_ISSUER}, {FROM_ISSUER}, {FROM_ISSUER, TO_ISSUER}]


def test_parts_of_a_sign_in_are_only_where_they_belong(journey: Journey) -> None:
    it = journey
    for code in it.found(r"GET /oauth/callback\?code=([^&]+)&", TO_BRIDGE):
        where = places_of(code, it.places)
        assert where in ({TO_BRIDGE, FROM_DOOR, TO_DOOR}, {TO_BRIDGE, FROM_ISSUER, TO_ISSUER})
    for verifier in it.found(r"code_verifier=([A-Za-z0-9_-]{64})", TO_DOOR, TO_ISSUER):
        assert places_of(verifier, it.places) in ({TO_DOOR}, {TO_ISSUER})
    for cookie in it.found(r"set-cookie: openapi-mcp-[0-9a-f]+=([^;]+);", TO_CLIENT):
        assert places_of(cookie, it.places) == {TO_BRIDGE, TO_CLIENT}
    for session in it.found(r"mcp-session-id: (\S+)", TO_CLIENT):
        assert places_of(session, it.places) == {TO_BRIDGE, TO_CLIENT}


CONFIGURED: Final = {
    API_SECRET: {TO_ISSUER},
    DOOR_SECRET: {TO_DOOR},
    SESSION_SECRET: set(),
    REDIS_PASSWORD: {TO_REDIS},
    API_KEY: API_ALONE,
    PASSWORD: API_ALONE,
    COOKIE: API_ALONE,
    BEARER: API_ALONE,
    HEADER: API_ALONE,
    STATIC: {TO_BRIDGE},
    TENANT: {TO_BRIDGE, TO_CLIENT, *API_ALONE},
}
"""Places where each credential of the settings belongs; the tenant is no secret, and the API sends it back."""


@pytest.mark.parametrize("canary", CONFIGURED)
def test_configured_credential_is_only_where_it_belongs(journey: Journey, canary: str) -> None:
    assert places_of(canary, journey.places) == CONFIGURED[canary]


def test_places_hold_what_they_should(journey: Journey) -> None:
    """The search would find nothing in empty places."""
    assert all(journey.places[name] for name in journey.places if name != "tokens")
    assert not journey.places["tokens"], "sign-ins of users are in the sealed store alone"
    assert b"openapi-mcp:sign-ins:" in journey.places[TO_REDIS]
    assert b"by-swap" in journey.places["audit"]
    assert b"ann" not in journey.places[TO_REDIS]


@pytest.mark.parametrize("offset", range(3))
def test_search_finds_a_canary_in_every_form(offset: int) -> None:
    hidden = b64encode(b"x" * offset + STATIC.encode() + b"tail")
    assert places_of(STATIC, {"base64": hidden, "hex": STATIC.encode().hex().encode(), "none": b"canary"}) == {
        "base64",
        "hex",
    }
