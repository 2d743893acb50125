"""Sign-in of a user: the authorization code flow with PKCE in a browser, or a code that is entered on another device.

Specification: RFC 6749 §4.1, RFC 7636, RFC 8252 (a loopback address receives the code), RFC 8628, RFC 9207.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from .code_flow import CodeRequest
from .endpoints import AccessToken, AuthorizationServer, OAuthFailure, check_url

SignInWork: TypeAlias = Coroutine[Any, Any, AccessToken]
"""A sign-in that is waited for."""

SIGN_IN_SECONDS: Final = 300.0
"""Seconds for a person to sign in."""

_POLL_SECONDS: Final = 0.5
"""Seconds in which a thread that waits for an answer notices that nobody waits for it any more."""

MAX_POLL_SECONDS: Final = 30.0
"""Seconds between two questions whether a device was signed in, whatever the server says."""

_DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_PAGE: Final = "<!doctype html><title>openapi-mcp</title><p>{}</p>"


async def with_browser(server: AuthorizationServer, port: int, show: Callable[[str], None]) -> AccessToken:
    """Return the token of a user who signs in on the page that `show` gets. Raises OAuthFailure.

    The page returns to a free port of 127.0.0.1, or to `port` unless that is 0.
    """
    request = CodeRequest.new("")
    with _Callback(port, request.state) as callback:
        request = replace(request, redirect=callback.url)
        show(await request.page(server))
        return await request.token(server, await asyncio.to_thread(callback.wait, SIGN_IN_SECONDS))


class _Callback:
    """An HTTP server on 127.0.0.1 that receives the one answer with a state."""

    def __init__(self, port: int, state: str) -> None:
        self._is_closed = False
        answers = self._answers = dict[str, str]()

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                is_answer = url.path == "/callback" and secrets.compare_digest(
                    query.get("state", "").encode(), state.encode()
                )
                text = "This is not the answer of a sign-in."
                if is_answer:
                    answers.update(query)
                    text = "Signed in. You can close this page." if "code" in query else "The sign-in was refused."
                body = _PAGE.format(text).encode()
                self.send_response(200 if is_answer else 400)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", "default-src 'none'")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Log nothing: the query holds the code."""

        try:
            self._server = HTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            raise OAuthFailure(f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}.") from error
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/callback"

    def __enter__(self) -> "_Callback":
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        self._server.server_close()

    def wait(self, seconds: float) -> Mapping[str, str]:
        """Return the parameters of the answer. Raises OAuthFailure if none comes in time."""
        end = time.monotonic() + seconds
        while not self._answers:
            self._server.timeout = min(end - time.monotonic(), _POLL_SECONDS)
            if self._is_closed or self._server.timeout <= 0:
                raise OAuthFailure(f"Nobody signed in within {seconds:g} seconds.")
            self._server.handle_request()
        return self._answers


async def with_device(server: AuthorizationServer, show: Callable[[str, str], None]) -> AccessToken:
    """Return the token of a user who enters a code on another device. Raises OAuthFailure.

    `show` gets the address of the page and the code.
    """
    answer = await server.device_code()
    device, code = answer.get("device_code"), answer.get("user_code")
    page = answer.get("verification_uri_complete") or answer.get("verification_uri")
    if not (isinstance(device, str) and isinstance(code, str) and isinstance(page, str)):
        raise OAuthFailure("The authorization server gave no code for the device.")
    check_url(page)
    show(page, code)
    wait = _seconds(answer.get("interval"), 5.0)
    end = time.monotonic() + min(_seconds(answer.get("expires_in"), SIGN_IN_SECONDS), 2 * SIGN_IN_SECONDS)
    while time.monotonic() < end:
        await asyncio.sleep(wait)
        try:
            return await server.token(_DEVICE_GRANT, {"device_code": device})
        except OAuthFailure as error:
            if error.error not in {"authorization_pending", "slow_down"}:
                raise
            wait = min(wait + 5 * (error.error == "slow_down"), MAX_POLL_SECONDS)
    raise OAuthFailure("Nobody entered the code in time.")


def _seconds(value: Any, default: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return min(float(value), MAX_POLL_SECONDS * 60) if is_number and value > 0 else default
