"""The costs of searches, on real documents: the limits hold for each of them, not only in the median."""

import pytest

from benchmarks.prism import CORPUS
from benchmarks.retrieval import RETRIEVAL, tools_of
from benchmarks.tokens import MAX_DESCRIBE, MAX_SEARCH, MAX_SEARCH_LIST, document, measure, requests_by_document

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.skipif(not (CORPUS.is_dir() and RETRIEVAL.is_dir()), reason="the corpus or steps.json is absent"),
]


@pytest.mark.parametrize("name", ["github-rest", "stripe", "box", "discord", "slack-web"])
def test_searches_and_descriptions_cost_at_most_their_limits(name: str) -> None:
    costs = measure(tools_of(document(name)), requests_by_document()[name])
    assert costs.search_list <= MAX_SEARCH_LIST
    assert costs.search <= MAX_SEARCH
    assert costs.describe <= MAX_DESCRIBE
