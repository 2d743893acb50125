"""Requests to the authorization server: its metadata, found as MCP says, its keys, and introspection.

Each request is bounded in bytes and time, goes to https (or http on this machine) and to addresses that the policy of
`egress` allows, and follows no redirect.
Specification: MCP basic/authorization/authorization-server-discovery, "Authorization Server Metadata Discovery";
RFC 8414 §§3, 5; OpenID Connect Discovery 1.0 §4; RFC 7517 §5.
"""

import asyncio
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import httpx

from ..egress.addresses import is_secure
from ..egress.policy import EgressPolicy, EgressRefused
from ..runtime import jsontext
from ..runtime.types import JsonObject
from ..runtime.upstream.transport import Transport

FETCH_SECONDS: Final = 5.0
"""Seconds for one request, connection included: clients wait meanwhile."""

MAX_FETCHED_BYTES: Final = 512 * 1024
"""Bytes of a response. The largest known key sets have 30 kB."""

Tls: TypeAlias = Callable[[], ssl.SSLContext | bool]
"""Makes httpx's `verify` when the first request needs it."""


NO_POLICY: Final = EgressPolicy()
"""Public addresses only, besides those of the issuer."""


class AuthorizationServerError(Exception):
    """The authorization server cannot be asked, or its answer cannot be used; the text says which and why."""


def metadata_urls(issuer: str) -> Iterator[str]:
    """Yield the addresses at which an issuer's metadata may be, in the order of the specification."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{origin}/.well-known/oauth-authorization-server{path}"
    yield f"{origin}/.well-known/openid-configuration{path}"
    if path:
        yield f"{origin}{path}/.well-known/openid-configuration"


async def discover(issuer: str, tls: Tls, needed: str, egress: EgressPolicy = NO_POLICY) -> JsonObject:
    """Return the metadata of an issuer, which has the address `needed`. Raises AuthorizationServerError.

    A document of another issuer is not used (RFC 8414 §3.3).
    """
    reasons: list[str] = []
    for url in metadata_urls(issuer):
        try:
            metadata = await fetch(url, tls, egress=egress.naming(issuer))
        except AuthorizationServerError as error:
            reasons.append(str(error))
            continue
        if metadata.get("issuer") != issuer:
            reasons.append(f"{url} is the metadata of another issuer ({metadata.get('issuer')!r:.200})")
        elif not isinstance(metadata.get(needed), str):
            reasons.append(f"{url} names no {needed}")
        else:
            return metadata
    raise AuthorizationServerError(f"no usable metadata of {issuer}: {'; '.join(reasons)}")


async def fetch(
    url: str,
    tls: Tls,
    *,
    form: Mapping[str, str] | None = None,
    auth: tuple[str, str] | None = None,
    egress: EgressPolicy = NO_POLICY,
) -> JsonObject:
    """Return the JSON object at an address; with `form`, the answer to a POST. Raises AuthorizationServerError."""
    try:
        parts = urlsplit(url)
        if not is_secure(parts):
            raise AuthorizationServerError(f"{url} is neither https nor http on this machine")
        async with asyncio.timeout(FETCH_SECONDS):
            body = await _body(url, _transport(tls, egress, is_proxied=parts.scheme == "https"), form, auth)
        value = jsontext.read(body.decode())
    except TimeoutError:
        raise AuthorizationServerError(f"{url} took longer than {FETCH_SECONDS:g} seconds") from None
    except EgressRefused as error:
        raise AuthorizationServerError(f"{url} {error.reason}; to allow it: {error.hint}") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise AuthorizationServerError(f"{url} cannot be reached: {str(error) or type(error).__name__}") from error
    except (ValueError, RecursionError) as error:
        raise AuthorizationServerError(f"{url} is not JSON") from error
    if not isinstance(value, dict):
        raise AuthorizationServerError(f"{url} is not a JSON object")
    return value


def _transport(tls: Tls, egress: EgressPolicy, *, is_proxied: bool) -> Transport:
    """Return a transport for one request, which goes through the proxies of the environment if `is_proxied`."""
    return Transport(verify=tls(), egress=egress, environment=None if is_proxied else {})


async def _body(url: str, transport: Transport, form: Mapping[str, str] | None, auth: tuple[str, str] | None) -> bytes:
    """Return the body of a successful response. `identity` leaves nothing to unpack."""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    async with (
        httpx.AsyncClient(transport=transport, trust_env=False, timeout=FETCH_SECONDS) as client,
        client.stream("GET" if form is None else "POST", url, headers=headers, data=form, auth=auth) as response,
    ):
        if response.status_code != httpx.codes.OK:
            raise AuthorizationServerError(f"{url} answers {response.status_code}")
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > MAX_FETCHED_BYTES:
                raise AuthorizationServerError(f"{url} is longer than {MAX_FETCHED_BYTES} bytes")
        return bytes(body)
