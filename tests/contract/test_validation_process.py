"""The validator of documents runs in a process of its own: it ends in time, with a Problem, and with this process."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openapi_mcp.contract import validation, validation_process
from openapi_mcp.document.loader import load
from tests.hostile_documents import fan_out

pytestmark = pytest.mark.process
INVALID = {"openapi": "3.0.3", "info": {"title": 1}, "paths": {"/a": {"get": {"responses": {}, "tags": "é"}}}}


def children(process: int) -> set[int]:
    """Return the ids of the processes that one has started and that still run."""
    return set(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))


def waited_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait until a condition is true; return whether it became so in time."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return met


def runs(process: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_findings_are_those_of_the_validator(tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(INVALID))
    document = load(str(path))
    found = list(validation_process.validate(document))
    assert found == list(validation.validate(document))
    assert len(found) > 1


def test_a_document_that_would_take_for_ever_is_stopped_and_reported(tmp_path: Path) -> None:
    began = time.monotonic()
    *_, last = validation_process.validate(load(str(fan_out("allOf")(tmp_path))), seconds=1)
    assert time.monotonic() - began < 10
    assert (last.kind, last.message) == (
        "validator",
        "the validator was stopped after 1 seconds, so the document is not validated as a whole",
    )


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_command_and_the_validator_within_a_second(tmp_path: Path, number: signal.Signals) -> None:
    path = fan_out("allOf")(tmp_path)
    command = [sys.executable, "-m", "openapi_mcp", "inspect", str(path), "--no-cache"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert waited_for(lambda: bool(children(process.pid)))
        (child,) = children(process.pid)
        time.sleep(0.5)  # until it validates
        began = time.monotonic()
        process.send_signal(number)
        process.communicate()
        assert time.monotonic() - began < 2
        assert process.returncode != 0
        assert waited_for(lambda: not runs(child), 2)
