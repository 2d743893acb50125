"""`Callers`: who sends a request, for limits: its address, its client at that address, and the name of its rate limit.

The address is that of the peer. X-Forwarded-For counts only if the peer is a trusted proxy, and then its last entry
that is no trusted proxy itself: everything before it was written by the client. IPv6 addresses count by the network of
64 bits that one customer has. The clients at an address are told apart by session, else by User-Agent; whoever invents
these still shares what the address may have.

Calls are counted for `--rate-limit` by session, else by token, else by address. Sessions cost nothing, so only a few of
an address have a limit of their own, and the calls of the others count together. Where access tokens name their
subjects, a subject is one client, whatever its sessions and addresses.
Specification: RFC 4291 §2.5.4; X-Forwarded-For has none.
"""

import time
from collections.abc import Callable, Collection
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from starlette.types import Scope

from ..protocol import Session
from ..server.grants import subject
from ..upstream.shares import Caller
from .access import Headers

_Address: TypeAlias = IPv4Address | IPv6Address

MAX_SESSIONS_PER_ADDRESS: Final = 4
"""Sessions of one address whose calls are counted each by itself: the programs that one person has open."""

SESSION_IDLE_SECONDS: Final = 3600.0
"""Seconds without a call after which the place of a session goes to another one."""

MAX_ADDRESSES: Final = 10_000
"""Addresses whose sessions are remembered; the oldest are forgotten. About 10 MB."""

MAX_CACHED_CALLERS: Final = 128
"""Callers that need not be found out again: many clients at once, and 8 MB if their headers are as long as allowed."""

_MAX_HOPS: Final = 16
"""Entries of X-Forwarded-For that are read, from the end: more trusted proxies in a row are not found."""

_CUSTOMER_BITS: Final = 64


class TrustedProxies:
    """The addresses and networks whose X-Forwarded-For is believed. Raises ValueError for a text that is neither."""

    def __init__(self, texts: Collection[str] = ()) -> None:
        self._networks: tuple[IPv4Network | IPv6Network, ...] = tuple(ip_network(text, strict=False) for text in texts)

    def trusts(self, peer: str) -> bool:
        """Return whether an address is one of them."""
        address = _parsed(peer) if self._networks else None
        return address is not None and any(address in network for network in self._networks)

    def address(self, peer: str, forwarded_for: str) -> str:
        """Return the address of the client, given the peer's and the header X-Forwarded-For."""
        if self.trusts(peer):
            for entry in reversed(forwarded_for.split(",")[-_MAX_HOPS:]):
                hop = _without_port(entry.strip())
                if _parsed(hop) is None:
                    break
                peer = hop
                if not self.trusts(hop):
                    break
        return _customer(peer)


@lru_cache(1024)
def _parsed(text: str) -> _Address | None:
    """Return an address; one of IPv4 that is written as IPv6 as what it is."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _without_port(entry: str) -> str:
    """Return the address of an entry such as `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


@lru_cache(1024)
def _customer(peer: str) -> str:
    address = _parsed(peer)
    if isinstance(address, IPv6Address):
        return str(ip_network((address.packed, _CUSTOMER_BITS), strict=False))
    return peer if address is None else str(address)


class Callers:
    """The callers of one endpoint. With `has_token`, every request has shown the one token of this server."""

    def __init__(
        self, proxies: TrustedProxies, *, has_token: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._proxies = proxies
        self._has_token = has_token
        self._clock = clock
        self._caller = lru_cache(MAX_CACHED_CALLERS)(self._new_caller)
        self._sessions: dict[str, dict[str, float]] = {}  # by address: when each counted session made its last call

    def caller(self, scope: Scope, headers: Headers) -> Caller:
        """Return who sends a request."""
        peer, _ = scope.get("client") or ("", 0)
        client = subject() or headers.get("mcp-session-id") or headers.get("user-agent") or ""
        return self._caller(peer, headers.get("x-forwarded-for", ""), client)

    def _new_caller(self, peer: str, forwarded_for: str, client: str) -> Caller:
        address = self._proxies.address(peer, forwarded_for)
        return Caller(address, f"{address} {client}")

    def counted_as(self, caller: Caller, session: Session) -> str:
        """Return the name under which a call in a valid session, or in an empty one, counts for rate limits."""
        if named := subject():
            return f"subject {named}"
        if session.id is not None and self._is_counted_by_itself(caller.address, session.id):
            return f"session {session.id}"
        return "token" if self._has_token else f"address {caller.address}"

    def _is_counted_by_itself(self, address: str, session_id: str) -> bool:
        now = self._clock()
        sessions = self._sessions.setdefault(address, {})
        if session_id not in sessions and len(sessions) >= MAX_SESSIONS_PER_ADDRESS:
            oldest = min(sessions, key=sessions.__getitem__)
            if now - sessions[oldest] < SESSION_IDLE_SECONDS:
                return False
            del sessions[oldest]
        sessions[session_id] = now
        if len(self._sessions) > MAX_ADDRESSES:
            del self._sessions[next(iter(self._sessions))]
        return True
