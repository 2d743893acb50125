"""SECURITY.md names modules and tests that exist, in each line of its tables."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text()
LINES = re.findall(r"^\| (?!threat)([^|]+) \| ([^|]+) \| (`[^|]+`) \| (`[^|]+`) \|$", SECURITY, re.MULTILINE)


def test_every_line_of_a_table_is_read() -> None:
    rows = [line for line in SECURITY.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
    assert len(rows) == len(LINES) >= 40


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_defence_has_a_module_and_a_test(line: tuple[str, str, str, str]) -> None:
    _, _, modules, tests = line
    for module in re.findall("`(.+?)`", modules):
        assert (ROOT / "openapi_mcp" / module).is_file(), module
    for test in re.findall("`(.+?)`", tests):
        path, _, name = test.partition("::")
        assert re.search(rf"^ *(async )?def {name}\(", Path(ROOT / path).read_text(), re.MULTILINE), test


def test_it_says_how_to_report() -> None:
    assert "Report a vulnerability" in SECURITY
    assert (ROOT / "docs" / "faults.md").is_file()
