"""The page in a real browser: list, filter, forms, calls, live calls, keyboard, accessibility, GitHub's 1,223 tools."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp import Bridge, Config
from tests.command import command, serving_http
from tests.conftest import SHARED
from tests.servers import running
from tests.ui.browser import browse, chromium

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
"""The first test waits for the browser, which shares the machine with the other tests."""

STUDIO = Path(__file__).parent / "studio.yaml"
GITHUB = SHARED / "corpus" / "github-rest" / "api.github.com.json"
SCENARIOS = (
    "list", "filter", "form", "choices", "file", "error", "destructive", "live", "problems", "connect", "keyboard",
    "accessible",
)  # fmt: skip
KEY = "studio-key-of-the-tests"
TOKEN = "token-of-the-door"


async def echo(request: Request) -> Response:
    """Answer with the request itself, its credential included."""
    body = (await request.body()).decode("latin-1")
    parts = {"method": request.method, "path": request.url.path, "query": request.url.query, "body": body}
    return JSONResponse(parts | {"key": request.headers.get("x-studio-key")}, headers={"Set-Cookie": "session=secret"})


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run all scenarios in one browser, which signs in to one server."""
    chromium()
    methods = ["GET", "POST", "PUT", "DELETE"]
    cache = tmp_path_factory.mktemp("cache")
    with (
        pytest.MonkeyPatch.context() as patch,
        running(Starlette(routes=[Route("/{path:path}", echo, methods=methods)])) as api,
    ):
        patch.setenv("OPENAPI_MCP_CACHE", str(cache))
        patch.setenv("STUDIO_KEY", KEY)
        patch.setenv("OPENAPI_MCP_AUTH_TOKEN", TOKEN)
        with serving_http(command(STUDIO, api, "--auth", "studioKey=env:STUDIO_KEY")) as url:
            return browse(url.removesuffix("/mcp"), SCENARIOS, token=TOKEN)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_end(seen: dict[str, Any], name: str) -> None:
    assert "error" not in seen[name], seen[name]["error"]


def test_browsers_do_not_complain(seen: dict[str, Any]) -> None:
    assert seen["complaints"] == []


def test_the_list_shows_the_api(seen: dict[str, Any]) -> None:
    shown = seen["list"]
    assert shown["title"].startswith("Studio <script>window.hacked = 1</script>")
    assert shown["hacked"] is None
    assert shown["rows"] == ["listSongs", "createSong", "deleteSong", "getSong", "putCover"]
    assert shown["bars"] == 5
    for words in ("given", "studioKey", "header X-Studio-Key", "STUDIO_KEY", "all 5 tools listed", "OpenAPI 3.1"):
        assert words in shown["facts"]
    for words in ("as served: all tools", "--read-only", "--compact", "--mode search"):
        assert words in shown["tokens"]


def test_tools_are_found_and_filtered(seen: dict[str, Any]) -> None:
    assert seen["filter"]["found"][0] == "createSong"
    assert seen["filter"]["risky"] == ["deleteSong", "putCover"]
    assert seen["filter"]["deleted"] == ["deleteSong"]


def test_a_form_makes_nested_arguments(seen: dict[str, Any]) -> None:
    arguments = {
        "title": "Blue",
        "live": True,
        "seconds": 61.5,
        "artist": {"name": "Ada", "band": {"name": "The Analysts"}},
        "tracks": [{"name": "Track 1"}],
        "cover": 7,
        "notes": {"a": [1]},
    }
    shown = seen["form"]
    http, curl = shown["dry"]
    assert http.startswith("POST ")
    assert "X-Studio-Key: ***" in http
    assert json.loads(http.rpartition("\n\n")[2]) == arguments
    assert curl.startswith("curl -X POST")
    assert shown["json"] == arguments
    assert shown["url"].endswith("/ui/tools/createSong")


def test_a_call_shows_both_sides(seen: dict[str, Any]) -> None:
    api, model = seen["form"]["api"], seen["form"]["model"]
    assert "200 OK" in api
    for side in (api, model):
        assert '\\"title\\":\\"Red\\"' in side.replace(" ", "")
        assert KEY not in side
    assert "tokens" in model


def test_choices_are_an_array(seen: dict[str, Any]) -> None:
    assert "kinds=rock&kinds=jazz" in seen["choices"]["dry"][0]
    assert "q=a%20b" in seen["choices"]["dry"][0]
    assert seen["choices"]["hacked"] is None


def test_files_are_sent_as_bytes(seen: dict[str, Any]) -> None:
    http, curl = seen["file"]["dry"]
    assert http.startswith("PUT ")
    assert "(8 bytes that are not text)" in http
    assert "@body.bin" in curl


def test_an_error_is_shown_as_the_model_gets_it(seen: dict[str, Any]) -> None:
    assert "The result is an error" in seen["error"]["result"]
    assert "`id`" in seen["error"]["result"]
    assert "no answer came, or the request was not sent" in seen["error"]["result"]


def test_a_destructive_call_asks_first(seen: dict[str, Any]) -> None:
    shown = seen["destructive"]
    assert "nothing has been sent" in shown["asked"]
    assert "DELETE " in shown["asked"]
    assert shown["left"] == ""
    assert "/songs/5" in shown["done"]


def test_calls_of_clients_appear_live(seen: dict[str, Any]) -> None:
    _, caller, tool, status, *_ = seen["live"]["row"]
    assert (caller, tool, status) == ("token", "listSongs", "200")
    assert json.loads(seen["live"]["args"]) == {"q": "blue", "access_token": "***"}


def test_problems_have_pointer_and_line(seen: dict[str, Any]) -> None:
    text = seen["problems"]["text"]
    assert "GET /broken is no tool." in text
    assert "#/paths/~1broken/get/parameters/0" in text
    lines = STUDIO.read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if "parameters/Missing" in line)
    assert f"studio.yaml:{number}" in text
    assert lines[number - 1].strip() in text


def test_settings_are_those_of_install(seen: dict[str, Any]) -> None:
    clients = seen["connect"]["clients"]
    assert clients["running Cursor"]["link"].startswith("cursor://")
    assert clients["running VS Code"]["link"].startswith("vscode:")
    assert "running Claude Desktop" not in clients
    assert "${env:OPENAPI_MCP_AUTH_TOKEN}" in clients["running Cursor"]["text"]
    assert not any(TOKEN in each["text"] + each["link"] for each in clients.values())
    started = json.loads(clients["started Claude Desktop"]["text"])["mcpServers"]
    (entry,) = started.values()
    assert entry["args"][:4] == ["-m", "openapi_mcp", "serve", str(STUDIO)]
    assert "--auth" in entry["args"]
    assert entry["env"] == {"STUDIO_KEY": "${STUDIO_KEY}"}
    assert len(clients) == 19


def test_the_keyboard_suffices(seen: dict[str, Any]) -> None:
    assert seen["keyboard"] == {"first": "skip", "pane": "pane", "overview": 1}


def test_pages_are_accessible(seen: dict[str, Any]) -> None:
    found = seen["accessible"]
    assert len(found) == 12
    assert {page: each for page, each in found.items() if each} == {}


@pytest.mark.corpus
def test_github_is_usable() -> None:
    chromium()
    if not GITHUB.exists():
        pytest.skip(f"file does not exist: {GITHUB}")
    address = "http://127.0.0.1:1"
    Bridge.open(Config.from_options(str(GITHUB), {"base_url": address}))  # so that the server starts at once
    with serving_http(command(GITHUB, address)) as url:
        seen = browse(url.removesuffix("/mcp"), ["large"])
    assert "error" not in seen["large"], (seen["large"]["error"], seen["complaints"])
    assert seen["large"]["before"] == 60
    assert seen["large"]["rows"] == 1223
    assert seen["complaints"] == []
