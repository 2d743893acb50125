"""Run a driver of an official client (errands.py, drive.mjs) in a process and return what it received.

A driver prints JSON lines: `"listening"` when it is ready for a change of the tool list, `"heard"` when it was notified
of one, and at the end an object with all that it received.
"""

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]

MAX_DRIVER_SECONDS: Final = 90
"""Time after which a driver is killed: less than the timeout of a test, so that the test can show its stderr."""

Received = dict[str, Any]


def drive(command: Sequence[str], job: Mapping[str, Any], change: Callable[[], None] = lambda: None) -> Received:
    """Run a driver for a job and return what it received; `seconds` is the time from `change` to its notification.

    `change` is called when the driver listens, which it does if the job has `watch`; else `seconds` is None.
    """
    start, seconds, received = 0.0, None, {}
    with tempfile.TemporaryFile("w+") as errors:
        arguments = [*command, json.dumps(job)]
        with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            timer = threading.Timer(MAX_DRIVER_SECONDS, process.kill)
            timer.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    event = json.loads(line)
                    if event == "listening":
                        change()
                        start = time.monotonic()
                    elif event == "heard":
                        seconds = time.monotonic() - start
                    else:
                        received = event
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        errors.seek(0)
        assert process.returncode == 0, errors.read()[-3000:]
    return {**received, "seconds": seconds}


def drive_in_turn(command: Sequence[str], jobs: Sequence[Mapping[str, Any]]) -> list[Received]:
    """Run a driver of a Python client once for several jobs, none of which watches; return what it received in each."""
    done = subprocess.run(
        [*command, *map(json.dumps, jobs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_DRIVER_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
