"""The program works where Unix's own modules, signals and sockets are missing, as on Windows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.petstore.api import create_app
from tests.command import serving_http
from tests.conftest import ROOT
from tests.servers import running

pytestmark = pytest.mark.process
PROGRAM = [sys.executable, "-m", "tests.platforms.lacking"]
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A document whose API is up."""
    folder = tmp_path_factory.mktemp("lacking")
    with running(create_app(folder / "pets.sqlite3")) as api:
        path = folder / "petstore.yaml"
        path.write_text((ROOT / "specs" / "petstore.yaml").read_text().replace("http://127.0.0.1:8020", api))
        yield path


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60, **options
    )


def test_call_prints_the_answer(document: Path) -> None:
    done = run("call", str(document), "getPet", "petId=1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"] == 1


def test_stdio_answers_a_call(document: Path) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "getPet", "arguments": {"petId": 1}, "_meta": META},
        },
    ]
    done = run("serve", str(document), "--transport", "stdio", input="".join(f"{json.dumps(m)}\n" for m in messages))
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines()) if "id" in answer}
    assert done.returncode == 0, done.stderr
    assert answers[2]["result"]["structuredContent"]["id"] == 1


@pytest.mark.parametrize("options", [(), ("--watch",), ("--workers", "2")], ids=["plain", "watch", "workers"])
def test_http_answers_a_call(document: Path, options: tuple[str, ...]) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "getPet", "arguments": {"petId": 1}, "_meta": META},
    }
    headers = HEADERS | {"Mcp-Method": "tools/call", "Mcp-Name": "getPet"}
    with serving_http([*PROGRAM, "serve", str(document), *options]) as url:
        answer = httpx.post(url, json=message, headers=headers, timeout=20).json()
    assert answer["result"]["structuredContent"]["id"] == 1


def test_generate_writes_a_package(document: Path, tmp_path: Path) -> None:
    done = run("generate", str(document), str(tmp_path / "package"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "package" / "pyproject.toml").exists()


def test_cache_is_used(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path))
    assert [run("inspect", str(document)).returncode for _ in range(2)] == [0, 0]
    assert list(tmp_path.rglob("*"))
