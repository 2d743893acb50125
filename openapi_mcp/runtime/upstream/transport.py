"""`Transport`: an httpx transport for requests to the API, on asyncio and httptools.

Why an HTTP client of our own (this file, `pool`, `connection`, `http11`): in the project's benchmark, with 16 calls at
a time, the server makes 5,559 calls/s with it and 3,530 calls/s over httpx-aiohttp's transport without a client (1.57
times as many), and a call takes 181 µs of CPU time instead of 285 µs. httpx's own pool alone takes more CPU time than
the rest of a call (`benchmarks/README.md`).

HTTP/1.1 directly to the host is sent here; proxies, HTTP/2 and CONNECT by httpx's own transport. When a reused
connection turns out to be closed, a request that can be repeated is sent once more on a new connection.

`Proxies` chooses the proxy for a URL from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as httpx reads them; it is
pure, the environment is a parameter.

Specification: RFC 9112 §9.3.1, RFC 9110 §9.2.2; httpx, "Environment Variables", "Proxies".
"""

import ipaddress
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import httpx

from .connection import Connection, Exchange, Origin
from .pool import LIMITS, Egress, Pool
from .progress import EXTENSION, CallProgress
from .retries import IDEMPOTENT_METHODS

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ERRORS_BEFORE_A_RESPONSE: Final = (httpx.ReadError, httpx.RemoteProtocolError)


class Transport(httpx.AsyncBaseTransport):
    """A transport for the requests of one event loop. It neither follows redirects nor stores cookies nor decodes.

    `verify` is as httpx takes it: a context, or True for the certificates that httpx trusts, which are read when they
    are needed. `environment` holds the proxies as `urllib.request.getproxies` returns them, which is called by default.
    Of a request's extensions `timeout` (`connect`, `read`, `write`, `pool`; seconds or None) and that of `progress` are
    used. A response with status 101 is an error. `egress` judges what is contacted; a proxy's own address is not.
    """

    def __init__(
        self,
        *,
        verify: ssl.SSLContext | bool = True,
        limits: httpx.Limits = LIMITS,
        environment: Mapping[str, str] | None = None,
        http2: bool = False,
        egress: Egress | None = None,
    ) -> None:
        self._verify = verify
        self._limits = limits
        self._http2 = http2
        self._egress = egress
        self._proxies = Proxies(urllib.request.getproxies() if environment is None else environment)
        self._pool = Pool(self._tls, limits, egress)
        self._httpx_transports: dict[str | None, httpx.AsyncHTTPTransport] = {}

    def handle_async_request(self, request: httpx.Request) -> Coroutine[Any, Any, httpx.Response]:
        """Send a request and return the response, its body not read; the caller closes it unless it reads it all."""
        proxy = self._proxies.proxy_for(request.url) if self._proxies else None
        is_direct = proxy is None and self._is_direct_http11(request)
        return self._send(request) if is_direct else self._send_with_httpx(request, proxy)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
        for transport in self._httpx_transports.values():
            await transport.aclose()

    async def _send(self, request: httpx.Request) -> httpx.Response:
        origin = _origin(request)
        connection = self._pool.acquire_idle(origin) or await self._connection(request, origin, fresh=False)
        is_reused = connection.is_reused
        exchange = Exchange(connection, request, self._pool.release)
        try:
            return await exchange.send()
        except _ERRORS_BEFORE_A_RESPONSE:
            if not is_reused or exchange.has_response_bytes or not _is_repeatable(request):
                raise
        connection = await self._connection(request, origin, fresh=True)
        return await Exchange(connection, request, self._pool.release).send()

    async def _connection(self, request: httpx.Request, origin: Origin, *, fresh: bool) -> Connection:
        if (progress := request.extensions.get(EXTENSION)) is not None:
            progress.stage = "connection"
        return await self._pool.acquire(origin, request.extensions.get("timeout", {}), fresh=fresh)

    async def _send_with_httpx(self, request: httpx.Request, proxy: str | None) -> httpx.Response:
        progress = request.extensions.get(EXTENSION) or CallProgress()
        progress.stage = "connection"
        place = await self._pool.take_place(_origin(request), request.extensions.get("timeout", {}))
        progress.stage = "response"
        try:
            if self._egress is not None:
                request = await _judged(request, proxy, self._egress)
            response = await self._httpx_transport(proxy).handle_async_request(request)
        except BaseException:
            place.give_back()
            raise
        response.stream = PlaceKeeper(cast("httpx.AsyncByteStream", response.stream), place.give_back)
        return response

    def _is_direct_http11(self, request: httpx.Request) -> bool:
        scheme = request.url.scheme
        is_plain = request.method != "CONNECT" and "sni_hostname" not in request.extensions
        return is_plain and (scheme == "http" or (scheme == "https" and not self._http2))

    def _httpx_transport(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        if proxy not in self._httpx_transports:
            self._httpx_transports[proxy] = httpx.AsyncHTTPTransport(
                verify=self._tls(), http2=self._http2, limits=self._limits, proxy=proxy
            )
        return self._httpx_transports[proxy]

    def _tls(self) -> ssl.SSLContext:
        if not isinstance(self._verify, ssl.SSLContext):
            self._verify = httpx.create_ssl_context(verify=self._verify)
        self._verify.set_alpn_protocols(["http/1.1"])  # httpx's transport adds h2 to the same context for HTTP/2
        return self._verify


class PlaceKeeper(httpx.AsyncByteStream):
    """The stream of a response that gives a place back when it is closed."""

    def __init__(self, stream: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back = give_back

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the stream."""
        try:
            await self._stream.aclose()
        finally:
            self._give_back()


async def _judged(request: httpx.Request, proxy: str | None, egress: Egress) -> httpx.Request:
    """Return a request with a target that was judged: without a proxy, an address. Raises UpstreamError."""
    _, host, port = _origin(request)
    if proxy is not None:
        egress.check_name(host, port)
        return request
    addresses = await egress.resolve(host, port)
    pinned = copy(request)
    pinned.url = request.url.copy_with(host=str(addresses[0][4][0]))
    pinned.extensions = {"sni_hostname": host, **request.extensions}
    return pinned


def _origin(request: httpx.Request) -> Origin:
    return _origin_of(request.url.scheme, request.url.netloc)


@lru_cache(1024)  # hosts of an API, and of its redirects
def _origin_of(scheme: str, netloc: bytes) -> Origin:
    url = httpx.URL(scheme=scheme, netloc=netloc)
    return url.scheme, url.raw_host.decode("ascii"), url.port or _DEFAULT_PORTS.get(url.scheme, 0)


def _is_repeatable(request: httpx.Request) -> bool:
    """Return whether a request has the same effect when it is sent twice, and a body that can be sent twice."""
    return request.method in IDEMPOTENT_METHODS and isinstance(request.stream, httpx.ByteStream)


class Proxies:
    """The proxies of an environment as `urllib.request.getproxies` returns it; false if it has none."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        urls = {name: environment[name] for name in ("http", "https", "all") if environment.get(name)}
        entries = [entry.strip() for entry in environment.get("no", "").split(",")]
        self._exceptions = tuple(_exceptions(entry for entry in entries if entry))
        self._by_scheme = {} if "*" in entries else {name: _with_scheme(url) for name, url in urls.items()}

    def __bool__(self) -> bool:
        return bool(self._by_scheme)

    def proxy_for(self, url: httpx.URL) -> str | None:
        """Return the URL of the proxy for `url`, or None."""
        if any(exception.covers(url) for exception in self._exceptions):
            return None
        return self._by_scheme.get(url.scheme, self._by_scheme.get("all"))


@dataclass(frozen=True, slots=True)
class _NoProxyEntry:
    """An entry of NO_PROXY. An empty scheme or host matches any; hosts that end with `suffix` match too."""

    scheme: str
    host: str
    port: int | None
    suffix: str | None

    def covers(self, url: httpx.URL) -> bool:
        return (
            self.scheme in {"", url.scheme}
            and self.port in {None, url.port}
            and (self.host in {"", url.host} or (self.suffix is not None and url.host.endswith(self.suffix)))
        )


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _exceptions(entries: Iterator[str]) -> Iterator[_NoProxyEntry]:
    for entry in entries:
        has_scheme = "://" in entry
        is_exact = has_scheme or entry.lower() == "localhost" or _is_address(entry)
        host = f"[{entry}]" if ":" in entry and _is_address(entry) else entry
        try:
            url = httpx.URL(entry if has_scheme else f"all://{host}")
        except httpx.InvalidURL:
            continue  # an entry that is no host matches no URL
        scheme, name = ("" if url.scheme == "all" else url.scheme), ("" if url.host == "*" else url.host)
        yield _NoProxyEntry(scheme, name, url.port, suffix=None if is_exact else f".{name.removeprefix('.')}")


def _is_address(entry: str) -> bool:
    """Return whether an entry is an IP address, or a network (`10.0.0.0/8`), of which httpx takes the first address."""
    try:
        ipaddress.ip_address(entry.partition("/")[0])
    except ValueError:
        return False
    return True
