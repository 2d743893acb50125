"""Real documents: one API written in two versions of OpenAPI hardly differs; a new version of an API does."""

import json
from pathlib import Path

import pytest
import yaml

from openapi_mcp import Bridge, Config
from openapi_mcp.comparison.changes import Comparison
from openapi_mcp.comparison.tools import compare
from tests.conftest import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"


def root_of(name: str) -> Path:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real documents is absent (../shared/corpus)")
    return next(
        CORPUS / name / str(e["root"]) for e in json.loads((CORPUS / "manifest.json").read_text()) if e["name"] == name
    )


def compared(old: Path, new: Path) -> Comparison:
    bridges = [Bridge.open(Config(source=str(path), no_cache=True)) for path in (old, new)]
    return compare(bridges[0].tools, bridges[1].tools)


def test_one_document_in_two_versions_of_openapi() -> None:
    comparison = compared(root_of("pyclient-baseline-3.0"), root_of("pyclient-baseline-3.1"))
    assert {change.kind for change in comparison.changes if change.is_breaking} == {"argument-default-changed"}


def test_two_versions_of_the_pet_store() -> None:
    comparison = compared(root_of("petstore-v2"), root_of("petstore-v3"))
    kinds = {change.kind for change in comparison.changes}
    assert comparison.old_tools - comparison.new_tools == 1
    assert {"tool-removed", "base-url-changed", "argument-type-changed"} <= kinds


def test_a_change_of_a_vendors_document_and_nothing_else(tmp_path: Path) -> None:
    source = root_of("museum")
    document = yaml.safe_load(source.read_text())
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(document, default=str))
    parameter = document["components"]["parameters"]["PaginationLimit"]["schema"]
    parameter["maximum"] -= 1
    del document["paths"]["/museum-hours"]
    new.write_text(json.dumps(document, default=str))
    found = [(each.kind, each.place) for each in compared(old, new).changes]
    assert found[0] == ("tool-removed", "")
    assert set(found[1:]) == {("argument-limit-narrowed", "limit")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figma", "slack-web"])
def test_a_document_does_not_differ_from_itself(name: str) -> None:
    assert compared(root_of(name), root_of(name)).changes == ()
