"""Kept tools are found again as long as nothing they were made of changed, and never once something did."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openapi_mcp import compiling, keeping
from openapi_mcp.bridge import Bridge
from openapi_mcp.cache import Cache
from openapi_mcp.config import Config
from openapi_mcp.keeping import Keeper
from openapi_mcp.selection import Selection
from openapi_mcp.wanted import BaseUrlOptions, Wanted
from tests.servers import running


def document(*paths: str, title: str = "Pets") -> str:
    """A document with a GET for each path."""
    operations = {path: {"get": {"responses": {"200": {"description": "ok"}}}} for path in paths}
    return json.dumps({"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": operations})


class Kept:
    """A document in a folder, and the cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "api.json"
        self.cache = Cache(folder / "cache")
        self.file.write_text(document("/pets"))

    def keeper(self, source: str | None = None, wanted: Wanted | None = None) -> Keeper:
        return Keeper(self.cache, source or str(self.file), wanted or Wanted())

    def keep(self, source: str | None = None, wanted: Wanted | None = None) -> None:
        """Make the tools and keep them."""
        wanted = wanted or Wanted()
        made = compiling.load(source or str(self.file), wanted)
        self.keeper(source, wanted).keep((compiling.origin(made), compiling.compiled(made, wanted)))

    def names(self, source: str | None = None, wanted: Wanted | None = None) -> list[str] | None:
        """The names of the tools that are found."""
        found = self.keeper(source, wanted).find()
        return None if found is None else [tool.path for tool in found[1].tools]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_tools_are_found_again(kept: Kept) -> None:
    assert kept.names() is None
    kept.keep()
    assert kept.names() == ["/pets"]


def test_another_content_is_another_key_and_the_old_one_is_still_there(kept: Kept) -> None:
    kept.keep()
    kept.file.write_text(document("/pets", "/shops"))
    assert kept.names() is None
    kept.keep()
    assert kept.names() == ["/pets", "/shops"]
    kept.file.write_text(document("/pets"))
    assert kept.names() == ["/pets"]


def test_the_same_content_elsewhere_is_another_document(kept: Kept, tmp_path: Path) -> None:
    kept.keep()
    other = tmp_path / "other.json"
    other.write_text(document("/pets"))
    assert kept.names(str(other)) is None


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(selection=Selection.parse(["tag:pets"])),
        Wanted(selection=Selection.parse(exclude=["tag:pets"])),
        Wanted(selection=Selection.parse(read_only=True)),
        Wanted(servers=BaseUrlOptions(server=0)),
        Wanted(servers=BaseUrlOptions(variables={"region": "eu"})),
        Wanted(allow_remote_refs=True),
        Wanted(headers={"X-Tenant": "1"}),
    ],
    ids=repr,
)
def test_whoever_wants_something_else_gets_other_tools(kept: Kept, wanted: Wanted) -> None:
    kept.keep()
    assert kept.names(wanted=wanted) is None
    assert kept.names(wanted=replace(wanted)) is None


def test_another_program_makes_its_own(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.keep()
    before = keeping.program()
    package = tmp_path / "package"
    package.mkdir()
    (package / "tools.py").write_text("...")
    monkeypatch.setattr(keeping, "PACKAGE", package)
    edited = keeping.program()
    assert kept.names() is None
    (package / "tools.py").write_text("... and more")
    assert len({before, edited, keeping.program()}) == 3


def test_every_file_that_was_read_counts(kept: Kept, tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    part.write_text(json.dumps({"get": {"responses": {}}}))
    whole = json.loads(document("/pets"))
    whole["paths"]["/parts"] = {"$ref": "part.json"}
    kept.file.write_text(json.dumps(whole))
    kept.keep()
    assert kept.names() == ["/pets", "/parts"]
    part.write_text(json.dumps({"delete": {"responses": {}}}))
    assert kept.names() is None
    part.unlink()
    assert kept.names() is None
    kept.keep()
    assert kept.names() is None, "a file that is missing may come any time"


def test_what_cannot_be_read_now_is_not_found(kept: Kept) -> None:
    kept.keep()
    kept.file.unlink()
    assert kept.names() is None
    assert kept.names("-") is None


@pytest.mark.parametrize("damage", [b"", b"nonsense", hashlib.sha256(b"").digest()])
def test_a_damaged_file_is_removed(kept: Kept, damage: bytes) -> None:
    kept.keep()
    [path] = kept.cache.folder.iterdir()
    path.write_bytes(damage)
    assert kept.names() is None
    assert kept.cache.held().files == 0


class Remote:
    """A server of one document; `requests` notes what was sent with each request, `statuses` what came back."""

    def __init__(self, *, tags: bool) -> None:
        self.text = document("/pets")
        self.requests: list[str | None] = []
        self.statuses: list[int] = []
        self._tags = tags

    def answer(self, request: Request) -> Response:
        tag = f'"{hashlib.sha256(self.text.encode()).hexdigest()}"'
        self.requests.append(request.headers.get("if-none-match"))
        self.statuses.append(304 if self._tags and self.requests[-1] == tag else 200)
        headers = {"ETag": tag} if self._tags else {}
        return Response(self.text if self.statuses[-1] == 200 else b"", self.statuses[-1], headers)

    @contextmanager
    def running(self) -> Iterator[str]:
        with running(Starlette(routes=[Route("/api.json", self.answer)])) as url:
            yield f"{url}/api.json"


def test_a_document_from_a_url_is_asked_for_on_condition(kept: Kept) -> None:
    remote = Remote(tags=True)
    with remote.running() as url:
        kept.keep(url)
        assert kept.names(url) == ["/pets"]
        remote.text = document("/shops")
        assert kept.names(url) is None
    assert remote.statuses == [200, 304, 200]
    assert kept.names(url) is None, "nobody says that it is still the same"


def test_without_a_validator_the_content_decides(kept: Kept) -> None:
    remote = Remote(tags=False)
    with remote.running() as url:
        kept.keep(url)
        assert kept.names(url) == ["/pets"]
        remote.text = document("/shops")
        assert kept.names(url) is None
    assert (remote.statuses, set(remote.requests)) == ([200, 200, 200], {None})


def bridges(file: Path, **options: Any) -> tuple[Bridge, list[str]]:
    """A bridge and the steps of opening it."""
    steps: list[str] = []
    return Bridge.open(Config(source=str(file), **options), steps.append), steps


def test_a_bridge_is_the_same_with_kept_tools(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(kept.cache.folder))
    (first, made), (second, found) = bridges(kept.file), bridges(kept.file)
    assert ("making tools" in made, "making tools" in found) == (True, False)
    assert first == second
    assert first.catalog.lists_the_same(second.catalog)
    assert first.document.root == second.document.root


def test_no_cache_neither_finds_nor_keeps(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(kept.cache.folder))
    for _ in range(2):
        _, steps = bridges(kept.file, no_cache=True)
        assert "making tools" in steps
    assert kept.cache.held().files == 0
