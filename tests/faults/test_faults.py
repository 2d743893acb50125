"""The rows of `make faults`: each fault has one, each has a name of its own."""

from tests.faults import answers, api
from tests.faults.catalog import ROWS


def test_every_fault_of_the_api_has_a_row() -> None:
    assert set(api.FAULTS) == answers.NAMES
    assert len(answers.NAMES) >= 39


def test_rows_have_names_of_their_own() -> None:
    keys = [row.key for row in ROWS]
    assert len(set(keys)) == len(keys)
