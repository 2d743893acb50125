"""No secret in anything that a command prints, logs, caches or generates; every secret here has the word `canary`."""

import base64
import json
import os
import pty
import re
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli.main import app
from tests import prepared
from tests.conftest import ROOT
from tests.runtime.echo import Echo, Recorded, answer, echoing

pytestmark = pytest.mark.process

USER, PASSWORD, NAMED = "canaryUser1", "canary%2FPass2", "canaryQuery3"
HEADER, AUTH, VARIABLE, TOKEN = "canary-Header4", "canary-Auth5", "canary-Variable6", "canary-Token7"
SIGNED, DOCUMENT_HEADER = "canarySigned8", "canary-Document9"
ENVIRONMENT = os.environ | {
    "API_SHOP_KEY": VARIABLE,
    "OPENAPI_MCP_AUTH_TOKEN": TOKEN,
    "OPENAPI_MCP_SESSION_SECRET": "canary-Session10",
}
PAIR = base64.b64encode(f"{USER}:canary/Pass2".encode())
CANARY = re.compile(b"(?i:canary)|" + re.escape(PAIR))


CLIENT = {"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}, "protocolVersion": "2025-06-18"}
HANDSHAKE = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


def document(echo: Echo) -> dict[str, Any]:
    """A document with one credential in a header and one in the query, and an operation that fails."""
    response = {"200": {"description": "ok"}}
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "other": {"type": "apiKey", "in": "query", "name": "other"},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": echo.url}],
        "security": [{"key": [], "other": []}],
        "paths": {
            "/it": {"get": {"operationId": "it", "responses": response}},
            "/fails": {"post": {"operationId": "fails", "responses": response}},
        },
        "components": {"securitySchemes": schemes},
    }


@dataclass(frozen=True)
class Shop:
    """An API that echoes what it got, its signed document, and the folder of a cache."""

    echo: Echo
    folder: Path

    @property
    def host(self) -> str:
        return self.echo.url.removeprefix("http://")

    @property
    def source(self) -> str:
        return f"http://{USER}:{PASSWORD}@{self.host}/openapi.json?X-Amz-Signature={SIGNED}&page={SIGNED}"

    @property
    def base_url(self) -> str:
        return f"http://{USER}:{PASSWORD}@{self.host}/v1?api_key={NAMED}&version=2"

    @property
    def api(self) -> list[str]:
        """The options of calls."""
        return [
            *("--base-url", self.base_url, "--header", f"X-Token: {HEADER}", "--auth", f"other={AUTH}"),
            *("--spec-header", f"X-Auth: {DOCUMENT_HEADER}"),
        ]

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        """Run a command and return what it printed, in which no secret is."""
        environment = ENVIRONMENT | {"OPENAPI_MCP_CACHE": str(self.folder / "cache")}
        result = prepared.run(*arguments, stdin=stdin.encode(), environment=environment)
        printed = result.stdout + result.stderr
        assert result.returncode == code, printed.decode()
        assert_no_secret(printed)
        return printed.decode()


def assert_no_secret(content: bytes) -> None:
    found = [content[max(0, match.start() - 80) : match.end() + 40] for match in CANARY.finditer(content)]
    assert not found


def assert_no_secret_in(folder: Path) -> None:
    """Look into all files of a folder, and into what they hold packed."""
    for path in [folder, *folder.rglob("*")]:
        assert_no_secret(str(path.relative_to(folder)).encode())
        if path.is_file():
            assert_no_secret(path.read_bytes())
        if path.suffix == ".mcpb":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    assert_no_secret(archive.read(name))
        if path.name == "openapi-mcp.lock":
            for _, packed in (entry for entry in json.loads(path.read_bytes())["files"].values() if len(entry) > 1):
                assert_no_secret(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with echoing() as echo:

        def respond(request: Recorded) -> bytes:
            if request.path == "/openapi.json":
                return answer(json.dumps(document(echo)).encode(), "Content-Type: application/json")
            received = {name: value.decode("latin-1") for name, value in request.headers}
            body = json.dumps({"target": request.target, "headers": received}).encode()
            status = "500 Oh no" if "fails" in request.path else "200 OK"
            return answer(body, "Content-Type: application/json", status=status)

        echo.respond = respond
        yield Shop(echo, tmp_path)


def test_user_and_password_of_a_base_url_are_sent_and_shown_nowhere(shop: Shop) -> None:
    shop.run("call", shop.source, "it", *shop.api)
    sent = shop.echo.last()
    assert sent.one("authorization") == f"Basic {PAIR.decode()}"
    assert sent.target == f"/v1/it?api_key={NAMED}&version=2&other={AUTH}"
    assert (sent.one("x-key"), sent.one("x-token")) == (VARIABLE, HEADER)
    assert_no_secret_in(shop.folder)


def test_dry_run_shows_names_and_no_secret(shop: Shop) -> None:
    output = shop.run("call", shop.source, "it", "--dry-run", *shop.api)
    assert output.startswith(f"GET http://{shop.host}/v1/it?api_key=***&version=***&other=*** HTTP/1.1\n")
    assert "X-Token: ***\n" in output
    assert "X-Key: ***\n" in output
    assert "Authorization: Basic ***\n" in output


def test_failed_call_with_debug_has_its_exit_code_and_no_traceback(shop: Shop) -> None:
    output = shop.run("call", shop.source, "fails", "--debug", *shop.api, code=5)
    assert "500 Oh no" in output
    assert "/v1/fails: 500" in output
    assert "the call failed" in output
    assert "Traceback" not in output


def test_inspect_start_lines_logs_and_cache_have_no_secret(shop: Shop) -> None:
    options = shop.api[:2]
    assert f"calls go to http://{shop.host}/v1?api_key=…" in shop.run("inspect", shop.source, *options)
    shop.run("inspect", shop.source, "it", *options, "--no-validate")
    shop.run("inspect", shop.source, "--json", *options, "--no-validate")
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "it", "arguments": {}}}
    lines = "".join(json.dumps(message) + "\n" for message in (*HANDSHAKE, request))
    output = shop.run("serve", shop.source, "--debug", *shop.api, stdin=lines)
    assert "/v1/it: 200" in output
    assert f"key: set by API_SHOP_KEY; sent to {shop.host}" in output
    shop.run("serve", shop.source, "--base-url", f"http://{shop.host}=http://{USER}:{PASSWORD}@{shop.host}/v2")
    assert [path for path in (shop.folder / "cache").rglob("*") if path.is_file()]
    assert_no_secret_in(shop.folder)


def test_start_over_http_prints_no_secret(shop: Shop) -> None:
    command = [sys.executable, "-m", "openapi_mcp", "serve", shop.source, *shop.api, "--port", "0", "--debug"]
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = ""
        while "connect" not in lines:
            line = process.stderr.readline()
            assert line, lines
            lines += line
        process.send_signal(signal.SIGTERM)
        lines += process.communicate(timeout=20)[1]
    assert process.returncode == 0
    assert_no_secret(lines.encode())


@pytest.mark.parametrize("replaced", ["all", "one"])
def test_generated_package_and_its_archive_have_no_secret(shop: Shop, replaced: str) -> None:
    base_url = shop.base_url if replaced == "all" else f"{shop.echo.url}={shop.base_url}"
    out = shop.folder / "out"
    options = ["--base-url", base_url, "--spec-header", f"X-Auth: {DOCUMENT_HEADER}"]
    output = shop.run("generate", shop.source, str(out), "--bundle", *options)
    assert "set OPENAPI_MCP_BASE_URL to the whole URL" in output
    assert list(out.glob("*.mcpb"))
    assert f"{shop.host}/v1?version=2" in (out / "shop_mcp" / "api.py").read_text()
    assert "up to date" in shop.run("generate", shop.source, str(out), "--check", *options)
    assert_no_secret_in(shop.folder)
    printed = run_package(
        out, {"OPENAPI_MCP_BASE_URL": shop.base_url, "API_SHOP_KEY": VARIABLE, "API_SHOP_OTHER": AUTH}
    )
    assert "key: set by API_SHOP_KEY; sent to" in printed
    assert shop.echo.last().one("authorization") == f"Basic {PAIR.decode()}"


def run_package(folder: Path, environment: dict[str, str]) -> str:
    """Call the tool `it` of a generated package over stdio, and return what it printed, in which no secret is."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "it", "arguments": {}}}
    lines = "".join(json.dumps(message) + "\n" for message in (*HANDSHAKE, request))
    result = subprocess.run(
        [sys.executable, "-m", "shop_mcp"],
        cwd=folder,
        env=os.environ | environment,
        input=lines.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert_no_secret(result.stdout + result.stderr)
    return (result.stdout + result.stderr).decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--header", "Bearer canary"],
        ["--header", "Bearer", "canary"],
        ["--header", "X-Key: a\ncanary"],
        ["--spec-header", "canary"],
        ["--auth", "canary=="],
        ["--auth", "key=env:NOT_SET"],
        ["--base-url", "user:canary@api.example.com"],
        ["--base-url", "https://user:canary/1@api.example.com/v1"],
        ["--base-url", "https://other.example.com=https://user:canary@h"],
        ["--base-url", "https://user:canary@a", "--base-url", "https://user:canary@b"],
        ["--port", "0", "--auth-token", "can ary canary"],
        ["--header", "X-Key: canary-123", "--client-cert", "/nowhere"],
    ],
)
def test_errors_of_options_show_no_secret(shop: Shop, arguments: list[str]) -> None:
    command = ["serve", shop.source, "--no-cache", *arguments]
    result = CliRunner(env={"API_SHOP_KEY": VARIABLE}).invoke(app, command)
    assert result.exit_code == 2
    assert_no_secret(result.output.encode())
    assert result.stdout == ""


@pytest.mark.parametrize(
    "text",
    [
        "auth-token = ['canary']",
        "port = 0\nauth-token = 'canary canary'",
        "header = ['canary']",
        "base-url = 'user:canary@h'",
        "auth = 'canary",
        "auth = {nobody = 'canary'}",
        "spec-header = ['X-Key: ${canary']",
    ],
)
def test_errors_of_settings_show_no_secret(tmp_path: Path, text: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    result = CliRunner().invoke(app, ["serve", str(ROOT / "specs" / "petstore.yaml"), "--config", str(file)])
    assert result.exit_code == 2
    assert_no_secret(result.output.encode())


def test_errors_of_documents_show_no_secret(shop: Shop) -> None:
    shop.echo.respond = lambda _: answer(b"", status="403 Forbidden")
    where = f"where: http://{shop.host}/openapi.json?X-Amz-Signature=…&page=…"
    assert where in shop.run("inspect", shop.source, code=3)
    assert "Traceback" in shop.run("inspect", shop.source, "--debug", code=3)
    shop.echo.respond = lambda _: answer(b"[]")
    shop.run("serve", shop.source, *shop.api, "--debug", code=3)
    shop.run("inspect", f"http://{USER}:canary/1@{shop.host}/openapi.json", "--debug", code=3)
    shop.run("inspect", f"{USER}:canary@{shop.host}/openapi.json", "--debug", code=3)
    shop.run("inspect", f"http://{USER}:canary@127.0.0.1:1/?sig=canary", "--debug", code=3)
    shop.run("serve", "specs/petstore.yaml", "--base-url", f"http://{USER}:canary/1@h", "--debug", code=2)


def test_unexpected_exception_shows_no_secret(shop: Shop) -> None:
    """A traceback of a library may quote a header: here httpx quotes one that it cannot encode."""
    program = (
        "import sys; from openapi_mcp.cli import console; console.guard()\n"
        "console.hide(console.secrets_of_options(sys.argv[1], {'header': ['X-Key: canary-Header4']}))\n"
        "raise ValueError(f'cannot send canary-Header4 to {sys.argv[1]} \\x1b]0;title\\x07')\n"
    )
    command = [sys.executable, "-c", program, shop.source]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert b"ValueError: cannot send *** to http://127" in result.stderr
    assert rb"\u001b]0;title\u0007" in result.stderr
    assert_no_secret(result.stderr)


ESCAPES = "\x1b]0;title\x07\x1b[31m\x9b2J"


def test_terminal_gets_no_control_sequence_of_an_answer_and_a_pipe_gets_all_bytes(shop: Shop) -> None:
    for terminal in (True, False):
        program = f"from openapi_mcp.cli import console; console.out({ESCAPES!r} + 'a\\tb')"
        primary, secondary = pty.openpty()
        output = secondary if terminal else subprocess.PIPE
        process = subprocess.run([sys.executable, "-c", program], stdout=output, cwd=ROOT, timeout=60, check=True)
        os.close(secondary)
        printed = os.read(primary, 1000) if terminal else process.stdout
        os.close(primary)
        if terminal:
            assert printed == rb"\u001b]0;title\u0007\u001b[31m\u009b2Ja" + b"\tb\r\n"
        else:
            assert printed == f"{ESCAPES}a\tb\n".encode()
    path = "%1b]0;title%07"
    shop.echo.respond = lambda _: answer(b"{}", "Content-Type: text/plain\x1b]0;x\x07", f"Location: /{path}")
    value = document(shop.echo)
    value["paths"] = {"/{id}": {"get": value["paths"]["/it"]["get"]}}
    value["paths"]["/{id}"]["get"]["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {}}]
    (shop.folder / "d.json").write_text(json.dumps(value))
    output_text = shop.run("call", str(shop.folder / "d.json"), "it", f"id={ESCAPES}", "--debug")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output_text)
