"""The example of docs/names.md is what happens."""

import json
import re
from pathlib import Path

from openapi_mcp import Bridge, Config
from openapi_mcp.runtime.protocol.revisions import STATELESS
from tests.conftest import ROOT


def test_the_example_is_what_is_listed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "names.md").read_text()
    blocks = dict(re.findall(r"```(yaml|json)\n(.*?)```", page, re.DOTALL))
    source = tmp_path / "work.yaml"
    source.write_text(blocks["yaml"])
    bridge = Bridge.open(Config(source=str(source), no_cache=True))
    (tool,) = bridge.tools
    listed = STATELESS["2026-07-28"].tool(tool)
    expected = json.loads(blocks["json"])
    assert not bridge.problems
    assert {key: listed[key] for key in ("name", "description")} == {
        key: expected[key] for key in ("name", "description")
    }
    assert listed["inputSchema"]["properties"] == expected["inputSchema"]["properties"]
    assert "title" not in listed
