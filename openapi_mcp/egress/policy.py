"""`EgressPolicy`: what this program may contact, for documents, references, authorization servers and the API.

Only http and https are spoken. A host is resolved, its addresses are judged, and the connection goes to those that were
judged: a second DNS query could return others. In this order:

1. With `--egress-only` a target must be among the hosts and networks that it lists.
2. What `--egress-allow` or `--egress-only` lists may have any address.
3. Addresses of metadata services are refused, unless the user wrote the address itself.
4. Private addresses (loopback, link-local and the like) are refused, unless the user named the host, or a document
   that came from this machine or from a private address did.

A proxy of the environment resolves names by itself: then the name is judged, and an address that stands in its place.
Each redirect and each new connection is judged again.
"""

import asyncio
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import Final, NoReturn, Self, TypeAlias
from urllib.parse import urlsplit

from ..errors import UsageError
from ..runtime.errors import UpstreamError
from ..runtime.upstream.pool import Address
from .addresses import METADATA_NAMES, Network, is_metadata, is_public, literal, parse

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

RESOLVE_SECONDS: Final = 2.0
"""Seconds for the name of an authorization server, while callers wait."""

Named: TypeAlias = tuple[str, int | None]
"""A host and a port; None is any port."""

_HOST: Final = re.compile(r"(?P<host>(\*\.)?[A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?")
_HINT: Final = "write a host, host:port, *.host, an address or a network: api.internal, 10.0.0.0/8"


class EgressRefused(UpstreamError):
    """A target may not be contacted. `reason` continues a sentence whose subject is the target; `hint` is the cure."""

    def __init__(self, host: str, reason: str, hint: str) -> None:
        super().__init__(f"{host} is not contacted: it {reason}. To allow it: {hint}.")
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class EgressRule:
    """A host, with `*.` all names below it, or a network."""

    host: str = ""
    port: int | None = None
    network: Network | None = None

    @classmethod
    def parse(cls, text: str, option: str) -> Self:
        """Read HOST, HOST:PORT, *.HOST, an address or a network. Raises UsageError."""
        text = text.strip()
        try:
            return cls(network=ip_network(text.strip("[]"), strict=False))
        except ValueError:
            pass
        match = _HOST.fullmatch(text)
        if match is None or int(match["port"] or 0) > 65535:
            raise UsageError("neither a host nor a network", where=f"{option} {text}", hint=_HINT)
        return cls(match["host"].strip("[]").lower(), int(match["port"]) if match["port"] else None)

    def covers_name(self, host: str, port: int) -> bool:
        """Return whether the rule names a host."""
        if self.network is not None or self.port not in {None, port}:
            return False
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host

    def covers_address(self, address: str) -> bool:
        """Return whether an IP address is in the network of the rule."""
        return self.network is not None and parse(address) in self.network


@dataclass(frozen=True, slots=True)
class EgressRules:
    """The rules of `--egress-allow` and `--egress-only`."""

    allow: tuple[EgressRule, ...] = ()
    only: tuple[EgressRule, ...] = ()

    @classmethod
    def parse_options(cls, allow: Iterable[str], only: Iterable[str]) -> Self:
        """Read the values of both options. Raises UsageError."""
        return cls(
            tuple(EgressRule.parse(text, "--egress-allow") for text in allow),
            tuple(EgressRule.parse(text, "--egress-only") for text in only),
        )


NO_RULES: Final = EgressRules()


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """The judge of targets.

    `named` are hosts that the user named. With `trusts_document` the hosts that a document or the metadata of an
    authorization server names may have private addresses too: it came from such an address itself.
    """

    rules: EgressRules = NO_RULES
    named: frozenset[Named] = frozenset()
    trusts_document: bool = False

    def naming(self, *urls: str | None) -> "EgressPolicy":
        """Return this policy with the hosts of URLs as named by the user."""
        targets = [target for url in urls if url and (target := _target(url))]
        return replace(self, named=self.named.union(targets))

    def naming_hosts(self, texts: Iterable[str]) -> "EgressPolicy":
        """Return this policy with hosts, with or without port, as named by the user; others are left out."""
        matches = [match for text in texts if (match := _HOST.fullmatch(text.strip()))]
        hosts = [
            (match["host"].strip("[]").lower(), int(match["port"]) if match["port"] else None) for match in matches
        ]
        return replace(self, named=self.named.union(hosts))

    async def inside(self, source: str, url: str) -> "EgressPolicy":
        """Return the policy for `url`, which the metadata of `source` names, a URL that the user named.

        If all addresses of the host of `source` are private, that of `url` may have private ones too.
        """
        policy, target = self.naming(source), _target(source)
        if target is None or target == _target(url):
            return policy
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                addresses = await _resolve(target[0], target[1] or 0)
        except OSError:  # TimeoutError is one
            return policy
        return replace(policy, trusts_document=all(not is_public(_ip(address)) for address in addresses))

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host, all of which may be contacted. Raises EgressRefused, OSError."""
        return self._judged(host, port, await _resolve(host, port))

    def resolve_now(self, host: str, port: int) -> Sequence[Address]:
        """Do as `resolve` does, and wait for the name service."""
        return self._judged(host, port, socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))

    def check_name(self, host: str, port: int) -> None:
        """Judge a target that a proxy resolves, by its name. Raises EgressRefused."""
        host = host.lower().rstrip(".")
        address = literal(host)
        if address is None and (host == "localhost" or host.endswith(".localhost")):
            address = "127.0.0.1"
        self._check_listed(host, port, [address] if address else [])
        if self._is_allowed(host, port):
            return
        if host in METADATA_NAMES:
            self._refuse(host, "is the name of a metadata service", "")
        if address:
            self._check_address(host, port, address)

    def needs_addresses(self, host: str, port: int) -> bool:
        """Return whether a host that the user named is judged by its addresses, and not by its name alone."""
        return bool(self.rules.only) and not any(rule.covers_name(host, port) for rule in self.rules.only)

    def _judged(self, host: str, port: int, resolved: Sequence[Address]) -> Sequence[Address]:
        name = host.lower().rstrip(".")
        addresses = [_ip(address) for address in resolved]
        self._check_listed(name, port, addresses)
        if not self._is_allowed(name, port):
            for address in addresses:
                self._check_address(name, port, address)
        return resolved

    def _is_allowed(self, host: str, port: int) -> bool:
        return any(rule.covers_name(host, port) for rule in (*self.rules.allow, *self.rules.only))

    def _check_listed(self, host: str, port: int, addresses: Sequence[str]) -> None:
        """Refuse what `--egress-only` does not list."""
        if not self.needs_addresses(host, port):
            return
        is_in = all(any(rule.covers_address(address) for rule in self.rules.only) for address in addresses)
        if not (addresses and is_in):
            raise EgressRefused(host, "is not among the hosts of `--egress-only`", f"`--egress-only {host}`")

    def _check_address(self, host: str, port: int, address: str) -> None:
        if any(rule.covers_address(address) for rule in (*self.rules.allow, *self.rules.only)):
            return
        is_named = (host, port) in self.named or any(_is_named(host, port, each) for each in self.named)
        if not is_public(address) and not (is_named or self.trusts_document):
            self._refuse(host, "is at a private address", address)
        if is_metadata(address) and not (is_named and literal(host) == address):
            self._refuse(host, "is at the address of a metadata service", address)

    def _refuse(self, host: str, reason: str, address: str) -> NoReturn:
        shown = f", {host} ({address})" if address and address != host else ""
        source = "" if "metadata" in reason else ", and a document or server from a public address named it"
        raise EgressRefused(host, f"{reason}{shown}{source}", f"`--egress-allow {host}`")


def _is_named(host: str, port: int, named: Named) -> bool:
    """Return whether a name with `*.` or without a port means a target."""
    name, named_port = named
    is_same = host.endswith(name[1:]) if name.startswith("*.") else host == name
    return is_same and named_port in {None, port}


def _target(url: str) -> Named | None:
    """Return host and port of a URL; None if it has none, or is not http(s)."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        return None
    return parts.hostname.lower().rstrip("."), DEFAULT_PORTS[parts.scheme] if port is None else port


async def _resolve(host: str, port: int) -> Sequence[Address]:
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _ip(address: Address) -> str:
    return str(address[4][0])
