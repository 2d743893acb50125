"""The command line as a person meets it: what it prints, where, and with which exit code."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from openapi_mcp import cli
from tests.conftest import ROOT

ENVIRONMENT = os.environ | {"SHOP_KEY": "open-sesame", "COLUMNS": "200"}
DOCUMENT = "specs/petstore.yaml"


def run(*arguments: str, stdin: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "openapi_mcp", *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def test_help_teaches_the_three_commands() -> None:
    shown = run("--help").stdout
    assert all(command in shown for command in ("serve", "inspect", "call"))
    for command in ("serve", "inspect", "call"):
        assert "SPEC" in run(command, "--help").stdout


def test_serve_help_states_how_the_transport_is_chosen() -> None:
    shown = " ".join(run("serve", "--help").stdout.split())
    assert "http at a terminal or with --host, --port or --path, else stdio" in shown


def test_inspect_shows_each_tool_on_a_line_that_can_be_cut() -> None:
    lines = run("inspect", DOCUMENT).stdout.splitlines()
    [line] = [line for line in lines if line.startswith("updatePet ")]
    assert line.split()[:5] == ["updatePet", "PATCH", "/pets/{petId}", "Change", "a"]
    assert "petId, name?, status?, tags?, price?" in line


def test_inspect_as_json_says_where_each_argument_goes() -> None:
    shown = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate").stdout)
    assert (shown["operations"], shown["lost"], shown["problems"]) == (9, 0, [])
    [tool] = [tool for tool in shown["tools"] if tool["name"] == "updatePet"]
    assert tool["arguments"][0] == {"name": "petId", "in": "path", "wireName": "petId", "required": True}
    assert tool["arguments"][1] == {"name": "name", "in": "body", "wireName": "name", "required": False}


def test_inspect_shows_one_tool_whole() -> None:
    shown = run("inspect", DOCUMENT, "createPet").stdout
    assert "POST http://127.0.0.1:8020/pets" in shown
    assert "credential: shopKey" in shown
    assert '"additionalProperties": false' in shown


def test_an_unknown_tool_is_an_error_that_suggests_the_nearest() -> None:
    shown = run("inspect", DOCUMENT, "createPets", code=4).stderr
    assert "there is no tool createPets" in shown
    assert "createPet" in shown.splitlines()[-1]


def test_selections_narrow_the_tools() -> None:
    rules = ("--include", "tag:pets", "--exclude", "path:/pets/*/photo", "--read-only")
    shown = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate", *rules).stdout)
    assert [tool["name"] for tool in shown["tools"]] == ["listPets", "getPet"]
    assert shown["excluded"] == 7


def test_the_document_may_come_from_stdin() -> None:
    text = (ROOT / DOCUMENT).read_text()
    assert len(json.loads(run("inspect", "-", "--json", "--no-validate", stdin=text).stdout)["tools"]) == 9


def test_the_document_may_come_from_a_url(petstore: str) -> None:
    shown = json.loads(run("inspect", f"{petstore}/openapi.yaml", "--json", "--no-validate").stdout)
    assert len(shown["tools"]) == 9


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["inspect", "no-such-file.yaml"], 3, "no-such-file.yaml"),
        (["inspect", "README.md"], 3, "README.md"),
        (["serve", DOCUMENT, "--header", "no colon"], 2, "a header is written 'Name: value'"),
        (["serve", DOCUMENT, "--include", "planet:mars"], 2, "planet"),
        (["call", DOCUMENT, "getPet", "petId"], 2, "key=value"),
        (["call", DOCUMENT, "getPet", "--json", "[1]"], 2, "not a JSON object"),
        (["call", DOCUMENT, "getPet", "--json", "{"], 2, "not JSON"),
        (["serve", "-"], 2, "stdin"),
        (["serve", DOCUMENT, "--port", "0", "--allow-files", "."], 2, "files by name"),
        (["serve", DOCUMENT, "--allow-files", "no-such-folder"], 2, "no such folder"),
        (["serve", DOCUMENT, "--base-url", "api.example.com"], 2, "--base-url api.example.com"),
        (["inspect", "ftp://example.com/a.yaml"], 3, "ftp://example.com/a.yaml"),
    ],
)
def test_errors_say_what_where_and_what_to_do_without_a_traceback(arguments: list[str], code: int, what: str) -> None:
    done = run(*arguments, code=code)
    assert what in done.stderr
    assert done.stderr.startswith("openapi-mcp: ")
    assert "what to do: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_files_by_name_are_not_served_over_http_from_a_settings_file_either(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("allow-files = ['.']")
    done = run("serve", DOCUMENT, "--port", "0", "--config", str(tmp_path / "settings.toml"), code=2)
    assert "files by name" in done.stderr


def test_what_the_command_line_leaves_out_comes_from_the_settings_file(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("include = ['id:getPet']")
    shown = json.loads(run("inspect", DOCUMENT, "--json", "--no-validate", "--config", str(settings)).stdout)
    assert [tool["name"] for tool in shown["tools"]] == ["getPet"]


def test_zero_is_an_answer_and_not_an_option_left_out() -> None:
    values: list[object] = [0, 0.0, "", None, False, [], ()]
    assert [value for value in values if cli._is_given(value)] == [0, 0.0, ""]


def test_a_port_that_there_cannot_be_is_refused_before_anything_starts(tmp_path: Path) -> None:
    assert "--port" in run("serve", DOCUMENT, "--port", "99999", code=2).stderr
    settings = tmp_path / "settings.toml"
    settings.write_text("port = -1")
    assert "there is no such port" in run("serve", DOCUMENT, "--config", str(settings), code=2).stderr


def test_serve_says_where_nothing_is_served_and_what_was_given_in_vain() -> None:
    said = run("serve", DOCUMENT, "--include", "tag:none", "--auth", "unheard=of").stderr
    assert "nowhere: there are no tools; see --include, --exclude and --read-only" in said
    assert "unheard: given, but no tool asks for it" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_what_cannot_be_written_is_said_in_a_line() -> None:
    arguments = [sys.executable, "-m", "openapi_mcp", "inspect", DOCUMENT, "--json", "--no-validate"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            arguments, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("openapi-mcp: what was to be written could not be: ")


def test_call_prints_what_the_api_answered(petstore: str) -> None:
    arguments = ("status=sold", "status=reserved", "limit=1")
    shown = run("call", DOCUMENT, "listPets", "--base-url", petstore, *arguments).stdout
    assert [pet["name"] for pet in json.loads(shown)["pets"]] == ["Rex"]


def test_call_takes_arguments_as_json(petstore: str) -> None:
    shown = run("call", DOCUMENT, "getPet", "--base-url", petstore, "--json", '{"petId": 1}').stdout
    assert json.loads(shown)["name"] == "Minka"


def test_a_call_that_fails_exits_with_5_and_prints_the_answer(petstore: str) -> None:
    done = run("call", DOCUMENT, "getPet", "--base-url", petstore, "petId=999", code=5)
    assert "no pet has the id 999" in done.stdout
    assert "Traceback" not in done.stderr


def test_dry_run_prints_the_request_and_hides_the_credential() -> None:
    shown = run("call", DOCUMENT, "createPet", "--dry-run", "name=Otto", 'tags=["a"]').stdout
    assert shown.startswith("POST http://127.0.0.1:8020/pets HTTP/1.1\n")
    assert "x-api-key: ***" in shown.lower()
    assert "open-sesame" not in shown
    assert json.loads(shown.split("\n\n", 1)[1]) == {"name": "Otto", "tags": ["a"]}


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
    done = run("call", str(tmp_path / "keys.json"), "look", "--base-url", petstore, "--auth", "key=hunter2", "--debug")
    assert "GET 127.0.0.1" in done.stderr
    assert "/pets: 200" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout


def test_dry_run_refuses_arguments_as_a_call_would() -> None:
    assert "status" in run("call", DOCUMENT, "createPet", "--dry-run", "name=Ida", "status=lost", code=2).stderr


def test_stdio_is_what_a_program_gets_and_stdout_holds_only_mcp() -> None:
    request = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    done = run("serve", DOCUMENT, stdin=json.dumps(request) + "\n")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"jsonrpc": "2.0", "id": 0, "result": {}}]
    assert "9 tools from 9 operations" in done.stderr
    assert "credentials  shopKey: given" in done.stderr
    assert "open-sesame" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_signal_ends_the_server_gracefully(transport: str, number: signal.Signals) -> None:
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
        shown = ""
        while "127.0.0.1:8000" not in shown:  # where it listens, or where it cannot because somebody else does
            line = process.stderr.readline()
            assert line, shown
            shown += line
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    os.close(primary)
    os.close(secondary)
    assert "stdio" not in shown


def many_operations(folder: Path) -> Path:
    """A document with more operations than can say everything."""
    text = "One sentence that says something. " * 40
    operation = {"description": text, "responses": {"200": {"description": "ok"}}}
    paths = {f"/things/{number}": {"get": operation} for number in range(600)}
    path = folder / "many.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "Many", "version": "1"}, "paths": paths}))
    return path


def test_what_is_shortened_is_said_and_what_options_would_save(tmp_path: Path) -> None:
    document = str(many_operations(tmp_path))
    said = run("serve", document, "--mode", "all").stderr
    assert "shortened, as there are 600 tools; see --budget: descriptions to 256 characters" in said
    assert "shortened" not in run("serve", document, "--mode", "all", "--budget", "1000000").stderr
    shown = run("inspect", document, "--mode", "all", "--no-validate").stdout
    assert "with --compact: about" in shown
    assert "with nothing shortened: about" in shown
    assert "600 tools" in said
    assert "20 tools from 600 operations" in run("serve", document, "--max-tools", "20").stderr
    assert "580 left out as asked" in run("serve", document, "--max-tools", "20").stderr


def test_the_cache_is_shown_and_cleared() -> None:
    run("serve", DOCUMENT)
    assert " kept, " in run("cache").stdout
    assert " removed, " in run("cache", "clear").stdout
    assert "0 files kept, 0 bytes" in run("cache").stdout
    run("serve", DOCUMENT, "--no-cache")
    assert "0 files kept, 0 bytes" in run("cache").stdout
    assert "is not one of 'clear'" in run("cache", "fill", code=2).stderr
