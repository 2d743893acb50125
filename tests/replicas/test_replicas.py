"""Two replicas that share Redis: sessions, cancellations and rate limits are those of one server."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.command import ROOT, command, serving_http
from tests.replicas.servers import redis
from tests.runtime.http.test_sessions_of_clients import ENVELOPE, HELLO, REVISION, message, until
from tests.servers import free_port

pytestmark = pytest.mark.process

DOCUMENT = ROOT / "specs" / "petstore.yaml"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAPI_MCP_SESSION_SECRET", "one secret for all replicas")
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("API_PETSTORE_SHOPKEY", "open-sesame")


@contextmanager
def replica(url: str, api: str, *options: str) -> Iterator[httpx.Client]:
    """A replica, and a client of it."""
    with (
        serving_http(command(DOCUMENT, api, "--redis", url, *options)) as endpoint,
        httpx.Client(base_url=endpoint.removesuffix("/mcp"), headers=HEADERS, timeout=30) as client,
    ):
        yield client


HEADERS = {"Accept": "application/json, text/event-stream"}


def open_session(client: httpx.Client) -> dict[str, str]:
    opened = client.post("/mcp", json=message("initialize", HELLO))
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": REVISION}


def status(client: httpx.Client, session: dict[str, str]) -> int:
    return client.post("/mcp", json=message("ping"), headers=session).status_code


def call(client: httpx.Client, tool: str = "listPets", **arguments: Any) -> dict[str, Any]:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    body = message("tools/call", {"name": tool, "arguments": arguments, "_meta": ENVELOPE})
    answer: dict[str, Any] = client.post("/mcp", json=body, headers=headers).json()["result"]
    return answer


def test_an_ended_session_is_unknown_to_all_replicas(tmp_path: Path, petstore: str) -> None:
    with redis(tmp_path) as url, replica(url, petstore) as here:
        with replica(url, petstore) as there:
            session = open_session(here)
            assert status(there, session) == 200
            assert here.delete("/mcp", headers=session).status_code == 204
            until(lambda: status(there, session) == 404)
        with replica(url, petstore) as later:  # which was not there when the session ended
            assert status(later, session) == 404


def test_a_rate_limit_holds_for_all_replicas_together(tmp_path: Path, petstore: str) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(redis(tmp_path))
        clients = [stack.enter_context(replica(url, petstore, "--rate-limit", "100/hour")) for _ in range(2)]
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda number: call(clients[number % 2], limit=1), range(160)))
    assert sum(not result.get("isError") for result in results) == 100
    refused = [result["content"][0]["text"] for result in results if result.get("isError")]
    assert all(text.startswith("Too many calls of listPets.") for text in refused)


def test_a_rate_limit_of_the_api_holds_for_all_replicas_together(tmp_path: Path, petstore: str) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(redis(tmp_path))
        options = ("--upstream-rate-limit", "30/hour")
        clients = [stack.enter_context(replica(url, petstore, *options)) for _ in range(2)]
        results = [call(clients[number % 2], limit=1) for number in range(40)]
    assert [bool(result.get("isError")) for result in results] == [False] * 30 + [True] * 10
    assert "30/hour (`--upstream-rate-limit`), is used up" in results[-1]["content"][0]["text"]


def test_replicas_go_on_without_redis_and_find_it_again(tmp_path: Path, petstore: str) -> None:
    port = free_port()
    with ExitStack() as replicas:
        with redis(tmp_path, port) as url:
            here, there = (replicas.enter_context(replica(url, petstore, "--rate-limit", "100/hour")) for _ in range(2))
            session = open_session(here)
        assert not call(here, limit=1).get("isError")
        assert status(there, session) == 200
        assert here.delete("/mcp", headers=session).status_code == 204
        with redis(tmp_path, port):
            until(lambda: status(there, session) == 404)


def test_redis_needs_a_secret_that_replicas_share(petstore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAPI_MCP_SESSION_SECRET")
    serve = command(
        DOCUMENT, petstore, "--redis", "redis://user:hush@127.0.0.1:1/0", "--transport", "http", "--port", "0"
    )
    ended = subprocess.run(serve, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "replicas need a session secret" in ended.stderr
    assert "hush" not in ended.stderr
