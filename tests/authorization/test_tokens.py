"""Access tokens: which are accepted, and why others are refused, with tokens of our own and a real issuer."""

import asyncio
import base64
import hashlib
import hmac
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwk
from starlette.responses import JSONResponse, Response

from openapi_mcp.authorization import discovery, keys, tokens
from openapi_mcp.authorization.resource import ProtectedResource
from openapi_mcp.authorization.settings import DoorSettings
from openapi_mcp.egress.policy import NO_RULES
from openapi_mcp.oauth.endpoints import AccessToken, OAuthFailure
from openapi_mcp.oauth.identity import DoorClient
from openapi_mcp.runtime.server.grants import SUBJECT_TOKEN
from tests.authorization.doors import World, parameters, within
from tests.authorization.issuing import AUDIENCE, EC, REDIRECT, RSA, Issuer, compact, issuing, unsigned
from tests.runtime.echo import Recorded, echoing

PATH = "/.well-known/oauth-authorization-server"


@pytest.fixture(scope="module")
def shared() -> Iterator[Issuer]:
    with issuing() as one:
        yield one


@pytest.fixture
def issuer(shared: Issuer) -> Issuer:
    """The issuer as it was at the start."""
    url = shared.url
    vars(shared).update(vars(Issuer()))
    shared.url = url
    return shared


def refusals(tmp_path: Path, issuer: Issuer, *given: str) -> list[tuple[int, str]]:
    """Return the status and the described error of each token."""

    async def ask(world: World) -> list[tuple[int, str]]:
        answers = [await world.ask(token, "tools/list") for token in given]
        return [(each.status_code, parameters(each).get("error_description", "")) for each in answers]

    return within(tmp_path, issuer, ask)


def statuses(tmp_path: Path, issuer: Issuer, *given: str) -> list[int]:
    async def ask(world: World) -> list[int]:
        return [await world.status(token) for token in given]

    return within(tmp_path, issuer, ask)


def test_tokens_of_the_issuer_for_this_server_are_accepted(tmp_path: Path, issuer: Issuer) -> None:
    now = int(time.time())
    good = [
        issuer.token(),
        issuer.token(EC),
        issuer.token(header={"typ": "application/at+jwt"}),
        issuer.token(header={"typ": "JWT"}),
        issuer.token(header={"typ": None}),
        issuer.token(header={"x5t": "something", "nonce": "more"}),
        issuer.token(aud=["https://other.test", AUDIENCE]),
        issuer.token(aud="HTTPS://MCP.Example.test:443/mcp/"),
        issuer.token(sub=None),
        issuer.token(nbf=now + 30, exp=now + 100),
        issuer.token(exp=now - 30),
    ]
    assert statuses(tmp_path, issuer, *good) == [200] * len(good)


def test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason(tmp_path: Path, issuer: Issuer) -> None:
    now = int(time.time())
    cases: dict[str, str] = {
        issuer.token(iss="https://evil.test"): "another authorization server",
        issuer.token(iss=issuer.issuer + "/"): "another authorization server",
        issuer.token(iss=None): "another authorization server",
        issuer.token(aud="https://other.test/mcp"): "another server",
        issuer.token(aud=AUDIENCE + "/more"): "another server",
        issuer.token(aud=AUDIENCE.replace("//", "//evil@")): "another server",
        issuer.token(aud=[]): "another server",
        issuer.token(aud=None): "another server",
        issuer.token(exp=now - 90): "expired",
        issuer.token(exp=None): "no expiry time",
        issuer.token(exp="soon"): "not a time",
        issuer.token(exp=True): "not a time",
        issuer.token(exp=10**400): "not a time",
        issuer.token(nbf=float("inf")): "the signature of the token is wrong",
        issuer.token(nbf=now + 90): "not valid yet",
        issuer.token(iat=now + 90): "not valid yet",
        issuer.token(sub=None, client_id=None): "neither a subject nor a client",
        issuer.token(cnf={"jkt": "thumbprint"}): "bound to a key",
        issuer.token(header={"typ": "dpop+jwt"}): "not an access token",
        issuer.token(header={"typ": "logout+jwt"}): "not an access token",
        compact({"alg": "RS256", "kid": "rsa-0"}, ["no", "claims"], RSA[0]): "no claims",
    }
    answers = refusals(tmp_path, issuer, *cases)
    assert [status for status, _ in answers] == [401] * len(cases)
    for (_, described), expected in zip(answers, cases.values(), strict=True):
        assert expected in described


def test_signatures_that_prove_nothing_are_refused(tmp_path: Path, issuer: Issuer) -> None:
    claims, public = issuer.claims(), RSA[0].as_pem(private=False)
    head, _, signature = issuer.token().rpartition(".")
    confused = unsigned({"alg": "HS256", "typ": "at+jwt", "kid": "rsa-0"}, claims)[:-1]
    mac = hmac.new(public, confused.encode(), hashlib.sha256).digest()
    stranger = jwk.generate_key("RSA", 2048, {"kid": "rsa-0"})
    bad = {
        "none": unsigned({"alg": "none", "typ": "at+jwt"}, claims),
        "none with a key id": unsigned({"alg": "None", "kid": "rsa-0"}, claims),
        "a secret that is public": f"{confused}.{__import__('base64').urlsafe_b64encode(mac).decode().rstrip('=')}",
        "no algorithm": unsigned({"kid": "rsa-0"}, claims, signature),
        "another algorithm": unsigned({"alg": "ES256", "kid": "rsa-0"}, claims, signature),
        "algorithm of the wrong type": unsigned({"alg": ["RS256"], "kid": "rsa-0"}, claims, signature),
        "another key of this id": issuer.token(stranger, header={"kid": "rsa-0"}),
        "no signature": f"{head}.",
        "a changed signature": f"{head}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}",
        "changed claims": unsigned({"alg": "RS256", "kid": "rsa-0"}, issuer.claims(sub="bob"), signature),
        "a key of its own": issuer.token(
            stranger, header={"kid": None, "jwk": {k: str(v) for k, v in stranger.as_dict(private=False).items()}}
        ),
        "critical parts": issuer.token(header={"crit": ["b64"], "b64": True}),
        "a key id of the wrong type": unsigned({"alg": "RS256", "kid": 5}, claims, signature),
        "an encrypted token": "a.b.c.d.e",
        "no token": "opaque",
        "no base64": "!!.b.c",
        "a header that is not JSON": "e30x.e30.AA",
        "a header that is a list": unsigned([], claims, signature),  # type: ignore[arg-type]
    }
    assert dict(zip(bad, statuses(tmp_path, issuer, *bad.values()), strict=True)) == dict.fromkeys(bad, 401)


def test_keys_that_a_token_brings_or_points_to_are_not_asked_for(tmp_path: Path, issuer: Issuer) -> None:
    """Only the issuer's metadata say where keys are: neither `jku` and `x5u`, nor a key id that is an address."""
    stranger = jwk.generate_key("RSA", 2048, {"kid": "evil"})
    issuer.answers["/evil"] = JSONResponse({"keys": [stranger.as_dict(private=False)]})
    evil = f"{issuer.url}/evil"
    headers: list[dict[str, Any]] = [
        {"jku": evil},
        {"x5u": evil},
        {"x5c": ["AA"]},
        {"kid": evil},
        {"kid": "../evil"},
        {"kid": "\0"},
        {"kid": ""},
    ]
    bad = [issuer.token(stranger, header=header | {"alg": "RS256"}) for header in headers]
    good = issuer.token(header={"jku": evil, "x5u": evil})
    assert statuses(tmp_path, issuer, *bad, good) == [*[401] * len(bad), 200]
    assert set(issuer.requests) == {PATH, "/keys"}


def test_token_without_a_key_id_needs_the_only_key(tmp_path: Path, issuer: Issuer) -> None:
    token = issuer.token(header={"kid": None})
    assert statuses(tmp_path, issuer, token) == [200]
    issuer.keys = RSA
    assert statuses(tmp_path, issuer, token) == [401]


def test_key_for_another_use_or_algorithm_is_not_used(tmp_path: Path, issuer: Issuer) -> None:
    for change in ({"use": "enc"}, {"alg": "PS256"}, {"key_ops": ["sign"]}):
        published = {**RSA[0].as_dict(private=False), **change}
        issuer.answers["/keys"] = JSONResponse(
            {"keys": [published, EC.as_dict(private=False), 5, {"kty": "oct", "k": "AA"}]}
        )
        assert statuses(tmp_path, issuer, issuer.token(), issuer.token(EC)) == [401, 200]


def test_short_rsa_keys_are_not_used() -> None:
    short, huge = {"kty": "RSA", "n": "A" * 171, "e": "AQAB"}, {"kty": "RSA", "n": "A" * 5000, "e": "AQAB"}
    good, slow = {"kty": "RSA", "n": "A" * 342, "e": "AQAB"}, {"kty": "RSA", "n": "A" * 342, "e": "A" * 300}
    assert keys.readable_keys({"keys": [short, huge, slow, good]}) == [good]
    assert keys.readable_keys({"keys": None}) == []


def test_rotated_key_is_fetched_once_however_many_ask(tmp_path: Path, issuer: Issuer) -> None:
    async def rotate(world: World) -> tuple[list[int], list[int], int]:
        assert await world.status(issuer.token()) == 200
        issuer.keys = [RSA[1]]
        new = [issuer.token(RSA[1], sub=f"user {number}") for number in range(10)]
        first = list(await asyncio.gather(*map(world.status, new)))
        before = issuer.requests["/keys"]
        unknown = [issuer.token(RSA[1], header={"kid": f"unknown-{number}"}) for number in range(10)]
        return first, list(await asyncio.gather(*map(world.status, unknown))), before

    first, unknown, before = within(tmp_path, issuer, rotate)
    assert first == [200] * 10
    assert before == 2
    assert unknown == [401] * 10
    assert issuer.requests["/keys"] == 2, "unknown key ids make no request within ten seconds of the last one"


def test_unknown_key_id_causes_one_fetch(tmp_path: Path, issuer: Issuer) -> None:
    unknown = [issuer.token(header={"kid": f"unknown-{number}"}) for number in range(5)]
    assert statuses(tmp_path, issuer, issuer.token(), *unknown, issuer.token(sub="bob")) == [200, *[401] * 5, 200]
    assert issuer.requests["/keys"] == 2


def test_known_token_is_refused_once_its_key_is_withdrawn(tmp_path: Path, issuer: Issuer) -> None:
    async def withdraw(world: World) -> list[int]:
        token = issuer.token()
        before = await world.status(token)
        issuer.keys = [RSA[1]]
        return [before, await world.status(issuer.token(RSA[1])), await world.status(token)]

    assert within(tmp_path, issuer, withdraw) == [200, 200, 401]


def test_oversized_token_is_refused_before_it_is_read(tmp_path: Path, issuer: Issuer) -> None:
    token = issuer.token(padding="x" * tokens.MAX_TOKEN_BYTES)
    assert refusals(tmp_path, issuer, token) == [(401, "the token is too long")]
    assert not issuer.requests


@pytest.mark.parametrize("fault", ["down", "redirect", "huge", "not JSON", "another issuer", "no keys", "list"])
def test_authorization_server_that_cannot_be_used_is_503(tmp_path: Path, issuer: Issuer, fault: str) -> None:
    answers: dict[str, Any] = {
        "down": {PATH: Response(status_code=500)},
        "redirect": {"/keys": REDIRECT},
        "huge": {"/keys": Response(b" " * 600_000)},
        "not JSON": {"/keys": Response("<html>")},
        "another issuer": {PATH: JSONResponse(issuer.metadata() | {"issuer": "https://evil.test"})},
        "no keys": {"/keys": JSONResponse({"keys": []})},
        "list": {PATH: JSONResponse([])},
    }
    token = issuer.token()
    issuer.answers = answers[fault]

    async def ask(world: World) -> list[Any]:
        responses = [await world.ask(token, "tools/list") for _ in range(3)]
        return [(each.status_code, each.headers.get("retry-after")) for each in responses]

    assert within(tmp_path, issuer, ask) == [(503, "5")] * 3
    assert max(issuer.requests.values()) == 1, "a failed fetch is not repeated at once"


@pytest.mark.parametrize(
    ("path", "served", "asked"),
    [
        ("", "/.well-known/openid-configuration", ["/.well-known/oauth-authorization-server"]),
        (
            "/tenant",
            "/tenant/.well-known/openid-configuration",
            ["/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant"],
        ),
    ],
)
def test_metadata_is_searched_in_the_order_of_the_specification(
    tmp_path: Path, issuer: Issuer, path: str, served: str, asked: list[str]
) -> None:
    issuer.path = path
    issuer.answers = {each: Response(status_code=404) for each in asked} | {served: JSONResponse(issuer.metadata())}
    assert statuses(tmp_path, issuer, issuer.token()) == [200]
    assert list(issuer.requests) == [*asked, served, "/keys"]


def test_introspection_is_asked_once_a_minute_and_its_answer_is_checked(tmp_path: Path, issuer: Issuer) -> None:
    client = {"auth_client_id": "door", "auth_client_secret": "a secret: 100%"}
    active = {"active": True, **issuer.claims()}
    issuer.introspections = {
        "good": active,
        "no issuer": {name: value for name, value in active.items() if name not in {"iss", "exp"}},
        "not active": {**active, "active": "true"},
        "of another server": {**active, "aud": "https://other.test"},
        "without audience": {name: value for name, value in active.items() if name != "aud"},
        "of another issuer": {**active, "iss": "https://evil.test"},
        "expired": {**active, "exp": 1},
        "a refresh token": {**active, "token_type": "refresh_token"},
    }

    async def ask(world: World) -> dict[str, list[int]]:
        known = [*issuer.introspections, "unknown"]
        return {token: [await world.status(token.replace(" ", "-")) for _ in range(2)] for token in known}

    issuer.introspections = {name.replace(" ", "-"): value for name, value in issuer.introspections.items()}
    answers = within(tmp_path, issuer, ask, **client)
    assert {token for token, given in answers.items() if given == [200, 200]} == {"good", "no-issuer"}
    assert {token for token, given in answers.items() if given == [401, 401]} == set(answers) - {"good", "no-issuer"}
    assert issuer.requests["/introspect"] == len(answers)
    expected = base64.b64encode(b"door:a+secret%3A+100%25").decode()
    assert set(issuer.authorizations) == {f"Basic {expected}"}


def test_client_alone_is_no_user_of_the_same_name(issuer: Issuer) -> None:
    resource = ProtectedResource(AUDIENCE, issuer.issuer)
    user, _ = tokens.read_claims(issuer.claims(sub="app", client_id="other"), resource, time.time())
    client, _ = tokens.read_claims(issuer.claims(sub=None, client_id="app"), resource, time.time())
    assert user.subject == f"{issuer.issuer} app"
    assert client.subject == f"client app of {issuer.issuer}"


def test_token_without_a_user_identifies_nobody_on_a_page(issuer: Issuer) -> None:
    door = DoorClient(DoorSettings(ProtectedResource(AUDIENCE, issuer.issuer), "page"), lambda: True, NO_RULES)

    async def ask() -> str:
        with pytest.raises(OAuthFailure, match="it has no `sub`"):
            await door.subject(AccessToken(issuer.token(sub=None)))
        return await door.subject(AccessToken(issuer.token()))

    assert asyncio.run(ask()) == f"{issuer.issuer} ann"


def test_token_after_two_spaces_is_a_token_without_spaces(
    tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 6750 §2.1 allows several; the token that is exchanged for one of the API has none."""
    seen = list[str]()

    async def ask(world: World) -> int:
        receive = world.server.receive

        def noting(*given: Any) -> Any:
            seen.append(SUBJECT_TOKEN.get())
            return receive(*given)

        monkeypatch.setattr(world.server, "receive", noting)
        return await world.status(f" {token}")

    token = issuer.token()
    assert within(tmp_path, issuer, ask) == 200
    assert seen == [token]


def test_invented_tokens_do_not_flood_the_authorization_server(
    tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_INTROSPECTIONS", 3)

    async def ask(world: World) -> list[int]:
        assert await world.status("first") == 401
        return list(await asyncio.gather(*(world.status(f"invented-{number}") for number in range(20))))

    client = {"auth_client_id": "door", "auth_client_secret": "a secret"}
    given = within(tmp_path, issuer, ask, **client)
    assert set(given) == {401, 503}
    assert issuer.requests["/introspect"] == 1 + given.count(401)
    assert within(tmp_path, issuer, ask, **client).count(401) >= 3, "places become free again"


def test_verified_tokens_are_forgotten_when_they_expire_and_when_there_are_too_many(
    tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openapi_mcp.authorization.door.MAX_KNOWN_TOKENS", 3)

    async def ask(world: World) -> tuple[int, int]:
        for number in range(5):
            assert await world.status(issuer.token(sub=str(number))) == 200
        token = issuer.token(sub="late")
        assert await world.status(token) == 200
        later = time.time() + 661
        world.door._clock = lambda: later
        world.door._verifier = replace(world.door._verifier, clock=lambda: later)  # type: ignore[type-var]
        return len(world.door._known), await world.status(token)

    assert within(tmp_path, issuer, ask) == (3, 401)


@pytest.mark.parametrize("address", ["http://id.example/keys", "file:///etc/passwd", "ftp://127.0.0.1/keys", "//keys"])
def test_addresses_that_metadata_names_must_be_https(tmp_path: Path, issuer: Issuer, address: str) -> None:
    issuer.answers[PATH] = JSONResponse(issuer.metadata() | {"jwks_uri": address})
    assert statuses(tmp_path, issuer, issuer.token()) == [503]
    with pytest.raises(discovery.AuthorizationServerError, match="neither https nor http on this machine"):
        asyncio.run(discovery.fetch(address, lambda: True))


def test_answer_that_arrives_slowly_has_a_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "FETCH_SECONDS", 0.3)

    done = threading.Event()

    def drip(_: Recorded) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        while not done.wait(0.05):
            yield b" "

    with echoing() as server:
        server.respond = drip
        try:
            with pytest.raises(discovery.AuthorizationServerError, match="took longer"):
                asyncio.run(discovery.discover(server.url, lambda: True, "jwks_uri"))
        finally:
            done.set()


def test_old_keys_are_renewed_beside_the_requests_and_not_used_for_ever(issuer: Issuer) -> None:
    now = 1000.0

    async def use() -> None:
        nonlocal now
        signing = keys.SigningKeys(issuer.issuer, lambda: True, lambda: now)
        assert await signing.find("RS256", "rsa-0")
        now += keys.MAX_KEY_AGE + 1
        assert await signing.find("RS256", "rsa-0")
        assert signing._fetching is not None
        await signing._fetching
        assert issuer.requests["/keys"] == 2
        issuer.answers["/keys"] = Response(status_code=500)
        now += keys.MAX_STALE_AGE - 1
        assert await signing.find("RS256", "rsa-0"), "keys outlast a failure of the authorization server"
        now += 2
        with pytest.raises(discovery.AuthorizationServerError):
            await signing.find("RS256", "rsa-0")

    asyncio.run(use())


VALUES: list[Any] = [None, 1, 1.5, True, "x", [], {}, "RS256", "ES256", "EdDSA", "at+jwt", 10**400, -1, "\0", ["a"]]


@pytest.mark.slow
def test_malformed_tokens_are_refused_and_never_an_error(tmp_path: Path, issuer: Issuer) -> None:
    drawn = random.Random(5)  # noqa: S311  it draws test cases
    good = [issuer.token(), issuer.token(EC)]
    changed = ["".join(drawn.sample(token, len(token))) for token in good for _ in range(20)]
    headers = [{name: drawn.choice([value, *VALUES]) for name, value in HEADER.items()} for _ in range(200)]
    signatures = ["", "AA", "!!", *(token.rpartition(".")[2] for token in good)]
    unsigned_ones = [unsigned(header, issuer.claims(sub="mallory"), drawn.choice(signatures)) for header in headers]
    names = ("iss", "aud", "exp", "sub", "scope", "scp", "client_id", "nbf", "iat", "cnf")
    signed = [issuer.token(**{name: value}) for name in names for value in VALUES[1:]]
    answers = statuses(tmp_path, issuer, *changed, *unsigned_ones, *signed)
    assert set(answers[: -len(signed)]) == {401}
    assert set(answers) == {200, 401}


HEADER = {"alg": "RS256", "typ": "at+jwt", "kid": "rsa-0"}


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "P-256", "x": 5, "y": None},
        {"kty": "RSA", "n": "A" * 342, "e": "!!"},
        {"kty": "RSA", "n": "A" * 342, "e": "AQAB"},
        {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
        {"kty": "OKP", "crv": "Ed25519"},
    ],
)
def test_published_keys_that_are_broken_verify_nothing(tmp_path: Path, issuer: Issuer, key: dict[str, Any]) -> None:
    issuer.answers["/keys"] = JSONResponse({"keys": [{**key, "kid": "bad"}]})
    signature = issuer.token().rpartition(".")[2]
    given = [unsigned({"alg": name, "kid": "bad"}, issuer.claims(), signature) for name in ("RS256", "ES256", "EdDSA")]
    assert statuses(tmp_path, issuer, *given) == [401] * 3
