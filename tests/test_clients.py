"""The official clients against `openapi-mcp serve`, over both transports: each does all that a client can do."""

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
import yaml

from tests.clients.driving import Received, drive, drive_in_turn
from tests.clients.workshop import JOBS, LINES, Workshop
from tests.command import command, serving_http
from tests.conftest import CLIENTS
from tests.servers import running

pytestmark = pytest.mark.process

Kind: TypeAlias = Literal["mcp 2", "mcp 1", "sdk", "client"]
Transport: TypeAlias = Literal["http", "workers", "stdio"]
TRANSPORTS: tuple[Transport, ...] = ("http", "workers", "stdio")

DOCUMENT = CLIENTS / "workshop.yaml"
OPERATIONS = {"listJobs", "createJob", "getJob", "followJob", "hearOfJob", "awaitJob"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("getJob", {"jobId": 1}),
    ("listJobs", {"state": ["done"]}),
    ("createJob", {"title": "Oil a hinge", "hours": 0.5}),
    ("getJob", {"jobId": 404}),
    ("getJob", {"jobId": "the first"}),
]
MAX_NOTIFICATION_SECONDS = 2.0
"""Time from the change of a document until each client is notified."""


@dataclass(frozen=True)
class Official:
    """An official client, how it negotiates, and the `revision` that it must negotiate here."""

    kind: Kind
    era: Literal["legacy", "auto", "modern"]
    revision: str


OFFICIAL = (
    Official("mcp 2", "auto", "2026-07-28"),
    Official("mcp 2", "legacy", "2025-11-25"),
    Official("mcp 2", "modern", "2026-07-28"),
    Official("mcp 1", "legacy", "2025-11-25"),
    Official("client", "auto", "2026-07-28"),
    Official("client", "legacy", "2025-11-25"),
    Official("client", "modern", "2026-07-28"),
    Official("sdk", "legacy", "2025-11-25"),
)


@dataclass
class Served:
    """A document that no other client uses, the command that serves it, how to connect, and the names of its tools."""

    document: Path
    command: list[str]
    target: dict[str, Any]
    tools: set[str] = field(default_factory=lambda: set(OPERATIONS))

    def change(self) -> None:
        """Add an operation; the new file replaces the old one, as editors do it."""
        content = yaml.safe_load(self.document.read_text())
        name = f"extra{len(self.tools)}"
        content["paths"][f"/{name}"] = {"get": {"operationId": name, "responses": {"200": {"description": "Done."}}}}
        self.tools.add(name)
        new = self.document.with_suffix(".new")
        new.write_text(json.dumps(content))  # which is YAML too
        new.replace(self.document)


def served(folder: Path, base_url: str, *options: str) -> Served:
    """Copy the document to a folder; return it with its command, to be served over stdio."""
    document = folder / "workshop.yaml"
    document.write_text(DOCUMENT.read_text())
    serve = command(document, base_url, "--watch", *options)
    return Served(document, serve, {"command": serve, "env": dict(os.environ)})


@contextmanager
def served_over_http(folder: Path, base_url: str, *options: str) -> Iterator[Served]:
    """Serve a copy of the document over HTTP until the block ends."""
    server = served(folder, base_url, *options)
    with serving_http(server.command) as url:
        server.target = {"url": url}
        yield server


@dataclass(frozen=True)
class Scene:
    """The API and its two bridges over HTTP, with one worker and with two, which all clients share."""

    api: Workshop
    url: str
    over_http: dict[Transport, Served]

    def served(self, transport: Transport, folder: Path) -> Served:
        """Return the server for a client; over stdio each client starts its own."""
        return self.over_http[transport] if transport in self.over_http else served(folder, self.url)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    api, folder = Workshop(), tmp_path_factory.mktemp
    with (
        running(api.app) as url,
        served_over_http(folder("http"), url) as http,
        served_over_http(folder("workers"), url, "--workers", "2") as workers,
    ):
        yield Scene(api, url, {"http": http, "workers": workers})


@pytest.fixture(scope="module")
def drivers(node: Path, mcp_1: Path) -> dict[Kind, list[str]]:
    """Return the command that drives each kind of client."""
    script = [str(node), str(CLIENTS / "drive.mjs")]
    return {
        "mcp 2": [sys.executable, "-m", "tests.clients.drive_v2"],
        "mcp 1": [str(mcp_1), "-m", "tests.clients.drive_v1"],
        "client": script,
        "sdk": script,
    }


@dataclass(frozen=True)
class Row:
    """The output of one client over one transport, with the tools of the document before and after its change."""

    official: Official
    received: Received
    before: set[str]
    after: set[str]
    disconnection: threading.Event


NUMBERS = itertools.count(1000)
"""Numbers of the jobs whose results are awaited; each row has its own."""


@pytest.fixture(scope="module", params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> Transport:
    chosen: Transport = request.param
    return chosen


@pytest.fixture(scope="module", params=OFFICIAL, ids=lambda official: f"{official.kind}-{official.era}")
def official(request: pytest.FixtureRequest) -> Official:
    chosen: Official = request.param
    return chosen


@pytest.fixture(scope="module")
def row(
    transport: Transport,
    official: Official,
    scene: Scene,
    drivers: dict[Kind, list[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Row:
    """Run all calls of one client in one process and on one connection."""
    server = scene.served(transport, tmp_path_factory.mktemp("served"))
    before, number = set(server.tools), next(NUMBERS)
    job = {
        "client": official.kind,
        "era": official.era,
        "calls": CALLS,
        "progress": [(name, {"jobId": number}, f"{scene.url}/seen/{number}") for name in ("followJob", "hearOfJob")],
        "cancel": ("awaitJob", {"jobId": number}, f"{scene.url}/begun/{number}"),
        "watch": True,
        **server.target,
    }
    received = drive(drivers[official.kind], job, server.change)
    return Row(official, received, before, set(server.tools), scene.api.disconnection(number))


def test_client_negotiates_its_revision_and_lists_every_tool(row: Row) -> None:
    assert row.received["version"] == row.official.revision
    assert set(row.received["tools"]) == row.before


def test_client_calls_reach_the_api_and_return_its_answers(row: Row) -> None:
    job, listed, created = (result["structuredContent"] for result in row.received["results"][:3])
    wrapped = row.official.era == "legacy"  # in this era structured content is always an object
    assert job == JOBS[1]
    assert listed == ({"result": [JOBS[2]]} if wrapped else [JOBS[2]])
    assert created == {"id": 3, "state": "open", "title": "Oil a hinge", "hours": 0.5}


def test_client_receives_errors_as_results(row: Row) -> None:
    missing, refused = row.received["results"][3:]
    assert missing["isError"]
    assert "there is no such job" in missing["content"][0]["text"]
    assert refused["isError"]
    assert "jobId" in refused["content"][0]["text"]


def test_client_receives_progress_while_a_response_streams(row: Row) -> None:
    for call in row.received["progress"]:
        assert call["updates"] == [[number, None, line] for number, line in enumerate(LINES, 1)]
        assert all(line in call["result"]["content"][0]["text"] for line in LINES)


def test_cancelled_call_closes_the_connection_to_the_api(row: Row) -> None:
    assert row.disconnection.wait(10)
    assert set(row.received["afterwards"]) == row.before


def test_client_is_notified_of_a_changed_document(row: Row) -> None:
    assert set(row.received["changed"]) == row.after
    sys.stdout.write(f"notified after {row.received['seconds']:.2f} s\n")
    assert row.received["seconds"] < MAX_NOTIFICATION_SECONDS


INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERROR_EXIT_CODE = 5
"""Exit code of the Inspector for a result with isError."""


@dataclass(frozen=True)
class Inspector:
    """The command line of the MCP Inspector, for one transport and one era."""

    command: list[str]
    environment: dict[str, str]

    def ask(self, *arguments: str) -> tuple[int, dict[str, Any], str]:
        """Run the Inspector; return its exit code, the result and its stderr."""
        command = [*self.command, "--format", "json", *arguments]
        completed = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        return completed.returncode, json.loads(completed.stdout)["result"], completed.stderr


@pytest.fixture(params=["legacy", "auto", "modern"])
def inspector(
    request: pytest.FixtureRequest, transport: Transport, scene: Scene, node: Path, tmp_path: Path
) -> Inspector:
    server = scene.served(transport, tmp_path)
    target = server.command
    if "url" in server.target:
        target = ["--server-url", server.target["url"], "--transport", "http"]
    command = [str(node), str(CLIENTS / INSPECTOR), "--cli", "--protocol-era", request.param, *target]
    return Inspector(command, os.environ | {"HOME": str(tmp_path)})


def test_inspector_reports_no_issue(inspector: Inspector) -> None:
    code, result, errors = inspector.ask("--method", "tools/list", "--strict")
    assert code == 0
    assert {tool["name"] for tool in result["tools"]} >= OPERATIONS
    assert "Issue:" not in errors


def test_inspector_calls_tools(inspector: Inspector) -> None:
    arguments = ["--method", "tools/call", "--tool-name", "getJob", "--tool-args-json"]
    code, result, _ = inspector.ask(*arguments, '{"jobId": 1}')
    assert (code, result["structuredContent"]) == (0, JOBS[1])
    code, result, _ = inspector.ask(*arguments, '{"jobId": 404}')
    assert (code, result["isError"]) == (ERROR_EXIT_CODE, True)


BIG = [
    "github-rest/api.github.com.json",
    "stripe/openapi/spec3.yaml",
    "kubernetes/kubernetes/swagger.json.unprocessed",
    "digitalocean/DigitalOcean-public.v2.yaml",
    "openai/openapi.yaml",
    "twilio-api-v2010/spec/json/twilio_api_v2010.json",
    "elasticsearch/output/openapi/elasticsearch-openapi.json",
    "slack-web/web-api/slack_web_openapi_v2.json",
    "discord/specs/openapi.json",
    "box/openapi.json",
    "vault/openapi.json",
    "jira/jira.json",
    "netbox/netbox.dev.json",
    "zoom/zoom.us.json",
]
"""Fourteen big documents: of every version, in JSON and YAML, in one file and in many."""


@pytest.mark.corpus
@pytest.mark.parametrize("name", BIG)
def test_clients_accept_every_tool_of_a_big_document(drivers: dict[Kind, list[str]], corpus: Path, name: str) -> None:
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(corpus / name), "--transport", "stdio", "--mode", "all"]
    job = {"client": "sdk", "era": "legacy", "command": serve, "env": dict(os.environ)}
    accepted = drive(drivers["sdk"], job)["tools"]
    assert len(accepted) > 100
    in_each_era = drive_in_turn(drivers["mcp 2"], [job, job | {"era": "modern"}])
    assert [received["tools"] for received in in_each_era] == [accepted, accepted]
