"""Records of tasks: their ids, owners and times, and the bounds of what is kept."""

import re
from pathlib import Path

import pytest

from openapi_mcp.tasks import records
from openapi_mcp.tasks.records import TaskRecord, TaskRecords


def record(owner: str = "ada", seconds: float = 60, **fields: object) -> TaskRecord:
    return TaskRecord(owner=owner, seconds=seconds, **fields)  # type: ignore[arg-type]


def test_ids_are_random() -> None:
    ids = {record().id for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[\w-]{32}", each) for each in ids)


@pytest.mark.parametrize("shared", [True, False])
def test_record_is_found_by_its_owner_alone(tmp_path: Path, shared: bool) -> None:
    file, kept, own = tmp_path / ".state-x" if shared else None, TaskRecords(), record()
    kept.write(own, file)
    for each in (kept, TaskRecords()) if shared else (kept,):
        assert each.find(own.id, "ada", file) == own
        assert each.find(own.id, "bob", file) is None
        assert each.find("../" + own.id, "ada", file) is None
        assert each.find("\ud83d\0" * 5000, "ada", file) is None


def test_record_is_forgotten_after_its_time(tmp_path: Path) -> None:
    file, kept, own = tmp_path / ".state-x", TaskRecords(), record(seconds=-1)
    kept.write(own, file)
    assert TaskRecords().find(own.id, "ada", file) is None
    assert kept.find(own.id, "ada", file) is None
    assert not list(tmp_path.iterdir())


def test_oldest_records_of_too_many_are_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "MAX_KEPT", 3)
    file, kept, own = tmp_path / ".state-x", TaskRecords(), [record() for _ in range(5)]
    for each in own:
        kept.write(each, file)
    assert [kept.find(each.id, "ada", file) is not None for each in own] == [False, False, True, True, True]
    assert len(list(tmp_path.iterdir())) == 3


def test_results_that_are_too_large_together_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_KEPT_BYTES", 3_000)
    kept, own = TaskRecords(), [record(outcome={"result": "x" * 1_000}) for _ in range(4)]
    for each in own:
        kept.write(each, None)
    assert [kept.find(each.id, "ada", None) is not None for each in own] == [False, False, True, True]


def test_files_that_are_no_records_are_none(tmp_path: Path) -> None:
    file, kept, own = tmp_path / ".state-x", TaskRecords(), record()
    kept.write(own, file)
    (path,) = tmp_path.iterdir()
    for text in ("", "[]", "{}", '{"owner": "ada"}', "[" * 100_000):
        path.write_text(text)
        assert TaskRecords().find(own.id, "ada", file) is None


def test_times_are_those_of_the_protocol() -> None:
    wire = record(seconds=1.5, created=0.0, updated=1.25, interval=0.0005, message="half").wire()
    assert wire["createdAt"] == "1970-01-01T00:00:00.000Z"
    assert wire["lastUpdatedAt"] == "1970-01-01T00:00:01.250Z"
    assert (wire["ttlMs"], wire["pollIntervalMs"], wire["statusMessage"]) == (1500, 1, "half")
