"""Verify access tokens: JSON Web Tokens by the issuer's keys (RFC 9068), others by introspection (RFC 7662).

A token is accepted only if its issuer made it for this server: signature, `iss`, `aud`, `exp` and `nbf` are checked,
and what cannot be checked is refused. No error contains a token.
Specification: OAuth 2.1 §5.2; RFC 7519 §4.1, RFC 7515 §4.1, RFC 8725 (algorithms, types), RFC 9068 §4, RFC 7662 §2.
"""

import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import quote_plus

from ..egress.policy import EgressPolicy
from ..runtime import background
from ..runtime.server.grants import Grant
from ..runtime.types import JsonObject
from .discovery import NO_POLICY, AuthorizationServerError, Tls, discover, fetch
from .keys import ALGORITHMS, SigningKeys
from .resource import ProtectedResource

LEEWAY: Final = 60.0
"""Seconds by which the clocks of this machine and the issuer may differ."""

MAX_TOKEN_BYTES: Final = 16 * 1024
"""Bytes of a token; real ones have one or two kilobytes."""

MAX_VERIFIED_SECONDS: Final = 300.0
"""Seconds until a token is verified again, if it lives so long: keys may have been withdrawn."""

MAX_INTROSPECTIONS: Final = 64
"""Tokens about which the authorization server is asked at once: clients can invent as many as they like."""

MAX_INTROSPECTED_SECONDS: Final = 60.0
"""Seconds for which the answer to an introspection counts: a revoked token is accepted for no longer."""

_MAX_HEADER_BYTES: Final = 4096
_TYPES: Final = frozenset({"at+jwt", "application/at+jwt", "jwt", "application/jwt"})
"""Values of `typ` (in lower case) that an access token may have: RFC 9068 §4, and what most servers still write."""


CLIENT: Final = "client "
"""The beginning of the subject of a token that names a client alone. No user has it, whatever their name is."""


class InvalidToken(Exception):
    """The token is not accepted; the text is its reason, for the client."""


class UnknownKey(InvalidToken):
    """The issuer has no key of this id, or not yet."""


class VerifiedToken(NamedTuple):
    """The grant of a token, the end of its time (in seconds since 1970), and the number of the keys it needed."""

    grant: Grant
    expires: float
    keys: int = 0


class TokenVerifier(Protocol):
    """A way to verify tokens."""

    @property
    def number(self) -> int:
        """The number of the keys that are trusted now."""

    def on_change(self, forget: Callable[[], None]) -> None:
        """Call a function whenever other keys are trusted."""

    async def prepare(self) -> None:
        """Load what the first verification would wait for. Raises AuthorizationServerError."""

    async def verify(self, token: str) -> VerifiedToken:
        """Return what a token grants. Raises InvalidToken, AuthorizationServerError."""


@dataclass(frozen=True, slots=True)
class JwtVerifier:
    """Verifies JSON Web Tokens by the public keys of their issuer."""

    resource: ProtectedResource
    keys: SigningKeys
    clock: Callable[[], float] = time.time

    @property
    def number(self) -> int:
        """The number of the issuer's current keys."""
        return self.keys.number

    def on_change(self, forget: Callable[[], None]) -> None:
        """Call a function when the issuer's keys change."""
        self.keys.on_change = forget

    async def prepare(self) -> None:
        """Fetch the keys, and import the library."""
        await background.run("small", _import_library)
        await self.keys.current()

    async def verify(self, token: str) -> VerifiedToken:
        """Return what a token grants; its signature is verified beside the event loop."""
        header = _read_header(token)
        algorithm, key_id = _algorithm(header), header.get("kid")
        if not isinstance(key_id, str | None):
            raise InvalidToken("the key id of the token is not a text")
        key = await self.keys.find(algorithm, key_id)
        if key is None:
            reason = "the token names no key" if key_id is None else "the token was signed with an unknown key"
            raise UnknownKey(reason)
        number = self.keys.number
        claims = await background.run("small", _signed_claims, token, key, algorithm)
        grant, expires = read_claims(claims, self.resource, self.clock())
        return VerifiedToken(grant, min(expires + LEEWAY, self.clock() + MAX_VERIFIED_SECONDS), number)


def _read_json(data: bytes) -> Any:
    """Return a JSON value. Raises ValueError, also for `NaN` and `Infinity`, which are no JSON."""

    def refuse(_: str) -> None:
        raise ValueError

    return json.loads(data.decode(), parse_constant=refuse)


def _read_header(token: str) -> JsonObject:
    encoded, _, rest = token.partition(".")
    if rest.count(".") != 1 or len(encoded) > _MAX_HEADER_BYTES:
        raise InvalidToken("the token is not a signed JSON Web Token")
    try:
        header = _read_json(base64.b64decode(encoded + "=" * (-len(encoded) % 4), "-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise InvalidToken("the token is not a JSON Web Token") from None
    if not isinstance(header, dict) or "crit" in header:
        raise InvalidToken("the header of the token has parts that are not understood")
    kind = header.get("typ", "jwt")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise InvalidToken("the token is not an access token")
    return header


def _algorithm(header: JsonObject) -> str:
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise InvalidToken("the signature of the token has an algorithm that is not accepted")
    return algorithm


def _import_library() -> None:
    from joserfc import jwk, jws  # noqa: F401  it takes a tenth of a second


def _signed_claims(token: str, key: JsonObject, algorithm: str) -> JsonObject:
    """Return the claims of a token whose signature is right."""
    from joserfc import jwk, jws
    from joserfc.errors import JoseError

    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    registry.max_header_length = _MAX_HEADER_BYTES
    public: dict[str, Any] = {name: key[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in key}
    try:
        signed = jws.deserialize_compact(token, jwk.import_key(public), registry=registry)
        claims = _read_json(signed.payload)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise InvalidToken("the signature of the token is wrong") from None
    if not isinstance(claims, dict):
        raise InvalidToken("the token has no claims")
    return claims


def read_claims(claims: JsonObject, resource: ProtectedResource, now: float) -> tuple[Grant, float]:
    """Return what claims grant, and when they expire. Raises InvalidToken where they are not for this server, now."""
    if claims.get("iss") != resource.issuer:
        raise InvalidToken("the token was issued by another authorization server")
    if not resource.is_audience(claims.get("aud")):
        raise InvalidToken("the token was issued for another server")
    expires = _time(claims, "exp")
    if expires is None:
        raise InvalidToken("the token has no expiry time")
    if expires + LEEWAY <= now:
        raise InvalidToken("the token has expired")
    for name in ("nbf", "iat"):
        if (_time(claims, name) or 0) - LEEWAY > now:
            raise InvalidToken("the token is not valid yet")
    if "cnf" in claims:
        raise InvalidToken("the token is bound to a key of its client, which is not supported")
    return _grant(claims, resource.issuer, expires + LEEWAY), expires


def _time(claims: JsonObject, name: str) -> float | None:
    """Return a time in seconds since 1970; None if there is none. Raises InvalidToken for any other value."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LAST <= value <= _LAST:
        raise InvalidToken(f"{name} of the token is not a time")
    return float(value)


_LAST: Final = 2**53
"""The largest number that all JSON readers understand alike."""


def _grant(claims: JsonObject, issuer: str, end: float) -> Grant:
    client = next((claims[name] for name in ("client_id", "azp") if _is_name(claims.get(name))), "")
    subject = f"{issuer} {claims['sub']}" if _is_name(claims.get("sub")) else f"{CLIENT}{client} of {issuer}"
    if not (client or _is_name(claims.get("sub"))):
        raise InvalidToken("the token names neither a subject nor a client")
    return Grant(subject, read_scopes(claims), client, end)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def read_scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes of `scope` (RFC 9068 §2.2.3) or, as some servers write it, `scp`: a text or a list."""
    scopes: set[str] = set()
    for value in (claims.get("scope"), claims.get("scp")):
        scopes |= set(value.split(" ") if isinstance(value, str) else ())
        scopes |= {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()
    return frozenset(scopes - {""})


@dataclass(slots=True)
class IntrospectionVerifier:
    """Asks the authorization server about each token (RFC 7662), as a client of it."""

    resource: ProtectedResource
    client_id: str
    client_secret: str = field(repr=False)
    tls: Tls
    clock: Callable[[], float] = time.time
    egress: EgressPolicy = NO_POLICY
    _metadata: JsonObject | None = None
    _asking: int = 0

    @property
    def number(self) -> int:
        """No keys are needed."""
        return 0

    def on_change(self, forget: Callable[[], None]) -> None:
        """Do nothing: there are no keys."""

    async def prepare(self) -> None:
        """Find the endpoint."""
        await self._endpoint()

    async def verify(self, token: str) -> VerifiedToken:
        """Return what a token grants."""
        if self._asking >= MAX_INTROSPECTIONS:
            raise AuthorizationServerError(f"{self._asking} other tokens are being asked about")
        self._asking += 1
        try:
            answer = await self._introspect(token)
        finally:
            self._asking -= 1
        if answer.get("active") is not True:
            raise InvalidToken("the token is not active")
        if str(answer.get("token_type", "Bearer")).lower() not in {"bearer", "access_token"}:
            raise InvalidToken("the token is not a bearer token")
        # The endpoint is that of the issuer, so an answer without `iss` is about a token of it.
        claims: JsonObject = {"iss": self.resource.issuer} | answer
        now = self.clock()
        if "exp" not in claims:  # which RFC 7662 leaves to the server
            claims["exp"] = now + MAX_INTROSPECTED_SECONDS
        grant, expires = read_claims(claims, self.resource, now)
        return VerifiedToken(grant, min(max(expires, now), now + MAX_INTROSPECTED_SECONDS))

    async def _introspect(self, token: str) -> JsonObject:
        metadata = await self._endpoint()
        form = {"token": token, "token_type_hint": "access_token"}
        methods = metadata.get("introspection_endpoint_auth_methods_supported") or ["client_secret_basic"]
        credentials: tuple[str, str] | None = (_form_encoded(self.client_id), _form_encoded(self.client_secret))
        if "client_secret_basic" not in methods and "client_secret_post" in methods:
            form |= {"client_id": self.client_id, "client_secret": self.client_secret}
            credentials = None
        try:
            url = str(metadata["introspection_endpoint"])
            policy = await self.egress.inside(self.resource.issuer, url)
            return await fetch(url, self.tls, form=form, auth=credentials, egress=policy)
        except AuthorizationServerError:
            self._metadata = None  # it may have moved
            raise

    async def _endpoint(self) -> JsonObject:
        if self._metadata is None:
            self._metadata = await discover(self.resource.issuer, self.tls, "introspection_endpoint", self.egress)
        return self._metadata


def _form_encoded(text: str) -> str:
    """Encode a client's id or secret for Basic authentication (RFC 6749 §2.3.1)."""
    return quote_plus(text)
