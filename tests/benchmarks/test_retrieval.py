"""The benchmark of search: its figures are right, and search reaches its targets for requests of ../shared."""

import json

import pytest

from benchmarks import retrieval
from benchmarks.prism import CORPUS
from benchmarks.retrieval import Outcome, Request, complete, recall
from benchmarks.synthetic import document
from openapi_mcp.document.model import Document
from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.tools.compiler import build


def test_recall_counts_operations_and_completeness_counts_requests() -> None:
    outcomes = [
        Outcome(Request("a", frozenset({"GET /a", "GET /b"})), (("GET /a",), ("GET /c",), ("GET /b",))),
        Outcome(Request("b", frozenset({"GET /d"})), (("GET /e",),)),
    ]
    assert (recall(outcomes, 1), recall(outcomes, 3)) == (1 / 3, 2 / 3)
    assert (complete(outcomes, 1), complete(outcomes, 3)) == (0, 1 / 2)


@pytest.mark.slow
def test_synthetic_document_has_its_size_and_mutually_recursive_schemas() -> None:
    synthetic = document()
    assert 20_000_000 < len(json.dumps(synthetic)) < 21_000_000
    named = synthetic["components"]["schemas"]
    assert sum(f'"#/components/schemas/{name}"' in json.dumps(schema) for name, schema in named.items()) > 2_000
    assert json.dumps(named).count('"#/components/schemas/identitySet"') > 2_000


def test_synthetic_document_has_the_requested_number_of_operations_and_no_problems() -> None:
    compiled = build(Document(document(200), "file:///synthetic.json", "3.0"))
    assert len(compiled.tools) == 200
    assert compiled.problems == ()
    assert Search(compiled.tools).find("delete the active owner of a user", 1)[0].tool.method == "DELETE"


@pytest.mark.corpus
@pytest.mark.skipif(not retrieval.RETRIEVAL.is_dir(), reason=f"folder does not exist: {retrieval.RETRIEVAL}")
def test_search_reaches_its_targets_for_restbench() -> None:
    assert all(retrieval.restbench(verbose=False))


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"folder does not exist: {CORPUS}")
def test_search_reaches_its_targets_for_own_requests() -> None:
    assert all(retrieval.own(verbose=False))


@pytest.mark.corpus
@pytest.mark.skipif(not retrieval.RETRIEVAL.is_dir(), reason=f"folder does not exist: {retrieval.RETRIEVAL}")
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"folder does not exist: {CORPUS}")
def test_search_reaches_its_targets_for_single_steps_and_tasks() -> None:
    assert all(retrieval.steps(verbose=False))
