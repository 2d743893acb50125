"""`Door`: who may come in, and with what; judged by an HTTP request's headers alone, before anything is read or done.

Specification: basic/transports, "Security Warning"; basic/authorization; RFC 6750 for the token; RFC 9110 for the rest.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from . import media_types
from .replies import EVENT_STREAM, Refused

Headers: TypeAlias = Mapping[str, str]
"""Names in lower case; the lines of one name are one value, so that no check looks at another line than the next."""

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The hosts of a server for this machine only; with a web page's own name in Host, the page's browser was misled."""

MAX_HEADER_BYTES: Final = 64 * 1024
"""All lines of a request together; the longest that clients of ours send are credentials of a few kilobytes."""

MAX_HEADERS: Final = 100
"""Header lines of a request: what most servers take."""

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Each check raises Refused.

    `allowed_hosts` are the values that Host may have, `allowed_origins` those of Origin (which only browsers send):
    each a host for every port (`localhost`), a host with its port, or for Origin also the whole
    (`https://example.com`). None lets in all. `auth_token` is what everybody has to show, if it is given.
    """

    allowed_hosts: Collection[str] | None = LOOPBACK
    allowed_origins: Collection[str] | None = LOOPBACK
    auth_token: str | None = field(default=None, repr=False)

    def check_address(self, headers: Headers) -> None:
        """A page in a browser must not reach a server on the same machine (421, 403)."""
        if not _is_allowed(headers.get("host", ""), self.allowed_hosts):
            raise Refused(421, "This server is not known by that host name.")
        origin = headers.get("origin")
        if origin is not None and not _is_origin_allowed(origin, self.allowed_origins):
            raise Refused(403, "Pages of this origin may not use this server.")

    def check_token(self, headers: Headers) -> None:
        """Who has no token is told to bring one (401), and who has it wrong is told so (400 where it is none)."""
        if self.auth_token is None:
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer":
            raise _unauthorized("Bearer", "This server wants a token (Authorization: Bearer …).")
        if not token or not token.isascii() or " " in token:
            raise _unauthorized('Bearer error="invalid_request"', "The Authorization header has no single token.", 400)
        if not hmac.compare_digest(_digest(token), _digest(self.auth_token)):
            raise _unauthorized('Bearer error="invalid_token"', "The token is not the one of this server.")


def check_size(lines: Collection[tuple[bytes, bytes]]) -> None:
    """A request has so many header lines, and they are so long (431)."""
    size = sum([len(name) + len(value) + 4 for name, value in lines])
    if len(lines) > MAX_HEADERS or size > MAX_HEADER_BYTES:
        raise Refused(431, f"A request has at most {MAX_HEADERS} headers, of {MAX_HEADER_BYTES} bytes together.")


def check_media_types(headers: Headers) -> None:
    """A message is JSON (415), and its sender takes one kind of answer at least (406)."""
    # A browser may send the other content types to anybody without asking first.
    if media_types.essence(headers.get("content-type", "")) != JSON:
        raise Refused(415, "The content type must be application/json.")
    if not accepts(headers, JSON) and not accepts(headers, EVENT_STREAM):
        raise Refused(406, "The answer is application/json.")


def check_takes_events(headers: Headers) -> None:
    """What is a stream of events by its nature cannot be answered otherwise (406)."""
    if not accepts(headers, EVENT_STREAM):
        raise Refused(406, "The answer is text/event-stream.")


def accepts(headers: Headers, kind: str) -> bool:
    """Whether a media type is among those that a client takes, which are all where it says nothing."""
    return _includes(headers.get("accept") or "*/*", kind)


@lru_cache(64)  # clients say few different things; who says long ones fills four megabytes at most
def _includes(accept: str, kind: str) -> bool:
    return any(media_types.covers(item, kind) for item in accept.split(","))


def joined(lines: Collection[tuple[bytes, bytes]]) -> Headers:
    """Header lines by name; those of one name together (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in lines:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _unauthorized(challenge: str, message: str, status: int = 401) -> Refused:
    return Refused(status, message, headers={"WWW-Authenticate": challenge})


def _digest(token: str) -> bytes:
    """Of one length, so that the time a comparison takes says nothing of the token's."""
    return hashlib.sha256(token.encode()).digest()


def _is_allowed(host: str, allowed: Collection[str] | None) -> bool:
    host = host.lower()
    name, _, port = host.rpartition(":")
    return allowed is None or host in allowed or (port.isdecimal() and name in allowed)


def _is_origin_allowed(origin: str, allowed: Collection[str] | None) -> bool:
    scheme, separator, host = origin.partition("://")
    if allowed is None or not separator:
        return allowed is None
    return origin in allowed or (scheme in {"http", "https"} and _is_allowed(host, allowed))
