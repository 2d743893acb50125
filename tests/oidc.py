"""The authorization server of the tests, in a process of its own, and a user who signs in on its pages."""

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx

CLIENTS: Final = Path(__file__).parent / "clients"
CLIENT_ID: Final = "bridge"
CLIENT_SECRET: Final = "a-secret-of-at-least-thirty-two-characters"

CLIENT_REDIRECT: Final = "http://127.0.0.1:9999/callback"
"""Address to which the authorization server of MCP clients redirects the clients of the tests."""

MAX_STEPS: Final = 20
"""Pages and redirects of a sign-in."""


@contextmanager
def authorization_server(node: Path, **job: Any) -> Iterator[str]:
    """Run the authorization server with the settings of `oidc_provider.mjs`; yield its issuer."""
    command = [str(node), "oidc_provider.mjs", json.dumps(job)]
    with subprocess.Popen(
        command, cwd=CLIENTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            issuer = process.stdout.readline().strip()
            assert issuer, "the authorization server did not start"
            yield issuer
        finally:
            process.kill()


def sign_in(url: str, name: str = "alice", *, until: str) -> str:
    """Sign in as `name` on the pages that begin at a URL, and consent; return the address that begins with `until`."""
    with httpx.Client() as browser:
        response = browser.get(url)
        for _ in range(MAX_STEPS):
            if response.is_redirect:
                address = urljoin(str(response.url), response.headers["location"])
                if address.startswith(until):
                    return address
                response = browser.get(address)
            elif response.url.path.startswith("/device") and "Continue" not in response.text:
                return str(response.url)
            else:
                response = _submit(browser, response, name)
    raise AssertionError(f"no end of the sign-in: {response.status_code} {response.text[:500]}")


class Person:
    """A user with a browser, which keeps its cookies, and a name to sign in with wherever it is asked for.

    Each of its requests has a connection of its own, so that a balancer sends them to different servers.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.addresses: list[str] = []
        self._cookies = httpx.Cookies()

    def open(self, url: str, *, until: str = "nowhere") -> httpx.Response:
        """Open an address, and sign in and consent wherever that is asked; return the page without a form at the end.

        A redirect to an address that begins with `until` is not followed.
        """
        with httpx.Client(cookies=self._cookies, timeout=30, headers={"Connection": "close"}) as browser:
            try:
                return self._open(browser, url, until)
            finally:
                self._cookies = browser.cookies

    def get(self, url: str, **parameters: str) -> httpx.Response:
        """Open an address alone."""
        with httpx.Client(cookies=self._cookies, timeout=30) as browser:
            return browser.get(url, params=parameters or None)

    def _open(self, browser: httpx.Client, url: str, until: str) -> httpx.Response:
        response = browser.get(url)
        for _ in range(MAX_STEPS):
            self.addresses.append(str(response.url))
            if response.is_redirect:
                address = urljoin(str(response.url), response.headers["location"])
                if address.startswith(until):
                    self.addresses.append(address)
                    return response
                response = browser.get(address)
            elif "<form" in response.text:
                response = _submit(browser, response, self.name)
            else:
                return response
        raise AssertionError(f"no end of the sign-in: {response.status_code} {response.text[:500]}")


def _submit(browser: httpx.Client, page: httpx.Response, name: str) -> httpx.Response:
    """Send the form of a page: hidden fields as they are, the user's name and any password."""
    action = re.search(r'action="([^"]+)"', page.text)
    assert action, page.text[:500]
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    fields |= {"login": name, "password": "any"} if 'name="login"' in page.text else {}
    return browser.post(urljoin(str(page.url), unescape(action[1])), data=fields)


def user_token(issuer: str, name: str, scope: str, resource: str, *, secret: str = CLIENT_SECRET) -> str:
    """Return the token of a user for a resource, as an MCP client gets it; the user consents to that scope only."""
    verifier = "a-verifier-of-at-least-forty-three-characters"
    digest = hashlib.sha256(verifier.encode()).digest()
    asked = {
        "client_id": CLIENT_ID,
        "response_type": "code",
        "redirect_uri": CLIENT_REDIRECT,
        "scope": scope,
        "resource": resource,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    address = sign_in(f"{issuer}/auth?{urlencode(asked)}", name, until=CLIENT_REDIRECT)
    code = parse_qs(urlsplit(address).query)["code"][0]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CLIENT_REDIRECT,
        "code_verifier": verifier,
    }
    answered = httpx.post(f"{issuer}/token", data=form, auth=(CLIENT_ID, secret))
    return str(answered.raise_for_status().json()["access_token"])


def claims(token: str) -> dict[str, Any]:
    """Return the claims of a JSON Web Token."""
    part = token.split(".")[1]
    value: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return value
