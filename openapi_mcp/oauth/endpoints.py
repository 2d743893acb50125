"""Requests to an authorization server: its metadata, tokens, device codes and revocation.

Authlib writes the parameters and the client's authentication. Requests go to https, or to this machine, and to the
addresses that the policy of `egress` allows; redirects are not followed, and time and size are bounded. No error shows
a secret or a token.

Specification: RFC 6749 §§4.1.3, 4.4, 5, 6; RFC 7009; RFC 7636; RFC 8414; RFC 8628; OpenID Connect Discovery 1.0 §4.
"""

import asyncio
import math
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from ..compilation import OAuthScheme
from ..egress.addresses import is_secure
from ..egress.policy import EgressPolicy, EgressRefused
from ..runtime import jsontext
from ..runtime.errors import RuntimeFailure
from ..runtime.upstream.transport import Transport
from .clients import OAuthClient

MAX_ANSWER_BYTES: Final = 1 << 20
"""Bytes of an answer of an authorization server. Tokens and metadata take some kilobytes."""

REQUEST_TIMEOUT: Final = 15.0
"""Seconds for one request to an authorization server, connection included."""

MAX_LIFETIME: Final = 365 * 86_400.0
"""Seconds after which a token is renewed, whatever its `expires_in` says."""

_MAX_REASON: Final = 300
"""Characters of an authorization server's own words in an error."""


TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105  # the name of a grant


class OAuthFailure(RuntimeFailure):
    """An authorization server gave no token, or cannot be asked; `error` is its code of RFC 6749 §5.2."""

    def __init__(self, message: str, error: str = "") -> None:
        super().__init__(message)
        self.error = error


class SignInNeeded(OAuthFailure):
    """A token that is had by a sign-in only, and nobody has signed in, or the sign-in has ended."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The answer of a token endpoint. `expires_at` is in seconds since 1970; None if the server did not say."""

    value: str = field(repr=False)
    expires_at: float | None = None
    refresh_token: str | None = field(default=None, repr=False)
    scope: str | None = None

    def is_fresh(self, now: float) -> bool:
        """Return whether the token can be used for the next minute; of a short life, for a fifth of it."""
        return self.expires_at is None or now < self.expires_at

    @classmethod
    def of_answer(cls, answer: Mapping[str, Any], previous: "AccessToken | None" = None) -> "AccessToken":
        """Return the token of an answer; without a refresh token the previous one stays (RFC 6749 §6).

        Raises OAuthFailure for an answer without a bearer token.
        """
        value, kind = answer.get("access_token"), answer.get("token_type", "Bearer")
        if not isinstance(value, str) or not value or not value.isprintable():
            raise OAuthFailure("The answer of the token endpoint has no `access_token`.")
        if not isinstance(kind, str) or kind.lower() not in {"bearer", "n_a"}:
            raise OAuthFailure(
                f"The token endpoint gave a token of the type {str(kind)[:40]!r}; only Bearer is supported."
            )
        refresh = answer.get("refresh_token")
        scope = answer.get("scope")
        return cls(
            value,
            _expiry(answer.get("expires_in")),
            refresh if isinstance(refresh, str) and refresh else previous.refresh_token if previous else None,
            scope if isinstance(scope, str) else None,
        )


def _expiry(expires_in: Any) -> float | None:
    """Return when a token is renewed: a minute before it expires, or after four fifths of a shorter life."""
    try:
        seconds = float(expires_in)
    except (TypeError, ValueError, OverflowError):
        return None
    if math.isnan(seconds) or seconds < 0:
        return None
    seconds = min(seconds, MAX_LIFETIME)
    return time.time() + max(seconds - 60, seconds * 0.8)


class AuthorizationServer:
    """The authorization server of a security scheme, and this program as its client. Its endpoints are found once.

    `egress` judges the hosts that the document and the server's metadata name; `metadata` is given where it is known.
    """

    def __init__(
        self,
        scheme: OAuthScheme,
        client: OAuthClient,
        verify: ssl.SSLContext | bool = True,
        egress: EgressPolicy | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self._egress = egress or EgressPolicy()
        self.client = client
        self._scheme = client.endpoints(scheme)
        self._verify = verify
        self._metadata = metadata

    def urls_of_document(self, scheme: OAuthScheme) -> Iterator[str]:
        """Yield the URLs that get this client's secret and that the document names, not the settings."""
        if scheme.metadata_url and not self.client.metadata_url:
            yield scheme.metadata_url
        if not self.client.token_url:
            yield from filter(None, (scheme.token_url, scheme.refresh_url))

    def hosts(self) -> list[str]:
        """Return the hosts that get this client's secret, as far as they are known without asking one of them."""
        urls = (self._scheme.token_url, self._scheme.refresh_url, self._scheme.metadata_url)
        return list(dict.fromkeys(_host(url) for url in urls if url)) or ["no host yet"]

    @property
    def scope(self) -> str:
        """The scopes that are requested, separated by spaces; empty for the server's default."""
        return " ".join(self._scheme.scopes)

    async def scheme(self) -> OAuthScheme:
        """Return the endpoints: those of the document and the settings, others from the metadata."""
        metadata = await self.metadata()
        found = {
            "token_url": metadata.get("token_endpoint"),
            "authorization_url": metadata.get("authorization_endpoint"),
            "device_url": metadata.get("device_authorization_endpoint"),
        }
        missing = {name: url for name, url in found.items() if isinstance(url, str) and not getattr(self._scheme, name)}
        return replace(self._scheme, **missing)  # type: ignore[arg-type]  # URLs, by the names of their fields

    async def metadata(self) -> Mapping[str, Any]:
        """Return the server's metadata (RFC 8414, OpenID Connect Discovery); empty if no URL of it is known."""
        if self._metadata is None:
            url = self._scheme.metadata_url
            self._metadata = await self._request("GET", url) if url else {}
            issuer = self._metadata.get("issuer")
            if url and isinstance(issuer, str) and _origin(issuer) != _origin(url):
                self._metadata = None
                raise OAuthFailure(
                    f"The metadata at {_host(url)} names another issuer: {_host(issuer)} (RFC 8414 §3.3)."
                )
        return self._metadata

    async def token(
        self, grant_type: str, parameters: Mapping[str, str], previous: AccessToken | None = None
    ) -> AccessToken:
        """Return a token for a grant. Raises OAuthFailure."""
        return AccessToken.of_answer(await self._grant(grant_type, parameters), previous)

    async def assertion(self, parameters: Mapping[str, str], kind: str) -> str:
        """Return what a token exchange gives, which must be of a kind (RFC 8693 §2.2). Raises OAuthFailure."""
        answer = await self._grant(TOKEN_EXCHANGE, {**parameters, "requested_token_type": kind})
        if answer.get("issued_token_type") != kind:
            raise OAuthFailure(f"The identity provider gave no {kind.rpartition(':')[2]}: it may not support that.")
        return AccessToken.of_answer(answer).value

    async def _grant(self, grant_type: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the answer of the token endpoint. Raises OAuthFailure."""
        scheme = await self.scheme()
        url = (scheme.refresh_url if grant_type == "refresh_token" else None) or scheme.token_url
        if not url:
            hint = f"set --oauth {scheme.name}.token-url=…"
            raise OAuthFailure(f"The document names no token endpoint for the security scheme `{scheme.name}`; {hint}.")
        named = {"audience": self.client.audience, "resource": self.client.resource}
        fields = {name: value for name, value in {**named, **parameters}.items() if value}
        return await self._post(url, {"grant_type": grant_type, **fields})

    async def device_code(self) -> Mapping[str, Any]:
        """Return the answer of the device authorization endpoint (RFC 8628 §3.2). Raises OAuthFailure."""
        scheme = await self.scheme()
        if not scheme.device_url:
            hint = f"set --oauth {scheme.name}.device-url=…, or sign in without --device"
            raise OAuthFailure(f"No device authorization endpoint is known for `{scheme.name}`; {hint}.")
        return await self._post(scheme.device_url, {"scope": self.scope} if self.scope else {})

    async def revoke(self, token: AccessToken) -> bool:
        """Revoke a token (RFC 7009); return whether the server has an endpoint for that."""
        url = (await self.metadata()).get("revocation_endpoint")
        if not isinstance(url, str):
            return False
        await self._post(url, {"token": token.refresh_token or token.value})
        return True

    async def _post(self, url: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Send a form with the client's authentication."""
        from authlib.common.urls import add_params_to_qs
        from authlib.oauth2.auth import ClientAuth

        client_id = self.client.client_id
        if not client_id:
            name = self._scheme.name
            raise OAuthFailure(f"No OAuth client is configured: set --oauth {name}.client-id=… (and .client-secret).")
        auth = ClientAuth(client_id, self.client.client_secret, await self._auth_method())
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        url, headers, body = auth.prepare("POST", url, headers, add_params_to_qs("", list(fields.items())))
        return await self._request("POST", url, headers, body)

    async def _auth_method(self) -> str:
        if self.client.auth_method:
            return self.client.auth_method
        if not self.client.client_secret:
            return "none"
        supported = (await self.metadata()).get("token_endpoint_auth_methods_supported")
        is_known = isinstance(supported, list) and "client_secret_basic" not in supported
        takes_post = is_known and "client_secret_post" in (supported or ())
        return "client_secret_post" if takes_post else "client_secret_basic"

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> Mapping[str, Any]:
        """Return the JSON object of an answer; {} for one without a body. Raises OAuthFailure."""
        check_url(url)
        host = _host(url)
        fields = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
        try:
            async with (
                asyncio.timeout(REQUEST_TIMEOUT),
                httpx.AsyncClient(transport=Transport(verify=self._verify, egress=self._egress)) as http,
                http.stream(method, url, headers=fields, content=body.encode() or None) as response,
            ):
                data = await _bounded(response, host)
                status = response.status_code
        except TimeoutError as error:
            raise OAuthFailure(
                f"The authorization server {host} did not answer within {REQUEST_TIMEOUT:g} s."
            ) from error
        except EgressRefused as error:
            raise OAuthFailure(f"No request was sent to the authorization server. {error}") from error
        except (httpx.HTTPError, OSError) as error:
            reason = type(error).__name__
            raise OAuthFailure(f"The authorization server {host} cannot be reached: {reason}.") from error
        return _read(status, data, host)


async def _bounded(response: httpx.Response, host: str) -> bytes:
    """Return the bytes of a body as they were sent: a compressed one was not asked for, and is no JSON."""
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > MAX_ANSWER_BYTES:
            raise OAuthFailure(f"The answer of the authorization server {host} is too large.")
    return bytes(data)


def _read(status: int, data: bytes, host: str) -> Mapping[str, Any]:
    """Return the JSON object of an answer. Raises OAuthFailure for an error (RFC 6749 §5.2)."""
    try:
        answer = jsontext.read(data) if data else {}
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and status < 300 and "error" not in answer:
        return answer
    error = answer.get("error") if isinstance(answer, dict) else None
    words = [error, answer.get("error_description")] if isinstance(answer, dict) else []
    reason = ": ".join(printable(word) for word in words if isinstance(word, str))
    said = f"status {status}" + (
        f", {reason}" if reason else "" if isinstance(answer, dict) else ", and no JSON object"
    )
    raise OAuthFailure(
        f"The authorization server {host} answered with {said}.", error if isinstance(error, str) else ""
    )


def check_url(url: str) -> None:
    """Raise OAuthFailure for a URL that credentials may not be sent to: neither https nor on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise OAuthFailure("The URL of the authorization server is not valid.") from None
    if not is_secure(parts):
        raise OAuthFailure(
            f"The URL of the authorization server at {host or 'no host'} is not https, so no secret is sent to it."
        )


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _host(url: str) -> str:
    try:
        return printable(urlsplit(url).netloc.rpartition("@")[2])
    except ValueError:
        return "?"


def printable(text: str) -> str:
    """Return the beginning of an authorization server's own words, without characters that control a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text[:_MAX_REASON])
