"""The parts of a conformance run: its document, the API behind it, and the baselines of excused checks."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp.contract import validation
from openapi_mcp.document import loader
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.types import CallToolResult, Implementation
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.tools.compiler import build
from tests.conformance import suite
from tests.conformance.backend import create_app
from tests.conformance.bridge import DOCUMENT
from tests.conftest import shared_folder
from tests.servers import running

ANSWERS = {
    "test_simple_text": ["text"],
    "test_image_content": ["image"],
    "test_audio_content": ["audio"],
    "test_embedded_resource": ["resource"],
    "test_multiple_content_types": ["text", "image", "resource"],
    "test_error_handling": ["text"],
    "test_tool_with_progress": ["text"],
    "test_tool_with_logging": ["text"],
    "test_logging_tool": ["text"],
    "test_streaming_elicitation": ["text"],
    "test_custom_header": ["text"],
    "json_schema_2020_12_tool": ["text"],
    "test_trigger_tool_change": ["text"],
}
"""Types of the content blocks in the result of each tool."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = tmp_path_factory.mktemp("conformance") / DOCUMENT.name
    document.write_bytes(DOCUMENT.read_bytes())
    return document


@pytest.fixture(scope="module")
def api(copy: Path) -> Iterator[str]:
    with running(create_app(copy)) as url:
        yield url


def call(api: str, name: str, arguments: dict[str, Any]) -> CallToolResult:
    async def send() -> CallToolResult:
        description = ServerDescription(implementation=Implementation("conformance", "1"))
        options = RequestOptions(base_url=api)
        server = Server(Catalog(build(loader.load(str(DOCUMENT))).tools), description, Upstream(), options=options)
        try:
            return await server.call(name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(send())


def test_document_is_valid_and_every_operation_is_a_tool() -> None:
    document = loader.load(str(DOCUMENT))
    compiled = build(document)
    assert not document.problems
    assert not compiled.problems
    assert not list(validation.validate(document))
    assert {tool.name for tool in compiled.tools} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_each_tool_has_the_result_that_the_suite_expects(name: str, api: str) -> None:
    result = call(api, name, {"tenant": "Hello"} if name == "test_custom_header" else {})
    assert [block["type"] for block in result.content] == ANSWERS[name]
    assert result.is_error == (name == "test_error_handling")


def test_a_change_adds_an_operation_and_the_next_one_removes_it(api: str, copy: Path) -> None:
    before = [tool.name for tool in build(loader.load(str(copy))).tools]
    call(api, "test_trigger_tool_change", {})
    between = [tool.name for tool in build(loader.load(str(copy))).tools]
    call(api, "test_trigger_tool_change", {})
    assert set(before) ^ set(between) == {"test_extra"}
    assert [tool.name for tool in build(loader.load(str(copy))).tools] == before


@pytest.mark.parametrize("revision", suite.REVISIONS)
def test_baselines_excuse_only_features_other_than_tools(revision: str) -> None:
    ceiling = shared_folder("protocol") / f"baseline-{revision}.yml"
    assert set(suite.expected_failures(revision)) <= set(yaml.safe_load(ceiling.read_text())["server"])


@pytest.mark.parametrize("revision", suite.REVISIONS)
def test_baselines_excuse_no_tool_of_the_document(revision: str) -> None:
    about_tools = [entry for entry in suite.expected_failures(revision) if entry.startswith("tools-")]
    assert set(about_tools) <= {"tools-call-sampling", "tools-call-elicitation"}


def test_suite_is_pinned_and_its_lock_names_no_registry() -> None:
    lock = json.loads((suite.FOLDER / "package-lock.json").read_text())
    assert lock["packages"]["node_modules/@modelcontextprotocol/conformance"]["version"] == "0.2.0-alpha.12"
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
