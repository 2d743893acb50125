"""The benchmark of search counts rightly, and search reaches its aim where the requests lie beside the checkout."""

import json

import pytest

from benchmarks import retrieval
from benchmarks.prism import CORPUS
from benchmarks.retrieval import Outcome, Request, complete, recall
from benchmarks.synthetic import document
from openapi_mcp.document import Document
from openapi_mcp.runtime.search import Search
from openapi_mcp.tools import build


def test_recall_counts_operations_and_completeness_requests() -> None:
    outcomes = [
        Outcome(Request("a", frozenset({"GET /a", "GET /b"})), ("GET /a", "GET /c", "GET /b")),
        Outcome(Request("b", frozenset({"GET /d"})), ("GET /e",)),
    ]
    assert (recall(outcomes, 1), recall(outcomes, 3)) == (1 / 3, 2 / 3)
    assert (complete(outcomes, 1), complete(outcomes, 3)) == (0, 1 / 2)


def test_the_synthetic_document_is_as_large_as_it_says_and_its_schemas_refer_to_each_other_and_themselves() -> None:
    whole = document()
    assert 20_000_000 < len(json.dumps(whole)) < 21_000_000
    named = whole["components"]["schemas"]
    assert sum(f'"#/components/schemas/{name}"' in json.dumps(schema) for name, schema in named.items()) > 2_000
    assert json.dumps(named).count('"#/components/schemas/identitySet"') > 2_000


def test_the_synthetic_document_has_as_many_operations_as_asked_for_and_no_problems() -> None:
    compiled = build(Document(document(200), "file:///synthetic.json", "3.0"))
    assert len(compiled.tools) == 200
    assert compiled.problems == ()
    assert Search(compiled.tools).find("delete the active owner of a user", 1)[0].tool.method == "DELETE"


@pytest.mark.skipif(not retrieval.RETRIEVAL.is_dir(), reason="the requests do not lie beside the checkout")
def test_search_reaches_its_aims() -> None:
    assert all(retrieval.restbench(verbose=False))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of documents does not lie beside the checkout")
def test_our_own_requests_need_operations_that_there_are() -> None:
    assert all(retrieval.own(verbose=False))
