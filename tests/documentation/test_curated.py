"""examples/curated: twelve tools of GitHub's operations, without a problem, in a small part of the tokens."""

import re
from pathlib import Path

import pytest

from openapi_mcp.cli.settings import Settings
from tests.conftest import ROOT, shared_folder

FOLDER = ROOT / "examples" / "curated"


@pytest.mark.corpus
def test_the_example_offers_twelve_tools_without_a_problem() -> None:
    document = shared_folder("corpus") / "github-rest" / "api.github.com.json"
    options = {"overlay": [str(FOLDER / "curated.yaml")], "workflow": [str(FOLDER / "report-bug.arazzo.yaml")]}
    bridge = Settings(str(document), options, None).bridge(lambda _: None)
    assert not bridge.problems
    assert len(bridge.tools) + 1 == 12
    assert not [name for name in bridge.tools if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name.name)]


def test_the_readme_says_the_figures_that_its_commands_print() -> None:
    text = Path(FOLDER / "README.md").read_text()
    before, after = re.findall(r"^serve: [\d,]+ tools listed, about ([\d,]+) tokens$", text, re.MULTILINE)
    assert f"takes {before} tokens of a model's context, that of the twelve {after}." in text
