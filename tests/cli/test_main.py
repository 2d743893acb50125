"""The command line as users run it: its output, its errors, and its exit codes."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli.commands import is_used
from openapi_mcp.cli.main import app
from tests import prepared
from tests.conftest import ROOT

pytestmark = pytest.mark.process

ENVIRONMENT = os.environ | {"API_PETSTORE_SHOPKEY": "open-sesame", "COLUMNS": "200"}
DOCUMENT = "specs/petstore.yaml"


def run(
    *arguments: str, stdin: str = "", code: int = 0, environment: Mapping[str, str] = ENVIRONMENT
) -> subprocess.CompletedProcess[str]:
    done = prepared.run(*arguments, stdin=stdin.encode(), environment=environment)
    result = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert result.returncode == code, result.stderr
    return result


def test_help_names_the_commands() -> None:
    output = run("--help").stdout
    assert all(command in output for command in ("serve", "inspect", "call"))
    for command in ("serve", "inspect", "call"):
        assert "SPEC" in run(command, "--help").stdout


def test_serve_help_states_how_the_transport_is_chosen() -> None:
    output = " ".join(run("serve", "--help").stdout.split())
    assert "http at a terminal or with --host, --port or --path, else stdio" in output


@pytest.mark.parametrize(
    ("document", "version"), [("petstore-2.0.json", "Swagger 2.0"), ("petstore-3.0.yaml", "OpenAPI 3.0")]
)
def test_inspect_names_the_version_of_the_document_as_written(document: str, version: str) -> None:
    path = f"specs/{document}"
    assert f"({version}): " in run("inspect", path, "--no-validate").stderr.splitlines()[-1]
    output = json.loads(run("inspect", path, "--json", "--no-validate").stdout)
    assert output["openapi"] == version.split()[1]


def test_inspect_json_has_the_location_of_each_argument() -> None:
    output = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate").stdout)
    assert (output["operations"], output["lost"], output["problems"]) == (9, 0, [])
    [tool] = [tool for tool in output["tools"] if tool["name"] == "updatePet"]
    assert tool["arguments"][0] == {"name": "petId", "in": "path", "wireName": "petId", "required": True}
    assert tool["arguments"][1] == {"name": "name", "in": "body", "wireName": "name", "required": False}


def test_inspect_names_post_tools_that_may_only_read_with_and_without_read_only(tmp_path: Path) -> None:
    operations = {"/pets/search": {"post": {"operationId": "searchPets"}}, "/pets": {"get": {"operationId": "all"}}}
    paths = operations | {"/marked": {"post": {"x-mcp": {"annotations": {"readOnlyHint": True}}}}}
    document = tmp_path / "pets.json"
    document.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "P", "version": "1"}, "paths": paths}))
    lines = run("inspect", str(document), "--no-validate").stderr
    assert "POST operations that may only read: searchPets; --read-only includes" in lines
    assert "x-mcp: {annotations: {readOnlyHint: true}}" in lines
    output = json.loads(run("inspect", str(document), "--no-validate", "--json", "--read-only").stdout)
    assert output["readOnlyCandidates"] == ["searchPets"]
    assert [tool["path"] for tool in output["tools"]] == ["/pets", "/marked"]


def test_inspect_prints_one_tool_with_its_schemas() -> None:
    output = run("inspect", DOCUMENT, "createPet").stdout
    assert "POST http://127.0.0.1:8020/pets" in output
    assert "credential: shopKey" in output
    assert '"additionalProperties": false' in output


def test_unknown_tool_is_an_error_that_suggests_the_nearest() -> None:
    output = run("inspect", DOCUMENT, "createPets", code=4).stderr
    assert "no such tool: createPets" in output
    assert "createPet" in output.splitlines()[-1]


def test_missing_argument_is_an_error_that_names_it() -> None:
    assert "TOOL" in run("call", DOCUMENT, code=2).stderr.splitlines()[-1]
    assert "SPEC" in run("serve", code=2).stderr.splitlines()[-1]


def test_rules_select_tools() -> None:
    rules = ("--include", "tag:pets", "--exclude", "path:/pets/*/photo", "--read-only")
    output = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate", *rules).stdout)
    assert [tool["name"] for tool in output["tools"]] == ["listPets", "getPet"]
    assert output["excluded"] == 7


def test_document_is_read_from_stdin() -> None:
    text = (ROOT / DOCUMENT).read_text()
    assert len(json.loads(run("inspect", "-", "--json", "--no-validate", stdin=text).stdout)["tools"]) == 9


def test_document_is_read_from_a_url(petstore: str) -> None:
    output = json.loads(run("inspect", f"{petstore}/openapi.yaml", "--json", "--no-validate").stdout)
    assert len(output["tools"]) == 9


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["inspect", "no-such-file.yaml"], 3, "no-such-file.yaml"),
        (["inspect", "README.md"], 3, "README.md"),
        (["serve", DOCUMENT, "--header", "no colon"], 2, "a header must be written 'Name: value'"),
        (["serve", DOCUMENT, "--include", "planet:mars"], 2, "planet"),
        (["call", DOCUMENT, "getPet", "petId"], 2, "must be written KEY=VALUE"),
        (["call", DOCUMENT, "getPet", "--json", "[1]"], 2, "--json must be a JSON object"),
        (["call", DOCUMENT, "getPet", "--json", "{"], 2, "not JSON"),
        (["serve", "-"], 2, "stdin"),
        (["serve", DOCUMENT, "--port", "0", "--allow-files", "."], 2, "clients over HTTP cannot name files"),
        (["serve", DOCUMENT, "--allow-files", "no-such-folder"], 2, "folder does not exist: no-such-folder"),
        (["serve", DOCUMENT, "--base-url", "api.example.com"], 2, "--base-url must be an absolute http(s) URL"),
        (["serve", DOCUMENT, "--host", "0.0.0.0", "--port", "0"], 2, "--allow-unauthenticated"),
        (["serve", DOCUMENT, "--host", "192.0.2.1", "--port", "0"], 2, "Cannot listen on 192.0.2.1:0"),  # RFC 5737
        (["inspect", "ftp://example.com/a.yaml"], 3, "ftp://example.com/a.yaml"),
    ],
)
def test_errors_have_message_and_hint_without_a_traceback(arguments: list[str], code: int, message: str) -> None:
    result = run(*arguments, code=code)
    assert message in result.stderr
    assert result.stderr.startswith("openapi-mcp: ")
    assert "what to do: " in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_allow_files_in_a_settings_file_is_refused_over_http(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("allow-files = ['.']")
    result = run("serve", DOCUMENT, "--port", "0", "--config", str(tmp_path / "settings.toml"), code=2)
    assert "clients over HTTP cannot name files" in result.stderr


def test_settings_file_supplies_options_that_the_command_line_lacks(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("include = ['id:getPet']")
    output = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate", "--config", str(settings)).stdout)
    assert [tool["name"] for tool in output["tools"]] == ["getPet"]


def test_zero_is_a_used_option() -> None:
    values: list[object] = [0, 0.0, "", None, False, [], ()]
    assert [value for value in values if is_used(value)] == [0, 0.0, ""]


def test_invalid_port_is_refused_before_anything_starts(tmp_path: Path) -> None:
    assert "--port" in run("serve", DOCUMENT, "--port", "99999", code=2).stderr
    settings = tmp_path / "settings.toml"
    settings.write_text("port = -1")
    assert "port must be an integer from 0 to 65535" in run("serve", DOCUMENT, "--config", str(settings), code=2).stderr


def test_inspect_and_call_do_not_read_a_variable_that_the_document_names(tmp_path: Path) -> None:
    document = tmp_path / "api.json"
    scheme = {"AWS_SECRET_ACCESS_KEY": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    operation = {"operationId": "it", "responses": {"200": {"description": "OK"}}}
    value = {
        "openapi": "3.0.0",
        "info": {"title": "AWS", "version": "1"},
        "servers": [{"url": "https://evil.example"}],
        "security": [{"AWS_SECRET_ACCESS_KEY": []}],
        "paths": {"/": {"get": operation}},
        "components": {"securitySchemes": scheme},
    }
    document.write_text(json.dumps(value))
    environment = ENVIRONMENT | {"AWS_SECRET_ACCESS_KEY": "hunter2"}
    expected = "not set; set API_AWS_AWS_SECRET_ACCESS_KEY, which is sent to evil.example"
    assert expected in run("inspect", str(document), environment=environment).stderr
    assert "X-Key" not in run("call", str(document), "it", "--dry-run", environment=environment).stdout
    named = run("call", str(document), "it", "--dry-run", "--auth", "AWS_SECRET_ACCESS_KEY=env:NOPE", code=2)
    assert "`NOPE`, which is not set" in named.stderr


def test_serve_reports_missing_tools_and_unused_credentials() -> None:
    rules = ("--include", "tag:pets", "--exclude", "tag:pets")
    stderr = run("serve", DOCUMENT, *rules, "--auth", "shopKey=of").stderr
    assert "nowhere: there are no tools; see --include, --exclude and --read-only" in stderr
    assert "shopKey: set, but no tool uses it" in stderr


@pytest.mark.parametrize(
    ("options", "where", "hint"),
    [
        ('include = ["tag:dogs"]', "--include tag:dogs", "the document has pets"),
        ('exclude = ["id:getPets"]', "--exclude id:getPets", "did you mean getPet"),
        ('auth = ["shopkey=x"]', "--auth shopkey=", "did you mean shopKey?"),
        ('pin = ["listpets"]', "--pin listpets", "did you mean listPets"),
        ("server = '7'", "--server 7", "http://127.0.0.1:8020"),
        ("server-var = {region = 'eu'}", "--server-var region=", "none"),
        ("base-url = 'https://${NOBODY_SET_THIS}'", "base-url", "set NOBODY_SET_THIS"),
    ],
)
def test_option_that_names_nothing_of_the_document_is_an_error(
    tmp_path: Path, options: str, where: str, hint: str
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(options)
    for command in (["serve"], ["inspect"], ["call", "listPets"], ["generate", str(tmp_path / "out")]):
        name, *arguments = command
        result = CliRunner().invoke(app, [name, str(ROOT / DOCUMENT), *arguments, "--config", str(settings)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert where in result.stderr
        assert hint in result.stderr.split("what to do: ")[1]
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_write_error_of_stdout_is_reported_in_one_line() -> None:
    arguments = [sys.executable, "-m", "openapi_mcp", "inspect", DOCUMENT, "--json", "--no-validate"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            arguments, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False
        )
    assert result.returncode == 1
    assert result.stderr.startswith("openapi-mcp: the output could not be written: ")


def test_call_prints_the_response(petstore: str) -> None:
    arguments = ("status=sold", "status=reserved", "limit=1")
    output = run("call", DOCUMENT, "listPets", "--base-url", petstore, *arguments).stdout
    assert [pet["name"] for pet in json.loads(output)["pets"]] == ["Rex"]


def test_call_accepts_arguments_as_json(petstore: str) -> None:
    output = run("call", DOCUMENT, "getPet", "--base-url", petstore, "--json", '{"petId": 1}').stdout
    assert json.loads(output)["name"] == "Minka"


def test_failed_call_exits_with_5_and_prints_the_response(petstore: str) -> None:
    result = run("call", DOCUMENT, "getPet", "--base-url", petstore, "petId=999", code=5)
    assert "no pet has the id 999" in result.stdout
    assert "Traceback" not in result.stderr


def test_dry_run_prints_the_request_without_the_credential() -> None:
    output = run("call", DOCUMENT, "createPet", "--dry-run", "name=Otto", 'tags=["a"]').stdout
    assert output.startswith("POST http://127.0.0.1:8020/pets HTTP/1.1\n")
    assert "x-api-key: ***" in output.lower()
    assert "open-sesame" not in output
    assert json.loads(output.split("\n\n", 1)[1]) == {"name": "Otto", "tags": ["a"]}


def test_debug_logs_each_request_without_its_credentials(petstore: str, tmp_path: Path) -> None:
    operation = {"operationId": "look", "security": [{"key": []}], "responses": {"200": {"description": "ok"}}}
    scheme = {"type": "apiKey", "in": "query", "name": "key"}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Keys", "version": "1"},
        "paths": {"/pets": {"get": operation}},
        "components": {"securitySchemes": {"key": scheme}},
    }
    (tmp_path / "keys.json").write_text(json.dumps(document))
    result = run(
        "call", str(tmp_path / "keys.json"), "look", "--base-url", petstore, "--auth", "key=hunter2", "--debug"
    )
    assert "GET 127.0.0.1" in result.stderr
    assert "/pets: 200" in result.stderr
    assert "hunter2" not in result.stderr + result.stdout


def test_lenient_dry_run_prints_what_does_not_fit_on_stderr() -> None:
    result = run("call", DOCUMENT, "createPet", "--dry-run", "--lenient", "name=Ida", "status=lost")
    assert '"status":"lost"' in result.stdout
    assert "note: does not fit the document: `status` must be one of" in result.stderr


def test_dry_run_validates_arguments() -> None:
    assert "status" in run("call", DOCUMENT, "createPet", "--dry-run", "name=Ida", "status=lost", code=2).stderr


def test_without_a_terminal_serve_uses_stdio_and_stdout_has_only_mcp() -> None:
    request = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    result = run("serve", DOCUMENT, stdin=json.dumps(request) + "\n")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [{"jsonrpc": "2.0", "id": 0, "result": {}}]
    assert "9 tools from 9 operations" in result.stderr
    assert "credentials  shopKey: set by API_PETSTORE_SHOPKEY; sent to 127.0.0.1:8020" in result.stderr
    assert "open-sesame" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_signal_ends_the_server_with_exit_code_0(transport: str, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "openapi_mcp", "serve", DOCUMENT, "--transport", transport]
    command += ["--port", "0"] if transport == "http" else []
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stderr is not None
        while "connect" not in process.stderr.readline():
            pass
        process.send_signal(number)
        printed, logged = process.communicate(timeout=20)
    assert (process.returncode, printed) == (0, ""), logged
    assert "Traceback" not in logged


def test_at_a_terminal_serve_listens_on_http() -> None:
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "openapi_mcp", "serve", DOCUMENT]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdin=secondary, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stderr is not None
        output = ""
        while "127.0.0.1:8000" not in output:  # the URL, or an error if the port is taken
            line = process.stderr.readline()
            assert line, output
            output += line
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    os.close(primary)
    os.close(secondary)
    assert "stdio" not in output


def many_operations(folder: Path) -> Path:
    """Write a document with so many operations that their texts are cut."""
    text = "One sentence that says something. " * 40
    operation = {"description": text, "responses": {"200": {"description": "ok"}}}
    paths = {f"/things/{number}": {"get": operation} for number in range(600)}
    path = folder / "many.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "Many", "version": "1"}, "paths": paths}))
    return path


def test_cuts_and_savings_are_reported(tmp_path: Path) -> None:
    document = str(many_operations(tmp_path))
    stderr = run("serve", document, "--mode", "all").stderr
    assert "shortened because of 600 tools; see --budget: descriptions to 256 characters" in stderr
    assert "shortened" not in run("serve", document, "--mode", "all", "--budget", "1000000").stderr
    output = run("inspect", document, "--mode", "all", "--no-validate").stderr
    assert "with --compact: about" in output
    assert "with nothing shortened: about" in output
    assert "600 tools" in stderr
    assert "20 tools from 600 operations" in run("serve", document, "--max-tools", "20").stderr
    assert "580 left out by options" in run("serve", document, "--max-tools", "20").stderr


def test_shortened_instructions_are_reported(tmp_path: Path) -> None:
    info = {"title": "Policy", "version": "1", "description": "A rule. " * 500}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/a": {"get": {"responses": {}}}}}))
    line = "of 4,036 characters; see --max-instructions"
    assert line in run("serve", str(path)).stderr
    assert line in run("inspect", str(path), "--no-validate").stderr
    assert line not in run("serve", str(path), "--max-instructions", "5000").stderr
    output = json.loads(run("inspect", str(path), "--json", "--no-validate", "--max-instructions", "100").stdout)
    assert len(output["instructions"]) <= 100
    assert output["instructionsLength"] > 4000
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    request["params"] |= {"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}  # type: ignore[operator]
    result = run("serve", str(path), "--max-instructions", "0", stdin=json.dumps(request) + "\n")
    assert "instructions" not in json.loads(result.stdout)["result"]


def test_cache_command_shows_and_clears_the_cache() -> None:
    run("serve", DOCUMENT)
    assert " kept, " in run("cache").stdout
    assert " removed, " in run("cache", "clear").stdout
    assert "0 files kept, 0 bytes" in run("cache").stdout
    run("serve", DOCUMENT, "--no-cache")
    assert "0 files kept, 0 bytes" in run("cache").stdout
    stderr = run("cache", "fill", code=2).stderr
    assert "'fill' is not" in stderr  # the rest of the sentence differs between versions of typer
    assert "'clear'" in stderr


@pytest.mark.parametrize("command", [["serve"], ["call", "it"], ["call", "it", "--dry-run"]])
def test_basic_credential_without_a_colon_is_an_error_at_the_start(command: list[str], tmp_path: Path) -> None:
    document = tmp_path / "api.json"
    value = {
        "openapi": "3.0.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "security": [{"login": []}],
        "paths": {"/": {"get": {"operationId": "it", "responses": {"200": {"description": "OK"}}}}},
        "components": {"securitySchemes": {"login": {"type": "http", "scheme": "basic"}}},
    }
    document.write_text(json.dumps(value))
    name, *rest = command
    result = run(name, str(document), *rest, code=2, environment=ENVIRONMENT | {"API_SHOP_LOGIN": "hunter2"})
    assert "`login` (`API_SHOP_LOGIN`) must be `user:password`" in result.stderr
    assert "hunter2" not in result.stderr
