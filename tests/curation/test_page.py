"""The example of docs/x-mcp.md is what happens, and its tables have the keys of the code."""

import json
import re
from pathlib import Path

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.cli.call import request_text
from openapi_mcp.curation.foreign import READERS
from openapi_mcp.curation.keys import ARGUMENT_KEYS, TOOL_KEYS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "x-mcp.md").read_text()


def block(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert match
    return match[1]


def test_the_example_is_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_ZONES_TOKEN", "secret-771")
    source = tmp_path / "zones.yaml"
    source.write_text(block("yaml"))
    bridge = Bridge.open(Config(source=str(source), no_cache=True))
    tool = bridge.tool("create_zone")
    assert not bridge.problems
    assert tool.input_schema == json.loads(block("json"))
    text, _ = request_text(bridge, tool, {"zone": "a.org."})
    for line in block("text").splitlines():
        assert line in text.splitlines()


def test_the_tables_have_all_keys() -> None:
    _, tools, arguments, *_ = PAGE.split("\n## ")
    assert re.findall(r"^\| `(\w+)` \|", tools, re.MULTILINE) == list(TOOL_KEYS)
    assert re.findall(r"^\| `(\w+)` \|", arguments, re.MULTILINE) == list(ARGUMENT_KEYS)
    assert all(f"`{name}`" in PAGE for name in READERS)
