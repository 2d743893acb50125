"""Call lines, the audit file, metrics, traces and probes of a server as it is started."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openapi_mcp.cli.serve.http import _metrics_route
from openapi_mcp.cli.settings import HttpSettings
from openapi_mcp.runtime.http.access import LOOPBACK
from tests.servers import running

pytestmark = pytest.mark.process

DOCUMENT = Path(__file__).parents[2] / "specs" / "petstore.yaml"
TOKEN = "a-door-token"


@contextmanager
def served(folder: Path, api: str, *options: str, environment: Mapping[str, str] | None = None) -> Iterator["Running"]:
    """Serve the pet store over HTTP on a free port."""
    command = [sys.executable, "-m", "openapi_mcp", "serve", str(DOCUMENT), "--transport", "http", "--port", "0"]
    own = {"OPENAPI_MCP_CACHE": str(folder / "cache"), "API_PETSTORE_SHOPKEY": "open-sesame"}
    with subprocess.Popen(
        [*command, "--base-url", api, *options],
        env={**os.environ, **own, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        timer = threading.Timer(90, process.kill)
        timer.start()
        try:
            yield Running(process)
        finally:
            timer.cancel()
            process.kill()


class Running:
    """A server that was started, its lines on stderr, and its URL."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self.url = ""

    def wait_for(self, words: str) -> str:
        """Return the first line with these words, read until then."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if words in line:
                return self.lines[-1]
        raise AssertionError(f"{words!r} is not in {self.lines}")

    def call(self, tool: str, headers: Mapping[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a tool in the stateless era; return the result."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        parameters = {"name": tool, "arguments": arguments, "_meta": meta | trace}
        fields = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool, **(headers or {})}
        response = httpx.post(
            self.url,
            headers={"accept": "application/json, text/event-stream", **fields},
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters},
        )
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["result"]
        return result

    def stop(self) -> list[str]:
        """End the server; return all its lines."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stderr is not None
        self.lines += self.process.stderr.read().splitlines()
        return self.lines


def url_in(line: str) -> str:
    return next(word for word in line.replace('"', " ").replace("\\n", " ").split() if word.endswith("/mcp"))


def test_calls_are_logged_as_json_and_audited(tmp_path: Path, petstore: str) -> None:
    audit = tmp_path / "audit.jsonl"
    options = ("--log-format", "json", "--audit", str(audit), "--audit-arguments")
    with served(tmp_path, petstore, *options) as server:
        server.url = url_in(server.wait_for("/mcp"))
        assert not server.call("listPets", limit=2).get("isError")
        assert server.call("getPet", petId=4711)["isError"]
        lines = [json.loads(line) for line in server.stop()]
    calls = [line for line in lines if line.get("event") == "tools/call"]
    assert [(line["tool"], line["status"], line["outcome"]) for line in calls] == [
        ("listPets", 200, "ok"),
        ("getPet", 404, "tool_error"),
    ]
    assert calls[0]["arguments"] == ["limit"]
    assert calls[0]["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert calls[0]["caller"] == "address 127.0.0.1"
    assert calls[0]["bytes"] > 0
    assert "values" not in calls[0]
    audited = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["values"] for line in audited] == [{"limit": 2}, {"petId": 4711}]
    assert audit.stat().st_mode & 0o777 == 0o600


def test_text_lines_are_for_people_and_quiet_prints_none(tmp_path: Path, petstore: str) -> None:
    with served(tmp_path, petstore, "--log-format", "text") as server:
        server.url = url_in(server.wait_for("/mcp"))
        server.call("listPets", limit=2)
        line = server.wait_for("listPets 200")
        server.stop()
    assert line.endswith("tok address 127.0.0.1")
    with served(tmp_path, petstore, "--log-format", "text", "--quiet", "--port", "0") as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.stop() == []


def test_quiet_prints_errors(tmp_path: Path, petstore: str) -> None:
    with served(tmp_path, petstore, "--quiet", "--metrics", "/metrics", "--redis", "redis://127.0.0.1:1") as server:
        server.wait_for("replicas need a session secret")
        assert server.process.wait(30) == 2


def test_metrics_have_a_path_that_needs_the_token(tmp_path: Path, petstore: str) -> None:
    with served(tmp_path, petstore, "--metrics", "/metrics", "--auth-token", TOKEN) as server:
        server.url = url_in(server.wait_for("/mcp"))
        headers = {"authorization": f"Bearer {TOKEN}"}
        server.call("listPets", headers, limit=2)
        address = server.url.removesuffix("/mcp") + "/metrics"
        assert httpx.get(address).status_code == 401
        text = httpx.get(address, headers=headers).text
        server.stop()
    assert 'openapi_mcp_calls_total{outcome="ok",status="200",tool="listPets"} 1.0' in text
    assert 'mcp_server_operation_duration_seconds_count{tool="listPets"} 1.0' in text


def test_workers_count_together(tmp_path: Path, petstore: str) -> None:
    with served(tmp_path, petstore, "--metrics", "/metrics", "--workers", "2") as server:
        server.url = url_in(server.wait_for("/mcp"))
        for _ in range(12):
            server.call("listPets", limit=1)
        text = httpx.get(server.url.removesuffix("/mcp") + "/metrics").text
        server.stop()
    assert 'openapi_mcp_calls_total{outcome="ok",status="200",tool="listPets"} 12.0' in text


def test_probes_answer(tmp_path: Path, petstore: str) -> None:
    with served(tmp_path, petstore) as server:
        base = url_in(server.wait_for("/mcp")).removesuffix("/mcp")
        answers = [httpx.get(f"{base}{path}") for path in ("/healthz", "/readyz")]
        server.stop()
    assert [(answer.status_code, answer.text) for answer in answers] == [(200, "ok\n")] * 2


def test_spans_continue_the_trace_of_the_client(tmp_path: Path, petstore: str) -> None:
    received: list[bytes] = []

    async def collect(request: Request) -> Response:
        received.append(await request.body())
        return Response(b"", media_type="application/x-protobuf")

    app = Starlette(routes=[Route("/v1/traces", collect, methods=["POST"])])
    with running(app) as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with served(tmp_path, petstore, environment=environment) as server:
            server.url = url_in(server.wait_for("/mcp"))
            server.call("listPets", limit=1)
            server.stop()
    body = b"".join(received)
    assert b"tools/call listPets" in body
    assert b"gen_ai.tool.name" in body
    assert bytes.fromhex("0af7651916cd43dd8448eb211c80319c") in body


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
    ],
)
async def test_metrics_beside_the_endpoint_are_for_its_names_alone(headers: dict[str, str], status: int) -> None:
    """A page of another site cannot read them, by whatever name it reaches this machine."""
    app = Starlette(routes=[_metrics_route("/metrics", HttpSettings(), LOOPBACK)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
        assert (await client.get("/metrics", headers=headers)).status_code == status
