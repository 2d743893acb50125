"""Run `openapi-mcp` in copies of a process that has imported it already: most of a short command's time is its imports.

The process is small, since the peak memory of a copy counts from its own, and has one thread, as a copy must have.
"""

import atexit
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tests.hostile_documents import ROOT, Measured

_PREPARED = """
import contextlib, io, json, os, resource, signal, sys, tempfile, threading, traceback
from openapi_mcp.__main__ import main

def run(arguments):
    sys.argv = ["openapi-mcp", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, contextlib.redirect_stdout(io.StringIO()):
    file.write("openapi: 3.1.0\\ninfo: {title: T, version: '1'}\\npaths: {/x: {get: {responses: {}}}}\\n")
    file.flush()
    assert run(["inspect", file.name, "--no-cache", "--no-validate"]) == 0
assert threading.active_count() == 1

for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if pid == 0:
        for limit, value in request["limits"].items():
            resource.setrlimit(getattr(resource, limit), (value,) * 2)
        if request["environment"] is not None:
            os.environ.clear()
            os.environ.update(request["environment"])
        for number, name, flags in ((0, request["in"], os.O_RDONLY), (1, request["out"], os.O_WRONLY | os.O_CREAT),
                                    (2, request["err"], os.O_WRONLY | os.O_CREAT)):
            os.dup2(os.open(name, flags, 0o600), number)
        code = run(request["arguments"])
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    _, status, usage = os.wait4(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    used = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]
    print(json.dumps(used), flush=True)
"""


@cache
def _process() -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", _PREPARED]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def measure(arguments: Sequence[str], *, seconds: float = 100.0, cpu: int = 30, memory: int = 4 << 30) -> Measured:
    """Run `openapi-mcp` as `hostile_documents.measure` does, without the time of its imports."""
    began = time.monotonic()
    done, used_cpu, peak = _run(arguments, seconds=seconds, limits={"RLIMIT_AS": memory, "RLIMIT_CPU": cpu})
    code = done.returncode if done.returncode >= 0 else None
    stdout, stderr = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return Measured(code, stdout, stderr, time.monotonic() - began, used_cpu, peak)


def run(
    *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None, seconds: float = 60.0
) -> "subprocess.CompletedProcess[bytes]":
    """Run `openapi-mcp` in ROOT as `subprocess.run` does, without the time of its imports.

    A command that takes longer is killed: its return code is negative.
    """
    return _run(arguments, seconds=seconds, stdin=stdin, environment=environment)[0]


def _run(
    arguments: Sequence[str],
    *,
    seconds: float,
    limits: Mapping[str, int] = MappingProxyType({}),
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> "tuple[subprocess.CompletedProcess[bytes], float, float]":
    """Return a finished command, the seconds of CPU time that it took, and its peak memory in MiB."""
    process = _process()
    assert process.stdin
    assert process.stdout
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, name) for name in ("in", "out", "err")}
        paths["in"].write_bytes(stdin)
        request = {
            "arguments": list(arguments),
            "seconds": seconds,
            "limits": dict(limits),
            "environment": None if environment is None else dict(environment),
            **{name: str(path) for name, path in paths.items()},
        }
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        code, used_cpu, peak = json.loads(process.stdout.readline())
        out, err = (paths[name].read_bytes() if paths[name].exists() else b"" for name in ("out", "err"))
    return subprocess.CompletedProcess(list(arguments), code, out, err), used_cpu, peak
