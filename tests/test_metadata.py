"""What packages say of themselves: versions, requirements, and the files that registries and desktop clients read."""

import json
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from openapi_mcp import metadata
from openapi_mcp.archive import REQUIRED
from openapi_mcp.generator import generate
from tests.conftest import ROOT
from tests.generating import SPECS, bridge


def test_a_package_requires_what_the_runtime_does_and_no_other_versions() -> None:
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
def test_the_version_of_an_api_becomes_that_of_a_package(given: str, version: str, semantic: str) -> None:
    assert metadata.version(given) == version
    assert metadata.semantic(version) == semantic


@pytest.mark.parametrize("document", SPECS, ids=lambda path: path.stem)
def test_what_clients_and_registries_read_is_whole(document: Path) -> None:
    made = generate(bridge(document))

    def read(name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(made.files[PurePosixPath(name)])
        return value

    server, manifest = read("server.json"), read("manifest.json")
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", server["name"])
    assert 0 < len(server["description"]) <= metadata.REGISTRY_DESCRIPTION
    assert f"mcp-name: {server['name']}" in made.files[PurePosixPath("README.md")].decode()
    assert set(REQUIRED) <= set(manifest)
    assert PurePosixPath(manifest["server"]["entry_point"]) in made.files
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in bridge(document).tools]
    asked = {variable["name"] for variable in server["packages"][0].get("environmentVariables", ())}
    assert asked == set(manifest["server"]["mcp_config"]["env"])
    assert asked == {scheme.variable for scheme in bridge(document).security_schemes()}


def test_answers_are_called_what_the_document_calls_them() -> None:
    names = metadata.output_names(bridge(ROOT / "specs" / "petstore.yaml"))
    assert (names["listPets"], names["getPet"]) == ("Page", "Pet")
    assert metadata.output_names(bridge(ROOT / "specs" / "library.yaml"))["books.list".replace(".", "_")] == "Book list"
