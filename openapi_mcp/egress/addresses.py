"""Kinds of IP addresses: public ones, those of metadata services, and the forms in which a host can be one.

Specification: RFC 6890 (special-purpose addresses), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo).
"""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias
from urllib.parse import SplitResult

IPAddress: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_NAT64: Final = ip_network("64:ff9b::/96")

METADATA: Final = tuple(
    map(
        ip_network,
        (
            "169.254.169.254/32",  # AWS, Azure, Google Cloud, DigitalOcean, OpenStack, Oracle
            "169.254.170.0/24",  # AWS: credentials of containers
            "168.63.129.16/32",  # Azure: its address is public
            "100.100.100.200/32",  # Alibaba Cloud
            "192.0.0.192/32",  # Oracle Cloud
            "fd00:ec2::/32",  # AWS over IPv6
            "fd20:ce::254/128",  # Google Cloud over IPv6
        ),
    )
)
"""Addresses at which a cloud tells its machines their credentials."""

METADATA_NAMES: Final = frozenset({"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"})
"""Names of these addresses, for targets that a proxy resolves."""


def literal(host: str) -> str | None:
    """Return the IP address that a host is, in any form that sockets read (`127.1`, `0x7f.1`, `2130706433`)."""
    try:
        return str(ip_address(host.strip("[]").partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def parse(address: str) -> IPAddress:
    """Return an address without its zone; of one that holds an IPv4 address, that. Raises ValueError."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else inner or ip
    return ip


def is_public(address: str) -> bool:
    """Return whether an IP address is public."""
    ip = parse(address)
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def is_secure(parts: SplitResult) -> bool:
    """Return whether a URL that gets a secret is https, or http on this machine."""
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and is_loopback_name(parts.hostname or ""))
    )


def is_loopback_name(host: str) -> bool:
    """Return whether the host of a URL is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_metadata(address: str) -> bool:
    """Return whether an IP address is that of a metadata service."""
    ip = parse(address)
    return any(ip in network for network in METADATA)
