"""What carries requests to the API: an httpx transport on asyncio and httptools.

httpx's own pool would cost more than all the rest of a call (`benchmarks/README.md`).
HTTP/1.1 straight to the host is carried here; proxies, HTTP/2 and tunnels by httpx's own transport. A kept connection
that turns out to be dead is nobody's failure: what can be sent twice is sent again, once, on a fresh one.
Specification: RFC 9112 §9.3.1, RFC 9110 §9.2.2.
"""

import ssl
import urllib.request
from collections.abc import Mapping
from typing import Final

import httpx

from .exchange import Exchange
from .pool import LIMITS, Pool
from .proxies import Proxies
from .retries import IDEMPOTENT
from .wire import Origin

_PORTS: Final = {"http": 80, "https": 443}
_BEFORE_AN_ANSWER: Final = (httpx.ReadError, httpx.RemoteProtocolError)


class Transport(httpx.AsyncBaseTransport):
    """Carries requests of one event loop. Redirects, cookies and decoding are for others; a 101 is an error.

    `verify` is as httpx takes it: a context, or True for the certificates that httpx trusts, which are read when they
    are needed. `environment` is where proxies are found, as `urllib.request.getproxies` returns it (and by default
    is). Of a request's extensions it heeds `timeout` (`connect`, `read`, `write`, `pool`; seconds or None).
    """

    def __init__(
        self,
        *,
        verify: ssl.SSLContext | bool = True,
        limits: httpx.Limits = LIMITS,
        environment: Mapping[str, str] | None = None,
        http2: bool = False,
    ) -> None:
        self._verify = verify
        self._limits = limits
        self._http2 = http2
        self._proxies = Proxies(urllib.request.getproxies() if environment is None else environment)
        self._pool = Pool(self._tls, limits)
        self._others: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, its body still to be read; whoever reads it not to its end closes it."""
        proxy = self._proxies.of(request.url) if self._proxies else None
        if proxy is None and self._is_ours(request):
            return await self._carry(request)
        return await self._other(proxy).handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
        for other in self._others.values():
            await other.aclose()

    async def _carry(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        origin = (url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme])
        exchange, used = await self._exchange(request, origin, fresh=False)
        try:
            return await exchange.answer()
        except _BEFORE_AN_ANSWER:
            if not used or exchange.begun or not _is_repeatable(request):
                raise
        exchange, _ = await self._exchange(request, origin, fresh=True)
        return await exchange.answer()

    async def _exchange(self, request: httpx.Request, origin: Origin, *, fresh: bool) -> tuple[Exchange, bool]:
        wire = await self._pool.acquire(origin, request.extensions.get("timeout", {}), fresh=fresh)
        return Exchange(wire, request, self._pool.release), wire.used

    def _is_ours(self, request: httpx.Request) -> bool:
        scheme = request.url.scheme
        is_plain = request.method != "CONNECT" and "sni_hostname" not in request.extensions
        return is_plain and (scheme == "http" or (scheme == "https" and not self._http2))

    def _other(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        if proxy not in self._others:
            self._others[proxy] = httpx.AsyncHTTPTransport(
                verify=self._tls(), http2=self._http2, limits=self._limits, proxy=proxy
            )
        return self._others[proxy]

    def _tls(self) -> ssl.SSLContext:
        if not isinstance(self._verify, ssl.SSLContext):
            self._verify = httpx.create_ssl_context(verify=self._verify)
        self._verify.set_alpn_protocols(["http/1.1"])  # httpx's transport adds h2 where it may
        return self._verify


def _is_repeatable(request: httpx.Request) -> bool:
    """Whether it can be sent again as it was, and does the same done twice."""
    return request.method in IDEMPOTENT and isinstance(request.stream, httpx.ByteStream)
