"""--base-url replaces all servers of a document, or one by one."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.base_url_map import BaseUrlMap
from openapi_mcp.bridge import Bridge
from openapi_mcp.cli import report
from openapi_mcp.cli.generate import GenerateOptions, package
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.request.build import build_request
from openapi_mcp.settings.file import read_file
from tests.runtime.making import tool

API, UPLOADS = "https://api.example.com/v1", "https://uploads.example.com/v1"
STAGING = "https://staging.example.com"


def target(base_url: str | None, *texts: str) -> str | None:
    base_urls = BaseUrlMap.parse(texts)
    return base_urls.apply(tool("/x", base_url=base_url)).base_url


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (f"{UPLOADS}={STAGING}/u", f"{STAGING}/u"),
        (f"{UPLOADS}/={STAGING}/u/", f"{STAGING}/u"),
        (f"https://uploads.example.com={STAGING}", f"{STAGING}/v1"),
        (f"HTTPS://Uploads.Example.Com:443={STAGING}", f"{STAGING}/v1"),
        (f"uploads.example.com={STAGING}", f"{STAGING}/v1"),
        (f"https://uploads.example.com/v={STAGING}", UPLOADS),
        (f"https://uploads.example.co={STAGING}", UPLOADS),
        (f"http://uploads.example.com={STAGING}", UPLOADS),
        (f"{API}={STAGING}", UPLOADS),
    ],
)
def test_from_is_a_base_url_or_its_beginning_or_its_host(text: str, result: str) -> None:
    assert target(UPLOADS, text) == result


def test_longest_from_is_used_and_a_single_url_is_for_the_rest() -> None:
    texts = (f"uploads.example.com={STAGING}/a", f"{UPLOADS}={STAGING}/b", f"{STAGING}/c")
    assert [target(url, *texts) for url in (UPLOADS, "https://uploads.example.com/v2", API, None)] == [
        f"{STAGING}/b",
        f"{STAGING}/a/v2",
        f"{STAGING}/c",
        f"{STAGING}/c",
    ]


def test_equals_sign_in_a_query_makes_no_pair() -> None:
    base_urls = BaseUrlMap.parse(["https://q.example.com/a?next=https://x.example.com"])
    assert (base_urls.pairs, base_urls.other) == ((), "https://q.example.com/a?next=https://x.example.com")


@pytest.mark.parametrize("texts", [["api.example.com"], ["a=b"], ["a=https://"], [API, STAGING], [f"{API}=ftp://x"]])
def test_invalid_base_urls_are_errors_with_a_hint(texts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        Config.from_options("petstore.yaml", {"base_url": texts})
    assert caught.value.where.startswith("--base-url ")
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        f'base-url = ["{UPLOADS}={STAGING}"]',
        f'base-url = {{ "{UPLOADS}" = "{STAGING}" }}',
        f'base-url = "{UPLOADS}={STAGING}"',
    ],
)
def test_settings_file_has_pairs_as_a_text_a_list_or_a_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    config = Config.from_options("petstore.yaml", read_file(tmp_path / "a.toml").options)
    assert config.base_url_map.pairs == ((UPLOADS, STAGING),)
    (tmp_path / "a.toml").write_text(f'base-url = "{STAGING}"')
    config = Config.from_options("petstore.yaml", read_file(tmp_path / "a.toml").options)
    assert (config.base_url, config.base_url_map) == (STAGING, BaseUrlMap())


OK: dict[str, Any] = {"responses": {"200": {"description": "ok"}}}


@pytest.fixture
def document(tmp_path: Path) -> str:
    """Write a document with two hosts: one operation has a server of its own."""
    upload = {"operationId": "upload", "tags": ["files"], "servers": [{"url": UPLOADS}], **OK}
    paths = {"/a": {"get": {"operationId": "a", **OK}, "post": {"operationId": "b", **OK}}, "/files": {"post": upload}}
    root = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "servers": [{"url": API}], "paths": paths}
    (tmp_path / "openapi.json").write_text(json.dumps(root))
    return str(tmp_path / "openapi.json")


def urls(bridge: Bridge) -> dict[str, str]:
    """Return the URL of a call of each tool."""
    options = bridge.request_options({})
    return {each.name: str(build_request(each, {}, options).url) for each in bridge.tools}


def opened(document: str, *base_urls: str, **options: Any) -> Bridge:
    return Bridge.open(Config.from_options(document, {"base_url": list(base_urls), **options}))


def test_single_url_replaces_every_server(document: str) -> None:
    bridge = opened(document, STAGING)
    assert urls(bridge) == {"a": f"{STAGING}/a", "b": f"{STAGING}/a", "upload": f"{STAGING}/files"}
    assert report.base_urls(bridge) == [
        f"{STAGING} (--base-url; not {API}): 2 tools, a, b",
        f"{STAGING} (--base-url; not {UPLOADS}): 1 tool, upload",
    ]


@pytest.mark.slow
def test_pair_replaces_one_server(document: str) -> None:
    for _ in range(2):  # compiled, then from the cache
        bridge = opened(document, f"{UPLOADS}={STAGING}")
        assert urls(bridge) == {"a": f"{API}/a", "b": f"{API}/a", "upload": f"{STAGING}/files"}
        assert report.base_urls(bridge) == [
            f"{API}: 2 tools, a, b",
            f"{STAGING} (--base-url; not {UPLOADS}): 1 tool, upload",
        ]
    generated = package(bridge, GenerateOptions(out=Path(document).parent / "out"))
    source = b"".join(generated.files.values()).decode("utf-8", "replace")
    assert STAGING in source
    assert UPLOADS not in source


def test_hosts_are_listed_without_base_url_too(document: str) -> None:
    assert report.base_urls(opened(document)) == [f"{API}: 2 tools, a, b", f"{UPLOADS}: 1 tool, upload"]
    assert report.base_urls(opened(document, exclude=["id:upload"])) == [API]
    assert report.base_urls(opened(document, STAGING, exclude=["id:upload"])) == [STAGING]


def test_from_that_is_no_base_url_is_an_error_that_suggests_one(document: str) -> None:
    with pytest.raises(UsageError, match="no operation has this base URL") as caught:
        opened(document, f"https://upload.example.com={STAGING}")
    assert caught.value.where == "--base-url https://upload.example.com=…"
    assert UPLOADS in caught.value.hint
    opened(document, f"{UPLOADS}={STAGING}", exclude=["id:upload"])  # known, though no tool has it


@pytest.mark.parametrize(
    "texts",
    [
        ["user:canary@api.example.com/v1"],
        ["htps://user:canary@api.example.com"],
        ["https://user:canary/1@api.example.com"],
        ["https://user:can ary@"],
        ["https://api.example.com=ftp://user:canary@h"],
        ["https://user:canary@a", "https://user:canary@b"],
    ],
)
def test_errors_name_no_password(texts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        BaseUrlMap.parse(texts)
    assert "ary" not in f"{caught.value} {caught.value.where} {caught.value.hint}"
    unknown = BaseUrlMap.parse(["https://user:canary@nowhere=https://user:canary@a", "[::=https://a"])
    with pytest.raises(UsageError) as caught:
        unknown.check(["https://user:canary@api.example.com?key=canary"])
    assert "canary" not in f"{caught.value} {caught.value.where} {caught.value.hint} {unknown!r}"


def test_package_has_no_user_and_password_of_the_document_but_its_query(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = {"url": "https://user:canary@api.example.com/v1?key=public"}
    value = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [server],
        "paths": {"/x": {"get": {}}},
    }
    (tmp_path / "api.json").write_text(json.dumps(value))
    bridge = Bridge.open(Config.from_options(str(tmp_path / "api.json"), {}))
    assert bridge.tools[0].base_url == server["url"]
    files = package(bridge, GenerateOptions(out=tmp_path / "out")).files
    assert not [path for path, content in files.items() if b"canary" in content]
    assert any(b"https://api.example.com/v1?key=public" in content for content in files.values())
    assert "set OPENAPI_MCP_BASE_URL to the whole URL" in capsys.readouterr().err
