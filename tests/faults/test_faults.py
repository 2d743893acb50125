"""The rows of `make faults` in a short form: each ends as it must, and nobody else waits for it or pays its memory."""

from pathlib import Path
from typing import Final

import pytest

from tests.faults import answers, api
from tests.faults.catalog import GROUPS, ROWS, stage_of
from tests.faults.rows import MAX_MEMORY, Measured

MAX_WAIT_IN_TESTS: Final = 0.5
"""Seconds that others may wait longer than at an idle server. `make faults` demands 0.1; tests run side by side."""


def excess(measured: Measured) -> str:
    """Return what a row exceeds, or nothing."""
    waited = (measured.wait or 0) - measured.idle_wait
    ok = not measured.failed and waited <= MAX_WAIT_IN_TESTS and measured.memory <= MAX_MEMORY
    figures = f"others waited {waited:.2f} s, {measured.memory >> 20} MiB"
    return "" if ok else f"{measured.row.key}: {measured.outcome} ({figures})"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read from Linux's /proc")
@pytest.mark.parametrize("group", GROUPS)
def test_no_neighbour_takes_time_or_memory(group: str) -> None:
    rows = [row for row in ROWS if row.group == group and row.short]
    with stage_of(group) as stage:
        excesses = [excess(stage.measure(row)) for row in rows]
    assert rows
    assert not [each for each in excesses if each]


def test_every_fault_of_the_api_has_a_row() -> None:
    assert set(api.FAULTS) == answers.NAMES
    assert len(answers.NAMES) >= 39


def test_rows_have_names_of_their_own() -> None:
    keys = [row.key for row in ROWS]
    assert len(set(keys)) == len(keys)
