"""Access control by an HTTP request's headers: Host, Origin, bearer token, sizes, media types, and CORS.

The checks come before anything of the request's body is read. CORS headers are only sent to pages of allowed origins;
a browser's own credentials (cookies) are never asked for.
Specification: basic/transports, "Security Warning"; basic/authorization; RFC 6750 for the token; RFC 9110 for HTTP;
WHATWG Fetch, "CORS protocol".
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol, TypeAlias

from .. import media_types
from ..protocol.jsonrpc import RequestId
from ..server.grants import Grant
from .responses import EVENT_STREAM, Fields, HTTPError, ResponseBody

Headers: TypeAlias = Mapping[str, str]
"""Header values by name in lower case; lines of one name are one value, so that all checks look at the same value."""

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The hosts of a server for this machine only. A web page that reaches it by DNS rebinding sends its own host name."""

_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}

MAX_HEADER_BYTES: Final = 64 * 1024
"""Bytes of all header lines of a request; the longest known ones are credentials of a few kilobytes."""

_MAX_ACCEPT: Final = 4096
"""Characters of an Accept header that are read: some milliseconds. Browsers send two hundred."""

MAX_HEADERS: Final = 100
"""Header lines of a request: the limit of most servers."""

JSON: Final = "application/json"


class Door(Protocol):
    """A verifier of access tokens (OAuth 2.1 resource server), which whoever makes the application may give it."""

    def known(self, headers: Headers, query: bytes) -> Grant | None:
        """Return what the token of a request grants if it was verified before; else None."""

    async def admit(self, headers: Headers, query: bytes) -> Grant:
        """Return what the token of a request grants. Raises HTTPError: 401, 400 for a malformed one, 503."""

    def refusal(self, scopes: Collection[str], request_id: RequestId | None) -> HTTPError:
        """Return the error (403) for a request whose token lacks some of the scopes that it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The hosts, origins and token that requests need; each check raises HTTPError.

    `allowed_hosts` are the values that Host may have, `allowed_origins` those of Origin (which only browsers send):
    each a host for every port (`localhost`), a host with its port, or for Origin also a complete origin
    (`https://example.com`). None allows any. Besides, a page of this machine is allowed if it came by the port of this
    server: other programs serve pages on the other ports. `auth_token`, if set, has to be sent by every client; `door`
    verifies tokens instead.
    """

    allowed_hosts: Collection[str] | None = LOOPBACK
    allowed_origins: Collection[str] | None = ()
    auth_token: str | None = field(default=None, repr=False)
    door: Door | None = None

    def check_address(self, headers: Headers, port: int | None = None) -> None:
        """Keep pages in a browser from a server on the same machine, which listens on a port.

        Raises HTTPError: 421 for a Host that is not allowed, 403 for an Origin that is not allowed.
        """
        host = headers.get("host", "")
        if not _is_allowed(host, self.allowed_hosts):
            raise HTTPError(421, "The Host header is not a name of this server; --allow-host adds one.")
        origin = headers.get("origin")
        if origin is None or _is_own_page(origin, host, port) or _is_origin_allowed(origin, self.allowed_origins):
            return
        raise HTTPError(403, "Web pages of this origin may not use this server; --allow-origin adds one.")

    def check_token(self, headers: Headers) -> None:
        """Raise HTTPError: 401 without or with a wrong bearer token, 400 for a malformed one."""
        if self.auth_token is None:
            return
        token = bearer_token(headers)
        if not hmac.compare_digest(_digest(token), _digest(self.auth_token)):
            raise unauthorized("The token is not the one of this server.", error="invalid_token")


def bearer_token(headers: Headers, challenge: str = "") -> str:
    """Return the token of a request; `challenge` are more parameters of the challenge in a refusal.

    Raises HTTPError: 401 without a token, 400 for a malformed one (RFC 6750 §2.1, §3.1).
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip(" ")
    if scheme.lower() != "bearer":
        message = "This server requires a token: send Authorization: Bearer <token>."
        raise unauthorized(message, challenge=challenge)
    if not token or not token.isascii() or " " in token:
        message = "The Authorization header must have one token after Bearer."
        raise unauthorized(message, 400, error="invalid_request", challenge=challenge)
    return token


def unauthorized(message: str, status: int = 401, *, error: str = "", challenge: str = "") -> HTTPError:
    """Return the error with a challenge (RFC 6750 §3): the code `error`, and the parameters `challenge`."""
    parameters = ", ".join(filter(None, [f'error="{error}"' if error else "", challenge]))
    return HTTPError(status, message, headers={"WWW-Authenticate": f"Bearer {parameters}".rstrip()})


def check_size(lines: Collection[tuple[bytes, bytes]]) -> None:
    """Raise HTTPError (431) for too many or too long header lines."""
    size = sum([len(name) + len(value) + 4 for name, value in lines])
    if len(lines) > MAX_HEADERS or size > MAX_HEADER_BYTES:
        raise HTTPError(431, f"A request may have at most {MAX_HEADERS} headers, of {MAX_HEADER_BYTES} bytes together.")


def check_host(lines: Collection[tuple[bytes, bytes]]) -> None:
    """Raise HTTPError (400) unless there is exactly one Host header (RFC 9112 §3.2)."""
    count = sum([name.lower() == b"host" for name, _ in lines])
    if count != 1:
        raise HTTPError(400, f"A request must have exactly one Host header, and this one has {count or 'none'}.")


def check_media_types(headers: Headers) -> None:
    """Raise HTTPError: 415 for a body that is not JSON, 406 if neither JSON nor an event stream is acceptable."""
    # A browser sends some other content types to any server without a preflight request.
    if media_types.essence(headers.get("content-type", "")) != JSON:
        raise HTTPError(415, "Content-Type must be application/json.")
    if not accepts(headers, JSON) and not accepts(headers, EVENT_STREAM):
        raise HTTPError(406, "The response is application/json or text/event-stream; Accept must allow one of them.")


def check_accepts_events(headers: Headers) -> None:
    """Raise HTTPError (406) unless an event stream is acceptable: some responses cannot be anything else."""
    if not accepts(headers, EVENT_STREAM):
        raise HTTPError(406, "The response is text/event-stream; Accept must allow it.")


def accepts(headers: Headers, media_type: str) -> bool:
    """Return whether a client accepts a media type; without an Accept header it accepts all."""
    return _includes((headers.get("accept") or "*/*")[:_MAX_ACCEPT], media_type)


@lru_cache(64)  # clients send few different values
def _includes(accept: str, media_type: str) -> bool:
    """Return whether the most specific range that covers a type has a weight above 0 (RFC 9110 §12.5.1, §12.4.2)."""
    ranges = [item for item in accept.split(",") if media_types.covers(item, media_type)]
    most_specific = max(map(_specificity, ranges), default=0)
    return any(_weight(item) > 0 for item in ranges if _specificity(item) == most_specific)


def _specificity(media_range: str) -> int:
    """Return 0 for `*/*`, 1 for `type/*`, 2 for a media type."""
    return 2 - media_types.essence(media_range).count("*")


def _weight(media_range: str) -> float:
    """Return the weight of a range; 1 where it has none, or one that is no number."""
    try:
        return float(media_types.parameter(media_range, "q") or 1)
    except ValueError:
        return 1.0


def combine_lines(lines: Collection[tuple[bytes, bytes]]) -> Headers:
    """Return the values by name; lines of one name are joined by commas (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in lines:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _digest(token: str) -> bytes:
    """Hash a token to a fixed length, so that the time of a comparison does not reveal the token's length."""
    return hashlib.sha256(token.encode()).digest()


def _is_allowed(host: str, allowed: Collection[str] | None) -> bool:
    host = host.lower()
    name, _, port = host.rpartition(":")
    return allowed is None or host in allowed or (port.isdecimal() and name in allowed)


def _is_own_page(origin: str, host: str, port: int | None) -> bool:
    """Return whether an origin is a name of this machine with the port of this server, or of a Host header.

    A tunnel to this server has a port of its own, and a page cannot forge Host.
    """
    scheme, _, address = origin.lower().partition("://")
    if scheme not in _DEFAULT_PORTS:
        return False
    name, own = _split_port(address, _DEFAULT_PORTS[scheme])
    return name in LOOPBACK and own in {str(port), _split_port(host, _DEFAULT_PORTS["http"])[1]}


def _split_port(host: str, default: str) -> tuple[str, str]:
    """Return name and port of a host as Host and Origin have it."""
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and not host.endswith("]") else (host, default)


def _is_origin_allowed(origin: str, allowed: Collection[str] | None) -> bool:
    scheme, separator, host = origin.partition("://")
    if allowed is None or not separator:
        return allowed is None
    return origin in allowed or (scheme in _DEFAULT_PORTS and _is_allowed(host, allowed))


_METHODS: Final = "POST, GET, DELETE"
_REQUEST_HEADERS: Final = frozenset({"accept", "authorization", "content-type", "last-event-id"})
_EXPOSED_HEADERS: Final = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
_MAX_AGE: Final = "7200"
"""Seconds that a browser may cache a preflight response: no browser caches it for more than two hours."""


def is_preflight(method: str, headers: Headers) -> bool:
    """Return whether a request is a CORS preflight request."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def preflight_response(headers: Headers) -> ResponseBody:
    """Return the response to a preflight request: it allows everything that an MCP client needs."""
    names = [name.strip().lower() for name in headers.get("access-control-request-headers", "").split(",")]
    return ResponseBody(
        204,
        headers={
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": ", ".join(
                name for name in names if name in _REQUEST_HEADERS or _is_mcp(name)
            ),
            "Access-Control-Max-Age": _MAX_AGE,
        },
    )


def cors_headers(headers: Headers) -> Fields:
    """Return the header fields of every response to a page of an allowed origin; none if no page asks."""
    origin = headers.get("origin")
    if origin is None:
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _EXPOSED_HEADERS.encode()),
        (b"vary", b"Origin"),
    ]


def _is_mcp(name: str) -> bool:
    """Return whether a header is one of MCP's; tools define any number of `Mcp-Param-…` headers."""
    return name.startswith("mcp-") and name.replace("-", "").isalnum()
