"""The example of docs/skills.md is what is served, and its limits are those of the code."""

import re
from pathlib import Path

import pytest

from openapi_mcp.skills.composition import MAX_SKILL_BYTES
from openapi_mcp.skills.references import MAX_REFERENCE_BYTES, MAX_REFERENCES
from tests.conftest import ROOT
from tests.skills.serving import bridge_of, files, result

PAGE = (ROOT / "docs" / "skills.md").read_text()
DOCUMENT = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
SHOWN = re.findall(r"````markdown\n(.*?)````", PAGE, re.DOTALL)


def test_files_are_those_of_the_page(tmp_path: Path) -> None:
    bridge = bridge_of(tmp_path, DOCUMENT)
    assert not bridge.problems
    served = files(bridge)
    assert [served["SKILL.md"], served["references/loans.md"]] == SHOWN
    (skill,) = result(bridge, "skills/list")["skills"]
    assert skill["uri"] in PAGE


def test_option_of_the_page_switches_it_off(tmp_path: Path) -> None:
    bridge = bridge_of(tmp_path, DOCUMENT, no_skills=True)
    capabilities = result(bridge, "server/discover")["capabilities"]
    assert "resources" not in capabilities
    assert "io.modelcontextprotocol/skills" not in capabilities.get("extensions", {})


@pytest.mark.parametrize(
    "limit", [f"{MAX_SKILL_BYTES // 1024} KiB", f"{MAX_REFERENCES} files", f"{MAX_REFERENCE_BYTES // 1024} KiB"]
)
def test_limits_are_those_of_the_code(limit: str) -> None:
    assert limit in PAGE
