"""Fetch the files of a document over HTTP: `Fetcher`, which asks the policy (`egress`) about every address.

A host that the user did not name must have public addresses only, and the connection goes to the address that was
judged. The host that the user named may be private, but where it was public once, it is not private later. Each
redirect is judged in the same way, and none leads from https to http. The user's headers are sent only to the origin of
the document.

A body is unpacked within the limit of bytes, however many codings it has; everything about one file has one limit of
time.

The user's certificates are those that API calls are made with: the trusted ones count for every host,
the client certificate is shown to the origin of the document only.
"""

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import urljoin
from urllib.request import getproxies

import httpx

from ..egress.addresses import is_public, literal
from ..egress.policy import DEFAULT_PORTS, EgressPolicy, EgressRefused
from ..errors import DocumentError, ReferenceRefused
from ..runtime.upstream.decoding import Decoder, UnreadableCoding
from ..runtime.upstream.errors import certificate_hint
from .addresses import Certificates, is_remote

ACCEPT: Final = (
    "application/vnd.oai.openapi+json, application/vnd.oai.openapi, application/json, application/yaml;q=0.9, */*;q=0.5"
)
MAX_REDIRECTS: Final = 5
TIMEOUT: Final = httpx.Timeout(30, connect=10)
"""Seconds. Servers that build their document on request are slow to answer."""
DEADLINE: Final = 120.0
"""Seconds for one whole file, so that a server that sends a few bytes now and then cannot block a start for ever."""
CODINGS: Final = "gzip, deflate"
"""The content codings that are asked for."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CONDITIONS: Final = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
"""Headers of a conditional request, and the response headers that their values come from (RFC 9110 §13.1)."""
_UNREACHABLE: Final = "check the address and the network"
_CURES: Final = {
    401: "give credentials: --spec-header 'Authorization: Bearer …'",
    403: "give credentials: --spec-header 'Authorization: Bearer …'",
    404: "check the address",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes of one fetched file, its URL after redirects, and the charset in its Content-Type.

    `validators` are the headers of a conditional request for the same file (RFC 9110 §13.1). `is_private` tells whether
    it came from a private address, this machine's among them.
    """

    data: bytes
    url: str
    charset: str | None
    validators: Mapping[str, str] = field(default_factory=dict)
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class Fetcher:
    """An HTTP client for the files of one document.

    `home` is the document's http(s) address, empty for a local document. Its host may be private, and `headers` are
    sent to its origin only. `certificates` that cannot be used are a UsageError. `egress` judges the other hosts.
    """

    home: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: httpx.BaseTransport | None = None
    certificates: Certificates = field(default_factory=Certificates)
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    _public_hosts: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    """Hosts that have answered from a public address."""

    def get(self, url: str, most_bytes: int, admit: Callable[[str], None] = lambda _: None) -> Fetched:
        """Fetch one file of at most `most_bytes`; `admit` is called with each URL, redirects included, to refuse it.

        Raises DocumentError if the file cannot be fetched, ReferenceRefused if it may not be.
        """
        fetched = self._get(url, most_bytes, admit, {})
        if fetched is None:
            raise DocumentError("cannot be fetched: 304 Not Modified", hint=_UNREACHABLE)
        return fetched

    def get_again(self, url: str, most_bytes: int, validators: Mapping[str, str]) -> Fetched | None:
        """Fetch a file, or return None if it is unchanged since these validators. Raises like `get`."""
        return self._get(url, most_bytes, lambda _: None, validators)

    def _get(
        self, url: str, most_bytes: int, admit: Callable[[str], None], validators: Mapping[str, str]
    ) -> Fetched | None:
        try:
            return self._follow(public(url), most_bytes, admit, validators)
        except httpx.InvalidURL:  # its text could quote a part of the password
            raise DocumentError("cannot be fetched: the URL is not valid", hint=_UNREACHABLE) from None
        except UnreadableCoding as error:
            raise ReferenceRefused(f"is {error}") from error
        except EgressRefused as error:
            raise ReferenceRefused(error.reason, hint=f"to allow it: {error.hint}") from error
        except (httpx.HTTPError, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise DocumentError(f"cannot be fetched: {reason}", hint=certificate_hint(error) or _UNREACHABLE) from error

    def _follow(
        self, url: str, most_bytes: int, admit: Callable[[str], None], validators: Mapping[str, str]
    ) -> Fetched | None:
        trust_env = self._is_own(url)
        with Deadline(DEADLINE) as deadline:
            for _ in range(MAX_REDIRECTS + 1):
                admit(url)
                tls = self.certificates.context(own=self._is_own(url))
                with httpx.Client(transport=self.transport, timeout=TIMEOUT, trust_env=trust_env, verify=tls) as client:
                    request = self._request(client, url)
                    request.headers.update(validators)
                    request.extensions["trace"] = deadline.trace
                    fetched = self._ask(client, request, url, most_bytes)
                if not isinstance(fetched, str):
                    return fetched
                if is_https(url) and not is_https(fetched):
                    hint = "if you trust that address, give it as the address of the document"
                    raise ReferenceRefused(f"redirects from https to {public(fetched)}", hint=hint)
                url = public(fetched)
        raise DocumentError(f"cannot be fetched: more than {MAX_REDIRECTS} redirects")

    def _ask(self, client: httpx.Client, request: httpx.Request, url: str, most_bytes: int) -> Fetched | str | None:
        """Send one request; return the file, the URL that it redirects to, or None for 304 Not Modified."""
        response = client.send(request, stream=True)
        try:
            is_private = self._check_peer(response, httpx.URL(url).host)
            if response.status_code == httpx.codes.NOT_MODIFIED:
                return None
            if response.status_code in REDIRECTS and "location" in response.headers:
                return urljoin(url, response.headers["location"])
            if not response.is_success:
                status = f"{response.status_code} {response.reason_phrase}".strip()
                raise DocumentError(f"cannot be fetched: {status}", hint=_CURES.get(response.status_code, ""))
            return Fetched(
                _read(response, most_bytes), url, response.charset_encoding, _validators(response), is_private
            )
        finally:
            response.close()

    def _request(self, client: httpx.Client, url: str) -> httpx.Request:
        target, home = httpx.URL(url), httpx.URL(self.home)
        if not is_remote(url) or not target.host:
            raise ReferenceRefused("is not an http(s) address")
        headers = httpx.Headers({"Accept": ACCEPT, "Accept-Encoding": CODINGS})
        port = target.port or DEFAULT_PORTS[target.scheme]
        if self._is_own(url):
            target = target.copy_with(userinfo=home.userinfo)
            headers.update(self.headers)
        if target.host == home.host and not self.egress.needs_addresses(target.host, port):
            return client.build_request("GET", target, headers=headers)
        # The connection goes to the address that was judged: a second DNS query could return another one.
        policy = self.egress.naming_hosts([target.host]) if target.host == home.host else self.egress
        pinned = target.copy_with(host=str(policy.resolve_now(target.host, port)[0][4][0]))
        headers["Host"] = target.netloc.decode("ascii")
        return client.build_request("GET", pinned, headers=headers, extensions={"sni_hostname": target.host})

    def _check_peer(self, response: httpx.Response, host: str) -> bool:
        """Return whether an answer came from a private address; where that is not known, whether `host` is one.

        Raises ReferenceRefused for a private address of a host whose address was public before: whoever owns a name can
        let it lead to this machine for the second request.
        """
        stream = response.extensions.get("network_stream")
        peer = stream.get_extra_info("server_addr") if stream is not None and not getproxies() else None
        address = str(peer[0]) if isinstance(peer, tuple) and peer else None
        if address is None:
            address = literal(host)
            return host == "localhost" or (address is not None and not is_public(address))
        if is_public(address):
            self._public_hosts.add(host)
            return False
        if host in self._public_hosts:
            raise ReferenceRefused(
                f"is at a private address now, {host} ({address})", hint="do not trust this document"
            )
        return True

    def _is_own(self, url: str) -> bool:
        """Return whether a URL has the origin of the document."""
        return origin(url) == origin(self.home)


def origin(url: str) -> tuple[str, str, int | None]:
    """Return the scheme, host and port of a URL (RFC 6454)."""
    parts = httpx.URL(url)
    return parts.scheme, parts.host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def public(url: str) -> str:
    """Return a URL without user name, password and fragment, so that it can be shown and logged."""
    try:
        return str(httpx.URL(url).copy_with(userinfo=b"", fragment=None))
    except httpx.InvalidURL:
        return url


def is_https(url: str) -> bool:
    """Return whether a URL begins with https."""
    return url[:8].lower() == "https://"


class Deadline:
    """A limit of time, in seconds, for the requests of a block: at its end their connections are shut.

    Raises DocumentError then. Timeouts of single reads do not end a request whose bytes come one by one.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._has_passed = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note a connection that is opened (httpcore's extension `trace`)."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._has_passed:
                self._end()

    def _end(self) -> None:
        self._has_passed = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        self._timer.cancel()
        if self._has_passed and (error is None or isinstance(error, httpx.HTTPError | OSError)):
            raise DocumentError(f"took longer than {self._seconds:.0f} seconds") from error


def _read(response: httpx.Response, most_bytes: int) -> bytes:
    """Return the unpacked body of a response. Raises ReferenceRefused if it is larger than `most_bytes`."""
    chunks: list[bytes] = []
    size = 0
    decoder = Decoder(response.headers.get("content-encoding", ""), 2 * most_bytes)
    stream = response.stream
    for received in stream if isinstance(stream, httpx.SyncByteStream) else ():
        for chunk in decoder.feed(received):
            size += len(chunk)
            if size > most_bytes:
                raise ReferenceRefused(f"is larger than {most_bytes:,} bytes")
            chunks.append(chunk)
    if not decoder.is_complete:
        raise DocumentError("cannot be fetched: the compressed body ends too soon", hint=_UNREACHABLE)
    return b"".join(chunks)


def _validators(response: httpx.Response) -> Mapping[str, str]:
    headers = response.headers
    return {condition: headers[name] for condition, name in _CONDITIONS.items() if name in headers}
