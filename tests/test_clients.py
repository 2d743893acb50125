"""The official clients against the command itself, over both transports: whatever one of them may do, each does."""

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

from tests.clients.driving import Seen, drive
from tests.clients.workshop import JOBS, LINES, Workshop
from tests.command import command, serving_http
from tests.conftest import CLIENTS
from tests.servers import running

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
HEARD_WITHIN = 2.0
"""Seconds from the change of a document until each client knows."""


@dataclass(frozen=True)
class Official:
    """An official client and how it negotiates; `revision` is what it must settle on here."""

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
    """A document of its own, the command that serves it, how a client connects, and what is listed by now."""

    document: Path
    command: list[str]
    target: dict[str, Any]
    tools: set[str] = field(default_factory=lambda: set(OPERATIONS))

    def change(self) -> None:
        """One more operation, in a file that takes the place of the old one, as editors do it."""
        content = yaml.safe_load(self.document.read_text())
        name = f"extra{len(self.tools)}"
        content["paths"][f"/{name}"] = {"get": {"operationId": name, "responses": {"200": {"description": "Done."}}}}
        self.tools.add(name)
        new = self.document.with_suffix(".new")
        new.write_text(json.dumps(content))  # which is YAML too
        new.replace(self.document)


def served(folder: Path, base_url: str, *options: str) -> Served:
    """A document in a folder, and the command for it: over stdio, until it is served in another way."""
    document = folder / "workshop.yaml"
    document.write_text(DOCUMENT.read_text())
    serve = command(document, base_url, "--watch", *options)
    return Served(document, serve, {"command": serve, "env": dict(os.environ)})


@contextmanager
def served_over_http(folder: Path, base_url: str, *options: str) -> Iterator[Served]:
    one = served(folder, base_url, *options)
    with serving_http(one.command) as url:
        one.target = {"url": url}
        yield one


@dataclass(frozen=True)
class Scene:
    """The API, and what serves it over HTTP, in one process and in two, for all clients."""

    api: Workshop
    url: str
    over_http: dict[Transport, Served]

    def served(self, transport: Transport, folder: Path) -> Served:
        """What a client is to connect to; over stdio each has a server of its own."""
        return self.over_http[transport] if transport in self.over_http else served(folder, self.url)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    api, folder = Workshop(), tmp_path_factory.mktemp
    with (
        running(api.app) as url,
        served_over_http(folder("http"), url) as one,
        served_over_http(folder("workers"), url, "--workers", "2") as two,
    ):
        yield Scene(api, url, {"http": one, "workers": two})


@pytest.fixture(scope="module")
def drivers(node: Path, mcp_1: Path) -> dict[Kind, list[str]]:
    """How each kind of client is driven."""
    script = [str(node), str(CLIENTS / "drive.mjs")]
    return {
        "mcp 2": [sys.executable, "-m", "tests.clients.drive_v2"],
        "mcp 1": [str(mcp_1), "-m", "tests.clients.drive_v1"],
        "client": script,
        "sdk": script,
    }


@dataclass(frozen=True)
class Row:
    """What one client saw over one transport, and what there was to see."""

    official: Official
    seen: Seen
    before: set[str]
    after: set[str]
    left: threading.Event


NUMBERS = itertools.count(1000)
"""Jobs that somebody waits for; each row has its own."""


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
    """All that one client does, in one process and on one connection."""
    one = scene.served(transport, tmp_path_factory.mktemp("served"))
    before, number = set(one.tools), next(NUMBERS)
    job = {
        "client": official.kind,
        "era": official.era,
        "calls": CALLS,
        "progress": [(name, {"jobId": number}, f"{scene.url}/seen/{number}") for name in ("followJob", "hearOfJob")],
        "cancel": ("awaitJob", {"jobId": number}, f"{scene.url}/begun/{number}"),
        "watch": True,
        **one.target,
    }
    seen = drive(drivers[official.kind], job, one.change)
    return Row(official, seen, before, set(one.tools), scene.api.left(number))


def test_it_settles_on_its_revision_and_lists_every_tool(row: Row) -> None:
    assert row.seen["version"] == row.official.revision
    assert set(row.seen["tools"]) == row.before


def test_its_calls_reach_the_api_and_come_back(row: Row) -> None:
    job, listed, created = (result["structuredContent"] for result in row.seen["results"][:3])
    wrapped = row.official.era == "legacy"  # whose structured content is always an object
    assert job == JOBS[1]
    assert listed == ({"result": [JOBS[2]]} if wrapped else [JOBS[2]])
    assert created == {"id": 3, "state": "open", "title": "Oil a hinge", "hours": 0.5}


def test_it_is_told_of_errors_as_results(row: Row) -> None:
    missing, refused = row.seen["results"][3:]
    assert missing["isError"]
    assert "nobody brought that job" in missing["content"][0]["text"]
    assert refused["isError"]
    assert "jobId" in refused["content"][0]["text"]


def test_it_hears_of_progress_while_an_answer_streams_in(row: Row) -> None:
    for followed in row.seen["progress"]:
        assert followed["told"] == [[number, None, line] for number, line in enumerate(LINES, 1)]
        assert all(line in followed["result"]["content"][0]["text"] for line in LINES)


def test_its_cancellation_closes_the_connection_to_the_api(row: Row) -> None:
    assert row.left.wait(10)
    assert set(row.seen["afterwards"]) == row.before


def test_it_hears_of_a_change_of_the_document(row: Row) -> None:
    assert set(row.seen["changed"]) == row.after
    sys.stdout.write(f"heard of after {row.seen['seconds']:.2f} s\n")
    assert row.seen["seconds"] < HEARD_WITHIN


INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SAYS_ERROR = 5
"""Its exit code for a result that is an error."""


@dataclass(frozen=True)
class Inspector:
    """The Inspector's command line, on one transport and in one era."""

    command: list[str]
    environment: dict[str, str]

    def ask(self, *arguments: str) -> tuple[int, dict[str, Any], str]:
        """The exit code, the result, and what it said besides."""
        command = [*self.command, "--format", "json", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, json.loads(done.stdout)["result"], done.stderr


@pytest.fixture(params=["legacy", "auto", "modern"])
def inspector(
    request: pytest.FixtureRequest, transport: Transport, scene: Scene, node: Path, tmp_path: Path
) -> Inspector:
    one = scene.served(transport, tmp_path)
    target = ["--server-url", one.target["url"], "--transport", "http"] if "url" in one.target else one.command
    command = [str(node), str(CLIENTS / INSPECTOR), "--cli", "--protocol-era", request.param, *target]
    return Inspector(command, os.environ | {"HOME": str(tmp_path)})


def test_the_inspector_finds_nothing_to_complain_of(inspector: Inspector) -> None:
    code, result, said = inspector.ask("--method", "tools/list", "--strict")
    assert code == 0
    assert {tool["name"] for tool in result["tools"]} >= OPERATIONS
    assert "Issue:" not in said


def test_the_inspector_calls(inspector: Inspector) -> None:
    arguments = ["--method", "tools/call", "--tool-name", "getJob", "--tool-args-json"]
    code, result, _ = inspector.ask(*arguments, '{"jobId": 1}')
    assert (code, result["structuredContent"]) == (0, JOBS[1])
    code, result, _ = inspector.ask(*arguments, '{"jobId": 404}')
    assert (code, result["isError"]) == (SAYS_ERROR, True)


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
"""A dozen big documents and two more, of every version, in JSON and YAML, in one file and in many."""


@pytest.mark.corpus
@pytest.mark.parametrize("name", BIG)
def test_clients_accept_the_whole_list_of_a_big_document(
    drivers: dict[Kind, list[str]], corpus: Path, name: str
) -> None:
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(corpus / name), "--transport", "stdio", "--mode", "all"]
    job = {"client": "sdk", "era": "legacy", "command": serve, "env": dict(os.environ)}
    accepted = drive(drivers["sdk"], job)["tools"]
    assert len(accepted) > 100
    assert drive(drivers["mcp 2"], job)["tools"] == accepted
    assert drive(drivers["mcp 2"], job | {"era": "modern"})["tools"] == accepted
