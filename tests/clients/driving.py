"""Runs a driver of an official client (errands.py, drive.mjs) in a process of its own, and says what it saw.

A driver says `listening` when it is ready to hear of a change, `heard` when it has, and in the end what it saw.
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

PATIENCE: Final = 90
"""Seconds after which a driver that hangs is killed, so that its test can say what it printed."""

Seen = dict[str, Any]


def drive(command: Sequence[str], job: Mapping[str, Any], change: Callable[[], None] = lambda: None) -> Seen:
    """What a driver saw; with `seconds` from `change` until it was heard, where the job is to `watch`."""
    begun, seconds, seen = 0.0, None, {}
    with tempfile.TemporaryFile("w+") as errors:
        arguments = [*command, json.dumps(job)]
        with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            patience = threading.Timer(PATIENCE, process.kill)
            patience.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    said = json.loads(line)
                    if said == "listening":
                        change()
                        begun = time.monotonic()
                    elif said == "heard":
                        seconds = time.monotonic() - begun
                    else:
                        seen = said
                process.wait()
            finally:
                patience.cancel()
                process.kill()
        errors.seek(0)
        assert process.returncode == 0, errors.read()[-3000:]
    return {**seen, "seconds": seconds}
