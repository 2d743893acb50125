"""Cached tools are used as long as nothing they depend on has changed, and never afterwards."""

import hashlib
import json
import os
import subprocess
import sys
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

from benchmarks import synthetic
from openapi_mcp import __version__
from openapi_mcp.bridge import Bridge
from openapi_mcp.cache import compilations, decoder
from openapi_mcp.cache.compilations import CompilationCache
from openapi_mcp.cache.files import VARIABLE, Cache
from openapi_mcp.compilation import BaseUrlOptions, CompileOptions
from openapi_mcp.config import Config
from openapi_mcp.runtime.search import index_store
from openapi_mcp.runtime.search.index_store import MIN_STORED_TOOLS
from openapi_mcp.runtime.search.tools import ToolFinder
from openapi_mcp.selection import Selection
from openapi_mcp.tools import compiler
from tests.conftest import ROOT
from tests.servers import running


def document(*paths: str, title: str = "Pets") -> str:
    """A document with a GET for each path."""
    operations = {path: {"get": {"responses": {"200": {"description": "ok"}}}} for path in paths}
    return json.dumps({"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": operations})


class CachedDocument:
    """A document in a folder, and the cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "api.json"
        self.cache = Cache(folder / "cache")
        self.file.write_text(document("/pets"))

    def entry(self, source: str | None = None, options: CompileOptions | None = None) -> CompilationCache:
        return CompilationCache(self.cache, source or str(self.file), options or CompileOptions())

    def store(self, source: str | None = None, options: CompileOptions | None = None) -> None:
        """Compile the tools and cache them."""
        options = options or CompileOptions()
        loaded = compiler.load(source or str(self.file), options)
        info = compiler.document_info(loaded, options)
        self.entry(source, options).store((info, compiler.compile_document(loaded, options)))

    def names(self, source: str | None = None, options: CompileOptions | None = None) -> list[str] | None:
        """Return the paths of the cached tools; None if there are none."""
        hit = self.entry(source, options).find()
        return None if hit is None else [tool.path for tool in hit[1].tools]


@pytest.fixture
def cached(tmp_path: Path) -> CachedDocument:
    return CachedDocument(tmp_path)


def test_cached_tools_are_returned(cached: CachedDocument) -> None:
    assert cached.names() is None
    cached.store()
    assert cached.names() == ["/pets"]


def test_changed_content_is_a_new_entry_and_the_old_one_stays(cached: CachedDocument) -> None:
    cached.store()
    cached.file.write_text(document("/pets", "/shops"))
    assert cached.names() is None
    cached.store()
    assert cached.names() == ["/pets", "/shops"]
    cached.file.write_text(document("/pets"))
    assert cached.names() == ["/pets"]


def test_same_content_at_another_path_is_another_document(cached: CachedDocument, tmp_path: Path) -> None:
    cached.store()
    other = tmp_path / "other.json"
    other.write_text(document("/pets"))
    assert cached.names(str(other)) is None


@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(selection=Selection.parse(["tag:pets"])),
        CompileOptions(selection=Selection.parse(exclude=["tag:pets"])),
        CompileOptions(selection=Selection.parse(read_only=True)),
        CompileOptions(servers=BaseUrlOptions(server=0)),
        CompileOptions(servers=BaseUrlOptions(variables={"region": "eu"})),
        CompileOptions(allow_remote_refs=True),
        CompileOptions(max_instructions=100),
        CompileOptions(headers={"X-Tenant": "1"}),
    ],
    ids=repr,
)
def test_other_options_are_another_entry(cached: CachedDocument, options: CompileOptions) -> None:
    cached.store()
    assert cached.names(options=options) is None
    assert cached.names(options=replace(options)) is None


def test_edited_program_does_not_use_old_entries(
    cached: CachedDocument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached.store()
    before = compilations.program()
    package = tmp_path / "package"
    package.mkdir()
    (package / "tools.py").write_text("...")
    monkeypatch.setattr(compilations, "PACKAGE", package)
    edited = compilations.program()
    assert cached.names() is None
    (package / "tools.py").write_text("... and more")
    assert len({before, edited, compilations.program()}) == 3


def test_change_of_a_referenced_file_invalidates_the_entry(cached: CachedDocument, tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    part.write_text(json.dumps({"get": {"responses": {}}}))
    root = json.loads(document("/pets"))
    root["paths"]["/parts"] = {"$ref": "part.json"}
    cached.file.write_text(json.dumps(root))
    cached.store()
    assert cached.names() == ["/pets", "/parts"]
    part.write_text(json.dumps({"delete": {"responses": {}}}))
    assert cached.names() is None
    part.unlink()
    assert cached.names() is None
    cached.store()
    assert cached.names() is None, "a file that is missing may come any time"


def test_unreadable_document_has_no_entry(cached: CachedDocument) -> None:
    cached.store()
    cached.file.unlink()
    assert cached.names() is None
    assert cached.names("-") is None


@pytest.mark.parametrize("damage", [b"", b"nonsense", decoder.header(b""), decoder.header(b"{}") + b"{}"])
def test_damaged_file_is_removed_and_written_again(cached: CachedDocument, damage: bytes) -> None:
    cached.store()
    [path] = cached.cache.folder.iterdir()
    path.write_bytes(damage)
    assert cached.names() is None
    assert cached.cache.size().files == 0
    cached.store()
    assert cached.names() == ["/pets"]


def test_file_of_another_version_is_not_used(cached: CachedDocument) -> None:
    cached.store()
    [path] = cached.cache.folder.iterdir()
    path.write_bytes(path.read_bytes().replace(f" {__version__} ".encode(), b" 0.0.1 ", 1))
    assert cached.names() is None


def test_password_of_a_server_is_not_written_to_the_disk(cached: CachedDocument) -> None:
    value = json.loads(document("/pets"))
    cached.file.write_text(json.dumps({**value, "servers": [{"url": "https://user:canary@api.example.com"}]}))
    cached.store()
    assert cached.cache.size().files == 0


def test_value_that_json_does_not_have_is_not_cached(cached: CachedDocument) -> None:
    loaded = compiler.load(str(cached.file), CompileOptions())
    compilation = compiler.compile_document(loaded, CompileOptions())
    tool = replace(compilation.tools[0], meta={"ratio": float("nan")})
    cached.entry().store((compiler.document_info(loaded, CompileOptions()), replace(compilation, tools=(tool,))))
    assert cached.cache.size().files == 0


class Remote:
    """A server of one document, which records the If-None-Match of each request and the status of each response."""

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


def test_document_from_a_url_is_requested_conditionally(cached: CachedDocument) -> None:
    remote = Remote(tags=True)
    with remote.running() as url:
        cached.store(url)
        assert cached.names(url) == ["/pets"]
        remote.text = document("/shops")
        assert cached.names(url) is None
    assert remote.statuses == [200, 304, 200]
    assert cached.names(url) is None, "no server confirms that it is unchanged"


def test_content_decides_without_a_validator(cached: CachedDocument) -> None:
    remote = Remote(tags=False)
    with remote.running() as url:
        cached.store(url)
        assert cached.names(url) == ["/pets"]
        remote.text = document("/shops")
        assert cached.names(url) is None
    assert (remote.statuses, set(remote.requests)) == ([200, 200, 200], {None})


@pytest.mark.parametrize("tags", [True, False])
def test_signed_address_is_not_written_to_the_disk(cached: CachedDocument, tags: bool) -> None:
    remote = Remote(tags=tags)
    with remote.running() as url:
        signed = url.replace("//", "//user:canary@") + "?X-Amz-Signature=canary&page=canary"
        cached.store(signed)
        assert cached.names(signed) == ["/pets"]
    [file] = cached.cache.folder.iterdir()
    assert "canary" not in file.name
    assert b"canary" not in file.read_bytes()
    assert b"/api.json?X-Amz-Signature=" in file.read_bytes()


def test_document_that_refers_to_a_signed_address_is_not_cached(cached: CachedDocument) -> None:
    remote = Remote(tags=True)
    with remote.running() as url:
        reference = {"$ref": f"{url}?sig=canary#/paths/~1pets"}
        value = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/pets": reference}}
        remote.text = document("/pets")
        root = Remote(tags=False)
        root.text = json.dumps(value)
        with root.running() as address:
            options = CompileOptions(allow_remote_refs=True)
            cached.store(address, options)
            assert remote.statuses == [200]
            assert cached.names(address, options) is None
    assert not cached.cache.folder.exists()


def open_bridge(file: Path, **options: Any) -> tuple[Bridge, list[str]]:
    """Open a bridge; return it and the steps of opening it."""
    steps: list[str] = []
    return Bridge.open(Config(source=str(file), **options), steps.append), steps


def test_bridge_with_cached_tools_equals_a_compiled_one(
    cached: CachedDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(cached.cache.folder))
    (first, first_steps), (second, second_steps) = open_bridge(cached.file), open_bridge(cached.file)
    assert ("compiling tools" in first_steps, "compiling tools" in second_steps) == (True, False)
    assert first == second
    assert first.catalog.lists_same_tools(second.catalog)
    assert first.document.root == second.document.root


def test_no_cache_neither_reads_nor_writes(cached: CachedDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(cached.cache.folder))
    for _ in range(2):
        _, steps = open_bridge(cached.file, no_cache=True)
        assert "compiling tools" in steps
    assert cached.cache.size().files == 0


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows keeps the folders of its users apart")
def test_start_without_the_cache_folder_of_others_says_so_once(cached: CachedDocument) -> None:
    cached.store()
    cached.cache.folder.chmod(0o777)
    started = subprocess.run(
        [sys.executable, "-m", "openapi_mcp", "serve", str(cached.file), "--transport", "stdio"],
        cwd=ROOT,
        env=os.environ | {"OPENAPI_MCP_CACHE": str(cached.cache.folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert started.stderr.count("warning: the cache is not used: other users can write to the folder") == 1
    assert "1 tool from 1 operation" in started.stderr


@pytest.mark.slow
def test_index_of_the_search_is_kept_with_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    source = tmp_path / "api.json"
    source.write_text(json.dumps(synthetic.document(MIN_STORED_TOOLS)))
    first = Bridge.open(Config(source=str(source)))
    assert first.indexes is not None
    assert first.indexes.load(first.tools) is None
    ToolFinder(first.tools, first.indexes).find("list users", 5)
    second = Bridge.open(Config(source=str(source)))
    assert second.indexes is not None
    data = second.indexes.load(second.tools)
    assert data is not None
    assert len(index_store.load(data, len(second.tools))[0]) == len(second.tools)
    assert second.indexes.load(second.tools[1:]) is None, "other tools have an index of their own"
    changed = synthetic.document(MIN_STORED_TOOLS) | {"info": {"title": "Another", "version": "1"}}
    source.write_text(json.dumps(changed))
    third = Bridge.open(Config(source=str(source)))
    assert third.indexes is not None
    assert third.indexes.load(third.tools) is None
    assert Bridge.open(Config(source=str(source), no_cache=True)).indexes is None
