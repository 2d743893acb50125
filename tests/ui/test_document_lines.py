"""Lines of pointers in YAML and JSON, and what there is where a document has changed."""

import json
from pathlib import Path

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.ui.document_lines import line_numbers, located

YAML = """\
# a comment
openapi: 3.1.0
paths:
  /a:
    get:
      parameters:
        - name: x
        - {name: y,
           in: query}
  ? /b
  : {get: {}}
'1': *none
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 2),
        (("openapi",), 2),
        (("paths", "/a", "get"), 5),
        (("paths", "/a", "get", "parameters", "0"), 7),
        (("paths", "/a", "get", "parameters", "1", "in"), 9),
        (("paths", "/b"), 10),
        (("paths", "/a", "put", "responses"), 4),
    ],
)
def test_places_have_lines(place: tuple[str, ...], line: int) -> None:
    assert line_numbers(YAML, {place}) == {place: line}


def test_json_has_lines_too() -> None:
    text = json.dumps({"a": [{"b": 1}, {"b": 2}], "c": {}}, indent=2)
    assert line_numbers(text, {("a", "1", "b"), ("c",)}) == {("a", "1", "b"): 7, ("c",): 10}


@pytest.mark.parametrize("text", ["", "{", "a: [", "\x00"])
def test_texts_that_are_no_yaml_have_none(text: str) -> None:
    assert line_numbers(text, {("a",)}) in ({}, {("a",): 1})


def test_a_document_that_has_changed_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(
        "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths:\n  /a:\n    get:\n      parameters:\n"
        "        - $ref: '#/no'\n      responses: {}\n"
    )
    bridge = Bridge.open(Config.from_options(str(path), {}))
    (row,) = located(bridge)
    assert (row.file, row.line, row.text) == ("api.yaml", 7, "- $ref: '#/no'")
    path.write_text("openapi: 3.0.0\n")
    (row,) = located(bridge)
    assert (row.line, row.text) == (0, "")
