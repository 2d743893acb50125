"""`PageAccess`: who may use the page. A browser sends no bearer token, so it signs in once and gets a cookie.

The cookie is signed, for the page alone: the MCP endpoint takes none. It is HttpOnly and SameSite=Strict. Requests that
change something also need a token that only the page knows (CSRF) and must come from the page's own origin; a Host that
is no name of the server is refused, as at the endpoint (DNS rebinding). Without a token, or a door at which people sign
in (see `door`), the page is for this machine only, and for nobody behind a proxy.
Specification: RFC 6265bis for cookies; WHATWG Fetch and Fetch Metadata for Origin and Sec-Fetch-Site; CSP Level 3.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.types import Scope

from ..runtime.http import access
from ..runtime.http.access import LOOPBACK, AccessPolicy, Headers
from ..runtime.http.callers import TrustedProxies
from ..runtime.http.limits import RECEIVE_TIMEOUT
from ..runtime.http.responses import HTTPError

if TYPE_CHECKING:
    from ..oauth.code_flow import CodeRequest

LIFETIME: Final = 12 * 3600
"""Seconds that a sign-in lasts: a working day."""

SIGN_IN_LIFETIME: Final = 600
"""Seconds that a person has to sign in at the authorization server."""

SIGN_IN: Final = "/ui/sign-in"

COOKIE: Final = "openapi-mcp-page"
CSRF_HEADER: Final = "x-csrf-token"

_FROM_PROXY: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that proxies add: whoever is behind one is not on this machine."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Header fields of every response: nothing of another origin is loaded, nothing inline runs, nothing is kept."""


MAX_BODY: Final = 6 * 1024 * 1024
"""Bytes of a form: an MCP message of the usual limit with a file in base64, as a form encodes it."""


class FormError(Exception):
    """A form that cannot be read, in the words for its user."""


async def body_of(request: Request, limit: int = MAX_BODY) -> bytes:
    """Return the body of a form. Raises FormError for one that is large or comes slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(RECEIVE_TIMEOUT):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise FormError(f"The form is larger than {limit:,} bytes.")
    except TimeoutError:
        raise FormError(f"The form did not arrive within {RECEIVE_TIMEOUT:g} seconds.") from None
    return bytes(body)


class PageRefused(Exception):
    """A request that the page does not answer: its HTTP status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class SignInRefused(PageRefused):
    """A sign-in that was not completed; the page on which people sign in says why."""


class PageAccess:
    """The checks of requests for the page. `hosts` are the values that Host may have, None any; `secret` signs.

    People enter with the `token`, or through the door of a server whose public address is `url`; without either the
    page is for this machine only. `proxies` are the addresses of those whose X-Forwarded-Proto is believed.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        token: str | None,
        hosts: Collection[str] | None,
        url: str | None = None,
        proxies: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._token = token
        self._url = url
        self._proxies = TrustedProxies(proxies)
        self._policy = AccessPolicy(allowed_hosts=hosts if self.needs_sign_in else LOOPBACK, allowed_origins=None)
        self._key = hmac.digest(secret, b"page\0" + (token or url or "").encode(), hashlib.sha256)
        self._clock = clock

    @property
    def needs_sign_in(self) -> bool:
        """True if people have to show who they are."""
        return self._token is not None or self._url is not None

    def headers(self, scope: Scope) -> Headers:
        """Return the headers of a request that comes to this server, from its own pages. Raises PageRefused."""
        lines = [(name, value) for name, value in scope["headers"]]
        try:
            access.check_size(lines)
            access.check_host(lines)
            headers = access.combine_lines(lines)
            self._policy.check_address(headers)
        except HTTPError as error:
            hint = "Open the page by a name of this machine, such as 127.0.0.1, or protect the server with a token."
            raise PageRefused(error.response.status, hint) from None
        if not self.needs_sign_in and any(name in headers for name in _FROM_PROXY):
            raise PageRefused(403, "Behind a proxy the page needs a token: set OPENAPI_MCP_AUTH_TOKEN.")
        self._check_origin(scope["method"], headers)
        return headers

    def scheme(self, scope: Scope, headers: Headers) -> str:
        """Return the scheme of the address in the browser: a trusted proxy may take https and pass http on."""
        peer, _ = scope.get("client") or ("", 0)
        forwarded = headers.get("x-forwarded-proto", "") if self._proxies.trusts(peer) else ""
        return "https" if forwarded == "https" else str(scope.get("scheme", "http"))

    def _check_origin(self, method: str, headers: Headers) -> None:
        """Raise PageRefused for a request of another page; a change has to name its origin.

        A proxy may send another Host than the browser did, so that the public address counts too.
        """
        origin = headers.get("origin")
        own = origin is not None and (
            origin == self._url or origin.partition("://")[2].lower() == headers.get("host", "").lower()
        )
        if (origin is not None and not own) or (method == "POST" and not own):
            raise PageRefused(403, "Only the page itself may send this.")

    def session(self, headers: Headers, port: int) -> str:
        """Return the valid cookie of a request; empty if it has none."""
        return self._valid("cookie", _cookie_of(headers, self.cookie_name(port)))

    def new_session(self) -> str:
        """Return a new cookie for somebody who may enter."""
        return self._signed("cookie", LIFETIME)

    def new_sign_in(self) -> str:
        """Return a new cookie for a browser that is sent away to sign in."""
        return self._signed("sign-in", SIGN_IN_LIFETIME)

    def sign_in_of(self, headers: Headers, port: int) -> str:
        """Return the valid cookie of a browser that comes back from its sign-in; empty if it has none."""
        return self._valid("sign-in", _cookie_of(headers, self.cookie_name(port, sign_in=True)))

    def code_request(self, redirect: str, sign_in: str) -> "CodeRequest":
        """Return the request for a code of a browser with a cookie: its secrets are made of the cookie and the key."""
        from ..oauth.code_flow import CodeRequest

        return CodeRequest(redirect, self._signature("state", sign_in), self._signature("verifier", sign_in))

    def cookie_name(self, port: int, *, sign_in: bool = False) -> str:
        """Return the name of a cookie; with `__Host-` no other host of the same domain can set it."""
        prefix = "__Host-" if self._url is not None and self._url.startswith("https:") else ""
        return f"{prefix}{COOKIE}{'-sign-in' if sign_in else ''}-{port}"

    def _signed(self, purpose: str, seconds: int) -> str:
        head = f"{int(self._clock()) + seconds}.{secrets.token_hex(16)}"
        return f"{head}.{self._signature(purpose, head)}"

    def _valid(self, purpose: str, value: str) -> str:
        """Return a value that was signed for a purpose and has not ended; empty for any other."""
        expires, _, rest = value.partition(".")
        nonce, _, signature = rest.partition(".")
        is_own = hmac.compare_digest(signature.encode(), self._signature(purpose, f"{expires}.{nonce}").encode())
        return value if is_own and int(expires) > self._clock() else ""

    def is_token(self, text: str) -> bool:
        """Return whether a text is the server's token."""
        return self._token is not None and hmac.compare_digest(_digest(text), _digest(self._token))

    def set_cookie(self, value: str, port: int, *, is_secure: bool = False, sign_in: bool = False) -> str:
        """Return Set-Cookie for a session, or a sign-in; an empty value ends it.

        A browser comes back from a sign-in by a redirect of another site, which SameSite=Strict would leave out.
        """
        age = (SIGN_IN_LIFETIME if sign_in else LIFETIME) if value else 0
        is_secure = self._url.startswith("https:") if self._url is not None else is_secure
        cookie = f"{self.cookie_name(port, sign_in=sign_in)}={value}; Path=/; Max-Age={age}; HttpOnly"
        return f"{cookie}; SameSite={'Lax' if sign_in else 'Strict'}" + ("; Secure" if is_secure else "")

    def csrf(self, session: str) -> str:
        """Return the token that the page of a session sends with each change."""
        return self._signature("csrf", session)

    def check_csrf(self, headers: Headers, session: str) -> None:
        """Raise PageRefused unless a request has the token of its session."""
        if not session or not hmac.compare_digest(headers.get(CSRF_HEADER, "").encode(), self.csrf(session).encode()):
            raise PageRefused(403, "This page is out of date: reload it.")

    def _signature(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def _cookie_of(headers: Headers, name: str) -> str:
    cookies = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return ""
    morsel = cookies.get(name)
    return "" if morsel is None else morsel.value


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
