"""The page without a browser: who is let in, what each response carries, and what it costs while nobody opens it."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.serve import page
from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.settings import HttpSettings, Settings
from openapi_mcp.runtime.http.access import LOOPBACK
from openapi_mcp.telemetry.feed import CallFeed
from openapi_mcp.ui.access import PageAccess
from openapi_mcp.ui.static import FOLDER
from tests.servers import running

STUDIO = Path(__file__).parent / "studio.yaml"
BASE = "http://127.0.0.1:8000"
TOKEN = "the-token-of-the-door"
KEY = "studio-key-of-the-tests"
PAGES = ("/", "/ui/", "/ui/connect", "/ui/problems", "/ui/calls", "/ui/tools/createSong", "/ui/tools/listSongs")


def app(http: HttpSettings, **options: Any) -> Starlette:
    """The page of the studio, as `serve` adds it."""
    settings = Settings(str(STUDIO), {"auth": [f"studioKey={KEY}"], **options})
    served = settings.open()
    assert isinstance(served, Bridge)
    feed = CallFeed()
    reloader = Reloader(settings, served, feed=feed)
    return Starlette(routes=page.routes(reloader, feed, http, LOOPBACK))


class Visitor:
    """A browser that keeps its cookies and knows the token of the page."""

    def __init__(self, application: Starlette) -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url=BASE)
        self.csrf = ""

    async def get(self, path: str, headers: Mapping[str, str] = {}) -> httpx.Response:
        fields = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        response = await self.client.get(path, headers=fields)
        if found := re.search(r"X-CSRF-Token&#34;|X-CSRF-Token\": \"(\w+)\"", response.text):
            self.csrf = found[1]
        return response

    async def post(self, path: str, inputs: Mapping[str, str], **headers: str) -> httpx.Response:
        own = {"origin": BASE, "x-csrf-token": self.csrf, "content-type": "application/x-www-form-urlencoded"}
        given = {**own, **{name.replace("_", "-"): value for name, value in headers.items()}}
        fields = {name.encode(): value.encode("latin-1") for name, value in given.items()}
        return await self.client.post(path, content=urlencode(inputs), headers=fields)


@contextmanager
def studio_api() -> Iterator[tuple[str, list[str]]]:
    """An API that answers with the credential that it got; yields its address and the requests."""
    requests: list[str] = []

    async def answer(request: Request) -> Response:
        requests.append(f"{request.method} {request.url.path}")
        return JSONResponse({"key": request.headers.get("x-studio-key")})

    with running(Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "DELETE"])])) as url:
        yield url, requests


@pytest.mark.anyio
async def test_several_apis_have_one_page(tmp_path: Path) -> None:
    with studio_api() as (url, requests):
        tables = "".join(f"[apis.{name}]\nspec = '{STUDIO}'\nbase-url = '{url}'\n" for name in ("one", "two"))
        (tmp_path / "openapi-mcp.toml").write_text(tables)
        settings, feed = Settings(file=tmp_path / "openapi-mcp.toml"), CallFeed()
        reloader = Reloader(settings, settings.open(), feed=feed)
        visitor = Visitor(Starlette(routes=page.routes(reloader, feed, HttpSettings(), LOOPBACK)))
        rows = (await visitor.get("/")).text
        shown = await visitor.post("/ui/tools/two_getSong/call", {"/id#number": "7"})
        assert (await visitor.get("/ui/connect")).text.count("openapi-mcp.toml") > 5
    assert re.findall(r'class="name">(\w+)<', rows)[::5] == ["one_listSongs", "two_listSongs"]
    assert requests == ["GET /songs/7"]
    assert "200 OK" in shown.text
    assert (await visitor.get("/ui/problems")).text.count("GET /broken is no tool") == 2


@pytest.mark.anyio
@pytest.mark.parametrize("path", PAGES)
async def test_pages_run_nothing_inline(path: str) -> None:
    response = await Visitor(app(HttpSettings())).get(path)
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["cache-control"] == "no-store"
    assert re.findall(r"<script(?! src=)[^>]*>", response.text) == []
    assert re.search(r"<style|\sstyle=|<[^>]*\son\w+=[\"']", response.text) is None
    assert KEY not in response.text
    assert "</html>" in response.text


@pytest.mark.anyio
async def test_changes_need_the_page_itself() -> None:
    visitor = Visitor(app(HttpSettings()))
    path, inputs = "/ui/tools/listSongs/dry-run", {"/q#string": "x"}
    assert (await visitor.post(path, inputs)).status_code == 403  # before the page was opened
    await visitor.get("/")
    assert "GET http://127.0.0.1:1/songs?q=x" in (await visitor.post(path, inputs)).text
    for headers in (
        {"x_csrf_token": "guessed"},
        {"x_csrf_token": "\xe9"},
        {"x_csrf_token": ""},
        {"origin": "http://evil.example"},
    ):
        assert (await visitor.post(path, inputs, **headers)).status_code == 403
    assert (await visitor.post(path, inputs, origin="null")).status_code == 403
    other = Visitor(app(HttpSettings()))
    await other.get("/")
    assert (await visitor.post(path, inputs, x_csrf_token=other.csrf)).status_code == 403


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example:8000"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:3000"}, 403),
        ({"x-forwarded-for": "203.0.113.7"}, 403),
        ({"forwarded": "for=203.0.113.7"}, 403),
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, 200),
        ({"cookie": 'openapi-mcp-page-80="'}, 200),
        ({"cookie": 'openapi-mcp-page-80="9.9.\xe9"'}, 200),
    ],
)
async def test_strangers_are_refused(headers: Mapping[str, str], status: int) -> None:
    response = await Visitor(app(HttpSettings())).get("/", headers)
    assert response.status_code == status
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.anyio
async def test_the_token_opens_the_page() -> None:
    visitor = Visitor(app(HttpSettings(auth_token=TOKEN)))
    for path in (*PAGES, "/ui/list", "/ui/calls/events"):
        refused = await visitor.get(path)
        assert refused.status_code == 401
        assert "createSong" not in refused.text
        assert "Token" in refused.text
    wrong = await visitor.post("/ui/sign-in", {"token": "wrong"})
    assert wrong.status_code == 401
    assert "not the token" in wrong.text
    assert (await visitor.post("/ui/sign-in", {"token": TOKEN}, origin="http://evil.example")).status_code == 403
    signed_in = await visitor.post("/ui/sign-in", {"token": TOKEN})
    assert signed_in.status_code == 303
    cookie = signed_in.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert "createSong" in (await visitor.get("/")).text
    signed_out = await visitor.post("/ui/sign-out", {})
    assert "Max-Age=0" in signed_out.headers["set-cookie"]
    assert (await visitor.get("/")).status_code == 401


@pytest.mark.anyio
@pytest.mark.parametrize(("proxies", "scheme"), [(("127.0.0.1",), "https"), ((), "http")])
async def test_page_behind_a_proxy_that_takes_https_is_one_of_https(proxies: tuple[str, ...], scheme: str) -> None:
    visitor = Visitor(app(HttpSettings(auth_token=TOKEN, trusted_proxy=proxies)))
    signed_in = await visitor.post("/ui/sign-in", {"token": TOKEN}, x_forwarded_proto="https")
    assert ("Secure" in signed_in.headers["set-cookie"]) is (scheme == "https")
    cookie = signed_in.headers["set-cookie"].partition(";")[0]
    shown = await visitor.get("/ui/connect", {"x-forwarded-proto": "https", "cookie": cookie})
    assert f"{scheme}://127.0.0.1:8000/mcp" in shown.text


@pytest.mark.anyio
async def test_large_sign_ins_are_not_read() -> None:
    visitor = Visitor(app(HttpSettings(auth_token=TOKEN)))
    assert (await visitor.post("/ui/sign-in", {"token": "x" * 100_000})).status_code == 400


def test_cookies_are_signed_and_end() -> None:
    now = 1_000_000.0
    access = PageAccess(secret=b"secret", token=TOKEN, hosts=None, clock=lambda: now)
    session = access.new_session()

    def known(by: PageAccess, value: str) -> bool:
        return by.session({"cookie": f"openapi-mcp-page-80={value}"}, 80) == value != ""

    assert known(access, session)
    assert not known(access, f"9{session}")
    assert not known(access, session[:-1])
    assert not known(access, "")
    for other in (b"another", TOKEN), (b"secret", "another"), (b"secret", None):
        assert not known(PageAccess(secret=other[0], token=other[1], hosts=None, clock=lambda: now), session)
    assert not known(PageAccess(secret=b"secret", token=TOKEN, hosts=None, clock=lambda: now + 12 * 3600 + 1), session)


@pytest.mark.parametrize(
    ("http", "local", "served"),
    [
        (HttpSettings(), True, True),
        (HttpSettings(no_ui=True), True, False),
        (HttpSettings(), False, False),
        (HttpSettings(allow_unauthenticated=True), False, False),
        (HttpSettings(auth_token=TOKEN), False, True),
        (HttpSettings(auth_token=TOKEN, no_ui=True), False, False),
        (HttpSettings(trusted_proxy=("10.0.0.7",)), True, False),
    ],
)
def test_the_page_is_for_this_machine_or_behind_the_token(http: HttpSettings, local: bool, served: bool) -> None:
    assert page.is_served(http, local=local) is served
    assert bool(page.connection(http, "http://127.0.0.1:8000/mcp", local=local)) is served


@pytest.mark.parametrize(("path", "root"), [("/mcp", "/"), ("/", "/ui/"), ("/a/b", "/")])
def test_the_page_leaves_the_endpoint_its_path(path: str, root: str) -> None:
    (line,) = page.connection(HttpSettings(path=path), f"http://127.0.0.1:8000{path}", local=True)
    assert line.split()[0] == f"http://127.0.0.1:8000{root}"


@pytest.mark.anyio
async def test_answers_hold_no_credentials() -> None:
    with studio_api() as (url, requests):
        visitor = Visitor(app(HttpSettings(), base_url=[url]))
        await visitor.get("/")
        shown = await visitor.post("/ui/tools/getSong/call", {"/id#number": "1"})
    assert requests == ["GET /songs/1"]
    assert KEY not in shown.text
    assert shown.text.count("***") >= 2


@pytest.mark.anyio
async def test_consent_is_asked_for_once_and_on_the_page() -> None:
    with studio_api() as (url, requests):
        visitor = Visitor(app(HttpSettings(), base_url=[url], confirm="changing"))
        await visitor.get("/")
        asked = await visitor.post("/ui/tools/deleteSong/call", {"/id#number": "1"})
        assert (requests, "Yes, send it" in asked.text) == ([], True)
        done = await visitor.post("/ui/tools/deleteSong/call", {"/id#number": "1", "confirmed": "yes"})
    assert requests == ["DELETE /songs/1"]
    assert "Done" in done.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path",
    ["/ui/tools/no", "/ui/tools/listSongs/field?at=/p:no&name=/no", "/ui/static/../app.py", "/ui/static/x", "/ui/no"],
)
async def test_what_is_not_there_is_404(path: str) -> None:
    assert (await Visitor(app(HttpSettings())).get(path)).status_code == 404


@pytest.mark.anyio
async def test_lists_come_in_pages() -> None:
    visitor = Visitor(app(HttpSettings()))
    rows = (await visitor.get("/ui/list?sort=tokens")).text
    names = re.findall(r'class="name">(\w+)<', rows)
    assert names[0] == "createSong"
    assert "5 tools" in rows
    assert "No tool fits" in (await visitor.get("/ui/list?tag=none")).text
    assert (await visitor.get("/ui/list?start=99999999999&query=" + "x" * 5000)).status_code == 200


def test_vendored_files_are_those_of_the_packages() -> None:
    rows = json.loads((FOLDER / "vendored.json").read_text())
    assert set(rows) == {"htmx.min.js", "sse.min.js", "pico.classless.min.css"}
    for name, row in rows.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == row["sha256"]
        assert (FOLDER / row["licenceFile"]).read_text().strip()


@pytest.mark.process
def test_a_start_loads_nothing_of_the_page() -> None:
    code = "import sys, openapi_mcp.cli.serve.http; print([m for m in sys.modules if 'jinja2' in m or '.ui' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
