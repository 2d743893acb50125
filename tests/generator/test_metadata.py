"""Metadata of packages: versions, requirements, and the files that registries and desktop clients read."""

import json
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from openapi_mcp.generator import metadata
from openapi_mcp.generator.mcpb import REQUIRED
from openapi_mcp.generator.package import generate
from tests.conftest import ROOT
from tests.generating import SPECS, bridge


def test_requirements_are_those_of_this_distribution() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert set(metadata.REQUIREMENTS) <= set(ours)


@pytest.mark.parametrize(
    ("given", "version", "semantic"),
    [
        ("1.0.0", "1.0.0", "1.0.0"),
        ("v2", "2", "2.0.0"),
        ("2026-07-28", "2026.7.28", "2026.7.28"),
        ("1.2.3.4-beta", "1.2.3.4", "1.2.3"),
        ("latest", "0", "0.0.0"),
        ("", "0", "0.0.0"),
        ("1; import os", "1", "1.0.0"),
    ],
)
def test_version_of_the_api_becomes_version_of_the_package(given: str, version: str, semantic: str) -> None:
    assert metadata.version(given) == version
    assert metadata.semantic_version(version) == semantic


@pytest.mark.parametrize("document", SPECS, ids=lambda path: path.stem)
def test_registry_entry_and_manifest_are_complete(document: Path) -> None:
    package = generate(bridge(document))

    def read(name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(package.files[PurePosixPath(name)])
        return value

    server, manifest = read("server.json"), read("manifest.json")
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", server["name"])
    assert 0 < len(server["description"]) <= metadata.REGISTRY_DESCRIPTION
    assert f"mcp-name: {server['name']}" in package.files[PurePosixPath("README.md")].decode()
    assert set(REQUIRED) <= set(manifest)
    assert PurePosixPath(manifest["server"]["entry_point"]) in package.files
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in bridge(document).tools]
    asked = {variable["name"] for variable in server["packages"][0].get("environmentVariables", ())}
    assert asked == set(manifest["server"]["mcp_config"]["env"])
    assert asked == {scheme.variable for scheme in bridge(document).security_schemes()}


def _files(tmp_path: Path, **root: Any) -> dict[str, str]:
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/pets": {"get": {}}}}
    (tmp_path / "shop.json").write_text(json.dumps(document | root))
    files = generate(bridge(tmp_path / "shop.json"), name="shop-mcp").files
    return {str(path): content.decode() for path, content in files.items()}


def test_package_without_a_server_says_everywhere_that_a_base_url_is_needed(tmp_path: Path) -> None:
    files = _files(tmp_path)
    assert "shop-mcp --base-url https://api.example.com" in files["README.md"]
    assert "## The URL of the API" in files["README.md"]
    assert "needed, since its document names no server" in files["shop_mcp/__main__.py"]
    (argument,) = json.loads(files["server.json"])["packages"][0]["packageArguments"]
    assert (argument["name"], argument["isRequired"]) == ("--base-url", True)
    manifest = json.loads(files["manifest.json"])
    assert manifest["user_config"]["base_url"]["required"] is True
    assert manifest["server"]["mcp_config"]["args"][-2:] == ["--base-url", "${user_config.base_url}"]
    assert "tools = Toolbox(base_url=BASE_URL)" in files["shop_mcp/tools/pets.py"]


def test_package_with_a_server_asks_for_no_base_url(tmp_path: Path) -> None:
    files = _files(tmp_path, servers=[{"url": "https://shop.example"}])
    texts = [files[name] for name in ("README.md", "server.json", "manifest.json")]
    assert not any("base-url" in text or "base_url" in text for text in texts)


def test_clients_install_no_development_requirements_and_readme_runs_the_folder_first(tmp_path: Path) -> None:
    files = _files(tmp_path, servers=[{"url": "https://shop.example"}])
    arguments = json.loads(files["manifest.json"])["server"]["mcp_config"]["args"]
    assert arguments == ["run", "--no-dev", "--directory", "${__dirname}", "shop-mcp"]
    readme = files["README.md"]
    assert readme.index("uv run --no-dev --directory . shop-mcp") < readme.index("uvx shop-mcp")
    assert readme.count("uvx") == 1
    assert "Once published on PyPI, `uvx shop-mcp`" in readme
