"""Records of calls: what is counted, how callers are named, and that monitors change no call."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.server.hooks import CallStart
from openapi_mcp.runtime.types import CallToolResult, error_result
from openapi_mcp.telemetry import tracing
from openapi_mcp.telemetry.audit import MAX_VALUES, audit_file, without_secrets
from openapi_mcp.telemetry.call_log import size, text_lines
from openapi_mcp.telemetry.feed import CallFeed
from openapi_mcp.telemetry.monitor import _Monitor
from openapi_mcp.telemetry.monitoring import CallMonitor, MonitoredCall
from openapi_mcp.telemetry.monitoring import observe as observe_call
from openapi_mcp.telemetry.records import MAX_NAME, CallRecord, Recorder, caller_name

START = CallStart("listPets", {"limit": 2}, "address 127.0.0.1", {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"})

HAEH = CallToolResult(content=({"type": "text", "text": "häh"},))


def observe(work: Callable[..., Any], start: CallStart = START) -> list[CallRecord]:
    """The records of one call."""
    records: list[CallRecord] = []
    monitor = Recorder([records.append])
    with pytest.raises((ArgumentError, asyncio.CancelledError)) if work in (fail, cancel) else _nothing():
        asyncio.run(observe_call(monitor, start, lambda _: None, work))
    return records


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


async def succeed(_trace: Mapping[str, str], note: Callable[[int], None]) -> CallToolResult:
    note(503)
    note(200)
    return HAEH


async def fail(_trace: Mapping[str, str], _note: Callable[[int], None]) -> CallToolResult:
    raise ArgumentError("no")


async def cancel(_trace: Mapping[str, str], _note: Callable[[int], None]) -> CallToolResult:
    raise asyncio.CancelledError


def test_a_record_has_the_last_status_and_the_size_of_the_result() -> None:
    (record,) = observe(succeed)
    assert (record.status, record.outcome, record.bytes, record.tokens) == (200, "ok", 4, 1)
    assert (record.tool, record.caller, record.trace_id) == ("listPets", "address 127.0.0.1", "ab" * 16)


@pytest.mark.parametrize(("work", "outcome"), [(fail, "tool_error"), (cancel, "cancelled")])
def test_calls_without_a_result_are_recorded(work: Callable[..., Any], outcome: str) -> None:
    (record,) = observe(work)
    assert (record.outcome, record.status, record.bytes) == (outcome, 0, 0)


class _Broken:
    """A monitor that fails at the beginning, or at the end of a call."""

    trace: Mapping[str, str] = {}

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once

    def begin(self, _start: CallStart) -> MonitoredCall:
        if self._at_once:
            raise ValueError("broken")
        return self

    def end(self, _result: CallToolResult | None, _status: int) -> None:
        raise ValueError("broken")


@pytest.mark.parametrize("at_once", [True, False])
def test_a_broken_monitor_changes_no_call(at_once: bool, caplog: pytest.LogCaptureFixture) -> None:
    monitor: CallMonitor = _Broken(at_once=at_once)
    result = asyncio.run(observe_call(monitor, START, lambda _: None, succeed))
    assert result == HAEH
    assert "The monitor of the call of listPets failed." in caplog.text


def test_callers_are_named_without_their_secret_and_on_one_line() -> None:
    assert caller_name("session abcdef").startswith("session ")
    assert "abcdef" not in caller_name("session abcdef")
    assert caller_name("subject a\nb\x1b[2J") == "subject a b\\u001b[2J"
    assert caller_name("") == "stdio"


def test_a_line_of_text_has_time_tool_status_duration_and_cost() -> None:
    lines: list[str] = []
    record = CallRecord(
        time=0.0, caller="stdio", tool="t", status=200, outcome="ok", seconds=0.0341, bytes=1234, arguments={}
    )
    text_lines(lines.append)(record)
    assert lines[0].split(" ", 1)[1] == "t 200 34 ms 1.2 kB ~309 tok stdio"
    assert [size(999), size(1000), size(2_500_000)] == ["999 B", "1.0 kB", "2.5 MB"]


def record_of(arguments: Mapping[str, Any]) -> CallRecord:
    return CallRecord(
        time=0.0, caller="stdio", tool="t", status=200, outcome="ok", seconds=0.0, bytes=1, arguments=arguments
    )


def test_the_audit_file_has_names_and_values_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit_file(path, lambda text: text.replace("hush", "***"))(record_of({"name": "hush"}))
    audit_file(path, lambda text: text.replace("hush", "***"), with_arguments=True)(
        record_of({"name": "hush", "password": "other", "deep": [{"api_key": 1}]})
    )
    audit_file(path, str, with_arguments=True)(record_of({"name": "x" * 2 * MAX_VALUES}))
    first, second, third = (json.loads(line) for line in path.read_text().splitlines())
    assert "values" not in first
    assert second["values"] == {"name": "***", "password": "***", "deep": [{"api_key": "***"}]}
    assert third["values"].endswith("characters)")


def test_the_audit_file_is_made_anew_after_it_was_moved(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    sink = audit_file(path, str)
    sink(record_of({}))
    path.rename(tmp_path / "old")
    sink(record_of({}))
    assert len(path.read_text().splitlines()) == len((tmp_path / "old").read_text().splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_full_disk_stops_no_call_and_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "audit.jsonl"
    path.symlink_to("/dev/full")
    sink = audit_file(path, str)
    for _ in range(5):
        sink(record_of({"name": "value-of-an-argument"}))
    assert len(caplog.messages) == 1
    assert "No space left on device" in caplog.text
    assert "Traceback" not in caplog.text
    path.unlink()
    sink(record_of({}))
    assert "written again. Lines that are missing: 5" in caplog.messages[1]
    sink(record_of({}))
    assert len(caplog.messages) == 2
    assert [json.loads(line)["tool"] for line in path.read_text().splitlines()] == ["t", "t"]


def test_line_after_one_that_was_cut_by_a_full_disk_is_whole(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system has no limit of files")
    path = tmp_path / "audit.jsonl"
    sink = audit_file(path, str)
    sink(record_of({}))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, before[1]))
    try:
        sink(record_of({}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    sink(record_of({}))
    first, cut, last = path.read_text().splitlines()
    assert len(cut) == 20
    assert json.loads(first) == json.loads(last)


def test_folder_that_went_away_stops_no_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    sink = audit_file(folder / "audit.jsonl", str)
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    sink(record_of({}))
    assert "No such file or directory" in caplog.text
    folder.mkdir()
    sink(record_of({}))
    assert len((folder / "audit.jsonl").read_text().splitlines()) == 1


def test_each_line_is_one_write_so_that_processes_do_not_mix_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, write = list[int](), os.write

    def noting(file: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(file, data)

    monkeypatch.setattr(os, "write", noting)
    sink = audit_file(tmp_path / "audit.jsonl", str, with_arguments=True)
    for length in (1, 10_000, 60_000):
        sink(record_of({"text": "é" * (length // 2)}))
    assert len(sizes) == 3
    assert sum(sizes) == (tmp_path / "audit.jsonl").stat().st_size


def test_values_of_large_arguments_are_not_written(tmp_path: Path) -> None:
    audit_file(tmp_path / "a", str, with_arguments=True)(record_of({"ids": [1] * 100_000}))
    assert json.loads((tmp_path / "a").read_text())["values"] == "more than 20,000 values"


def test_sink_that_fails_keeps_the_record_from_no_other() -> None:
    def fail(_record: CallRecord) -> None:
        raise OSError

    records = list[CallRecord]()
    Recorder([fail, records.append]).begin(CallStart("t", {}, "stdio", {})).end(None, 0)
    assert len(records) == 1


def test_long_names_of_callers_stay_different() -> None:
    one, other = (caller_name(f"subject {'https://id.test/' * 20} {name}") for name in ("ann", "bob"))
    assert one != other
    assert len(one) == len(other) == MAX_NAME


def test_an_audit_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the audit file"):
        audit_file(tmp_path / "no" / "audit", str)


def test_very_deep_values_end() -> None:
    value: Any = {}
    for _ in range(200):
        value = {"a": value}
    assert "…" in json.dumps(without_secrets(value), ensure_ascii=False)


@pytest.mark.parametrize(
    ("variables", "is_on"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_traces_are_made_where_the_environment_asks_for_them(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], is_on: bool
) -> None:
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tracing.is_configured() is is_on


def test_tracer_without_an_sdk_passes_the_trace_of_the_client_on() -> None:
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    call = tracing.Tracer().begin(CallStart("getPet", {}, "client", trace))
    assert call.trace["traceparent"].split("-")[1] == trace["traceparent"].split("-")[1]
    call.end(error_result("no"), 500)


def test_without_an_sdk_calls_are_made_without_a_span_until_one_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "LOOK_SECONDS", 0.0)
    tracer = tracing.Tracer()
    assert not tracer
    monkeypatch.setattr(tracer, "_providers", (object,))  # of another module than those of the API
    feed = CallFeed()
    monitors = [_Monitor(tracing.Tracer()), _Monitor(tracer), _Monitor(Recorder([]))]
    assert [bool(each) for each in (tracer, *monitors)] == [True, False, True, True]
    assert [bool(feed.monitor(each)) for each in monitors] == [False, True, True]
