"""The benchmark of repairs: faults are injected where a document has places for them, the same by the same seed."""

import copy
from pathlib import Path
from typing import Any

import pytest

from benchmarks.repair.faults import with_faults, with_null
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.document import loader
from tests.check.judging import saved
from tests.conftest import ROOT


def document(name: str) -> dict[str, Any]:
    root: dict[str, Any] = loader.load_root(str(ROOT / "specs" / f"{name}.yaml")).root
    return root


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["petstore", "museum"])
def test_faulty_documents_still_have_all_tools(name: str, seed: int, tmp_path: Path) -> None:
    true = document(name)
    before = copy.deepcopy(true)
    faulty, faults = with_faults(true, seed)
    assert true == before
    assert with_faults(true, seed) == (faulty, faults)
    assert faults
    assert faulty != true
    tools = [Bridge.open(Config(source=str(saved(tmp_path, root)), no_cache=True)).tools for root in (true, faulty)]
    assert [(tool.method, tool.path) for tool in tools[0]] == [(tool.method, tool.path) for tool in tools[1]]


def test_every_kind_of_fault_is_injected_somewhere() -> None:
    found = {fault.partition(":")[0] for seed in range(12) for fault in with_faults(document("museum"), seed)[1]}
    assert found >= {
        "server",
        "security",
        "type",
        "format",
        "required",
        "media type",
        "operationId",
        "texts",
        "examples",
    }


@pytest.mark.parametrize("name", ["petstore", "petstore-3.0"])
def test_an_api_that_answers_with_null_says_so_in_the_words_of_its_version(name: str) -> None:
    true = with_null(document(name), 1)
    assert ("nullable" in str(true)) == (name == "petstore-3.0")
