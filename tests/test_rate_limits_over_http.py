"""`--rate-limit` over HTTP, with the command: nothing that a client writes gives it another limit."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.command import ROOT, command, serving_http
from tests.runtime.http.test_sessions_of_clients import ENVELOPE, HELLO, REVISION, message

pytestmark = pytest.mark.process

CALL = message("tools/call", {"name": "listPets", "arguments": {}})
STATELESS = message("tools/call", {"name": "listPets", "arguments": {}, "_meta": ENVELOPE})
STATELESS_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "listPets"}


@contextmanager
def client(api: str, *options: str) -> Iterator[httpx.Client]:
    serve = command(ROOT / "specs" / "petstore.yaml", api, "--rate-limit", "3/hour", *options)
    with serving_http(serve) as url, httpx.Client(base_url=url, timeout=20) as connected:
        yield connected


def is_made(response: httpx.Response) -> bool:
    """Return whether a call was made and not refused by the limit."""
    text: str = response.json()["result"]["content"][0]["text"]
    assert response.status_code == 200
    assert text.startswith("Too many calls") == response.json()["result"]["isError"]
    return not response.json()["result"]["isError"]


def open_session(connected: httpx.Client, **headers: str) -> dict[str, str]:
    opened = connected.post("", json=message("initialize", HELLO), headers=headers)
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": REVISION, **headers}


def calls(connected: httpx.Client, headers: list[dict[str, str]], body: Any = CALL) -> int:
    """Make a call with each of these headers and return how many were made."""
    return sum(is_made(connected.post("", json=body, headers=each)) for each in headers)


def test_forwarded_addresses_of_a_client_give_it_no_other_limit(petstore: str) -> None:
    with client(petstore) as connected:
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP"):
            assert calls(connected, [{name: f"198.51.100.{n}"} for n in range(10)]) == (3 if "X-F" in name else 0)
        forged = [STATELESS_HEADERS | {"X-Forwarded-For": f"198.51.100.{n}", "User-Agent": str(n)} for n in range(5)]
        assert calls(connected, forged, STATELESS) == 0


def test_forwarded_addresses_of_a_trusted_proxy_tell_clients_apart(petstore: str) -> None:
    with client(petstore, "--trusted-proxy", "127.0.0.0/8") as connected:
        addresses = [{"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.{n % 2}"} for n in range(20)]
        assert calls(connected, addresses) == 6


def test_sessions_have_limits_of_their_own_but_an_address_only_a_few_of_them(petstore: str) -> None:
    with client(petstore) as connected:
        ann, bob = open_session(connected), open_session(connected)
        assert calls(connected, [ann] * 5) == 3
        assert calls(connected, [bob] * 5) == 3
        assert calls(connected, [open_session(connected) for _ in range(40)]) == 2 + 3
        forged = {**ann, "Mcp-Session-Id": ann["Mcp-Session-Id"][:-1] + "_"}
        assert connected.post("", json=CALL, headers=forged).status_code == 404


def test_clients_without_a_session_count_by_the_token(petstore: str) -> None:
    token = {"Authorization": "Bearer open-sesame"}
    with client(petstore, "--auth-token", "open-sesame", "--trusted-proxy", "127.0.0.1") as connected:
        addresses = [STATELESS_HEADERS | token | {"X-Forwarded-For": f"198.51.100.{n}"} for n in range(10)]
        assert calls(connected, addresses, STATELESS) == 3
        assert calls(connected, [open_session(connected, **token)] * 5) == 3


def test_trusted_proxy_that_is_no_address_is_refused(petstore: str) -> None:
    serve = command(ROOT / "specs" / "petstore.yaml", petstore, "--port", "0", "--trusted-proxy", "proxy.example")
    refused = subprocess.run(serve, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "--trusted-proxy" in refused.stderr
    assert "10.0.0.0/8" in refused.stderr
