"""The examples of docs/workflows.md are what happens, and its tables have the keys of the code."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.responses import JSONResponse, Response

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.settings.file import read_file
from openapi_mcp.workflows import run
from openapi_mcp.workflows.short_form import STEP_FIELDS, description_of
from tests.conftest import ROOT
from tests.workflows.api import TableApi, bridge, call, serving, text, tools_of, write

PAGE = (ROOT / "docs" / "workflows.md").read_text()
BODY = {
    "type": "object",
    "required": ["book"],
    "properties": {"book": {"type": "integer"}, "reader": {"type": "integer"}},
}
PATHS = {
    "/books": {"get": {"operationId": "findBooks", "parameters": [
        {"name": "title", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}},
    "/loans": {"post": {"operationId": "createLoan", "responses": {"201": {"description": "ok"}},
               "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}}}},
}  # fmt: skip
SPEC = {"openapi": "3.1.0", "info": {"title": "Library", "version": "1"}, "paths": PATHS}


def block(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert match
    return match[1]


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


def loans(api: TableApi) -> Any:
    def create(sent: Any) -> Response:
        if len(api.sent) == 2:
            return JSONResponse({"error": "busy"}, 503)
        return JSONResponse({"id": 41, **sent.body}, 201, {"X-Due": "2026-12-24"})

    return create


def test_the_example_is_what_happens(api: TableApi, tmp_path: Path) -> None:
    api.answers({"GET /books": lambda _: [{"id": 9, "title": "Emma"}], "POST /loans": loans(api)})
    file = tmp_path / "lending.arazzo.yaml"
    file.write_text(block("yaml"))
    opened = bridge(write(tmp_path, SPEC, "library.yaml"), file, url=api.url)
    assert not opened.problems
    result = call(opened, "borrow-book", {"title": "Emma", "reader": 7})
    assert result.structured_content == json.loads(block("json"))
    assert api.sent[0].query == {"title": "Emma"}
    assert api.sent[-1].body == {"book": 9, "reader": 7}
    assert api.lines == ["GET /books", "POST /loans", "POST /loans"], "the 503 is tried again"


def test_the_short_form_is_what_happens(api: TableApi, tmp_path: Path) -> None:
    api.answers({"GET /books": lambda _: [{"id": 9, "title": "Emma"}], "POST /loans": lambda _: {"id": 41}})
    write(tmp_path, SPEC, "library.yaml")
    file = tmp_path / "openapi-mcp.toml"
    file.write_text(f'spec = "library.yaml"\nbase-url = "{api.url}"\nno-cache = true\n{block("toml")}')
    options = dict(read_file(file).options)
    opened = Bridge.open(Config.from_options(options.pop("spec"), options))
    assert not opened.problems
    (tool,) = tools_of(opened)
    assert tool.input_schema["required"] == ["title", "reader"]
    result = call(opened, "borrow", {"title": "Emma", "reader": 7})
    assert not result.is_error, text(result)
    assert result.structured_content == {"loan": 41}
    assert api.sent[-1].body == {"book": 9, "reader": 7}
    assert "a title" not in tool.description


def test_the_short_form_is_an_arazzo_description(api: TableApi, tmp_path: Path) -> None:
    """The short form of the settings and the file that it stands for make the same calls."""
    api.answers({"GET /books": lambda _: [{"id": 9}], "POST /loans": lambda _: {"id": 41}})
    table = tomllib.loads(block("toml"))["workflows"]
    written = description_of(table)
    written["sourceDescriptions"] = [{"name": "library", "url": "library.yaml"}]
    for step, location in zip(written["workflows"][0]["steps"], ("query", ""), strict=True):
        if location:
            step["parameters"] = [{**each, "in": location} for each in step["parameters"]]
        else:
            step["requestBody"] = {"payload": {each["name"]: each["value"] for each in step.pop("parameters")}}
    opened = bridge(write(tmp_path, SPEC, "library.yaml"), write(tmp_path, written), url=api.url)
    assert not opened.problems
    assert call(opened, "borrow", {"title": "Emma", "reader": 7}).structured_content == {"loan": 41}
    assert yaml.safe_dump(written)


WRONG = [
    ({"x": 1}, "this is not a table"),
    ({"x": {"steps": []}}, "a workflow has a name"),
    ({"x": {"steps": [{"call": "a"}], "step": 1}}, "unknown field: step"),
    ({"x": {"steps": [{"cal": "a"}]}}, "unknown field: cal"),
    ({"x": {"steps": [{"id": "a"}]}}, "a step needs `call`"),
    ({"x": {"steps": [{"call": "a", "arguments": []}]}}, "are tables"),
    ({"x": {"steps": [{"call": "a"}], "inputs": {"n": "text"}}}, "neither a type nor a schema"),
]


@pytest.mark.parametrize(("table", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_no_short_form_ends_the_command(table: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        description_of(table)
    assert "[workflows.x]" in error.value.where


def test_the_page_has_the_keys_and_the_limits_of_the_code() -> None:
    table = PAGE.partition("| key of a step |")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(STEP_FIELDS)
    assert f"| steps | {run.MAX_VISITS} in a run" in PAGE
    assert f"{run.MAX_DEPTH} workflows within each other" in PAGE
    assert f"{run.MAX_BODY_BYTES >> 20} MiB for an answer" in PAGE
    assert f"{run.MAX_ALL_BYTES >> 20} MiB for all answers" in PAGE
