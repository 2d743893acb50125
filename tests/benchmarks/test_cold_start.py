"""The benchmark of cold starts: it measures the time to the complete tool list of each server."""

import os
import sys
from dataclasses import replace

import pytest

from benchmarks.cold_start import DOCUMENTS, measure, misses, row, started

pytestmark = pytest.mark.process

EXITS_AT_ONCE = [sys.executable, "-c", "raise SystemExit"]


def test_cold_start_is_measured_up_to_the_complete_tool_list() -> None:
    measured = measure(DOCUMENTS["petstore"], 1, fastmcp=None)
    assert measured.keys() == {"openapi-mcp", "openapi-mcp, cached"}
    for start in measured.values():
        assert start is not None
        assert start.tools == 9
        assert 1_000 < start.size < 100_000
        assert start.memory > 1 << 20 or not sys.platform.startswith("linux")
        assert 0 < start.again < start.seconds


def test_search_is_measured_at_a_server_in_search_mode() -> None:
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(DOCUMENTS["petstore"]), "--mode", "search"]
    start = started(serve, os.environ, ["list the pets", "count them"])
    assert start.tools == 3
    assert 0 < start.search < start.seconds
    quick = replace(start, seconds=0.1, search=0.001)
    assert list(misses({"as it is": quick, "as it is, cached": quick})) == []
    assert len(list(misses({"as it is": replace(start, search=1.0), "as it is, cached": None}))) == 2


def test_server_that_exits_at_once_has_no_figures() -> None:
    measured = measure(DOCUMENTS["petstore"], 1, fastmcp=sys.executable)
    assert measured["FastMCP"] is None or measured["FastMCP"].tools == 9
    assert "cannot" in row("petstore", "other", None, measured["openapi-mcp"])
    with pytest.raises((EOFError, BrokenPipeError)):
        started(EXITS_AT_ONCE, {})
