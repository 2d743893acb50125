"""Servers in the settings of ten clients: the bytes that are written, exact undoing, and files that are refused."""

import json
import os
import stat
import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
import yaml

from openapi_mcp.clients import edits, files, json_text, snippets
from openapi_mcp.clients.installation import SettingsFile, install, uninstall
from openapi_mcp.clients.server import InstalledServer, Machine
from openapi_mcp.clients.table import CLIENTS, Client, client_named
from openapi_mcp.errors import UsageError

EXPECTED = Path(__file__).with_name("expected")
SPEC = "/home/ada/petstore.yaml"
SERVER = InstalledServer.started(
    "pet-store", [SPEC, "--read-only"], description="Pet store", variables=["API_KEY"], command="/venv/bin/python"
)
REACHED = InstalledServer(
    name="pet-store", description="Pet store", url="http://127.0.0.1:8000/mcp", token_variable="TOKEN"
)
OTHERS = {
    "json": '\ufeff{\n\t// first\n\t"b": 1,\n\t"KEY": {\n\t\t"other": {"command": "x"}, // mine\n\t},\n\t"a": [1]\n}',
    "toml": '# first\nm = "o"   # mine\n\n[KEY.other]\ncommand = "x"\nnote = """\n[KEY.pet-store]\n"""\n\n[z]\ny=1 #',
    "yaml": "# first\nKEY:  # mine\n    # of other\n    other:\n        cmd: x   # c\n\nz: [1,\n  2]\n",
}
"""Files that people wrote: with comments, in several styles."""

PATHS = {
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "claude-code": (".claude.json",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "gemini": (".gemini/settings.json",) * 3,
    "codex": (".codex/config.toml",) * 3,
    "goose": (
        ".config/goose/config.yaml",
        ".config/goose/config.yaml",
        "AppData/Roaming/Block/goose/config/config.yaml",
    ),
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
    "lm-studio": (".lmstudio/mcp.json",) * 3,
}


@pytest.fixture(params=CLIENTS.values(), ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


@pytest.fixture
def place(client: Client, tmp_path: Path) -> SettingsFile:
    return of(client, tmp_path)


def of(client: Client, home: Path) -> SettingsFile:
    made = SettingsFile(client, Machine("linux", home, home / "project"))
    made.path.parent.mkdir(parents=True, exist_ok=True)
    (home / client.home).mkdir(exist_ok=True)
    return made


def read(client: Client, data: bytes) -> Any:
    text = data.decode()
    if client.format == "json":
        return json_text.parsed(text)
    return yaml.safe_load(text) if client.format == "yaml" else tomllib.loads(text)


def others(client: Client) -> bytes:
    return OTHERS[client.format].replace("KEY", client.path[0]).encode()


def test_files_are_where_each_client_has_them_on_each_platform(client: Client) -> None:
    homes = (PurePosixPath("/home/ada"), PurePosixPath("/Users/ada"), PureWindowsPath("C:/Users/ada"))
    for platform, home, path in zip(("linux", "darwin", "win32"), homes, PATHS[client.name], strict=True):
        assert client.settings_file(Machine(platform, home, home)) == home / path


def test_variables_name_other_folders() -> None:
    environment = {"XDG_CONFIG_HOME": "/xdg", "CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/claude"}
    machine = Machine("linux", PurePosixPath("/home/ada"), PurePosixPath("/p"), environment)
    paths = {name: str(CLIENTS[name].settings_file(machine)) for name in ("codex", "claude-code", "zed")}
    assert paths == {
        "codex": "/codex/config.toml",
        "claude-code": "/claude/.claude.json",
        "zed": "/xdg/zed/settings.json",
    }
    windows = Machine("win32", PureWindowsPath("C:/Users/ada"), PureWindowsPath("C:/p"), {"APPDATA": "D:\\Roaming"})
    assert CLIENTS["zed"].settings_file(windows) == PureWindowsPath("D:/Roaming/Zed/settings.json")


@pytest.mark.parametrize("server", [SERVER, REACHED], ids=["started", "reached"])
def test_new_file_has_the_expected_bytes(place: SettingsFile, server: InstalledServer) -> None:
    client = place.client
    if server.url and client.reached is None:
        with pytest.raises(UsageError, match="takes no server at a URL"):
            install(place, server)
        assert not place.path.exists()
        return
    assert install(place, server)
    expected = EXPECTED / f"{client.name}{'-http' if server.url else ''}{place.path.suffix}"
    assert place.path.read_bytes() == expected.read_bytes()
    assert not install(place, server)  # a second time nothing is left to do
    assert uninstall(place, "pet-store", "", url=server.url) == "pet-store"
    assert list(place.path.parent.glob("*")) in ([], [place.path.parent / client.home])


def test_other_bytes_stay_and_come_back(place: SettingsFile) -> None:
    client = place.client
    before = others(client)
    place.path.write_bytes(before)
    place.path.chmod(0o640)
    install(place, SERVER)
    after = place.path.read_bytes()
    values, old = read(client, after), read(client, before)
    assert list(values[client.path[0]]) == (
        ["pet-store", "other"] if client.format == "yaml" else ["other", "pet-store"]
    )
    assert values[client.path[0]]["pet-store"] == client.entry(SERVER)
    assert all(line in after.splitlines() or line + b"," in after for line in before.splitlines())
    assert {**values, client.path[0]: 0, "inputs": 0} == {**old, client.path[0]: 0, "inputs": 0}
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640
    backup = files.backup_of(place.path)
    assert backup.read_bytes() == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    uninstall(place, SPEC, SPEC)
    assert place.path.read_bytes() == before
    assert not backup.exists()


@pytest.mark.parametrize(
    "text",
    ["", "\n", "{}", "{ }\n", "{\n}", '{"KEY": {}}', '{"KEY": {"o": {"command": "x"}}}', '{"x":1}', "{\r\n}\r\n"],
)
def test_undoing_is_exact_for_json(text: str, tmp_path: Path) -> None:
    for client in CLIENTS.values():
        if client.format == "json":
            undoes(of(client, tmp_path), text.replace("KEY", client.path[0]))


@pytest.mark.parametrize("text", ["", "a = 1", "a = 1\n", "a = 1\n\n", "[mcp_servers]\n", "a = 1\r\n", "# end"])
def test_undoing_is_exact_for_toml(text: str, tmp_path: Path) -> None:
    undoes(of(CLIENTS["codex"], tmp_path), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "a: 1\n",
        "extensions:\n",
        "extensions: {}\n",
        "extensions: {}",
        "extensions:\nb: 1\n",
        "{}\n",
        "# c\n",
    ],
)
def test_undoing_is_exact_for_yaml(text: str, tmp_path: Path) -> None:
    place = of(CLIENTS["goose"], tmp_path)
    if text == "{}\n":
        place.path.write_text(text)
        with pytest.raises(UsageError, match="cannot be changed safely"):
            install(place, SERVER)
        assert place.path.read_text() == text
        return
    undoes(place, text)


def undoes(place: SettingsFile, text: str) -> None:
    """Install and uninstall one server and then two, in both orders."""
    second = InstalledServer.started("second", ["/b.yaml"], variables=["API_B"])
    before = text.encode()
    for removed in ([], [SERVER, second], [second, SERVER]):
        place.path.write_bytes(before)
        install(place, SERVER)
        if removed:
            install(place, second)
        for server in removed or [SERVER]:
            uninstall(place, server.name, "")
        assert place.path.read_bytes() == before
        assert not files.backup_of(place.path).exists()


def test_what_others_wrote_meanwhile_stays(place: SettingsFile) -> None:
    client = place.client
    place.path.write_bytes(others(client))
    install(place, SERVER)
    place.path.write_bytes(place.path.read_bytes().replace(b"first", b"changed"))
    uninstall(place, "pet-store", "")
    assert place.path.read_bytes() == others(client).replace(b"first", b"changed")
    assert files.backup_of(place.path).read_bytes() == others(client)


def test_entry_of_another_is_replaced_only_by_force(place: SettingsFile) -> None:
    client = place.client
    before = (
        others(client).replace(b"other", b"pet-store").replace(b"[" + client.path[0].encode() + b'.pet-store]\n"', b'"')
    )
    place.path.write_bytes(before)
    with pytest.raises(UsageError, match="another server with the name pet-store") as caught:
        install(place, SERVER)
    assert caught.value.where == str(place.path)
    assert "--force" in caught.value.hint
    with pytest.raises(UsageError, match="does not run openapi-mcp"):
        uninstall(place, "pet-store", "")
    assert place.path.read_bytes() == before
    install(place, SERVER, force=True)
    assert read(client, place.path.read_bytes())[client.path[0]] == {"pet-store": client.entry(SERVER)}
    uninstall(place, "pet-store", "")
    assert place.path.read_bytes() == before


def test_own_entry_is_replaced(place: SettingsFile) -> None:
    install(place, SERVER)
    other = InstalledServer.started("pet-store", ["/new.yaml"])
    assert install(place, other)
    servers = read(place.client, place.path.read_bytes())[place.client.path[0]]
    assert servers == {"pet-store": place.client.entry(other)}


def test_values_of_variables_are_never_written(place: SettingsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret-value")
    install(place, SERVER)
    text = place.path.read_text()
    assert "s3cret-value" not in text
    assert ("API_KEY" in text) == (place.client.name != "zed")
    assert any("API_KEY" in note for note in snippets.notes(place.client, SERVER))


HOSTILE = {
    "json": ['{"KEY": {', "[1]", '{"KEY": []}', '{"KEY": 5}', "[" * 100_000, '{"a": "\n"}', "nul", '{"a": 1} x'],
    "toml": ["[KEY", "KEY = 5", 'KEY = "x"', "KEY = {a = {command = 'x'}}", "a = 1\na = 2"],
    "yaml": [
        "KEY: [",
        "KEY: 5",
        "- a",
        "KEY: {a: {cmd: x}}",
        "a: !!python/none x",
        "a: 1\n---\nb: 2",
        "KEY: &x {a: *x}",
    ],
}


def test_hostile_files_are_refused_and_not_changed(place: SettingsFile) -> None:
    client = place.client
    for text in HOSTILE[client.format]:
        before = text.replace("KEY", client.path[0]).encode()
        place.path.write_bytes(before)
        refused(place)
        assert place.path.read_bytes() == before, text
    place.path.write_bytes(b"\xff\xfe{}")
    refused(place, "is not UTF-8")
    place.path.write_bytes(b" " * (files.MAX_SETTINGS_BYTES + 1))
    refused(place, "too large|larger|more than")


def test_links_folders_and_read_only_files_are_refused(place: SettingsFile, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("{}")
    place.path.symlink_to(target)
    refused(place, "is a link to")
    assert target.read_text() == "{}"
    place.path.unlink()
    place.path.write_text("")
    place.path.chmod(0o444)
    refused(place, "is read-only")
    place.path.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(place.path)
        refused(place, "is a pipe")
        place.path.unlink()
    place.path.mkdir()
    refused(place)


def refused(place: SettingsFile, message: str = "") -> None:
    with pytest.raises(UsageError, match=message or None) as caught:
        install(place, SERVER)
    assert caught.value.where == str(place.path)
    assert caught.value.hint
    assert not files.backup_of(place.path).exists()
    assert not list(place.path.parent.glob("*.new"))


def test_inputs_of_another_type_are_refused(tmp_path: Path) -> None:
    place = of(CLIENTS["vscode"], tmp_path)
    place.path.write_text('{"inputs": {"a": 1}}')
    refused(place, "`inputs` of the settings file of VS Code is not a list")


def test_inputs_of_others_stay(tmp_path: Path) -> None:
    place = of(CLIENTS["vscode"], tmp_path)
    before = '{\n  "inputs": [\n    {"id": "mine"} // keep\n  ]\n}\n'
    place.path.write_text(before)
    install(place, SERVER)
    value = read(place.client, place.path.read_bytes())
    assert [each["id"] for each in value["inputs"]] == ["mine", "pet-store-API_KEY"]
    assert "// keep" in place.path.read_text()
    uninstall(place, "pet-store", "")
    assert place.path.read_text() == before


def test_comment_at_the_end_of_an_object_does_not_swallow_what_is_added(tmp_path: Path) -> None:
    place = of(CLIENTS["vscode"], tmp_path)
    before = '{"servers": {"o": {"command": "x"} // c\n} // d\n}'
    place.path.write_text(before)
    install(place, SERVER)
    value = read(place.client, place.path.read_bytes())
    assert list(value["servers"]) == ["o", "pet-store"]
    assert [each["id"] for each in value["inputs"]] == ["pet-store-API_KEY"]
    uninstall(place, "pet-store", "")
    assert place.path.read_text() == before


def test_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    with pytest.raises(UsageError, match="changed by another program"):
        files.replace(path, '{"a": 1}', "")
    assert path.read_text() == "{}"


def test_client_that_is_not_installed_says_where_it_looked(client: Client, tmp_path: Path) -> None:
    place = SettingsFile(client, Machine("linux", tmp_path, tmp_path))
    with pytest.raises(UsageError, match="is not installed") as caught:
        install(place, SERVER)
    assert caught.value.where.startswith(str(tmp_path))
    assert "--print" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_settings_of_a_project(client: Client, tmp_path: Path) -> None:
    place = SettingsFile(client, Machine("linux", tmp_path / "home", tmp_path), of_project=True)
    if not client.project:
        with pytest.raises(UsageError, match="no settings for one project"):
            install(place, SERVER)
        return
    install(place, SERVER)
    assert place.path == tmp_path / client.project
    assert client.entry(SERVER) in read(client, place.path.read_bytes())[client.path[0]].values()
    uninstall(place, "pet-store", "")
    assert not list(tmp_path.iterdir())


def test_unknown_client_is_answered_with_the_nearest_names() -> None:
    with pytest.raises(UsageError, match="unknown client: claude") as caught:
        client_named("claude")
    assert caught.value.hint == "did you mean claude-code or claude-desktop?"
    with pytest.raises(UsageError) as caught:
        client_named("emacs-xyz")
    assert all(name in caught.value.hint for name in CLIENTS)


def test_snippet_is_what_an_empty_file_gets(place: SettingsFile) -> None:
    client = place.client
    install(place, SERVER)
    text = snippets.snippet(client, SERVER)
    if client.name == "claude-code":
        assert text.startswith("claude mcp add-json pet-store ")
        return
    assert read(client, text.encode()) == read(client, place.path.read_bytes())


def test_links_hold_the_entry() -> None:
    import base64
    from urllib.parse import parse_qs, unquote, urlsplit

    cursor = urlsplit(snippets.link(CLIENTS["cursor"], SERVER))
    assert (cursor.scheme, cursor.netloc, cursor.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    query = parse_qs(cursor.query)
    assert query["name"] == ["pet-store"]
    assert json.loads(base64.b64decode(query["config"][0])) == CLIENTS["cursor"].entry(SERVER)
    code = snippets.link(CLIENTS["vscode"], SERVER)
    assert code.startswith("vscode:mcp/install?")
    config = json.loads(unquote(code.partition("?")[2]))
    assert config["name"] == "pet-store"
    assert config["inputs"] == CLIENTS["vscode"].inputs(SERVER)


def test_several_entries_of_a_document_are_named(tmp_path: Path) -> None:
    place = of(CLIENTS["cursor"], tmp_path)
    for name in ("a", "b"):
        install(place, InstalledServer.started(name, [SPEC]))
    with pytest.raises(UsageError, match="several servers") as caught:
        uninstall(place, SPEC, SPEC)
    assert caught.value.hint == "name one: a, b"
    with pytest.raises(UsageError, match="has no server 'c'") as caught:
        uninstall(place, "c", "/c")
    assert caught.value.hint == "those of openapi-mcp are: a, b"
    assert edits.source_of({"args": ["-m", "openapi_mcp", "serve", SPEC]}) == SPEC
