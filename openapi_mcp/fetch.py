"""Bytes from http(s) addresses, and the rules about which addresses those may be.

A host that the user did not name is only ever asked at a public address, and at exactly the address that was checked.
Redirects are followed by the same rules, one by one. Headers the user gave go to the origin they were given for, and
no other.
"""

import ipaddress
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

import httpx

from .errors import DocumentError, ReferenceRefused

ACCEPT: Final = (
    "application/vnd.oai.openapi+json, application/vnd.oai.openapi, application/json, application/yaml;q=0.9, */*;q=0.5"
)
MOST_REDIRECTS: Final = 5
TIMEOUT: Final = httpx.Timeout(30, connect=10)
"""Seconds. Servers that make their document on request take a while for the first answer."""
DEADLINE: Final = 120.0
"""Seconds for one file altogether, so that a server that trickles does not hold a start up for ever."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CONDITIONS: Final = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
"""With what is asked whether a file is still the same, and what said so when it came."""
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_UNREACHABLE: Final = "check the address and the network"
_CURES: Final = {
    401: "give credentials: --spec-header 'Authorization: Bearer …'",
    403: "give credentials: --spec-header 'Authorization: Bearer …'",
    404: "check the address",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes of one file, where they really came from, and the charset its server named.

    `validators` are the headers with which one asks whether the file is still the same (RFC 9110 §13.1).
    """

    data: bytes
    url: str
    charset: str | None
    validators: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches the files of one document.

    `home` is the http(s) address the user gave, or nothing where the document is local: its host is asked wherever it
    is, and `headers` go to its origin alone.
    """

    home: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: httpx.BaseTransport | None = None

    def get(self, url: str, most_bytes: int, admit: Callable[[str], None] = lambda _: None) -> Fetched:
        """Fetch one file; `admit` is asked about each address on the way and raises for those that may not be.

        Raises DocumentError where there is no file to be had, ReferenceRefused where it may not be asked for.
        """
        fetched = self._get(url, most_bytes, admit, {})
        if fetched is None:
            raise DocumentError("cannot be fetched: 304 Not Modified", hint=_UNREACHABLE)
        return fetched

    def get_again(self, url: str, most_bytes: int, validators: Mapping[str, str]) -> Fetched | None:
        """Fetch a file unless it is still the one that these validators came with; then None. Raises as `get` does."""
        return self._get(url, most_bytes, lambda _: None, validators)

    def _get(
        self, url: str, most_bytes: int, admit: Callable[[str], None], validators: Mapping[str, str]
    ) -> Fetched | None:
        try:
            return self._follow(public(url), most_bytes, admit, validators)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise DocumentError(f"cannot be fetched: {reason}", hint=_UNREACHABLE) from error

    def _follow(
        self, url: str, most_bytes: int, admit: Callable[[str], None], validators: Mapping[str, str]
    ) -> Fetched | None:
        own = origin(url) == origin(self.home)
        with httpx.Client(transport=self.transport, timeout=TIMEOUT, trust_env=own) as client:
            for _ in range(MOST_REDIRECTS + 1):
                admit(url)
                fetched = self._ask(client, url, most_bytes, validators)
                if not isinstance(fetched, str):
                    return fetched
                url = public(fetched)
        raise DocumentError(f"cannot be fetched: more than {MOST_REDIRECTS} redirects")

    def _ask(
        self, client: httpx.Client, url: str, most_bytes: int, validators: Mapping[str, str]
    ) -> Fetched | str | None:
        """One request: the file, the address that it redirects to, or None where the validators still hold."""
        request = self._request(client, url)
        request.headers.update(validators)
        response = client.send(request, stream=True)
        try:
            if response.status_code == httpx.codes.NOT_MODIFIED:
                return None
            if response.status_code in REDIRECTS and "location" in response.headers:
                return urljoin(url, response.headers["location"])
            if not response.is_success:
                status = f"{response.status_code} {response.reason_phrase}".strip()
                raise DocumentError(f"cannot be fetched: {status}", hint=_CURES.get(response.status_code, ""))
            return Fetched(_read(response, most_bytes), url, response.charset_encoding, _validators(response))
        finally:
            response.close()

    def _request(self, client: httpx.Client, url: str) -> httpx.Request:
        there, home = httpx.URL(url), httpx.URL(self.home)
        if not is_remote(url) or not there.host:
            raise ReferenceRefused("is no http(s) address")
        headers = httpx.Headers({"Accept": ACCEPT})
        if there.host == home.host:
            if origin(url) == origin(self.home):
                there = there.copy_with(userinfo=home.userinfo)
                headers.update(self.headers)
            return client.build_request("GET", there, headers=headers)
        # The connection goes to the address that was checked: asking the name again could give another one.
        pinned = there.copy_with(host=_public_address(there))
        headers["Host"] = there.netloc.decode("ascii")
        return client.build_request("GET", pinned, headers=headers, extensions={"sni_hostname": there.host})


def is_remote(source: str) -> bool:
    """Whether a path or URI is an http(s) address."""
    return source[:8].lower().startswith(("http://", "https://"))


def origin(url: str) -> tuple[str, str, int | None]:
    """The scheme, host and port of an address (RFC 6454)."""
    parts = httpx.URL(url)
    return parts.scheme, parts.host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def public(url: str) -> str:
    """An address without the user name and password it may hold, fit to be shown, and without its fragment."""
    try:
        return str(httpx.URL(url).copy_with(userinfo=b"", fragment=None))
    except httpx.InvalidURL:
        return url


def _read(response: httpx.Response, most_bytes: int) -> bytes:
    """The body of an answer, decompressed, unless it is too large or takes too long."""
    chunks: list[bytes] = []
    size, end = 0, time.monotonic() + DEADLINE
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > most_bytes:
            raise ReferenceRefused(f"is larger than {most_bytes:,} bytes")
        if time.monotonic() > end:
            raise DocumentError(f"took longer than {DEADLINE:.0f} seconds")
        chunks.append(chunk)
    return b"".join(chunks)


def _validators(response: httpx.Response) -> Mapping[str, str]:
    headers = response.headers
    return {name: headers[said] for name, said in _CONDITIONS.items() if said in headers}


def _public_address(url: httpx.URL) -> str:
    """The first address of a host none of whose addresses is private. Raises ReferenceRefused, OSError."""
    port = url.port or (443 if url.scheme == "https" else 80)
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)]
    for address in found:
        if not _is_public(address):
            cure = "a document may not send the bridge into your network; name that address yourself if you trust it"
            raise ReferenceRefused(f"is at a private address, {url.host} ({address})", hint=cure)
    return found[0]


def _is_public(address: str) -> bool:
    """Whether an IP address is reachable from everywhere, also by the IPv4 address that an IPv6 address stands for."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved
