"""An authorization server for tests: it publishes keys and metadata, signs tokens, and counts what it is asked."""

import base64
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joserfc import jwk, jws
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.servers import running

AUDIENCE = "https://mcp.example.test/mcp"
RESPONSES: dict[str, Response] = {}

RSA = [jwk.generate_key("RSA", 2048, {"kid": f"rsa-{number}", "use": "sig"}) for number in range(2)]
EC = jwk.generate_key("EC", "P-256", {"kid": "ec", "use": "sig"})


def compact(header: dict[str, Any], claims: Any, key: Any) -> str:
    """Sign claims with whatever header: a token that no library would make."""
    registry = jws.JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims), key, registry=registry)


def unsigned(header: dict[str, Any], claims: Any, signature: str = "") -> str:
    """Return a token with this text instead of its signature."""
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims))
    return ".".join([*parts, signature])


class Issuer:
    """An authorization server at `url`; `requests` counts the requests by path, `answers` replaces responses."""

    def __init__(self) -> None:
        self.url = ""
        self.path = ""
        self.keys: list[Any] = [RSA[0], EC]
        self.requests = Counter[str]()
        self.answers: dict[str, Response] = {}
        self.introspections: dict[str, dict[str, Any]] = {}
        self.authorizations: list[str] = []

    @property
    def issuer(self) -> str:
        return self.url + self.path

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a good token; a change to None leaves a claim out."""
        now = int(time.time())
        good = {"iss": self.issuer, "aud": AUDIENCE, "sub": "ann", "client_id": "app", "iat": now, "exp": now + 600}
        return {name: value for name, value in (good | changes).items() if value is not None}

    def token(self, key: Any = RSA[0], header: dict[str, Any] | None = None, **claims: Any) -> str:
        """Return a token; `header` replaces members of a good header, None leaves one out."""
        algorithm = "ES256" if key is EC else "RS256"
        good = {"alg": algorithm, "typ": "at+jwt", "kid": key.kid} | (header or {})
        return compact({name: value for name, value in good.items() if value is not None}, self.claims(**claims), key)

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.url}/keys",
            "introspection_endpoint": f"{self.url}/introspect",
        }

    async def respond(self, request: Request) -> Response:
        path = request.url.path
        self.requests[path] += 1
        if path in self.answers:
            return self.answers[path]
        if path == "/keys":
            return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})
        if path == "/introspect":
            self.authorizations.append(request.headers.get("authorization", ""))
            form = await request.form()
            return JSONResponse(self.introspections.get(str(form["token"]), {"active": False}))
        if path == f"/.well-known/oauth-authorization-server{self.path}":
            return JSONResponse(self.metadata())
        return Response(status_code=404)


@contextmanager
def issuing(issuer: Issuer | None = None) -> Iterator[Issuer]:
    """Serve an Issuer on 127.0.0.1 until the block ends."""
    issuer = issuer or Issuer()
    app = Starlette(routes=[Route("/{path:path}", issuer.respond, methods=["GET", "POST"])])
    with running(app) as url:
        issuer.url = url
        yield issuer


REDIRECT = RedirectResponse("/keys")
