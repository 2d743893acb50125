"""Vectors of tools: the sum of their words' vectors, whatever the tools are made of; the same on every run."""

from math import log
from typing import Any

import numpy as np

from openapi_mcp.runtime.search.index import ToolWords, words_of
from openapi_mcp.runtime.search.vectors import PART_WEIGHTS, ToolVectors, word_table
from tests.compiling import compiled

PATHS: dict[str, Any] = {
    f"/{noun}s": {
        "get": {"operationId": f"list{noun.title()}s", "summary": f"List {noun}s", "tags": ["all"]},
        "post": {"operationId": f"add{noun.title()}", "summary": "", "description": f"Add a {noun} to the shop."},
    }
    for noun in ("dispute", "refund", "xyzzy", "customer", "lorry")
}


def unit(vector: Any) -> Any:
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def test_vector_is_the_weighted_sum_of_those_of_its_words() -> None:
    tools = [words_of(tool) for tool in compiled(PATHS).tools]
    table, counts = word_table(), dict[int, int]()
    for tool in tools:
        for row in {row for part in tool for row in table.rows_of(part)}:
            counts[row] = counts.get(row, 0) + 1
    vectors = ToolVectors.of(tools)
    assert dict(vectors.counts) == counts
    for tool, vector in zip(tools, vectors.matrix, strict=True):
        parts = np.zeros(table.dimensions)
        for part, weight in PART_WEIGHTS.items():
            rows = table.rows_of(getattr(tool, part))
            weights = np.array([log(1 + len(tools) / (1 + counts[row])) for row in rows])
            parts += weight * unit((table.vectors(rows) * weights[:, None]).sum(axis=0)) if rows else 0
        assert np.allclose(vector, unit(parts), atol=1e-6)


def test_tools_without_a_known_word_have_no_vector() -> None:
    tools = [ToolWords((), (), (), (), (), ()), ToolWords(("qqqq",), (), (), (), (), ())]
    assert not ToolVectors.of(tools).matrix.any()
    assert ToolVectors.of([]).similarities("refund") == []
